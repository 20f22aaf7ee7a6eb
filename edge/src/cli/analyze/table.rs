//! An event as a table for people: features, the four defect lines, the verdict in words.

use std::fmt::Write;

use pdm_shared::event::{DefectLine, Event, QualityFlag, StoodLine};
use pdm_shared::fault::Fault;

use super::Analysis;
use crate::analysis::flag_words;

/// The whole table.
pub(super) fn table(analysis: &Analysis) -> String {
    let mut out = String::new();
    // writing to a string cannot fail
    let _ = write_table(&mut out, analysis);
    out
}

fn write_table(out: &mut String, analysis: &Analysis) -> std::fmt::Result {
    let event = &analysis.event;
    let window = event.window;
    let nominal = analysis.machine.speed;
    writeln!(out, "{}", analysis.title)?;
    if let Some(input) = &analysis.input {
        writeln!(out, "{input}")?;
    }
    write!(
        out,
        "{} samples at {} Hz, {:.3} s",
        window.samples, window.sampling_rate_hz, window.duration_s
    )?;
    if let Some(rpm) = event.operating.shaft_speed_rpm {
        let turns = window.duration_s * rpm / 60.0;
        // where turns are few, their decimals decide
        let digits = usize::from(turns < 100.0);
        write!(out, "; {rpm:.1} rpm (nominal {}), {turns:.digits$} shaft turns", nominal.get())?;
    }
    writeln!(out)?;
    if !event.signal_quality.flags.is_empty() {
        let flags: Vec<&str> = event.signal_quality.flags.iter().map(|&f| flag_words(f)).collect();
        let quality = &event.signal_quality;
        let judged = match quality.valid {
            true if quality.flags.contains(&QualityFlag::TooShort) => "levels only",
            true => "judged all the same",
            false => "not judged",
        };
        writeln!(out, "Signal: {} ({judged})", flags.join(", "))?;
    }
    writeln!(out, "\n{}\n", verdict(event))?;
    if let Some(estimate) = &event.frequency_domain.bearing_estimate {
        writeln!(
            out,
            "The defect orders of {} are estimated from its boundary dimensions, to {:.0} %: the \
             maker's own orders (--orders) make names surer\n",
            estimate.bearing, estimate.order_tolerance_percent
        )?;
    }
    for stood in &event.frequency_domain.since_commissioning {
        let StoodLine { fault, level_db } = stood;
        writeln!(
            out,
            "Stood already in the baseline: lines of the {}, {level_db:.1} dB\n",
            part(*fault)
        )?;
    }
    features(out, event)?;
    if event.signal_quality.valid {
        lines(out, event)?;
    }
    Ok(())
}

fn features(out: &mut String, event: &Event) -> std::fmt::Result {
    let t = &event.time_domain;
    let shown = |value: Option<f64>| value.map_or("–".to_owned(), |v| format!("{v:.4}"));
    let rows = [
        ("RMS", t.rms_g, "g", "crest factor", t.crest_factor),
        ("peak", t.peak_g, "g", "kurtosis (noise: 3)", t.kurtosis),
        ("peak to peak", t.peak_to_peak_g, "g", "skewness", t.skewness),
        ("envelope RMS", t.envelope_rms_g, "g", "shape factor", t.shape_factor),
        (
            "velocity RMS",
            t.velocity_rms_mm_s,
            "mm/s, 10–1000 Hz",
            "impulse factor",
            t.impulse_factor,
        ),
    ];
    for (name, value, unit, other, figure) in rows {
        let value = shown(value);
        writeln!(out, "  {name:<13} {value:>10} {unit:<18} {other:<20} {:>9}", shown(figure))?;
    }
    Ok(())
}

