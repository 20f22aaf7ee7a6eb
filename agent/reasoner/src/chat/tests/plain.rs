//! Kinds of questions that were answered for another machine, another time or another thing, or in
//! half.

use super::kinds::check;
use super::plant::answer_after;

/// R-CHAT-5: every bearing that is asked about is answered, its work with who has it.
#[tokio::test]
async fn two_ends_of_a_machine_are_both_answered_with_their_work() {
    check(&[
        (
            &[],
            "Is the NDE of 1호기 순환수펌프 affected as well, or only the DE? and who is assigned to the \
             repair?",
            &[
                "NDE: Watch",
                "DE: Critical",
                "stop and replace",
                "overdue",
                "Nobody is assigned",
                "park",
            ],
            &["B-12", "롤러"],
        ),
        (
            &[],
            "1호기 순환수펌프 DE 작업 담당자가 누구야?",
            &["stop and replace", "작업을 맡은 사람은 기록에 없습니다", "park"],
            &["B-12"],
        ),
    ])
    .await;
}

/// The register names machines of one name by SITE/MACHINE.
#[tokio::test]
async fn spares_of_a_machine_whose_name_stands_at_two_sites_are_those_of_its_own() {
    check(&[
        (
            &[],
            "포항 B-12 예비품 있나?",
            &["Bearing 22216 (S-9): 재고 3"],
            &["재고는 자산 목록에 없"],
        ),
        (
            &[],
            "B-12 부품 남은 거 있어?",
            &["Bearing 22216 (S-9): 재고 3", "daesan-3 B-12 blower · DE: 베어링"],
            &["MH-"],
        ),
        (&["B-12 at pohang-1?"], "예비 베어링 있어?", &["재고 3"], &[]),
        (
            &[],
            "B-12 at pohang-1 상태랑 부품 있어?",
            &["pohang-1 B-12 blower · DE: 경고", "재고 3"],
            &[],
        ),
        (&[], "have we got a mechanical seal?", &["Mechanical seal (MS-9): 4 in stock"], &["duty"]),
    ])
    .await;
}

/// The weekend before this Monday is 21 and 22 November; the pump became Critical on Monday at
/// 01:00.
#[tokio::test]
async fn a_period_is_read_and_a_rise_within_it_has_its_own_date() {
    check(&[
        (
            &[],
            "주말 사이에 새로 생긴 경보 있어?",
            &["2026-11-21 – 2026-11-22", "2026-11-22 08:10 KST 경고 도달", "T-55"],
            &["2026-11-23 01:00 KST 위험 도달"],
        ),
        (
            &[],
            "anything new over the weekend?",
            &["2026-11-22 08:10 KST reached Warning", "now Critical"],
            &["2026-11-23 01:00 KST reached"],
        ),
        (
            &[],
            "어제랑 비교하면 뭐가 바뀌었지?",
            &["2026-11-23 01:00 KST 위험 도달: pohang-1 1호기 순환수펌프 · DE", "gw-7: 통신 두절"],
            &["2026-11-21 08:10"],
        ),
        (
            &[],
            "what is different compared to yesterday",
            &["2026-11-23 01:00 KST reached Critical: pohang-1"],
            &["2026-11-21 08:10"],
        ),
        (
            &[],
            "was anything raised on sunday?",
            &["2026-11-22 08:10 KST reached Warning"],
            &["Which"],
        ),
        (
            &[],
            "B-12 at pohang-1 어제보다 어때?",
            &["2026-11-21 08:10 KST부터 이상"],
            &["7일 이내 교체 계획"],
        ),
        (&[], "지난 분기에 난 경보 목록", &["기간 \"분기\""], &[]),
        (
            &[],
            "which alarms are open since last quarter?",
            &["\"quarter\" was not understood"],
            &[],
        ),
        (
            &[],
            "확인 안 된 경보 뭐 있어?",
            &["이상 2026-11-22 08:10 KST부터(측정), 위험 도달 2026-11-23 01:00 KST(측정)"],
            &[],
        ),
    ])
    .await;
}

