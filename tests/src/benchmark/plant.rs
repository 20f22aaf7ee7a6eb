//! A simulated plant: what staff of many machines would be told in a quarter of a year.
//!
//! Each machine has two bearings, run-in, standstills, load steps (announced by a key or not), days
//! and seasons, sensor faults and maintenance; a few bearings fail in one of four ways. Features go
//! through the edge's [`Monitor`], the rules of `pdm-expert` and the policy of telling
//! ([`Preview`]); nothing but the scorer knows what a machine was drawn as.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use pdm_agent::preview::Preview;
use pdm_agent::settings::{NotifySettings, WebhookSettings};
use pdm_edge::condition::{Monitor, MonitorSettings, Neighbour, Observation};
use pdm_edge::pipeline::tell_once;
use pdm_expert::rules::Rules;
use pdm_shared::delivery::NotificationReason;
use pdm_shared::event::{Event, QualityFlag};
use pdm_shared::id::{BearingId, EquipmentId};
use pdm_shared::risk::RiskLevel;
use serde::Serialize;

mod machine;

pub use machine::Decay;
use machine::{Bearing, DAYS, Machine, PERIOD_S, Window};

/// Hours below Watch after which a return is an episode of its own.
const EPISODE_H: f64 = 48.0;

/// The results of the plant.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Plant {
    /// Years that sound bearings were watched: those that never fail, and the others until damage.
    pub sound_years: f64,
    /// Episodes of sound bearings, by what the machine was going through.
    pub false_episodes: Vec<String>,
    /// Bearings that failed.
    pub failures: Vec<Failed>,
    /// Windows in which a change of the machine was found, counted for each of its bearings.
    pub changes: usize,
    /// Messages about sound bearings.
    pub sound_messages: Vec<SoundMessage>,
    /// Bearings that were watched while they were sound.
    pub sound_bearings: usize,
}

/// A message about a sound bearing.
#[derive(Debug, Clone, Serialize)]
pub struct SoundMessage {
    /// Day on which the message left.
    pub day: u32,
    /// The name of the message, the same for all that left in it.
    pub message: String,
    /// Machine and bearing.
    pub name: String,
    /// The title, which staff reads first.
    pub title: String,
    /// The subject.
    pub kind: Kind,
}

/// The subject of a message about a sound bearing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Kind {
    /// Damage, or the end of it: there is none.
    Alarm,
    /// A sensor that fails. Sensors of the plant do.
    FailedSensor,
    /// A change of the machine, or a sensor's return.
    News,
}

impl Kind {
    fn of(reason: NotificationReason) -> Self {
        match reason {
            NotificationReason::Silent => Self::FailedSensor,
            NotificationReason::Message => Self::News,
            NotificationReason::Raised
            | NotificationReason::Repeated
            | NotificationReason::Cleared => Self::Alarm,
        }
    }
}

/// A bearing that failed.
#[derive(Debug, Clone, Serialize)]
pub struct Failed {
    /// Machine, bearing and kind of damage.
    pub name: String,
    /// How it failed.
    pub decay: Decay,
    /// Hours before the end at which it was told as Watch or worse.
    pub watch_h: Option<f64>,
    /// Hours before the end at which it was told as Warning or worse.
    pub warning_h: Option<f64>,
    /// Hours before the end at which its level was twice the healthy one.
    pub doubled_h: f64,
    /// Hours before the end at which the machine has run for a day since then.
    pub told_by_h: f64,
    /// The events of the machine until its last window.
    pub gone_through: String,
    /// Windows measured from then on: a machine that stands is not measured.
    pub windows: usize,
    /// Episodes that staff was told of from the damage on.
    pub episodes: usize,
    /// Messages from the damage on, where staff acknowledges within an hour.
    pub messages: usize,
}

impl Failed {
    /// Told as Warning its lead time ahead, or within a day of running since the doubling of its
    /// level where that came later.
    fn is_in_time(&self, lead_h: f64) -> bool {
        let allowed = self.told_by_h.min(lead_h);
        self.warning_h.is_some_and(|hours| hours >= allowed)
    }
}

/// Watches the first `watched` of `machines` machines, the first of seed `first`; those whose
/// bearings fail stand first where `first` is a multiple of `machines`.
pub fn evaluate(first: u64, machines: u64, watched: u64) -> Plant {
    let mut plant = Plant::default();
    for seed in first..first + watched.min(machines) {
        let machine = Machine::draw(seed, machines);
        watch(seed, &machine, &mut plant);
    }
    plant
}

