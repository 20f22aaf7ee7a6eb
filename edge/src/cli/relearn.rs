//! `pdm-edge relearn`: clears baseline, alarm and trend of a bearing that was replaced.
//!
//! A running service is asked over its admin listener. With `--stopped` the memory of a service
//! that does not run is deleted from the spool; waiting events stay.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use pdm_service::clock::SystemClock;
use pdm_service::exit::Exit;

use super::run::{runtime, spool_exit};
use super::{Failure, print};
use crate::pipeline::point::{memory_key, pasts_key};
use crate::settings::{self, AdminSettings, EdgeSettings};
use crate::spool::Spool;

/// Longest time of the service's answer, which takes milliseconds unless the machine is overloaded.
const PATIENCE: Duration = Duration::from_secs(10);

/// Arguments of `relearn`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  pdm-edge relearn --config config/edge.toml P-101/DE
  pdm-edge relearn --config config/edge.toml P-101/DE --stopped

Exit codes: 0 forgotten, 64 no such bearing, 69 the service does not answer, 74 the spool cannot \
    be \
opened, 78 the configuration is wrong")]
pub struct Args {
    /// Configuration file of the service
    #[arg(long, value_name = "FILE", env = "PDM_EDGE_CONFIG")]
    pub config: PathBuf,
    /// The bearing
    #[arg(value_name = "EQUIPMENT/BEARING")]
    pub bearing: String,
    /// The service does not run: change its memory in the spool
    #[arg(long)]
    pub stopped: bool,
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`]: 78 for a configuration that cannot be used, 64 for a bearing that it does not
/// name, 69 for a service that does not answer, 74 for a spool that cannot
/// be opened.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let (settings, _log) =
        settings::read_settings(&args.config).map_err(|error| Failure::new(Exit::Config, error))?;
    let keys = memory_of(&settings, &args.bearing)?;
    if args.stopped {
        return runtime()?.block_on(forget(&settings, &keys, &args.bearing));
    }
    if settings.admin.is_none() {
        let why =
            "the configuration has no [admin] to ask the service over; stop it and use --stopped";
        return Err(Failure::new(Exit::Config, anyhow::anyhow!(why)).into());
    }
    request(&settings, "relearn", &args.bearing)
}

/// Asks the running service over its admin listener to do `what` with a bearing; prints the answer.
pub(super) fn request(settings: &EdgeSettings, what: &str, bearing: &str) -> anyhow::Result<Exit> {
    let Some(admin) = &settings.admin else {
        let why = anyhow::anyhow!("the configuration has no [admin] to ask the service over");
        return Err(Failure::new(Exit::Config, why).into());
    };
    let (status, text) = ask(admin, &format!("/{what}/{bearing}"))
        .map_err(|error| Failure::new(Exit::Unavailable, error))?;
    if status == 202 {
        print(&text)?;
        return Ok(Exit::Ok);
    }
    let why = anyhow::anyhow!("the service answers {status}: {}", text.trim_end());
    Err(Failure::new(if status == 401 { Exit::Config } else { Exit::Unavailable }, why).into())
}

/// The keys under which the points of a bearing are remembered.
fn memory_of(settings: &EdgeSettings, bearing: &str) -> anyhow::Result<Vec<String>> {
    let keys: Vec<String> = settings
        .sources
        .iter()
        .flat_map(|source| source.points.iter().map(move |point| (source, point)))
        .filter(|(_, point)| settings.key(point).within_site() == bearing)
        .flat_map(|(source, point)| {
            [memory_key, pasts_key].map(|key| key(&source.name, point.channel))
        })
        .collect();
    if keys.is_empty() {
        let known = settings.bearings().join(", ");
        let why = anyhow::anyhow!("no bearing {bearing} in the configuration; there is {known}");
        return Err(Failure::new(Exit::Usage, why).into());
    }
    Ok(keys)
}

async fn forget(settings: &EdgeSettings, keys: &[String], bearing: &str) -> anyhow::Result<Exit> {
    let opened =
        Spool::open(settings.spool.clone(), settings.gateway.clone(), Arc::new(SystemClock));
    let spool = opened.await.map_err(|error| Failure::new(spool_exit(&error), error))?;
    let forgotten = spool.forget(keys).await.map_err(|error| Failure::new(Exit::Io, error))?;
    spool.close().await;
    let what =
        if forgotten == 0 { "nothing was remembered" } else { "what was learnt is forgotten" };
    print(&format!("{bearing}: {what}\n"))?;
    Ok(Exit::Ok)
}

/// Sends the request to the service; returns status and text of the answer.
fn ask(admin: &AdminSettings, path: &str) -> anyhow::Result<(u16, String)> {
    let token = admin.token.as_ref().map(pdm_service::secret::SecretSource::fetch).transpose()?;
    let authorization = token
        .map_or_else(String::new, |token| format!("Authorization: Bearer {}\r\n", token.expose()));
    let address = here(admin.listen);
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)
        .with_context(|| format!("no service answers at {address}; is it running?"))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {address}\r\n{authorization}\
         Content-Length: 0\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.take(1 << 16).read_to_string(&mut answer)?;
    let (head, text) = answer.split_once("\r\n\r\n").context("the answer is not HTTP")?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok((status.context("the answer has no status")?, text.to_owned()))
}

/// The address at which this machine reaches a listener, which may listen on all addresses.
fn here(listen: SocketAddr) -> SocketAddr {
    if !listen.ip().is_unspecified() {
        return listen;
    }
    let loopback: std::net::IpAddr = match listen {
        SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
        SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
    };
    SocketAddr::new(loopback, listen.port())
}
