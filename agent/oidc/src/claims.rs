//! Checks the claims of an identity token (OpenID Connect Core 1.0, section 3.1.3.7), and decides
//! whom it lets in.

use pdm_service::http::callers::Role;
use serde_json::{Map, Value};

use crate::settings::OidcSettings;

/// How far the clocks of both sides may differ, s. Chosen: a minute, as far as machines of a plant
/// drift between two settings of their clock.
const CLOCKS_S: i64 = 60;
/// Oldest token, s: the login at the provider took place before, the token is made in this moment.
const OLDEST_S: i64 = 600;
/// Most groups that are looked at.
const MAX_GROUPS: usize = 1000;

/// Somebody who has logged in at the provider and has a role here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The provider.
    pub issuer: String,
    /// The provider's own name for the person, which it gives to nobody else.
    pub subject: String,
    /// The person's displayed name; to be checked as a user's name.
    pub name: String,
    /// The role.
    pub role: Role,
}

/// The provider knows the person, and the person may not enter here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotEntitled {
    /// The claim of the name is missing.
    #[error("the provider tells no {0} (http.oidc.user_claim)")]
    NoName(String),
    /// No group of the person has a role.
    #[error("no group of {0} has a role here (http.oidc.roles)")]
    NoRole(String),
}

/// Returns the fault of a token's claims; `None` if they are right.
pub(crate) fn wrong(
    claims: &Map<String, Value>,
    settings: &OidcSettings,
    nonce: &str,
    now_s: i64,
) -> Option<String> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    if text("iss") != Some(settings.issuer.as_str()) {
        return Some(format!("it is of the issuer {:?}", text("iss").unwrap_or_default()));
    }
    let audience = match claims.get("aud") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let client = settings.client_id.as_str();
    if !audience.contains(&client) {
        return Some("it is for another client".to_owned());
    }
    let party = text("azp");
    if party.is_some_and(|party| party != client) || (audience.len() > 1 && party.is_none()) {
        return Some("it was given to another client".to_owned());
    }
    let second = |name: &str| claims.get(name).and_then(Value::as_f64).map(|second| second as i64);
    let (Some(ends), Some(made)) = (second("exp"), second("iat")) else {
        return Some("it does not say when it was made and when it ends".to_owned());
    };
    if now_s >= ends.saturating_add(CLOCKS_S) {
        return Some(format!(
            "it ended {} s ago by this machine's clock",
            now_s.saturating_sub(ends)
        ));
    }
    let age_s = now_s.saturating_sub(made);
    if !(-CLOCKS_S..=OLDEST_S).contains(&age_s) {
        return Some(format!("it was made {age_s} s ago by this machine's clock"));
    }
    if text("nonce") != Some(nonce) {
        return Some("it belongs to another attempt".to_owned());
    }
    match text("sub") {
        Some(subject) if (1..=255).contains(&subject.len()) => None,
        _ => Some("it names nobody".to_owned()),
    }
}

/// Whether the claims tell name and groups, or the provider has to be asked for more.
pub(crate) fn are_enough(claims: &Map<String, Value>, settings: &OidcSettings) -> bool {
    value(claims, &settings.user_claim).is_some() && value(claims, &settings.role_claim).is_some()
}

/// Returns the person whom the claims name, and the role.
pub(crate) fn person(
    claims: &Map<String, Value>,
    settings: &OidcSettings,
) -> Result<Person, NotEntitled> {
    let name = value(claims, &settings.user_claim)
        .and_then(Value::as_str)
        .ok_or_else(|| NotEntitled::NoName(settings.user_claim.clone()))?;
    let groups: Vec<&str> = match value(claims, &settings.role_claim) {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(several)) => {
            several.iter().take(MAX_GROUPS).filter_map(Value::as_str).collect()
        }
        _ => Vec::new(),
    };
    let shown = || name.chars().filter(|c| !c.is_control()).take(80).collect();
    let role = settings.roles.highest(&groups).ok_or_else(|| NotEntitled::NoRole(shown()))?;
    let subject = claims.get("sub").and_then(Value::as_str).unwrap_or_default();
    let (issuer, subject) = (settings.issuer.clone(), subject.to_owned());
    Ok(Person { issuer, subject, name: name.to_owned(), role })
}

