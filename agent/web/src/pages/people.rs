//! Users and their acts, for administrators.

use std::sync::Arc;

use axum::extract::{Form, Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use minijinja::context;
use minijinja::value::Value;
use pdm_service::http::callers::Role;
use serde::Deserialize;

use super::{Reader, acted, refusal, show};
use crate::access::{Admin, Viewer};
use crate::accounts::{User, UserChange, ends_last_admin, user_name};
use crate::problem::Problem;
use crate::{Shared, password};

/// Acts of a page.
const ROWS: u32 = 100;

pub(super) async fn users(
    State(shared): State<Arc<Shared>>,
    Admin(viewer): Admin,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    let users = match shared.site.accounts.users().await {
        Ok(users) => users,
        Err(error) => return refusal(&reader, &error.into()),
    };
    let rows: Vec<Value> = users
        .iter()
        .map(|user| {
            context! {
                name => &user.name,
                role => user.role.as_str(),
                has_password => user.password.is_some(),
                is_disabled => user.is_disabled,
                is_self => viewer.user() == Some(user.name.as_str()),
                at => show::value(user.created_at),
            }
        })
        .collect();
    let roles: Vec<&str> = Role::ALL.iter().map(|role| role.as_str()).collect();
    super::page("users.html", &reader, StatusCode::OK, context! { rows, roles })
}

/// A new user.
#[derive(Debug, Deserialize)]
pub(super) struct AddForm {
    form_key: String,
    name: String,
    role: String,
    password: String,
}

pub(super) async fn add(
    State(shared): State<Arc<Shared>>,
    Admin(viewer): Admin,
    headers: HeaderMap,
    Form(form): Form<AddForm>,
) -> Response {
    let done = added(&shared, &viewer, form).await;
    back(&viewer, &headers, done)
}

async fn added(shared: &Shared, viewer: &Viewer, form: AddForm) -> Result<(), Problem> {
    viewer.check_form(&form.form_key)?;
    let name = user_name(&form.name).map_err(Problem::unfit)?;
    let role: Role = form.role.parse().map_err(Problem::unfit)?;
    password::check(&name, &form.password).map_err(Problem::unfit)?;
    let user = User {
        name: name.clone(),
        role,
        password: Some(password::hashed(&shared.attempts.turns, form.password).await?),
        provider: None,
        is_disabled: false,
        created_at: shared.site.clock.now(),
    };
    if !shared.site.accounts.add_user(&user, false).await? {
        return Err(Problem::new(StatusCode::CONFLICT, format!("there is a user {name}")));
    }
    viewer.did(shared, "page", "user add", format!("{name} {role}")).await;
    Ok(())
}

/// A change of a user: one of the three.
#[derive(Debug, Deserialize)]
pub(super) struct ChangeForm {
    form_key: String,
    #[serde(default)]
    role: Option<String>,
    #[serde(default)]
    password: Option<String>,
    #[serde(default)]
    disabled: Option<String>,
}

pub(super) async fn change(
    State(shared): State<Arc<Shared>>,
    Admin(viewer): Admin,
    Path(name): Path<String>,
    headers: HeaderMap,
    Form(form): Form<ChangeForm>,
) -> Response {
    let done = changed(&shared, &viewer, &name, form).await;
    back(&viewer, &headers, done)
}

async fn changed(
    shared: &Shared,
    viewer: &Viewer,
    name: &str,
    form: ChangeForm,
) -> Result<(), Problem> {
    viewer.check_form(&form.form_key)?;
    let name = user_name(name).map_err(Problem::unfit)?;
    let (change, told) = match (form.role, form.password, form.disabled) {
        (Some(role), None, None) => {
            let role: Role = role.parse().map_err(Problem::unfit)?;
            (UserChange::Role(role), format!("role {role}"))
        }
        (None, Some(password), None) => {
            password::check(&name, &password).map_err(Problem::unfit)?;
            (
                UserChange::Password(password::hashed(&shared.attempts.turns, password).await?),
                "password".to_owned(),
            )
        }
        (None, None, Some(disabled)) => {
            let disabled = match disabled.as_str() {
                "yes" => true,
                "no" => false,
                other => return Err(Problem::parameter("disabled", other, "yes, no")),
            };
            (UserChange::Disabled(disabled), format!("disabled {disabled}"))
        }
        _ => return Err(Problem::unfit("allowed is one of role, password and disabled")),
    };
    // an administrator who takes the own role away by a slip could not give it back
    let loses = !matches!(
        change,
        UserChange::Password(_) | UserChange::Role(Role::Admin) | UserChange::Disabled(false)
    );
    if loses && viewer.user() == Some(name.as_str()) {
        return Err(Problem::unfit("another administrator has to do that to you"));
    }
    let users = if loses { shared.site.accounts.users().await? } else { Vec::new() };
    if ends_last_admin(&users, &name, &change) {
        return Err(Problem::unfit(format!(
            "{name} is the last administrator who can log in: make another one first"
        )));
    }
    if !shared.site.accounts.change_user(&name, &change).await? {
        return Err(Problem::unknown("user"));
    }
    viewer.did(shared, "page", "user change", format!("{name} {told}")).await;
    Ok(())
}

fn back(viewer: &Viewer, headers: &HeaderMap, done: Result<(), Problem>) -> Response {
    match done {
        Ok(()) => Redirect::to("/users").into_response(),
        Err(problem) => refusal(&Reader::of(viewer, headers), &problem),
    }
}

/// Where the list of acts begins.
#[derive(Debug, Deserialize)]
pub(super) struct ActsAsked {
    #[serde(default)]
    cursor: Option<String>,
}

pub(super) async fn audit(
    State(shared): State<Arc<Shared>>,
    Admin(viewer): Admin,
    Query(asked): Query<ActsAsked>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    let before = match asked.cursor.as_deref().map(crate::api::act_of).transpose() {
        Ok(before) => before,
        Err(problem) => return refusal(&reader, &problem),
    };
    match shared.site.accounts.acts(before, ROWS).await {
        Ok(acts) => {
            let is_full = acts.len() >= ROWS as usize;
            let older = acts.last().filter(|_| is_full).map(|last| last.id);
            let rows: Vec<Value> =
                acts.iter().map(|act| acted::row(act, reader.language)).collect();
            super::page("audit.html", &reader, StatusCode::OK, context! { rows, older })
        }
        Err(error) => refusal(&reader, &error.into()),
    }
}