fn lines(out: &mut String, event: &Event) -> std::fmt::Result {
    let frequencies = &event.frequency_domain;
    let band = frequencies
        .envelope_band_hz
        .map_or(String::new(), |[low, high]| format!(", envelope of {low:.0}–{high:.0} Hz"));
    writeln!(out, "\nDefect lines{band}")?;
    writeln!(
        out,
        "  {:<18} {:>10} {:>8} {:>8} {:>7}  {:<22} sidebands",
        "", "Hz", "order", "dB", "score", "harmonics"
    )?;
    for fault in Fault::ALL {
        let line = frequencies.line(fault);
        let name = format!("{} ({})", frequency_name(fault), part(fault));
        let shown = |value: Option<f64>, digits: usize| {
            value.map_or("–".into(), |v| format!("{v:.digits$}"))
        };
        writeln!(
            out,
            "  {name:<18} {:>10} {:>8} {:>8} {:>7}  {:<22} {}",
            shown(line.frequency_hz, 2),
            shown(line.order, 4),
            shown(line.snr_db, 1),
            shown(line.score, 2),
            harmonics(line),
            sidebands(line)
        )?;
    }
    writeln!(
        out,
        "  dB above the local floor of the envelope spectrum; harmonics of the ball count 2×BSF"
    )
}

fn harmonics(line: &DefectLine) -> String {
    let numbers: Vec<String> = line.harmonics.iter().map(|h| format!("{}×", h.n)).collect();
    if numbers.is_empty() { "none".to_owned() } else { numbers.join(" ") }
}

fn sidebands(line: &DefectLine) -> String {
    match (line.sidebands.count, line.sidebands.spacing_hz) {
        (0, _) | (_, None) => "none".to_owned(),
        (count, Some(spacing)) => format!("{count} at ±{spacing:.2} Hz"),
    }
}

/// The verdict in one sentence.
pub(super) fn verdict(event: &Event) -> String {
    let found = &event.frequency_domain;
    let percent = found.confidence * 100.0;
    match (found.dominant_fault, &found.undetermined) {
        (Some(fault), _) => {
            let also = found.second_fault.map_or_else(String::new, |second| {
                let percent = second.confidence * 100.0;
                format!("; lines of the {}, too, confidence {percent:.0} %", part(second.fault))
            });
            let or_cage = found.new_comb_db.map_or_else(String::new, |db| {
                format!(" (or cage), by a comb of the cage that is new by {db:.1} dB")
            });
            let part = part(fault);
            format!("Verdict: {part} fault{or_cage}, confidence {percent:.0} %{also}")
        }
        (None, why) if found.damaged.is_some() => {
            let open = found.damaged.map_or_else(String::new, |open| {
                format!("candidates {}, {}", part(open.most_likely), part(open.or_else))
            });
            let why = why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
            format!(
                "Verdict: defect lines above those of sound bearings, part not to be told yet: \
                 {open}{why}; confirm by a second measurement"
            )
        }
        (None, Some(why)) => format!("Verdict: cannot say: {why}"),
        (None, None) => plain_line(event)
            .or_else(|| open_by_figures(event))
            .unwrap_or_else(|| "Verdict: no bearing fault found".to_owned()),
    }
}

/// Level and number of multiples of a line that stands plainly: those by which the agent calls a
/// line clear and its multiples many (`clear_snr_db`, `many_harmonics` of config/diagnosis.toml).
const PLAIN_DB: f64 = 12.0;
const PLAIN_MULTIPLES: usize = 3;

/// The verdict where a line stands plainly and no part is named: that is no sound bearing.
fn plain_line(event: &Event) -> Option<String> {
    let found = &event.frequency_domain;
    let is_old = |fault| found.since_commissioning.iter().any(|stood| stood.fault == fault);
    let plain = Fault::ALL.into_iter().filter(|fault| !is_old(*fault)).find_map(|fault| {
        let line = found.line(fault);
        let level = line.snr_db.filter(|level| *level >= PLAIN_DB)?;
        (line.harmonics.len() >= PLAIN_MULTIPLES).then_some((fault, level, line.harmonics.len()))
    });
    let (fault, level, count) = plain?;
    let (name, part) = (frequency_name(fault), part(fault));
    Some(format!(
        "Verdict: cannot say: a line at {name} ({part}) stands {level:.0} dB above the floor with \
         {count} multiples, but not surely enough for a name; measure again, longer and with the \
         true speed"
    ))
}

/// Raw kurtosis from which impacts stand out: that by which the agent calls a signal suspicious
/// (`suspicious_kurtosis` of config/diagnosis.toml).
const IMPULSIVE: f64 = 6.0;
/// The lowest limit to zone C of any group of machines, mm/s (ISO 20816-3: medium machines on a
/// rigid support).
const ZONE_C_OF_SMALLEST: f64 = 2.8;

