//! A plant of two sites with machines of one name, a dead sensor, a machine that stands still, and a clock in Seoul.

use pdm_routes::Zone;
use pdm_shared::episode::Suppression;
use pdm_shared::event::QualityFlag;

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
        focus.core = core;
        Ok(Some(focus))
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
        ["read_document_section", "look_up_mounting_value"].map(tool).into()
    }

    async fn call(&self, _id: &str, name: &str, _arguments: Map<String, Value>) -> ToolAnswer {
        let data = match name {
            "read_document_section" => json!({ "documents": [{
                "id": "EM-06#6", "title": "교체", "title_en": "Replacement",
                "text": "- 로크너트: 제조사 값으로 조인다. 값이 없으면 조이지 않는다.\n- 볼트: M12 85 N·m.",
                "english": "- Locknut: without the maker's value do not tighten.\n- Bolts: M12 85 N·m.",
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
