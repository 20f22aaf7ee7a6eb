//! Taking out, renaming, replacing and releasing, for administrators: forms that show first what
//! would change, and change it when that is confirmed. `GET` changes nothing.

use std::sync::Arc;

use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use serde::{Deserialize, Serialize};

use super::{Reader, refusal, show};
use crate::access::{Admin, Viewer};
use crate::api::changing::{gateway_named, part_of};
use crate::plant::{PlantChange, PlantPart, TakenOut};
use crate::problem::Problem;
use crate::{Shared, acts};

/// The acts of the page: the word of each with the fields that name what it is done to.
const ACTS: [(&str, &[&str]); 6] = [
    ("release_bearing", &["part"]),
    ("rename", &["part", "to"]),
    ("forget", &["part"]),
    ("replace_gateway", &["gateway", "new"]),
    ("release_gateway", &["gateway"]),
    ("forget_gateway", &["gateway"]),
];
const ALLOWED: &str =
    "release_bearing, rename, forget, replace_gateway, release_gateway, forget_gateway";

/// The query of the page; each field is empty where it is not asked for.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct RemovalAsked {
    #[serde(default)]
    act: String,
    #[serde(default)]
    part: String,
    #[serde(default)]
    to: String,
    #[serde(default)]
    gateway: String,
    #[serde(default)]
    new: String,
    #[serde(default)]
    with_history: String,
    #[serde(default)]
    join: String,
    #[serde(default)]
    by: String,
    #[serde(default)]
    reason: String,
}

impl RemovalAsked {
    fn change(&self) -> Result<PlantChange, Problem> {
        match self.act.as_str() {
            "forget" => Ok(PlantChange::Forget(part_of("part", &self.part)?)),
            "rename" => Ok(PlantChange::Rename {
                from: part_of("part", &self.part)?,
                to: part_of("to", &self.to)?,
                with_history: self.with_history == "yes",
                may_join: self.join == "yes",
            }),
            "forget_gateway" => {
                Ok(PlantChange::ForgetGateway(gateway_named("gateway", &self.gateway)?))
            }
            "replace_gateway" => Ok(PlantChange::ReplaceGateway {
                old: gateway_named("gateway", &self.gateway)?,
                new: gateway_named("new", &self.new)?,
            }),
            "release_gateway" => {
                Ok(PlantChange::ReleaseGateway(gateway_named("gateway", &self.gateway)?))
            }
            "release_bearing" => released(&self.part),
            other => Err(Problem::parameter("act", other, ALLOWED)),
        }
    }

    /// The acts that fit what is named, or all of them.
    fn acts(&self) -> Vec<Value> {
        let is_gateway = !self.gateway.is_empty();
        let fits = |fields: &[&str]| {
            (self.part.is_empty() && self.gateway.is_empty())
                || is_gateway == fields.contains(&"gateway")
        };
        let is_bearing = self.part.is_empty() || self.part.matches('/').count() == 2;
        let shown = ACTS
            .iter()
            .filter(|(act, fields)| fits(fields) && (is_bearing || *act != "release_bearing"));
        shown.map(|(act, fields)| context! { act => *act, fields => fields.to_vec() }).collect()
    }
}

/// A bearing that is released, by its three names.
fn released(text: &str) -> Result<PlantChange, Problem> {
    let part = part_of("part", text)?;
    let PlantPart { site, equipment: Some(equipment), bearing: Some(bearing) } = part else {
        let told = format!("part is {text:?}, allowed is SITE/EQUIPMENT/BEARING");
        return Err(Problem::unfit(told));
    };
    Ok(PlantChange::ReleaseBearing(pdm_shared::id::BearingKey { site, equipment, bearing }))
}

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Admin(viewer): Admin,
    Query(asked): Query<RemovalAsked>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    if asked.act.is_empty() || asked.reason.is_empty() {
        let of = context! { acts => asked.acts(), asked => show::value(&asked), is_done => false, out => Value::from(()) };
        return super::page("removal.html", &reader, StatusCode::OK, of);
    }
    answered(&shared, &viewer, &reader, &asked, true).await
}

/// The form that confirms what was shown.
#[derive(Debug, Deserialize)]
pub(super) struct RemovalForm {
    form_key: String,
    #[serde(flatten)]
    asked: RemovalAsked,
}

pub(super) async fn act(
    State(shared): State<Arc<Shared>>,
    Admin(viewer): Admin,
    headers: HeaderMap,
    Form(form): Form<RemovalForm>,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    if let Err(problem) = viewer.check_form(&form.form_key) {
        return refusal(&reader, &problem);
    }
    answered(&shared, &viewer, &reader, &form.asked, false).await
}

/// Returns the page that shows the change, made or proposed.
async fn answered(
    shared: &Shared,
    viewer: &Viewer,
    reader: &Reader,
    asked: &RemovalAsked,
    is_dry: bool,
) -> Response {
    let out = async {
        let why = (asked.by.as_str(), asked.reason.clone());
        acts::change(shared, viewer, "page", asked.change()?, why, is_dry).await
    };
    let gathered = out.await.map(|out| {
        let acts: Vec<Value> = Vec::new();
        context! { acts, asked => show::value(asked), is_done => !is_dry, out => shown(asked, &out) }
    });
    super::answer("removal.html", reader, gathered)
}

/// Returns what was taken out for the template: only the kinds of which there is any.
fn shown(asked: &RemovalAsked, out: &TakenOut) -> Value {
    fn names<T: ToString>(all: &[T]) -> Vec<String> {
        all.iter().map(ToString::to_string).collect()
    }
    let is_release = asked.act.starts_with("release");
    let gateways = if is_release { Vec::new() } else { names(&out.gateways) };
    let lists = [
        ("removal_bearings", names(&out.bearings)),
        ("removal_gateways", gateways),
        ("removal_released", names(&out.released)),
        ("removal_joined", names(&out.joined)),
    ];
    let lists = lists.into_iter().filter(|(_, names)| !names.is_empty());
    let figures = [
        ("removal_episodes", out.episodes),
        ("removal_work", out.work),
        ("removal_waiting", out.waiting),
        ("removal_topics", out.topics),
    ];
    context! {
        lists => lists.map(|(word, names)| context! { word, names }).collect::<Vec<_>>(),
        figures => figures.map(|(word, number)| context! { word, number }).to_vec(),
        is_release,
        is_configured => out.is_configured,
    }
}
