//! The parent's side: starts the child, gives it the program, makes its calls of tools, and ends it
//! when its time is over.
//!
//! The child's words are foreign too: its lines are bounded, its calls are counted, and anything
//! but the agreed messages ends it. A handle that is dropped kills the child.

use std::process::Stdio;
use std::time::Duration;

use async_trait::async_trait;
use pdm_service::confined::{ConfinedProgram, ending};
use serde_json::{Map, Value};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{Instant, timeout};

use crate::child::is_callable;
use crate::wire::{FromChild, MAX_LINE_OF_CHILD, MAX_RESULT, ToChild, cut};
use crate::{COMMAND, MAX_PRINTED};

/// How long a program may run, the time of its tools left out. Chosen: a person waits for the
/// answer, and a million steps take half a second.
const OWN_TIME: Duration = Duration::from_millis(1500);
/// How long the child may take to start: an agent under load.
const START_TIME: Duration = Duration::from_secs(5);
/// How long all tools of one program may take.
const TOOL_TIME: Duration = Duration::from_secs(30);
/// Most calls of one program.
const MAX_CALLS: usize = 20;
/// Most messages of the child: calls above [`MAX_CALLS`] are refused, and a program that goes on is
/// ended.
const MAX_MESSAGES: usize = 60;

/// The answer of a tool: the text of its result, or why there is none.
pub type ToolReply = Result<String, String>;

/// The tools of a program.
#[async_trait]
pub trait Tools: Send {
    /// Calls a tool; the caller has checked nothing.
    async fn call(&mut self, tool: &str, arguments: Map<String, Value>) -> ToolReply;
}

/// How a program ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramOutcome {
    /// The text that it printed, and the value of its last statement.
    pub printed: String,
    /// The text that it gave to `final_answer`.
    pub answer: Option<String>,
    /// Why it stopped before its end.
    pub error: Option<String>,
}

impl ProgramOutcome {
    fn failed(reason: impl Into<String>) -> Self {
        Self { error: Some(reason.into()), ..Self::default() }
    }
}

/// Runs programs in child processes.
#[derive(Debug, Clone)]
pub struct ProgramHost {
    child: ConfinedProgram,
}

/// A running child with its pipes.
#[derive(Debug)]
struct Running {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The rest of the program's own time.
    left: Duration,
    /// The rest of the time for tools.
    left_for_tools: Duration,
    messages: usize,
    calls: usize,
}

impl ProgramHost {
    /// Runs them in children of the running program, which has the command [`COMMAND`].
    pub fn own_program() -> Self {
        Self { child: ConfinedProgram::own(COMMAND) }
    }

    /// Runs them in children of another program.
    pub const fn child(child: ConfinedProgram) -> Self {
        Self { child }
    }

    /// A session, whose programs share their names.
    pub const fn session(&self) -> Session<'_> {
        Session { host: self, running: None }
    }

    async fn start(&self) -> Result<Running, String> {
        let mut command = Command::from(self.child.command());
        command.kill_on_drop(true).stderr(Stdio::null());
        let failed = |error: std::io::Error| format!("the program's process cannot start: {error}");
        let mut child = command.spawn().map_err(failed)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the program's process has no pipes".to_owned());
        };
        let mut running = Running {
            child,
            input,
            output: BufReader::new(output),
            left: START_TIME,
            left_for_tools: TOOL_TIME,
            messages: 0,
            calls: 0,
        };
        match running.hear().await? {
            FromChild::Ready => {}
            FromChild::Call { .. } | FromChild::Ended { .. } => {
                return Err("the program's process is not the one asked for".to_owned());
            }
        }
        Ok(running)
    }
}

/// The programs of one answer, one after the other in one child. A program that does not end by
/// itself takes the names with it: the next one begins in a new child.
#[derive(Debug)]
pub struct Session<'h> {
    host: &'h ProgramHost,
    running: Option<Running>,
}

impl Session<'_> {
    /// Runs a program with these tools to its end, or to the end of its time.
    pub async fn run(
        &mut self,
        program: &str,
        names: &[String],
        tools: &mut dyn Tools,
    ) -> ProgramOutcome {
        let mut running = match self.running.take() {
            Some(running) => running,
            None => match self.host.start().await {
                Ok(running) => running,
                Err(reason) => return ProgramOutcome::failed(reason),
            },
        };
        let callable = names.iter().filter(|name| is_callable(name)).cloned().collect();
        let start = ToChild::Start { program: program.to_owned(), tools: callable };
        match running.to_its_end(&start, tools).await {
            Ok(outcome) => {
                self.running = Some(running);
                outcome
            }
            // the child is killed with its handle
            Err(reason) => ProgramOutcome::failed(reason),
        }
    }
}

