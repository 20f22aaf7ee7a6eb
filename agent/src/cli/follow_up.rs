//! `pdm-agent follow-up`: lists the actions that a judgement recommends, and records their
//! progress.

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use pdm_service::clock::{Clock, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_shared::id::EventId;

use super::failure;
use crate::service::connect_store;
use crate::settings::AgentSettings;
use crate::store::{FollowUp, FollowUpState, Store};

/// Arguments of `follow-up`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent follow-up 01936f3e-7c1a-7b52-9a6e-2f0d5c8e4b11 --config /etc/pdm/agent.toml
  pdm-agent follow-up 01936f3e-7c1a-7b52-9a6e-2f0d5c8e4b11 --number 1 --state done --by kim \\
            --note '6205 C3 교체'

Exit codes: 0 listed or recorded, 64 wrong arguments, 66 no such judgement or action, 69 store
unavailable, 78 bad configuration")]
pub struct Args {
    /// The event that was judged
    event_id: EventId,
    /// Number of the action, from 1; without it all actions are listed
    #[arg(long, requires = "state", requires = "by")]
    number: Option<usize>,
    /// New state of the action
    #[arg(long, value_enum, requires = "number")]
    state: Option<ActionState>,
    /// Person who reports the state
    #[arg(long, requires = "number")]
    by: Option<String>,
    /// Remark of that person
    #[arg(long, requires = "number")]
    note: Option<String>,
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
    config: PathBuf,
}

/// The state of an action.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ActionState {
    /// Nobody has started the action
    Open,
    /// The action is done
    Done,
    /// The action will not be done
    Dropped,
}

impl From<ActionState> for FollowUpState {
    fn from(state: ActionState) -> Self {
        match state {
            ActionState::Open => Self::Open,
            ActionState::Done => Self::Done,
            ActionState::Dropped => Self::Dropped,
        }
    }
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let settings = AgentSettings::read(&args.config).map_err(failure::config)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(failure::runtime)?;
    let actions = runtime.block_on(async {
        let store = connect_store(&settings.store).await.map_err(failure::store)?;
        let actions = follow(args, store.as_ref(), args.event_id).await;
        store.close().await;
        actions
    })?;
    let mut out = pdm_service::command_line::stdout();
    for (number, follow) in actions.iter().enumerate() {
        writeln!(out, "{}", line(number + 1, follow))?;
    }
    Ok(Exit::Ok)
}

async fn follow(
    args: &Args,
    store: &dyn Store,
    event_id: EventId,
) -> Result<Vec<FollowUp>, Failure> {
    let mut actions = store.follow_up(event_id).await.map_err(failure::store)?;
    let missing = |what: String| Failure::new(Exit::NoInput, anyhow::anyhow!(what));
    if actions.is_empty() {
        return Err(missing(format!("nothing is to be done because of event {event_id}")));
    }
    let (Some(number), Some(state)) = (args.number, args.state) else { return Ok(actions) };
    let all = actions.len();
    let Some(action) = number.checked_sub(1).and_then(|at| actions.get_mut(at)) else {
        return Err(missing(format!("there is no action {number}; there are 1 to {all}")));
    };
    action.state = state.into();
    action.by.clone_from(&args.by);
    action.at = Some(SystemClock.now());
    action.note.clone_from(&args.note);
    store.follow(event_id, &actions).await.map_err(failure::store)?;
    Ok(actions)
}

/// An action on one line: number, state, text, due time, person.
pub(super) fn line(number: usize, follow: &FollowUp) -> String {
    let state = match follow.state {
        FollowUpState::Open => "open",
        FollowUpState::Done => "done",
        FollowUpState::Dropped => "dropped",
    };
    let due = follow.due_at.map_or_else(String::new, |at| format!("  ~ {at}"));
    let by = match (&follow.by, follow.at) {
        (Some(by), Some(at)) => format!("  ({by}, {at})"),
        (Some(by), None) => format!("  ({by})"),
        (None, _) => String::new(),
    };
    let note = follow.note.as_deref().map_or_else(String::new, |note| format!("  {note}"));
    let action = &follow.action;
    format!("{number:2}. [{state}] {} / {}{due}{by}{note}", action.ko, action.en)
}
