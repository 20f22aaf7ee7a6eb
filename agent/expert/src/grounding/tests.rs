//! Tests which sources ground a figure, and which do not.

use serde_json::json;

use super::*;

fn sources(value: &serde_json::Value) -> Sources {
    let mut sources = Sources::default();
    sources.set_slope_unit("g/h");
    sources.add("", value);
    sources
}

fn missing(of: &serde_json::Value, text: &str) -> Vec<String> {
    sources(of).ungrounded(text)
}

#[test]
fn a_figure_needs_value_and_unit() {
    let of = json!({"time_domain": {"rms_g": 0.33}, "rul": {"hours": 170.0}});
    assert_eq!(missing(&of, "0.33 g"), Vec::<String>::new());
    assert_eq!(missing(&of, "추정값 170시간, 약 7일"), Vec::<String>::new());
    for wrong in ["33 h", "33 %", "0.33 dB", "추정값 33시간", "0.34 g", "추정값 8일", "170 rpm"]
    {
        assert_eq!(missing(&of, wrong).len(), 1, "{wrong}");
    }
}

#[test]
fn hours_of_one_field_are_no_hours_of_another() {
    let of =
        json!({"rul": {"ci_low_hours": 72.0, "hours": 120.0}, "config": {"lead_time_h": 168.0}});
    let told =
        "신뢰구간 하한 72시간(약 3일)을 보수적으로 채택 · 조달·계획 리드타임 168시간보다 짧음";
    assert_eq!(missing(&of, told), Vec::<String>::new());
    assert_eq!(missing(&of, &told.replace("3일", "7일")), ["7"]);
    assert_eq!(missing(&of, &told.replace("72시간", "168시간")), ["168"]);
    assert_eq!(missing(&of, "7일 이내 교체 계획을 수립"), Vec::<String>::new());
    assert_eq!(missing(&of, "5일 이내 교체 계획을 수립"), ["5"]);
}

#[test]
fn counts_are_held_to_what_is_counted() {
    let of = json!(
        {"frequency_domain": {"bpfo": {"harmonics": [1, 2, 3, 4], "sidebands": {"count": 6}}}});
    for told in ["BPFO 고조파 4개와 측대파 6개", "4 multiples of BPFO with 6 sidebands"] {
        assert_eq!(missing(&of, told), Vec::<String>::new(), "{told}");
        assert_eq!(missing(&of, &told.replace('4', "6")), ["6"], "{told}");
        assert_eq!(missing(&of, &told.replace('6', "4")), ["4"], "{told}");
    }
}

#[test]
fn a_source_gives_one_figure_a_sentence() {
    let of = json!({"memory": {"highest_kurtosis": 12.3}, "time_domain": {"kurtosis": 5.1}});
    assert_eq!(missing(&of, "kurtosis fell from 12.3 to 5.1"), Vec::<String>::new());
    assert_eq!(missing(&of, "kurtosis fell from 5.1 to 5.1"), ["5.1"]);
}

#[test]
fn shares_are_told_in_percent_and_nothing_else_is() {
    let of = json!({"rul": {"confidence": 0.95}, "anomaly": {"level_ratio": 3.2}});
    assert_eq!(missing(&of, "신뢰도 95%"), Vec::<String>::new());
    assert_eq!(missing(&of, "기준선 대비 3.2배"), Vec::<String>::new());
    assert_eq!(missing(&of, "기준선 대비 320%"), ["320"]);
}

#[test]
fn both_ends_of_a_range_are_checked() {
    let of = json!({"rul": {"ci_low_hours": 33.0, "ci_high_hours": 40.0}});
    assert_eq!(missing(&of, "하한 33시간, 상한 40시간"), Vec::<String>::new());
    assert_eq!(missing(&of, "33-40시간"), ["33", "40"]);
    assert_eq!(missing(&of, "하한 33-41시간").len(), 1);
}

