//! `pdm-agent judge`: one event as the service judges it, research included, without memory and
//! side effects.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use pdm_expert::case::{Memory, PastEvent};
use pdm_expert::rules::Rules;
use pdm_expert::wording::element;
use pdm_report::files::{self, Format};
use pdm_report::settings::ReportSettings;
use pdm_report::{CaseFile, english, findings, gather, grounds, words};
use pdm_service::clock::{Clock, SystemClock};
use pdm_service::exit::{Exit, Failure, exit_of_input};
use pdm_shared::diagnosis::{Diagnosis, Evidence, Thought};
use pdm_shared::event::Event;
use pdm_shared::id::BearingKey;
use pdm_shared::text::{Language, Text};

use super::event_lines::{self, Demands, EventLines, SliceEnd, Turns};
use super::rehearsal::Rehearsal;
use super::{Lang, failure};
use crate::settings::rules;

/// Arguments of `judge`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent judge event.json
  pdm-agent judge event.json --json | jq .risk_level
  pdm-agent judge event.json --report reports
  pdm-edge replay bearing.npy … --jsonl | pdm-agent judge - --jsonl
  pdm-edge analyze 130.mat --rate 12000 --rpm 1797 --bearing 6205 --json | pdm-agent judge - \
    --lang en

With --jsonl the events of each bearing must come in the order of their numbers, each once, each \
bearing in one run (docs/slice.md); else the command ends with 65 and names line and event.

Exit codes: 0 judged, 65 not an event, or an event in the wrong place, 66 no such file, 69 the \
shipped knowledge cannot be searched, 74 cannot write, 78 bad rules")]
pub struct Args {
    /// The event (`pdm.event/1`); `-` reads standard input
    event: PathBuf,
    /// Print the diagnosis (`pdm.diagnosis/1`) instead of the card
    #[arg(long)]
    json: bool,
    /// Judge a sequence, one event a line, each with the memory of those before; print every change
    /// of risk (with --json: every diagnosis, one a line)
    #[arg(long)]
    jsonl: bool,
    /// Take the events of several bearings in turn, as a gateway sends them
    #[arg(long, requires = "jsonl")]
    interleaved: bool,
    /// Read everything first, put each bearing's events in order and leave repeated ones out
    #[arg(long, requires = "jsonl", conflicts_with = "interleaved")]
    sort: bool,
    /// Most text that --sort keeps, MiB
    #[arg(long, value_name = "MIB", requires = "sort", default_value_t = 1024,
          value_parser = clap::value_parser!(u64).range(1..=1_048_576))]
    sort_memory: u64,
    /// The lines are a slice (pdm.slice/1): demand its last record with counts, and with --json end
    /// with one
    #[arg(long, requires = "jsonl")]
    slice: bool,
    /// Also write report and work order (HTML, PDF, JSON in both languages) into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "jsonl")]
    report: Option<PathBuf>,
    /// Thresholds instead of the built-in ones
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Language of the card
    #[arg(long, value_enum, default_value = "ko")]
    lang: Lang,
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let rules = match &args.rules {
        Some(path) => rules::read_rules(path).map_err(failure::config)?,
        None => Rules::default(),
    };
    if args.jsonl {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(failure::runtime)?.block_on(sequence(args, rules))?;
        return Ok(Exit::Ok);
    }
    let text = read(&args.event)?;
    let event = parse(&args.event, &text)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(failure::runtime)?.block_on(one(args, &event, rules))?;
    Ok(Exit::Ok)
}

/// Judges one event without memory.
async fn one(args: &Args, event: &Event, rules: Rules) -> anyhow::Result<()> {
    let mut rehearsal = Rehearsal::new(rules.clone());
    let state = rehearsal.run(event, &Memory::default(), SystemClock.now()).await?;
    let diagnosis = rehearsal.judgement(&state).diagnosis;
    let mut out = pdm_service::command_line::stdout();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &diagnosis).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", card(&diagnosis, args.lang.into()))?;
    }
    drop(out);
    if let Some(folder) = &args.report {
        let settings = ReportSettings::default();
        let past = PastEvent { event: event.clone(), judged: None };
        let mut case =
            gather::fresh(event.clone(), diagnosis, &[past], &settings, &rules.lead_time);
        case.research = findings::of_run(&state.inquiry);
        let fault = case.diagnosis.fault_type;
        let unavailable = |error| Failure::new(Exit::Unavailable, anyhow::Error::new(error));
        let knowledge = rehearsal.knowledge().await?;
        case.grounds = grounds::look_up(knowledge, fault).await.map_err(unavailable)?;
        case.english = english::look_up(knowledge, &case.research, &case.diagnosis)
            .await
            .map_err(unavailable)?;
        documents(folder, &case, &settings)?;
    }
    Ok(())
}

