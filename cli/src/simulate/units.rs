//! Times as scenarios write them, and as the simulation counts them.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A second of virtual time.
pub(crate) const SECOND: u64 = 1_000_000_000;

/// A length of time in nanoseconds, written `5s`, `250ms`, `1.5m` or `1h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Time(pub(crate) u64);

impl Time {
    /// In seconds.
    #[expect(clippy::cast_precision_loss, reason = "scenarios last for hours, not for months")]
    pub(crate) fn seconds(self) -> f64 {
        self.0 as f64 / SECOND as f64
    }

    /// In whole seconds, the rest dropped.
    pub(crate) fn whole_seconds(self) -> usize {
        usize::try_from(self.0 / SECOND).unwrap_or(usize::MAX)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to fit")]
    fn parse(text: &str) -> Option<Self> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match &text[digits.len()..] {
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 60e9,
            "h" => 3600e9,
            _ => return None,
        };
        let nanoseconds = digits.parse::<f64>().ok()? * unit;
        let fits = (0.0..1e18).contains(&nanoseconds);
        fits.then(|| Self(nanoseconds.round() as u64))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.seconds())
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Written;

        impl Visitor<'_> for Written {
            type Value = Time;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time such as 5s, 250ms, 2m or 1h")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Time, E> {
                Time::parse(text)
                    .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_str(Written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        for (text, expected) in [
            ("5s", Some(5 * SECOND)),
            ("250ms", Some(SECOND / 4)),
            ("1.5m", Some(90 * SECOND)),
            ("1h", Some(3600 * SECOND)),
            ("0s", Some(0)),
            ("5", None),
            ("-1s", None),
            ("1e12h", None),
            ("NaNs", None),
            ("s", None),
        ] {
            assert_eq!(Time::parse(text).map(|time| time.0), expected, "{text}");
        }
    }
}
