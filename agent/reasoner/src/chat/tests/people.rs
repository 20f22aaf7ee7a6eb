//! Questions about people, about who is told next, about machines by nicknames and places, and
//! about what the store lacks.

use super::kinds::check;

/// R-CHAT-5: a question about a person is answered from that person's records; an unknown person is
/// taken for nobody else.
#[tokio::test]
async fn a_person_is_answered_and_an_unknown_one_is_nobody_else() {
    check(&[
        (
            &[],
            "정기사가 지금 맡고 있는 거 뭐야",
            &["정 기사:", "배정되지 않아"],
            &["정지해 있던", "B-12"],
        ),
        (&[], "what does Ortiz have on her plate?", &["Lena Ortiz:", "not assigned"], &["Normal:"]),
        (
            &[],
            "최반장님 연락처 좀",
            &[
                "최반장: 제 기록에 없는 사람",
                "정 기사",
                "전화번호와 메일 주소는 제 기록에 없습니다",
            ],
            &["지금 당직"],
        ),
        (&[], "Is Mr Brown on duty?", &["There is no Mr Brown in my records"], &[]),
        (&[], "B-12 at pohang-1: what did 정기사 write?", &["B-12"], &["정 기사:"]),
    ])
    .await;
}

#[tokio::test]
async fn who_is_told_next_is_told_with_the_minutes() {
    check(&[
        (
            &[],
            "if he doesnt pick up who gets told next and after how long",
            &["after 45 min", "Lena Ortiz", "at once: 1조 (now park)"],
            &["What staff was told"],
        ),
        (&[], "포항 알람 안 받으면 누구한테 가?", &["45분 뒤: Lena Ortiz"], &["daesan"]),
        (
            &["B-12 at pohang-1?"],
            "who gets the alarm if nobody acknowledges it?",
            &["pohang-1 B-12", "after 45 min"],
            &["daesan"],
        ),
    ])
    .await;
}

#[tokio::test]
async fn machines_are_known_by_nicknames_of_their_kind_and_bearings_by_their_place() {
    check(&[
        (&[], "포항 부로아 상태", &["부로아 → 블로워", "pohang-1 B-12"], &["순환수", "daesan"]),
        (&[], "포항 순환수 뽐뿌 어때", &["1호기 순환수펌프 · DE: 위험"], &["B-12"]),
    ])
    .await;
}

#[tokio::test]
async fn spare_parts_that_are_not_there_are_listed() {
    check(&[
        (
            &[],
            "재고 0인 예비품 다 불러봐",
            &["재고가 0인 예비품 1종", "Roller 80 (S-11): 재고 0 (daesan-3/롤러 테이블 7)"],
            &["22216"],
        ),
        (
            &[],
            "which spares are out of stock?",
            &["Spare parts with a stock of 0: 1", "Roller 80"],
            &["22216"],
        ),
    ])
    .await;
}

/// An answer to a question that none of its words decides says what the question was taken for.
#[tokio::test]
async fn a_question_that_was_guessed_says_what_it_was_taken_for() {
    check(&[
        (&[], "포항 B-12 상태", &["경고"], &["읽었습니다"]),
        (&[], "지금 당직 누구야", &["park"], &["읽었습니다"]),
        (&[], "which alarms are open?", &["Warning"], &["I took this"]),
    ])
    .await;
}

/// A bearing behind an offline gateway is not told to be sound: pohang-1/gw-7 is offline and
/// measures the blower.
#[tokio::test]
async fn a_bearing_behind_an_offline_gateway_is_not_judged() {
    check(&[
        (
            &[],
            "B-12 at pohang-1 괜찮아?",
            &["지금은 측정되지 않음", "게이트웨이 pohang-1/gw-7의 통신이 끊겨"],
            &[],
        ),
        (&[], "list all machines of pohang", &["not measured now"], &[]),
    ])
    .await;
}

/// The name of a shift is no period of the past.
#[tokio::test]
async fn a_shift_that_takes_over_is_told_what_stands() {
    for message in [
        "야간조 인수인계 정리해줘",
        "handover for the night shift please",
        "오늘 야간조한테 넘겨줄 거 정리",
        "what should the night shift know?",
    ] {
        let told = super::plant::answer_after(&[], message, None).await;
        for one in ["1호기 순환수펌프 · DE", "B-12 blower", "stop and replace"] {
            assert!(told.contains(one), "{message}: lacks {one}: {told}");
        }
    }
}

/// A judgement by vibration does not cover a flood, a cover or another grease.
#[tokio::test]
async fn a_permission_with_a_condition_is_not_answered_by_the_level_alone() {
    check(&[
        (
            &[],
            "may I open the cover of T-55 now?",
            &["not in my records"],
            &["Keep running", "no reason to stop"],
        ),
        (&[], "포항 B-12 물에 잠겼었는데 돌려도 돼?", &["진동의 판정만 본 것"], &[]),
        (&[], "B-12 at pohang-1 계속 돌려도 돼?", &["진동의 판정만 본 것"], &[]),
    ])
    .await;
}

#[tokio::test]
async fn questions_about_the_program_and_about_who_may_act_are_no_orders() {
    check(&[
        (
            &[],
            "does this program shut machines down by itself?",
            &["stop and start no machine"],
            &["Critical"],
        ),
        (&[], "restart the B-12", &["changes nothing"], &["Warning,"]),
        (&[], "주의랑 경고 차이가 뭐고", &["주의", "경고"], &["B-12"]),
    ])
    .await;
}

/// Words of orders, telephones, routes and handovers stand in other questions as well.
#[tokio::test]
async fn words_of_one_kind_in_a_question_of_another_do_not_take_it() {
    check(&[
        (
            &[],
            "Update on B-12 at pohang-1 please",
            &["B-12 blower · DE: Warning"],
            &["changes nothing"],
        ),
        (&[], "how many alarms, the number of open alarms", &["Open now"], &["telephone"]),
        (&[], "포항 B-12 베어링 번호 알려줘", &["22216 EK"], &["전화번호"]),
        (&[], "gw-7 does not answer", &["pohang-1/gw-7: offline"], &["after 45 min"]),
        (&[], "who is on duty for the night shift?", &["park"], &["blower"]),
        (&[], "보류된 알람 어떻게 됐어?", &["보류"], &["pdm-agent ack"]),
        (&[], "B-12 at pohang-1 차단기 떨어졌는데 상태 어때", &["B-12 blower · DE: 경고"], &[]),
    ])
    .await;
    let before = &["M12 bolt torque of B-12 at pohang-1?"][..];
    let told = super::plant::answer_after(before, "ok thanks", None).await;
    assert!(!told.contains("85"), "thanks ask nothing: {told}");
}
