//! The records of the desk as tools of the model, beside the reading tools of the catalogue.

use std::sync::Arc;

use async_trait::async_trait;
use pdm_routes::Zone;
use pdm_shared::id::BearingKey;
use pdm_shared::text::Language;
use serde_json::{Map, Value, json};

use super::desk::{CoreFields, Desk, Focus, Watch};
use super::watching;
use crate::dialect::ToolDefinition;
use crate::toolbox::{ToolAnswer, Toolbox};

/// The names of the desk's tools.
const LIST: &str = "list_bearings";
const READ: &str = "get_bearing";

/// Records and documents as tools.
#[derive(Debug)]
pub struct DeskTools {
    desk: Arc<dyn Desk>,
    catalogue: Arc<dyn Toolbox>,
}

impl DeskTools {
    /// The records of this desk beside these tools.
    pub const fn new(desk: Arc<dyn Desk>, catalogue: Arc<dyn Toolbox>) -> Self {
        Self { desk, catalogue }
    }
}

#[async_trait]
impl Toolbox for DeskTools {
    fn tools(&self) -> Vec<ToolDefinition> {
        let name = json!({ "type": "string" });
        let mut tools = vec![
            ToolDefinition {
                name: LIST.to_owned(),
                description:
                    "Every bearing of the plant with risk, fault, stage, remaining life and \
                              alarm, worst first. 모든 베어링의 현재 판정."
                        .to_owned(),
                parameters: json!({
                    "type": "object", "properties": {}, "additionalProperties": false,
                }),
            },
            ToolDefinition {
                name: READ.to_owned(),
                description:
                    "One bearing: grounds of its judgement, advice, earlier judgements, work, \
                              notifications. 한 베어링의 판정 근거, 권고, 이력, 조치, 알림."
                        .to_owned(),
                parameters: json!({
                    "type": "object",
                    "properties": { "equipment_id": name, "bearing_id": name, "site": name },
                    "required": ["equipment_id"],
                    "additionalProperties": false,
                }),
            },
        ];
        tools.extend(self.catalogue.tools());
        tools
    }

    async fn call(&self, id: &str, name: &str, arguments: Map<String, Value>) -> ToolAnswer {
        match name {
            LIST => match self.fleet().await {
                Ok(fleet) => {
                    answer(json!({ "bearings": fleet.iter().map(row).collect::<Vec<_>>() }))
                }
                Err(reason) => ToolAnswer::failed(reason),
            },
            READ => self.one(&arguments).await,
            _ => self.catalogue.call(id, name, arguments).await,
        }
    }
}

impl DeskTools {
    /// Every judged bearing; one whose gateway is offline as that.
    async fn fleet(&self) -> Result<Vec<CoreFields>, String> {
        let mut fleet = self.desk.fleet().await?;
        let gateways = self.desk.gateways().await.unwrap_or_default();
        watching::mark_silent(fleet.iter_mut(), &gateways);
        Ok(fleet)
    }

    async fn one(&self, arguments: &Map<String, Value>) -> ToolAnswer {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let fleet = match self.fleet().await {
            Ok(fleet) => fleet,
            Err(reason) => return ToolAnswer::failed(reason),
        };
        let is_meant = |key: &BearingKey| {
            text("equipment_id") == Some(key.equipment.as_str())
                && text("bearing_id").is_none_or(|bearing| bearing == key.bearing.as_str())
                && text("site").is_none_or(|site| site == key.site.as_str())
        };
        let Some(core) = fleet.iter().find(|core| is_meant(&core.key)) else {
            return ToolAnswer::failed("there is no such bearing");
        };
        match self.desk.focus(&core.key).await {
            Ok(Some(focus)) => {
                // what its gateway says of it, too
                let focus = Focus { core: core.clone(), ..focus };
                answer(detail(&focus, self.desk.zone()))
            }
            Ok(None) => answer(row(core)),
            Err(reason) => ToolAnswer::failed(reason),
        }
    }
}

fn answer(data: Value) -> ToolAnswer {
    ToolAnswer { text: data.to_string(), data, is_error: false }
}

fn row(core: &CoreFields) -> Value {
    json!({
        "site": core.key.site, "equipment_id": core.key.equipment, "bearing_id": core.key.bearing,
        "risk": core.risk, "stage": core.stage, "fault": core.fault, "rul_hours": core.rul_hours,
        "event_id": core.event_id, "measured_at": core.measured_at,
        "machine_name": core.machine_name,
        "now": (core.watch != Watch::Judged).then(|| core.risk_in_words(Language::En)),
        "alarm": core.alarm.as_ref().map(|alarm| {
            json!({ "title": alarm.title, "since": alarm.since.to_string(),
                    "acknowledged": alarm.acknowledged_by.is_some(),
                    "acknowledged_by": alarm.acknowledged_by })
        }),
    })
}

fn detail(focus: &Focus, zone: Zone) -> Value {
    let work = focus.work.iter().map(|work| {
        json!({ "action": work.action, "state": work.state, "due_at": work.due_at.map(|at| zone.in_words(at)),
                "work_order": work.work_order })
    });
    let told = focus.told.iter().take(5).map(
        |(at, title)| json!({ "at": zone.in_words(*at), "title": title.in_language(Language::Ko) }),
    );
    let levels =
        focus.record.levels.iter().map(
            |level| json!({ "name": level.name.ko, "value": level.value, "unit": level.unit }),
        );
    let onset = focus.record.onset.as_ref();
    let acknowledged = onset.and_then(|onset| onset.acknowledged.as_ref());
    json!({
        "bearing": row(&focus.core), "levels": levels.collect::<Vec<_>>(),
        "abnormal_since": onset.filter(|one| one.closed_at.is_none()).map(|one| zone.in_words(one.opened_at)),
        "acknowledged_by": acknowledged.map(|(by, _)| by), "grounds": focus.grounds,
        "advice": focus.core.is_advised().then_some(&focus.advice),
        "earlier": focus.memory, "doubts": focus.doubts, "disagreement": focus.disagreement,
        "work": work.collect::<Vec<_>>(), "notifications": told.collect::<Vec<_>>(),
    })
}
