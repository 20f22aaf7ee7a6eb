//! `pdm-agent check`: the configuration first, then every connection; one line each.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pdm_knowledge::Knowledge;
use pdm_knowledge::embed::local::LocalEmbedder;
use pdm_knowledge::settings::StoreChoice;
use pdm_reasoner::client::Client;
use pdm_reasoner::probe::{ProbeError, probe, speaks, writes_programs};
use pdm_reasoner::settings::{ChatActions, ReasonerSettings};
use pdm_report::settings::ReportSettings;
use pdm_script::ProgramHost;
use pdm_service::clock::{Clock as _, FollowingClock, SharedClock, SystemClock};
use pdm_service::error_chain::error_chain;
use pdm_service::exit::{Exit, Failure};
use pdm_service::files::writable_folder;
use pdm_store::{Store, StoreError, StoreSize, StoreTrouble};
use pdm_web::plant::ChannelRow;

use super::failure;
use crate::http::{bound, captures};
use crate::mqtt;
use crate::notify::email::Email;
use crate::notify::webhook::Webhook;
use crate::progress::BrokerLack;
use crate::service::channels::{channels, templated};
use crate::service::tooling::{self, ToolParts};
use crate::service::{StartError, connect_store, install_cryptography};
use crate::settings::{AgentSettings, StorePlace, WebhookSettings};

mod hearers;
mod pdf;
mod unmade;

/// Longest wait for each connection.
const WAIT: Duration = Duration::from_secs(10);

/// Largest file that `check` looks through, bytes: two seconds. `pdm-agent store verify` takes any.
const LOOKED_THROUGH: u64 = 256 << 20;

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  pdm-agent check --config /etc/pdm/agent.toml

The check publishes nothing, notifies nobody and makes no database. Exit codes: 0 no error, 69 a \
connection failed, 74 a file cannot be made or opened, 78 bad configuration")]
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
    let client_id = &settings.broker.client_id;
    for connection in [client_id.clone(), mqtt::outgoing_id(client_id)] {
        mqtt::options(&settings.broker, &connection, 0)
            .map_err(|error| failure::start(error.into()))?;
    }
    let clock: SharedClock = Arc::new(SystemClock);
    channels(&settings.notify, &settings.reports, &clock).map_err(failure::start)?;
    if settings.http.listen.is_some() {
        bound::check(&settings.http).map_err(|error| failure::start(error.into()))?;
    }
    let with_token = captures::check_tokens(&settings.gateways)
        .map_err(|error| failure::start(bound::ServerError::from(error).into()))?;
    if let Some(reasoner) = &settings.reasoner {
        reasoner.key().map_err(|error| {
            failure::start(StartError::Secret { key: "reasoner.key", source: error })
        })?;
    }
    settings.knowledge.check_keys().map_err(|error| failure::start(error.into()))?;
    let mut findings =
        vec![Finding { what: format!("configuration {}", args.config.display()), wrong: None }];
    findings.extend(waveforms(&settings, with_token));
    findings.extend(in_loop(&settings));
    findings.push(tools(&settings)?);
    findings.extend(pdf::reader(&settings.knowledge));
    let mut failed_with = Exit::Unavailable;
    findings.extend(documents(&settings.reports, &mut failed_with));
    if !args.offline {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failure::runtime)?;
        let (found, exit) = runtime.block_on(connections(&settings))?;
        findings.extend(found);
        if failed_with == Exit::Unavailable {
            failed_with = exit;
        }
    }
    let mut out = pdm_service::command_line::stdout();
    for finding in &findings {
        match &finding.wrong {
            None => writeln!(out, "ok    {}", finding.what)?,
            Some(wrong) => writeln!(out, "FAIL  {}: {wrong}", finding.what)?,
        }
    }
    let warnings = hearers::gaps(&settings).into_iter().chain(hearers::unheard(&settings));
    let warnings = warnings.chain(hearers::addresses(&settings));
    for warning in warnings.chain(pdf::absence(&settings.knowledge)) {
        writeln!(out, "warn  {warning}")?;
    }
    match failed(&findings) {
        None => Ok(Exit::Ok),
        Some(told) => Err(Failure::new(failed_with, anyhow::anyhow!(told)).into()),
    }
}

/// What did not pass, by name; what was reached may be unfit, so no line says that it was not.
fn failed(findings: &[Finding]) -> Option<String> {
    let names: Vec<&str> = findings
        .iter()
        .filter(|finding| finding.wrong.is_some())
        .map(|finding| finding.what.as_str())
        .collect();
    let (count, all) = (names.len(), findings.len());
    (count > 0).then(|| format!("{count} of {all} checks failed: {}", names.join("; ")))
}

