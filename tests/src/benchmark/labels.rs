//! The truth of the recordings, which only the scorer reads.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Context;
use pdm_shared::fault::Fault;
use serde::Deserialize;

/// The truth of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Data set and, for CWRU, the grade of the record.
    pub group: String,
    /// The damaged part; `None` for a sound bearing.
    pub truth: Option<Fault>,
    /// The test rig, which the fold that leaves one rig out leaves out.
    pub rig: String,
    /// The bearing, or the seeded fault that stands for it.
    pub bearing: String,
    /// Whether no published method can diagnose the record, so that "not sure" is right.
    pub is_undiagnosable: bool,
}

impl Label {
    /// Returns the label of a record that was generated: its group is its rig.
    pub fn generated(group: String, truth: Option<Fault>) -> Self {
        let (rig, bearing) = (group.clone(), group.clone());
        Self { group, truth, rig, bearing, is_undiagnosable: false }
    }
}

#[derive(Debug, Deserialize)]
struct Manifest {
    files: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    file: String,
    #[serde(default)]
    dataset: String,
    #[serde(default)]
    fault: Option<String>,
    #[serde(default)]
    fault_code: Option<String>,
    #[serde(default)]
    fault_extent_deg: Option<f64>,
    #[serde(default)]
    faulty_bearing: Option<String>,
    #[serde(default)]
    bearing_id: Option<String>,
}

/// Drive-end records at 12 kHz that Smith & Randall 2015 (doi:10.1016/j.ymssp.2015.04.021) found
/// textbook (Y1) and clear (Y2), by number; the others are partial or not diagnosable.
const TEXTBOOK: [u32; 8] = [130, 131, 132, 133, 156, 209, 210, 211];

fn is_clear(number: u32) -> bool {
    matches!(number, 105..=108 | 169..=172 | 234..=237 | 144..=147 | 246..=249)
        || matches!(number, 158..=160 | 258..=261 | 222 | 223 | 121 | 197 | 3005..=3008)
}

/// The labels by file.
///
/// # Errors
/// The manifest is missing or malformed.
pub fn read_labels(data: &Path) -> anyhow::Result<HashMap<String, Label>> {
    let path = data.join("manifest.json");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let manifest: Manifest =
        serde_json::from_str(&text).with_context(|| path.display().to_string())?;
    Ok(manifest.files.into_iter().map(|entry| (entry.file.clone(), label(&entry))).collect())
}

fn label(entry: &Entry) -> Label {
    let fault = entry.fault.as_deref().unwrap_or("none");
    let truth = match fault.split_whitespace().next() {
        Some("outer") => Some(Fault::OuterRace),
        Some("inner") => Some(Fault::InnerRace),
        Some("ball") => Some(Fault::Ball),
        Some("cage") => Some(Fault::Cage),
        _ => None,
    };
    let (group, is_undiagnosable) = group(entry, truth.is_some());
    let rig = rig(entry);
    let bearing = bearing(entry, &rig, fault);
    Label { group, truth, rig, bearing, is_undiagnosable }
}

/// The rig: the data set, for CWRU the end of the motor and the recorder, for HIT-SM which of two.
fn rig(entry: &Entry) -> String {
    let has = |part: &str| entry.file.contains(part);
    let folder = entry.file.split('/').next().unwrap_or_default();
    match folder {
        "cwru" if has("12k_Drive_End") => "CWRU drive end".to_owned(),
        "cwru" if has("12k_Fan_End") => "CWRU fan end".to_owned(),
        "cwru" => "CWRU 48 kHz".to_owned(),
        "hitsm" if has("MFS_") => "HIT-SM MFS".to_owned(),
        "hitsm" => "HIT-SM self-built".to_owned(),
        _ => folder.to_owned(),
    }
}

/// The bearing: its number, or the seeded fault wherever the load lies and however it was recorded.
fn bearing(entry: &Entry, rig: &str, fault: &str) -> String {
    if let Some(id) = &entry.bearing_id {
        return format!("{rig} {id}");
    }
    if let Some(code) = &entry.fault_code {
        let end = entry.faulty_bearing.as_deref().unwrap_or_default();
        return format!("CWRU {end} {}", code.split('@').next().unwrap_or_default());
    }
    let extent = entry.fault_extent_deg.map_or_else(String::new, |deg| format!(" {deg:.0}"));
    format!("{rig} {fault}{extent}")
}

fn group(entry: &Entry, is_faulty: bool) -> (String, bool) {
    if !entry.file.starts_with("cwru/") {
        return (entry.dataset.clone(), false);
    }
    let number = entry
        .file
        .trim_end_matches(".npy")
        .rsplit('_')
        .next()
        .and_then(|n| n.parse::<u32>().ok())
        .unwrap_or(0);
    let (grade, is_undiagnosable) = if !is_faulty {
        ("normal", false)
    } else if entry.file.contains("48k_") {
        ("drive end, 48 kHz", false)
    } else if entry.file.contains("Fan_End") {
        ("fan end", false)
    } else if TEXTBOOK.contains(&number) || number == 212 {
        ("drive end, textbook (Y1)", false)
    } else if is_clear(number) {
        ("drive end, clear (Y2)", false)
    } else {
        ("drive end, partial or none (P2, N1)", true)
    };
    (format!("CWRU {grade}"), is_undiagnosable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grades_follow_the_record_number() {
        let entry = |file: &str, fault: &str| Entry {
            file: file.to_owned(),
            dataset: "CWRU".to_owned(),
            fault: Some(fault.to_owned()),
            fault_code: None,
            fault_extent_deg: None,
            faulty_bearing: None,
            bearing_id: None,
        };
        let grade = |file: &str, fault: &str| label(&entry(file, fault)).group;
        assert_eq!(
            grade("cwru/12k_Drive_End_OR007@6_0_130.npy", "outer race"),
            "CWRU drive end, textbook (Y1)"
        );
        assert_eq!(
            grade("cwru/12k_Drive_End_IR007_0_105.npy", "inner race"),
            "CWRU drive end, clear (Y2)"
        );
        assert!(label(&entry("cwru/12k_Drive_End_B007_0_118.npy", "ball")).is_undiagnosable);
        assert_eq!(label(&entry("cwru/normal_0_97_part1.npy", "none")).truth, None);
    }
}
