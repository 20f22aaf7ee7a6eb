//! Claims about machines that are called by the words of their names.

use super::*;

fn fits(name: &str, text: &str) -> Option<Fit> {
    let (name, tokens) = (parsed(name), tokens(text));
    let words = |from: usize| tokens[from..].iter().take_while(|one| !one.is_number).count();
    let runs = (0..tokens.len()).flat_map(|from| (1..=words(from)).map(move |count| (from, count)));
    runs.filter_map(|(from, count)| fit(&name, &tokens, from, count)).max()
}

#[test]
fn a_name_is_known_in_any_order_with_its_number() {
    for (name, text) in [
        ("크러셔 1호", "1호 크러셔 이번 주말까지 돌려도 되나요"),
        ("2호 급수펌프", "2호기 급수펌프 언제부터 안 좋아"),
        ("팬 3", "팬3 왜 알람 떴어"),
        ("팬 3", "팬 3은 어때"),
        ("Boiler feed pump 2", "bearing number for feed pump 2 NDE pls"),
        ("Boiler feed pump 2", "is pump #2 ok"),
        ("컨베이어 A", "컨베이어 A 알람 왜 보류돼"),
        ("Fan 3", "what about fan no. 3?"),
        ("스핀들 1번", "스핀들 1번 센서"),
    ] {
        assert!(matches!(fits(name, text), Some(Fit::Labelled(_))), "{name}: {text}");
    }
}

#[test]
fn another_number_is_another_machine() {
    for (name, text) in [
        ("2호 급수펌프", "7호 급수펌프 상태"),
        ("Fan 1", "fan 3 state"),
        ("Cooling tower fan", "fan 3 state"),
        ("Vacuum pump 21", "feed pump 2"),
    ] {
        assert!(!matches!(fits(name, text), Some(Fit::Labelled(_) | Fit::Words(_))), "{text}");
    }
}

#[test]
fn a_number_with_a_unit_is_no_machine() {
    for (name, text) in [
        ("팬 3", "팬 3시간 전에 어땠어"),
        ("2호 급수펌프", "급수펌프 3대 비교해줘"),
        ("Crusher 1", "the crusher"),
    ] {
        assert!(matches!(fits(name, text), Some(Fit::Words(_))), "{name}: {text}");
    }
}

#[test]
fn a_name_of_both_scripts_is_no_end_of_an_english_word() {
    for text in ["and the other side", "fa", "an"] {
        assert_eq!(fits("냉각탑 fan", text), None, "{text}");
    }
    assert!(fits("냉각탑 fan", "is the fan ok").is_some());
}

#[test]
fn letters_behind_a_short_name_make_another_word() {
    assert_eq!(fits("팬 3", "팬시한 펌프"), None);
    assert_eq!(fits("Fan 3", "fantastic 3"), None);
}