impl Running {
    async fn to_its_end(
        &mut self,
        start: &ToChild,
        tools: &mut dyn Tools,
    ) -> Result<ProgramOutcome, String> {
        (self.left, self.left_for_tools) = (OWN_TIME, TOOL_TIME);
        (self.messages, self.calls) = (0, 0);
        self.say(start).await?;
        loop {
            match self.hear().await? {
                FromChild::Ended { printed, answer, error } => {
                    let printed = cut(&printed, MAX_PRINTED + 200);
                    return Ok(ProgramOutcome { printed, answer, error });
                }
                FromChild::Call { tool, arguments } => {
                    let reply = self.call(&tool, arguments, tools).await;
                    self.say(&reply).await?;
                }
                FromChild::Ready => {
                    return Err("the program's process speaks out of turn".to_owned());
                }
            }
        }
    }

    async fn call(
        &mut self,
        tool: &str,
        arguments: Map<String, Value>,
        tools: &mut dyn Tools,
    ) -> ToChild {
        self.calls += 1;
        if self.calls > MAX_CALLS {
            let reason = format!("refused: a program makes at most {MAX_CALLS} calls");
            return ToChild::Failed { reason };
        }
        let begun = Instant::now();
        let reply = match timeout(self.left_for_tools, tools.call(tool, arguments)).await {
            Ok(reply) => reply,
            Err(_elapsed) => {
                Err(format!("the tools of a program have {} s together", TOOL_TIME.as_secs()))
            }
        };
        self.left_for_tools = self.left_for_tools.saturating_sub(begun.elapsed());
        match reply {
            Ok(text) if text.len() > MAX_RESULT => {
                let length = text.len();
                let told = "ask for less";
                ToChild::Failed { reason: format!("the result has {length} bytes, {told}") }
            }
            Ok(text) => ToChild::Result { text },
            Err(reason) => ToChild::Failed { reason },
        }
    }

    async fn say(&mut self, what: &ToChild) -> Result<(), String> {
        let mut line = serde_json::to_vec(what).map_err(|error| error.to_string())?;
        line.push(b'\n');
        let begun = Instant::now();
        let written = timeout(self.left, self.input.write_all(&line)).await;
        self.left = self.left.saturating_sub(begun.elapsed());
        match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_closed)) => Err(self.ended().await),
            Err(_elapsed) => Err(out_of_time()),
        }
    }

    async fn hear(&mut self) -> Result<FromChild, String> {
        self.messages += 1;
        if self.messages > MAX_MESSAGES {
            return Err(format!("the program calls tools more than {MAX_MESSAGES} times"));
        }
        let mut line = Vec::new();
        let begun = Instant::now();
        let mut bounded = (&mut self.output).take(MAX_LINE_OF_CHILD as u64);
        let read = timeout(self.left, bounded.read_until(b'\n', &mut line)).await;
        self.left = self.left.saturating_sub(begun.elapsed());
        match read {
            Ok(Ok(0)) => return Err(self.ended().await),
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return Err(format!("the program's process cannot be read: {error}")),
            Err(_elapsed) => return Err(out_of_time()),
        }
        if line.last() != Some(&b'\n') && line.len() >= MAX_LINE_OF_CHILD {
            return Err("the program's process says too much at once".to_owned());
        }
        serde_json::from_slice(&line)
            .map_err(|_odd| "the program's process speaks another language".to_owned())
    }

    /// Describes the end of a child that gave no result.
    async fn ended(&mut self) -> String {
        match timeout(Duration::from_millis(200), self.child.wait()).await {
            Ok(Ok(status)) => match ending(status) {
                (told, true) => {
                    format!("the program's process {told}: it needs too much memory or time")
                }
                (told, false) => format!("the program's process {told}"),
            },
            Ok(Err(_)) | Err(_) => "the program's process closed its output".to_owned(),
        }
    }
}

fn out_of_time() -> String {
    format!("the program runs longer than {} s", OWN_TIME.as_secs_f64())
}

#[cfg(test)]
mod tests;
