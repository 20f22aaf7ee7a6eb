//! `pdm-agent trace`: shows every step of an event's judgement, read from the store.

use std::io::Write;
use std::path::PathBuf;

use pdm_service::exit::{Exit, Failure};
use pdm_shared::id::EventId;
use pdm_shared::trace::TraceStep;
use pdm_store::FollowUp;
use serde_json::{Value, json};

use super::failure;
use super::with_store::with_store;
use crate::settings::AgentSettings;

/// Arguments of `trace`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent trace 01936f3e-7c1a-7b52-9a6e-2f0d5c8e4b11 --config /etc/pdm/agent.toml
  pdm-agent trace 01936f3e-7c1a-7b52-9a6e-2f0d5c8e4b11 --json | jq '.steps[].node'

Without PDM_AGENT_CONFIG in the environment each wants --config FILE.

Exit codes: 0 told, 64 not an identity, 66 no such event or not judged yet, 69 store \
unavailable, 78 bad configuration")]
pub struct Args {
    /// The event's id
    event_id: EventId,
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
    config: PathBuf,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let event_id = args.event_id;
    let settings = AgentSettings::read(&args.config).map_err(failure::config)?;
    let (steps, follow_up) = with_store(&settings.store, async |store| {
        let steps = store.history().trace(event_id).await.map_err(failure::store)?;
        let follow_up = store.follow_ups().follow_up(event_id).await.map_err(failure::store)?;
        anyhow::Ok((steps, follow_up))
    })?;
    if steps.is_empty() {
        let error = anyhow::anyhow!("no step of event {event_id} is stored");
        return Err(Failure::new(Exit::NoInput, error).into());
    }
    let mut out = pdm_service::command_line::stdout();
    if args.json {
        let all = json!({ "event_id": event_id, "steps": steps, "follow_up": follow_up });
        serde_json::to_writer_pretty(&mut out, &all).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        tell(&steps, &follow_up, &mut out)?;
    }
    Ok(Exit::Ok)
}

fn tell(steps: &[TraceStep], actions: &[FollowUp], out: &mut impl Write) -> std::io::Result<()> {
    for step in steps {
        writeln!(out, "{:2}. {}  {}", step.number, step.at, step.node)?;
        detail(&step.detail, 6, out)?;
    }
    if !actions.is_empty() {
        writeln!(out, "\n후속 조치 (follow-up)")?;
    }
    for (number, follow) in actions.iter().enumerate() {
        writeln!(out, "{}", super::follow_up::line(number + 1, follow))?;
    }
    Ok(())
}

/// Prints a value as indented lines, without empty values.
fn detail(value: &Value, indent: usize, out: &mut impl Write) -> std::io::Result<()> {
    let space = " ".repeat(indent);
    match value {
        Value::Object(fields) if is_text(fields) => {
            for text in fields.values().filter_map(Value::as_str) {
                writeln!(out, "{space}{text}")?;
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                match field {
                    Value::Null => {}
                    Value::Array(items) if items.is_empty() => {}
                    Value::Object(_) | Value::Array(_) => {
                        writeln!(out, "{space}{key}:")?;
                        detail(field, indent + 2, out)?;
                    }
                    Value::String(text) => writeln!(out, "{space}{key}: {text}")?,
                    Value::Bool(_) | Value::Number(_) => writeln!(out, "{space}{key}: {field}")?,
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                match item {
                    Value::String(text) => writeln!(out, "{space}- {text}")?,
                    Value::Object(_) | Value::Array(_) => {
                        writeln!(out, "{space}-")?;
                        detail(item, indent + 2, out)?;
                    }
                    Value::Null | Value::Bool(_) | Value::Number(_) => {
                        writeln!(out, "{space}- {item}")?;
                    }
                }
            }
        }
        Value::Null => {}
        Value::String(text) => writeln!(out, "{space}{text}")?,
        Value::Bool(_) | Value::Number(_) => writeln!(out, "{space}{value}")?,
    }
    Ok(())
}

/// Whether the fields are a text in two languages.
fn is_text(fields: &serde_json::Map<String, Value>) -> bool {
    fields.len() == 2 && fields.contains_key("ko") && fields.contains_key("en")
}
