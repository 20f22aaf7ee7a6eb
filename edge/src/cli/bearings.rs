//! `pdm-edge bearings`: prints the catalogue or what of it a name or a search picks, as a table or
//! as JSON.

use std::io::Write;
use std::path::PathBuf;

use pdm_dsp::DefectOrders;
use pdm_service::exit::{Exit, Failure};
use pdm_shared::units::Rpm;

use crate::catalogue::{Bearing, Catalogue};

/// Arguments of `bearings`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  pdm-edge bearings\n  pdm-edge bearings 6205 --rpm 1797\n  \
                        pdm-edge bearings 'SKF 22210 EK/C3'\n  pdm-edge bearings --search 63\n  \
                        pdm-edge bearings --json\n\n\
                        Exit codes: 0 listed, 64 no such bearing or a speed out of range, \
                        78 a wrong catalogue")]
pub struct Args {
    /// Only this bearing; a maker's name and usual suffixes may stand with it
    id: Option<String>,
    /// Only bearings whose name holds this text, or of this family
    #[arg(long, value_name = "TEXT", conflicts_with = "id")]
    search: Option<String>,
    /// Print defect frequencies in Hz at this shaft speed too
    #[arg(long, value_name = "RPM")]
    rpm: Option<f64>,
    /// Catalogue file whose entries are added to the built-in ones or replace those of the same id
    #[arg(long, value_name = "TOML")]
    catalogue: Option<PathBuf>,
    /// One JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// An unknown bearing or a speed out of range (64), an invalid catalogue (78).
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let catalogue = catalogue(args.catalogue.as_deref())?;
    let usage = |e: anyhow::Error| Failure::new(Exit::Usage, e);
    let speed =
        args.rpm.map(Rpm::new).transpose().map_err(|e| usage(anyhow::anyhow!("--rpm: {e}")))?;
    let chosen: Vec<&Bearing> = match (&args.id, &args.search) {
        (Some(id), _) => vec![catalogue.find(id).map_err(|e| usage(e.into()))?],
        (None, Some(text)) => catalogue.search(text),
        (None, None) => catalogue.bearings().iter().collect(),
    };
    if chosen.is_empty() {
        let text = args.search.as_deref().unwrap_or_default();
        return Err(usage(anyhow::anyhow!("no bearing's name holds {text:?}")).into());
    }
    let text = if args.json { json(&chosen, speed)? } else { table(&chosen, speed) };
    super::print(&text)?;
    Ok(Exit::Ok)
}

/// The built-in catalogue, with the entries of an own file if one is given.
pub(crate) fn catalogue(own: Option<&std::path::Path>) -> anyhow::Result<Catalogue> {
    match own {
        None => Ok(Catalogue::built_in()),
        Some(path) => Ok(Catalogue::with(path).map_err(|e| Failure::new(Exit::Config, e))?),
    }
}

fn named(orders: &DefectOrders) -> [(&'static str, f64); 4] {
    [
        ("bpfo", orders.bpfo.get()),
        ("bpfi", orders.bpfi.get()),
        ("bsf", orders.bsf.get()),
        ("ftf", orders.ftf.get()),
    ]
}

fn json(bearings: &[&Bearing], speed: Option<Rpm>) -> anyhow::Result<String> {
    let list: Vec<serde_json::Value> = bearings
        .iter()
        .map(|bearing| {
            let orders: serde_json::Map<String, serde_json::Value> =
                named(&bearing.orders).iter().map(|&(n, o)| (n.to_owned(), o.into())).collect();
            let mut entry = serde_json::json!({
                "id": bearing.id, "also": bearing.also, "orders": orders, "source": bearing.source,
                "basis": bearing.basis.word(),
            });
            if let Some(estimate) = bearing.estimate() {
                entry["order_tolerance_percent"] = (100.0 * estimate.order_tolerance).into();
            }
            if let Some(size) = bearing.size {
                entry["bore_mm"] = size.bore_mm.into();
                entry["outside_mm"] = size.outside_mm.into();
            }
            for (key, text) in [("family", &bearing.family), ("note", &bearing.note)] {
                if let Some(text) = text {
                    entry[key] = text.as_str().into();
                }
            }
            if let Some(d) = bearing.geometry {
                entry["elements"] = d.elements.into();
                entry["element_diameter_mm"] = d.element_diameter_mm.into();
                entry["pitch_diameter_mm"] = d.pitch_diameter_mm.into();
                entry["contact_angle_deg"] = d.contact_angle_deg.into();
            }
            if let Some(speed) = speed {
                for (name, order) in named(&bearing.orders) {
                    entry["frequencies_hz"][name] = (order * speed.shaft_hz()).into();
                }
            }
            entry
        })
        .collect();
    Ok(serde_json::to_string_pretty(&list)? + "\n")
}

fn table(bearings: &[&Bearing], speed: Option<Rpm>) -> String {
    let mut out = Vec::new();
    let written = write_table(&mut out, bearings, speed);
    debug_assert!(written.is_ok(), "writing to memory cannot fail");
    String::from_utf8_lossy(&out).into_owned()
}

fn write_table(
    out: &mut impl Write,
    bearings: &[&Bearing],
    speed: Option<Rpm>,
) -> std::io::Result<()> {
    let (unit, factor) = speed.map_or(("orders of shaft speed", 1.0), |s| ("Hz", s.shaft_hz()));
    if let Some(speed) = speed {
        writeln!(out, "Defect frequencies at {speed} (shaft {factor:.3} Hz), {unit}\n")?;
    } else {
        writeln!(out, "Defect frequencies, {unit}\n")?;
    }
    writeln!(
        out,
        "{:<11} {:>8} {:>8} {:>8} {:>8}  {:>8}  {:<9}  geometry (n × d on D, mm; angle)",
        "bearing", "BPFO", "BPFI", "BSF", "FTF", "2×BSF", "basis"
    )?;
    for bearing in bearings {
        let [bpfo, bpfi, bsf, ftf] = named(&bearing.orders).map(|(_, order)| order * factor);
        let geometry = bearing.geometry.map_or_else(
            || "given as orders".to_owned(),
            |d| {
                format!(
                    "{} × {:.3} on {:.2}; {:.2}°",
                    d.elements, d.element_diameter_mm, d.pitch_diameter_mm, d.contact_angle_deg
                )
            },
        );
        let (id, basis) = (&bearing.id, bearing.basis.word());
        let twice = 2.0 * bsf;
        writeln!(
            out,
            "{id:<11} {bpfo:>8.4} {bpfi:>8.4} {bsf:>8.4} {ftf:>8.4}  {twice:>8.4}  {basis:<9}  \
             {geometry}"
        )?;
    }
    if let [bearing] = bearings {
        writeln!(out, "\nSource: {}", bearing.source)?;
        if let Some(estimate) = bearing.estimate() {
            let percent = 100.0 * estimate.order_tolerance;
            writeln!(
                out,
                "Estimated from the boundary dimensions: orders to {percent:.0} %; lines are \
                 searched within {:.0} %, and no part is named where that is ambiguous",
                100.0 * estimate.searched()
            )?;
        }
        if let Some(note) = &bearing.note {
            writeln!(out, "Note: {note}")?;
        }
        if !bearing.also.is_empty() {
            writeln!(out, "Also called: {}", bearing.also.join(", "))?;
        }
    }
    Ok(())
}
