//! The function behind the tool: the steps in their order.

use std::sync::Arc;

use async_trait::async_trait;
use pdm_shared::text::Language;
use pdm_tools::exec::builtin::Builtin;
use pdm_tools::exec::{Failure, Invocation};
use pdm_tools::pack::PackData;
use serde_json::{Value, json};

use super::analysis::Analyst;
use super::answer::{self, AnalysisAsked};
use super::domain::SeriesDomain;
use super::pack::PackSeries;
use super::series::{Case, MOST_CASES, MOST_VALUES, Sample, SeriesSource, Window, read_time};

/// Stations that a refusal names.
const NAMED: usize = 20;

/// `abnormal_decision`.
pub struct AbnormalDecision {
    store: Option<Arc<dyn SeriesSource>>,
    analyst: Arc<dyn Analyst>,
}

impl std::fmt::Debug for AbnormalDecision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AbnormalDecision")
            .field("store", &self.store.is_some())
            .finish_non_exhaustive()
    }
}

impl AbnormalDecision {
    /// The function on the series of `store` and of the packs that are turned on.
    pub fn new(store: Option<Arc<dyn SeriesSource>>, analyst: Arc<dyn Analyst>) -> Self {
        Self { store, analyst }
    }

    async fn decide(
        &self,
        sources: &[Arc<dyn SeriesSource>],
        invocation: Invocation<'_>,
    ) -> Result<Value, Failure> {
        let window = asked(&invocation)?;
        let samples = samples(sources, &window).await?;
        let cases = cases(sources, &window).await?;
        let domain = domain(sources, window.station_id).await?;
        let unit = match domain.unit(&window.element) {
            Some(unit) => Some(unit.to_owned()),
            None => unit(sources, &window.element).await?,
        };
        let title = match &domain {
            SeriesDomain::Station => format!("station {}", window.station_id),
            SeriesDomain::Bearing(name) => format!("bearing {}", plain(name)),
        };
        let in_unit = unit.as_ref().map(|unit| format!(" ({unit})")).unwrap_or_default();
        let title = format!("{title}, {}{in_unit}", plain(&window.element));
        let analysis = self.analyst.judge(invocation.call_id, &title, &samples, &cases).await?;
        let url = format!("data:image/png;base64,{}", analysis.figure_png_base64);
        let language = language(&invocation)?;
        let asked =
            AnalysisAsked { window: &window, domain: &domain, unit: unit.as_deref(), language };
        let answer = answer::markdown(&asked, &analysis, &cases);
        Ok(json!({
            "answer": answer,
            "graph_image": { "type": "image", "url": url, "mimeType": "image/png" },
        }))
    }
}

#[async_trait]
impl Builtin for AbnormalDecision {
    fn only_reads(&self) -> bool {
        true
    }

    async fn call(&self, invocation: Invocation<'_>) -> Result<Value, Failure> {
        self.call_with(&[], invocation).await
    }

    async fn call_with(
        &self,
        packs: &[Arc<PackData>],
        invocation: Invocation<'_>,
    ) -> Result<Value, Failure> {
        let packs = packs.iter().map(|pack| Arc::new(PackSeries(Arc::clone(pack))) as _);
        let sources: Vec<Arc<dyn SeriesSource>> = self.store.iter().cloned().chain(packs).collect();
        self.decide(&sources, invocation).await
    }
}

/// Returns the subject of a station number's series.
async fn domain(
    sources: &[Arc<dyn SeriesSource>],
    station_id: i64,
) -> Result<SeriesDomain, Failure> {
    for source in sources {
        if let Some(name) = source.bearing(station_id).await? {
            return Ok(SeriesDomain::Bearing(name));
        }
    }
    Ok(SeriesDomain::Station)
}

/// The language that is asked for.
fn language(invocation: &Invocation<'_>) -> Result<Option<Language>, Failure> {
    match invocation.text("language") {
        None | Some("") => Ok(None),
        Some("ko") => Ok(Some(Language::Ko)),
        Some("en") => Ok(Some(Language::En)),
        Some(other) => {
            Err(Failure::Permanent(format!("language: is {other:?}, allowed are ko, en")))
        }
    }
}

fn asked(invocation: &Invocation<'_>) -> Result<Window, Failure> {
    let time = |name: &str| {
        let text = invocation.text(name).unwrap_or_default();
        read_time(text).map_err(|reason| Failure::Permanent(format!("{name}: {reason}")))
    };
    let station_id = invocation.arguments.get("station_id").and_then(Value::as_i64);
    let station_id = station_id
        .ok_or_else(|| Failure::Permanent("station_id: is required, a whole number".to_owned()))?;
    let window = Window {
        station_id,
        element: invocation.text("element").unwrap_or_default().trim().to_owned(),
        from_s: time("start_time")?,
        to_s: time("end_time")?,
    };
    if window.to_s <= window.from_s {
        let message = "end_time: is not after start_time".to_owned();
        return Err(Failure::Permanent(message));
    }
    Ok(window)
}

/// The values of the first source that has any.
async fn samples(
    sources: &[Arc<dyn SeriesSource>],
    window: &Window,
) -> Result<Vec<Sample>, Failure> {
    for source in sources {
        let samples = source.values(window).await?;
        if samples.len() > usize::from(MOST_VALUES) {
            let message = format!(
                "the series has more than {MOST_VALUES} values from start_time to end_time: ask \
                 for a shorter time"
            );
            return Err(Failure::Permanent(message));
        }
        if !samples.is_empty() {
            return Ok(samples);
        }
    }
    let mut known = Vec::new();
    for source in sources {
        known.extend(source.known(NAMED).await?);
    }
    known.truncate(NAMED);
    let known: Vec<String> =
        known.iter().map(|(station, element)| format!("{station} {element}")).collect();
    let there = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let Window { station_id, element, .. } = window;
    Err(Failure::Permanent(format!(
        "station {station_id} has no value of {element} from start_time to end_time; there are \
         series of: {there} (pdm-agent series import adds more)"
    )))
}

/// Past cases, without the series that is judged.
async fn cases(sources: &[Arc<dyn SeriesSource>], window: &Window) -> Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    for source in sources {
        cases.extend(source.cases(window.to_s, MOST_CASES).await?);
    }
    cases.retain(|case| !case.window.overlaps(window) && !case.samples.is_empty());
    cases.sort_by_key(|case| std::cmp::Reverse(case.window.to_s));
    cases.truncate(MOST_CASES);
    Ok(cases)
}

async fn unit(sources: &[Arc<dyn SeriesSource>], element: &str) -> Result<Option<String>, Failure> {
    for source in sources {
        if let Some(unit) = source.unit(element).await? {
            return Ok(Some(unit));
        }
    }
    Ok(None)
}

/// A name for the picture, whose font has Latin letters.
fn plain(element: &str) -> String {
    element.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').take(60).collect()
}
