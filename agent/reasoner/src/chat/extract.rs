//! Answers without a model: each look-up of a plan, made and put into sentences.

use chrono::NaiveDate;
use pdm_shared::text::Language;
use pdm_shared::time::Timestamp;
use serde_json::json;

use super::dates::Span;
use super::desk::{CoreFields, Desk, Focus};
use super::intent::{self, Lookup, Topic};
use super::planning::Part;
use super::reader::Reader;
use super::{
    StepCall, alarms, counts, courses, dates, due, escalation, figures, listing, meanings, on_duty,
    passage, people, planned, plant_records, records, sites, stocks, suppressed, thresholds,
    values, verdicts, watching, zone_limits,
};
use crate::toolbox::Toolbox;

/// Whether the answer to the rest has at least half of the words of a clause that was not
/// understood, so that it is no part without an answer. Chosen: with one word alone a question
/// about any bearing would count as answered.
pub(super) fn is_answered(part: &Part, told: &[(&Part, String)]) -> bool {
    if part.lookup != Lookup::NotRead {
        return false;
    }
    let all = told.iter().map(|(_, text)| text.to_lowercase()).collect::<Vec<_>>().join(" ");
    let lower = part.clause.to_lowercase();
    let words = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| if word.is_ascii() { word.len() > 4 } else { word.chars().count() > 1 });
    let stems = words.map(|word| -> String {
        // a Korean word without its ending
        if word.is_ascii() { word.into() } else { word.chars().take(2).collect() }
    });
    let says = |stem: &String| !["언제", "지금", "어떻", "어디", "무슨"].contains(&stem.as_str());
    let stems: Vec<String> = stems.filter(says).collect();
    let found = stems.iter().filter(|stem| all.contains(stem.as_str())).count();
    !stems.is_empty() && 2 * found >= stems.len()
}

/// Says what a question was taken for where none of its words says so; `None` where it is plain.
pub(super) fn read_as(told: &[(&Part, String)], language: Language) -> Option<String> {
    let guessed = told
        .iter()
        .map(|(part, _)| part)
        .filter(|part| intent::is_guessed(part.lookup, &part.clause, part.about.is_some()));
    let mut names: Vec<String> = guessed
        .filter_map(|part| Some(intent::kind_name(part.lookup)?.in_language(language).to_owned()))
        .collect();
    names.dedup();
    if names.is_empty() {
        return None;
    }
    let names = names.join(", ");
    Some(match language {
        Language::Ko => {
            format!(
                "이 질문을 다음을 묻는 것으로 읽었습니다: {names}. 아니면 다른 말로 다시 물어 주십시오."
            )
        }
        Language::En => format!(
            "I took this as a question for: {names}. If it is another one, please ask in other \
             words."
        ),
    })
}

/// A listing, with how many bearings it rests on where those are not all.
fn with_extent(told: String, sources: &Sources<'_>, language: Language) -> String {
    let (read, all) = (sources.foci.len(), sources.fleet.len());
    match (read < all, language) {
        (false, _) => told,
        (true, Language::Ko) => {
            format!("{told}\n주의: 베어링 {all}개 가운데 {read}개만 살펴본 결과입니다.")
        }
        (true, Language::En) => {
            format!("{told}\nMind: this rests on {read} of {all} bearings.")
        }
    }
}

/// The records and tools that look-ups use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sources<'a> {
    pub(super) desk: &'a dyn Desk,
    pub(super) tools: &'a dyn Toolbox,
    pub(super) fleet: &'a [CoreFields],
    pub(super) foci: &'a [Focus],
    /// The question as it is read.
    pub(super) message: &'a str,
}

impl<'a> Sources<'a> {
    /// The records and tools of a conversation, what it may speak of, and the question.
    pub(super) const fn of(
        (desk, tools): (&'a dyn Desk, &'a dyn Toolbox),
        (fleet, foci): (&'a [CoreFields], &'a [Focus]),
        message: &'a str,
    ) -> Self {
        Self { desk, tools, fleet, foci, message }
    }

