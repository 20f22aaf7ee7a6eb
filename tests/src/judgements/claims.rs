//! Rules on the claims of a judgement: the grounds of a stop, degradation and life, other machines
//! as proof, and the questions that the event leaves open.

use pdm_shared::diagnosis::{Diagnosis, ThoughtTitle};
use pdm_shared::event::{Event, IsoZone};
use pdm_shared::fault::Fault;
use pdm_shared::risk::RiskLevel;

use super::{Contradiction, hours, of, thought};

/// Sentences that say that a window is sound.
const ALL_IS_WELL: [&str; 4] = [
    "features agree",
    "of the features agrees",
    "nothing that asks for action",
    "Keep running and",
];
/// Sentences by which an anomaly does not come from the bearing.
const OF_MACHINE: [&str; 3] = [
    "without a sign of bearing damage",
    "nothing that speaks of bearing damage",
    "contact of sensor or cable",
];
/// Sentences by which nothing grows.
const NO_GROWTH: [&str; 4] =
    ["No trend", "No significant", "Too little data for a trend", "without an anomaly"];
/// Velocity RMS, mm/s, beyond zone B of every machine class of ISO 20816-3.
const BAD_IN_EVERY_CLASS: f64 = 7.1;
/// Level and number of multiples of a line that stands plainly.
const PLAIN_DB: f64 = 12.0;
const PLAIN_MULTIPLES: usize = 3;

/// Finds the contradictions within a judgement.
pub(super) fn claims(diagnosis: &Diagnosis) -> Vec<Contradiction> {
    let all = [
        stop(diagnosis),
        unconfirmed(diagnosis),
        condition(diagnosis),
        guides(diagnosis),
        growth(diagnosis),
        life(diagnosis),
        proof(diagnosis),
    ];
    all.into_iter().flatten().collect()
}

fn says(text: &str, any: &[&str]) -> bool {
    any.iter().any(|part| text.contains(part))
}

/// A stop has a ground, and a bearing is replaced for something that speaks of it.
fn stop(diagnosis: &Diagnosis) -> Vec<Contradiction> {
    let advice = &diagnosis.recommendation.en;
    let stage = thought(diagnosis, ThoughtTitle::PfStage);
    let overall = thought(diagnosis, ThoughtTitle::OverallRisk);
    let mut found = Vec::new();
    if diagnosis.risk_level >= RiskLevel::Warning && stage.contains("No sign of damage") {
        found.push(of("no sign of damage at a high risk", format!("{overall} / {stage}")));
    }
    let stops = advice.contains("Stop as soon as it is safe");
    let is_usual = says(overall, &["in the usual range"]) || says(stage, &["at the usual level"]);
    if stops && is_usual {
        found.push(of("a stop at the usual level", format!("{overall} / {advice}")));
    }
    let replaces =
        stops && advice.contains("and replace the") || advice.contains("Plan the replacement");
    if replaces && diagnosis.fault_type.is_none() {
        found.push(of("a replacement without a named part", format!("{stage} / {advice}")));
    }
    found
}

/// What a single measurement shows is confirmed before anything is ordered or stopped.
fn unconfirmed(diagnosis: &Diagnosis) -> Vec<Contradiction> {
    let (overall, advice) =
        (thought(diagnosis, ThoughtTitle::OverallRisk), &diagnosis.recommendation.en);
    let is_single = overall.contains("one measurement without a history");
    let acts = says(advice, &["order the parts", "Stop as soon", "expedite the parts"]);
    let text = || format!("{overall} / {advice}");
    (is_single && acts).then(|| of("an order on one measurement", text())).into_iter().collect()
}

/// The P-F curve is that of the bearing: a stage without a line of it has its condition.
fn condition(diagnosis: &Diagnosis) -> Vec<Contradiction> {
    let stage = thought(diagnosis, ThoughtTitle::PfStage);
    let told = format!("P-F stage {}:", diagnosis.fault_stage);
    let is_bare = diagnosis.fault_type.is_none() && stage.contains(&told);
    let is_open = says(stage, &["of a part that cannot be told yet", "former"]);
    let found = (is_bare && !is_open).then(|| of("a stage of no bearing", stage.to_owned()));
    found.into_iter().collect()
}

/// The guide of an element is a ground for that element alone.
fn guides(diagnosis: &Diagnosis) -> Vec<Contradiction> {
    let guides = [
        ("EM-02", Fault::OuterRace),
        ("EM-03", Fault::InnerRace),
        ("EM-04", Fault::Ball),
        ("EM-05", Fault::Cage),
    ];
    let overall = thought(diagnosis, ThoughtTitle::OverallRisk);
    let named = overall.split_once("manual: ").map_or("", |(_, rest)| rest);
    let named = named.split('·').next().unwrap_or_default();
    guides
        .into_iter()
        .filter(|(id, fault)| named.contains(id) && diagnosis.fault_type != Some(*fault))
        .map(|_| of("the guide of another element", overall.to_owned()))
        .collect()
}

