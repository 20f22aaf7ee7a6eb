//! A plant of two sites with machines of one name, a dead sensor, a machine that stands still, and
//! a clock in Seoul.

use pdm_routes::Zone;
use pdm_shared::episode::Suppression;
use pdm_shared::event::QualityFlag;
use pdm_shared::follow_up::Verdict;

use super::*;

pub(super) const NOW: &str = "2026-11-23T01:00:00Z";

#[derive(Debug)]
pub(super) struct TwoSites;

pub(super) fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).expect("a time")
}

fn of(site: &str, machine: &str, bearing: &str, risk: RiskLevel) -> CoreFields {
    CoreFields {
        key: BearingKey::parse(site, machine, bearing).expect("names"),
        risk,
        stage: u8::from(risk > RiskLevel::Normal) * 2,
        fault: None,
        rul_hours: None,
        measured_at: Some(at("2026-11-23T00:50:00Z")),
        ..core(machine, risk)
    }
}

fn alarm(told: &str) -> StandingAlarm {
    let title = Text::new("[경고] 외륜", "[Warning] outer race");
    StandingAlarm { title, since: at(told), acknowledged_by: None }
}

pub(super) fn fleet() -> Vec<CoreFields> {
    let dead = Watch::Invalid {
        since: at("2026-11-22T13:00:00Z"),
        is_longer: false,
        flags: vec![QualityFlag::FlatLine],
    };
    let still = Watch::Standing { since: at("2026-11-22T05:00:00Z"), is_longer: false };
    vec![
        CoreFields {
            fault: Some(Fault::InnerRace),
            rul_hours: Some(20.0),
            alarm: Some(alarm("2026-11-23T00:30:00Z")),
            abnormal_since: Some(at("2026-11-21T23:10:00Z")),
            risen: vec![
                (RiskLevel::Warning, at("2026-11-21T23:10:00Z")),
                (RiskLevel::Critical, at("2026-11-22T16:00:00Z")),
            ],
            ..of("pohang-1", "1호기 순환수펌프", "DE", RiskLevel::Critical)
        },
        CoreFields {
            fault: Some(Fault::Ball),
            rul_hours: Some(300.0),
            alarm: Some(alarm("2026-11-23T00:30:00Z")),
            ..of("daesan-3", "롤러 테이블 7", "DE", RiskLevel::Warning)
        },
        CoreFields {
            fault: Some(Fault::OuterRace),
            rul_hours: Some(90.0),
            alarm: Some(alarm("2026-11-23T00:30:00Z")),
            abnormal_since: Some(at("2026-11-20T23:10:00Z")),
            ..of("pohang-1", "B-12 blower", "DE", RiskLevel::Warning)
        },
        CoreFields {
            suppression: Suppression::ByDesign {
                reason: "one cause with pohang-1/1호기 순환수펌프/DE at Critical".to_owned(),
            },
            ..of("pohang-1", "1호기 순환수펌프", "NDE", RiskLevel::Watch)
        },
        of("daesan-3", "B-12 blower", "DE", RiskLevel::Normal),
        CoreFields { watch: dead, ..of("daesan-3", "G-9", "DE", RiskLevel::Normal) },
        CoreFields { watch: still, ..of("pohang-1", "T-55", "DE", RiskLevel::Normal) },
    ]
}

/// Work of the blower and of the pump at Pohang; the pump's is late.
fn work(core: &CoreFields) -> Vec<WorkLine> {
    let of = |action: &str, due: Option<&str>| WorkLine {
        action: Text::new(action, action),
        state: FollowUpState::Open,
        due_at: due.map(at),
        work_order: None,
    };
    let key = (core.key.site.as_str(), core.key.equipment.as_str(), core.key.bearing.as_str());
    match key {
        ("pohang-1", "B-12 blower", _) => {
            vec![
                of("look at the belt", Some("2026-11-29T00:00:00Z")),
                of("order it", Some("2026-11-25T00:00:00Z")),
            ]
        }
        ("pohang-1", "1호기 순환수펌프", "DE") => {
            vec![of("stop and replace", Some("2026-11-23T00:30:00Z"))]
        }
        _ => Vec::new(),
    }
}

#[async_trait]
impl Desk for TwoSites {
    async fn fleet(&self) -> Result<Vec<CoreFields>, String> {
        Ok(fleet())
    }

    async fn focus(&self, key: &BearingKey) -> Result<Option<Focus>, String> {
        let Some(core) = fleet().into_iter().find(|core| core.key == *key) else { return Ok(None) };
        let like = BearingKey::parse("ulsan-1", "P-101", "DE").expect("names");
        let mut focus = Records.focus(&like).await?.expect("stands");
        let is_abnormal = core.risk > RiskLevel::Normal;
        focus.record.onset = is_abnormal.then(|| Onset {
            opened_at: core.abnormal_since.unwrap_or(at("2026-11-20T00:00:00Z")),
            levels: vec![(core.risk, core.abnormal_since)],
            closed_at: None,
            acknowledged: None,
        });
        focus.record.temperature_c = (core.key.bearing.as_str() == "NDE").then_some(61.5);
        focus.work = work(&core);
        focus.record.designation = Some("22216 EK".to_owned());
        focus.core = core;
        Ok(Some(focus))
    }

