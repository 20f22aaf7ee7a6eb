//! A quarry and a dairy whose machines have nicknames, one behind an offline gateway, one out of
//! service: the records' side of questions that were taken for commoner ones.

use pdm_routes::Zone;
use pdm_shared::episode::Suppression;
use pdm_shared::event::IsoZone;

use super::kinds::Case;
use super::plant::at;
use super::*;

#[derive(Debug)]
struct Quarry;

fn of(site: &str, machine: &str, risk: RiskLevel, ko: &str, en: &str) -> CoreFields {
    CoreFields {
        key: BearingKey::parse(site, machine, "DE").expect("names"),
        stage: u8::from(risk > RiskLevel::Normal) * 2,
        fault: (risk > RiskLevel::Normal).then_some(Fault::OuterRace),
        rul_hours: (risk > RiskLevel::Normal).then_some(100.0),
        measured_at: Some(at("2026-11-23T00:50:00Z")),
        machine_name: Some(Text::new(ko, en)),
        ..core(machine, risk)
    }
}

fn fleet() -> Vec<CoreFields> {
    let (quarry, dairy) = ("donghae-quarry", "yeongam-dairy");
    let out = Suppression::OutOfService {
        until: at("2026-12-09T03:00:00Z"),
        by: "Rita Park".to_owned(),
        reason: "new impeller at the maker".to_owned(),
        work_order: Some("WO-771".to_owned()),
    };
    vec![
        of(quarry, "JC-1", RiskLevel::Critical, "고릴라", "Gorilla"),
        of(dairy, "CF-8", RiskLevel::Warning, "팽이", "Spinner"),
        of(quarry, "JC-2", RiskLevel::Normal, "새끼 고릴라", "Little Gorilla"),
        of(quarry, "SC-4", RiskLevel::Normal, "흔들이", "Shaker"),
        of(dairy, "HP-3", RiskLevel::Normal, "황소", "Bull"),
        CoreFields {
            suppression: out,
            ..of(dairy, "PM-6", RiskLevel::Normal, "우유펌프 6호", "Milk pump 6")
        },
    ]
}

#[async_trait]
impl Desk for Quarry {
    async fn fleet(&self) -> Result<Vec<CoreFields>, String> {
        Ok(fleet())
    }

    fn site_name(&self, key: &BearingKey) -> Option<Text> {
        Some(match key.site.as_str() {
            "donghae-quarry" => Text::new("동해 채석장", "Donghae stone pit"),
            _ => Text::new("영암 유가공공장", "Yeongam creamery"),
        })
    }

    async fn focus(&self, key: &BearingKey) -> Result<Option<Focus>, String> {
        let Some(core) = fleet().into_iter().find(|core| core.key == *key) else { return Ok(None) };
        let like = BearingKey::parse("ulsan-1", "P-101", "DE").expect("names");
        let mut focus = Records.focus(&like).await?.expect("stands");
        if core.risk == RiskLevel::Normal {
            focus.advice =
                Text::new("현 운전을 유지하고 측정을 계속", "Keep running and keep measuring");
            focus.work.clear();
        }
        if core.key.equipment.as_str() == "CF-8" {
            focus.told =
                vec![(at("2026-11-22T15:00:00Z"), Text::new("[경고] 팽이", "[Warning] CF-8"))];
            focus.record.told_to = vec![Text::new("Rita Park", "Rita Park")];
            focus.record.notes = vec![NoteLine {
                at: at("2026-11-22T20:00:00Z"),
                by: "Rita Park".to_owned(),
                found: None,
                note: Some("bowl full of whey, race pitted; Oh swaps it on Thursday".to_owned()),
            }];
        }
        focus.record.levels = vec![MeasuredLevel {
            name: Text::new("진동속도", "vibration velocity RMS"),
            value: 1.3,
            unit: "mm/s",
        }];
        focus.record.temperature_c = (core.key.equipment.as_str() == "SC-4").then_some(51.0);
        focus.record.operation =
            Some(Operation { is_running: true, speed_rpm: Some(900.0), zone: Some(IsoZone::A) });
        focus.core = core;
        Ok(Some(focus))
    }

