//! `pdm-agent why`: why staff was told of an event or a bearing, or was not: the judgement, the
//! suppressions of the bearing, and the state of each message, by channel.

use std::io::Write;
use std::path::PathBuf;

use pdm_episode::ToldFinding;
use pdm_service::clock::{Clock, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_shared::delivery::{Notification, NotificationReason};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::episode::{AcknowledgementState, Suppression};
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_shared::topic::is_gateway_level;
use pdm_store::gateway_alarm::silence_alarm;
use pdm_store::{Delivery, EpisodeRecord, MQTT_LANE, Store};

use super::bearing_name::bearing;
use super::with_store::with_store;
use super::{failure, gateways};
use crate::settings::AgentSettings;

/// Messages of a bearing whose deliveries are told.
const MESSAGES: u32 = 5;

/// Arguments of `why`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent why ulsan-1/P-101/DE --config /etc/pdm/agent.toml
  pdm-agent why 01936f3e-7c1a-7b52-9a6e-2f0d5c8e4b11
  pdm-agent why ulsan-1/gateway/gw-01

Without PDM_AGENT_CONFIG in the environment each wants --config FILE.

Exit codes: 0 told, 64 wrong arguments, 66 no such event, bearing or gateway, 69 store \
    unavailable, 78 \
bad configuration")]
pub struct Args {
    /// An event's id, SITE/EQUIPMENT/BEARING, SITE/gateway/GATEWAY, SITE/refused-events/GATEWAY,
    /// SITE/gateway-trouble/GATEWAY, SITE/not-measured/GATEWAY or SITE/no-data/GATEWAY
    #[arg(value_parser = subject)]
    of: Subject,
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
    config: PathBuf,
}

/// The event or bearing that is asked about.
#[derive(Debug, Clone)]
enum Subject {
    Event(EventId),
    Bearing(BearingKey),
}

fn subject(text: &str) -> Result<Subject, String> {
    if let Ok(event_id) = text.parse::<EventId>() {
        return Ok(Subject::Event(event_id));
    }
    bearing(text)
        .map(Subject::Bearing)
        .map_err(|error| format!("{error}; allowed are an event's id and SITE/EQUIPMENT/BEARING"))
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let settings = AgentSettings::read(&args.config).map_err(failure::config)?;
    let lines = with_store(&settings.store, async |store| match &args.of {
        Subject::Event(event_id) => of_event(store, &settings, *event_id).await,
        Subject::Bearing(key) => of_bearing(store, &settings, key).await,
    })?;
    let mut out = pdm_service::command_line::stdout();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(Exit::Ok)
}

async fn of_event(
    store: &Store,
    settings: &AgentSettings,
    event_id: EventId,
) -> Result<Vec<String>, Failure> {
    let event = store.history().event(event_id).await.map_err(failure::store)?;
    let Some(diagnosis) = store.history().diagnosis(event_id).await.map_err(failure::store)? else {
        let what = if event.is_some() {
            return Ok(vec![format!("{event_id} is stored and waits for its judgement")]);
        } else {
            "is not stored: it never came, it was refused (pdm-agent gateways list), or it is \
             older than what is kept"
        };
        return Err(Failure::new(Exit::NoInput, anyhow::anyhow!("event {event_id} {what}")));
    };
    let Some(key) = store.follow_ups().bearing_of(event_id).await.map_err(failure::store)? else {
        let told = anyhow::anyhow!("the bearing of event {event_id} is no longer kept");
        return Err(Failure::new(Exit::NoInput, told));
    };
    let mut lines = vec![format!(
        "event            {event_id} of {key}, judged {} at {}",
        diagnosis.risk_level, diagnosis.judged_at
    )];
    match &diagnosis.notification {
        Some(told) => {
            let reason = word(told.reason);
            lines.push(format!("message          written, {reason}: {}", told.notification_id));
            let rows = store.history().deliveries(told.notification_id).await;
            lines.extend(deliveries(&rows.map_err(failure::store)?));
        }
        None => lines.push(format!("told             no: {}", quiet(settings, &diagnosis))),
    }
    lines.push(String::new());
    lines.extend(of_bearing(store, settings, &key).await?);
    Ok(lines)
}

/// Says why a judgement tells staff nothing, by itself.
fn quiet(settings: &AgentSettings, diagnosis: &Diagnosis) -> String {
    let (level, from) = (diagnosis.risk_level, settings.notify.from);
    if level == RiskLevel::Normal {
        return "nothing stands".to_owned();
    }
    if level < from {
        return format!("{level} is below {from}, from which staff is told (notify.from)");
    }
    "its level and its damage were told before, or the bearing was suppressed; see below".to_owned()
}

async fn of_bearing(
    store: &Store,
    settings: &AgentSettings,
    key: &BearingKey,
) -> Result<Vec<String>, Failure> {
    let record = store.episodes().episode(key).await.map_err(failure::store)?;
    let standing = store.pages().standing(key).await.map_err(failure::store)?;
    let refused = store.gateways().refused().await.map_err(failure::store)?;
    let refused: Vec<_> = refused.iter().filter(|one| one.bearing == *key).collect();
    if record.is_none() && standing.is_none() && refused.is_empty() {
        if let Some(lines) = of_quiet_gateway(store, key).await? {
            return Ok(lines);
        }
        let told = anyhow::anyhow!("nothing is known of {key}");
        return Err(Failure::new(Exit::NoInput, told));
    }
    let mut lines = Vec::new();
    let stands = standing.as_ref().map(|row| row.risk_level);
    if let Some(row) = standing {
        lines.push(format!(
            "bearing          {key} stands at {}, stage {}, {}, judged {}",
            row.risk_level,
            row.fault_stage,
            row.fault_type.map_or("element not named", |fault| fault.as_str()),
            row.judged_at
        ));
    }
    for one in refused {
        lines.push(format!(
            "refused          {} events of {} since {}: {}",
            one.count, one.gateway, one.first_at, one.reason
        ));
    }
    let now = SystemClock.now();
    // notifications of a clock that was ahead are told too
    let end = now.ten_years_on();
    let written =
        store.pages().notifications(Some(key), end, MESSAGES).await.map_err(failure::store)?;
    let mut messages = Vec::with_capacity(written.len());
    for one in written {
        let rows = store.history().deliveries(one.notification_id).await.map_err(failure::store)?;
        messages.push((one, rows));
    }
    lines.extend(of_silent_gateway(store, settings, key).await?);
    match &record {
        Some(record) => lines.extend(episode(record, Reach::of(record, &messages), now)),
        None => lines.push(no_episode(settings.notify.from, stands)),
    }
    if messages.is_empty() {
        lines.push("messages         none".to_owned());
    }
    for (one, rows) in &messages {
        lines.push(message(one));
        lines.extend(deliveries(rows));
    }
    Ok(lines)
}

/// How far the messages of an alarm have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// A person's way or a hook has one, or none of them is kept.
    Told,
    /// The broker's topic alone has them.
    TopicAlone,
    /// They are written, and no way has delivered one.
    Written,
}

