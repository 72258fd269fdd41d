//! Tests of canonical JSON: one byte string for one value, or an error with its position.

use std::borrow::Cow;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use reverie_core::Error;
use reverie_core::canonical::{DEPTH_MAX, INTEGER_MAX, Value, canonical, rewrite, utf16_order};
use reverie_core::error::{JsonReason, Position};

/// Arbitrary values, with keys that differ early, late, or only in how their order is defined.
fn value() -> impl Strategy<Value = Value<'static>> {
    let text = || "[a-c\u{7f}\u{d7ff}\u{e000}\u{ffff}\u{10000}\"\\\\\u{0}\u{1f}\n]{0,40}";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-INTEGER_MAX..=INTEGER_MAX).prop_map(Value::Integer),
        prop::num::f64::NORMAL.prop_map(Value::Double),
        text().prop_map(|text| Value::Text(text.into())),
    ];
    leaf.prop_recursive(4, 60, 14, move |inner| {
        let members = btree_map(text(), inner.clone(), 0..14).prop_map(|members| {
            Value::Object(members.into_iter().map(|(key, value)| (Cow::Owned(key), value)).collect())
        });
        prop_oneof![vec(inner, 0..6).prop_map(Value::List), members]
    })
}

/// The canonical form by the wording of the standard, without optimization.
fn reference(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Integer(integer) => integer.to_string(),
        Value::Double(double) => ryu_js::Buffer::new().format_finite(*double).into(),
        Value::Text(text) => json_string(text),
        Value::List(items) => format!("[{}]", items.iter().map(reference).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(key, _)| key.encode_utf16().collect::<Vec<_>>());
            let members: Vec<_> =
                sorted.iter().map(|(key, value)| format!("{}:{}", json_string(key), reference(value))).collect();
            format!("{{{}}}", members.join(","))
        }
    }
}