    /// The bearing of a part.
    pub(super) fn focus(&self, part: &Part) -> Option<&'a Focus> {
        self.foci.iter().find(|focus| Some(&focus.core.key) == part.about.as_ref())
    }
}

/// The look-up as a step tells it.
#[expect(clippy::too_many_lines, reason = "a table: one entry a look-up")]
pub(super) fn call(part: &Part, focus: Option<&Focus>) -> StepCall {
    let bearing = focus.map(|focus| focus.core.name()).unwrap_or_default();
    let of_bearing = json!({ "bearing": bearing });
    let query = json!({ "query": part.clause });
    let (name, arguments) = match part.lookup {
        Lookup::Fleet
        | Lookup::Sites
        | Lookup::Stops
        | Lookup::Standing
        | Lookup::Count
        | Lookup::Which
        | Lookup::Sound
        | Lookup::Alarms
        | Lookup::LeadTime
        | Lookup::Zones => ("list_bearings", json!({})),
        Lookup::Heard if focus.is_none() => ("list_bearings", json!({})),
        Lookup::Heard | Lookup::Figures | Lookup::Speed | Lookup::Identity | Lookup::State => {
            ("read_state", of_bearing)
        }
        Lookup::ToldOfAll | Lookup::AlarmCounts | Lookup::Handover => {
            ("read_notifications", json!({}))
        }
        Lookup::Verdicts => ("read_findings", of_bearing),
        Lookup::Thresholds => ("read_rules", json!({})),
        Lookup::ZoneLimits => ("read_zone_limits", query),
        Lookup::Stock if focus.is_none() => ("search_part", query),
        Lookup::Stock => ("get_equipment_info", of_bearing),
        Lookup::WorkOfAll | Lookup::Overdue | Lookup::DueNext => ("read_work", json!({})),
        Lookup::Shelf => ("read_shelved", json!({})),
        Lookup::Sensors => ("read_sensors", json!({})),
        Lookup::Notes => ("read_notes", of_bearing),
        Lookup::NotesOfAll => ("read_notes", query),
        Lookup::Lines => ("read_defect_lines", of_bearing),
        Lookup::Compare => ("compare_bearings", json!({})),
        Lookup::Why => ("read_grounds", of_bearing),
        Lookup::Onset => ("read_episode", of_bearing),
        Lookup::Changes => ("get_bearing_trend", of_bearing),
        Lookup::Stop => ("read_advice", of_bearing),
        Lookup::Doubts => ("read_uncertainty", of_bearing),
        Lookup::Life => ("read_remaining_life", of_bearing),
        Lookup::Work | Lookup::Assigned => ("read_work", of_bearing),
        Lookup::Told => ("read_notifications", of_bearing),
        Lookup::Past => ("read_memory", of_bearing),
        Lookup::Duty => ("read_rota", json!({})),
        Lookup::Route => ("read_routes", json!({})),
        Lookup::Person => ("read_person", query),
        Lookup::Gateways => ("list_gateways", json!({})),
        Lookup::Meaning => ("read_meaning", query),
        Lookup::Value if intent::topic(&part.clause) == Some(Topic::Clearance) => {
            ("search_equipment_manual", query)
        }
        Lookup::Value => ("look_up_mounting_value", query),
        Lookup::Manual
        | Lookup::Own
        | Lookup::Search
        | Lookup::ReplaceTime
        | Lookup::Replacement => ("search_equipment_manual", query),
        Lookup::Cases => ("search_maintenance_history", query),
        Lookup::Unmeasured if focus.is_some() => ("read_state", of_bearing),
        Lookup::Help
        | Lookup::Program
        | Lookup::Act
        | Lookup::Unmeasured
        | Lookup::OutOfScope
        | Lookup::NotRead => ("help", json!({})),
    };
    StepCall { name: name.to_owned(), arguments }
}

