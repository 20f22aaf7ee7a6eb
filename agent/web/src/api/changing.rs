//! Changes of the plant by administrators' programs over the API: taking out, renaming, replacing,
//! releasing. Each answers with the change that was made, or with `dry_run` the one that would be
//! made.

use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use pdm_shared::id::{GatewayId, GatewayKey};
use schemars::JsonSchema;
use serde::Deserialize;

use super::acting::without_session;
use super::{Asking, Names, key_of};
use crate::access::{Admin, Viewer};
use crate::acts;
use crate::asking::{Json, Path};
use crate::plant::{PlantChange, PlantPart, TakenOut};
use crate::problem::Problem;

/// An administrator's program, which is no browser's session.
pub(super) struct AdminProgram(Viewer);

impl<S: Send + Sync> FromRequestParts<S> for AdminProgram {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        let Admin(viewer) = Admin::from_request_parts(parts, state).await?;
        without_session(viewer).map(Self).map_err(|refusal| *refusal)
    }
}

/// Who asks for a change, and why. serde cannot flatten a part of a body that refuses other keys,
/// so each body has these three.
struct ChangeAsked {
    by: String,
    reason: String,
    dry_run: bool,
}

type ChangeAnswer = Result<axum::Json<TakenOut>, Problem>;

async fn change(
    shared: &crate::Shared,
    viewer: &Viewer,
    change: PlantChange,
    asked: ChangeAsked,
) -> ChangeAnswer {
    let ChangeAsked { by, reason, dry_run } = asked;
    acts::change(shared, viewer, "api", change, (&by, reason), dry_run).await.map(axum::Json)
}

/// What a program sends to release a gateway or a bearing, or to take a gateway out.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReasonBody {
    /// The person; a user's token signs as the user, whatever stands here.
    #[serde(default)]
    #[schemars(length(max = pdm_shared::bounds::MAX_LINE))]
    by: String,
    /// Why; it stands in the record of acts.
    #[schemars(length(min = 1, max = pdm_shared::bounds::MAX_LINE))]
    reason: String,
    /// Say what would change, and change nothing.
    #[serde(default)]
    dry_run: bool,
}

impl From<ReasonBody> for ChangeAsked {
    fn from(ReasonBody { by, reason, dry_run }: ReasonBody) -> Self {
        Self { by, reason, dry_run }
    }
}

/// What a program sends to take a site, a machine or a bearing out.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForgetBody {
    /// `SITE`, `SITE/EQUIPMENT` or `SITE/EQUIPMENT/BEARING`.
    part: String,
    /// The person; a user's token signs as the user, whatever stands here.
    #[serde(default)]
    #[schemars(length(max = pdm_shared::bounds::MAX_LINE))]
    by: String,
    /// Why; it stands in the record of acts and in the work that is closed.
    #[schemars(length(min = 1, max = pdm_shared::bounds::MAX_LINE))]
    reason: String,
    /// Say what would change, and change nothing.
    #[serde(default)]
    dry_run: bool,
}

pub(super) async fn forget(
    State(shared): Asking,
    AdminProgram(viewer): AdminProgram,
    Json(body): Json<ForgetBody>,
) -> ChangeAnswer {
    let ForgetBody { part, by, reason, dry_run } = body;
    let part = part_of("part", &part)?;
    change(&shared, &viewer, PlantChange::Forget(part), ChangeAsked { by, reason, dry_run }).await
}

/// What a program sends to rename a site, a machine or a bearing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RenameBody {
    /// `SITE`, `SITE/EQUIPMENT` or `SITE/EQUIPMENT/BEARING` as it was called.
    from: String,
    /// The same as it is called now.
    to: String,
    /// Events, judgements and the bearing's memory go on under the new name.
    #[serde(default)]
    with_history: bool,
    /// The new name may be known already: the history of both stands under it, which cannot be
    /// undone.
    #[serde(default)]
    join: bool,
    /// The person; a user's token signs as the user, whatever stands here.
    #[serde(default)]
    #[schemars(length(max = pdm_shared::bounds::MAX_LINE))]
    by: String,
    /// Why; it stands in the record of acts and in the work that is closed.
    #[schemars(length(min = 1, max = pdm_shared::bounds::MAX_LINE))]
    reason: String,
    /// Say what would change, and change nothing.
    #[serde(default)]
    dry_run: bool,
}