/// A bearing while it is watched.
struct Watched<'a> {
    bearing: &'a Bearing,
    /// Hours for which it is watched.
    end_h: f64,
    windows: std::iter::Peekable<Box<dyn Iterator<Item = Window> + 'a>>,
    monitor: Monitor,
    /// Episodes and messages since its damage.
    damage_episodes: std::collections::BTreeSet<uuid::Uuid>,
    damage_messages: usize,
    last_watch_h: Option<f64>,
    watch_h: Option<f64>,
    warning_h: Option<f64>,
    /// Windows measured since its level has doubled.
    measured: usize,
    gone_through: String,
}

impl<'a> Watched<'a> {
    fn new(machine: &'a Machine, bearing: &'a Bearing) -> Self {
        let windows: Box<dyn Iterator<Item = Window>> = Box::new(machine.windows(bearing));
        Self {
            bearing,
            end_h: bearing.fails_at_h.unwrap_or_else(|| machine.watched_h()),
            windows: windows.peekable(),
            monitor: Monitor::new(MonitorSettings::default()),
            damage_episodes: std::collections::BTreeSet::new(),
            damage_messages: 0,
            last_watch_h: None,
            watch_h: None,
            warning_h: None,
            measured: 0,
            gone_through: String::new(),
        }
    }

    fn sound_h(&self) -> f64 {
        self.bearing.damaged_from_h.unwrap_or(self.end_h)
    }

    /// Judges the window of this hour as the edge does, if there is one.
    fn measure(
        &mut self,
        hours: f64,
        template: &Event,
        neighbours: &[Neighbour],
    ) -> Option<(Window, Event)> {
        let window = self.windows.next_if(|window| window.hours <= hours)?;
        if window.relearn {
            self.monitor.relearn();
        }
        let event = measured(template, &window, &mut self.monitor, neighbours);
        Some((window, event))
    }

    /// Judges the event of a window as the agent does, and counts what is told.
    fn take(&mut self, window: &Window, event: &Event, staff: &mut Staff, plant: &mut Plant) {
        let sound_h = self.sound_h();
        let left_h = self.end_h - window.hours;
        let has_doubled = left_h <= self.bearing.doubled_before_end_h();
        self.gone_through.clone_from(&window.going_on);
        self.measured += usize::from(window.valid && has_doubled);
        if window.relearn {
            staff.preview.forget(&event.key());
        }
        let risk = staff.preview.play(event);
        plant.changes += usize::from(event.change.is_some());
        self.count(window, event, staff, plant);
        if risk > RiskLevel::Normal {
            let is_new = self.last_watch_h.is_none_or(|last| window.hours - last > EPISODE_H);
            if is_new && window.hours < sound_h {
                let (name, going_on) = (&self.bearing.name, &window.going_on);
                plant.false_episodes.push(format!("{name} at {:.0} h: {going_on}", window.hours));
            }
            self.last_watch_h = Some(window.hours);
            if window.hours >= sound_h {
                self.watch_h.get_or_insert(left_h);
            }
        }
        if risk >= RiskLevel::Warning && window.hours >= sound_h {
            self.warning_h.get_or_insert(left_h);
        }
    }

    /// Counts what staff was told with a window, and acknowledges it.
    fn count(&mut self, window: &Window, event: &Event, staff: &mut Staff, plant: &mut Plant) {
        let told = staff.preview.told();
        for (place, one) in told.iter().enumerate().skip(staff.counted) {
            if window.hours < self.sound_h() {
                let (reason, way) = (one.reason, staff.preview.way(place));
                let wait_s = way.leaves_at.map_or(0.0, |at| at.seconds_since(window.at));
                plant.sound_messages.push(SoundMessage {
                    day: (window.hours / 24.0 + wait_s / 86_400.0) as u32,
                    message: way.message.unwrap_or_else(|| one.notification_id.to_string()),
                    name: self.bearing.name.clone(),
                    title: one.title.en.clone(),
                    kind: Kind::of(reason),
                });
            } else {
                self.damage_messages += 1;
                self.damage_episodes.extend(one.episode_id);
            }
        }
        staff.counted = told.len();
        staff.preview.acknowledge(&event.key(), "staff", window.at);
    }

