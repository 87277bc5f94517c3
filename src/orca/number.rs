//! Numbers in text as Abseil's `SimpleAtod` reads them, which TEXT reports take.
//!
//! More than Rust reads: hexadecimal (`0x1.8p3`), `nan(payload)`. And less: at most one sign, and
//! a `+` only in front of everything else. Blanks around are skipped; a number that is too large
//! is infinite, one that is too small is 0.
//!
//! //= envoy v1.40 source/common/orca/orca_parser.cc#SimpleAtod

/// Bits of a significand that do not fit into a double.
const SURPLUS_BITS: i64 = 11;
const MAX_EXPONENT: i64 = 1_023;
const MIN_EXPONENT: i64 = -1_022;

/// The number that `text` is.
#[inline]
pub(super) fn parse(text: &[u8]) -> Option<f64> {
    let (is_negative, magnitude) = match trim(text) {
        [b'+', b'-', ..] => return None,
        [b'+', magnitude @ ..] => (false, magnitude),
        [b'-', magnitude @ ..] => (true, magnitude),
        magnitude => (false, magnitude),
    };
    let number = match magnitude {
        [b'0', b'x' | b'X', digits @ ..] => hexadecimal(digits)?,
        [b'0'..=b'9' | b'.', ..] => decimal(magnitude)?,
        _ => word(magnitude)?,
    };
    Some(if is_negative { -number } else { number })
}

/// Whether a byte is one of ASCII's blanks. Rust does not count the vertical tab.
#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// The text without blanks around it.
#[inline]
pub(super) fn trim(mut text: &[u8]) -> &[u8] {
    while let Some((_, rest)) = text.split_first().filter(|&(&byte, _)| is_blank(byte)) {
        text = rest;
    }
    while let Some((_, rest)) = text.split_last().filter(|&(&byte, _)| is_blank(byte)) {
        text = rest;
    }
    text
}

/// Rust agrees with Abseil about what starts with a digit or a point.
fn decimal(text: &[u8]) -> Option<f64> {
    str::from_utf8(text).ok()?.parse().ok()
}

fn word(text: &[u8]) -> Option<f64> {
    let is = |word: &[u8]| text.eq_ignore_ascii_case(word);
    if is(b"inf") || is(b"infinity") {
        return Some(f64::INFINITY);
    }
    let (word, payload) = text.split_at_checked(3)?;
    let is_payload =
        |payload: &[u8]| payload.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_nan = word.eq_ignore_ascii_case(b"nan")
        && match payload {
            [b'(', payload @ .., b')'] => is_payload(payload),
            rest => rest.is_empty(),
        };
    is_nan.then_some(f64::NAN)
}

/// What follows `0x`: digits with or without a point, and a power of two.
fn hexadecimal(text: &[u8]) -> Option<f64> {
    let (mut significand, mut exponent, mut has_digits, mut has_point) = (0_u64, 0, false, false);
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        match char::from(byte).to_digit(16) {
            Some(digit) if significand >> 60 == 0 => {
                has_digits = true;
                significand = significand << 4 | u64::from(digit);
                exponent -= 4 * i64::from(has_point);
            }
            // No room: only whether anything but 0 is lost can matter for rounding.
            Some(digit) => {
                significand |= u64::from(digit != 0);
                exponent += 4 * i64::from(!has_point);
            }
            None if byte == b'.' && !has_point => has_point = true,
            None if byte.eq_ignore_ascii_case(&b'p') => {
                exponent += power(bytes.as_slice())?;
                break;
            }
            None => return None,
        }
    }
    has_digits.then(|| scaled(significand, exponent))
}

