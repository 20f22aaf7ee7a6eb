//! `pdm-agent check`: the configuration first, then every connection; one line each.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use pdm_knowledge::Knowledge;
use pdm_service::exit::{Exit, Failure};

use super::failure;
use crate::mqtt;
use crate::notify::email::Email;
use crate::notify::webhook::Webhook;
use crate::service::{StartError, connect_store, install_cryptography, tooling};
use crate::settings::AgentSettings;

/// Longest wait for each connection.
const WAIT: Duration = Duration::from_secs(10);

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  pdm-agent check --config /etc/pdm/agent.toml

The check publishes nothing and notifies nobody. Exit codes: 0 no error, 69 a connection failed,
78 bad configuration")]
pub struct Args {
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
    config: PathBuf,
    /// Check the configuration only
    #[arg(long)]
    offline: bool,
}

/// One checked item, with its error if there is one.
struct Finding {
    what: String,
    wrong: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    install_cryptography();
    let settings = AgentSettings::read(&args.config).map_err(failure::config)?;
    // also reads the files and secrets that the configuration names
    mqtt::options(&settings.broker, &settings.broker.client_id, 0)
        .map_err(|error| failure::start(error.into()))?;
    crate::service::channels(&settings.notify).map_err(failure::start)?;
    if let Some(listen) = settings.http.listen {
        crate::service::access(&settings.http, listen).map_err(failure::start)?;
    }
    settings.knowledge.check_keys().map_err(|error| failure::start(error.into()))?;
    let mut findings =
        vec![Finding { what: format!("configuration {}", args.config.display()), wrong: None }];
    findings.push(tools(&settings)?);
    if !args.offline {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failure::runtime)?;
        findings.extend(runtime.block_on(connections(&settings))?);
    }
    let mut out = pdm_service::command_line::stdout();
    for finding in &findings {
        match &finding.wrong {
            None => writeln!(out, "ok    {}", finding.what)?,
            Some(wrong) => writeln!(out, "FAIL  {}: {wrong}", finding.what)?,
        }
    }
    let failed = findings.iter().filter(|finding| finding.wrong.is_some()).count();
    if failed == 0 {
        return Ok(Exit::Ok);
    }
    let error = anyhow::anyhow!("{failed} of {} cannot be reached", findings.len());
    Err(Failure::new(Exit::Unavailable, error).into())
}

/// Checks the tools. The agent leaves out a broken tool; this command reports a configuration
/// error.
fn tools(settings: &AgentSettings) -> Result<Finding, Failure> {
    let (runtime, problems) =
        tooling::runtime(&settings.tools, None, None, None).map_err(failure::start)?;
    if let Some(first) = problems.first() {
        let error = anyhow::anyhow!("{first} ({} problems in all)", problems.len());
        return Err(Failure::new(Exit::Config, error));
    }
    let count = runtime.catalogue().current().names().len();
    Ok(Finding { what: format!("{count} tools"), wrong: None })
}

async fn connections(settings: &AgentSettings) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    // opened without migration, because an agent may be running on the store
    let answers = async {
        let store = connect_store(&settings.store).await?;
        let answer = store.ping().await;
        store.close().await;
        answer
    };
    let store = match answers.await {
        Ok(()) => None,
        Err(error) => Some(format!("{:#}", anyhow::Error::new(error))),
    };
    findings.push(Finding { what: format!("store {}", settings.store), wrong: store });
    let knowledge =
        async { Knowledge::probe(&settings.knowledge).await.err().map(|error| error.to_string()) };
    findings.push(Finding { what: "knowledge base".to_owned(), wrong: in_time(knowledge).await });
    for (attempt, address) in settings.broker.addresses.iter().enumerate() {
        findings.push(Finding {
            what: format!("broker {address}"),
            wrong: in_time(broker(settings, attempt)).await,
        });
    }
    if let Some(email) = &settings.notify.email {
        let probe = Email::new(email).map_err(|error| failure::start(StartError::Email(error)))?;
        findings.push(Finding {
            what: format!("mail server {}", email.host),
            wrong: in_time(async { probe.probe().await.err() }).await,
        });
    }
    for hook in &settings.notify.webhook {
        let probe =
            Webhook::new(hook).map_err(|error| failure::start(StartError::Webhook(error)))?;
        findings.push(Finding {
            what: format!("web hook {}", hook.name),
            wrong: in_time(async { probe.probe().await.err() }).await,
        });
    }
    if let Some(url) = settings.telemetry.traces_url() {
        let wrong = in_time(collector(&url)).await;
        findings.push(Finding { what: format!("trace collector {url}"), wrong });
    }
    Ok(findings)
}

/// Connects without sending a span. A collector that requires a token counts as reachable.
async fn collector(url: &str) -> Option<String> {
    let asked = reqwest::Client::new().post(url).header("content-type", "application/x-protobuf");
    match asked.send().await.map(|answer| answer.status()) {
        Ok(status) if status.is_server_error() || status == reqwest::StatusCode::NOT_FOUND => {
            Some(format!("answers {status}"))
        }
        Ok(_) => None,
        Err(error) => Some(format!("{:#}", anyhow::Error::new(error))),
    }
}

async fn in_time(probe: impl Future<Output = Option<String>>) -> Option<String> {
    tokio::time::timeout(WAIT, probe)
        .await
        .unwrap_or_else(|_elapsed| Some(format!("no answer within {} s", WAIT.as_secs())))
}

/// Connects under another client name, so that a running agent keeps its session.
async fn broker(settings: &AgentSettings, attempt: usize) -> Option<String> {
    use rumqttc::v5::mqttbytes::v5::Packet;
    use rumqttc::v5::{AsyncClient, Event};
    let client_id = format!("{}-check", settings.broker.client_id);
    let mut options = match mqtt::options(&settings.broker, &client_id, attempt) {
        Ok(options) => options,
        Err(error) => return Some(format!("{:#}", anyhow::Error::new(error))),
    };
    options.set_clean_start(true);
    let (client, mut events) = AsyncClient::new(options, 4);
    loop {
        match events.poll().await {
            Ok(Event::Incoming(Packet::ConnAck(_))) => {
                let _closing = client.try_disconnect();
                return None;
            }
            Ok(Event::Incoming(_) | Event::Outgoing(_)) => {}
            Err(error) => return Some(error.to_string()),
        }
    }
}