    async fn inspected(&self) -> Result<Option<Vec<InspectedJudgement>>, String> {
        let one = |when: &str, machine: &str, verdict: Verdict| InspectedJudgement {
            at: at(when),
            key: BearingKey::parse("pohang-1", machine, "DE").expect("names"),
            verdict,
            by: "정 기사".to_owned(),
            note: Some("케이블 접촉 불량".to_owned()),
        };
        Ok(Some(vec![
            one("2026-11-20T03:00:00Z", "B-12 blower", Verdict::Wrong),
            one("2026-11-12T03:00:00Z", "T-55", Verdict::Right),
            one("2026-10-02T03:00:00Z", "T-55", Verdict::Wrong),
            one("2026-09-02T03:00:00Z", "T-55", Verdict::OtherCause),
        ]))
    }

    async fn duty(&self) -> Result<Option<DutyRoster>, String> {
        let people = |name: &str| vec![name.to_owned()];
        let change =
            chrono::NaiveDate::from_ymd_opt(2026, 11, 24).and_then(|day| day.and_hms_opt(19, 0, 0));
        let change = change.expect("a time");
        Ok(Some(DutyRoster {
            rotas: vec![("1조".to_owned(), people("park"))],
            changes: vec![("1조".to_owned(), change, people("choi"))],
            ..DutyRoster::default()
        }))
    }

    async fn people(&self) -> Result<Vec<String>, String> {
        Ok(["park", "choi", "정 기사", "Lena Ortiz"].map(str::to_owned).into())
    }

    async fn routes(
        &self,
        of: Option<(&BearingKey, RiskLevel)>,
    ) -> Result<Vec<AlarmRoute>, String> {
        let step = |after_minutes: u32, to: &str, person: &str| AlarmStep {
            after_minutes,
            to: vec![to.to_owned()],
            people: vec![person.to_owned()],
        };
        let route = |site: &str| AlarmRoute {
            name: format!("alarms of {site}"),
            sites: vec![site.to_owned()],
            equipment: Vec::new(),
            from: Some(RiskLevel::Warning),
            to: None,
            is_of_hours: false,
            steps: vec![step(0, "1조", "park"), step(45, "Lena Ortiz", "Lena Ortiz")],
        };
        let is_asked = |site: &&str| of.is_none_or(|(key, _)| key.site.as_str() == *site);
        Ok(["pohang-1", "daesan-3"].into_iter().filter(is_asked).map(route).collect())
    }

    async fn alarms_since(&self, since: Timestamp) -> Result<Option<RaisedAlarms>, String> {
        let of = |when: &str, level| RaisedAlarm {
            at: at(when),
            key: BearingKey::parse("pohang-1", "1호기 순환수펌프", "DE").expect("names"),
            level,
        };
        let mut alarms = vec![
            of("2026-11-23T00:30:00Z", RiskLevel::Critical),
            of("2026-11-17T00:30:00Z", RiskLevel::Warning),
            of("2026-11-16T03:30:00Z", RiskLevel::Warning),
        ];
        alarms.retain(|one| one.at >= since);
        Ok(Some(RaisedAlarms { alarms, is_cut: false }))
    }

    async fn gateways(&self) -> Result<Vec<GatewayLine>, String> {
        let line = |name: &str, is_online: bool| GatewayLine {
            name: name.to_owned(),
            is_online: Some(is_online),
            since: Some(at("2026-11-22T20:00:00Z")),
            last_event_at: None,
            bearings: Vec::new(),
        };
        let silent = GatewayLine {
            bearings: vec!["B-12 blower · DE".to_owned()],
            ..line("pohang-1/gw-7", false)
        };
        Ok(vec![silent, line("daesan-3/gw-8", true)])
    }

    fn now(&self) -> Option<Timestamp> {
        Some(at(NOW))
    }

    fn zone(&self) -> Zone {
        serde_json::from_value(json!("Asia/Seoul")).expect("a zone")
    }

    /// Hourly; the vibration rises at midnight in Seoul, nine hours before that of UTC.
    async fn windows(
        &self,
        _key: &BearingKey,
        until: Timestamp,
        limit: u32,
    ) -> Result<Option<Vec<MeasuredWindow>>, String> {
        let rise = at("2026-11-21T15:00:00Z");
        let hour = |back: i32| at(NOW).plus_seconds(-3600.0 * f64::from(back));
        let rows: Vec<MeasuredWindow> = (0..120)
            .rev()
            .map(hour)
            .filter(|at| *at <= until)
            .map(|at| MeasuredWindow {
                at,
                is_running: true,
                is_valid: true,
                velocity_rms_mm_s: Some(if at < rise { 1.1 } else { 3.3 }),
                rms_g: Some(0.1),
                kurtosis: Some(3.0),
            })
            .collect();
        let skipped = rows.len().saturating_sub(limit as usize);
        Ok(Some(rows.into_iter().skip(skipped).collect()))
    }