/// Writes report and work order of one event without history.
fn documents(folder: &Path, case: &CaseFile, settings: &ReportSettings) -> anyhow::Result<()> {
    let written = files::write(case, folder, &settings.languages, &Format::ALL)
        .map_err(|error| Failure::new(Exit::Io, error))?;
    let mut out = std::io::stderr().lock();
    for file in &written.files {
        writeln!(out, "{}", file.display())?;
    }
    Ok(())
}

/// Judges the lines in order; the memory lasts as long as the command.
async fn sequence(args: &Args, rules: Rules) -> anyhow::Result<()> {
    let turns = if args.interleaved { Turns::Interleaved } else { Turns::OneRun };
    let demands = Demands { turns, end_record: args.slice, can_sort: true };
    let mut lines = EventLines::open(&args.event, demands)?;
    let mut judged = InSequence::new(args, rules);
    if args.sort {
        let sorted = event_lines::sorted(&mut lines, args.sort_memory << 20)?;
        if sorted.repeated > 0 {
            writeln!(std::io::stderr(), "{} repeated events were left out", sorted.repeated)?;
        }
        for event in sorted.events {
            judged.event(&event).await?;
        }
    } else {
        while let Some(event) = lines.next_event()? {
            for remark in lines.take_remarks() {
                writeln!(std::io::stderr(), "{remark}")?;
            }
            judged.event(&event).await?;
        }
    }
    judged.end()
}

/// Judgements of events that come in order.
struct InSequence<'a> {
    args: &'a Args,
    rehearsal: Rehearsal,
    bearings: BTreeMap<BearingKey, Memory>,
    events: u64,
    out: Box<dyn Write>,
}

impl<'a> InSequence<'a> {
    fn new(args: &'a Args, rules: Rules) -> Self {
        let out = Box::new(pdm_service::command_line::stdout());
        let rehearsal = Rehearsal::new(rules);
        Self { args, rehearsal, bearings: BTreeMap::new(), events: 0, out }
    }

    async fn event(&mut self, event: &Event) -> anyhow::Result<()> {
        self.events += 1;
        let memory = self.bearings.entry(event.key()).or_default();
        let before = memory.state.risk();
        let now = event.measured_at.plus_seconds(event.window.duration_s);
        let state = self.rehearsal.run(event, memory, now).await?;
        let judgement = self.rehearsal.judgement(&state);
        let diagnosis = &judgement.diagnosis;
        if self.args.json {
            serde_json::to_writer(&mut self.out, diagnosis).map_err(std::io::Error::from)?;
            writeln!(self.out)?;
        } else if diagnosis.risk_level != before {
            let why = diagnosis.thoughts.last().map(|thought| &thought.conclusion);
            writeln!(
                self.out,
                "{} {} {} {before} → {}",
                event.measured_at,
                event.equipment_id,
                event.bearing_id,
                why.map_or("", |why| why.in_language(self.args.lang.into())),
            )?;
        }
        memory.recall(event, &judgement);
        Ok(())
    }

    /// Writes the last record of a slice of judgements.
    fn end(mut self) -> anyhow::Result<()> {
        if self.args.slice && self.args.json {
            let end = SliceEnd::new(self.events, self.bearings.len() as u64);
            serde_json::to_writer(&mut self.out, &end).map_err(std::io::Error::from)?;
            writeln!(self.out)?;
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let done = if path == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ())
    } else {
        std::fs::read(path).map(|read| bytes = read)
    };
    done.map_err(|error| {
        let exit = exit_of_input(&error);
        let told = anyhow::Error::new(error).context(format!("cannot read {}", path.display()));
        Failure::new(exit, told)
    })?;
    String::from_utf8(bytes)
        .with_context(|| format!("{} is not UTF-8", path.display()))
        .map_err(|error| Failure::new(Exit::BadInput, error))
}

