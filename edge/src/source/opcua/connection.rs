//! A session at a server: made once, used until its first fault, then given up.
//!
//! The client's own reconnecting is not used: what a server has forgotten over its restart
//! (session, subscriptions, indices of namespaces) is then never assumed. Every wait is bounded. A
//! panic inside the client ends its task, which is a lost connection here.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use opcua::client::{Client, ClientBuilder, IdentityToken, Session};
use opcua::types::{
    BrowsePath, DataValue, EUInformation, Identifier, NodeId, QualifiedName, ReadValueId,
    ReferenceTypeId, RelativePath, RelativePathElement, StatusCode, TimestampsToReturn, UAString,
    Variant,
};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use super::endpoint::{fitting, other_address, protection_text};
use super::pki::{self, Pki};
use super::reading::MOST_SAMPLES;
use super::{Namespace, NodeIdentifier, NodeName, OpcuaServer, log, unit};
use crate::source::SourceHost;

/// Most nodes of a request: small controllers take no more (100 and less of an S7-1200).
const MOST_NODES: usize = 50;

/// Largest answer, bytes: [`MOST_SAMPLES`] doubles, twice.
const MOST_BYTES: usize = 2 * 8 * MOST_SAMPLES;

/// Longest wait for a server to close a session.
const CLOSING: Duration = Duration::from_secs(1);

/// Time after which a server may forget a silent session, ms: short, so that a session that a
/// killed gateway leaves behind soon makes room.
const SESSION_TIMEOUT_MS: u32 = 60_000;

/// A session.
pub(super) struct Connection {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    pub(super) session: Arc<Session>,
    running: JoinHandle<StatusCode>,
    timeout: Duration,
    _pki: Pki,
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// The fault of certificates, endpoints, login or connection.
    pub(super) fn open(server: &OpcuaServer, host: &SourceHost) -> Result<Self, String> {
        let pki = Pki::new(server.protection.as_ref())?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("opcua")
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let mut client = client(server, &pki)?;
        let identity = identity(server)?;
        let until = server.timeout;
        let asked = async {
            let offered = client.get_server_endpoints_from_url(server.endpoint.as_str());
            let offered = within(until, offered).await?.map_err(|error| error.to_string())?;
            if let Some(announced) = other_address(&offered, &server.endpoint) {
                log::other_address(host, &server.endpoint, announced);
            }
            fitting(&offered, server, &pki)
        };
        let endpoint = runtime.block_on(asked)?;
        let made = client.connect_to_endpoint_directly(endpoint, identity);
        let (session, events) = made.map_err(|error| error.to_string())?;
        session.disable_reconnects();
        let running = runtime.spawn(events.run());
        let timeout = server.timeout;
        let mut connection = Self { runtime: Some(runtime), session, running, timeout, _pki: pki };
        connection.wait_until_connected()?;
        log::connected(host, &server.endpoint, &protection_text(server.protection.as_ref()));
        Ok(connection)
    }

    fn wait_until_connected(&mut self) -> Result<(), String> {
        let session = Arc::clone(&self.session);
        let Some(runtime) = &self.runtime else { return Err("closed".to_owned()) };
        let (running, timeout) = (&mut self.running, self.timeout);
        runtime.block_on(async {
            tokio::select! {
                connected = within(timeout, session.wait_for_connection()) => {
                    if connected? { Ok(()) } else { Err("no session is made".to_owned()) }
                }
                ended = running => Err(match ended {
                    Ok(status) => format!("the server refuses the session: {status}"),
                    Err(_panicked) => "the client has failed".to_owned(),
                }),
            }
        })
    }

    /// Runs a request, which has to be answered in time.
    ///
    /// # Errors
    /// The fault of the connection.
    pub(super) fn request<T>(
        &self,
        request: impl Future<Output = Result<T, opcua::types::Error>>,
    ) -> Result<T, String> {
        self.check()?;
        let Some(runtime) = &self.runtime else { return Err("closed".to_owned()) };
        runtime
            .block_on(within(self.timeout, request))?
            .map_err(|error| format!("the server answers {error}"))
    }