/// A claim by its name, or by a JSON pointer.
fn value<'c>(claims: &'c Map<String, Value>, name: &str) -> Option<&'c Value> {
    let Some(path) = name.strip_prefix('/') else { return claims.get(name) };
    let mut steps = path.split('/').map(|step| step.replace("~1", "/").replace("~0", "~"));
    let first = claims.get(&steps.next()?)?;
    steps.try_fold(first, |value, step| value.get(step))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::settings::tests::settings;

    const NOW: i64 = 1_795_000_000;

    fn claims(changes: &Value) -> Map<String, Value> {
        let mut claims = json!({
            "iss": "https://login.plant.example/realms/plant", "sub": "f3a1", "aud": "pdm",
            "exp": NOW + 300,
            "iat": NOW - 1, "nonce": "n", "preferred_username": "kim", "groups": ["maintenance"],
        });
        for (name, value) in changes.as_object().expect("an object") {
            claims[name] = value.clone();
        }
        claims.as_object().cloned().expect("an object")
    }

    #[test]
    fn a_token_of_this_attempt_for_this_client_is_taken() {
        for good in [
            json!({}),
            json!({ "aud": ["pdm"] }),
            json!({ "aud": ["pdm", "other"], "azp": "pdm" }),
            json!({ "exp": NOW - 59, "iat": NOW - 300 }),
            json!({ "iat": NOW + 59 }),
        ] {
            assert_eq!(wrong(&claims(&good), &settings(), "n", NOW), None, "{good}");
        }
    }

    #[test]
    fn a_token_of_another_issuer_client_time_or_attempt_is_not() {
        for bad in [
            json!({ "iss": "https://login.plant.example/realms/plant/" }),
            json!({ "iss": null }),
            json!({ "aud": "other" }),
            json!({ "aud": null }),
            json!({ "aud": ["pdm", "other"] }),
            json!({ "azp": "other" }),
            json!({ "exp": NOW - 60 }),
            json!({ "exp": "never" }),
            json!({ "iat": NOW + 61 }),
            json!({ "iat": NOW - 601 }),
            json!({ "iat": null }),
            json!({ "nonce": "m" }),
            json!({ "nonce": null }),
            json!({ "sub": "" }),
            json!({ "sub": 7 }),
            json!({ "sub": "x".repeat(256) }),
        ] {
            assert!(wrong(&claims(&bad), &settings(), "n", NOW).is_some(), "{bad}");
        }
    }

    #[test]
    fn the_role_is_that_of_the_groups_and_without_one_nobody_enters() {
        let technician = person(&claims(&json!({})), &settings()).expect("a technician");
        assert_eq!((technician.name.as_str(), technician.role), ("kim", Role::Technician));
        let one =
            person(&claims(&json!({ "groups": "pdm-admins" })), &settings()).expect("an admin");
        assert_eq!(one.role, Role::Admin);
        for groups in [json!(["other"]), json!([]), json!(null), json!({ "maintenance": true })] {
            let refused = person(&claims(&json!({ "groups": groups })), &settings());
            assert_eq!(refused, Err(NotEntitled::NoRole("kim".into())), "{groups}");
        }
        let unnamed = person(&claims(&json!({ "preferred_username": null })), &settings());
        assert_eq!(unnamed, Err(NotEntitled::NoName("preferred_username".into())));
    }

    #[test]
    fn groups_are_found_by_a_pointer() {
        let nested = OidcSettings { role_claim: "/realm_access/roles".into(), ..settings() };
        let claims = claims(&json!({ "groups": null, "realm_access": { "roles": ["staff"] } }));
        assert_eq!(person(&claims, &nested).expect("a viewer").role, Role::Viewer);
        assert!(are_enough(&claims, &nested));
    }
}
