//! `[tools]` of `agent.toml`: the folder of the tools, and the meaning of the names in them.
//!
//! ```toml
//! [tools]
//! folder = "tools"
//! packs = ["etf-atlas"]                    # packs that are turned on, each a folder of tools and data
//! pack_folder = "packs"                    # where own packs stand, beside those of the program
//! domains = ["maintenance"]                # beside data, analysis, insight, content, business
//! hosts = ["cmms.plant:8443"]              # whom `http` tools may ask
//! [tools.databases]
//! assets = "assets.db"                     # what `sql` tools may read: a SQLite file,
//! [tools.databases.cmms]                   # or a server, with the keys of [store.postgres]
//! url = "postgres://reader@db.plant.example/cmms"
//! # the server `edge` is `pdm-edge mcp` unless it is named here
//! [tools.servers.cmms]
//! program = "cmms-mcp"                     # or url = "https://…/mcp", token = { env = "…" }
//! arguments = ["--stdio"]
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pdm_service::config::ConfigError;
use pdm_service::secret::{LiveSecret, SecretError, SecretSource};
use serde::Deserialize;

use super::exec::http::Web;
use super::exec::mcp::{Endpoint, Servers};
use super::exec::sql::{DatabasePlace, Databases};
use super::pack::PackPlace;
use super::runtime::ExecutorResources;
use super::sources::Sources;

/// `[tools]`
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolSettings {
    /// The folder of the tools' files; absent: the tools that come with the program.
    pub folder: Option<PathBuf>,
    /// The packs that are turned on.
    pub packs: Vec<String>,
    /// A folder of packs beside those that come with the program.
    pub pack_folder: Option<PathBuf>,
    /// Domains of tools beside those of the tool specification.
    pub domains: Vec<String>,
    /// Hosts that `http` tools may ask: `host` or `host:port`.
    pub hosts: Vec<String>,
    /// Databases that `sql` tools may read, by name.
    pub databases: BTreeMap<String, DatabasePlace>,
    /// MCP servers whose tools `mcp` tools may use, by name.
    pub servers: BTreeMap<String, ServerSettings>,
}

/// `[tools.servers.NAME]`: a program or an address.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerSettings {
    /// A program, started as a child and reached over its standard input and output.
    pub program: Option<String>,
    /// The program's arguments.
    pub arguments: Vec<String>,
    /// Environment variables beside this program's own.
    pub environment: BTreeMap<String, String>,
    /// An address, reached over streamable HTTP.
    pub url: Option<String>,
    /// The bearer token for `url`.
    pub token: Option<SecretSource>,
}

/// The server that judges series, which is there without a word in the settings.
const EDGE: &str = "edge";

/// `pdm-edge mcp`: the program beside this one, or the one on the path.
fn beside() -> Endpoint {
    let own = std::env::current_exe().ok();
    let beside = own.and_then(|own| Some(own.parent()?.join("pdm-edge")));
    let program = beside.filter(|program| program.is_file());
    let program = program.unwrap_or_else(|| PathBuf::from("pdm-edge"));
    Endpoint::Child {
        program: program.display().to_string(),
        arguments: vec!["mcp".to_owned()],
        environment: BTreeMap::new(),
    }
}

impl ToolSettings {
    /// Checks all settings that can be checked without I/O.
    ///
    /// # Errors
    /// [`ConfigError`] with the key, its value and what is allowed.
    pub fn check(&self, path: &Path) -> Result<(), ConfigError> {
        for host in &self.hosts {
            if host.is_empty() || host.contains(['/', '@', ' ', '*']) {
                let allowed = "host or host:port, without scheme, path or wildcard";
                return Err(ConfigError::value(path, "tools.hosts", host, allowed));
            }
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let packs = self.pack_folder.as_deref().map(|packs| folder.join(packs));
        if let Some(packs) = packs.as_deref().filter(|packs| !packs.is_dir()) {
            let allowed = "a folder of packs";
            return Err(ConfigError::value(path, "tools.pack_folder", packs.display(), allowed));
        }
        for (index, name) in self.packs.iter().enumerate() {
            if let Err(known) = PackPlace::find(name, packs.as_deref()) {
                return Err(ConfigError::value(path, "tools.packs", name, known));
            }
            if self.packs[..index].contains(name) {
                return Err(ConfigError::value(path, "tools.packs", name, "each pack once"));
            }
        }
        if let Some(domain) = self.domains.iter().find(|domain| domain.trim().is_empty()) {
            return Err(ConfigError::value(path, "tools.domains", domain, "a word"));
        }
        for (name, place) in &self.databases {
            if let DatabasePlace::Postgres(server) = place {
                server.check(path, &format!("tools.databases.{name}"))?;
            }
        }
        for (name, server) in &self.servers {
            if server.program.is_some() == server.url.is_some() {
                let key = format!("tools.servers.{name}");
                let given = if server.url.is_some() { "program and url" } else { "neither" };
                return Err(ConfigError::value(path, key, given, "either program or url"));
            }
        }
        Ok(())
    }

    /// The settings with relative paths resolved against `folder`.
    #[must_use]
    pub fn rooted(mut self, folder: &Path) -> Self {
        self.folder = self.folder.map(|tools| folder.join(tools));
        self.pack_folder = self.pack_folder.map(|packs| folder.join(packs));
        for place in self.databases.values_mut() {
            place.root(folder);
        }
        for server in self.servers.values_mut() {
            server.token = server.token.take().map(|token| token.rooted(folder));
        }
        self
    }

    /// Returns the sources of the tools. A pack that is not there is left out
    /// ([`ToolSettings::check`] has refused it).
    pub fn sources(&self) -> Sources {
        let place = |name: &String| PackPlace::find(name, self.pack_folder.as_deref()).ok();
        Sources {
            folder: self.folder.clone(),
            packs: self.packs.iter().filter_map(place).collect(),
            domains: self.domains.clone(),
        }
    }

    /// The resources of the executors that the settings define. The program adds functions and the
    /// knowledge base.
    ///
    /// # Errors
    /// [`SecretError`] if a token cannot be read.
    pub fn means(&self) -> Result<ExecutorResources, SecretError> {
        let mut endpoints = BTreeMap::from([(EDGE.to_owned(), beside())]);
        for (name, server) in &self.servers {
            let endpoint = match (&server.program, &server.url) {
                (Some(program), _) => Endpoint::Child {
                    program: program.clone(),
                    arguments: server.arguments.clone(),
                    environment: server.environment.clone(),
                },
                (None, Some(url)) => Endpoint::Http {
                    url: url.clone(),
                    token: server.token.clone().map(LiveSecret::open).transpose()?,
                },
                // `check` has refused this case
                (None, None) => continue,
            };
            endpoints.insert(name.clone(), endpoint);
        }
        Ok(ExecutorResources {
            databases: Databases::new(self.databases.clone()),
            web: (!self.hosts.is_empty()).then(|| Web::allowing(self.hosts.iter().cloned())),
            servers: Arc::new(Servers::new(endpoints)),
            ..ExecutorResources::default()
        })
    }
}