/// Reports that reports and work orders cannot be written; `None` if they can be, or if none are
/// written.
fn documents(reports: &ReportSettings, exit: &mut Exit) -> Option<Finding> {
    let folder = reports.folder.as_deref().filter(|_| !reports.off)?;
    let (at, error) = writable_folder(&folder.join("report"), "pdm-agent").err()?;
    *exit = Exit::Io;
    let wrong = format!(
        "cannot write in {}: {error}; no alarm would have its report and work order",
        at.display()
    );
    Some(Finding { what: format!("documents in {}", folder.display()), wrong: Some(wrong) })
}

/// Reports where waveforms are kept, and how many gateways may send them.
fn waveforms(settings: &AgentSettings, with_token: usize) -> Option<Finding> {
    let captures = settings.captures.as_ref()?;
    let folder = captures.dir.as_deref().unwrap_or(std::path::Path::new("")).display();
    let what = format!(
        "captures {folder}, at most {} MB, of {with_token} gateways with a token",
        captures.max_mb
    );
    let wrong = settings
        .http
        .listen
        .is_none()
        .then(|| "gateways send them to http.listen, which is not set".to_owned());
    Some(Finding { what, wrong })
}

/// Reports which judgements wait for a language model in the loop, and which do not.
fn in_loop(settings: &AgentSettings) -> Option<Finding> {
    let judging = settings.judging;
    let model = settings.reasoner.as_ref().filter(|_| judging.has_model())?;
    let (name, from, at_once) = (&model.model, model.opinion.from, judging.at_once_from);
    let waiting = if from < at_once {
        let wait_s = judging.wait_s;
        format!(
            "news from {from} wait at most {wait_s} s for it, {at_once} by rules is told at once"
        )
    } else {
        format!("nothing waits for it, since all news from {from} are told at once")
    };
    Some(Finding {
        what: format!("judging by rules with {name} in the loop: {waiting}"),
        wrong: None,
    })
}

/// Checks the tools. The agent leaves out a broken tool; this command reports a configuration
/// error.
fn tools(settings: &AgentSettings) -> Result<Finding, Failure> {
    let parts =
        ToolParts { knowledge: None, embedder: Arc::new(LocalEmbedder), stored: None, model: None };
    let (runtime, problems) = tooling::runtime(&settings.tools, settings.tools.sources(), parts)
        .map_err(failure::start)?;
    if let Some(first) = problems.first() {
        let error = anyhow::anyhow!("{first} ({} problems in all)", problems.len());
        return Err(Failure::new(Exit::Config, error));
    }
    let count = runtime.catalogue().current().names().len();
    Ok(Finding { what: format!("{count} tools"), wrong: None })
}

/// Says how much room the store takes, and how much it may take.
fn room(size: StoreSize, max_bytes: u64) -> String {
    let mib = |bytes: u64| bytes >> 20;
    match max_bytes {
        0 => format!(", {} MiB in use, no ceiling (store.max_bytes)", mib(size.used_bytes)),
        most => {
            let percent = size.used_bytes.saturating_mul(100) / most;
            format!(", {} of {} MiB in use ({percent} %)", mib(size.used_bytes), mib(most))
        }
    }
}

/// Checks the store, and lists the ways to staff that it knows as failing.
async fn store(settings: &AgentSettings, exit: &mut Exit) -> Vec<Finding> {
    if let StorePlace::Sqlite(path) = &settings.store.place
        && let Some(unmade) = unmade::file(path)
    {
        return vec![unmade.finding(&format!("store {}", settings.store), exit)];
    }
    // opened without migration, because an agent may be running on the store
    let answers = async {
        let store = connect_store(&settings.store).await?;
        let answer = written(&store, &settings.store.place).await;
        let channels = store.outbox().channels(SystemClock.now()).await.unwrap_or_default();
        let size = store.retention().size().await.ok();
        store.close().await;
        answer.map(|()| (channels, size))
    };
    let mut size = None;
    let (wrong, channels) = match answers.await {
        Ok((channels, found)) => {
            size = found;
            (None, channels)
        }
        Err(error) => {
            let trouble = StoreTrouble::from(&error);
            if !trouble.may_end() {
                *exit = Exit::Config;
            } else if trouble == StoreTrouble::Unopened {
                *exit = Exit::Io;
            }
            (Some(error_chain(&error)), Vec::new())
        }
    };
    let room = size.map(|size| room(size, settings.store.max_bytes)).unwrap_or_default();
    let mut findings = vec![Finding { what: format!("store {}{room}", settings.store), wrong }];
    findings.extend(channels.iter().filter(|one| one.is_failing).map(undelivered));
    findings
}

