//! A judgement: its five thoughts with their evidence, the tools that were called, the steps of its
//! run.

use std::sync::Arc;

use axum::extract::{Extension, Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::diagnosis::{
    Diagnosis, Evidence, OpinionStance, Reasoner, SecondOpinion, Thought, ThoughtTitle,
};
use pdm_shared::feature::Feature;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;

use super::{Reader, captures, documents, show};
use crate::Shared;
use crate::access::Viewer;
use crate::api::event_id_of;
use crate::problem::Problem;

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("analysis.html", &reader, gather(&shared, &id, &reader).await)
}

async fn gather(shared: &Shared, id: &str, reader: &Reader) -> Result<Value, Problem> {
    let (plant, id) = (&shared.site.plant, event_id_of(id)?);
    let found = plant.diagnosis(id).await?.ok_or_else(|| Problem::unknown("judgement"))?;
    let steps = plant.trace(id).await?;
    let event = plant.event(id).await?;
    let key = event.as_ref().map(pdm_shared::event::Event::key);
    let label = found.risk_level.label();
    let captures = match &event {
        Some(event) => {
            let of = (id, event.measured_at);
            captures::rows_of_judgement(shared, &event.key(), of, reader).await?
        }
        None => Vec::new(),
    };
    Ok(context! {
        files => documents::links(shared, Some(id), reader).await?,
        captures,
        event_id => show::value(id),
        address => key.as_ref().map(show::address),
        name => key.map(|key| BearingKey::to_string(&key)),
        measured_at => show::value(event.as_ref().map(|event| event.measured_at)),
        label => label.in_language(reader.language),
        advice => found.recommendation.in_language(reader.language),
        causes => causes(&found, reader),
        memory => found.memory.summary.in_language(reader.language),
        thoughts => found.thoughts.iter().map(|thought| shown(thought, reader)).collect::<Vec<_>>(),
        disagreement => found.disagreement.as_ref().map(|text| text.in_language(reader.language)),
        opinion => found.second_opinion.as_ref().map(|opinion| {
            opined(opinion, found.reasoner == Reasoner::Llm, reader)
        }),
        steps => steps.iter().map(show::value).collect::<Vec<_>>(),
        found => show::value(&found),
    })
}

fn causes(found: &Diagnosis, reader: &Reader) -> Vec<String> {
    let causes = found.uncertainty.causes.iter();
    causes.map(|cause| cause.in_language(reader.language).to_owned()).collect()
}

fn opined(opinion: &SecondOpinion, is_part: bool, reader: &Reader) -> Value {
    // a higher risk is the judgement's own where the model was part of it
    let place =
        if is_part && opinion.stance == Some(OpinionStance::Raises) { "_in_loop" } else { "" };
    let text = |text: &Option<Text>| {
        text.as_ref().map(|text| text.in_language(reader.language).to_owned())
    };
    context! {
        model => opinion.model.clone(),
        risk => opinion.risk_level.map(|risk| risk.label().in_language(reader.language).to_owned()),
        risk_level => opinion.risk_level.map(RiskLevel::as_str),
        stance => opinion.stance.map(|stance| format!("opinion_{}{}", stance.as_str(), place)),
        failure => text(&opinion.failure),
        reason => text(&opinion.reason),
        recommendation => text(&opinion.recommendation),
        evidence => opinion.evidence.iter().map(|one| fact(one, reader)).collect::<Vec<_>>(),
        tokens => opinion.prompt_tokens.saturating_add(opinion.completion_tokens),
    }
}

fn shown(thought: &Thought, reader: &Reader) -> Value {
    let title = match thought.title {
        ThoughtTitle::InitialScreening => "thought_screening",
        ThoughtTitle::PfStage => "thought_stage",
        ThoughtTitle::Degradation => "thought_degradation",
        ThoughtTitle::Rul => "thought_life",
        ThoughtTitle::OverallRisk => "thought_risk",
    };
    context! {
        title,
        conclusion => thought.conclusion.in_language(reader.language),
        model_words => thought.model_words.as_ref().map(|words| words.in_language(reader.language)),
        evidence => thought.evidence.iter().map(|one| fact(one, reader)).collect::<Vec<_>>(),
    }
}

/// A fact with the names of the features that it is about; where it stands remains beside the name.
fn fact(fact: &Evidence, reader: &Reader) -> Value {
    let say = |feature: Feature| feature.name().in_language(reader.language).to_owned();
    let keys = fact.value.as_array().filter(|_| fact.path == "anomaly.contributors");
    let names = keys.map(|keys| {
        let names = keys.iter().filter_map(|key| Some(say(Feature::of_key(key.as_str()?))));
        names.collect::<Vec<_>>().join(", ")
    });
    context! {
        path => fact.path.as_str(),
        name => Feature::at_path(&fact.path).map(say),
        value => show::value(&fact.value),
        names,
        rule => fact.rule.as_deref(),
        source => fact.source.as_deref(),
    }
}