    /// Checks that the connection stands.
    ///
    /// # Errors
    /// That it is lost.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.running.is_finished() { Err("the connection is lost".to_owned()) } else { Ok(()) }
    }

    /// Reads nodes, in their order.
    ///
    /// # Errors
    /// The fault of the connection.
    pub(super) fn read(&self, nodes: &[NodeId]) -> Result<Vec<DataValue>, String> {
        let mut values = Vec::with_capacity(nodes.len());
        for some in nodes.chunks(MOST_NODES) {
            let ids: Vec<ReadValueId> = some.iter().map(ReadValueId::from).collect();
            let read = self.session.read(&ids, TimestampsToReturn::Both, 0.0);
            let answered = self.request(read)?;
            if answered.len() != some.len() {
                let (count, asked) = (answered.len(), some.len());
                return Err(format!("the server answers {count} values, {asked} are asked"));
            }
            values.extend(answered);
        }
        Ok(values)
    }

    /// The nodes of names, by the server's table of namespaces.
    ///
    /// # Errors
    /// The namespace that the server does not have, with those that it has.
    pub(super) fn resolve(
        &self,
        names: &[&NodeName],
        host: &SourceHost,
    ) -> Result<Vec<NodeId>, String> {
        let uris = self.namespaces()?;
        let node = |name: &&NodeName| -> Result<NodeId, String> {
            let index = match &name.namespace {
                Namespace::Uri(uri) => {
                    let place = uris.iter().position(|known| known == uri);
                    place.and_then(|place| u16::try_from(place).ok()).ok_or_else(|| {
                        let known = uris.join(", ");
                        format!("the server has no namespace {uri}; it has {known}")
                    })?
                }
                Namespace::Index(index) => {
                    if let Some(uri) = uris.get(usize::from(*index)).filter(|_| *index > 0) {
                        log::named_by_index(host, &name.to_string(), uri);
                    }
                    *index
                }
            };
            let identifier = match &name.identifier {
                NodeIdentifier::Numeric(number) => Identifier::Numeric(*number),
                NodeIdentifier::Text(text) => Identifier::String(UAString::from(text.as_str())),
                NodeIdentifier::Guid(guid) => Identifier::Guid((*guid).into()),
                NodeIdentifier::Opaque(bytes) => Identifier::ByteString(bytes.clone().into()),
            };
            Ok(NodeId { namespace: index, identifier })
        };
        names.iter().map(node).collect()
    }

    /// The URIs of the server's namespaces by their index.
    fn namespaces(&self) -> Result<Vec<String>, String> {
        // Server_NamespaceArray
        let value = self.read(&[NodeId::new(0, 2255u32)])?.remove(0);
        let Some(Variant::Array(array)) = value.value else {
            return Err("the server does not tell its namespaces".to_owned());
        };
        let uri = |value: &Variant| {
            if let Variant::String(uri) = value { uri.as_ref().to_owned() } else { String::new() }
        };
        Ok(array.values.iter().map(uri).collect())
    }

    /// The units that the server states for nodes (property `EngineeringUnits`).
    ///
    /// # Errors
    /// The fault of the connection; a server that knows no units has none.
    pub(super) fn units(&self, nodes: &[NodeId]) -> Result<Vec<Option<String>>, String> {
        let mut units = vec![None; nodes.len()];
        let mut found: Vec<(usize, NodeId)> = Vec::new();
        for (begin, some) in nodes.chunks(MOST_NODES).enumerate() {
            let paths: Vec<BrowsePath> = some.iter().map(unit_of).collect();
            let asked = self.session.translate_browse_paths_to_node_ids(&paths);
            let answered = match self.request(asked) {
                Ok(answered) => answered,
                // a small server that does not know the request
                Err(_) if self.check().is_ok() => return Ok(units),
                Err(why) => return Err(why),
            };
            for (at, result) in answered.into_iter().enumerate() {
                let target = result.targets.unwrap_or_default().into_iter().next();
                let target = target.filter(|_| result.status_code.is_good());
                if let Some(target) = target {
                    found.push((begin * MOST_NODES + at, target.target_id.node_id));
                }
            }
        }
        let ids: Vec<NodeId> = found.iter().map(|(_, id)| id.clone()).collect();
        for ((at, _), value) in found.iter().zip(self.read(&ids)?) {
            let Some(Variant::ExtensionObject(object)) = value.value else { continue };
            let Some(stated) = object.inner_as::<EUInformation>() else { continue };
            if let Some(unit) = units.get_mut(*at) {
                *unit = unit::spelling(stated);
            }
        }
        Ok(units)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        if !self.running.is_finished() {
            let session = Arc::clone(&self.session);
            // a server that does not answer forgets the session by itself
            let _closed = runtime
                .block_on(async { tokio::time::timeout(CLOSING, session.disconnect()).await });
        }
        runtime.shutdown_background();
    }
}

async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Result<T, String> {
    let waited = tokio::time::timeout(limit, work).await;
    waited.map_err(|_| format!("no answer within {:.1} s", limit.as_secs_f64()))
}

fn unit_of(node: &NodeId) -> BrowsePath {
    let element = RelativePathElement {
        reference_type_id: ReferenceTypeId::HasProperty.into(),
        is_inverse: false,
        include_subtypes: true,
        target_name: QualifiedName::new(0, "EngineeringUnits"),
    };
    BrowsePath {
        starting_node: node.clone(),
        relative_path: RelativePath { elements: Some(vec![element]) },
    }
}

fn client(server: &OpcuaServer, pki: &Pki) -> Result<Client, String> {
    let mut builder = ClientBuilder::new()
        .application_name("pdm-edge")
        .application_uri(server.application_uri.as_str())
        .product_uri("urn:pdm-edge")
        .session_name(server.session.as_str())
        .pki_dir(pki.folder())
        .create_sample_keypair(false)
        // the one certificate that is trusted may name another host
        .trust_server_certs(false)
        .verify_server_certs(false)
        .session_retry_limit(0)
        .session_timeout(SESSION_TIMEOUT_MS)
        .request_timeout(server.timeout)
        .keep_alive_interval(Duration::from_secs(5))
        .max_failed_keep_alive_count(1)
        .recreate_subscriptions(false)
        // a controller whose clock was never set
        .ignore_clock_skew(true)
        .max_array_length(MOST_SAMPLES)
        .max_message_size(MOST_BYTES)
        .max_chunk_count(0);
    if let Some(protection) = &server.protection {
        let key = std::path::absolute(&protection.certificates.key);
        let key = key.map_err(|error| error.to_string())?;
        builder = builder.certificate_path(pki.own()).private_key_path(key);
    }
    // without protection the client has no certificate, and calls that an error at each connection
    let quiet = tracing::subscriber::NoSubscriber::default();
    let made = tracing::subscriber::with_default(quiet, || builder.client());
    made.map_err(|errors| errors.join("; "))
}

fn identity(server: &OpcuaServer) -> Result<IdentityToken, String> {
    if let Some(user) = &server.user_certificate {
        let (certificate, key) =
            pki::of_user(user).map_err(|why| format!("opcua.user_certificate: {why}"))?;
        return Ok(IdentityToken::new_x509(certificate, key));
    }
    let Some(login) = &server.login else { return Ok(IdentityToken::Anonymous) };
    let password = login.password.fetch().map_err(|error| format!("opcua.password: {error}"))?;
    Ok(IdentityToken::new_user_name(login.user.as_str(), password.expose()))
}