/// Whether the knowledge base answers; a file that is not there is not made.
async fn knowledge(settings: &AgentSettings, exit: &mut Exit) -> Finding {
    let what = "knowledge base".to_owned();
    if let StoreChoice::Sqlite(path) = &settings.knowledge.store
        && let Some(unmade) = unmade::file(path)
    {
        return unmade.finding(&what, exit);
    }
    let answer =
        async { Knowledge::probe(&settings.knowledge).await.err().map(|error| error.to_string()) };
    Finding { what, wrong: in_time(answer).await }
}

/// Checks every connection; returns the findings, and the exit code if one of them fails.
async fn connections(settings: &AgentSettings) -> Result<(Vec<Finding>, Exit), Failure> {
    let mut exit = Exit::Unavailable;
    let mut findings = store(settings, &mut exit).await;
    findings.push(knowledge(settings, &mut exit).await);
    if let Some(reasoner) = &settings.reasoner {
        findings.push(model(reasoner).await?);
    }
    for (attempt, address) in settings.broker.addresses.iter().enumerate() {
        // asking for the version takes two more answers
        let wrong = tokio::time::timeout(3 * WAIT, broker(settings, attempt)).await;
        let wrong = wrong
            .unwrap_or_else(|_elapsed| Some(format!("no answer within {} s", 3 * WAIT.as_secs())));
        findings.push(Finding { what: format!("broker {address}"), wrong });
    }
    if let Some(email) = &settings.notify.email {
        let probe =
            Email::new(email, None).map_err(|error| failure::start(StartError::Email(error)))?;
        findings.push(Finding {
            what: format!("mail server {}", email.host),
            wrong: in_time(async { probe.probe().await.err() }).await,
        });
    }
    for hook in &settings.notify.webhook {
        findings.push(Finding {
            what: format!("web hook {}", hook.name),
            wrong: web_hook(hook).await?,
        });
    }
    if let Some((oidc, provider)) = settings.http.oidc.as_ref().zip(logins(settings)?) {
        let probe = async { provider.probe().await.err().map(|error| error_chain(&error)) };
        findings.push(Finding {
            what: format!("provider of logins {}", oidc.issuer),
            wrong: in_time(probe).await,
        });
    }
    if let Some(url) = settings.telemetry.traces_url() {
        let wrong = in_time(collector(&url)).await;
        findings.push(Finding { what: format!("trace collector {url}"), wrong });
    }
    Ok((findings, exit))
}

fn logins(settings: &AgentSettings) -> Result<Option<Arc<pdm_oidc::Provider>>, Failure> {
    bound::provider(&settings.http)
        .map_err(|error| failure::start(bound::ServerError::from(error).into()))
}

/// Writes a row, as the agent does all the time, and looks through a file of at most
/// [`LOOKED_THROUGH`] for damage. A store that no agent has opened yet has no tables, which is no
/// error.
async fn written(store: &Store, place: &StorePlace) -> Result<(), StoreError> {
    // an agent that is running has the row of the server's clock
    let clock = FollowingClock::new(Arc::new(SystemClock));
    let beat = async {
        store.lead(&clock).await?;
        store.beat(clock.now()).await
    };
    match tokio::time::timeout(WAIT, beat).await {
        Ok(Err(error)) if StoreTrouble::from(&error) != StoreTrouble::Schema => return Err(error),
        Ok(_) => {}
        Err(_elapsed) => store.diagnose().await?,
    }
    let StorePlace::Sqlite(path) = place else { return Ok(()) };
    if std::fs::metadata(path).is_ok_and(|file| file.len() > LOOKED_THROUGH) {
        return Ok(());
    }
    match store.damage().await?.first() {
        None => Ok(()),
        Some(first) => Err(StoreError::Content {
            what: "the file",
            reason: format!("damaged ({first}): look with `pdm-agent store verify`"),
        }),
    }
}

/// A way to staff that does not deliver.
fn undelivered(channel: &ChannelRow) -> Finding {
    let ChannelRow { lane, waiting, given_up, last_error, .. } = channel;
    let since = channel.failing_since.or(channel.given_up_at);
    let since = since.map(|at| format!("since {at}, ")).unwrap_or_default();
    let error = last_error.as_deref().unwrap_or("no reason was kept");
    let wrong = format!("{since}{waiting} wait, {given_up} given up within a week: {error}");
    Finding { what: format!("channel {lane}"), wrong: Some(wrong) }
}

