//! `pdm-agent follow-up`: lists the actions that a judgement recommends, and records their
//! progress.

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use pdm_service::clock::{Clock, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_shared::fault::Fault;
use pdm_shared::follow_up::{FOLLOW_UP_SCHEMA, FollowUpReport, Verdict, WorkFound};
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use pdm_store::{FollowUp, FollowUpState, Reported, Store};

use super::failure;
use super::with_store::with_store;
use crate::settings::AgentSettings;

/// Arguments of `follow-up`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent follow-up 01936f3e-7c1a-7b52-9a6e-2f0d5c8e4b11 --config /etc/pdm/agent.toml
  pdm-agent follow-up 01936f3e-7c1a-7b52-9a6e-2f0d5c8e4b11 --number 1 --state done --by kim \\
            --note '6205 C3 교체'
  pdm-agent follow-up 01936f3e-7c1a-7b52-9a6e-2f0d5c8e4b11 --state done --by kim --repaired \\
            --found right --element outer-race --cause '커플링 편심'

Without --number every open action of the judgement gets the state. --repaired together with a \
baseline that the edge learns anew (pdm-edge relearn) ends the bearing's episode.

Without PDM_AGENT_CONFIG in the environment each wants --config FILE.

Exit codes: 0 listed or recorded, 64 wrong arguments, 66 no such judgement or action, 69 store \
unavailable, 78 bad configuration")]
pub struct Args {
    /// The event that was judged
    event_id: EventId,
    /// Number of the action, from 1
    #[arg(long, requires = "state")]
    number: Option<u32>,
    /// New state; without it the actions are listed
    #[arg(long, value_enum, requires = "by")]
    state: Option<ActionState>,
    /// Person who reports the state
    #[arg(long, requires = "state")]
    by: Option<String>,
    /// Remark of that person
    #[arg(long, requires = "state")]
    note: Option<String>,
    /// The bearing was repaired or replaced
    #[arg(long, requires = "state")]
    repaired: bool,
    /// Whether the judgement was right, by what was found on the machine
    #[arg(long, value_enum, requires = "state")]
    found: Option<FoundVerdict>,
    /// Element that was damaged
    #[arg(long, value_enum, requires = "found")]
    element: Option<Element>,
    /// Cause that was found, in a few words
    #[arg(long, requires = "found")]
    cause: Option<String>,
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

/// The verdict of the inspection.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum FoundVerdict {
    /// The element was at fault as named
    Right,
    /// Nothing was wrong
    Wrong,
    /// Something else was wrong
    OtherCause,
}

/// An element of a bearing.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Element {
    /// Outer race
    OuterRace,
    /// Inner race
    InnerRace,
    /// Ball or roller
    Ball,
    /// Cage
    Cage,
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

impl From<FoundVerdict> for Verdict {
    fn from(found: FoundVerdict) -> Self {
        match found {
            FoundVerdict::Right => Self::Right,
            FoundVerdict::Wrong => Self::Wrong,
            FoundVerdict::OtherCause => Self::OtherCause,
        }
    }
}

impl From<Element> for Fault {
    fn from(element: Element) -> Self {
        match element {
            Element::OuterRace => Self::OuterRace,
            Element::InnerRace => Self::InnerRace,
            Element::Ball => Self::Ball,
            Element::Cage => Self::Cage,
        }
    }
}

impl Args {
    /// Returns the report that the arguments make; `None` if they only list.
    fn report(&self, at: Timestamp) -> Option<FollowUpReport> {
        let found = self.found.map(|verdict| WorkFound {
            verdict: verdict.into(),
            element: self.element.map(Fault::from),
            cause: self.cause.clone(),
        });
        Some(FollowUpReport {
            schema: FOLLOW_UP_SCHEMA.to_owned(),
            report_id: None,
            event_id: Some(self.event_id),
            number: self.number,
            state: self.state?.into(),
            by: self.by.clone()?,
            at,
            note: self.note.clone(),
            repaired: self.repaired,
            found,
        })
    }
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let settings = AgentSettings::read(&args.config).map_err(failure::config)?;
    let actions =
        with_store(&settings.store, async |store| follow(args, store, args.event_id).await)?;
    let mut out = pdm_service::command_line::stdout();
    for (number, follow) in actions.iter().enumerate() {
        writeln!(out, "{}", line(number + 1, follow))?;
    }
    Ok(Exit::Ok)
}

async fn follow(args: &Args, store: &Store, event_id: EventId) -> Result<Vec<FollowUp>, Failure> {
    let missing = |what: String| Failure::new(Exit::NoInput, anyhow::anyhow!(what));
    let nothing = || missing(format!("nothing is to be done because of event {event_id}"));
    if let Some(report) = args.report(SystemClock.now()) {
        report.check().map_err(|error| Failure::new(Exit::Usage, error))?;
        let key = store.follow_ups().bearing_of(event_id).await.map_err(failure::store)?;
        let key = key.ok_or_else(nothing)?;
        let taken = store
            .follow_ups()
            .report(&key, &report, SystemClock.now())
            .await
            .map_err(failure::store)?;
        if taken == Reported::Unknown {
            let all = store.follow_ups().follow_up(event_id).await.map_err(failure::store)?.len();
            let number = args.number.unwrap_or(1);
            return Err(missing(format!("there is no action {number}; there are 1 to {all}")));
        }
    }
    let actions = store.follow_ups().follow_up(event_id).await.map_err(failure::store)?;
    if actions.is_empty() {
        return Err(nothing());
    }
    Ok(actions)
}

/// An action on one line: number, state, text, due time, person, work order, what was found.
pub(super) fn line(number: usize, follow: &FollowUp) -> String {
    let now = SystemClock.now();
    let is_late = follow.state == FollowUpState::Open
        && follow.due_at.is_some_and(|due| now.seconds_since(due) > 0.0);
    let state = if is_late { "overdue" } else { follow.state.as_str() };
    let due = follow.due_at.map_or_else(String::new, |at| format!("  ~ {at}"));
    let order = follow.work_order.as_deref().map_or_else(String::new, |order| format!("  {order}"));
    let by = match (&follow.by, follow.at) {
        (Some(by), Some(at)) => format!("  ({by}, {at})"),
        (Some(by), None) => format!("  ({by})"),
        (None, _) => String::new(),
    };
    let note = follow.note.as_deref().map_or_else(String::new, |note| format!("  {note}"));
    let found = follow.found.as_ref().map_or_else(String::new, |found| {
        let element = found.element.map_or("", Fault::as_str);
        let cause = found.cause.as_deref().unwrap_or_default();
        format!("  found: {} {element} {cause}", found.verdict.as_str()).trim_end().to_owned()
    });
    let action = &follow.action;
    format!("{number:2}. [{state}] {} / {}{due}{order}{by}{note}{found}", action.ko, action.en)
}
