//! Login by a plant's own OpenID Connect provider, such as Keycloak, Entra ID or ADFS.
//!
//! ```text
//! Provider::begin ─► address of the provider, Attempt (in a cookie of the browser)
//! the person logs in there; the browser comes back with a code
//! Provider::finish(code, Attempt) ─► token ─► claims ─► Person { issuer, subject, name, role }
//! ```
//!
//! The authorization code flow of OpenID Connect Core 1.0, section 3.1, always with PKCE (RFC 7636,
//! `S256`), `state`, `nonce` and, where the provider sends it, the issuer of the answer (RFC 9207).
//! An identity token is taken only with a signature by a key of the provider ([`token`]) and with
//! the issuer, audience, time and nonce that belong to this attempt ([`claims`]); `none` and keys
//! that both sides share are never taken.
//!
//! Why no crate for it: `openidconnect` 4 brings 40 packages, among them RSA with a known timing
//! weakness; `jsonwebtoken` 10 brings a second implementation of the algorithms that `ring` has.
//! What stands here is the code flow alone: one request for the token, one verification.

mod claims;
mod fetch;
mod provider;
mod settings;
mod token;

pub use claims::{NotEntitled, Person};
pub use provider::{Attempt, Callback, OidcError, Provider};
pub use settings::{OidcSettings, RoleGroups};
