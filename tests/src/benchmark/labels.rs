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
    /// Whether no published method can diagnose the record, so that "not sure" is right.
    pub is_undiagnosable: bool,
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
pub fn read(data: &Path) -> anyhow::Result<HashMap<String, Label>> {
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
    Label { group, truth, is_undiagnosable }
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
