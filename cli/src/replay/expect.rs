//! Whether a result is as expected.
//!
//! An expectation is JSON that a result matches, not one it equals: an object says something about
//! the keys that it has, and three forms stand for more than one value:
//!
//! | form | matches |
//! |---|---|
//! | `"*"` | anything |
//! | `{"approx":X,"within":D}` | numbers from X - D to X + D |
//! | `{"one_of":[A,B,…]}` | whatever one of them matches |

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

/// Whether `got` is as `expected` says.
pub(crate) fn matches(expected: &Value, got: &Value) -> bool {
    match (expected, got) {
        (Value::String(any), _) if any == "*" => true,
        (Value::Object(form), _) if form.len() == 1 && form.get("one_of").is_some_and(is_list) => {
            choices(form).any(|choice| matches(choice, got))
        }
        (Value::Object(form), _) if is_approximation(form) => is_near(form, got),
        (Value::Object(expected), Value::Object(got)) => {
            let has = |(key, expected)| got.get(key).is_some_and(|got| matches(expected, got));
            expected.iter().all(has)
        }
        (Value::Array(expected), Value::Array(got)) => {
            let pairs = || expected.iter().zip(got);
            expected.len() == got.len() && pairs().all(|(expected, got)| matches(expected, got))
        }
        (Value::Number(expected), Value::Number(got)) => is_same_number(expected, got),
        _ => expected == got,
    }
}

fn is_list(value: &Value) -> bool {
    value.is_array()
}

fn choices(form: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    form.get("one_of").and_then(Value::as_array).into_iter().flatten()
}

/// Both keys with numbers, and no other key; anything else is an object like any other.
fn is_approximation(form: &Map<String, Value>) -> bool {
    let is_number = |key| form.get(key).is_some_and(Value::is_number);
    form.len() == 2 && is_number("approx") && is_number("within")
}

/// Bounds belong to the interval. Integers are compared as such, because a float does not tell the
/// large ones apart.
fn is_near(form: &Map<String, Value>, got: &Value) -> bool {
    let Value::Number(got) = got else { return false };
    let number = |key| form.get(key).and_then(Value::as_number);
    let (Some(center), Some(within)) = (number("approx"), number("within")) else { return false };
    if let (Some(got), Some(center), Some(within)) =
        (integer(got), integer(center), integer(within))
    {
        return (got - center).abs() <= within;
    }
    match (got.as_f64(), center.as_f64(), within.as_f64()) {
        (Some(got), Some(center), Some(within)) => (got - center).abs() <= within,
        _ => false,
    }
}

/// By value: `1` is `1.0`, and no 64-bit integer is rounded on the way.
fn is_same_number(a: &Number, b: &Number) -> bool {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => {
            let (Some(a), Some(b)) = (a.as_f64(), b.as_f64()) else { return false };
            a.partial_cmp(&b) == Some(Ordering::Equal)
        }
        // One has a fraction, or is too large for an integer, and the other not.
        _ => false,
    }
}