impl Reach {
    fn of(record: &EpisodeRecord, messages: &[(Notification, Vec<Delivery>)]) -> Self {
        let of_alarm = messages.iter().filter(|(one, _)| one.episode_id == Some(record.episode.id));
        let rows: Vec<&Delivery> = of_alarm.flat_map(|(_, rows)| rows).collect();
        let delivered = |is_topic: bool| {
            let mut of_kind = rows.iter().filter(|row| (row.lane == MQTT_LANE) == is_topic);
            of_kind.any(|row| row.state == "delivered")
        };
        let is_topic_only = rows.iter().all(|row| row.lane == MQTT_LANE);
        match (rows.is_empty() || delivered(false), is_topic_only && delivered(true)) {
            (true, _) => Self::Told,
            (false, true) => Self::TopicAlone,
            (false, false) => Self::Written,
        }
    }

    /// Describes the level that staff is to know.
    fn told(self, level: RiskLevel) -> String {
        match self {
            Self::Told => format!("told {level}"),
            Self::TopicAlone => format!(
                "told {level} on the broker's topic alone: no other way to staff was to hear it"
            ),
            Self::Written => format!(
                "{level} is written and not told: no way has delivered it yet, see the messages"
            ),
        }
    }
}

/// What is said of a bearing whose gateway is silent: it is not measured, and what was told of it
/// goes on.
async fn of_silent_gateway(
    store: &Store,
    settings: &AgentSettings,
    key: &BearingKey,
) -> Result<Option<String>, Failure> {
    let owners = store.gateways().bearing_owners().await.map_err(failure::store)?;
    let claimed =
        owners.into_iter().find(|(bearing, _)| bearing == key).map(|(_, gateway)| gateway);
    let owner = settings.gateways.of(key).or(claimed);
    let Some(alarm) = owner.as_ref().and_then(|one| silence_alarm(&one.site, &one.gateway)) else {
        return Ok(None);
    };
    let silence = store.episodes().episode(&alarm).await.map_err(failure::store)?;
    let silence = silence.filter(EpisodeRecord::is_open);
    Ok(silence.zip(owner).map(|(silence, gateway)| {
        format!(
            "gateway          {gateway} is silent since {}: the bearing is not measured, and what \
             was told of it and not acknowledged goes on",
            silence.episode.opened_at
        )
    }))
}

