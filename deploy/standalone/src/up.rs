//! `pdm up`: the whole chain in production on one machine. SIGHUP makes it read both files again;
//! one that is wrong leaves both as they are.

use std::sync::Arc;

use pdm_agent::configuration::AgentFile;
use pdm_agent::settings::AgentSettings;
use pdm_agent::traces::Telemetry;
use pdm_service::broker::ServerTls;
use pdm_service::exit::{Exit, Failure};
use pdm_service::telemetry::LogFormat;
use pdm_shared::text::Language;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::broker::BrokerSettings;
use crate::chain::{Chain, ChainSettings, Programs};
use crate::cli::UpArgs;
use crate::view::View;

/// The filter of the log. It holds nothing of the broker's server, which writes lines for every
/// connection that fails; the gate before it tells the first and every doubling.
const LOGGED: &str = "info,mqtt5=error,mqtt5::broker::server=off";

/// Runs the chain until it is stopped.
///
/// # Errors
/// The error of the part that did not start or failed, with its exit code.
pub(crate) fn run(args: &UpArgs, runtime: &Runtime) -> anyhow::Result<Exit> {
    let settings = settings(args)?;
    let telemetry = Telemetry::start(&settings.agent, LogFormat::Text, LOGGED);
    let telemetry = telemetry.map_err(|error| Failure::new(Exit::Unavailable, error))?;
    let done = runtime.block_on(chain(args, settings));
    telemetry.end();
    done
}

async fn chain(args: &UpArgs, settings: ChainSettings) -> anyhow::Result<Exit> {
    let stop = pdm_service::shutdown::on_signal()?;
    let mut view = View::new(Language::default(), None);
    let mut hang_up = signal(SignalKind::hangup())?;
    let file = Arc::new(AgentFile::new(&args.config.join("agent.toml")));
    let settings = ChainSettings { file: Some(Arc::clone(&file)), ..settings };
    let mut runs_with = Programs { agent: settings.agent.clone(), edge: settings.edge.clone() };
    let mut chain = Chain::start(settings).await?;
    loop {
        let new = tokio::select! {
            () = chain.watch(&mut view, &stop, args.exit) => break,
            new = renewed((args, &runs_with), &file, &mut hang_up,
                |why| chain.refuses_configuration(&why)) => new,
        };
        (chain, runs_with) = Box::pin(chain.renew(new, runs_with)).await?;
    }
    let summary = chain.stop().await?;
    view.finish();
    crate::print(&summary.to_string());
    Ok(Exit::Ok)
}

/// Waits for a SIGHUP, or for a page that wrote `agent.toml`, with two valid files. Where one is
/// wrong, or was cut off, both are refused, and the chain goes on.
async fn renewed(
    (args, now): (&UpArgs, &Programs),
    file: &AgentFile,
    hang_up: &mut Signal,
    refuse: impl Fn(String),
) -> Programs {
    loop {
        tokio::select! {
            signal = hang_up.recv() => if signal.is_none() {
                // the stream of signals has ended, so no SIGHUP can come any more
                file.written().await;
            },
            () = file.written() => {}
        }
        let config = args.config.display();
        let whole = programs(args).map_err(|error| format!("{error:#}"));
        let whole = whole.and_then(|programs| match torn_off(now, &programs) {
            None => Ok(programs),
            Some((file, torn)) => Err(format!("{}: {torn}", args.config.join(file).display())),
        });
        match whole {
            Ok(programs) => {
                tracing::info!(%config, "the configuration was read again, agent and edge start \
                    with it; [telemetry], log settings and the broker's arguments stay as they are \
                    until the program is started anew");
                return programs;
            }
            Err(error) => {
                tracing::error!(%config, error, "the new configuration is refused, the chain goes \
                    on with the one it has");
                refuse(error);
            }
        }
    }
}

/// The file that was cut off, and what it lacks.
fn torn_off(now: &Programs, new: &Programs) -> Option<(&'static str, String)> {
    let agent = now.agent.torn_off_in(&new.agent).map(|torn| ("agent.toml", torn));
    agent.or_else(|| now.edge.torn_off_in(&new.edge).map(|torn| ("edge.toml", torn)))
}

fn programs(args: &UpArgs) -> anyhow::Result<Programs> {
    let config = |error| Failure::new(Exit::Config, anyhow::Error::from(error));
    let (edge, _log) =
        pdm_edge::settings::read_settings(&args.config.join("edge.toml")).map_err(config)?;
    let agent = AgentSettings::read(&args.config.join("agent.toml")).map_err(config)?;
    Ok(Programs { agent, edge })
}

fn settings(args: &UpArgs) -> anyhow::Result<ChainSettings> {
    let Programs { agent, edge } = programs(args)?;
    let folder = args.broker_folder.clone().unwrap_or_else(|| args.config.join("broker"));
    let gateway = edge.broker.client_id.clone().unwrap_or_else(|| edge.gateway.as_str().to_owned());
    let outgoing = format!("{}-out", agent.broker.client_id);
    let own_client_ids = vec![gateway, agent.broker.client_id.clone(), outgoing];
    let broker = BrokerSettings {
        listen: args.listen,
        folder: Some(folder),
        tls: tls(args),
        own_client_ids,
    };
    Ok(ChainSettings { broker, agent, edge, file: None })
}

/// The certificates; clap has made sure that all three are there or none.
fn tls(args: &UpArgs) -> Option<ServerTls> {
    Some(ServerTls {
        certificate: args.tls_certificate.clone()?,
        key: args.tls_key.clone()?,
        client_ca: args.tls_ca.clone()?,
        crl: args.tls_crl.clone(),
    })
}