/// Asks the receiver of a web hook whether it answers, and its token server for a token.
async fn web_hook(hook: &WebhookSettings) -> Result<Option<String>, Failure> {
    let clock: SharedClock = Arc::new(SystemClock);
    if let Some(set_up) = templated(hook, &clock).map_err(failure::start)? {
        return Ok(in_time(async { set_up.probe().await.err() }).await);
    }
    let probe = Webhook::new(hook).map_err(|error| failure::start(StartError::Webhook(error)))?;
    Ok(in_time(async { probe.probe().await.err() }).await)
}

/// Asks the language model for a call of a function, or for a JSON object if it makes none; for a
/// sentence in the language of the prompts; and for a program, if it is to write some in the chat.
async fn model(reasoner: &ReasonerSettings) -> Result<Finding, Failure> {
    let key = reasoner.key().map_err(|error| Failure::new(Exit::Config, error))?;
    let client =
        Client::new(reasoner, key).map_err(|error| Failure::new(Exit::Unavailable, error))?;
    let (name, url) = (&reasoner.model, &reasoner.base_url);
    let fit = async {
        let dialect = probe(&client, name).await?;
        speaks(&client, name, reasoner.language).await?;
        if reasoner.chat.actions == ChatActions::Calls {
            return Ok(dialect.as_str().to_owned());
        }
        writes_programs(&client, name, &ProgramHost::own_program()).await?;
        Ok::<_, ProbeError>(format!("{}; programs in the chat", dialect.as_str()))
    };
    Ok(match fit.await {
        Ok(way) => Finding { what: format!("language model {name} at {url} ({way})"), wrong: None },
        Err(error) => Finding {
            what: format!("language model {name} at {url}"),
            wrong: Some(error.to_string()),
        },
    })
}

/// Connects without sending a span. A collector that requires a token counts as reachable.
async fn collector(url: &str) -> Option<String> {
    let asked = reqwest::Client::new().post(url).header("content-type", "application/x-protobuf");
    match asked.send().await.map(|answer| answer.status()) {
        Ok(status) if status.is_server_error() || status == reqwest::StatusCode::NOT_FOUND => {
            Some(format!("answers {status}"))
        }
        Ok(_) => None,
        Err(error) => Some(error_chain(&error)),
    }
}

async fn in_time(probe: impl Future<Output = Option<String>>) -> Option<String> {
    tokio::time::timeout(WAIT, probe)
        .await
        .unwrap_or_else(|_elapsed| Some(format!("no answer within {} s", WAIT.as_secs())))
}

/// Connects under another client name, so that a running agent keeps its session, and with the
/// certificate of the connection that publishes: a broker that makes the certificate's name the
/// client id then ends that connection for a moment, for which nothing waits at the broker, and
/// never the one that takes events.
async fn broker(settings: &AgentSettings, attempt: usize) -> Option<String> {
    use rumqttc::v5::mqttbytes::v5::Packet;
    use rumqttc::v5::{AsyncClient, Event};
    let client_id = format!("{}-check", settings.broker.client_id);
    let identity = mqtt::outgoing_id(&settings.broker.client_id);
    let mut options = match mqtt::options_with(&settings.broker, &client_id, &identity, attempt) {
        Ok(options) => options,
        Err(error) => return Some(error_chain(&error)),
    };
    options.set_clean_start(true);
    let (client, mut events) = AsyncClient::new(options, 4);
    loop {
        match events.poll().await {
            Ok(Event::Incoming(Packet::ConnAck(ack))) => {
                let _closing = client.try_disconnect();
                return mqtt::version::lack_of(&ack).map(|lack| lack.told().to_owned());
            }
            Ok(Event::Incoming(_) | Event::Outgoing(_)) => {}
            Err(error) if mqtt::version::may_be_version(&error) => {
                let is_too_old = mqtt::version::speaks_311_alone(&settings.broker, attempt).await;
                let too_old = is_too_old.then(|| BrokerLack::Version5.told().to_owned());
                return Some(too_old.unwrap_or_else(|| error.to_string()));
            }
            Err(error) => return Some(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A database that was reached and is unfit was "cannot be reached".
    #[test]
    fn what_fails_is_named_and_not_said_to_be_out_of_reach() {
        let finding = |what: &str, wrong: Option<&str>| Finding {
            what: what.to_owned(),
            wrong: wrong.map(str::to_owned),
        };
        let good = finding("configuration agent.toml", None);
        let unfit = finding("store postgres://db/pdm", Some("server_encoding is SQL_ASCII"));
        assert_eq!(failed(std::slice::from_ref(&good)), None);
        let told = failed(&[good, unfit]).expect("one failed");
        assert_eq!(told, "1 of 2 checks failed: store postgres://db/pdm");
    }
}
