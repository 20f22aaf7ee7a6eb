//! Tests which figures an answer in free words may tell, and which are withheld.

use serde_json::json;

use super::*;

fn readings() -> Readings {
    let mut readings = Readings::default();
    readings.add_text("P-101 · DE: 경고, P-F 2단계, 잔여수명 120시간, 외륜 결함선 18.23 dB");
    readings.add_data(&json!({
        "bearing": { "rul_hours": 96.0, "stage": 3, "confidence": 0.82, "rms_g": 0.169,
            "measured_at": "2026-11-21T05:10:21.412Z" },
        "documents": [
            { "id": "EM-05#1", "text": "토크 42 Nm로 체결한다. 30분 동안 가열한다." },
            { "id": "EM-07#2", "text": "간극은 0.05 mm 이하, 온도는 110 °C." },
        ],
    }));
    readings
}

/// R-CHAT-5: whatever can be told truly of what was read stays.
#[test]
fn true_figures_stay_in_whatever_unit_they_are_told() {
    let readings = readings();
    for text in [
        "P-101 DE는 P-F 2단계이고 120시간(약 5일) 남았습니다.",
        "결함선은 18.2 dB, RMS 0.17 g, 신뢰도 82 %입니다.",
        "About 4 days are left; 0.82 is the confidence; stage 3.",
        "토크 42 Nm [EM-05#1], 42Nm로 체결하십시오.",
        "간극 0.05 mm(EM-07). 가열은 30분.",
        "2026-11-21 05:10 측정, 21일 기준. 문서 2건.",
        "1. 전원 차단\n2) 잠금\n3. 교체 토크 42 Nm",
    ] {
        assert_eq!(readings.withheld(text, "[?]"), text);
    }
}

#[test]
fn a_figure_of_another_value_unit_or_document_is_withheld() {
    let readings = readings();
    for (text, left) in [
        ("남은 시간은 777시간입니다.", "남은 시간은 [?]시간입니다."),
        ("18.23시간 남았습니다.", "[?]시간 남았습니다."),
        ("결함선은 120 dB입니다.", "결함선은 [?] dB입니다."),
        ("120일 남았습니다.", "[?]일 남았습니다."),
        ("P-999를 보십시오.", "P-[?]를 보십시오."),
        ("EM-07에 따라 42 Nm로 체결합니다.", "EM-07에 따라 [?] Nm로 체결합니다."),
        ("온도는 110 °C [EM-05]", "온도는 [?] °C [EM-05]"),
    ] {
        assert_eq!(readings.withheld(text, "[?]"), left);
    }
}

/// R-CHAT-5: a true figure of one bearing is no figure of another.
#[test]
fn a_figure_of_another_bearing_is_withheld() {
    let names = [("P-101", "DE"), ("P-101", "NDE"), ("P-102", "DE")];
    let names = names.map(|(machine, bearing)| (machine.to_owned(), bearing.to_owned()));
    let mut readings = Readings::in_plant(names);
    readings.add_text("P-101 · DE: 경고, P-F 2단계, 잔여수명 120시간\n- BPFO 18.2 dB");
    readings.add_data(&json!({ "bearings": [
        { "equipment_id": "P-102", "bearing_id": "DE", "rul_hours": 96.0,
            "level": { "rms_g": 0.17 } },
        { "equipment_id": "P-101", "bearing_id": "NDE", "rul_hours": 400.0 },
    ], "documents": [{ "id": "EM-05", "text": "P-102는 42 Nm로 체결" }] }));
    for text in [
        "P-101 DE는 120시간, P-102는 96시간 남았습니다.",
        "P-101은 BPFO 18.2 dB입니다. 약 5일 남았습니다.",
        "P-102 DE: 4일, RMS 0.17 g",
        "가장 짧은 것은 96시간, 긴 것은 400시간입니다.",
        "P-101의 DE는 120시간 남았습니다. NDE는 400시간입니다.",
        "P-101도 42 Nm로 체결합니다(EM-05).",
        "P-101은 P-102(96시간)보다 여유가 있습니다.",
    ] {
        assert_eq!(readings.withheld(text, "[?]"), text);
    }
    for (text, left) in [
        ("P-102는 120시간 남았습니다.", "P-102는 [?]시간 남았습니다."),
        (
            "P-101 DE는 96시간, P-102는 120시간 남았습니다.",
            "P-101 DE는 [?]시간, P-102는 [?]시간 남았습니다.",
        ),
        ("P-102는 정상입니다. BPFO 18.2 dB입니다.", "P-102는 정상입니다. BPFO [?] dB입니다."),
        ("P-101 NDE는 120시간입니다.", "P-101 NDE는 [?]시간입니다."),
        ("RMS of P-101 is 0.17 g.", "RMS of P-101 is [?] g."),
    ] {
        assert_eq!(readings.withheld(text, "[?]"), left);
    }
}