/// Returns the findings of a look-up in sentences; `None` if it finds nothing.
#[expect(clippy::too_many_lines, reason = "a table: one entry a look-up")]
pub(super) async fn look_up(part: &Part, reader: Reader, sources: &Sources<'_>) -> Option<String> {
    let (language, clause, tools) = (reader.language, part.clause.as_str(), sources.tools);
    let (fleet, desk, focus) = (sources.fleet, sources.desk, sources.focus(part));
    let core = focus.map(|focus| &focus.core);
    let extended = |told: String| with_extent(told, sources, language);
    match part.lookup {
        Lookup::Fleet => Some(listing::fleet(fleet, clause, reader)),
        Lookup::Sites => Some(sites::of_sites(fleet, reader)),
        Lookup::Stops => Some(listing::stops(fleet, reader)),
        Lookup::Standing => Some(watching::standing(fleet, reader)),
        Lookup::Count => Some(plant_records::count(fleet, language)),
        Lookup::Which => Some(plant_records::which(fleet, language)),
        Lookup::Compare => courses::compared(&sources.foci.iter().collect::<Vec<_>>(), reader),
        Lookup::Duty => on_duty::duty(desk, fleet, clause, reader).await,
        Lookup::Route => escalation::routes(desk, fleet, core, reader).await,
        Lookup::Person => people::report(clause, sources, reader).await,
        Lookup::Sound => Some(listing::sound(fleet, reader)),
        Lookup::Alarms => Some(alarms::alarms(fleet, clause, reader)),
        Lookup::ToldOfAll | Lookup::Handover => {
            alarms::told_of_all(desk, fleet, clause, reader).await
        }
        Lookup::AlarmCounts => counts::alarm_counts(desk, fleet, clause, reader).await,
        Lookup::Verdicts => {
            verdicts::verdicts(desk, (fleet, part.about.as_ref()), clause, reader).await
        }
        Lookup::Thresholds => Some(thresholds::thresholds(&desk.rules(), language)),
        Lookup::ZoneLimits => Some(zone_limits::zone_limits(clause, language)),
        Lookup::DueNext => Some(extended(due::due_next(sources.foci, reader))),
        Lookup::Assigned => Some(match focus {
            Some(focus) => due::open_work(focus, reader),
            None => due::assigned(desk, reader).await,
        }),
        Lookup::Replacement => passage::replacement(tools, clause, language).await,
        Lookup::OutOfScope => Some(plant_records::not_recorded(language)),
        Lookup::NotRead => Some(plant_records::not_read(clause, language)),
        Lookup::Stock => match focus {
            Some(focus) => Some(planned::stock(tools, focus, reader).await),
            None => match planned::stock_of_part(tools, clause, language).await {
                Some(told) => Some(told),
                None => stocks::of_all(tools, fleet, clause, language).await,
            },
        },
        Lookup::ReplaceTime => planned::replacement_time(tools, language).await,
        Lookup::LeadTime => {
            let of: Vec<&Focus> =
                focus.map_or_else(|| sources.foci.iter().collect(), |one| vec![one]);
            planned::lead_time(&of, reader)
        }
        Lookup::WorkOfAll => Some(extended(records::work_of_all(sources.foci, clause, reader))),
        Lookup::Overdue => Some(extended(records::overdue_work(sources.foci, reader))),
        Lookup::Shelf => Some(put_off(sources, focus, reader)),
        Lookup::Sensors => suppressed::bad_sensors(sources, part.about.as_ref(), reader).await,
        Lookup::Notes => Some(records::notes(focus?, reader)),
        Lookup::NotesOfAll => Some(extended(people::notes_of_all(sources.foci, clause, reader))),
        Lookup::Lines => Some(figures::defect_lines(focus?, clause, language)),
        Lookup::Past => Some(courses::past(desk, focus?, reader).await),
        Lookup::State => Some(records::state_of_machine(sources, focus?, clause, reader)),
        Lookup::Zones => figures::zones(sources.foci, clause, language).map(extended),
        Lookup::Unmeasured => Some(unmeasured(focus, clause, reader)),
        Lookup::Heard => Some(match core {
            Some(core) => {
                let gateway = plant_records::silent_gateway(desk, fleet, core, reader).await;
                figures::last_heard(core, gateway.as_deref(), reader)
            }
            None => figures::not_heard(fleet, figures::OLD_H, reader),
        }),
        Lookup::Figures => Some(figures_of(clause, focus?, reader, sources).await),
        Lookup::Speed => Some(figures::speed(focus?, reader)),
        Lookup::Identity => Some(figures::identity(focus?, language)),
        Lookup::Gateways => plant_records::gateways(desk, fleet, clause, core, reader).await,
        Lookup::Meaning => {
            let meaning = meanings::named_in(&clause.to_lowercase());
            meaning.map(|text| text.in_language(language).to_owned())
        }
        Lookup::Value => {
            values::value_in_words(tools, intent::topic(clause)?, clause, language).await
        }
        Lookup::Manual => passage::manual(tools, clause, language).await,
        Lookup::Search | Lookup::Own => passage::search(tools, clause, language).await,
        Lookup::Cases => passage::cases(tools, clause, language).await,
        Lookup::Help => Some(plant_records::help(language).to_owned()),
        Lookup::Act => Some(plant_records::read_only(language).to_owned()),
        Lookup::Program => Some(plant_records::of_program(language).to_owned()),
        Lookup::Changes => Some(courses::changes(tools, focus?, clause, reader).await),
        Lookup::Why => courses::why(desk, focus?, clause, reader).await,
        Lookup::Onset
        | Lookup::Stop
        | Lookup::Doubts
        | Lookup::Life
        | Lookup::Work
        | Lookup::Told => records::record_in_words(part.lookup, focus?, clause, reader),
    }
}

