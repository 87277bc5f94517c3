//! JSON as text: no spaces, and numbers in one form.

use std::io;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

/// A value without spaces, its floats in the shortest form that reads back equal, always with a
/// point or an exponent: an exponent below 1e-5 and from 1e16 on.
///
/// ```
/// assert_eq!(plimsoll_json::text(&serde_json::json!({"share": [1.0, 1e-7]})), r#"{"share":[1.0,1e-7]}"#);
/// ```
#[must_use]
pub fn text(value: &Value) -> String {
    let mut text = Vec::new();
    // A value has string keys only, and a vector takes everything.
    let written = value.serialize(&mut Serializer::with_formatter(&mut text, Floats));
    debug_assert!(written.is_ok(), "{written:?}");
    String::from_utf8_lossy(&text).into_owned()
}

/// `serde_json` has had several forms of floats of its own.
struct Floats;

impl Formatter for Floats {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        // Between these two, `Debug` already has an exponent; elsewhere it agrees.
        if (1e-5..1e-4).contains(&value.abs()) {
            write!(writer, "{value}")
        } else {
            write!(writer, "{value:?}")
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn floats_have_a_point_or_an_exponent_and_read_back_equal() {
        for (value, expected) in [
            (1.0, "1.0"),
            (0.1, "0.1"),
            (-0.0, "-0.0"),
            (33.333_333_333_333_336, "33.333333333333336"),
            (1e-4, "0.0001"),
            (1.5e-5, "0.000015"),
            (1e-5, "0.00001"),
            (9.9e-6, "9.9e-6"),
            (1e-7, "1e-7"),
            (5e-324, "5e-324"),
            (9.99e15, "9990000000000000.0"),
            (1e16, "1e16"),
            (12_345_678_901_234_568.0, "1.2345678901234568e16"),
            (f64::MAX, "1.7976931348623157e308"),
        ] {
            assert_eq!(text(&json!(value)), expected);
            assert_eq!(expected.parse::<f64>().map(f64::to_bits), Ok(f64::to_bits(value)));
        }
    }

    #[test]
    fn results_have_no_spaces_and_keep_the_order_of_their_keys() {
        let value = json!({"b": [1, null, true], "a": {"c": "d e", "ü": u64::MAX}});
        assert_eq!(text(&value), r#"{"b":[1,null,true],"a":{"c":"d e","ü":18446744073709551615}}"#);
    }
}
