//! `[reports]`: folder, languages and formats of the documents, and the plant's data on its
//! machines and on planning.

use std::path::{Path, PathBuf};

use pdm_expert::rules::LeadTime;
use pdm_routes::Zone;
use pdm_service::config::ConfigError;
use pdm_shared::event::Event;
use pdm_shared::id::BearingKey;
use pdm_shared::text::{Language, Text};
use serde::Deserialize;

use super::case_file::{Asset, Planning};
use super::files::Format;

/// `[reports]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReportSettings {
    /// Folder of the documents. A program that reads a configuration without it takes `reports`
    /// beside the store's file; no documents are written where there is no such file.
    pub folder: Option<PathBuf>,
    /// Writes no documents, whatever the folder.
    pub off: bool,
    /// Prefix of a file's name in messages to people; without it the path is shown.
    pub url_base: Option<String>,
    /// Languages of the documents.
    pub languages: Vec<Language>,
    /// Formats of the documents.
    pub formats: Vec<Format>,
    /// Number of people for a replacement; without it that of the procedure.
    pub people: Option<u32>,
    /// Hours of work for a replacement; without it those of the procedure.
    pub work_hours: Option<f64>,
    /// Name of the planner.
    pub planner: Option<String>,
    /// Names of sites, machines and bearings.
    pub asset: Vec<AssetEntry>,
    /// The zone of the plant's clock (`[notify] zone`), by which documents tell times.
    #[serde(skip)]
    pub zone: Zone,
}

impl Default for ReportSettings {
    fn default() -> Self {
        Self {
            folder: None,
            off: false,
            url_base: None,
            languages: vec![Language::Ko, Language::En],
            formats: Format::ALL.to_vec(),
            people: None,
            work_hours: None,
            planner: None,
            asset: Vec::new(),
            zone: Zone::default(),
        }
    }
}

/// `[[reports.asset]]`: names for the bearings it matches; an absent key matches all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AssetEntry {
    /// The site to match.
    pub site: Option<String>,
    /// The machine to match.
    pub equipment: Option<String>,
    /// The bearing to match.
    pub bearing: Option<String>,
    /// The plant's name.
    pub site_name: Option<Text>,
    /// The machine's name.
    pub equipment_name: Option<Text>,
    /// Location of the bearing on the machine.
    pub location: Option<Text>,
    /// The bearing's designation, such as `6205-2RS/C3`.
    pub designation: Option<String>,
}

impl AssetEntry {
    fn matches(&self, key: &BearingKey) -> bool {
        let fits =
            |asked: &Option<String>, is: &str| asked.as_deref().is_none_or(|asked| asked == is);
        fits(&self.site, key.site.as_str())
            && fits(&self.equipment, key.equipment.as_str())
            && fits(&self.bearing, key.bearing.as_str())
    }
}

impl ReportSettings {
    /// The names of the event's bearing. If several entries match, each name comes from the first
    /// entry that has it.
    pub fn asset_of(&self, event: &Event) -> Asset {
        self.asset_of_bearing(&event.key())
    }

    /// The names of a bearing, as [`Self::asset_of`].
    pub fn asset_of_bearing(&self, key: &BearingKey) -> Asset {
        let zone = Some(self.zone).filter(|zone| *zone != Zone::default());
        let zone = zone.map(|zone| zone.name().to_owned());
        let mut asset = Asset { zone, ..Asset::default() };
        for entry in self.asset.iter().filter(|entry| entry.matches(key)) {
            let entry = entry.clone();
            asset.site = asset.site.or(entry.site_name);
            asset.equipment = asset.equipment.or(entry.equipment_name);
            asset.location = asset.location.or(entry.location);
            asset.designation = asset.designation.or(entry.designation);
        }
        asset
    }

    /// The data for planning.
    pub fn planning(&self, lead_time: &LeadTime) -> Planning {
        Planning {
            lead_time: lead_time.clone(),
            people: self.people,
            work_hours: self.work_hours,
            planner: self.planner.clone(),
        }
    }

