//! Envoy's log. Callable from any thread.

/// How grave a message is, in Envoy's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Level {
    Warn = 3,
    Error = 4,
}

pub(crate) fn error(text: &str) {
    write(Level::Error, text);
}

pub(crate) fn warn(text: &str) {
    write(Level::Warn, text);
}

fn write(level: Level, text: &str) {
    let line = format!("plimsoll: {text}");
    #[cfg(not(test))]
    crate::envoy::log(level as u32, &line);
    #[cfg(test)]
    crate::fake::log(level, &line);
}
