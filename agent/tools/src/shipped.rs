//! The tools that come with the program (those of `config/tools/`), for an agent whose settings
//! name no folder. They do not change while the program runs.

use std::path::PathBuf;

/// Path below `config/tools/` and text of each file.
const TOOLS: &[(&str, &str)] = &[
    ("abnormal_decision.yaml", include_str!("../../../config/tools/abnormal_decision.yaml")),
    ("find_document_title.yaml", include_str!("../../../config/tools/find_document_title.yaml")),
    ("look_up_life_factor.yaml", include_str!("../../../config/tools/look_up_life_factor.yaml")),
    (
        "look_up_mounting_value.yaml",
        include_str!("../../../config/tools/look_up_mounting_value.yaml"),
    ),
    (
        "look_up_vibration_zone.yaml",
        include_str!("../../../config/tools/look_up_vibration_zone.yaml"),
    ),
    (
        "notify_maintenance_staff.yaml",
        include_str!("../../../config/tools/notify_maintenance_staff.yaml"),
    ),
    (
        "read_document_section.yaml",
        include_str!("../../../config/tools/read_document_section.yaml"),
    ),
    (
        "search_analysis_history.yaml",
        include_str!("../../../config/tools/search_analysis_history.yaml"),
    ),
    (
        "search_equipment_manual.yaml",
        include_str!("../../../config/tools/search_equipment_manual.yaml"),
    ),
    (
        "search_maintenance_history.yaml",
        include_str!("../../../config/tools/search_maintenance_history.yaml"),
    ),
];

/// The tools' files in the form of files that were read.
pub(super) fn texts() -> impl Iterator<Item = (PathBuf, &'static str)> {
    TOOLS.iter().map(|(path, text)| (PathBuf::from("(shipped)").join(path), *text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalogue;

    #[test]
    fn every_tool_of_the_folder_comes_with_the_program_and_is_right() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../config/tools");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .expect("folder")
            .map(|file| file.expect("entry").file_name().to_string_lossy().into_owned())
            .collect();
        there.sort();
        let shipped: Vec<&str> = TOOLS.iter().map(|(path, _)| *path).collect();
        assert_eq!(shipped, there);
        let (catalogue, problems) = Catalogue::shipped();
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(catalogue.current().names().len(), there.len());
    }
}
