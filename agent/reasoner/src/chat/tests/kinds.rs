//! Kinds of questions that were once answered untruly: of another site, of a dead sensor, of
//! another day.

use super::plant::answer_after;

/// The earlier questions, the question, the words that its answer must hold, and those that it must
/// not.
pub(super) type Case<'a> = (&'a [&'a str], &'a str, &'a [&'a str], &'a [&'a str]);

/// Asks each question, and checks what its answer has and lacks.
pub(super) async fn check(cases: &[Case<'_>]) {
    for (before, message, holds, lacks) in cases {
        let told = answer_after(before, message, None).await;
        for one in *holds {
            assert!(told.contains(one), "{message}: lacks {one}: {told}");
        }
        for one in *lacks {
            assert!(!told.contains(one), "{message}: has {one}: {told}");
        }
    }
}

#[tokio::test]
async fn a_site_in_a_question_restricts_machines_and_lists() {
    check(&[
        (&[], "포항 B-12 상태", &["pohang-1 B-12 blower · DE: 경고"], &["daesan-3"]),
        (
            &[],
            "B-12 at daesan-3?",
            &["daesan-3 B-12 blower · DE"],
            &["pohang-1", "경고", "Warning"],
        ),
        (
            &[],
            "B-12 어때",
            &["pohang-1 B-12 blower · DE: 경고", "daesan-3 B-12 blower · DE: 정상"],
            &[],
        ),
        (&["B-12 어때"], "대산 건?", &["daesan-3 B-12 blower · DE: 정상"], &["pohang-1 B-12"]),
        (&[], "how is daesan doing", &["daesan-3 롤러 테이블 7"], &["pohang-1"]),
        (&[], "대산 경보 목록", &["롤러 테이블 7"], &["순환수펌프", "B-12"]),
        (&[], "how many bearings at pohang-1", &["4 bearings"], &[]),
        (&[], "광양 1공장 펌프들 상태는?", &["광양", "없는 사업장", "pohang-1"], &["경고", "위험"]),
        (&[], "포항이랑 대산 중에 어디가 더 급해?", &["더 급한 곳: pohang-1", "위험 1"], &[]),
    ])
    .await;
    let told = answer_after(&[], "B-12 상태?", Some("daesan-3/B-12 blower/DE")).await;
    assert!(told.contains("daesan-3 B-12") && !told.contains("pohang-1 B-12"), "{told}");
    let told = answer_after(&[], "상태?", Some("daesan-3/B-12 blower/XX")).await;
    assert!(told.contains("XX") && told.contains("제 기록에 없"), "{told}");
}

#[tokio::test]
async fn a_machine_is_found_by_its_name_as_it_is_written_and_nearly_so() {
    for message in [
        "1호기 순환수펌프 상태",
        "순환수펌프 1호 상태",
        "1번 순환수펌프 상태",
        "1호기순환수펌프",
        "1호기 순환수 펌프 상태",
        "1호기 순환수펌푸 상태",
        "순환수펌프1호기 지금 돌려도 됨?",
    ] {
        let told = answer_after(&[], message, None).await;
        assert!(told.contains("1호기 순환수펌프 · DE: 위험"), "{message}: {told}");
        assert!(!told.contains("없는 설비") && !told.contains("가운데 하나"), "{message}: {told}");
    }
    for message in ["B-12 상태 ㄱㄱ", "b12 블로워 상태", "hows B-12", "고마워. 그럼 B-12 blower는?"]
    {
        let told = answer_after(&[], message, None).await;
        assert!(told.contains("pohang-1 B-12 blower · DE"), "{message}: {told}");
        assert!(!told.contains("순환수펌프 · DE"), "{message}: {told}");
    }
    let told = answer_after(&[], "롤러 테이블7 상태", None).await;
    assert!(told.contains("롤러 테이블 7 · DE: 경고"), "{told}");
    let told = answer_after(&[], "4호기 순환수펌프 상태", None).await;
    assert!(told.contains("1호기 순환수펌프") && !told.contains("위험,"), "near names: {told}");
}

#[tokio::test]
async fn what_cannot_be_judged_now_is_never_told_to_be_sound() {
    check(&[
        (
            &[],
            "G-9 지금 돌려도 돼?",
            &["말할 수 없습니다", "2026-11-22 22:00 KST부터", "flat_line"],
            &["이유가 제 기록에는 없"],
        ),
        (&[], "can I run G-9 tonight", &["cannot say"], &["no reason to stop"]),
        (&[], "T-55 알람 없는데 정상이지?", &["정지해 있습니다", "2026-11-22 14:00 KST"], &[]),
        (&[], "G-9 언제부터 센서가 이상해?", &["2026-11-22 22:00 KST부터"], &[]),
        (
            &[],
            "정상인 설비는?",
            &["정상은 1개", "G-9", "T-55"],
            &["G-9 · DE: 정상", "T-55 · DE: 정상"],
        ),
        (
            &[],
            "전체 목록",
            &["판정할 수 없는 것 2개", "판정할 수 없음(정지 중)"],
            &["T-55 · DE: 정상"],
        ),
        (&[], "G-9 값이 안 나와. 왜?", &["무효"], &["들어오고 있습니다"]),
        (&[], "멈춰 있는 설비는?", &["T-55"], &["G-9", "순환수펌프"]),
        (&[], "세워야 하는 거 있어?", &["순환수펌프 · DE: 위험"], &["B-12 blower", "어느 베어링"]),
    ])
    .await;
}

#[tokio::test]
async fn days_and_hours_are_those_of_the_plants_clock() {
    check(&[
        (&[], "포항 B-12 11월 21일 진동값", &["2026-11-21", "RMS 1.1 mm/s", "23:00"], &["3.3"]),
        (&[], "포항 B-12 11월 22일 진동값", &["RMS 3.3 mm/s"], &["1.1"]),
        (
            &[],
            "포항 B-12 11월 21일 오후 2시 30분에 진동 얼마였어",
            &["2026-11-21 14:00 KST", "1.1 mm/s", "15:00 KST"],
            &["3.3"],
        ),
        (
            &[],
            "vibration of B-12 at pohang-1 on 22 Nov at 00:00",
            &["2026-11-22 00:00 KST", "3.3 mm/s"],
            &[],
        ),
    ])
    .await;
}

#[tokio::test]
async fn measured_and_told_are_named_as_what_they_are() {
    check(&[
        (
            &[],
            "미확인 경보 목록",
            &["2026-11-22 08:10 KST부터(측정)", "2026-11-23 09:30 KST 알림"],
            &["one cause with"],
        ),
        (
            &[],
            "1호기 순환수펌프 언제부터 이상해",
            &["2026-11-22 08:10 KST", "측정"],
            &["08:10 KST 알림"],
        ),
        (&[], "간밤에 무슨 일 있었어?", &["G-9", "2026-11-22 18:00"], &["T-55", "B-12 blower"]),
    ])
    .await;
}

#[tokio::test]
async fn a_follow_up_finds_the_bearing_beside_the_one_that_was_spoken_of() {
    let before: &[&str] = &["1호기 순환수펌프 DE 상태"];
    check(&[
        (before, "그 옆에 건?", &["1호기 순환수펌프 · NDE: 주의"], &["· DE: 위험"]),
        (before, "반대쪽은?", &["1호기 순환수펌프 · NDE: 주의"], &["· DE: 위험"]),
        (before, "and the other side?", &["1호기 순환수펌프 · NDE: Watch"], &["· DE: Critical"]),
        (&["B-12 at pohang-1"], "and how long does it take", &[], &["롤러", "순환수펌프"]),
        (before, "NDE는?", &["1호기 순환수펌프 · NDE: 주의"], &["· DE: 위험"]),
        (
            &["제일 위험한 건?"],
            "두 번째로 나쁜 건?",
            &["pohang-1 B-12 blower · DE: 경고"],
            &["순환수펌프", "롤러"],
        ),
    ])
    .await;
}

#[tokio::test]
async fn bearings_of_one_level_are_ranked_by_the_life_that_is_left() {
    check(&[
        (
            &[],
            "is the B-12 blower worse than 롤러 테이블 7",
            &["orse: pohang-1 B-12 blower · DE"],
            &[],
        ),
        (&[], "only criticals", &["순환수펌프 · DE"], &["B-12", "롤러"]),
        (&[], "외륜 나간 데 어디어디야", &["pohang-1 B-12 blower · DE"], &["롤러", "순환수펌프"]),
    ])
    .await;
}

#[tokio::test]
async fn why_it_was_at_a_level_is_answered_by_the_judgement_of_then() {
    check(&[
        (
            &[],
            "why was B-12 at daesan-3 critical",
            &["of then at 17 dB", "2026-11-10 09:00 KST"],
            &["18.2"],
        ),
        (&[], "why is B-12 at pohang-1 in warning", &["18.2 dB"], &["of then"]),
    ])
    .await;
}

#[tokio::test]
async fn a_locknut_is_never_given_the_torque_of_a_bolt() {
    check(&[
        (&[], "로크너트 토크", &["제조사 값", "[EM-06 §6]"], &["85"]),
        (&[], "locknut torque?", &["do not tighten"], &["85"]),
        (&[], "커플링 볼트 말고 커플링 토크 얼마?", &["값 없이 조이지"], &["85"]),
        (&[], "M12 볼트 몇으로 조여? 로크너트는?", &["85 N·m", "제조사 값"], &[]),
    ])
    .await;
}

#[tokio::test]
async fn a_temperature_is_told_where_it_is_measured() {
    check(&[
        (&[], "1호기 순환수펌프 NDE 온도 몇 도", &["61.5 °C"], &["측정하지 않"]),
        (&[], "temp of 롤러 테이블 7?", &["has no temperature"], &["not measured"]),
    ])
    .await;
}

#[tokio::test]
async fn the_words_of_a_question_decide_its_language_and_not_the_names_in_it() {
    check(&[
        (&[], "status of 1호기 순환수펌프", &["Critical"], &["위험"]),
        (&[], "<script>alert(1)</script> B-12", &["경고"], &["Warning"]),
        (&[], "b-12de", &["경고"], &["Warning"]),
    ])
    .await;
}

/// A follow-up that names something which nobody here knows is not answered with the machine of
/// before.
#[tokio::test]
async fn a_name_that_nobody_knows_gets_no_other_machines_figures() {
    let before = &["B-12 at daesan-3?"][..];
    for message in
        ["and the boiler?", "보일러는?", "what about the condensate pump?", "냉각수펌프는?"]
    {
        let told = answer_after(before, message, None).await;
        assert!(!told.contains("B-12 blower · DE:"), "{message}: {told}");
        let name = message.trim_end_matches('?').trim_end_matches('는');
        let name = name.rsplit(" the ").next().unwrap_or(name);
        assert!(told.contains(name), "{message}: {told}");
    }
    check(&[
        (&[], "보일러 상태", &["보일러"], &["daesan-3", "B-12 blower · DE:"]),
        (&[], "how is the boiler doing?", &["There is no boiler"], &["B-12 blower · DE:"]),
        (before, "is the chiller ok?", &["There is no chiller"], &["B-12 blower · DE:"]),
        (before, "언제부터?", &["daesan-3 B-12"], &["제 기록에 없"]),
        (before, "and why?", &["Grounds"], &["There is no"]),
    ])
    .await;
}
