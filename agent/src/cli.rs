//! The command line: one file for each command, with its arguments, help and exit codes.

use clap::{CommandFactory, Parser, Subcommand};
use pdm_service::exit::Exit;
pub use pdm_service::exit::{Failure, exit_of};

pub mod ack;
pub mod assets;
pub mod backtest;
pub mod chat;
pub mod check;
pub mod episodes;
mod event_lines;
pub mod export;
pub mod follow_up;
pub mod forget;
pub mod gateways;
pub mod judge;
pub mod knowledge;
pub mod mcp;
pub mod migrate;
pub mod notify;
pub mod rename;
pub mod report;
pub mod run;
pub mod run_program;
pub mod scenario;
pub mod series;
pub mod shelve;
pub mod stats;
pub mod store;
pub mod tools;
pub mod trace;
pub mod tune;
pub mod user;
pub mod why;

mod bearing_name;
mod failure;
mod language;
pub mod place;
mod rehearsal;
mod scratch;
mod with_store;

pub use language::Lang;
pub use pdm_script::COMMAND as RUN_PROGRAM;

/// Judges bearing events and notifies people: intake, judgement in five thoughts, notification.
#[derive(Debug, Parser)]
#[command(name = "pdm-agent", version, about, propagate_version = true)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Take events in, judge them and notify people until stopped
    Run(run::Args),
    /// Check configuration and connections
    Check(check::Args),
    /// Import, export, show, check and query the asset graph
    Assets(assets::Args),
    /// Create the store's schema or bring it up to date
    Migrate(migrate::Args),
    /// Look through the store for damage, or recover what can be read of it
    Store(store::Args),
    /// Judge one event without any side effect
    Judge(judge::Args),
    /// Say what a configuration would have told of events that lie in the past
    Backtest(Box<backtest::Args>),
    /// Propose thresholds that would have cost less in the plant's own past
    Tune(Box<tune::Args>),
    /// Write report and work order of a stored judgement again
    Report(report::Args),
    /// Fill the knowledge base, search it, look up sections and titles
    Knowledge(knowledge::Args),
    /// List, describe, draw, check and call tools
    Tools(tools::Args),
    /// Store series and past cases of measuring stations, list them
    Series(series::Args),
    /// Serve the tools to other programs (Model Context Protocol)
    Mcp(mcp::Args),
    /// Show every step of an event's judgement
    Trace(trace::Args),
    /// List the actions that a judgement recommends, or record their progress
    FollowUp(follow_up::Args),
    /// List episodes, or show one
    Episodes(episodes::Args),
    /// Tell staff nothing of a bearing for a time, or again
    Shelve(shelve::Args),
    /// Acknowledge what stands of a bearing
    Ack(ack::Args),
    /// Say what staff would be told of recorded events
    Notify(notify::Args),
    /// Show how much work is open, and how often the judgements were right
    Stats(stats::Args),
    /// Ask about the plant's bearings
    Chat(chat::Args),
    /// Add, list and change those who may enter the pages and the API
    User(user::Args),
    /// List gateways and their bearings; release, replace or take out one that has moved or is gone
    Gateways(gateways::Args),
    /// Take out a bearing, a machine or a site that is gone
    Forget(forget::Args),
    /// Give a bearing, a machine or a site its new name
    Rename(rename::Args),
    /// Describe the bearings to other programs: Home Assistant
    Export(export::Args),
    /// Say why staff was told of an event or a bearing, or was not
    Why(why::Args),
    /// Play sequences of events and measure the agent
    Scenario(scenario::Args),
    /// Run the programs of a language model on standard input within the limits of a child process
    #[command(name = RUN_PROGRAM, hide = true)]
    RunProgram,
    /// Print shell completions
    Completions {
        /// Shell to write completions for
        shell: clap_complete::Shell,
    },
}

/// Runs one command to its end.
///
/// # Errors
/// The error that stopped the command, with its context; [`exit_of`] gives the exit code.
pub fn dispatch(cli: Cli) -> anyhow::Result<Exit> {
    match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Assets(args) => assets::run(&args),
        Command::Migrate(args) => migrate::run(&args),
        Command::Store(args) => store::run(&args),
        Command::Judge(args) => judge::run(&args),
        Command::Backtest(args) => backtest::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Knowledge(args) => knowledge::run(&args),
        Command::Tools(args) => tools::run(&args),
        Command::Series(args) => series::run(&args),
        Command::Mcp(args) => mcp::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::FollowUp(args) => follow_up::run(&args),
        Command::Episodes(args) => episodes::run(&args),
        Command::Shelve(args) => shelve::run(&args),
        Command::Ack(args) => ack::run(&args),
        Command::Notify(args) => notify::run(&args),
        Command::Stats(args) => stats::run(&args),
        Command::Chat(args) => chat::run(&args),
        Command::User(args) => user::run(&args),
        Command::Gateways(args) => gateways::run(&args),
        Command::Forget(args) => forget::run(&args),
        Command::Rename(args) => rename::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Why(args) => why::run(&args),
        Command::Scenario(args) => scenario::run(&args),
        Command::RunProgram => run_program::run(),
        Command::Completions { shell } => {
            clap_complete::generate(
                shell,
                &mut Cli::command(),
                "pdm-agent",
                &mut pdm_service::command_line::stdout(),
            );
            Ok(Exit::Ok)
        }
    }
}
