//! Tests of the fields.

use super::FieldKind::{Count, List, Number, Text as Words};
use super::*;
use crate::configuration::dotted;

#[test]
fn a_table_is_found_by_its_way_and_no_other_is() {
    for word in [
        "notify",
        "silence",
        "notify.rota",
        "notify.rota.3",
        "notify.rota.0.shift.12",
        "notify.rota.1.override",
        "notify.route.0.step",
        "notify.webhook.2",
        "notify.group.0",
        "notify.quiet",
    ] {
        let (form, steps) = table_of(word).expect(word);
        assert_eq!(dotted(&steps), word, "{form:?}");
    }
    for word in [
        "",
        "notify.",
        "broker",
        "notify.email",
        "notify.rota.shift",
        "notify.rota.x",
        "notify.rota.0.step",
        "http.token",
        "notify.rota.0.shift.0.0",
        "silence.0",
    ] {
        assert!(table_of(word).is_none(), "{word}");
    }
}

#[test]
fn what_is_typed_becomes_the_value_of_its_kind() {
    let of = |kind: FieldKind, typed: &str| field("k", kind, "", "").value(typed);
    assert_eq!(of(Number, " 4.5 ").expect("right"), Some(Value::Float(4.5)));
    assert_eq!(of(Words, "  ").expect("right"), None);
    let names = Value::Array(vec!["김".into(), "b c".into()]);
    assert_eq!(of(List, "김,, b c ").expect("right"), Some(names.clone()));
    assert_eq!(field("k", List, "", "").written(&names).as_deref(), Some("김, b c"));
    for (kind, wrong) in
        [(Number, "NaN"), (Number, "8h"), (Count, "1.5"), (FieldKind::Choice(&["Watch"]), "Normal")]
    {
        assert!(of(kind, wrong).is_err(), "{wrong}");
    }
}