/// Finds a degradation without an anomaly, and a progress without growth.
fn growth(diagnosis: &Diagnosis) -> Vec<Contradiction> {
    let (speed, stage) =
        (thought(diagnosis, ThoughtTitle::Degradation), thought(diagnosis, ThoughtTitle::PfStage));
    let mut found = Vec::new();
    let accelerates = speed.contains("Degradation is accelerating");
    if accelerates && (diagnosis.risk_level == RiskLevel::Normal || speed.contains("slope -")) {
        found.push(of("degradation of what does not degrade", speed.to_owned()));
    }
    if speed.contains("No trend (") {
        found.push(of("no trend with a slope", speed.to_owned()));
    }
    let is_told = says(stage, &["· from stage "])
        || says(speed, &["stages follow faster", "faster than MH-"]);
    if is_told && says(speed, &NO_GROWTH) {
        found.push(of("progress without growth", format!("{stage} / {speed}")));
    }
    if stage.contains("up together") && stage.contains("kurtosis fell") {
        found.push(of("rising and fallen at once", stage.to_owned()));
    }
    found
}

/// A life is of a bearing, and fits the level; nothing is kept that never was.
fn life(diagnosis: &Diagnosis) -> Vec<Contradiction> {
    let text = thought(diagnosis, ThoughtTitle::Rul);
    let mut found = Vec::new();
    let is_told = text.contains("Remaining life: ") && !text.contains("for information");
    let stage = thought(diagnosis, ThoughtTitle::PfStage);
    if is_told && diagnosis.fault_type.is_none() && says(stage, &OF_MACHINE) {
        found.push(of("a life of no bearing", format!("{stage} / {text}")));
    }
    let upper = text.split_once("upper bound ").and_then(|(_, rest)| hours(rest));
    let is_over = upper.is_some_and(|upper| upper <= 1.0);
    if is_told && is_over && diagnosis.risk_level <= RiskLevel::Watch {
        found.push(of("an end within the hour at a low risk", text.to_owned()));
    }
    let is_first = diagnosis.memory.summary.en.starts_with("No earlier judgement");
    let kept = diagnosis.thoughts.iter().map(|one| one.conclusion.en.as_str());
    let kept = kept.filter(|text| text.contains("former") && text.contains("kept"));
    if is_first {
        found.extend(kept.map(|text| of("kept from no judgement", text.to_owned())));
    }
    found
}

/// A case of another machine is told for comparison and proves nothing.
fn proof(diagnosis: &Diagnosis) -> Vec<Contradiction> {
    let thoughts = diagnosis.thoughts.iter().map(|one| one.conclusion.en.as_str());
    let causes = diagnosis.uncertainty.causes.iter().map(|cause| cause.en.as_str());
    let proves = |text: &&str| {
        says(text, &["the stage is confirmed", "the speed is confirmed", "similar cases bear out"])
    };
    thoughts
        .chain(causes)
        .filter(proves)
        .map(|t| of("another machine as a proof", t.to_owned()))
        .collect()
}

/// Finds faults that the event leaves open or shows, and that the judgement calls sound.
pub fn against_the_event(diagnosis: &Diagnosis, event: &Event) -> Vec<Contradiction> {
    let screening = thought(diagnosis, ThoughtTitle::InitialScreening);
    let overall = thought(diagnosis, ThoughtTitle::OverallRisk);
    let advice = &diagnosis.recommendation.en;
    let said = format!("{screening} / {overall} / {advice}");
    if !event.signal_quality.valid || !says(&said, &ALL_IS_WELL) {
        return Vec::new();
    }
    let lines = &event.frequency_domain;
    let is_plain = |fault: &Fault| {
        let line = lines.line(*fault);
        !lines.since_commissioning.iter().any(|stood| stood.fault == *fault)
            && line.harmonics.len() >= PLAIN_MULTIPLES
            && line.snr_db.is_some_and(|snr| snr >= PLAIN_DB)
    };
    let has_waveform = event.window.samples > 0;
    let open = [
        ("sound though nothing can be said", has_waveform && lines.undetermined.is_some()),
        ("sound with damage", has_waveform && lines.damaged.is_some()),
        ("sound with a plain line", Fault::ALL.iter().any(is_plain)),
        (
            "sound in a bad zone",
            event.time_domain.iso_zone.is_some_and(|zone| zone >= IsoZone::D)
                || event.time_domain.velocity_rms_mm_s.is_some_and(|v| v >= BAD_IN_EVERY_CLASS)
                    && event.time_domain.iso_zone.is_none(),
        ),
    ];
    open.into_iter().filter(|(_, is)| *is).map(|(rule, _)| of(rule, said.clone())).collect()
}
