//! `pdm-agent mcp`: serves the tools to other programs, over standard input and output or over
//! HTTP.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use pdm_service::exit::{Exit, Failure};
use pdm_service::http::guard::Access;
use pdm_service::http::server;
use pdm_service::telemetry::{self, LogFormat};
use pdm_tools::Runtime;
use pdm_tools::mcp::http::router;
use pdm_tools::mcp::stdio;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::failure;
use super::place::ToolsPlace;

/// Arguments of `mcp`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent mcp --config /etc/pdm/agent.toml
  pdm-agent mcp --knowledge knowledge.db --http 127.0.0.1:8090  # http://127.0.0.1:8090/mcp

On an address other than loopback [http] token must be set. A tool that is saved into the folder \
takes effect at once. Exit codes: 0 the client disconnected or the server was stopped, 69 \
address in use, 78 bad configuration")]
pub struct Args {
    #[command(flatten)]
    place: ToolsPlace,
    /// Serve streamable HTTP at this address instead of standard input and output
    #[arg(long, value_name = "ADDR:PORT")]
    http: Option<SocketAddr>,
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    telemetry::start(LogFormat::Text, "info");
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let tokio = tokio.map_err(failure::runtime)?;
    let served = tokio.block_on(serve(&args.place, args.http));
    // reading standard input blocks a thread that nothing can interrupt
    tokio.shutdown_background();
    served?;
    Ok(Exit::Ok)
}

async fn serve(place: &ToolsPlace, http: Option<SocketAddr>) -> Result<(), Failure> {
    let placed = place.read()?;
    let stop = pdm_service::shutdown::on_signal().map_err(failure::runtime)?;
    let runtime = placed.runtime().await?;
    match runtime.catalogue().watch() {
        Ok(watching) => drop(tokio::spawn(watching)),
        Err(error) => tracing::warn!(%error, "Tools are not reloaded while running."),
    }
    let Some(listen) = http else {
        let served = stdio::serve(runtime, stop.cancelled()).await;
        return served.map_err(|error| Failure::new(Exit::BadInput, error));
    };
    let token = placed.agent().map_or(Ok(None), |agent| agent.http.token());
    let token = token.map_err(|error| Failure::new(Exit::Config, error))?;
    let access = Access::new(listen, token).map_err(|error| Failure::new(Exit::Config, error))?;
    let access = access.renewing(placed.agent().and_then(|agent| agent.http.token.clone()));
    listen_at(listen, runtime, access, stop).await
}

async fn listen_at(
    listen: SocketAddr,
    runtime: Arc<Runtime>,
    access: Access,
    stop: CancellationToken,
) -> Result<(), Failure> {
    let unavailable = |error: std::io::Error| {
        Failure::new(Exit::Unavailable, anyhow::Error::new(error).context(listen.to_string()))
    };
    let listener = TcpListener::bind(listen).await.map_err(unavailable)?;
    let address = listener.local_addr().map_err(unavailable)?;
    tracing::info!(%address, "MCP is served at /mcp.");
    let app = Router::new().nest("/mcp", router(runtime, access, stop.child_token()));
    server::serve(listener, app, stop).await;
    Ok(())
}
