//! A simulated plant: what staff of many machines would be told in a quarter of a year.
//!
//! Each machine has two bearings, run-in, standstills, load steps (announced by a key or not), days
//! and seasons, sensor faults and maintenance; a few bearings fail in one of four ways. Features go
//! through the edge's [`Monitor`] and the rules of `pdm-expert`; nothing but the scorer knows what a
//! machine was drawn as.

use std::fmt::Write as _;
use std::sync::Arc;

use pdm_edge::condition::{Monitor, MonitorSettings, Neighbour, Observation};
use pdm_expert::case::{Case, Memory};
use pdm_expert::rules::Rules;
use pdm_shared::event::{Event, QualityFlag};
use pdm_shared::id::BearingId;
use pdm_shared::risk::RiskLevel;
use serde::Serialize;

mod machine;

pub use machine::Decay;
use machine::{Bearing, DAYS, Machine, PERIOD_S, Window};

/// Hours below Watch after which a return is an episode of its own.
const EPISODE_H: f64 = 48.0;

/// What became of the plant.
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
    /// Windows measured from then on: a machine that stands is not measured.
    pub windows: usize,
}

impl Failed {
    /// Told as Warning its lead time ahead, or within a day of the doubling of its level where that
    /// came later.
    fn is_in_time(&self, lead_h: f64) -> bool {
        let allowed = (self.doubled_h - 24.0).min(lead_h).max(0.0);
        self.warning_h.is_some_and(|hours| hours >= allowed)
    }
}

/// Watches `machines` machines, the first of seed `first`.
pub fn evaluate(first: u64, machines: u64) -> Plant {
    let rules = Rules::default();
    let mut plant = Plant::default();
    for seed in first..first + machines {
        let machine = Machine::draw(seed, machines);
        watch(&machine, &rules, &mut plant);
    }
    plant
}

/// A bearing while it is watched.
struct Watched<'a> {
    bearing: &'a Bearing,
    windows: std::iter::Peekable<Box<dyn Iterator<Item = Window> + 'a>>,
    monitor: Monitor,
    memory: Memory,
    last_watch_h: Option<f64>,
    watch_h: Option<f64>,
    warning_h: Option<f64>,
    /// Windows measured since its level has doubled.
    measured: usize,
}

impl<'a> Watched<'a> {
    fn new(machine: &'a Machine, bearing: &'a Bearing) -> Self {
        let windows: Box<dyn Iterator<Item = Window>> = Box::new(machine.windows(bearing));
        Self {
            bearing,
            windows: windows.peekable(),
            monitor: Monitor::new(MonitorSettings::default()),
            memory: Memory::default(),
            last_watch_h: None,
            watch_h: None,
            warning_h: None,
            measured: 0,
        }
    }

    fn end_h(&self) -> f64 {
        self.bearing.fails_at_h.unwrap_or(24.0 * DAYS)
    }

    fn sound_h(&self) -> f64 {
        self.bearing.damaged_from_h.unwrap_or_else(|| self.end_h())
    }

