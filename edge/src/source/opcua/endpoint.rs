//! The endpoint of a server that fits the configuration, out of those that it offers.
//!
//! Invariants: an endpoint with less protection than configured is never taken; the server's
//! certificate is the configured one; a password is not sent readable unless that is configured.

use opcua::crypto::SecurityPolicy as Algorithms;
use opcua::types::{
    ByteString, EndpointDescription, MessageSecurityMode, UserTokenPolicy, UserTokenType,
};

use super::pki::Pki;
use super::{OpcuaServer, Protection, SecurityPolicy};

/// The endpoint with the configured protection and login; its address is the configured one.
///
/// # Errors
/// The endpoints that the server offers instead.
pub(super) fn fitting(
    offered: &[EndpointDescription],
    server: &OpcuaServer,
    pki: &Pki,
) -> Result<EndpointDescription, String> {
    let (policy, mode) = wanted(server.protection.as_ref());
    let fits = |endpoint: &&EndpointDescription| {
        endpoint.security_mode == mode
            && Algorithms::from_uri(endpoint.security_policy_uri.as_ref()) == policy
            && endpoint.endpoint_url.as_ref().starts_with("opc.tcp://")
    };
    let Some(endpoint) = offered.iter().find(fits) else {
        let mut texts: Vec<String> = offered.iter().map(shown).collect();
        texts.sort();
        texts.dedup();
        return Err(format!(
            "the server offers no endpoint with {}; it offers {}",
            protection_text(server.protection.as_ref()),
            if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
        ));
    };
    if let Some(trusted) = &pki.server
        && endpoint.server_certificate != trusted.as_byte_string()
    {
        return Err(format!(
            "the server shows another certificate ({}) than that of opcua.server_certificate",
            thumbprint(&endpoint.server_certificate)
        ));
    }
    check_login(endpoint, server)?;
    let mut endpoint = endpoint.clone();
    endpoint.endpoint_url = server.endpoint.as_str().into();
    // a token without a policy of its own has that of the channel (part 4, 7.42), which the client
    // takes for none
    let channel = endpoint.security_policy_uri.clone();
    for token in endpoint.user_identity_tokens.iter_mut().flatten() {
        if token.token_type == UserTokenType::Certificate && token.security_policy_uri.is_empty() {
            token.security_policy_uri = channel.clone();
        }
    }
    Ok(endpoint)
}

/// The address that a server announces, where it is another than the configured one.
pub(super) fn other_address<'a>(
    offered: &'a [EndpointDescription],
    configured: &str,
) -> Option<&'a str> {
    let host = |url: &str| {
        let rest = url.strip_prefix("opc.tcp://").unwrap_or(url);
        rest.split('/').next().unwrap_or(rest).to_lowercase()
    };
    let announced = offered.iter().map(|endpoint| endpoint.endpoint_url.as_ref());
    let own = host(configured);
    let mut others = announced.filter(|url| url.starts_with("opc.tcp://"));
    let first = others.next()?;
    (host(first) != own && others.all(|url| host(url) != own)).then_some(first)
}

/// Returns how messages are protected, for people.
pub(super) fn protection_text(protection: Option<&Protection>) -> String {
    let Some(Protection { policy, encrypts, .. }) = protection else {
        return "security none".to_owned();
    };
    let named = SecurityPolicy::NAMES.iter().find(|(_, known)| known == policy);
    let mode = if *encrypts { "sign_and_encrypt" } else { "sign" };
    format!("security {} ({mode})", named.map_or("", |(name, _)| name))
}

fn wanted(protection: Option<&Protection>) -> (Algorithms, MessageSecurityMode) {
    let Some(Protection { policy, encrypts, .. }) = protection else {
        return (Algorithms::None, MessageSecurityMode::None);
    };
    let policy = match policy {
        SecurityPolicy::Basic256Sha256 => Algorithms::Basic256Sha256,
        SecurityPolicy::Aes128Sha256RsaOaep => Algorithms::Aes128Sha256RsaOaep,
        SecurityPolicy::Aes256Sha256RsaPss => Algorithms::Aes256Sha256RsaPss,
    };
    let mode =
        if *encrypts { MessageSecurityMode::SignAndEncrypt } else { MessageSecurityMode::Sign };
    (policy, mode)
}

/// Checks that the endpoint takes the configured login.
fn check_login(endpoint: &EndpointDescription, server: &OpcuaServer) -> Result<(), String> {
    let policies = endpoint.user_identity_tokens.as_deref().unwrap_or_default();
    let of_type = |wanted: UserTokenType| policies.iter().find(|one| one.token_type == wanted);
    if server.user_certificate.is_some() {
        if of_type(UserTokenType::Certificate).is_some() {
            return Ok(());
        }
        let taken = token_names(policies);
        return Err(format!("the server takes no user certificate at this endpoint, but {taken}"));
    }
    if server.login.is_none() {
        if policies.is_empty() || of_type(UserTokenType::Anonymous).is_some() {
            return Ok(());
        }
        let taken = token_names(policies);
        return Err(format!(
            "the server takes no anonymous session, but {taken}; opcua.user and password, or \
             opcua.user_certificate and user_key, log in"
        ));
    }
    let Some(token) = of_type(UserTokenType::UserName) else {
        return Err("the server takes no user with a password at this endpoint".to_owned());
    };
    if is_readable(token, endpoint) && !server.plain_password {
        return Err("the password would be sent readable; security protects it, or \
                    opcua.plain_password = true allows it"
            .to_owned());
    }
    Ok(())
}

/// The ways to log in that an endpoint takes.
fn token_names(policies: &[UserTokenPolicy]) -> String {
    let name = |policy: &UserTokenPolicy| match policy.token_type {
        UserTokenType::Anonymous => "anonymous",
        UserTokenType::UserName => "a user with a password",
        UserTokenType::Certificate => "a user certificate",
        UserTokenType::IssuedToken => "a token of another server",
    };
    let mut names: Vec<&str> = policies.iter().map(name).collect();
    names.dedup();
    if names.is_empty() { "no other".to_owned() } else { names.join(", ") }
}

/// Whether a password travels readable: neither its own policy nor that of the channel encrypts it.
fn is_readable(token: &UserTokenPolicy, endpoint: &EndpointDescription) -> bool {
    let own = token.security_policy_uri.as_ref();
    let policy = if own.is_empty() { endpoint.security_policy_uri.as_ref() } else { own };
    Algorithms::from_uri(policy) == Algorithms::None
        && endpoint.security_mode != MessageSecurityMode::SignAndEncrypt
}

fn shown(endpoint: &EndpointDescription) -> String {
    let mode = match endpoint.security_mode {
        MessageSecurityMode::None => return "security none".to_owned(),
        MessageSecurityMode::Sign => "sign",
        MessageSecurityMode::SignAndEncrypt => "sign_and_encrypt",
        MessageSecurityMode::Invalid => "an invalid mode",
    };
    let uri: &str = endpoint.security_policy_uri.as_ref();
    let policy = uri.rsplit('#').next().unwrap_or(uri);
    format!("security {} ({mode})", policy.chars().take(40).collect::<String>())
}

fn thumbprint(certificate: &ByteString) -> String {
    opcua::crypto::X509::from_byte_string(certificate)
        .map_or_else(|_| "none".to_owned(), |read| read.thumbprint().as_hex_string())
}