/// Staff's findings say which alarms were none: two in all, one of them in November.
#[tokio::test]
async fn false_alarms_are_counted_by_what_staff_found() {
    check(&[
        (
            &[],
            "이번 달에 헛알람 몇 번이나 났어?",
            &["오경보 1건", "판정 맞음 1", "케이블 접촉 불량", "2026-11-20"],
            &["열린 경보"],
        ),
        (
            &[],
            "how many nuisance alarms so far?",
            &["False alarms: 2", "another cause 1"],
            &["Open"],
        ),
        (
            &[],
            "진단이 맞은 비율이 얼마나 돼?",
            &["점검 결과가 보고된 판정 4건", "판정 맞음 1"],
            &[],
        ),
        (&["B-12 at pohang-1?"], "how often was a diagnosis wrong?", &["False alarms: 2"], &[]),
        (&[], "T-55 오보였어?", &["판정 맞음", "이상 없음(오경보)"], &["B-12"]),
        (&["G-9 상태"], "그거 오알람이었나?", &["보고된 점검 결과가 없"], &["T-55"]),
        (&[], "T-55 오경보 몇 건이었어?", &["오경보 1건"], &["2026-11-20"]),
    ])
    .await;
}

/// The blower of the plant is called by the same word and stands in Warning.
#[tokio::test]
async fn a_stated_velocity_of_a_class_is_judged_by_the_table_and_by_no_machine() {
    check(&[
        (
            &[],
            "2.0 mm/s at a 55 kW blower on concrete, acceptable?",
            &["medium (15–300 kW), rigid: zone B", "[EM-01 §5]"],
            &["B-12", "Recorded"],
        ),
        (
            &[],
            "400kW 블로워 방진 지지인데 7.5면 무슨 구역이야?",
            &["대형(300 kW 초과), 유연 지지: C 구역"],
            &["B-12", "기록된"],
        ),
        (&[], "B-12 at pohang-1 진동 구역", &["pohang-1 B-12"], &["EM-01"]),
    ])
    .await;
}

#[tokio::test]
async fn a_replacement_is_told_in_its_order_with_the_lock_out_first() {
    check(&[
        (
            &[],
            "베어링 갈아 끼우는 순서 좀 알려줘",
            &["먼저 잠금·표지(LOTO)", "차단하고 잠근다", "- §2 준비", "- §3 분해"],
            &["바꾸지 않습니다"],
        ),
        (
            &[],
            "what is the order of work when we are swapping a bearing, step by step",
            &["LOTO) first", "Isolate and lock", "- §3 Dismounting"],
            &["changes nothing"],
        ),
        (&[], "B-12 at pohang-1 베어링 교체 어떻게 됐어?", &["pohang-1 B-12"], &["잠근다"]),
    ])
    .await;
}

#[tokio::test]
async fn what_makes_a_level_is_told_by_the_rules() {
    check(&[
        (
            &[],
            "어떨 때 위험으로 판정해?",
            &["기준선의 5배", "config/diagnosis.toml"],
            &["순환수펌프"],
        ),
        (&[], "what are the alarm limits?", &["2 times the baseline", "stage"], &["순환수펌프"]),
        (&[], "경보 기준 알려줘", &["기준선의 2배"], &["B-12"]),
    ])
    .await;
}

#[tokio::test]
async fn the_weather_and_the_canteen_of_a_site_are_out_of_scope() {
    for message in [
        "포항 내일 비 오나?",
        "대산 구내식당 메뉴 뭐야",
        "what is the weather at daesan like",
        "lunch menu in Pohang today?",
    ] {
        check(&[(&[], message, &[], &["pohang-1", "daesan-3", "경고", "Warning"])]).await;
    }
    check(&[(&[], "점심때 난 경보 있어?", &["열린 경보"], &[])]).await;
}

#[tokio::test]
async fn what_was_not_understood_of_a_question_is_said() {
    check(&[
        (
            &[],
            "B-12 at pohang-1 status? what is the capital of Peru?",
            &["pohang-1 B-12", "Not answered: \"what is the capital of Peru\""],
            &[],
        ),
        (
            &[],
            "any overdue jobs, and which one is due next?",
            &["Overdue work", "stop and replace", "Due next", "order it"],
            &["Not answered"],
        ),
        (
            &[],
            "기한이 제일 가까운 작업은?",
            &["order it", "look at the belt"],
            &["stop and replace"],
        ),
        (&[], "지금 당직 누구야? 내일 밤은?", &["park", "19:00 choi"], &["보낸 알림"]),
    ])
    .await;
}