/// What is said of a gateway that staff was never told of under this name: that it is known, and
/// how it stands.
async fn of_quiet_gateway(store: &Store, key: &BearingKey) -> Result<Option<Vec<String>>, Failure> {
    if !is_gateway_level(key.equipment.as_str()) {
        return Ok(None);
    }
    let all = store.gateways().gateways().await.map_err(failure::store)?;
    let own = all.iter().find(|state| {
        let name = &state.gateway;
        name.site == key.site && name.gateway.as_str() == key.bearing.as_str()
    });
    Ok(own.map(|state| {
        vec![
            format!("gateway          {}", gateways::line(state)),
            format!("alarm            none: nothing was told under {key}"),
        ]
    }))
}

/// Returns the line on a bearing that has no episode under its name.
fn no_episode(from: RiskLevel, stands: Option<RiskLevel>) -> String {
    match stands.filter(|level| *level >= from) {
        Some(level) => format!(
            "alarm            none under this name: the bearing was renamed at {level}, which ends \
             the alarm of its former name, or notify.from was above that when it was judged; its \
             next window is told"
        ),
        None => format!("alarm            none: no window has reached {from} (notify.from)"),
    }
}

/// Returns the lines on the episode: what staff was told of it, or why it was not told.
fn episode(record: &EpisodeRecord, reach: Reach, now: Timestamp) -> Vec<String> {
    let EpisodeRecord { episode, alarm, beside } = record;
    let course = &episode.course;
    let stands = course.condition.level();
    let told = course.told.map_or("told nothing".to_owned(), |level| reach.told(level));
    let state = episode.state().as_str();
    let mut lines = vec![format!("alarm            {state}: stands at {stands}, {told}")];
    if let Some(told) = &course.told_finding {
        lines.push(format!("damage told      {}", damage(told)));
    }
    match &episode.suppression {
        Suppression::None => {}
        Suppression::ByDesign { reason } => {
            lines.push(format!("suppressed       by design: {reason}"));
        }
        Suppression::Shelved { until, by, reason } => {
            lines.push(format!("suppressed       shelved until {until} by {by}: {reason}"));
        }
        Suppression::OutOfService { until, by, reason, .. } => {
            lines.push(format!("suppressed       out of service until {until} by {by}: {reason}"));
        }
    }
    if let Some(beside) = beside {
        let named = course.told_with.is_some_and(|one| one.is_named);
        let how = if named { "which names it" } else { "which is to name it" };
        lines.push(format!("told with        {} at {}, {how}", beside.source, beside.level));
    }
    if let Some(peak) = course.withheld.and_then(|one| one.peak) {
        lines.push(format!("withheld         {peak}, until the suppression ends"));
    }
    if let AcknowledgementState::Acknowledged { level, by, at, .. } = &episode.acknowledgement {
        lines.push(format!("acknowledged     {level} by {by} at {at}: not repeated"));
    }
    if let Some(at) = alarm.as_ref().and_then(|alarm| alarm.repeat_at).filter(|at| *at > now) {
        lines.push(format!("next repetition  {at}"));
    }
    let telling = alarm.as_ref().and_then(|alarm| alarm.telling.as_ref());
    if let Some(telling) = telling {
        let route = telling.route.as_deref().unwrap_or("everybody");
        let held = if telling.is_held() { ", held by quiet hours" } else { "" };
        let next = next_step(record, telling.next, now);
        lines.push(format!("route            {route}, {} steps told{held}{next}", telling.steps));
    }
    lines
}