/// A decimal exponent with or without a sign. No text is long enough to make up for one that is
/// cut to 2^40.
fn power(text: &[u8]) -> Option<i64> {
    let (sign, digits) = match text {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] | digits => (1, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let append = |number: i64, digit: &u8| (number * 10 + i64::from(digit - b'0')).min(1 << 40);
    Some(sign * digits.iter().fold(0, append))
}

/// `significand * 2^exponent`, rounded once and to even.
fn scaled(significand: u64, exponent: i64) -> f64 {
    if significand == 0 {
        return 0.0;
    }
    let zeros = significand.leading_zeros();
    let significand = significand << zeros;
    let exponent = exponent - i64::from(zeros) + 63;
    let surplus = SURPLUS_BITS + (MIN_EXPONENT - exponent).max(0);
    if exponent > MAX_EXPONENT {
        return f64::INFINITY;
    }
    let Some(surplus) = u32::try_from(surplus).ok().filter(|&bits| bits <= u64::BITS) else {
        return 0.0;
    };
    let kept = significand.unbounded_shr(surplus);
    let lost = significand << (u64::BITS - surplus);
    let rounds_up = lost > 1 << 63 || (lost == 1 << 63 && kept & 1 == 1);
    // The highest bit of a normal number adds the missing 1 to the exponent, and so does a carry.
    let biased = u64::try_from(exponent - MIN_EXPONENT).unwrap_or(0);
    f64::from_bits((biased << 52) + kept + u64::from(rounds_up))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{hexadecimal, parse};

    #[test]
    fn every_spelling_gives_its_number_and_no_other_does() {
        for (text, number) in [
            ("0.7", 0.7),
            (" 5.\t", 5.0),
            (".5", 0.5),
            ("+1", 1.0),
            ("-0", -0.0),
            ("1E-3", 0.001),
            ("1e400", f64::INFINITY),
            ("-1e400", f64::NEG_INFINITY),
            ("1e-400", 0.0),
            ("0e99999999999999999999", 0.0),
            ("5e-324", 5e-324),
            ("0x10", 16.0),
            ("-0X.8", -0.5),
            ("0x1.8p+3", 12.0),
            ("0x1P-1074", 5e-324),
            ("0x1p-1075", 0.0),
            ("0x1.8p-1075", 5e-324),
            ("0x0.00000000000000000001p80", 1.0),
            ("0x1fffffffffffff7", 144_115_188_075_855_856.0),
            ("0x1fffffffffffff8", 144_115_188_075_855_872.0),
            ("0x10000000000000080", 18_446_744_073_709_551_616.0),
            ("0x1.00000000000008", 1.0),
            ("0x1.00000000000008000000000000000001", 1.0 + f64::EPSILON),
            ("0x1.fffffffffffff7fffp1023", f64::MAX),
            ("0x1.fffffffffffff8p1023", f64::INFINITY),
            ("0x1p99999999999999999999", f64::INFINITY),
            ("0x1p-99999999999999999999", 0.0),
            ("0x0p99999999999999999999", 0.0),
            ("iNf", f64::INFINITY),
            ("-infinity", f64::NEG_INFINITY),
        ] {
            let parsed = parse(text.as_bytes()).map(f64::to_bits);
            assert_eq!(parsed, Some(number.to_bits()), "{text}");
        }
        for text in ["nan", "-NaN", "+nan", "nan()", "nan(abc_1)"] {
            assert!(parse(text.as_bytes()).is_some_and(f64::is_nan), "{text}");
        }
        for text in [
            "", " ", "+", "-", "++1", "+-1", "-+1", "--1", ".", "-.", "e1", ".e1", "1e", "1e+",
            "1d", "1.5f", "1_000", "1 1", "1,5", "0x", "0x.", "0xg", "0x1p", "0x1p+", "0x1.1.1",
            "0x1p1.0", "0x-1", "0xinf", "infinit", "infi", "in", "nan(", "nan)", "nan(a-b)",
            "nan(a)b", "na", "nanx", "\u{e9}", "1\u{e9}",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_hexadecimal_number_is_the_double_that_it_was_written_from(bits: u64) {
            let number = f64::from_bits(bits & !(1 << 63));
            prop_assume!(number.is_finite());
            let (exponent, fraction) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
            let (whole, power) = if exponent == 0 { (0, 1) } else { (1, exponent) };
            let text = format!("{whole}.{fraction:013x}p{}", power.cast_signed() - 1_023);
            prop_assert_eq!(hexadecimal(text.as_bytes()).map(f64::to_bits), Some(number.to_bits()));
        }

        #[test]
        fn a_hexadecimal_integer_rounds_as_the_hardware_does(integer: u64, places in 0_u32..64) {
            let integer = integer >> places;
            #[expect(clippy::cast_precision_loss, reason = "what is tested")]
            let number = integer as f64;
            prop_assert_eq!(hexadecimal(format!("{integer:x}").as_bytes()), Some(number));
        }
    }
}
