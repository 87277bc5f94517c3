//! The forms that a single value takes in proto3 JSON.
//!
//! Each function takes a value that is present and says what stands there in a valid message when
//! this one does not fit. None of them names the field: the [`message`](crate::message) reader
//! does.

use std::time;

use plimsoll::config::Problem;
use serde_json::Value;

/// An enum of Envoy's: its values by name and number, and the list for the error message.
pub(crate) struct Choices<T: 'static> {
    /// What to write instead.
    pub(crate) expected: &'static str,
    /// Name, number and meaning of each value.
    pub(crate) values: &'static [(&'static str, i64, T)],
}

pub(crate) fn string(value: &Value) -> Result<&str, Problem> {
    let expected = "a string; in YAML, numbers, true, false, yes and no need quotes to be one";
    value.as_str().ok_or(Problem::WrongType { expected })
}

pub(crate) fn boolean(value: &Value) -> Result<bool, Problem> {
    value.as_bool().ok_or(Problem::WrongType { expected: "true or false" })
}

pub(crate) fn uint32(value: &Value) -> Result<u32, Problem> {
    let number = unsigned(value).and_then(|number| u32::try_from(number).ok());
    number.ok_or(Problem::WrongType { expected: "an integer from 0 to 4294967295" })
}

pub(crate) fn uint64(value: &Value) -> Result<u64, Problem> {
    unsigned(value)
        .ok_or(Problem::WrongType { expected: "an integer from 0 to 18446744073709551615" })
}

/// A decimal string without sign, spaces or leading zeros (octal to some readers of YAML), or a
/// number without fraction.
fn unsigned(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().or_else(|| integral(number.as_f64()?)),
        Value::String(text) => {
            let digits = text.bytes().all(|byte| byte.is_ascii_digit());
            let padded = text.len() > 1 && text.starts_with('0');
            if digits && !padded { text.parse().ok() } else { None }
        }
        _ => None,
    }
}

/// `1.0` and `1e3` are integers in proto3 JSON. Above 2^53 a float no longer says which one.
fn integral(number: f64) -> Option<u64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if !(0.0..=EXACT).contains(&number) || number.fract() > 0.0 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a whole number of at most 2^53")]
    Some(number as u64)
}

pub(crate) fn double(value: &Value) -> Result<f64, Problem> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => double_from_text(text),
        _ => None,
    };
    number.ok_or(Problem::WrongType { expected: "a number" })
}

/// Rust reads more spellings (`inf`, `+1`, `.5`) than JSON has, so these are ruled out first.
fn double_from_text(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => {
            let plain = |byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
            let digits = text.strip_prefix('-').unwrap_or(text);
            if !digits.starts_with(|c: char| c.is_ascii_digit()) || !text.bytes().all(plain) {
                return None;
            }
            text.parse().ok().filter(|number: &f64| number.is_finite())
        }
    }
}

pub(crate) fn choice<T: Copy>(choices: &Choices<T>, value: &Value) -> Result<T, Problem> {
    let number = value.as_i64().or_else(|| i64::try_from(integral(value.as_f64()?)?).ok());
    let chosen = choices.values.iter().find(|&&(name, code, _)| match value {
        Value::String(text) => text == name,
        _ => number == Some(code),
    });
    chosen.map(|&(_, _, meaning)| meaning).ok_or(Problem::WrongType { expected: choices.expected })
}

/// A `google.protobuf.Duration`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Duration {
    seconds: i64,
    nanos: i32,
}

/// A form such as `"1.5s"`, within the 10 000 years that protobuf allows.
pub(crate) fn duration(value: &Value) -> Result<Duration, Problem> {
    let problem = Problem::WrongType { expected: "a duration such as \"1.5s\"" };
    value.as_str().and_then(Duration::from_text).ok_or(problem)
}

impl Duration {
    const MAX_SECONDS: i64 = 315_576_000_000;
    /// The nanoseconds of more seconds do not fit into 64 bits with a sign.
    const ENVOY_MAX_SECONDS: i64 = 9_223_372_035;