    /// Refuses settings that have no meaning.
    ///
    /// # Errors
    /// [`ConfigError`] with key, value and the allowed values.
    pub fn check(&self, path: &Path) -> Result<(), ConfigError> {
        if self.folder.is_some() && (self.languages.is_empty() || self.formats.is_empty()) {
            let allowed = "one or more";
            return Err(ConfigError::value(
                path,
                "reports.languages, reports.formats",
                "[]",
                allowed,
            ));
        }
        if let Some(hours) = self.work_hours.filter(|hours| !(hours.is_finite() && *hours > 0.0)) {
            return Err(ConfigError::value(path, "reports.work_hours", hours, "hours above 0"));
        }
        Ok(())
    }

    /// The settings with a relative folder resolved against `folder`.
    #[must_use]
    pub fn rooted(mut self, folder: &Path) -> Self {
        self.folder = self.folder.map(|own| folder.join(own));
        self
    }

    /// The settings with the folder `reports` in `beside`, unless one is named or documents are
    /// off.
    #[must_use]
    pub fn beside(mut self, beside: Option<&Path>) -> Self {
        if self.off {
            self.folder = None;
        } else if self.folder.is_none() {
            self.folder = beside.map(|beside| beside.join("reports"));
        }
        self
    }

    /// The address of a file for people.
    pub fn place(&self, file: &Path) -> String {
        let name = file.file_name().map(|name| name.to_string_lossy());
        match (&self.url_base, name) {
            (Some(base), Some(name)) => format!("{}/{name}", base.trim_end_matches('/')),
            _ => file.display().to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event() -> Event {
        serde_json::from_str(include_str!("../../../config/examples/event.json")).expect("event")
    }

    #[test]
    fn the_first_entry_that_says_it_names_the_bearing() {
        let text = "[[asset]]\nequipment = \"P-101\"\nbearing = \"DE\"\ndesignation = \"6205\"\n\
                    [[asset]]\nequipment = \"P-101\"\ndesignation = \"other\"\n\
                    equipment_name = { ko = \"펌프\", en = \"pump\" }\n\
                    [[asset]]\nequipment = \"P-102\"\nsite_name = { ko = \"가\", en = \"a\" }\n";
        let settings: ReportSettings = toml::from_str(text).expect("read");
        let asset = settings.asset_of(&event());
        assert_eq!(asset.designation.as_deref(), Some("6205"));
        assert_eq!(asset.equipment, Some(Text::new("펌프", "pump")));
        assert_eq!(asset.site, None);
    }

    #[test]
    fn a_file_is_told_by_its_address_where_there_is_one() {
        let mut settings = ReportSettings::default();
        let file = Path::new("/var/lib/pdm/reports/a.html");
        assert_eq!(settings.place(file), "/var/lib/pdm/reports/a.html");
        settings.url_base = Some("https://pdm.plant.example/reports/".to_owned());
        assert_eq!(settings.place(file), "https://pdm.plant.example/reports/a.html");
    }

    /// R-AGENT-8.
    #[test]
    fn documents_are_written_beside_the_store_unless_they_are_off() {
        let beside = Some(Path::new("/var/lib/pdm"));
        let read =
            |text: &str| toml::from_str::<ReportSettings>(text).expect("read").beside(beside);
        assert_eq!(read("").folder, Some(PathBuf::from("/var/lib/pdm/reports")));
        assert_eq!(read("folder = \"/srv/r\"").folder, Some(PathBuf::from("/srv/r")));
        assert_eq!(read("off = true\nfolder = \"/srv/r\"").folder, None);
        assert_eq!(ReportSettings::default().beside(None).folder, None);
    }

    #[test]
    fn no_form_and_no_time_are_refused() {
        let path = Path::new("agent.toml");
        let bad = ReportSettings { work_hours: Some(-1.0), ..ReportSettings::default() };
        let error = bad.check(path).expect_err("negative").to_string();
        assert!(error.contains("reports.work_hours"), "{error}");
        let folder = Some(PathBuf::from("r"));
        let bad = ReportSettings { folder, formats: Vec::new(), ..ReportSettings::default() };
        assert!(bad.check(path).is_err());
    }
}