    async fn gateways(&self) -> Result<Vec<GatewayLine>, String> {
        Ok(vec![GatewayLine {
            name: "yeongam-dairy/gw-d2".to_owned(),
            is_online: Some(false),
            since: Some(at("2026-11-22T20:00:00Z")),
            last_event_at: None,
            bearings: vec!["HP-3 · DE".to_owned()],
        }])
    }

    async fn people(&self) -> Result<Vec<String>, String> {
        Ok(["마반장", "Rita Park"].map(str::to_owned).into())
    }

    async fn duty(&self) -> Result<Option<DutyRoster>, String> {
        Ok(Some(DutyRoster {
            rotas: vec![
                ("동해 보전조".to_owned(), vec!["마반장".to_owned()]),
                ("Creamery crew".to_owned(), Vec::new()),
            ],
            ..DutyRoster::default()
        }))
    }

    async fn routes(
        &self,
        of: Option<(&BearingKey, RiskLevel)>,
    ) -> Result<Vec<AlarmRoute>, String> {
        let step = |after_minutes: u32, to: &str, people: &[&str]| AlarmStep {
            after_minutes,
            to: vec![to.to_owned()],
            people: people.iter().map(|one| (*one).to_owned()).collect(),
        };
        let route = |site: &str, steps: Vec<AlarmStep>| AlarmRoute {
            name: format!("alarms of {site}"),
            sites: vec![site.to_owned()],
            equipment: Vec::new(),
            from: Some(RiskLevel::Warning),
            to: None,
            is_of_hours: false,
            steps,
        };
        let all = vec![
            route("donghae-quarry", vec![step(0, "동해 보전조", &["마반장"])]),
            route(
                "yeongam-dairy",
                vec![step(0, "Creamery crew", &[]), step(30, "Rita Park", &["Rita Park"])],
            ),
        ];
        let is_asked =
            |one: &AlarmRoute| of.is_none_or(|(key, _)| one.sites[0] == key.site.as_str());
        Ok(all.into_iter().filter(is_asked).collect())
    }

    fn now(&self) -> Option<Timestamp> {
        Some(at(super::plant::NOW))
    }

    fn zone(&self) -> Zone {
        serde_json::from_value(json!("Asia/Seoul")).expect("a zone")
    }
}

/// The register has a machine that nobody measures; no document says anything.
#[derive(Debug)]
struct Register;

#[async_trait]
impl Toolbox for Register {
    fn tools(&self) -> Vec<ToolDefinition> {
        ["search_equipment", "get_equipment_info", "search_part", "search_equipment_manual"]
            .map(|name| ToolDefinition {
                name: name.to_owned(),
                description: "reads".to_owned(),
                parameters: json!({ "type": "object" }),
            })
            .into()
    }

    async fn call(&self, _id: &str, name: &str, arguments: Map<String, Value>) -> ToolAnswer {
        let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
        let data = match name {
            "search_equipment_manual" if query.contains("노 소장") => json!({ "documents": [{
                "id": "stores#1", "title": "창고 번호, 연락처", "text": "노 소장 번호: 내선 6120.",
            }] }),
            "search_equipment" => {
                json!([{ "equipment_id": "yeongam-dairy/RV-9", "name": "Churn paddle" }])
            }
            "get_equipment_info" => {
                json!({ "parts": [{ "part_id": "S-1", "name": "Bearing 6316", "stock": 2 }] })
            }
            _ => json!({}),
        };
        ToolAnswer { text: data.to_string(), data, is_error: false }
    }
}