    fn from_text(text: &str) -> Option<Self> {
        let text = text.strip_suffix('s')?;
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !digits(seconds) || !digits(fraction) || fraction.len() > 9 {
            return None;
        }
        let seconds: i64 = seconds.parse().ok().filter(|&seconds| seconds <= Self::MAX_SECONDS)?;
        let nanos: i32 = format!("{fraction:0<9}").parse().ok()?;
        let sign = if negative { -1 } else { 1 };
        Some(Self { seconds: i64::from(sign) * seconds, nanos: sign * nanos })
    }

    //= envoy v1.40 source/common/protobuf/utility.cc#validateDuration
    /// The time, if it passes the check that Envoy makes whenever it uses a duration.
    pub(crate) fn check(self) -> Result<time::Duration, Problem> {
        let wrong = match (u64::try_from(self.seconds), u32::try_from(self.nanos)) {
            (Ok(seconds), Ok(nanos)) if self.seconds <= Self::ENVOY_MAX_SECONDS => {
                return Ok(time::Duration::new(seconds, nanos));
            }
            (Ok(_), Ok(_)) => "Duration out-of-range",
            _ => "Expected positive duration",
        };
        Err(Problem::Invalid { message: format!("Invalid duration: {wrong}: {self}") })
    }
}

impl std::fmt::Display for Duration {
    /// The short form of protobuf's debug text, in which fields of value 0 are left out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.seconds, self.nanos) {
            (seconds, 0) => write!(f, "seconds: {seconds}"),
            (0, nanos) => write!(f, "nanos: {nanos}"),
            (seconds, nanos) => write!(f, "seconds: {seconds} nanos: {nanos}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn integers_take_the_forms_of_proto3_json_and_no_others() {
        for good in [json!(80), json!(80.0), json!(8e1), json!("80")] {
            assert_eq!(uint32(&good), Ok(80), "{good}");
        }
        assert_eq!(uint32(&json!(-0.0)), Ok(0));
        assert_eq!(uint64(&json!("18446744073709551615")), Ok(u64::MAX));
        for bad in [
            json!(-1),
            json!(1.5),
            json!(4_294_967_296_u64),
            json!("4294967296"),
            json!("080"),
            json!("+80"),
            json!(" 80"),
            json!("8e1"),
            json!(""),
            json!(true),
            json!([80]),
            json!(1e300),
        ] {
            assert!(uint32(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn doubles_may_be_strings_and_need_not_be_numbers() {
        for (text, bits) in
            [("1.5", 1.5), ("-2e3", -2000.0), ("Infinity", f64::INFINITY), ("0", 0.0)]
        {
            assert_eq!(double(&json!(text)).map(f64::to_bits), Ok(f64::to_bits(bits)), "{text}");
        }
        assert!(double(&json!("NaN")).is_ok_and(f64::is_nan));
        for bad in ["inf", "nan", "+1", ".5", "1e999", "", "0x10", "1_000", "infinity"] {
            assert!(double(&json!(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_keep_their_sign_in_both_parts() {
        let parse = |text: &str| duration(&json!(text));
        assert_eq!(parse("1.5s"), Ok(Duration { seconds: 1, nanos: 500_000_000 }));
        assert_eq!(parse("-0.000000001s"), Ok(Duration { seconds: 0, nanos: -1 }));
        assert_eq!(parse("315576000000s"), Ok(Duration { seconds: 315_576_000_000, nanos: 0 }));
        for bad in ["1", "s", "1.s", ".5s", "1.0000000001s", "315576000001s", "1 s", "--1s", "1ms"]
        {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    //= envoy v1.40 source/common/protobuf/utility.cc#validateDuration
    #[test]
    fn envoys_check_of_durations_is_inclusive_of_its_largest() {
        let check = |text: &str| duration(&json!(text)).and_then(Duration::check);
        let refused = |message: &str| Err(Problem::Invalid { message: message.to_owned() });
        assert_eq!(check("0s"), Ok(time::Duration::ZERO));
        assert_eq!(
            check("9223372035.999999999s"),
            Ok(time::Duration::new(9_223_372_035, 999_999_999))
        );
        assert_eq!(
            check("9223372036s"),
            refused("Invalid duration: Duration out-of-range: seconds: 9223372036")
        );
        assert_eq!(
            check("-1.5s"),
            refused("Invalid duration: Expected positive duration: seconds: -1 nanos: -500000000")
        );
    }
}