    fn finish(self, plant: &mut Plant) {
        plant.sound_bearings += 1;
        plant.sound_years += self.sound_h().min(self.end_h) / (24.0 * 365.25);
        if let (Some(decay), Some(_)) = (self.bearing.decay, self.bearing.fails_at_h) {
            plant.failures.push(Failed {
                name: self.bearing.name.clone(),
                decay,
                watch_h: self.watch_h,
                warning_h: self.warning_h,
                doubled_h: self.bearing.doubled_before_end_h(),
                told_by_h: self.bearing.told_before_end_h(),
                gone_through: self.gone_through,
                windows: self.measured,
                episodes: self.damage_episodes.len(),
                messages: self.damage_messages,
            });
        }
    }
}

/// The staff of a machine, which gets the messages of its bearings, several of one cause in one
/// message.
struct Staff {
    preview: Preview,
    /// Messages that are counted.
    counted: usize,
}

/// Watches the bearings of a machine side by side, as the edge does: each knows what the others had
/// seen by the window before.
fn watch(seed: u64, machine: &Machine, plant: &mut Plant) {
    let mut template: Event =
        serde_json::from_str(include_str!("../../../config/examples/event-healthy.json"))
            .expect("the contract's example is an event");
    template.equipment_id = EquipmentId::from_any(&format!("M-{seed}"));
    let preview = Preview::new(settings(), Rules::default());
    let mut staff = Staff { preview, counted: 0 };
    let mut watched: Vec<Watched<'_>> =
        machine.bearings.iter().map(|bearing| Watched::new(machine, bearing)).collect();
    for n in 0..(machine.watched_h() * 3600.0 / PERIOD_S) as usize {
        let hours = n as f64 * PERIOD_S / 3600.0;
        let seen: Vec<Arc<_>> = (1..)
            .zip(&watched)
            .map(|(number, one)| Arc::new((named(number), one.monitor.seen())))
            .collect();
        let (mut of_hour, mut events) = (Vec::new(), Vec::new());
        for (own, one) in watched.iter_mut().enumerate() {
            let others = seen.iter().enumerate().filter(|(other, _)| *other != own);
            let neighbours: Vec<Neighbour> = others
                .map(|(_, seen)| Neighbour { point: Arc::clone(seen), is_same_bearing: false })
                .collect();
            if let Some((window, mut event)) = one.measure(hours, &template, &neighbours) {
                event.bearing_id = named(own + 1);
                of_hour.push((own, window));
                events.push(event);
            }
        }
        tell_once(&mut events);
        for ((own, window), event) in of_hour.iter().zip(&events) {
            watched[*own].take(window, event, &mut staff, plant);
        }
    }
    for one in watched {
        one.finish(plant);
    }
}

/// Returns the settings of a staff that hears by one channel, with the program's defaults.
fn settings() -> NotifySettings {
    let staff = WebhookSettings {
        name: "staff".to_owned(),
        url: Some("http://staff.invalid/".to_owned()),
        ..WebhookSettings::default()
    };
    NotifySettings { webhook: vec![staff], ..NotifySettings::default() }
}

/// The name of a machine's bearing by its number, from 1 on.
fn named(number: usize) -> BearingId {
    BearingId::from_any(&format!("B{number}"))
}

/// The event that the edge would make of a window.
fn measured(
    template: &Event,
    window: &Window,
    monitor: &mut Monitor,
    neighbours: &[Neighbour],
) -> Event {
    let observation = Observation {
        at: window.at,
        state: window.state.to_owned(),
        usable: window.valid,
        turns_per_h: Some(60.0 * 1480.0),
        features: window.features.clone(),
    };
    let judgement = monitor.observe_beside(&observation, neighbours);
    let mut event = template.clone();
    event.measured_at = window.at;
    window.state.clone_into(&mut event.operating.state);
    event.signal_quality.valid = window.valid;
    event.signal_quality.flags = if window.valid { vec![] } else { vec![QualityFlag::FlatLine] };
    event.anomaly_detected = judgement.anomaly_detected;
    event.anomaly = judgement.anomaly;
    event.trend = judgement.trend;
    event.rul = judgement.rul;
    event.spectra = None;
    let get = |key: &str| window.features.get(key).copied();
    event.time_domain.rms_g = get("rms_g");
    event.time_domain.envelope_rms_g = get("envelope_rms_g");
    event.time_domain.kurtosis = get("kurtosis");
    event.time_domain.crest_factor = get("crest_factor");
    event.time_domain.velocity_rms_mm_s = get("velocity_rms_mm_s");
    event.change = judgement.change;
    event
}