pub(super) async fn rename(
    State(shared): Asking,
    AdminProgram(viewer): AdminProgram,
    Json(body): Json<RenameBody>,
) -> ChangeAnswer {
    let RenameBody { from, to, with_history, join, by, reason, dry_run } = body;
    let (from, to) = (part_of("from", &from)?, part_of("to", &to)?);
    let rename = PlantChange::Rename { from, to, with_history, may_join: join };
    change(&shared, &viewer, rename, ChangeAsked { by, reason, dry_run }).await
}

pub(super) async fn forget_gateway(
    State(shared): Asking,
    AdminProgram(viewer): AdminProgram,
    Path(names): Path<(String, String)>,
    Json(body): Json<ReasonBody>,
) -> ChangeAnswer {
    let gone = PlantChange::ForgetGateway(gateway_of(&names)?);
    change(&shared, &viewer, gone, body.into()).await
}

/// What a program sends to let another gateway measure the bearings of one that is gone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplaceBody {
    /// The gateway of the same site that measures the bearings now.
    new: GatewayId,
    /// The person; a user's token signs as the user, whatever stands here.
    #[serde(default)]
    #[schemars(length(max = pdm_shared::bounds::MAX_LINE))]
    by: String,
    /// Why; it stands in the record of acts.
    #[schemars(length(min = 1, max = pdm_shared::bounds::MAX_LINE))]
    reason: String,
    /// Say what would change, and change nothing.
    #[serde(default)]
    dry_run: bool,
}

pub(super) async fn replace_gateway(
    State(shared): Asking,
    AdminProgram(viewer): AdminProgram,
    Path(names): Path<(String, String)>,
    Json(body): Json<ReplaceBody>,
) -> ChangeAnswer {
    let ReplaceBody { new, by, reason, dry_run } = body;
    let old = gateway_of(&names)?;
    let new = GatewayKey::new(old.site.clone(), new);
    let replace = PlantChange::ReplaceGateway { old, new };
    change(&shared, &viewer, replace, ChangeAsked { by, reason, dry_run }).await
}

pub(super) async fn release_gateway(
    State(shared): Asking,
    AdminProgram(viewer): AdminProgram,
    Path(names): Path<(String, String)>,
    Json(body): Json<ReasonBody>,
) -> ChangeAnswer {
    let release = PlantChange::ReleaseGateway(gateway_of(&names)?);
    change(&shared, &viewer, release, body.into()).await
}

pub(super) async fn release_bearing(
    State(shared): Asking,
    AdminProgram(viewer): AdminProgram,
    Path(names): Path<Names>,
    Json(body): Json<ReasonBody>,
) -> ChangeAnswer {
    let release = PlantChange::ReleaseBearing(key_of(&names)?);
    change(&shared, &viewer, release, body.into()).await
}

/// A part of the plant as people write it.
pub(crate) fn part_of(name: &str, text: &str) -> Result<PlantPart, Problem> {
    let allowed = "SITE, SITE/EQUIPMENT or SITE/EQUIPMENT/BEARING";
    text.trim().parse().map_err(|_other| unfit(name, text, allowed))
}

/// A gateway as people write it.
pub(crate) fn gateway_named(name: &str, text: &str) -> Result<GatewayKey, Problem> {
    text.trim().parse().map_err(|_other| unfit(name, text, "SITE/GATEWAY"))
}

/// A value of a body that can be read, and is not allowed.
fn unfit(name: &str, got: &str, allowed: &str) -> Problem {
    let of_query = Problem::parameter(name, got, allowed);
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, of_query.detail())
}

fn gateway_of((site, gateway): &(String, String)) -> Result<GatewayKey, Problem> {
    let text = format!("{site}/{gateway}");
    text.parse().map_err(|error: pdm_shared::id::NameError| {
        Problem::new(StatusCode::BAD_REQUEST, error.to_string())
    })
}