/// When the next step of a route is told; why it rests where it does. A time that has passed is
/// none to wait for.
fn next_step(record: &EpisodeRecord, next: Option<Timestamp>, now: Timestamp) -> String {
    let Some(at) = next else { return String::new() };
    let episode = &record.episode;
    let rests = if !record.is_open() || episode.course.condition.level() == RiskLevel::Normal {
        "no level stands"
    } else if episode.acknowledgement.is_acknowledged() {
        "it is acknowledged"
    } else if episode.suppression != Suppression::None {
        "it is suppressed"
    } else if at > now {
        return format!(", next step {at}");
    } else {
        return format!(", the next step is due since {at}");
    };
    format!(", no further step while {rests}")
}

/// What staff was told of the damage in this episode.
fn damage(told: &ToldFinding) -> String {
    let named: Vec<&str> = told.elements.iter().map(|fault| fault.as_str()).collect();
    let named = if named.is_empty() { "element not named".to_owned() } else { named.join(", ") };
    let hurry = if told.is_urgent { ", parts to be hurried" } else { "" };
    let times = match told.tellings.last() {
        Some(at) => format!("; last told by itself for a window of {at}"),
        None => String::new(),
    };
    format!("stage {}, {named}{hurry}{times}", told.stage)
}

fn message(told: &Notification) -> String {
    let reason = word(told.reason);
    format!("message          {} {reason} {}: {}", told.created_at, told.risk_level, told.title.en)
}

/// The reason of a message as the contract spells it.
fn word(reason: NotificationReason) -> String {
    let value = serde_json::to_value(reason).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns the lines on the deliveries of a message, by channel.
fn deliveries(rows: &[Delivery]) -> Vec<String> {
    if rows.is_empty() {
        let none = "no row of it is in the outbox: no channel was to hear it (its level is below \
                    theirs), its rows are no longer kept, or somebody has deleted them";
        return vec![format!("    {none}")];
    }
    rows.iter().map(delivery).collect()
}

fn delivery(one: &Delivery) -> String {
    let why = one.error.as_deref().map_or(String::new(), |error| format!(": {error}"));
    let Delivery { lane, attempts, due_at, settled_at, .. } = one;
    let at = settled_at.map_or(String::new(), |at| format!(" at {at}"));
    match one.state.as_str() {
        "delivered" => format!("    {lane:<20} delivered{at}{why}"),
        "given_up" => format!("    {lane:<20} given up{at} after {attempts} tries{why}"),
        "held" => format!(
            "    {lane:<20} held{at}: above the hour's ceiling (notify.per_recipient_per_hour), \
             told in its summary"
        ),
        _ if *attempts > 0 => {
            format!("    {lane:<20} waits until {due_at}, {attempts} tries failed{why}")
        }
        _ => format!("    {lane:<20} waits until {due_at}"),
    }
}

#[cfg(test)]
mod tests {
    use pdm_shared::event::Event;
    use pdm_store::Incoming;

    use super::*;

    /// A gateway that is there was "nothing is known of" as long as nobody had been told of it.
    #[tokio::test]
    async fn a_gateway_of_which_nothing_was_told_is_known() {
        let folder = tempfile::tempdir().expect("folder");
        let settings = AgentSettings::embedded("127.0.0.1", 1, folder.path().join("agent.db"));
        let store = pdm_store::open(&settings.store).await.expect("opens");
        let payload = include_str!("../../../config/examples/event.json").to_owned();
        let event: Event = serde_json::from_str(&payload).expect("event");
        let (site, gateway) = (event.site.clone(), event.gateway_id.clone());
        let incoming = Incoming::Event { event: Box::new(event), payload, proven: false };
        store.intake().store(&[incoming], SystemClock.now(), "dead").await.expect("stored");
        for level in ["gateway", "refused-events", "gateway-trouble", "not-measured", "no-data"] {
            let key = BearingKey::parse(site.as_str(), level, gateway.as_str()).expect("a name");
            let lines = of_bearing(&store, &settings, &key).await.expect("known");
            assert!(lines[0].contains(&format!("{site}/{gateway}")), "{lines:?}");
            assert!(lines[1].contains("nothing was told"), "{lines:?}");
            let other = BearingKey::parse(site.as_str(), level, "gw-99").expect("a name");
            let unknown = of_bearing(&store, &settings, &other).await.expect_err("unknown");
            assert!(unknown.to_string().contains("nothing is known"), "{unknown}");
        }
        store.close().await;
    }
}
