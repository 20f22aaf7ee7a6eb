//! Identity tokens: JSON Web Signatures (RFC 7515) by the provider's published keys (RFC 7517, RFC
//! 7518).
//!
//! Invariant: the key decides which algorithms it can verify, never the token. `none` and HMAC have
//! no key here.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Longest token, bytes: a person in some hundred groups.
pub(crate) const MAX_TOKEN: usize = 64 << 10;

/// Why a token is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Untrusted {
    #[error("the identity token is no signed token: {0}")]
    Shape(&'static str),
    #[error("the identity token names the key {0:?}, which the provider does not publish")]
    UnknownKey(String),
    #[error(
        "the identity token is signed by {0:?}, allowed are RS256, RS384, RS512, PS256, PS384, \
         PS512, ES256, ES384 and EdDSA with a key of its kind"
    )]
    Algorithm(String),
    #[error("the signature of the identity token is wrong")]
    Signature,
}

/// One of the provider's published keys; those of other kinds and uses are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    id: Option<String>,
    algorithm: Option<String>,
    material: Material,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Material {
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// The point, uncompressed.
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// A key as it is published.
#[derive(Debug, Deserialize)]
struct Published {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// The keys of a published set that can sign identity tokens.
pub(crate) fn keys(set: &Value) -> Vec<Key> {
    let published = set["keys"].as_array().map(Vec::as_slice).unwrap_or_default();
    let read = |key: &Value| serde_json::from_value::<Published>(key.clone()).ok();
    published.iter().filter_map(read).filter_map(key_of).collect()
}

fn key_of(published: Published) -> Option<Key> {
    if published.purpose.as_deref().is_some_and(|purpose| purpose != "sig") {
        return None;
    }
    let bytes = |text: &Option<String>| decoded(text.as_deref()?);
    let point = |length: usize| {
        let (x, y) = (bytes(&published.x)?, bytes(&published.y)?);
        (x.len() == length && y.len() == length)
            .then(|| [&[4], x.as_slice(), y.as_slice()].concat())
    };
    let material = match (published.kty.as_str(), published.crv.as_deref()) {
        ("RSA", _) => Material::Rsa { n: bytes(&published.n)?, e: bytes(&published.e)? },
        ("EC", Some("P-256")) => Material::P256(point(32)?),
        ("EC", Some("P-384")) => Material::P384(point(48)?),
        ("OKP", Some("Ed25519")) => Material::Ed25519(bytes(&published.x)?),
        _ => return None,
    };
    Some(Key { id: published.kid, algorithm: published.alg, material })
}

impl Key {
    /// Whether `signature` of `message` by `algorithm` is this key's.
    fn verifies(&self, algorithm: &str, message: &[u8], signature: &[u8]) -> Result<(), Untrusted> {
        if self.algorithm.as_deref().is_some_and(|own| own != algorithm) {
            return Err(Untrusted::Algorithm(algorithm.to_owned()));
        }
        let verified = match (&self.material, algorithm) {
            (Material::Rsa { n, e }, algorithm) => {
                let by = match algorithm {
                    "RS256" => &signature::RSA_PKCS1_2048_8192_SHA256,
                    "RS384" => &signature::RSA_PKCS1_2048_8192_SHA384,
                    "RS512" => &signature::RSA_PKCS1_2048_8192_SHA512,
                    "PS256" => &signature::RSA_PSS_2048_8192_SHA256,
                    "PS384" => &signature::RSA_PSS_2048_8192_SHA384,
                    "PS512" => &signature::RSA_PSS_2048_8192_SHA512,
                    other => return Err(Untrusted::Algorithm(other.to_owned())),
                };
                RsaPublicKeyComponents { n, e }.verify(by, message, signature)
            }
            (Material::P256(point), "ES256") => {
                UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point)
                    .verify(message, signature)
            }
            (Material::P384(point), "ES384") => {
                UnparsedPublicKey::new(&signature::ECDSA_P384_SHA384_FIXED, point)
                    .verify(message, signature)
            }
            (Material::Ed25519(key), "EdDSA" | "Ed25519") => {
                UnparsedPublicKey::new(&signature::ED25519, key).verify(message, signature)
            }
            (_, other) => return Err(Untrusted::Algorithm(other.to_owned())),
        };
        verified.map_err(|_wrong| Untrusted::Signature)
    }
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

#[derive(Debug, Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    /// Extensions that a reader has to understand (RFC 7515, section 4.1.11): none is.
    crit: Option<Value>,
}

/// The claims of a token that one of the keys has signed.
pub(crate) fn verified(token: &str, keys: &[Key]) -> Result<Map<String, Value>, Untrusted> {
    if token.len() > MAX_TOKEN {
        return Err(Untrusted::Shape("it is longer than 64 kB"));
    }
    let mut parts = token.split('.');
    let (Some(head), Some(body), Some(sign), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(Untrusted::Shape("it has not three parts"));
    };
    let json = |part: &str| decoded(part).ok_or(Untrusted::Shape("a part is not base64url"));
    let header: Header = serde_json::from_slice(&json(head)?)
        .map_err(|_other| Untrusted::Shape("its head is no JSON with alg"))?;
    if header.crit.is_some() {
        return Err(Untrusted::Shape("its head asks for an extension"));
    }
    let signature = json(sign)?;
    let message = &token.as_bytes()[..head.len() + 1 + body.len()];
    let named: Vec<&Key> = match &header.kid {
        Some(id) => keys.iter().filter(|key| key.id.as_ref() == Some(id)).collect(),
        None => keys.iter().collect(),
    };
    let mut refused =
        Untrusted::UnknownKey(header.kid.clone().unwrap_or_default().chars().take(80).collect());
    for key in named {
        match key.verifies(&header.alg, message, &signature) {
            Ok(()) => {
                return serde_json::from_slice(&json(body)?)
                    .map_err(|_other| Untrusted::Shape("its claims are no JSON object"));
            }
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;
    use ring::rand::SystemRandom;
    use ring::signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
    };
    use serde_json::json;

    use super::*;

    /// A key pair of a provider in tests.
    pub(crate) struct Signer(Ed25519KeyPair);

    impl Signer {
        pub(crate) fn new() -> Self {
            let bytes = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
            Self(Ed25519KeyPair::from_pkcs8(bytes.as_ref()).expect("a key"))
        }

        pub(crate) fn published(&self) -> Value {
            let x = URL_SAFE_NO_PAD.encode(self.0.public_key().as_ref());
            json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "kid": "a", "x": x,
                "use": "sig" }] })
        }

        pub(crate) fn token(&self, head: &Value, claims: &Value) -> String {
            let message = message(head, claims);
            let sign = URL_SAFE_NO_PAD.encode(self.0.sign(message.as_bytes()).as_ref());
            format!("{message}.{sign}")
        }
    }

    fn message(head: &Value, claims: &Value) -> String {
        let text = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        format!("{}.{}", text(head), text(claims))
    }

    #[test]
    fn a_token_of_a_published_key_is_read_and_one_of_another_is_not() {
        let (ours, other) = (Signer::new(), Signer::new());
        let head = json!({ "alg": "EdDSA", "kid": "a" });
        let token = ours.token(&head, &json!({ "sub": "kim" }));
        assert_eq!(verified(&token, &keys(&ours.published())).expect("ours")["sub"], "kim");
        assert_eq!(verified(&token, &keys(&other.published())), Err(Untrusted::Signature));
        let unknown = ours.token(&json!({ "alg": "EdDSA", "kid": "b" }), &json!({}));
        assert_eq!(
            verified(&unknown, &keys(&ours.published())),
            Err(Untrusted::UnknownKey("b".into()))
        );
    }

    #[test]
    fn a_token_cannot_choose_its_algorithm() {
        let ours = Signer::new();
        let published = keys(&ours.published());
        for algorithm in ["none", "None", "HS256", "RS256", "ES256", ""] {
            let token = ours.token(&json!({ "alg": algorithm }), &json!({ "sub": "kim" }));
            assert_eq!(verified(&token, &published), Err(Untrusted::Algorithm(algorithm.into())));
        }
        let unsigned = format!("{}.", message(&json!({ "alg": "none" }), &json!({})));
        assert!(verified(&unsigned, &published).is_err());
        let critical =
            ours.token(&json!({ "alg": "EdDSA", "crit": ["b64"], "b64": false }), &json!({}));
        assert!(matches!(verified(&critical, &published), Err(Untrusted::Shape(_))));
    }

    #[test]
    fn an_elliptic_key_verifies_its_own_signatures() {
        let random = SystemRandom::new();
        let by = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let bytes = EcdsaKeyPair::generate_pkcs8(by, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(by, bytes.as_ref(), &random).expect("a key");
        let point = pair.public_key().as_ref();
        let (x, y) = (URL_SAFE_NO_PAD.encode(&point[1..33]), URL_SAFE_NO_PAD.encode(&point[33..]));
        let set = json!({ "keys": [
            { "kty": "EC", "crv": "P-256", "x": x, "y": y, "use": "enc" },
            { "kty": "EC", "crv": "P-256", "x": x, "y": y, "alg": "ES256" },
        ] });
        assert_eq!(keys(&set).len(), 1, "a key for encryption signs nothing");
        let message = message(&json!({ "alg": "ES256" }), &json!({ "sub": "kim" }));
        let sign = pair.sign(&random, message.as_bytes()).expect("signed");
        let token = format!("{message}.{}", URL_SAFE_NO_PAD.encode(sign.as_ref()));
        assert_eq!(verified(&token, &keys(&set)).expect("ours")["sub"], "kim");
    }

    proptest! {
        #[test]
        fn one_changed_character_of_a_token_is_refused(place in 0usize..1000,
            by in "[A-Za-z0-9_.-]") {
            let ours = Signer::new();
            let token = ours.token(&json!({ "alg": "EdDSA", "kid": "a" }),
                &json!({ "sub": "kim", "aud": "pdm" }));
            let place = place % token.len();
            let changed = format!("{}{by}{}", &token[..place], &token[place + 1..]);
            let read = verified(&changed, &keys(&ours.published()));
            prop_assert!(changed == token || read.is_err());
        }

        #[test]
        fn no_text_is_a_token_or_a_panic(text in ".{0,200}", set in ".{0,40}") {
            let keys = keys(&json!({ "keys": [{ "kty": "RSA", "n": set, "e": "AQAB" }, set] }));
            prop_assert!(verified(&text, &keys).is_err());
        }
    }
}
