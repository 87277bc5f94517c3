//! Prometheus' text format: families of samples, each with its help and its type.

use std::fmt::{Display, Write};

use super::figures::Kind;

/// A text in the making. All samples of a family stand together, after its head.
#[derive(Debug, Default)]
pub(super) struct Text {
    written: String,
    /// That of a family without a sample as yet, which may stay without one.
    head: String,
}

impl Text {
    /// The head of a family, which is written with its first sample. `help` needs no escapes.
    pub(super) fn family(&mut self, name: &str, kind: Kind, help: &str) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        };
        self.head = format!("# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    /// One sample of the family.
    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.written += &std::mem::take(&mut self.head);
        self.written.push_str(name);
        for (index, (label, text)) in labels.iter().enumerate() {
            self.written.push(if index == 0 { '{' } else { ',' });
            self.written.push_str(label);
            self.written.push_str("=\"");
            self.escaped(text);
            self.written.push('"');
        }
        if !labels.is_empty() {
            self.written.push('}');
        }
        // A string can always be written to.
        let _ = writeln!(self.written, " {value}");
    }

    /// The value of a label: what the format gives a meaning to is escaped.
    fn escaped(&mut self, text: &str) {
        for letter in text.chars() {
            match letter {
                '\\' => self.written.push_str("\\\\"),
                '"' => self.written.push_str("\\\""),
                '\n' => self.written.push_str("\\n"),
                other => self.written.push(other),
            }
        }
    }

    pub(super) fn into_string(self) -> String {
        self.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_its_head_and_samples_have_their_labels() {
        let mut text = Text::default();
        text.family("picks_total", Kind::Counter, "Picks.");
        text.sample("picks_total", &[("cluster", "a"), ("zone", "")], 7);
        text.sample("picks_total", &[], 0.25);
        let expected = "# HELP picks_total Picks.\n# TYPE picks_total counter\n\
                        picks_total{cluster=\"a\",zone=\"\"} 7\npicks_total 0.25\n";
        assert_eq!(text.into_string(), expected);
    }

    #[test]
    fn a_family_without_samples_is_not_there() {
        let mut text = Text::default();
        text.family("none", Kind::Gauge, "Nothing.");
        text.family("one", Kind::Gauge, "Something.");
        text.sample("one", &[], 1);
        assert_eq!(text.into_string(), "# HELP one Something.\n# TYPE one gauge\none 1\n");
    }

    #[test]
    fn what_would_end_a_label_or_its_line_is_escaped() {
        let mut text = Text::default();
        text.sample("up", &[("cluster", "a\"b\\c\nd é {},=")], 1);
        assert_eq!(text.into_string(), "up{cluster=\"a\\\"b\\\\c\\nd é {},=\"} 1\n");
    }
}