#[test]
fn a_long_answer_is_read_and_compared() {
    let mut readings = Readings::default();
    readings.add_data(&json!((0..100_000).map(|n| 0.5 + f64::from(n)).collect::<Vec<_>>()));
    let told = "77.5, 99999.5 and 77.7 ".repeat(20);
    let left = "77.5, 99999.5 and [?] ".repeat(20);
    assert_eq!(readings.withheld(&told, "[?]"), left);
}

proptest::proptest! {
    #[test]
    fn no_text_ends_the_program(read in "\\PC{0,60}", text in "[0-9.,가a %-]{0,60}") {
        let mut readings = Readings::default();
        readings.add_text(&read);
        let _text = readings.withheld(&text, "[?]");
    }
}

/// Transcripts with what their tools answered, after the three example dialogues of the ETF chat
/// and the plant's own chat: question, arguments and answers of the calls, final answer.
fn transcripts() -> Vec<(&'static str, Vec<serde_json::Value>, Vec<serde_json::Value>, &'static str)>
{
    vec![
        (
            "삼성전자를 가장 많이 보유한 ETF는?",
            vec![json!({ "query": "삼성전자" })],
            vec![
                json!([{ "code": "005930", "name": "삼성전자" }]),
                json!([{ "etf_code": "069500", "etf_name": "KODEX 200", "weight": 30.5 }]),
            ],
            "삼성전자(005930)를 가장 많이 보유한 ETF는 다음과 같습니다.\n1. KODEX 200: 30.5%\n코드는 069500입니다.",
        ),
        (
            "KODEX 200과 TIGER 200 비교해줘",
            vec![json!({ "etf_codes": "069500,102110" })],
            vec![json!([
                { "code": "069500", "name": "KODEX 200", "expense_ratio": 0.15, "return_1m": 2.84,
                  "latest_net_assets": 14_500_000_000_u64 },
                { "code": "102110", "name": "TIGER 200", "expense_ratio": 0.05, "return_1m": 6.62,
                  "latest_net_assets": 9_100_000_000_u64 },
            ])],
            "## KODEX 200 vs TIGER 200 비교\n| 항목 | KODEX 200 | TIGER 200 |\n|---|---|---|\n| 코드 | \
             069500 | 102110 |\n\
             | 보수율 | 0.15% | 0.05% |\n| 1개월 수익률 | 2.84% | 6.62% |\n| 순자산 | 145억 | 91억 |",
        ),
        (
            "KODEX 200의 지난해 성과는?",
            vec![json!({ "etf_code": "069500", "period": "1y" })],
            vec![json!({ "summary": { "etf_code": "069500", "period": "1y",
                    "start_date": "2025-02-12",
                "end_date": "2026-02-12", "start_close": 35000, "end_close": 36500,
                "change_rate": 4.29 } })],
            "KODEX 200(069500)의 12개월 수익률은 4.29%입니다. 2025-02-12 종가 35,000원에서 2026년 2월 12일 36,500원이 \
             됐습니다.",
        ),
        (
            "P-101 베어링 형번과 등급 기준을 알려줘",
            vec![json!({ "equipment_id": "P-101" })],
            vec![json!({ "equipment_id": "P-101", "work_order": "WO-20261123-8B1D7133CA29",
                "level": { "velocity_rms_mm_s": 5.44 }, "bpfo": { "snr_db": 24.1 } })],
            "P-101의 베어링 6205는 ISO 20816-1로 봅니다. 진동속도 5.44 mm/s, 결함선 24.1 dB, 작업지시 \
             WO-20261123-8B1D7133CA29입니다.",
        ),
    ]
}

fn read_of(
    question: &str,
    arguments: &[serde_json::Value],
    answers: &[serde_json::Value],
) -> Readings {
    let mut readings = Readings::in_plant([("P-101".to_owned(), "DE".to_owned())]);
    readings.add_said(question);
    for one in arguments {
        readings.add_arguments(one);
    }
    for one in answers {
        readings.add_data(one);
    }
    readings
}

/// The seeds' own example answers pass to the letter.
#[test]
fn codes_labels_standards_and_designations_of_example_answers_pass_to_the_letter() {
    for (question, arguments, answers, told) in transcripts() {
        let readings = read_of(question, &arguments, &answers);
        assert_eq!(readings.withheld(told, "[?]"), told);
    }
}

