//! An event as a table for people: features, the four defect lines, the verdict in words.

use std::fmt::Write;

use pdm_shared::event::{DefectLine, Event, StoodLine};
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
        write!(out, "; {rpm:.1} rpm (nominal {}), {turns:.0} shaft turns", nominal.get())?;
    }
    writeln!(out)?;
    if !event.signal_quality.flags.is_empty() {
        let flags: Vec<&str> = event.signal_quality.flags.iter().map(|&f| flag_words(f)).collect();
        let judged = if event.signal_quality.valid { "judged all the same" } else { "not judged" };
        writeln!(out, "Signal: {} ({judged})", flags.join(", "))?;
    }
    writeln!(out, "\n{}\n", verdict(event))?;
    if let Some(estimate) = &event.frequency_domain.bearing_estimate {
        writeln!(
            out,
            "The defect orders of {} are estimated from its boundary dimensions, to {:.0} %: the maker's \
             own orders (--orders) make names surer\n",
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
                format!("most likely {}, else {}", part(open.most_likely), part(open.or_else))
            });
            let why = why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
            format!(
                "Verdict: bearing damaged, part open: {open}{why}; confirm by a second measurement"
            )
        }
        (None, Some(why)) => format!("Verdict: cannot say: {why}"),
        (None, None) => "Verdict: no bearing fault found".to_owned(),
    }
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
