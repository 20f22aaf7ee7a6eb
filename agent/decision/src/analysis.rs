//! The judgement of a series at the edge: what is asked of `pdm-edge mcp`, and what it answers.

use std::sync::Arc;

use async_trait::async_trait;
use pdm_tools::exec::mcp::Servers;
use pdm_tools::exec::{Failure, Invocation};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::series::{Case, Sample};

/// The name of the edge's server in `[tools.servers]`.
pub const SERVER: &str = "edge";
/// The tool of that server.
const TOOL: &str = "judge_series";

/// The edge's judgement of a series.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Analysis {
    /// `sound`, `dropout`, `spike`, `drift`, `cannot_say`.
    pub verdict: String,
    /// The faults.
    pub findings: Vec<Finding>,
    /// Figures.
    pub figures: Figures,
    /// The trend at the end.
    pub trend: Option<Trend>,
    /// The nearest past series, nearest first.
    pub nearest: Vec<Near>,
    /// The picture.
    pub figure_png_base64: String,
}

/// A fault.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Finding {
    /// `dropout`, `spike`, `drift`.
    pub kind: String,
    /// The first instant, RFC 3339.
    pub from: String,
    /// The last instant.
    pub to: String,
    /// Peak above its neighbourhood, change of the level, or the value of a drop-out.
    pub amount: Option<f64>,
    /// The strength of the evidence.
    pub strength: f64,
}

/// Figures of a series.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Figures {
    /// Values that are there.
    pub count: u64,
    /// Values that are not.
    pub missing: u64,
    /// Median.
    pub median: Option<f64>,
    /// Least value.
    pub min: Option<f64>,
    /// Greatest value.
    pub max: Option<f64>,
}

/// The trend at the end of a series.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Trend {
    /// `rising`, `falling`, `stable`, `unknown`.
    pub trend_direction: String,
    /// Per hour, in the element's unit.
    pub slope: Option<f64>,
}

/// A past series that is near.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Near {
    /// The case's name.
    pub id: String,
    /// Cosine of the shapes.
    pub likeness: f64,
}

/// Judges a series.
#[async_trait]
pub trait Analyst: Send + Sync {
    /// The judgement of `samples`, compared with the series of `past`.
    ///
    /// # Errors
    /// [`Failure::Transient`] if the edge's side cannot be reached.
    async fn judge(
        &self,
        call_id: &str,
        title: &str,
        samples: &[Sample],
        past: &[Case],
    ) -> Result<Analysis, Failure>;
}

/// The edge's MCP server.
#[derive(Debug, Clone)]
pub struct EdgeServer(pub Arc<Servers>);

#[async_trait]
impl Analyst for EdgeServer {
    async fn judge(
        &self,
        call_id: &str,
        title: &str,
        samples: &[Sample],
        past: &[Case],
    ) -> Result<Analysis, Failure> {
        let past: Vec<Value> = past
            .iter()
            .map(|case| json!({ "id": case.id, "samples": columns(&case.samples) }))
            .collect();
        let arguments: Map<String, Value> = Map::from_iter([
            ("title".to_owned(), title.into()),
            ("samples".to_owned(), columns(samples)),
            ("past".to_owned(), past.into()),
        ]);
        let invocation = Invocation { call_id, tool: TOOL, arguments: &arguments };
        let answer = self.0.run(SERVER, TOOL, invocation).await?;
        serde_json::from_value(answer)
            .map_err(|error| Failure::Malformed(format!("the edge's judgement: {error}")))
    }
}

fn columns(samples: &[Sample]) -> Value {
    json!({
        "at_s": samples.iter().map(|sample| sample.at_s).collect::<Vec<_>>(),
        "values": samples.iter().map(|sample| sample.value).collect::<Vec<_>>(),
    })
}