/// The number as an integer, if it is one that 64 bits hold, with or without sign.
fn integer(number: &Number) -> Option<i128> {
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    let unsigned = number.as_u64().map(i128::from);
    unsigned.or_else(|| number.as_i64().map(i128::from)).or_else(|| {
        let float = number.as_f64()?;
        let integral = float.fract().partial_cmp(&0.0) == Some(Ordering::Equal);
        #[expect(clippy::cast_possible_truncation, reason = "an integer below 2^64")]
        (integral && float.abs() < LIMIT).then_some(float as i128)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Expectation, result, and whether they match.
    fn check(cases: &[(Value, Value, bool)]) {
        for (expected, got, verdict) in cases {
            assert_eq!(matches(expected, got), *verdict, "expected {expected}, got {got}");
        }
    }

    #[test]
    fn plain_values_match_themselves() {
        check(&[
            (json!(null), json!(null), true),
            (json!(null), json!(false), false),
            (json!(true), json!(true), true),
            (json!(true), json!(false), false),
            (json!("a"), json!("a"), true),
            (json!("a"), json!("A"), false),
            (json!("5"), json!(5), false),
            (json!(5), json!("5"), false),
            (json!([]), json!({}), false),
            (json!({}), json!([]), false),
        ]);
    }

    #[test]
    fn numbers_match_by_value() {
        check(&[
            (json!(1), json!(1.0), true),
            (json!(1.0), json!(1), true),
            (json!(0), json!(-0.0), true),
            (json!(0.1), json!(0.1), true),
            (json!(0.1), json!(0.100_000_000_000_000_02), false),
            (json!(1.5), json!(1), false),
            (json!(-1), json!(-1.0), true),
            (json!(-1), json!(1), false),
            (json!(1e300), json!(1e300), true),
            (json!(1e300), json!(u64::MAX), false),
        ]);
    }

    #[test]
    fn true_and_false_are_no_numbers() {
        check(&[
            (json!(1), json!(true), false),
            (json!(true), json!(1), false),
            (json!(0), json!(false), false),
            (json!({"approx": 1, "within": 1}), json!(true), false),
        ]);
    }

    #[test]
    fn integers_of_64_bits_are_not_rounded() {
        check(&[
            (json!(u64::MAX), json!(u64::MAX), true),
            (json!(u64::MAX), json!(u64::MAX - 1), false),
            (json!(u64::MAX), json!(18_446_744_073_709_551_616.0), false),
            (json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992.0), false),
            (json!(9_007_199_254_740_992_u64), json!(9_007_199_254_740_992.0), true),
            (json!(i64::MIN), json!(-9_223_372_036_854_775_808.0), true),
            (json!({"approx": u64::MAX, "within": 0}), json!(u64::MAX - 1), false),
            (json!({"approx": u64::MAX, "within": 1}), json!(u64::MAX - 1), true),
        ]);
    }

    #[test]
    fn objects_may_have_more_keys_than_expected_also_inside_lists() {
        check(&[
            (json!({}), json!({"a": 1}), true),
            (json!({"a": 1}), json!({"b": 2, "a": 1}), true),
            (json!({"a": 1}), json!({"b": 1}), false),
            (json!({"a": null}), json!({}), false),
            (json!({"a": {"b": 1}}), json!({"a": {"b": 1, "c": 2}}), true),
            (json!([{"a": 1}, {}]), json!([{"a": 1, "b": 2}, {"c": 3}]), true),
            (json!([{"a": 1}]), json!([{"a": 2}]), false),
        ]);
    }

    #[test]
    fn lists_match_element_by_element() {
        check(&[
            (json!([1, 2]), json!([1, 2]), true),
            (json!([1, 2]), json!([2, 1]), false),
            (json!([1]), json!([1, 2]), false),
            (json!([1, 2]), json!([1]), false),
            (json!([]), json!([]), true),
            (json!([[1], "*"]), json!([[1], [2]]), true),
        ]);
    }

    #[test]
    fn approximations_include_their_bounds() {
        let around_ten = json!({"approx": 10, "within": 2});
        check(&[
            (around_ten.clone(), json!(8), true),
            (around_ten.clone(), json!(12.0), true),
            (around_ten.clone(), json!(12.000_001), false),
            (around_ten.clone(), json!(7), false),
            (around_ten.clone(), json!("10"), false),
            (around_ten, json!(null), false),
            (json!({"approx": 0.1, "within": 0.0}), json!(0.1), true),
            (json!({"approx": 1, "within": -1}), json!(1), false),
            (json!({"within": 0.5, "approx": 1}), json!(1.5), true),
            (json!([{"approx": 1, "within": 1}]), json!([2]), true),
        ]);
    }

    #[test]
    fn half_an_approximation_is_an_ordinary_object() {
        check(&[
            (json!({"approx": 1}), json!(1), false),
            (json!({"approx": 1}), json!({"approx": 1}), true),
            (json!({"approx": 1, "within": 1, "more": 1}), json!(1), false),
            (json!({"approx": "1", "within": 1}), json!(1), false),
        ]);
    }

    #[test]
    fn one_of_matches_what_any_choice_matches() {
        let form = json!({"one_of": [1, "a", {"approx": 10, "within": 1}, {"b": "*"}]});
        check(&[
            (form.clone(), json!(1.0), true),
            (form.clone(), json!("a"), true),
            (form.clone(), json!(11), true),
            (form.clone(), json!({"b": null, "c": 0}), true),
            (form.clone(), json!(2), false),
            (form, json!(null), false),
            (json!({"one_of": []}), json!(1), false),
            (json!({"one_of": 1}), json!({"one_of": 1}), true),
            (json!({"one_of": [1], "more": 2}), json!(1), false),
        ]);
    }

    #[test]
    fn a_star_matches_anything_but_an_absent_key() {
        check(&[
            (json!("*"), json!(null), true),
            (json!("*"), json!({"a": []}), true),
            (json!({"a": "*"}), json!({"a": null}), true),
            (json!({"a": "*"}), json!({}), false),
            (json!(["*"]), json!([]), false),
            (json!("**"), json!("a"), false),
        ]);
    }
}