impl Plant {
    /// The results as Markdown, failures first.
    pub fn markdown(&self) -> String {
        let mut text = String::from("## Simulated plant\n\n");
        // writing to a string cannot fail
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        let lead_h = Rules::default().lead_time.total_h();
        let hours = |h: Option<f64>| h.map_or("never".to_owned(), |h| format!("{h:.0} h ahead"));
        for failed in self.failures.iter().filter(|failed| failed.watch_h.is_none()) {
            writeln!(
                text,
                "- MISSED: {} ({:?}), {} windows measured since its level had doubled; {}",
                failed.name, failed.decay, failed.windows, failed.gone_through
            )?;
        }
        for failed in self.failures.iter().filter(|failed| !failed.is_in_time(lead_h)) {
            let (watch, warning) = (hours(failed.watch_h), hours(failed.warning_h));
            writeln!(
                text,
                "- late: {} ({:?}): Watch {watch}, Warning {warning}, level doubled {:.0} h ahead; \
                 {}",
                failed.name, failed.decay, failed.doubled_h, failed.gone_through
            )?;
        }
        for episode in &self.false_episodes {
            writeln!(text, "- false episode: {episode}")?;
        }
        writeln!(
            text,
            "\n{} false episodes in {:.1} years of sound bearings: {:.2} in ten years; {} \
             failures, {} missed, {} late\n",
            self.false_episodes.len(),
            self.sound_years,
            10.0 * self.false_episodes.len() as f64 / self.sound_years.max(f64::MIN_POSITIVE),
            self.failures.len(),
            self.failures.iter().filter(|failed| failed.watch_h.is_none()).count(),
            self.failures.iter().filter(|failed| !failed.is_in_time(lead_h)).count(),
        )?;
        writeln!(
            text,
            "{}\nOne window every {:.0} minutes for {DAYS:.0} days; {} changes of machines were \
             told.\n",
            self.messages(),
            PERIOD_S / 60.0,
            self.changes
        )
    }

    /// Returns a paragraph on the messages to staff.
    fn messages(&self) -> String {
        let most = |of: fn(&Failed) -> usize| self.failures.iter().map(of).max().unwrap_or(0);
        let mut kinds = BTreeMap::<&str, usize>::new();
        for told in &self.sound_messages {
            *kinds.entry(kind_of(&told.title)).or_default() += 1;
        }
        let kinds: Vec<String> =
            kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        let news = self.sound_messages.len();
        let (mean, worst) = self.a_day(|_| true);
        let (sound, worst_sound) = self.a_day(|told| told.kind != Kind::FailedSensor);
        let (alarms, worst_alarms) = self.a_day(|told| told.kind == Kind::Alarm);
        format!(
            "Episodes a failure: at most {}, messages at most {} (acknowledged within an hour). \
             Messages about 200 sound bearings in 24 h: {mean:.2} on average, {worst:.1} on the \
             worst day; without those that tell of a sensor which did fail: {sound:.2} and \
             {worst_sound:.1}; of alarms and what takes them back: {alarms:.2} and \
             {worst_alarms:.1}. They told {news} things: {}.\n",
            most(|failed| failed.episodes),
            most(|failed| failed.messages),
            kinds.join(", "),
        )
    }

    /// Messages about 200 sound bearings in a day, on average and on the worst one.
    fn a_day(&self, counts: impl Fn(&SoundMessage) -> bool) -> (f64, f64) {
        let counted = self.sound_messages.iter().filter(|told| counts(told));
        let messages: BTreeMap<&str, u32> =
            counted.map(|told| (told.message.as_str(), told.day)).collect();
        let mut days = BTreeMap::<u32, usize>::new();
        for day in messages.into_values() {
            *days.entry(day).or_default() += 1;
        }
        let bearing_days = (self.sound_years * 365.25).max(f64::MIN_POSITIVE);
        let all = days.values().sum::<usize>() as f64;
        let worst = days.values().max().copied().unwrap_or(0) as f64;
        (200.0 * all / bearing_days, 200.0 * worst / self.sound_bearings.max(1) as f64)
    }
}

/// The first words of a title, which say what it is: `[Sensor]`.
fn kind_of(title: &str) -> &str {
    let begin = title.find('[').unwrap_or(0);
    let end = title.find(']').map_or(title.len(), |end| end + 1);
    title.get(begin..end).unwrap_or(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plant_in_which_nothing_fails_is_quiet_and_one_that_fails_is_told() {
        let plant = evaluate(0, 8, 8);
        assert!(plant.sound_years > 1.0);
        assert!(plant.failures.iter().all(|failed| failed.watch_h.is_some()), "{plant:?}");
    }
}
