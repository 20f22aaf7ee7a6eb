//! The tools that come with the program (those of `config/tools/`), for an agent whose settings
//! name no folder. They do not change while the program runs.

use std::path::PathBuf;

/// Path below `config/tools/` and text of each file.
const TOOLS: &[(&str, &str)] = &[
    ("abnormal_decision.yaml", include_str!("../../../config/tools/abnormal_decision.yaml")),
    ("compare_equipment.yaml", include_str!("../../../config/tools/compare_equipment.yaml")),
    ("find_document_title.yaml", include_str!("../../../config/tools/find_document_title.yaml")),
    (
        "find_similar_equipment.yaml",
        include_str!("../../../config/tools/find_similar_equipment.yaml"),
    ),
    ("get_bearing_trend.yaml", include_str!("../../../config/tools/get_bearing_trend.yaml")),
    (
        "get_equipment_changes.yaml",
        include_str!("../../../config/tools/get_equipment_changes.yaml"),
    ),
    ("get_equipment_info.yaml", include_str!("../../../config/tools/get_equipment_info.yaml")),
    ("get_equipment_trend.yaml", include_str!("../../../config/tools/get_equipment_trend.yaml")),
    ("graph_query.yaml", include_str!("../../../config/tools/graph_query.yaml")),
    ("list_tags.yaml", include_str!("../../../config/tools/list_tags.yaml")),
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
    ("search_equipment.yaml", include_str!("../../../config/tools/search_equipment.yaml")),
    (
        "search_equipment_manual.yaml",
        include_str!("../../../config/tools/search_equipment_manual.yaml"),
    ),
    (
        "search_maintenance_history.yaml",
        include_str!("../../../config/tools/search_maintenance_history.yaml"),
    ),
    ("search_part.yaml", include_str!("../../../config/tools/search_part.yaml")),
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
