//! The tokens of a user, for administrators: made here, shown once, and taken away.

use std::sync::Arc;

use axum::extract::{Form, Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use minijinja::context;
use minijinja::value::Value;
use serde::Deserialize;

use super::{Reader, refusal, show};
use crate::Shared;
use crate::access::{Admin, Viewer, encoded};
use crate::accounts::{UserToken, new_secret, token_digest, user_name};
use crate::problem::Problem;

/// Longest life of a token that has an end, days.
const MOST_DAYS: u32 = 3650;

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Admin(viewer): Admin,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("tokens.html", &reader, listed(&shared, &name, None).await)
}

/// The tokens of a user, with the value of the one that was made just now.
async fn listed(shared: &Shared, name: &str, made: Option<String>) -> Result<Value, Problem> {
    let name = known(shared, name).await?;
    let now = shared.site.clock.now();
    let tokens = shared.site.accounts.tokens(&name).await?;
    let rows: Vec<Value> = tokens
        .iter()
        .map(|token| {
            context! {
                label => &token.label,
                created_at => show::value(token.created_at),
                expires_at => show::value(token.expires_at),
                is_over => token.expires_at.is_some_and(|end| end <= now),
            }
        })
        .collect();
    Ok(context! { name, rows, made })
}

/// The name of a user that there is.
async fn known(shared: &Shared, name: &str) -> Result<String, Problem> {
    let name = user_name(name).map_err(Problem::unfit)?;
    let user = shared.site.accounts.user(&name).await?;
    user.map(|user| user.name).ok_or_else(|| Problem::unknown("user"))
}

/// A new token, or the label of one to take away.
#[derive(Debug, Deserialize)]
pub(super) struct TokenForm {
    form_key: String,
    label: String,
    #[serde(default)]
    days: String,
    #[serde(default)]
    revoke: Option<String>,
}

pub(super) async fn change(
    State(shared): State<Arc<Shared>>,
    Admin(viewer): Admin,
    Path(name): Path<String>,
    headers: HeaderMap,
    Form(form): Form<TokenForm>,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    match changed(&shared, &viewer, &name, form).await {
        // a value is shown in the answer itself: it stands in no address and no store
        Ok(Some(of)) => super::page("tokens.html", &reader, StatusCode::OK, of),
        Ok(None) => Redirect::to(&format!("/users/{}/tokens", encoded(&name))).into_response(),
        Err(problem) => refusal(&reader, &problem),
    }
}

async fn changed(
    shared: &Shared,
    viewer: &Viewer,
    name: &str,
    form: TokenForm,
) -> Result<Option<Value>, Problem> {
    viewer.check_form(&form.form_key)?;
    let name = known(shared, name).await?;
    let label = user_name(&form.label).map_err(Problem::unfit)?;
    let accounts = &shared.site.accounts;
    if form.revoke.is_some() {
        if !accounts.revoke_token(&name, &label).await? {
            return Err(Problem::unknown("token"));
        }
        viewer.did(shared, "page", "token revoke", format!("{name} {label}")).await;
        return Ok(None);
    }
    if accounts.tokens(&name).await?.iter().any(|token| token.label == label) {
        return Err(Problem::new(StatusCode::CONFLICT, format!("there is a token {label}")));
    }
    let (now, value) = (shared.site.clock.now(), new_secret());
    let days = match form.days.trim() {
        "" => None,
        text => {
            let days = text.parse().ok().filter(|days| (1..=MOST_DAYS).contains(days));
            let allowed = format!("1 to {MOST_DAYS}, or nothing");
            Some(days.ok_or_else(|| Problem::parameter("days", text, &allowed))?)
        }
    };
    let expires_at = days.map(|days| now.plus_seconds(f64::from(days) * 86_400.0));
    let token = UserToken { label: label.clone(), created_at: now, expires_at };
    accounts.put_token(&name, &token_digest(&value), &token).await?;
    viewer.did(shared, "page", "token add", format!("{name} {label}")).await;
    Ok(Some(listed(shared, &name, Some(value)).await?))
}
