//! `pdm-agent chat`: questions about the plant's bearings from the terminal.

use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pdm_reasoner::chat::{AnswerStep, Listener, Question, Said, Speaker};
use pdm_service::clock::{SharedClock, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_service::telemetry::{self, LogFormat};
use pdm_shared::id::BearingKey;

use super::with_store::with_store;
use super::{Lang, failure};
use crate::conversation::{Conversation, word};
use crate::model::LanguageModel;
use crate::notify::policy::Policy;
use crate::progress::Reporter;
use crate::service::install_cryptography;
use crate::service::tooling::{StoreParts, Tooling};
use crate::settings::AgentSettings;

/// Arguments of `chat`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent chat --config /etc/pdm/agent.toml '가장 위험한 베어링은? 왜?'
  pdm-agent chat --config /etc/pdm/agent.toml --bearing ulsan-1/P-101/DE

Without a question, one is read from each line of standard input. Without [reasoner], or where \
the model does not answer, answers are extracted from records and documents and say so.

Exit codes: 0 answered, 64 wrong arguments, 69 store unavailable, 78 bad configuration")]
pub struct Args {
    /// The question
    question: Option<String>,
    /// The bearing that it is about: SITE/EQUIPMENT/BEARING
    #[arg(long)]
    bearing: Option<String>,
    /// Language of the answers
    #[arg(long, value_enum, default_value_t = Lang::Ko)]
    lang: Lang,
    /// Print each answer as one line of JSON
    #[arg(long)]
    json: bool,
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
    config: PathBuf,
}

/// Tells steps on standard error, so that standard output holds the answers.
struct Terminal;

impl Listener for Terminal {
    fn step(&self, step: &AnswerStep) {
        let names: Vec<&str> = step.tool_calls.iter().map(|call| call.name.as_str()).collect();
        let observed = step.observations.as_ref().map_or(0, |text| text.chars().count());
        let error = step.error.as_ref().map(|error| format!(", {error}")).unwrap_or_default();
        let (number, names) = (step.step_number, names.join(", "));
        // who has closed standard error wants no steps
        let _closed =
            writeln!(std::io::stderr(), "step {number}: {names} ({observed} characters{error})");
    }
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    install_cryptography();
    telemetry::start(LogFormat::Text, "error");
    let about = args.bearing.as_deref().map(bearing).transpose()?;
    let settings = AgentSettings::read(&args.config).map_err(failure::config)?;
    with_store(&settings.store, async |store| {
        let clock: SharedClock = Arc::new(SystemClock);
        let model = LanguageModel::open(&settings, store.opinions(), clock.clone());
        let model = model.map_err(|error| failure::start(error.into()))?;
        let policy = Policy::new(settings.notify.clone(), settings.broker.prefix.clone());
        let parts = StoreParts::of(store, &clock, policy, Reporter::new());
        let tooling = Tooling::open(&settings, Some(parts), model.as_ref());
        let tooling = tooling.await.map_err(failure::start)?;
        let conversation = Conversation::new(
            store.clone(),
            clock,
            tooling.runtime,
            model,
            settings.notify.table(Path::new("")),
            (settings.reports.clone(), settings.rules.clone()),
        );
        talk(args, &conversation, about).await
    })?;
    Ok(Exit::Ok)
}

fn bearing(text: &str) -> Result<BearingKey, Failure> {
    let mut names = text.splitn(3, '/');
    let mut next = || names.next().unwrap_or_default();
    BearingKey::parse(next(), next(), next()).map_err(|error| {
        let told =
            anyhow::anyhow!("--bearing is {text:?}, allowed is SITE/EQUIPMENT/BEARING: {error}");
        Failure::new(Exit::Usage, told)
    })
}

async fn talk(
    args: &Args,
    conversation: &Conversation,
    about: Option<BearingKey>,
) -> anyhow::Result<()> {
    let mut question =
        Question { message: String::new(), history: Vec::new(), about, language: args.lang.into() };
    if let Some(message) = &args.question {
        question.message.clone_from(message);
        return one(args, conversation, &mut question).await;
    }
    for line in std::io::stdin().lock().lines() {
        question.message = line?;
        if !question.message.trim().is_empty() {
            one(args, conversation, &mut question).await?;
        }
    }
    Ok(())
}

/// Answers one question, which becomes part of the conversation.
async fn one(
    args: &Args,
    conversation: &Conversation,
    question: &mut Question,
) -> anyhow::Result<()> {
    let answer = conversation.answer(question, &Terminal).await;
    let mut out = pdm_service::command_line::stdout();
    if args.json {
        serde_json::to_writer(&mut out, &answer).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        writeln!(out, "{}\n({})\n", answer.answer, word(answer.by))?;
    }
    let said = |role, content: &str| Said { role, content: content.to_owned() };
    question.history.push(said(Speaker::User, &question.message));
    question.history.push(said(Speaker::Assistant, &answer.answer));
    Ok(())
}