    /// Judges the window of this hour, if there is one.
    fn take(
        &mut self,
        hours: f64,
        (template, rules): (&Event, &Rules),
        neighbours: &[Neighbour],
        plant: &mut Plant,
    ) {
        let Some(window) = self.windows.next_if(|window| window.hours <= hours) else { return };
        let (end_h, sound_h) = (self.end_h(), self.sound_h());
        let left_h = end_h - window.hours;
        let has_doubled = left_h <= self.bearing.doubled_before_end_h();
        self.measured += usize::from(window.valid && has_doubled);
        if window.relearn {
            self.monitor.relearn();
            self.memory = Memory::default();
        }
        let (monitor, memory) = (&mut self.monitor, &mut self.memory);
        let (risk, changed) = judged(template, &window, (monitor, memory), neighbours, rules);
        plant.changes += usize::from(changed);
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

    fn finish(self, plant: &mut Plant) {
        plant.sound_years += self.sound_h().min(self.end_h()) / (24.0 * 365.25);
        if let (Some(decay), Some(_)) = (self.bearing.decay, self.bearing.fails_at_h) {
            plant.failures.push(Failed {
                name: self.bearing.name.clone(),
                decay,
                watch_h: self.watch_h,
                warning_h: self.warning_h,
                doubled_h: self.bearing.doubled_before_end_h(),
                windows: self.measured,
            });
        }
    }
}

/// Watches the bearings of a machine side by side, as the edge does: each knows what the others had
/// seen by the window before.
fn watch(machine: &Machine, rules: &Rules, plant: &mut Plant) {
    let template: Event =
        serde_json::from_str(include_str!("../../../config/examples/event-healthy.json"))
            .expect("the contract's example is an event");
    let mut watched: Vec<Watched<'_>> =
        machine.bearings.iter().map(|bearing| Watched::new(machine, bearing)).collect();
    for n in 0..(24.0 * DAYS * 3600.0 / PERIOD_S) as usize {
        let hours = n as f64 * PERIOD_S / 3600.0;
        let seen: Vec<Arc<_>> = (1..)
            .zip(&watched)
            .map(|(number, one)| {
                Arc::new((BearingId::from_any(&format!("B{number}")), one.monitor.seen()))
            })
            .collect();
        for (own, one) in watched.iter_mut().enumerate() {
            let others = seen.iter().enumerate().filter(|(other, _)| *other != own);
            let neighbours: Vec<Neighbour> = others
                .map(|(_, seen)| Neighbour { point: Arc::clone(seen), is_same_bearing: false })
                .collect();
            one.take(hours, (&template, rules), &neighbours, plant);
        }
    }
    for one in watched {
        one.finish(plant);
    }
}

/// The risk that a bearing stands at after a window, and whether a change was told with it.
fn judged(
    template: &Event,
    window: &Window,
    (monitor, memory): (&mut Monitor, &mut Memory),
    neighbours: &[Neighbour],
    rules: &Rules,
) -> (RiskLevel, bool) {
    let observation = Observation {
        at: window.at,
        state: window.state.to_owned(),
        usable: window.valid,
        turns_per_h: Some(60.0 * 1480.0),
        features: window.features.clone(),
    };
    let judgement = monitor.observe_beside(&observation, neighbours);
    let changed = judgement.change.is_some();
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
    let judgement = pdm_expert::judge(&Case { event: &event, memory, now: window.at }, rules);
    memory.recall(&event, &judgement);
    (memory.state.risk(), changed)
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
                "- MISSED: {} ({:?}), {} windows measured since its level had doubled",
                failed.name, failed.decay, failed.windows
            )?;
        }
        for failed in self.failures.iter().filter(|failed| !failed.is_in_time(lead_h)) {
            let (watch, warning) = (hours(failed.watch_h), hours(failed.warning_h));
            writeln!(
                text,
                "- late: {} ({:?}): Watch {watch}, Warning {warning}, level doubled {:.0} h ahead",
                failed.name, failed.decay, failed.doubled_h
            )?;
        }
        for episode in &self.false_episodes {
            writeln!(text, "- false episode: {episode}")?;
        }
        writeln!(
            text,
            "\n{} false episodes in {:.1} years of sound bearings: {:.2} in ten years; {} failures, \
             {} missed, {} late\n",
            self.false_episodes.len(),
            self.sound_years,
            10.0 * self.false_episodes.len() as f64 / self.sound_years.max(f64::MIN_POSITIVE),
            self.failures.len(),
            self.failures.iter().filter(|failed| failed.watch_h.is_none()).count(),
            self.failures.iter().filter(|failed| !failed.is_in_time(lead_h)).count(),
        )?;
        writeln!(
            text,
            "One window every {:.0} minutes for {DAYS:.0} days; {} changes of machines were told.\n",
            PERIOD_S / 60.0,
            self.changes
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plant_in_which_nothing_fails_is_quiet_and_one_that_fails_is_told() {
        let plant = evaluate(0, 8);
        assert!(plant.sound_years > 1.0);
        assert!(plant.failures.iter().all(|failed| failed.watch_h.is_some()), "{plant:?}");
    }
}
