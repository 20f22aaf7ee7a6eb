//! The edge's judgement of series for other programs: an MCP server on standard input and output
//! with the tool `judge_series`. The agent's side asks it, because the agent never computes.
//!
//! Invariants: nothing is kept between calls; arguments are bounded before they are computed with;
//! a wrong argument is a tool error that names it.

use std::sync::Arc;

use base64::Engine as _;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::plot::{MarkedStretch, StationPicture, station_png};
use crate::series::station::{Even, PastSeries, Samples, StationJudgement, judge_station};

/// The tool.
const TOOL: &str = "judge_series";
/// Longest title of a picture, characters.
const MAX_TITLE: usize = 120;

/// The conversation could not start or was broken off.
#[derive(Debug, thiserror::Error)]
#[error("MCP over standard input: {0}")]
pub struct McpError(String);

/// Serves until the client closes its end.
///
/// # Errors
/// [`McpError`] if the client does not use the protocol.
pub async fn serve() -> Result<(), McpError> {
    let running = JudgeServer.serve(rmcp::transport::stdio()).await;
    let running = running.map_err(|error| McpError(error.to_string()))?;
    running.waiting().await.map_err(|error| McpError(error.to_string()))?;
    Ok(())
}

/// The server.
#[derive(Debug, Clone)]
struct JudgeServer;

impl ServerHandler for JudgeServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("pdm-edge", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![tool()]))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == TOOL).then(tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != TOOL {
            return Ok(refusal(&format!("there is no tool {}; there is: {TOOL}", request.name)));
        }
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let judged = tokio::task::spawn_blocking(move || judged(arguments)).await;
        Ok(match judged {
            Ok(Ok((answer, told))) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(told)]);
                result.structured_content = Some(answer);
                result.into()
            }
            Ok(Err(reason)) => refusal(&reason),
            Err(error) => refusal(&format!("the judgement failed: {error}")),
        })
    }
}

fn refusal(reason: &str) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(reason.to_owned())]).into()
}

/// The arguments of the tool.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HistoryArguments {
    title: String,
    samples: Samples,
    #[serde(default)]
    past: Vec<PastSeries>,
}

fn judged(arguments: Value) -> Result<(Value, String), String> {
    let asked: HistoryArguments =
        serde_json::from_value(arguments).map_err(|error| format!("wrong arguments: {error}"))?;
    if asked.title.chars().count() > MAX_TITLE {
        return Err(format!("title: is longer than {MAX_TITLE} characters"));
    }
    let series = Even::of("samples", &asked.samples).map_err(|error| error.to_string())?;
    let judgement =
        judge_station(&asked.title, &series, &asked.past).map_err(|error| error.to_string())?;
    let figure = figure(&asked.title, &series, &judgement)?;
    let told = format!("{}: {} faults", judgement.verdict, judgement.findings.len());
    let mut answer = serde_json::to_value(&judgement).map_err(|error| error.to_string())?;
    answer["figure_png_base64"] = base64::prelude::BASE64_STANDARD.encode(figure).into();
    Ok((answer, told))
}

fn figure(title: &str, series: &Even, judgement: &StationJudgement) -> Result<Vec<u8>, String> {
    let place = |at: pdm_shared::time::Timestamp| {
        (at.seconds_since(series.at(0)) / series.step_s).round().max(0.0) as usize
    };
    let marks: Vec<MarkedStretch> = judgement
        .findings
        .iter()
        .map(|one| MarkedStretch {
            first: place(one.from),
            last: place(one.to),
            word: one.kind.word(),
        })
        .collect();
    let last = series.values.len().saturating_sub(1);
    let picture = StationPicture {
        title,
        values: &series.values,
        span: (series.at(0), series.at(last)),
        marks: &marks,
    };
    station_png(&picture).map_err(|error| error.to_string())
}

/// The tool in the protocol's form.
fn tool() -> Tool {
    let samples = json!({
        "type": "object",
        "properties": {
            "at_s": { "type": "array", "items": { "type": "integer" },
                      "description": "seconds since 1970-01-01T00:00:00Z, rising" },
            "values": { "type": "array", "items": { "type": ["number", "null"] },
                        "description": "as many values; null is missing" }
        },
        "required": ["at_s", "values"],
        "additionalProperties": false
    });
    let input = json!({
        "type": "object",
        "properties": {
            "title": { "type": "string", "maxLength": MAX_TITLE,
                       "description": "title of the picture, Latin letters" },
            "samples": samples,
            "past": { "type": "array", "items": {
                "type": "object",
                "properties": { "id": { "type": "string" }, "samples": samples },
                "required": ["id", "samples"],
                "additionalProperties": false
            } }
        },
        "required": ["title", "samples"],
        "additionalProperties": false
    });
    let output = json!({
        "type": "object",
        "properties": {
            "verdict": { "enum": ["sound", "dropout", "spike", "drift", "cannot_say"] },
            "findings": { "type": "array" },
            "figures": { "type": "object" },
            "trend": { "type": ["object", "null"] },
            "nearest": { "type": "array" },
            "embedding": { "type": "array", "items": { "type": "number" } },
            "figure_png_base64": { "type": "string" }
        },
        "required": ["verdict", "findings", "figures", "trend", "nearest", "embedding",
            "figure_png_base64"]
    });
    let object = |schema: Value| schema.as_object().cloned().unwrap_or_default();
    Tool::new(
        TOOL,
        "Judges one series of a measuring station: drop-outs, spikes, drift, trend, a picture, and \
         the nearest of past series by the shape of their raw values.",
        Arc::new(object(input)),
    )
    .with_raw_output_schema(Arc::new(object(output)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_argument_is_named() {
        for (arguments, told) in [
            (json!({}), "missing field `title`"),
            (
                json!({"title": "t", "samples": {"at_s": [1, 2], "values": [1.0]}}),
                "2 instants and 1 values",
            ),
            (
                json!({"title": "t", "samples": {"at_s": [2, 2], "values": [1.0, 1.0]}}),
                "at_s.1 is not after",
            ),
            (
                json!({"title": "t", "samples": {"at_s": [0, 1, 2, 1_000_000_000],
                    "values": [1.0, 1.0, 1.0, 1.0]}}),
                "at most 20000",
            ),
            (
                json!({"title": "t",
                    "samples": {"at_s": [i64::MIN, i64::MAX], "values": [1.0, 1.0]}}),
                "",
            ),
            (
                json!({"title": "x".repeat(200), "samples": {"at_s": [], "values": []}}),
                "title: is longer",
            ),
        ] {
            match judged(arguments.clone()) {
                Err(reason) => assert!(reason.contains(told), "{reason}"),
                Ok(_) => assert!(told.is_empty(), "{arguments}"),
            }
        }
    }

    #[test]
    fn a_spike_is_told_with_its_instant_and_picture() {
        let at_s: Vec<i64> = (0..100).map(|hour| hour * 3600).collect();
        let value = |hour: i64| if hour == 60 { 9.0 } else { 1.0 + 0.01 * (hour * 7 % 11) as f64 };
        let values: Vec<f64> = (0..100).map(value).collect();
        let asked = json!({"title": "station 1, SO2", "samples": {"at_s": at_s, "values": values}});
        let (answer, _) = judged(asked).expect("judged");
        assert_eq!(answer["verdict"], "spike");
        assert_eq!(answer["findings"][0]["from"], "1970-01-03T12:00:00.000Z");
        let picture = answer["figure_png_base64"].as_str().expect("a picture");
        assert!(picture.starts_with("iVBORw0KGgo"), "{}", &picture[..20]);
    }
}