fn parse(path: &Path, text: &str) -> Result<Event, Failure> {
    let bad = |error: anyhow::Error| Failure::new(Exit::BadInput, error);
    let event: Event = serde_json::from_str(text)
        .with_context(|| format!("{} is not an event", path.display()))
        .map_err(bad)?;
    event
        .check()
        .with_context(|| format!("{} is not a valid event", path.display()))
        .map_err(bad)?;
    Ok(event)
}

/// The five thoughts for a person at a terminal.
fn card(diagnosis: &Diagnosis, language: Language) -> String {
    let say = |text: &Text| text.in_language(language).to_owned();
    let label = |ko: &str, en: &str| say(&Text::new(ko, en));
    let mut card = String::new();
    let risk = diagnosis.risk_level;
    let named = diagnosis.fault_type.map_or_else(
        || label("결함 부위 미특정", "no element named"),
        |fault| format!("{} {}", say(&element(fault)), label("결함", "fault")),
    );
    let stage = diagnosis.fault_stage;
    let (risk, stage) = if pdm_expert::is_not_judged(diagnosis) {
        (label("판정 보류", "not judged"), String::new())
    } else {
        let told = Text::new(format!(", P-F {stage}단계"), format!(", P-F stage {stage}"));
        (say(&risk.label()), say(&told))
    };
    // writing to a String cannot fail
    let _infallible = writeln!(
        card,
        "{} {}  [{risk}]  {named}{stage}",
        diagnosis.equipment_id, diagnosis.bearing_id,
    );
    for (number, thought) in diagnosis.thoughts.iter().enumerate() {
        let title = say(&words::thought(thought.title));
        let _infallible =
            writeln!(card, "\n{}. {title}\n   {}", number + 1, say(&thought.conclusion));
        evidence(&mut card, thought, language);
    }
    let certainty = say(&words::uncertainty(diagnosis.uncertainty.level));
    let _infallible = writeln!(card, "\n{}: {certainty}", label("불확실성", "Uncertainty"));
    for cause in &diagnosis.uncertainty.causes {
        let _infallible = writeln!(card, "   - {}", say(cause));
    }
    let _infallible = writeln!(
        card,
        "{}: {}\n{}: {}",
        label("이력", "Memory"),
        say(&diagnosis.memory.summary),
        label("권고", "Recommendation"),
        say(&diagnosis.recommendation),
    );
    card
}

fn say(text: &Text, language: Language) -> String {
    text.in_language(language).to_owned()
}

/// A value as it came; a text of the gateway is English, and a reader of Korean is told so.
fn of_gateway(fact: &Evidence, language: Language) -> String {
    let is_said = matches!(fact.path.as_str(), "frequency_domain.undetermined" | "rul.unknown");
    let note = if is_said && language == Language::Ko { " (게이트웨이 원문)" } else { "" };
    format!("{}{note}", fact.value)
}

/// One line for each fact: its rule, its name where it has one, its value and where it stands.
fn evidence(card: &mut String, thought: &Thought, language: Language) {
    for fact in &thought.evidence {
        let rule = fact.rule.as_deref().unwrap_or("");
        let name = words::feature(&fact.path).map(|name| name.in_language(language).to_owned());
        let value = match (words::names_of_features(fact), fact.value.as_f64()) {
            (Some(names), _) => names.in_language(language).to_owned(),
            (None, Some(value)) => words::quantity(value, words::unit(&fact.path)),
            (None, None) => fact
                .value
                .as_str()
                .and_then(words::word_of_value)
                .map_or_else(|| of_gateway(fact, language), |word| say(&word, language)),
        };
        // writing to a String cannot fail
        let _infallible = match name {
            Some(name) => writeln!(card, "     {rule:<9} {name} = {value} ({})", fact.path),
            None => writeln!(card, "     {rule:<9} {} = {value}", fact.path),
        };
    }
}
