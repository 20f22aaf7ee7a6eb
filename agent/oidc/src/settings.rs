//! `[http.oidc]`: the provider, what it calls us, and which of its groups have which role.

use std::path::Path;

use pdm_service::broker::TlsFiles;
use pdm_service::config::ConfigError;
use pdm_service::http::callers::Role;
use pdm_service::secret::SecretSource;
use serde::Deserialize;
use url::{Host, Url};

/// Longest text of a key, characters.
const MAX_TEXT: usize = 256;

/// `[http.oidc]`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OidcSettings {
    /// The provider's address, as its identity tokens name it.
    pub issuer: String,
    /// Our name at the provider.
    pub client_id: String,
    /// Our secret at the provider; absent for a public client, which PKCE alone protects.
    pub client_secret: Option<SecretSource>,
    /// The text of the login page's button.
    #[serde(default = "default_name")]
    pub name: String,
    /// Scopes beside `openid`.
    #[serde(default = "default_scopes")]
    pub scopes: Vec<String>,
    /// The claim that becomes the user's name.
    #[serde(default = "default_user_claim")]
    pub user_claim: String,
    /// The claim with the groups: a name, or a JSON pointer such as `/realm_access/roles`.
    #[serde(default = "default_role_claim")]
    pub role_claim: String,
    /// Which groups have which role.
    pub roles: RoleGroups,
    /// The authorities of the provider's certificate where they are a plant's own.
    pub tls: Option<TlsFiles>,
}

/// `[http.oidc.roles]`: the groups of each role; somebody in several has the highest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RoleGroups {
    /// Groups of administrators.
    pub admin: Vec<String>,
    /// Groups of technicians.
    pub technician: Vec<String>,
    /// Groups of viewers.
    pub viewer: Vec<String>,
}

impl RoleGroups {
    /// The highest role of somebody in these groups.
    pub(crate) fn highest(&self, groups: &[&str]) -> Option<Role> {
        let is_in = |of: &[String]| of.iter().any(|group| groups.contains(&group.as_str()));
        [
            (&self.admin, Role::Admin),
            (&self.technician, Role::Technician),
            (&self.viewer, Role::Viewer),
        ]
        .into_iter()
        .find_map(|(of, role)| is_in(of).then_some(role))
    }
}

fn default_name() -> String {
    "OpenID Connect".to_owned()
}

fn default_scopes() -> Vec<String> {
    vec!["profile".to_owned()]
}

fn default_user_claim() -> String {
    "preferred_username".to_owned()
}

fn default_role_claim() -> String {
    "groups".to_owned()
}

/// Whether an address may carry a login: TLS, or this machine.
pub(crate) fn is_safe(address: &Url) -> bool {
    let is_here = match address.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    address.scheme() == "https" || (address.scheme() == "http" && is_here)
}

impl OidcSettings {
    /// Checks the keys.
    ///
    /// # Errors
    /// [`ConfigError`] with key, value and what is allowed.
    pub fn check(&self, path: &Path) -> Result<(), ConfigError> {
        let refuse = |key: &str, value: &str, allowed: &str| {
            Err(ConfigError::value(path, format!("http.oidc.{key}"), value, allowed))
        };
        let address = Url::parse(&self.issuer)
            .ok()
            .filter(|url| is_safe(url) && url.query().is_none() && url.fragment().is_none());
        if address.is_none() {
            let allowed = "an address that begins with https:// (http:// for this machine alone), \
                without query";
            return refuse("issuer", &self.issuer, allowed);
        }
        for (key, text) in [
            ("client_id", &self.client_id),
            ("name", &self.name),
            ("user_claim", &self.user_claim),
            ("role_claim", &self.role_claim),
        ] {
            let is_word = !text.trim().is_empty() && text.chars().count() <= MAX_TEXT;
            if !is_word || text.chars().any(char::is_control) {
                return refuse(key, text, "1 to 256 characters on one line");
            }
        }
        for scope in &self.scopes {
            // RFC 6749, section 3.3
            let is_scope = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\');
            if scope.is_empty() || !scope.chars().all(is_scope) {
                return refuse(
                    "scopes",
                    scope,
                    "words of ASCII characters without spaces and quotes",
                );
            }
        }
        if self.roles == RoleGroups::default() {
            return refuse("roles", "", "at least one group under admin, technician or viewer");
        }
        Ok(())
    }

    /// The settings with relative files resolved against `folder`.
    #[must_use]
    pub fn rooted(self, folder: &Path) -> Self {
        let tls = self.tls.map(|tls| TlsFiles {
            ca: folder.join(tls.ca),
            certificate: tls.certificate.map(|file| folder.join(file)),
            key: tls.key.map(|file| folder.join(file)),
            crl: tls.crl.map(|file| folder.join(file)),
        });
        Self { client_secret: self.client_secret.map(|secret| secret.rooted(folder)), tls, ..self }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn settings() -> OidcSettings {
        OidcSettings {
            issuer: "https://login.plant.example/realms/plant".to_owned(),
            client_id: "pdm".to_owned(),
            client_secret: None,
            name: default_name(),
            scopes: default_scopes(),
            user_claim: default_user_claim(),
            role_claim: default_role_claim(),
            roles: RoleGroups {
                admin: vec!["pdm-admins".to_owned()],
                technician: vec!["maintenance".to_owned()],
                viewer: vec!["staff".to_owned()],
            },
            tls: None,
        }
    }

    #[test]
    fn an_issuer_without_tls_is_one_of_this_machine() {
        let check = |issuer: &str| {
            OidcSettings { issuer: issuer.to_owned(), ..settings() }.check(Path::new("agent.toml"))
        };
        for good in [
            "https://login.plant.example",
            "http://127.0.0.1:8080/a",
            "http://localhost:1",
            "http://[::1]:1",
        ] {
            assert!(check(good).is_ok(), "{good}");
        }
        for wrong in [
            "",
            "login.plant.example",
            "http://login.plant.example",
            "https://a?b=c",
            "ftp://a",
            "http://10.0.0.1",
        ] {
            let told = check(wrong).expect_err(wrong).to_string();
            assert!(told.contains("http.oidc.issuer"), "{told}");
        }
    }

    #[test]
    fn a_provider_without_groups_lets_nobody_in_and_is_refused() {
        let nobody = OidcSettings { roles: RoleGroups::default(), ..settings() };
        let told = nobody.check(Path::new("agent.toml")).expect_err("nobody").to_string();
        assert!(told.contains("http.oidc.roles"), "{told}");
    }

    #[test]
    fn somebody_in_several_groups_has_the_highest_role() {
        let roles = settings().roles;
        assert_eq!(roles.highest(&["staff", "pdm-admins", "x"]), Some(Role::Admin));
        assert_eq!(roles.highest(&["staff", "maintenance"]), Some(Role::Technician));
        assert_eq!(roles.highest(&["Staff"]), None);
        assert_eq!(roles.highest(&[]), None);
    }
}
