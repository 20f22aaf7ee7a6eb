//! `pdm-edge bearings`: prints the catalogue, as a table or as JSON.

use std::io::Write;
use std::path::PathBuf;

use pdm_dsp::DefectOrders;
use pdm_service::exit::{Exit, Failure};
use pdm_shared::units::Rpm;

use crate::catalogue::{Bearing, Catalogue};

/// Arguments of `bearings`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  pdm-edge bearings\n  pdm-edge bearings 6205 --rpm 1797\n  \
                        pdm-edge bearings --json")]
pub struct Args {
    /// Only this bearing
    id: Option<String>,
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
    let chosen: Vec<&Bearing> = match &args.id {
        Some(id) => vec![catalogue.find(id).map_err(|e| usage(e.into()))?],
        None => catalogue.bearings().iter().collect(),
    };
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
            });
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
        "{:<11} {:>8} {:>8} {:>8} {:>8}  {:>8}  geometry (n × d on D, mm; angle)",
        "bearing", "BPFO", "BPFI", "BSF", "FTF", "2×BSF"
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
        let id = &bearing.id;
        let twice = 2.0 * bsf;
        writeln!(
            out,
            "{id:<11} {bpfo:>8.4} {bpfi:>8.4} {bsf:>8.4} {ftf:>8.4}  {twice:>8.4}  {geometry}"
        )?;
    }
    if let [bearing] = bearings {
        writeln!(out, "\nSource: {}", bearing.source)?;
        if !bearing.also.is_empty() {
            writeln!(out, "Also called: {}", bearing.also.join(", "))?;
        }
    }
    Ok(())
}
