//! Words of other programs as a Korean report tells them.

use pdm_report::words::{no_answer, word_of_value};

/// R-AGENT-8: why a look-up has no answer, and the direction of a trend, have no English word in
/// Korean; what another program wrote stays whole beside a Korean word.
#[test]
fn reasons_and_directions_are_told_in_korean() {
    for reason in [
        "not asked: the look-ups of this judgement have taken all their time",
        "not asked: the tool was away a moment ago",
        "refused: no more calls are left in this run",
        "no answer within 3 s",
    ] {
        let told = no_answer(reason);
        let rest = told.ko.replace(" s ", " ");
        assert!(!rest.contains(|letter: char| letter.is_ascii_alphabetic()), "{}", told.ko);
        assert_eq!(told.en, reason);
    }
    let foreign = no_answer("connection refused");
    assert_eq!(foreign.ko, "도구의 오류 (connection refused)");
    assert_eq!(word_of_value("rising").expect("known").ko, "상승");
    assert!(word_of_value("rising fast").is_none(), "a text of another kind stays");
}
