//! Events out of an agent's store, a machine at a time, in the order in which they came.
//!
//! The store's order is the one in which the service judged, so late windows are late here too. A
//! running agent is not disturbed: everything is read.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use pdm_service::exit::{Exit, Failure, exit_of_input};
use pdm_store::{Store, StoreError};

use super::Played;
use super::progress::Progress;
use super::workers::{Choice, Crew, Desk, EventReading, Work};
use crate::backtest::{MachineKey, Reported};
use crate::cli::event_lines::{Demands, Turns};
use crate::cli::failure;
use crate::service::connect_store;
use crate::settings::{AgentSettings, StoreSettings};

/// The first bytes of a SQLite file.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// Events of one read.
const PAGE: u32 = 2_000;
/// Reports of staff of one bearing.
const REPORTS: u32 = 1_000;

/// Where events come from.
pub(super) enum Input {
    /// JSON lines; `-` is standard input.
    Lines(PathBuf),
    /// An agent's store.
    Store(Box<StoreSettings>),
}

impl Input {
    /// Reads `--from`.
    ///
    /// # Errors
    /// A [`Failure`]: 66 if there is no such file, 64 if `store` is asked for without a
    /// configuration.
    pub(super) fn of(from: &str, settings: Option<&AgentSettings>) -> Result<Self, Failure> {
        let usage = |told: String| Failure::new(Exit::Usage, anyhow::anyhow!(told));
        if from == "store" {
            let own = settings.map(|settings| settings.store.clone());
            let own =
                own.ok_or_else(|| usage("--from store needs --config, which names it".to_owned()))?;
            return Ok(Self::Store(Box::new(own)));
        }
        if from.starts_with("postgres://") || from.starts_with("postgresql://") {
            let typed = format!("[postgres]\nurl = {}\n", toml::Value::from(from));
            let read = toml::from_str(&typed);
            let read =
                read.map_err(|error| usage(format!("--from {from}: {}", error.message())))?;
            return Ok(Self::Store(Box::new(read)));
        }
        let path = Path::new(from);
        if from == "-" {
            return Ok(Self::Lines(path.to_owned()));
        }
        let missing = |error: std::io::Error| {
            Failure::new(exit_of_input(&error), anyhow::anyhow!("cannot read {from}: {error}"))
        };
        let mut head = Vec::new();
        let file = std::fs::File::open(path).map_err(missing)?;
        file.take(SQLITE.len() as u64).read_to_end(&mut head).map_err(missing)?;
        if head == SQLITE {
            return Ok(Self::Store(Box::new(StoreSettings::sqlite(path))));
        }
        Ok(Self::Lines(path.to_owned()))
    }

    /// Returns the name of the input that a part records.
    pub(super) fn identity(&self) -> String {
        match self {
            Self::Lines(path) if path == Path::new("-") => "standard input".to_owned(),
            Self::Lines(path) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let bytes = std::fs::metadata(path).map_or(0, |file| file.len());
                format!("{name}, {bytes} bytes")
            }
            Self::Store(settings) => format!("store {settings}"),
        }
    }
}

/// Plays what a store holds.
///
/// # Errors
/// A [`Failure`] (69) if the store does not answer, or one of the part.
pub(super) fn play(
    settings: &StoreSettings,
    crew: Crew<'_>,
    choice: &Choice,
) -> anyhow::Result<Played> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(failure::runtime)?;
    let demands = Demands { turns: Turns::Interleaved, end_record: false, can_sort: false };
    crew.play(EventReading { name: "the store", demands }, |desk| {
        runtime.block_on(async {
            let store = connect_store(settings).await.map_err(failure::store)?;
            let read = hand_out(&store, desk, choice).await;
            store.close().await;
            read.map_err(failure::store)
        })
    })
}

async fn hand_out(store: &Store, desk: &mut Desk<'_>, choice: &Choice) -> Result<(), StoreError> {
    let bearings = store.history().measured().await?;
    let machines: BTreeSet<MachineKey> = bearings.iter().map(MachineKey::from).collect();
    let taken = |one: &&MachineKey| choice.takes(one.site.as_str(), one.equipment.as_str());
    let machines: Vec<&MachineKey> = machines.iter().filter(taken).collect();
    let mut progress = Progress::new(None);
    for (number, machine) in machines.iter().enumerate() {
        let name = machine.to_string();
        let mut reported = Vec::new();
        for key in bearings.iter().filter(|key| MachineKey::from(*key) == **machine) {
            let reports = store.desk().reports_of(key, REPORTS).await?;
            let valid = reports.into_iter().filter(|report| report.withdrawn_at.is_none());
            reported.extend(valid.map(|report| Reported {
                bearing: key.clone(),
                at: report.at,
                verdict: report.found.map(|found| found.verdict),
                repaired: report.repaired,
            }));
        }
        let mut goes_on = desk.put(Work::Reported(name.clone(), reported));
        let mut after = 0;
        loop {
            let page =
                store.history().arrivals(&machine.site, &machine.equipment, after, PAGE).await?;
            let Some((last, _)) = page.last() else { break };
            after = *last;
            let events = page.into_iter().map(|(_, event)| event).collect();
            goes_on = goes_on && desk.put(Work::Events(name.clone(), events));
            if !goes_on {
                return Ok(());
            }
        }
        desk.put(Work::End(name));
        progress.share(number as u64 + 1, machines.len() as u64, desk.events);
    }
    progress.end();
    Ok(())
}