/// The alarms and the work that are put off.
fn put_off(sources: &Sources<'_>, focus: Option<&Focus>, reader: Reader) -> String {
    let dropped = focus.and_then(|focus| records::dropped_of(focus, reader));
    let shelved = suppressed::shelved(sources.fleet, focus.map(|focus| &focus.core), reader);
    std::iter::once(shelved).chain(dropped).collect::<Vec<_>>().join("\n")
}

/// A figure that is measured of some bearings, or of none.
fn unmeasured(focus: Option<&Focus>, clause: &str, reader: Reader) -> String {
    match focus {
        Some(focus) if intent::asks_temperature(&clause.to_lowercase()) => {
            watching::temperature_asked(focus, reader)
        }
        Some(_) | None => figures::unmeasured(clause, reader.language),
    }
}

/// The figures of the last window, or of the days that the clause names.
async fn figures_of(clause: &str, focus: &Focus, reader: Reader, sources: &Sources<'_>) -> String {
    let (desk, tools) = (sources.desk, sources.tools);
    let span = reader.today().and_then(|today| Some((dates::span_in(clause, today)?, today)));
    if let Some(at) = instant_of(clause, span.map(|(span, _)| span), reader)
        && let Some(told) = figures::of_instant(desk, focus, at, reader).await
    {
        return told;
    }
    let Some((span, today)) = span else { return figures::last_figures(focus, clause, reader) };
    match figures::of_days(desk, focus, span, reader).await {
        Some(told) => told,
        None => figures::figures_of_days(tools, focus, (span, today), reader.language).await,
    }
}

/// Returns the instant that a clause asks for: a number of hours ago, or a time of the day that it
/// names, of today or of the last day on which it has passed.
fn instant_of(clause: &str, span: Option<Span>, reader: Reader) -> Option<Timestamp> {
    let now = reader.now?;
    if let Some(hours) = dates::hours_ago_in(clause) {
        return Some(now.plus_seconds(-3600.0 * f64::from(hours)));
    }
    let (hour, minute) = dates::clock_in(clause)?;
    let on = |day: NaiveDate| reader.zone.instant(day.and_hms_opt(hour, minute, 0)?);
    match span {
        Some(span) if span.is_day() => on(span.from),
        Some(_) => None,
        None => {
            let today = reader.today()?;
            on(today).filter(|at| *at <= now).or_else(|| on(today.pred_opt()?))
        }
    }
}