    async fn earlier_grounds(
        &self,
        _key: &BearingKey,
        least: RiskLevel,
    ) -> Result<Option<EarlierGrounds>, String> {
        let grounds = vec![Text::new("그때 외륜선 17 dB", "outer race line of then at 17 dB")];
        let then = EarlierGrounds { at: at("2026-11-10T00:00:00Z"), risk: least, grounds };
        Ok(Some(then))
    }
}

/// The one section on tightening.
#[derive(Debug)]
struct Tightening;

#[async_trait]
impl Toolbox for Tightening {
    fn tools(&self) -> Vec<ToolDefinition> {
        let tool = |name: &str| ToolDefinition {
            name: name.to_owned(),
            description: "reads".to_owned(),
            parameters: json!({ "type": "object" }),
        };
        [
            "read_document_section",
            "look_up_mounting_value",
            "get_equipment_info",
            "search_part",
            "search_equipment_manual",
        ]
        .map(tool)
        .into()
    }

    async fn call(&self, _id: &str, name: &str, arguments: Map<String, Value>) -> ToolAnswer {
        let data = match name {
            "read_document_section" if arguments.get("number").is_none() => json!({ "documents": [
                { "id": "EM-06#1", "title": "교체", "title_en": "Replacement",
                  "text": "1 안전 (Safety, LOTO)\n차단하고 잠근다.", "english": "1 안전 (Safety, \
                                                                        LOTO)\nIsolate and lock." },
                { "id": "EM-06#2", "title": "교체", "title_en": "Replacement",
                  "text": "2 준비 (Preparation)\n공구를 챙긴다.", "english": "2 준비 (Preparation)\nGet the \
                                                                      tools." },
                { "id": "EM-06#3", "title": "교체", "title_en": "Replacement",
                  "text": "3 분해 (Dismounting)\n뺀다.", "english": "3 분해 (Dismounting)\nPull it." },
            ] }),
            "get_equipment_info" => match arguments["equipment_id"].as_str() {
                Some("pohang-1/B-12 blower") => json!({ "parts": [
                    { "part_id": "S-9", "name": "Bearing 22216", "stock": 3 },
                ] }),
                Some("daesan-3/롤러 테이블 7") => json!({ "parts": [
                    { "part_id": "S-11", "name": "Roller 80", "stock": 0 },
                ] }),
                Some(id) if id.contains('/') => json!({ "parts": [] }),
                _ => return ToolAnswer::failed("several sites have it; name one of them"),
            },
            "search_part" if arguments["query"] == "mechanical seal" => json!([
                { "part_id": "S-10", "name": "Mechanical seal", "part_no": "MS-9", "stock": 4 },
            ]),
            "read_document_section" => json!({ "documents": [{
                "id": "EM-06#6", "title": "교체", "title_en": "Replacement",
                "text": "- 로크너트: 제조사 값으로 조인다. 값이 없으면 조이지 않는다.\n- 볼트: M12 85 N·m.",
                "english": "- Locknut: without the maker's value do not tighten.\n- Bolts: M12 85 \
                            N·m.",
            }] }),
            "look_up_mounting_value" => json!({ "rows": [{
                "what": "bolt_m12", "value": 85, "unit": "N·m", "meaning": "M12 볼트 (bolt M12)",
                "section": "EM-06 §6",
            }] }),
            _ => json!({}),
        };
        ToolAnswer { text: data.to_string(), data, is_error: false }
    }
}

/// The answer without a model, after these questions and their answers.
pub(super) async fn answer_after(before: &[&str], message: &str, about: Option<&str>) -> String {
    let tools = DeskTools::new(Arc::new(TwoSites), Arc::new(Tightening));
    let (redactor, programs) = (Redactor::default(), ProgramHost::own_program());
    let chat = Chat {
        desk: &TwoSites,
        tools: &tools,
        redactor: &redactor,
        answer_tokens: 500,
        programs: &programs,
    };
    let about = about.map(|name| {
        let mut parts = name.splitn(3, '/');
        let mut next = || parts.next().unwrap_or_default();
        BearingKey::parse(next(), next(), next()).expect("names")
    });
    let mut asked = Question { about, ..question("") };
    for one in before.iter().chain([&message]) {
        asked.message = (*one).to_owned();
        let answer = chat.ask(&asked, None, &Steps::default()).await.answer;
        asked.history.push(Said { role: Speaker::User, content: (*one).to_owned() });
        asked.history.push(Said { role: Speaker::Assistant, content: answer });
    }
    asked.history.pop().map(|said| said.content).unwrap_or_default()
}
