//! Signatures of a request.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use ring::hmac;
use serde::Deserialize;

use crate::filled::Filled;

/// How a request is signed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Signature {
    /// HMAC-SHA256 of the body, in hexadecimal digits.
    HmacSha256 {
        /// The name of the secret.
        secret: String,
        /// The header that carries it.
        header: String,
        /// The text before the digits.
        #[serde(default)]
        prefix: String,
    },
    /// NAVER Cloud's API gateway: method, address, time and access key.
    Ncp {
        /// The name of the value that holds the access key.
        access_key: String,
        /// The name of the secret.
        secret: String,
    },
}

impl Signature {
    /// The names of the value and the secret that it needs.
    pub(crate) fn needs(&self) -> (Option<&str>, &str) {
        match self {
            Self::HmacSha256 { secret, .. } => (None, secret),
            Self::Ncp { access_key, secret } => (Some(access_key), secret),
        }
    }

    /// The headers of a request at this time, milliseconds since 1970.
    pub(crate) fn headers(
        &self,
        request: &Request<'_>,
        filled: &Filled,
        unix_ms: i64,
    ) -> Result<HeaderMap, String> {
        let secret = |name: &str| filled.secret(name).ok_or_else(|| format!("secrets.{name}"));
        let mut headers = HeaderMap::new();
        let mut put = |name: &str, value: &str| {
            let name: HeaderName = name.parse().map_err(|_error| format!("header {name}"))?;
            let value = HeaderValue::from_str(value).map_err(|_error| format!("header {name}"))?;
            headers.insert(name, value);
            Ok::<(), String>(())
        };
        match self {
            Self::HmacSha256 { secret: name, header, prefix } => {
                let mut digits = String::new();
                for byte in mac(secret(name)?, request.body).as_ref() {
                    let _infallible = write!(digits, "{byte:02x}");
                }
                put(header, &format!("{prefix}{digits}"))?;
            }
            Self::Ncp { access_key, secret: name } => {
                let key = filled.value(access_key).ok_or_else(|| format!("values.{access_key}"))?;
                let signed = ncp(secret(name)?, key, request, unix_ms);
                put("x-ncp-apigw-timestamp", &unix_ms.to_string())?;
                put("x-ncp-iam-access-key", key)?;
                put("x-ncp-apigw-signature-v2", &signed)?;
            }
        }
        Ok(headers)
    }
}

/// The parts of a request that are signed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    /// The path with its query.
    pub(crate) path: &'a str,
    pub(crate) body: &'a [u8],
}

fn mac(secret: &str, text: &[u8]) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), text)
}

/// The signature of NAVER Cloud's API gateway, version 2. Source:
/// <https://api.ncloud-docs.com/docs/en/common-ncpapi>.
fn ncp(secret: &str, access_key: &str, request: &Request<'_>, unix_ms: i64) -> String {
    let (method, path) = (request.method, request.path);
    let text = format!("{method} {path}\n{unix_ms}\n{access_key}");
    STANDARD.encode(mac(secret, text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test case 2.
    #[test]
    fn the_mac_is_that_of_the_standard() {
        let filled = Filled::new([], [("key", "Jefe")]);
        let signature = Signature::HmacSha256 {
            secret: "key".to_owned(),
            header: "x-signature".to_owned(),
            prefix: "sha256=".to_owned(),
        };
        let body = b"what do ya want for nothing?";
        let request = Request { method: "POST", path: "/", body };
        let headers = signature.headers(&request, &filled, 0).expect("signed");
        assert_eq!(
            headers["x-signature"],
            "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    /// The value was made with Python's `hmac` from the recipe of the vendor's document.
    #[test]
    fn a_request_to_naver_cloud_is_signed_with_its_time() {
        let filled = Filled::new([("access_key", "ncp-key")], [("secret_key", "ncp-secret")]);
        let signature =
            Signature::Ncp { access_key: "access_key".to_owned(), secret: "secret_key".to_owned() };
        let path = "/sms/v2/services/ncp:sms:kr:1:pdm/messages";
        let request = Request { method: "POST", path, body: b"ignored" };
        let headers = signature.headers(&request, &filled, 1_795_238_000_000).expect("signed");
        assert_eq!(headers["x-ncp-apigw-timestamp"], "1795238000000");
        assert_eq!(headers["x-ncp-iam-access-key"], "ncp-key");
        assert_eq!(
            headers["x-ncp-apigw-signature-v2"],
            "c6hSm1vY/VtlIyJLPrmcP6YicRy2qaKeZvAiNYAEdpQ="
        );
    }
}
