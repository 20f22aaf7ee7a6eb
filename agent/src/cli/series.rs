//! `pdm-agent series`: series and past cases of measuring stations into the store, and what is
//! there.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use pdm_decision::table::{TableError, cases, values};
use pdm_graph::files::decoded;
use pdm_service::exit::{Exit, Failure, exit_of_input};
use pdm_shared::id::BearingKey;
use pdm_store::Store;

use super::failure;
use crate::settings::AgentSettings;

/// Arguments of `series`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent series import values.csv            # station_id,element,at,value
  pdm-agent series cases cases.csv              # id,station_id,element,from_at,to_at,what_ko,…
  pdm-agent series bearing 7001 ulsan-1/P-101/DE
  pdm-agent series list

Files are UTF-8 or CP949. Instants are YYYY-MM-DD HH:MM:SS, the station's clock; an empty value \
is missing. The same file again changes nothing. Exit codes: 0 done, 65 a wrong line, 66 no such \
file, 69 the store does not answer, 78 bad configuration")]
pub struct Args {
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG", global = true)]
    config: Option<PathBuf>,
    /// Action
    #[command(subcommand)]
    action: SeriesAction,
}

/// The actions.
#[derive(Debug, Subcommand)]
enum SeriesAction {
    /// Store the values of a CSV file
    Import {
        /// The file
        file: PathBuf,
    },
    /// Store past cases of a CSV file: what they were and what became of them
    Cases {
        /// The file
        file: PathBuf,
    },
    /// Give a bearing a station number: the features of its events are its elements
    Bearing {
        /// The number
        station_id: i64,
        /// SITE/EQUIPMENT/BEARING
        #[arg(value_parser = bearing_key)]
        bearing: BearingKey,
    },
    /// List stations with their elements
    List,
}

fn bearing_key(text: &str) -> Result<BearingKey, String> {
    let [site, equipment, bearing] = text.split('/').collect::<Vec<_>>()[..] else {
        return Err("expected SITE/EQUIPMENT/BEARING".to_owned());
    };
    let part = |key: &str, error: &dyn std::fmt::Display| format!("{key}: {error}");
    Ok(BearingKey {
        site: site.parse().map_err(|error| part("site", &error))?,
        equipment: equipment.parse().map_err(|error| part("equipment", &error))?,
        bearing: bearing.parse().map_err(|error| part("bearing", &error))?,
    })
}

/// Stations that `list` prints.
const MOST_LISTED: usize = 10_000;

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let Some(config) = &args.config else {
        let error = anyhow::anyhow!("--config FILE is missing (or PDM_AGENT_CONFIG)");
        return Err(Failure::new(Exit::Usage, error).into());
    };
    let settings = AgentSettings::read(config).map_err(failure::config)?;
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let tokio = tokio.map_err(failure::runtime)?;
    let done = tokio.block_on(act(&settings, &args.action))?;
    let mut out = pdm_service::command_line::stdout();
    for line in done {
        writeln!(out, "{line}")?;
    }
    Ok(Exit::Ok)
}

async fn act(settings: &AgentSettings, action: &SeriesAction) -> Result<Vec<String>, Failure> {
    // the whole file is read before the store is opened: a wrong line changes nothing
    match action {
        SeriesAction::Import { file } => {
            let read = values(&text(file)?).map_err(|error| wrong(file, error))?;
            let changed =
                open(settings).await?.series().put_series(&read).await.map_err(failure::store)?;
            Ok(vec![format!("{} values read, {changed} new or changed", read.len())])
        }
        SeriesAction::Cases { file } => {
            let read = cases(&text(file)?).map_err(|error| wrong(file, error))?;
            open(settings).await?.series().put_cases(&read).await.map_err(failure::store)?;
            Ok(vec![format!("{} cases stored", read.len())])
        }
        SeriesAction::Bearing { station_id, bearing } => {
            let store = open(settings).await?;
            let named =
                store.series().name_station(*station_id, bearing).await.map_err(failure::store)?;
            if named {
                return Ok(vec![format!("station {station_id} is {bearing}")]);
            }
            let error = anyhow::anyhow!(
                "station {station_id} or {bearing} is taken: pdm-agent series list shows the \
                 stations"
            );
            Err(Failure::new(Exit::BadInput, error))
        }
        SeriesAction::List => {
            let stations = open(settings)
                .await?
                .series()
                .stations(MOST_LISTED)
                .await
                .map_err(failure::store)?;
            Ok(stations.into_iter().map(|(id, element)| format!("{id}  {element}")).collect())
        }
    }
}

async fn open(settings: &AgentSettings) -> Result<Store, Failure> {
    pdm_store::open(&settings.store).await.map_err(failure::store)
}

fn text(file: &Path) -> Result<String, Failure> {
    let bytes = std::fs::read(file).map_err(|error| {
        let exit = exit_of_input(&error);
        let error = anyhow::Error::new(error).context(file.display().to_string());
        Failure::new(exit, error)
    })?;
    decoded(file, &bytes).map_err(|problem| Failure::new(Exit::BadInput, problem))
}

fn wrong(file: &Path, error: TableError) -> Failure {
    Failure::new(Exit::BadInput, anyhow::anyhow!("{}: {error}", file.display()))
}