/// The verdict where no line stands and the figures are not those of a sound machine.
fn open_by_figures(event: &Event) -> Option<String> {
    let time = &event.time_domain;
    if let Some(kurtosis) = time.kurtosis.filter(|kurtosis| *kurtosis >= IMPULSIVE) {
        let peak = time.peak_g.unwrap_or_default();
        return Some(format!(
            "Verdict: cannot say: impacts stand out (kurtosis {kurtosis:.0}, peak {peak:.1} g), \
             but no line names what strikes; check the speed, the rate and the bearing that were \
             stated, looseness and neighbours"
        ));
    }
    let velocity = time.velocity_rms_mm_s.filter(|_| time.iso_zone.is_none())?;
    (velocity >= ZONE_C_OF_SMALLEST).then(|| {
        format!(
            "Verdict: no bearing fault found; the velocity of {velocity:.1} mm/s may be in zone C \
             or D, by the machine's group (power, support), which was not stated"
        )
    })
}

/// The damaged part in words.
fn part(fault: Fault) -> &'static str {
    match fault {
        Fault::OuterRace => "outer race",
        Fault::InnerRace => "inner race",
        Fault::Ball => "ball",
        Fault::Cage => "cage",
    }
}

/// The defect frequency's usual name.
fn frequency_name(fault: Fault) -> &'static str {
    match fault {
        Fault::OuterRace => "BPFO",
        Fault::InnerRace => "BPFI",
        Fault::Ball => "BSF",
        Fault::Cage => "FTF",
    }
}

#[cfg(test)]
mod tests {
    use pdm_shared::event::{Harmonic, OpenDamage, StoodLine};

    use super::*;

    fn healthy() -> Event {
        let event = include_str!("../../../../config/examples/event-healthy.json");
        serde_json::from_str(event).expect("event")
    }

    /// A line of 33 dB with four multiples stood under "no bearing fault found".
    #[test]
    fn a_line_that_stands_plainly_is_not_told_as_no_fault() {
        let mut event = healthy();
        assert_eq!(verdict(&event), "Verdict: no bearing fault found");
        let line = &mut event.frequency_domain.bpfo;
        line.snr_db = Some(33.0);
        line.harmonics = (1..=4)
            .map(|n| Harmonic { n, frequency_hz: 107.4 * f64::from(n), snr_db: 20.0 })
            .collect();
        let told = verdict(&event);
        assert!(
            told.starts_with("Verdict: cannot say: a line at BPFO (outer race) stands 33 dB"),
            "{told}"
        );
        let stood = StoodLine { fault: Fault::OuterRace, level_db: 30.0 };
        event.frequency_domain.since_commissioning = vec![stood];
        assert_eq!(verdict(&event), "Verdict: no bearing fault found");
    }

    #[test]
    fn impacts_and_velocities_that_nothing_explains_are_not_told_as_no_fault() {
        let mut event = healthy();
        (event.time_domain.kurtosis, event.time_domain.peak_g) = (Some(14.0), Some(3.0));
        let told = verdict(&event);
        assert!(told.starts_with("Verdict: cannot say: impacts stand out (kurtosis 14"), "{told}");
        let mut event = healthy();
        event.time_domain.velocity_rms_mm_s = Some(5.5);
        assert_eq!(verdict(&event), "Verdict: no bearing fault found", "its zone is known");
        event.time_domain.iso_zone = None;
        assert!(verdict(&event).contains("5.5 mm/s may be in zone C or D"), "{}", verdict(&event));
    }

    /// Lines of an inverter were "bearing damaged, most likely" two parts.
    #[test]
    fn lines_without_a_name_are_told_as_lines_and_rank_no_part() {
        let mut event = healthy();
        let open = OpenDamage { most_likely: Fault::InnerRace, or_else: Fault::Ball };
        event.frequency_domain.damaged = Some(open);
        let told = verdict(&event);
        assert!(told.contains("candidates inner race, ball"), "{told}");
        assert!(!told.contains("bearing damaged") && !told.contains("most likely"), "{told}");
    }
}