/// A string with the escapes of the standard.
fn json_string(text: &str) -> String {
    let escaped = |character| match character {
        '"' => "\\\"".into(),
        '\\' => "\\\\".into(),
        '\u{8}' => "\\b".into(),
        '\t' => "\\t".into(),
        '\n' => "\\n".into(),
        '\u{c}' => "\\f".into(),
        '\r' => "\\r".into(),
        '\0'..' ' => format!("\\u{:04x}", u32::from(character)),
        _ => character.to_string(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

/// A JSON text of the value with white space, its members in reverse order, and every other string in escapes.
fn varied_spelling(value: &Value<'_>, escapes: bool) -> String {
    let text = |text: &str| {
        let units: Vec<_> = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
        if escapes { format!("\"{}\"", units.concat()) } else { json_string(text) }
    };
    match value {
        Value::Text(content) => text(content),
        Value::List(items) => {
            format!("[ {} ]", items.iter().map(|item| varied_spelling(item, !escapes)).collect::<Vec<_>>().join("\t, "))
        }
        Value::Object(members) => {
            let member = |(key, value): &(Cow<'_, str>, Value<'_>)| {
                format!("{}: {}", text(key), varied_spelling(value, !escapes))
            };
            format!("{{\n{}}}\r", members.iter().rev().map(member).collect::<Vec<_>>().join(" ,"))
        }
        // A whole double beyond 2^53 must not look like an integer.
        Value::Double(double) => format!("{double:e}"),
        scalar => reference(scalar),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    /// Output equals the reference, from the value and from any spelling of its text.
    #[test]
    fn output_equals_the_reference(value in value()) {
        let expected = reference(&value);
        prop_assert_eq!(String::from_utf8(canonical(&value).unwrap()).unwrap(), &*expected);
        let text = varied_spelling(&value, false);
        prop_assert_eq!(String::from_utf8(rewrite(text.as_bytes()).unwrap()).unwrap(), &*expected);
    }

    /// Keys are ordered by their UTF-16 code units.
    #[test]
    fn keys_are_ordered_by_code_units(left in "[a\u{7ff}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}]{0,4}",
                                      right in "[a\u{7ff}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}]{0,4}") {
        prop_assert_eq!(utf16_order(&left, &right), left.encode_utf16().cmp(right.encode_utf16()));
    }

    /// Whole doubles are written as ECMAScript writes them, by either path.
    #[test]
    fn whole_doubles_are_written_alike(whole in any::<i64>(), shift in 0_u32..64) {
        #[expect(clippy::cast_precision_loss, reason = "any whole double will do")]
        let double = (whole >> shift) as f64;
        let expected = ryu_js::Buffer::new().format_finite(double).to_owned();
        prop_assert_eq!(canonical(&Value::Double(double)).unwrap(), expected.as_bytes());
    }
}

/// Special characters are escaped at every position of strings of every length up to 150.
#[test]
fn characters_are_escaped_at_every_position() {
    for length in 0..=150_usize {
        let plain = "é".repeat(length / 4) + &"x".repeat(length - length / 4);
        let places = plain.char_indices().map(|(at, _)| at).chain([plain.len()]);
        for at in places {
            for special in ['"', '\\', '\u{1f}', '\n', '\u{7f}', ' ', '!'] {
                let mut text = plain.clone();
                text.insert(at, special);
                assert_eq!(canonical(&Value::Text((&*text).into())), Ok(json_string(&text).into_bytes()));
            }
        }
        assert_eq!(canonical(&Value::Text((&*plain).into())), Ok(json_string(&plain).into_bytes()));
    }
}

/// Integers of every length are written, and the first ones beyond the limit rejected.
#[test]
fn integers_are_written_up_to_the_limit() {
    for power in 0..16 {
        for near in -1..=1 {
            let integer = 10_i64.pow(power) + near;
            for integer in [integer, -integer] {
                if integer.abs() > INTEGER_MAX {
                    continue;
                }
                let expected = integer.to_string();
                assert_eq!(canonical(&Value::Integer(integer)), Ok(expected.clone().into_bytes()));
                assert_eq!(rewrite(expected.as_bytes()), Ok(expected.into_bytes()));
            }
        }
    }
    for beyond in [INTEGER_MAX + 1, -INTEGER_MAX - 1, i64::MAX, i64::MIN] {
        assert_rejected(canonical(&Value::Integer(beyond)), JsonReason::NumberOutOfRange, Position::Path("$".into()));
        assert_rejected(rewrite(beyond.to_string().as_bytes()), JsonReason::NumberOutOfRange, Position::Offset(0));
    }
    assert_eq!(rewrite(b"-0"), Ok(b"0".to_vec()));
}

/// Values that JSON cannot represent are rejected with their path.
#[test]
fn invalid_values_are_rejected_with_their_path() {
    let inside = |value| Value::Object(vec![("b".into(), Value::Null), ("a".into(), Value::List(vec![value]))]);
    let repeated = Value::Object(vec![("k".into(), Value::Null), ("l".into(), Value::Null), ("k".into(), Value::Null)]);
    for (value, reason, path) in [
        (Value::Double(f64::NAN), JsonReason::NumberOutOfRange, "$.a[0]"),
        (Value::Double(f64::NEG_INFINITY), JsonReason::NumberOutOfRange, "$.a[0]"),
        (repeated, JsonReason::DuplicateKey, "$.a[0].k"),
    ] {
        assert_rejected(canonical(&inside(value)), reason, Position::Path(path.into()));
    }
}

/// The maximum nesting depth is accepted, one more container rejected.
#[test]
fn values_beyond_the_depth_limit_are_rejected() {
    let deep = |depth| (1..depth).fold(Value::List(Vec::new()), |inner, _| Value::List(vec![inner]));
    assert_eq!(canonical(&deep(DEPTH_MAX)).map(|bytes| bytes.len()), Ok(2 * DEPTH_MAX));
    let path = format!("${}", "[0]".repeat(DEPTH_MAX));
    assert_rejected(canonical(&deep(DEPTH_MAX + 1)), JsonReason::TooDeep, Position::Path(path));
}

/// Unsorted objects nested 100 deep are sorted at every level.
#[test]
fn members_are_sorted_at_every_depth() {
    let text = (0..100).fold("1".to_owned(), |inner, _| format!("{{\"b\":{inner},\"a\":[{{}},{{\"d\":0,\"c\":0}}]}}"));
    let expected =
        (0..100).fold("1".to_owned(), |inner, _| format!("{{\"a\":[{{}},{{\"c\":0,\"d\":0}}],\"b\":{inner}}}"));
    assert_eq!(rewrite(text.as_bytes()), Ok(expected.into_bytes()));
}

/// Assert that a result is an error of this reason at this position.
fn assert_rejected(result: Result<Vec<u8>, Error>, reason: JsonReason, at: Position) {
    let result = result.map_err(|error| match error {
        Error::Json { reason, at, .. } => Some((reason, at)),
        _ => None,
    });
    assert_eq!(result, Err(Some((reason, at))));
}