#[test]
fn a_figure_of_a_document_stands_only_beside_its_name() {
    let mut sources = Sources::default();
    sources.add_quote("MH-05", "고장까지 72시간, 편심 0.18 mm");
    sources.add_document("MH-05", Citation::Any);
    assert_eq!(sources.ungrounded("유사 사례 MH-05, MH-05 참조"), ["05"]);
    assert_eq!(sources.ungrounded("MH-05는 72시간 만에 고장"), Vec::<String>::new());
    assert_eq!(sources.ungrounded("이 베어링은 72시간 만에 고장. MH-05 참조"), ["72"]);
    assert_eq!(sources.ungrounded("MH-06은 72시간 만에 고장"), ["06", "72"]);
}

#[test]
fn names_and_dates_must_be_known() {
    let mut sources = Sources::default();
    sources.add_name("P-101");
    let at = pdm_shared::time::Timestamp::parse("2026-11-21T08:05:00Z").expect("a time");
    sources.add_time(at);
    let told = "P-101 2×BSF 2026-11-21 08:05 UTC, 11월 21일 (ISO 20816-1)";
    assert_eq!(sources.ungrounded(told), Vec::<String>::new());
    assert_eq!(sources.ungrounded("P-102 3×BSF"), ["102", "3"]);
    assert_eq!(
        sources.ungrounded("2026-11-22 08:05, 11월 12일"),
        ["2026-11-22 08:05", "11월 12일"]
    );
}

#[test]
fn a_figure_without_a_source_is_marked_and_the_sentence_stays() {
    let mut sources = Sources::default();
    sources.add("config.lead_time_h", &json!(168.0));
    sources.add_name("rms2_5k");
    let mut text = Text::new(
        "7일 이내 교체. 고장까지 33시간. rms2_5k 상승",
        "Replace within 7 days; 33 h left",
    );
    assert_eq!(sources.withhold(&mut text), ["33", "33"]);
    assert_eq!(text.ko, "7일 이내 교체. 고장까지 [근거 미확인]시간. rms2_5k 상승");
    assert_eq!(text.en, "Replace within 7 days; [unverified] h left");
}

/// A foreign document may hold every number there is, in any language: it grounds nothing of the
/// case.
#[test]
fn a_document_full_of_numbers_grounds_no_figure_of_the_case() {
    let mut sources = sources(&json!({"rul": {"ci_low_hours": 72.0}}));
    let numbers = (0..400).map(|n| format!("{n}시간 {n}.2 dB {n} g {n}단계 {n}회 {n} hours, "));
    sources.add_quote("MH-99", &numbers.collect::<String>());
    sources.add_document("MH-99", Citation::Any);
    for wrong in [
        "신뢰구간 하한 33시간",
        "노이즈 플로어보다 18.2 dB 높음",
        "The lower bound of 33 h is taken",
        "P-F 3단계: 0.33 g",
        "추정값 33시간 · MH-99 참조",
    ] {
        assert!(!sources.ungrounded(wrong).is_empty(), "{wrong}");
    }
    assert_eq!(sources.ungrounded("하한 72시간 · MH-99는 33시간 만에 고장"), Vec::<String>::new());
}

#[test]
fn what_two_documents_say_stays_with_each() {
    let mut sources = Sources::default();
    for (name, quote) in [("MH-01", "72시간 만에 고장"), ("MH-02", "10시간 만에 고장")]
    {
        sources.add_quote(name, quote);
        sources.add_document(name, Citation::Any);
    }
    assert_eq!(sources.ungrounded("MH-01은 72시간. MH-02는 10시간"), Vec::<String>::new());
    assert_eq!(sources.ungrounded("MH-01은 10시간. MH-02는 72시간"), ["10", "72"]);
}

/// Lives are told in rounded days, the time between them in days that have passed.
#[test]
fn the_days_between_two_lives_are_those_that_have_passed() {
    let of = json!({ "memory": {
        "rul_then_h": 376.0, "rul_then_before_h": 62.0, "rul_now_h": 80.0,
    } });
    let told = "the lower bound of the remaining life went from 16 days to 80 h in 2 days";
    assert_eq!(missing(&of, told), Vec::<String>::new());
    assert_eq!(missing(&of, &told.replace("16 days", "15 days")), ["15"]);
    assert_eq!(missing(&of, &told.replace("2 days", "3 days")), ["3"]);
}
