//! The thresholds that are tried, and the configurations made of them.
//!
//! The set is fixed before an event is read, so that no machine has a part in it.

use pdm_shared::risk::RiskLevel;
use serde::Serialize;

use crate::backtest::Side;

/// A threshold that is tried.
struct Knob {
    /// The key in the file of rules (`diagnosis.toml`), or `notify.from` of `agent.toml`.
    key: &'static str,
    /// The values, from the one that tells most to the one that tells least.
    values: &'static [f64],
    /// Whether its values are tried together with those of the other main thresholds.
    is_main: bool,
    of: fn(&Side) -> f64,
    set: fn(&mut Side, f64),
}

/// The thresholds, the main ones first. The values lie around the shipped ones, from half to twice
/// or what people would try; chosen, as no published range was found.
const KNOBS: [Knob; 8] = [
    Knob {
        key: "screening.confirm_after",
        values: &[2.0, 3.0, 6.0, 12.0],
        is_main: true,
        of: |side| f64::from(side.rules.screening.confirm_after),
        set: |side, value| side.rules.screening.confirm_after = value as u32,
    },
    Knob {
        key: "risk.warning_level_ratio",
        values: &[1.5, 2.0, 3.0],
        is_main: true,
        of: |side| side.rules.risk.warning_level_ratio,
        set: |side, value| side.rules.risk.warning_level_ratio = value,
    },
    Knob {
        key: "notify.from",
        values: &[1.0, 2.0],
        is_main: true,
        of: |side| if side.notify.from <= RiskLevel::Watch { 1.0 } else { 2.0 },
        set: |side, value| {
            side.notify.from = if value < 1.5 { RiskLevel::Watch } else { RiskLevel::Warning };
        },
    },
    Knob {
        key: "screening.name_confidence",
        values: &[0.3, 0.5, 0.7, 0.9],
        is_main: false,
        of: |side| side.rules.screening.name_confidence,
        set: |side, value| side.rules.screening.name_confidence = value,
    },
    Knob {
        key: "screening.suspicious_kurtosis",
        values: &[4.5, 6.0, 9.0],
        is_main: false,
        of: |side| side.rules.screening.suspicious_kurtosis,
        set: |side, value| side.rules.screening.suspicious_kurtosis = value,
    },
    Knob {
        key: "risk.critical_level_ratio",
        values: &[3.5, 5.0, 8.0],
        is_main: false,
        of: |side| side.rules.risk.critical_level_ratio,
        set: |side, value| side.rules.risk.critical_level_ratio = value,
    },
    Knob {
        key: "rul.warning_lead_times",
        values: &[4.0, 2.0, 1.0],
        is_main: false,
        of: |side| side.rules.rul.warning_lead_times,
        set: |side, value| side.rules.rul.warning_lead_times = value,
    },
    Knob {
        key: "risk.downgrade_after",
        values: &[10.0, 30.0, 90.0],
        is_main: false,
        of: |side| f64::from(side.rules.risk.downgrade_after),
        set: |side, value| side.rules.risk.downgrade_after = value as u32,
    },
];

/// A threshold and its other value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Change {
    /// The key in the file of rules (`diagnosis.toml`), or `notify.from` of `agent.toml`.
    pub(crate) key: &'static str,
    /// The value of the configuration, as TOML.
    pub(crate) from: String,
    /// The value that is tried, as TOML.
    pub(crate) to: String,
}

/// A configuration that is tried.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    /// What differs from the configuration; nothing for the configuration itself.
    pub(crate) changes: Vec<Change>,
    /// The configuration.
    pub(crate) side: Side,
}

/// The configurations that are tried: `base` first, each threshold by itself, and the main ones
/// together. What the rules refuse is left out.
pub(crate) fn candidates(base: &Side) -> Vec<Candidate> {
    let mut found = vec![Candidate { changes: Vec::new(), side: base.clone() }];
    let mut add = |side: Side| {
        let is_known = |one: &Candidate| {
            one.side.rules == side.rules && one.side.notify.from == side.notify.from
        };
        if side.rules.check().is_ok()
            && side.rules.risk.warning_level_ratio < side.rules.risk.critical_level_ratio
            && !found.iter().any(is_known)
        {
            found.push(Candidate { changes: changes(base, &side), side });
        }
    };
    for knob in &KNOBS {
        for value in knob.values {
            let mut side = base.clone();
            (knob.set)(&mut side, *value);
            add(side);
        }
    }
    let mut together = vec![base.clone()];
    for knob in KNOBS.iter().filter(|knob| knob.is_main) {
        let with = |side: &Side| {
            let values = knob.values.iter().map(|value| {
                let mut side = side.clone();
                (knob.set)(&mut side, *value);
                side
            });
            std::iter::once(side.clone()).chain(values).collect::<Vec<_>>()
        };
        together = together.iter().flat_map(with).collect();
    }
    together.into_iter().for_each(add);
    found
}

fn changes(base: &Side, side: &Side) -> Vec<Change> {
    let differing = KNOBS.iter().filter(|knob| {
        let (from, to) = ((knob.of)(base), (knob.of)(side));
        (from - to).abs() > f64::EPSILON
    });
    let change = |knob: &Knob| Change {
        key: knob.key,
        from: in_toml(knob, (knob.of)(base)),
        to: in_toml(knob, (knob.of)(side)),
    };
    differing.map(change).collect()
}

/// A value as the configuration writes it.
fn in_toml(knob: &Knob, value: f64) -> String {
    match knob.key {
        "notify.from" if value < 1.5 => "\"Watch\"".to_owned(),
        "notify.from" => "\"Warning\"".to_owned(),
        key if key.ends_with("_after") => format!("{value:.0}"),
        _ => format!("{value:?}"),
    }
}