/// Every digit of those answers is changed into every other; what is told then was not read. At
/// most 2 % pass: 0.15 % becomes the 0.05 % of the other fund, 6205 another bearing of the
/// catalogue, 20816-1 another part.
#[test]
fn a_changed_digit_in_an_example_answer_is_withheld() {
    let (mut tried, mut passed) = (0, Vec::new());
    for (question, arguments, answers, told) in transcripts() {
        let readings = read_of(question, &arguments, &answers);
        for (at, digit) in told.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
            // the number of a list's item
            if told[at + 1..].starts_with(". ") {
                continue;
            }
            for other in ('0'..='9').filter(|other| *other != digit) {
                let changed = format!("{}{other}{}", &told[..at], &told[at + 1..]);
                tried += 1;
                if readings.withheld(&changed, "[?]") == changed {
                    passed.push(changed);
                }
            }
        }
    }
    assert!(tried >= 1000, "{tried} changes");
    assert!(passed.len() * 50 <= tried, "{} of {tried} passed: {passed:#?}", passed.len());
}

/// The number of a name is no measured value: `M12` and `P-101` are neither 12 Nm nor 101 dB.
#[test]
fn the_number_of_a_name_grounds_no_measured_figure() {
    let mut readings = Readings::in_plant([("P-101".to_owned(), "DE".to_owned())]);
    readings.add_said("P-101 M12 볼트 체결 토크가 얼마야?");
    readings.add_data(&json!({ "station_id": 7001, "measured_at": "2026-11-21T05:10:21Z" }));
    for (text, left) in [
        ("토크는 12 Nm입니다.", "토크는 [?] Nm입니다."),
        ("12.0", "[?]"),
        ("P-101 결함선은 101 dB입니다.", "P-101 결함선은 [?] dB입니다."),
        ("7001 ppm입니다.", "[?] ppm입니다."),
        (
            "측정소 7001의 M12 볼트는 2026-11-21에 측정됨",
            "측정소 7001의 M12 볼트는 2026-11-21에 측정됨",
        ),
        ("2026-11-22에 측정됨", "[?]에 측정됨"),
    ] {
        assert_eq!(readings.withheld(text, "[?]"), left);
    }
}

#[test]
fn a_figure_is_held_to_the_path_that_it_was_read_at() {
    let mut readings = Readings::default();
    readings.add_data(&json!({
        "bpfo": { "snr_db": 24.1 }, "frequency_domain": { "bpfi": { "snr_db": 3.2 } },
        "rul": { "hours": 120.0, "ci_low_hours": 72.0 }, "time_domain": { "kurtosis": 5.2 },
    }));
    for text in ["외륜 24.1 dB, 내륜 3.2 dB", "하한 72시간, 추정값 120시간", "첨도 5.2", "24.1 dB"]
    {
        assert_eq!(readings.withheld(text, "[?]"), text);
    }
    for (text, left) in [
        (
            "내륜 결함선이 3.2 dB, 전동체는 없음. 보지기 3.2 dB",
            "내륜 결함선이 3.2 dB, 전동체는 없음. 보지기 [?] dB",
        ),
        ("파고율은 5.2입니다.", "파고율은 [?]입니다."),
        ("상한은 72시간입니다.", "상한은 [?]시간입니다."),
        ("첨도는 5.2 dB입니다.", "첨도는 [?] dB입니다."),
    ] {
        assert_eq!(readings.withheld(text, "[?]"), left);
    }
}

#[test]
fn a_question_for_a_quantity_is_answered_with_its_unit() {
    let readings = || {
        let mut readings = Readings::default();
        readings.add_data(&json!({ "torque_nm": 85.0, "bolts": 4, "rul_hours": 96.0 }));
        readings.for_quantity(true)
    };
    for (text, left) in [
        ("토크는 85입니다.", "토크는 [?]입니다."),
        ("토크는 85 N·m입니다. 볼트 4개.", "토크는 85 N·m입니다. 볼트 4개."),
        ("| 토크 (N·m) | 85 |", "| 토크 (N·m) | 85 |"),
        ("잔여수명(시간): 96", "잔여수명(시간): 96"),
        ("Remaining: 96", "Remaining: [?]"),
    ] {
        assert_eq!(readings().withheld(text, "[?]"), left);
    }
}

#[test]
fn standards_and_designations_that_the_program_knows_pass_and_others_do_not() {
    let readings = Readings::default();
    for text in [
        "ISO 20816-3에 따라",
        "ISO20816-1",
        "ISO 20816-1:2016",
        "KS B ISO 281",
        "IEC 60034-14 기준",
        "API 610",
        "베어링 6205",
        "6205-2RS",
        "6205ZZ 베어링",
        "SKF 6308-2Z/C3",
        "bearing 6316",
        "L10 수명, C3 간극",
        "2×BSF, 3×BPFO, 1X 성분",
    ] {
        assert_eq!(readings.withheld(text, "[?]"), text);
    }
    for text in ["ISO 99816-1", "베어링 6999", "6205 h", "길이는 6205 mm", "9×C4", "P-777"] {
        assert_ne!(readings.withheld(text, "[?]"), text);
    }
}