async fn answer_after(before: &[&str], message: &str) -> String {
    let tools = DeskTools::new(Arc::new(Quarry), Arc::new(Register));
    let (redactor, programs) = (Redactor::default(), ProgramHost::own_program());
    let chat = Chat {
        desk: &Quarry,
        tools: &tools,
        redactor: &redactor,
        answer_tokens: 500,
        programs: &programs,
    };
    let mut asked = question("");
    for one in before.iter().chain([&message]) {
        asked.message = (*one).to_owned();
        let answer = chat.ask(&asked, None, &Steps::default()).await.answer;
        asked.history.push(Said { role: Speaker::User, content: (*one).to_owned() });
        asked.history.push(Said { role: Speaker::Assistant, content: answer });
    }
    asked.history.pop().map(|said| said.content).unwrap_or_default()
}

async fn check(cases: &[Case<'_>]) {
    let mut wrong = Vec::new();
    for (before, message, holds, lacks) in cases {
        let told = answer_after(before, message).await;
        let missing: Vec<_> = holds.iter().filter(|one| !told.contains(**one)).collect();
        let extra: Vec<_> = lacks.iter().filter(|one| told.contains(**one)).collect();
        if !missing.is_empty() || !extra.is_empty() {
            wrong.push(format!("{message}: lacks {missing:?}, has {extra:?}: {told}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n=====\n"));
}

const KEEP: [&str; 4] =
    ["Keep running", "현 운전을 유지", "no reason to stop", "이유가 제 기록에는 없"];

/// R-CHAT-5: what is read on an instrument is told beside what was measured, and no level permits
/// it.
#[tokio::test]
async fn a_stated_reading_is_met_and_is_no_number_of_a_machine() {
    for (message, holds) in [
        ("the shaker shows 5.8 mm/s, may it run?", "You state 5.8 mm/s"),
        ("shaker at 5.8, is that ok", "You state 5.8"),
        ("흔들이 5.8 나오는데 괜찮나", "말씀하신 값은 5.8"),
        ("흔들이 진동 5.8인데 계속 돌려도 돼?", "말씀하신 값은 5.8"),
        ("흔들이 5.8", "말씀하신 값은 5.8"),
        ("흔들이 베어링 93도인데 괜찮아?", "말씀하신 값은 93 °C, 제 기록의 마지막 측정은 51 °C"),
        (
            "Shaker bearing is at 93 degrees, can we go on?",
            "You state 93 °C; the last measurement in my records is 51 °C",
        ),
        ("the shaker at 93 °C ok?", "You state 93 °C"),
    ] {
        check(&[(
            &[],
            message,
            &[holds],
            &[&KEEP[..], &["no 8 in", "흔들이 5:", "There is no"]].concat(),
        )])
        .await;
    }
    check(&[
        (
            &[],
            "흔들이 5.8 나오는데 괜찮나",
            &["1.3 mm/s", "서로 다릅니다", "D 구역"],
            &["A 구역 ("],
        ),
        (
            &[],
            "고릴라 7.4 mm/s 넘었는데 더 써도 돼?",
            &["말씀하신 값은 7.4", "계속 운전하지 마십시오"],
            &[],
        ),
        (&["흔들이 상태"], "지금 현장에서 6.1 mm/s 찍힌다", &["말씀하신 값은 6.1"], &KEEP),
        (&[], "흔들이 진동 얼마야", &["1.3 mm/s"], &["말씀하신"]),
        (&[], "우유펌프 6 상태", &["PM-6"], &["말씀하신"]),
    ])
    .await;
}

/// R-CHAT-5: a machine behind an offline gateway is on no path told to keep running.
#[tokio::test]
async fn a_machine_that_cannot_be_judged_is_never_told_to_keep_running() {
    for message in [
        "what should I do about the Bull",
        "황소 어떻게 해야 돼?",
        "황소 정비해도 되나?",
        "황소 작업 뭐 있어",
        "may the bull run tonight?",
        "what to do with HP-3",
        "황소 돌려도 돼?",
        "is the bull running ok",
    ] {
        let told = answer_after(&[], message).await;
        assert!(KEEP.iter().all(|one| !told.contains(one)), "{message}: {told}");
        let is_said = ["판정할 수 없음", "cannot be judged", "offline", "끊겨"];
        assert!(is_said.iter().any(|one| told.contains(one)), "{message}: {told}");
    }
    check(&[(&[], "what should I do about the shaker", &["Keep running"], &[])]).await;
}

/// R-CHAT-5: no level of vibration says what a person may do, or whether a machine may run faster.
#[tokio::test]
async fn bodily_safety_and_a_higher_speed_are_not_answered_by_the_level() {
    for message in [
        "can I put my hand into the shaker if it is stopped?",
        "흔들이에 손 넣어도 되나요",
        "is it safe to clean the Shaker with compressed air?",
        "흔들이 에어로 불어도 돼?",
        "may I take my phone to the shaker",
        "흔들이 인터록 우회해도 됩니까",
        "can we bypass the limit switch of the shaker",
        "can we run the shaker flat out",
        "흔들이 풀로 돌려도 되나?",
        "how fast may the shaker run?",
        "흔들이 몇 프로로 돌려야 돼",
        "흔들이 위에 올라가도 돼?",
    ] {
        let told = answer_after(&[], message).await;
        assert!(KEEP.iter().all(|one| !told.contains(one)), "{message}: {told}");
        let is_said = ["진동 판정으로 답할 수 없습니다", "vibration does not answer this"];
        assert!(is_said.iter().any(|one| told.contains(one)), "{message}: {told}");
    }
    check(&[
        (&[], "can I run the gorilla at full load?", &["Do not go on running"], &KEEP),
        (
            &[],
            "can I run the shaker until Friday?",
            &["no reason to stop"],
            &["does not answer this"],
        ),
        (&[], "손 넣어도 되나?", &["진동 판정으로 답할 수 없습니다"], &["고릴라"]),
    ])
    .await;
}

/// What comes first in an act that opens a machine stands in documents and not in its state.
#[test]
fn an_act_on_a_machine_is_looked_up_in_documents() {
    use super::intent::{Lookup as L, asked_for};
    for clause in [
        "고릴라 점검구 열려는데 뭐부터 해야 돼?",
        "고릴라 커버 뜯기 전에 할 일",
        "I have to open the gorilla hatch, what do I do first",
        "how do I take off the guard of the gorilla",
        "should I open the inspection cover of the gorilla",
        "고릴라 안에 들어가려면 순서가 어떻게 돼",
    ] {
        assert_eq!(asked_for(clause, true, true), vec![L::Manual], "{clause}");
    }
    for clause in [
        "고릴라랑 팽이 뭐부터 봐야 돼",
        "고릴라 어떻게 해야 돼?",
        "what should I do first about the gorilla",
    ] {
        assert!(!asked_for(clause, true, true).contains(&L::Manual), "{clause}");
    }
}

/// `고 있나` is a verb of the present and no stock.
#[tokio::test]
async fn how_a_machine_runs_now_is_its_state_and_no_stock() {
    for message in [
        "황소 잘 돌고 있나?",
        "흔들이 지금 돌고 있어?",
        "is the shaker running fine",
        "흔들이 제대로 돌아가고 있나요",
        "팽이 괜찮게 돌고 있습니까",
    ] {
        check(&[(&[], message, &["P-F"], &["재고", "in stock", "Bearing 6316", "읽었습니다"])])
            .await;
    }
    check(&[
        (&["팽이 상태"], "그거 누가 알고 있어?", &["Rita Park"], &["재고 2"]),
        (&[], "are we on top of the spinner", &["Spinner", "WO-1"], &["in stock"]),
        (&[], "팽이 예비 베어링 있나", &["재고 2"], &[]),
        (&[], "팽이 지금 어떻고 예비 베어링 있나", &["경고", "재고 2", "7일 이내"], &[]),
        (&[], "spinner state and spares", &["Plan the replacement", "2 in stock"], &[]),
    ])
    .await;
}

#[tokio::test]
async fn why_nobody_was_told_is_answered_by_messages_routes_and_duty() {
    for message in [
        "why wasn't I told about the spinner?",
        "how come nobody told me about the Spinner",
        "팽이 왜 나한테 연락이 안 왔어",
        "팽이 알림을 왜 아무도 못 받았지",
    ] {
        check(&[(
            &[],
            message,
            &["Rita Park", "30", "Creamery crew"],
            &["18.2 dB", "Gorilla", "고릴라"],
        )])
        .await;
    }
    check(&[(&[], "why is the spinner in warning", &["18.2 dB"], &["cannot know who asks"])]).await;
}

#[tokio::test]
async fn what_was_found_when_it_is_back_and_when_it_is_swapped_are_in_the_records() {
    check(&[
        (&[], "when is milk pump 6 back?", &["WO-771", "2026-12-09"], &["18.2"]),
        (&[], "우유펌프 6호 언제 다시 돌아와", &["WO-771", "2026-12-09"], &[]),
        (&[], "우유펌프 6호 정비 언제 끝나?", &["WO-771"], &[]),
        (&[], "우유펌프 6호 어디갔어 안 보이네", &["WO-771"], &[]),
        (
            &[],
            "what was wrong with the spinner when they opened it",
            &["full of whey"],
            &["18.2 dB"],
        ),
        (&[], "팽이 뜯어보니 뭐가 문제였어", &["full of whey"], &["18.2 dB"]),
        (&[], "팽이 왜 고쳤지", &["full of whey"], &["18.2 dB"]),
        (
            &[],
            "when does the spinner get its bearing swapped and who does it",
            &["swaps it on Thursday"],
            &["I took this"],
        ),
        (&[], "팽이 베어링 언제 갈아?", &["swaps it on Thursday"], &[]),
        (&[], "when will the spinner bearing be replaced", &["swaps it on Thursday"], &[]),
    ])
    .await;
}

#[tokio::test]
async fn a_night_keeps_its_machine() {
    for message in [
        "did the spinner get worse overnight",
        "what happened to the spinner last night",
        "밤새 팽이 나빠졌어?",
        "간밤에 팽이 무슨 일 있었어",
    ] {
        check(&[(&[], message, &["CF-8"], &["JC-1", "gw-d2"])]).await;
    }
}

/// R-CHAT-5: a short name means a machine of the conversation; a proposal is nobody's subject.
#[tokio::test]
async fn a_short_name_is_one_of_the_conversation_and_a_proposal_no_subject() {
    let before = &["how is the gorilla"][..];
    check(&[
        (before, "and the little one?", &["JC-2"], &["There is no"]),
        (before, "and the small one?", &["JC-2"], &["There is no"]),
        (before, "새끼는?", &["JC-2"], &["없습니다"]),
        (before, "and the other one?", &["JC-2"], &["There is no"]),
        (
            &["how is the gorilla", "and the little one?"],
            "and the big one?",
            &["JC-1"],
            &["There is no"],
        ),
        (&["how is the spinner", "and the zeppelin?"], "언제부터 그랬어?", &["CF-8"], &["JC-1"]),
        (&["how is the spinner"], "and the seals?", &[], &["There is no seals", "Did you mean"]),
        (&["팽이 상태"], "그럼 씰은?", &[], &["가운데 하나"]),
        (&["how is the spinner"], "and the boiler?", &["There is no boiler"], &["CF-8"]),
    ])
    .await;
}

#[tokio::test]
async fn a_machine_that_is_not_there_is_told_so_and_one_that_is_not_measured_too() {
    check(&[
        (
            &[],
            "지브크레인 9호기는 어때?",
            &["지브크레인 9", "제 기록에 없습니다"],
            &["나쁜 순서", "JC-1 · DE"],
        ),
        (&[], "보일러 2호기 상태", &["보일러 2", "제 기록에 없습니다"], &["나쁜 순서"]),
        (&[], "how is crane 7?", &["There is no crane 7"], &["Worst first"]),
        (&[], "CF-3 status please", &["There is no CF-3"], &["CF-8 · DE (", "Plan the"]),
        (&[], "RV-9 상태", &["설비 목록에는 있지만"], &["나쁜 순서"]),
        (&[], "how is RV-9", &["is in the register"], &["Worst first"]),
        (&[], "how's the churn", &["is in the register"], &["Worst first", "Did you mean"]),
        (&[], "CF-8 상태", &["CF-8 · DE (팽이): 경고"], &[]),
    ])
    .await;
}

#[tokio::test]
async fn an_exact_name_wins_over_one_that_contains_it() {
    check(&[
        (&[], "고릴라 지금 써도 되나", &["JC-1"], &["JC-2"]),
        (&[], "hows the gorilla", &["JC-1"], &["JC-2"]),
        (&[], "새끼 고릴라 상태", &["JC-2"], &["JC-1"]),
        (&[], "little gorilla ok?", &["JC-2"], &["JC-1"]),
        (&[], "고릴라랑 6호 비교", &["JC-1"], &["고릴라랑 6"]),
    ])
    .await;
}

#[tokio::test]
async fn sites_are_known_by_their_names_and_two_are_both_answered() {
    check(&[
        (&[], "worst machine at the creamery right now?", &["CF-8"], &["JC-1"]),
        (&[], "채석장에서 제일 급한 거", &["JC-1"], &["CF-8"]),
        (&[], "유가공공장 상태 어때", &["CF-8"], &["JC-1"]),
        (
            &[],
            "지금 동해 당직 누구고 영암은 누구야?",
            &["마반장", "Creamery crew: 지금 당직이 없습니다"],
            &[],
        ),
        (
            &[],
            "who is on duty at the stone pit and at the creamery",
            &["마반장", "nobody is on duty"],
            &[],
        ),
        (&[], "채석장 당직 누구야", &["마반장"], &["Creamery"]),
    ])
    .await;
}

#[tokio::test]
async fn bearings_of_a_level_are_counted() {
    check(&[
        (&[], "경고가 몇 개야", &["경고: 베어링 6개 가운데 1개"], &["판정하는 베어링은"]),
        (&[], "how many machines are in Warning", &["Warning: 1 of 6 bearings"], &["I judge"]),
        (&[], "지금 위험 몇 대야?", &["위험: 베어링 6개 가운데 1개"], &["판정하는 베어링은"]),
        (&[], "베어링 몇 개 보고 있어", &["판정하는 베어링은 6개"], &[]),
    ])
    .await;
}

/// R-CHAT-5: a person whom no configuration names is not denied where a document of the plant has
/// the answer.
#[tokio::test]
async fn a_person_of_a_document_is_not_denied_by_the_records() {
    for message in ["노소장 번호 뭐예요", "노 소장님 연락처 좀", "노소장 내선 알려줘"]
    {
        check(&[(
            &[],
            message,
            &["내선 6120"],
            &["제 기록에 없는 사람", "전화번호와 메일 주소는 제 기록에 없"],
        )])
        .await;
    }
    check(&[
        (
            &[],
            "하과장 번호 알려줘",
            &["하과장: 제 기록에 없는 사람", "전화번호와 메일 주소는 제 기록에 없"],
            &["6120"],
        ),
        (&[], "팽이 베어링 번호 알려줘", &["CF-8"], &["전화번호"]),
    ])
    .await;
}

#[tokio::test]
async fn two_things_and_two_machines_are_both_answered() {
    check(&[
        (
            &["how is the gorilla", "and the little one?"],
            "same bearings in both?",
            &["JC-1", "JC-2"],
            &["CF-8"],
        ),
        (&["고릴라 상태", "새끼는?"], "둘 다 같은 베어링이야?", &["JC-1", "JC-2"], &["CF-8"]),
        (&[], "제일 급한 거 하나만 찍어줘", &["JC-1"], &["JC-2", "SC-4"]),
    ])
    .await;
}

#[test]
fn a_state_and_spares_are_both_asked_for() {
    use super::intent::{Lookup as L, asked_for};
    for clause in ["팽이 어떻고 부품 있어?", "spinner state and spares"] {
        assert_eq!(asked_for(clause, true, true), vec![L::State, L::Stock], "{clause}");
    }
}