#[tokio::test]
async fn a_slip_of_typing_is_read_and_said() {
    check(&[
        (
            &[],
            "whats the vibraton on the blowr at daesan-3",
            &["vibraton → vibration", "blowr → blower", "daesan-3 B-12 blower · DE"],
            &["That is not in my records"],
        ),
        (&[], "kurtsis of B-12 at pohang-1", &["kurtsis → kurtosis", "pohang-1 B-12"], &[]),
    ])
    .await;
}

#[tokio::test]
async fn grease_is_calculated_for_the_size_that_is_stated() {
    check(&[
        (
            &[],
            "구리스 몇 그램 넣지? 외경 80에 폭은 20",
            &["0.005 · 80 · 20 = 8 g"],
            &["제 문서에 없"],
        ),
        (&[], "how much grease for OD 110 mm, width 28 mm", &["= 15.4 g"], &["30–40"]),
    ])
    .await;
}

/// `M12` is the size of a bolt there, and the machine `pump X-777` is no pump of the plant.
#[tokio::test]
async fn what_stands_beside_a_name_is_no_other_machine() {
    check(&[
        (
            &[],
            "status of blower X-777",
            &["There is no X-777"],
            &["no blower", "B-12 blower · DE:"],
        ),
        (&[], "dead gateway?", &["Offline gateways: 1", "Other gateways: 1"], &[]),
    ])
    .await;
}

/// A question in another language was answered by whatever its words resemble.
#[tokio::test]
async fn a_question_in_another_language_is_said_to_be_none_that_is_read() {
    for message in [
        "¿Cuál es la máquina más crítica ahora mismo?",
        "今一番危ない機械はどれですか",
        "Какая машина хуже всех?",
    ] {
        let told = answer_after(&[], message, None).await;
        assert!(told.contains("영어로 된 질문만") && told.contains("Korean and English"), "{told}");
        assert!(!told.contains("순환수펌프"), "no machine answers: {told}");
    }
    check(&[
        (
            &[],
            "how many bearings do you watch, per site",
            &["7 bearings", "pohang-1: 4", "daesan-3: 3"],
            &["no site"],
        ),
        (&[], "베어링 몇 개 보고 있어?", &["pohang-1: 4"], &[]),
        (
            &[],
            "22216이랑 9999 재고 각각 몇 개",
            &["22216: 자산 목록에", "9999: 자산 목록에"],
            &["판정하는"],
        ),
    ])
    .await;
}

/// A bearing whose gateway is offline was "being measured" as long as its last window was not a day
/// and a half old.
#[tokio::test]
async fn a_bearing_whose_gateway_is_offline_is_not_being_measured() {
    check(&[
        (
            &[],
            "포항 B-12 데이터 왜 안 들어와",
            &["들어오지 않습니다", "gw-7", "통신 두절"],
            &["들어오고 있습니다"],
        ),
        (
            &[],
            "when did we last hear from B-12 at pohang-1?",
            &["nothing has come in of", "gw-7", "offline"],
            &["It is being measured", "no abnormality"],
        ),
    ])
    .await;
}

/// "이번 주" alone was counted where it was to be compared.
#[tokio::test]
async fn alarms_of_a_week_are_compared_with_those_of_the_week_before() {
    check(&[
        (
            &[],
            "이번 주 알람 건수가 지난주보다 늘었어?",
            &["그 앞(2026-11-16 – 2026-11-22)에는 2건: 줄었습니다"],
            &[],
        ),
        (
            &[],
            "how many alarms were there this week versus before?",
            &["Before (2026-11-16 – 2026-11-22)"],
            &[],
        ),
        (&[], "1호기 순환수펌프 베어링 교체 후 시운전 순서", &[], &["위험"]),
    ])
    .await;
}
