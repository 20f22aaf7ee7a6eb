//! The tools of the running program: read once, and read again whenever the folder changes.
//!
//! Every caller asks [`Catalogue::current`] and gets one registry, which does not change while the
//! caller uses it. Invariant: the current registry is valid as a whole; a broken file only leads to
//! an entry in the log.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::{mpsc, watch};

use super::problem::Problem;
use super::registry::Registry;
use super::sources::Sources;

/// Quiet time after a change before the folder is read, because an editor writes in several steps.
const SETTLE: Duration = Duration::from_millis(60);

/// The folder cannot be watched. The caller reports the error and continues without hot reload, or
/// stops.
#[derive(Debug, thiserror::Error)]
#[error("cannot watch {}", folder.display())]
pub struct WatchError {
    folder: PathBuf,
    #[source]
    source: notify::Error,
}

/// The current tools of a folder and of packs.
#[derive(Debug)]
pub struct Catalogue {
    sources: Sources,
    current: watch::Sender<Arc<Registry>>,
}

impl Catalogue {
    /// Reads the folder. Broken tools are left out; the problems name each with its reason.
    pub fn open(folder: &Path) -> (Arc<Self>, Vec<Problem>) {
        Self::of(Sources::folder(folder))
    }

    /// The tools that come with the program.
    pub fn shipped() -> (Arc<Self>, Vec<Problem>) {
        Self::of(Sources::default())
    }

    /// Reads the tools of `sources`. Broken tools are left out; the problems name each with its
    /// reason.
    pub fn of(sources: Sources) -> (Arc<Self>, Vec<Problem>) {
        let loaded = Registry::load(&sources);
        let current = watch::Sender::new(Arc::new(loaded.registry));
        (Arc::new(Self { sources, current }), loaded.problems)
    }

    /// The current tools.
    pub fn current(&self) -> Arc<Registry> {
        Arc::clone(&self.current.borrow())
    }

    /// A receiver that is told of every change of the tools.
    pub fn subscribe(&self) -> watch::Receiver<Arc<Registry>> {
        self.current.subscribe()
    }

    /// Reads the folders again and logs the result. Blocks on the file system.
    pub fn reload(&self) -> Vec<Problem> {
        let before = self.current();
        let loaded = before.renewed(&self.sources);
        for problem in &loaded.problems {
            tracing::error!(%problem, "Tool refused; what was there before stays.");
        }
        let mut changed = !loaded.registry.has_packs_of(&before);
        for spec in loaded.registry.list() {
            let same = before.get(&spec.name).is_some_and(|old| old.says_the_same_as(spec));
            if !same {
                changed = true;
                tracing::info!(version = %spec.version, "Tool reloaded: {}", spec.name);
            }
        }
        for name in before.names().iter().filter(|name| loaded.registry.get(name).is_none()) {
            changed = true;
            tracing::warn!("Tool withdrawn: {name}");
        }
        if changed {
            self.current.send_replace(Arc::new(loaded.registry));
        }
        loaded.problems
    }

    /// Starts to watch the folders. The returned future reads them again after every change, until
    /// it is dropped. Without a folder the future never ends.
    ///
    /// # Errors
    /// [`WatchError`] if the system cannot watch a folder.
    pub fn watch(self: &Arc<Self>) -> Result<impl Future<Output = ()> + Send + use<>, WatchError> {
        // one place is enough: a second change during the wait leads to the same read
        let (tell, mut told) = mpsc::channel::<()>(1);
        let folders: Vec<PathBuf> = self.sources.watched().map(Path::to_owned).collect();
        let watcher = if folders.is_empty() { None } else { Some(watcher(&folders, tell)?) };
        let catalogue = Arc::clone(self);
        Ok(async move {
            if watcher.is_none() {
                std::future::pending::<()>().await;
            }
            let _alive = watcher;
            while told.recv().await.is_some() {
                while tokio::time::timeout(SETTLE, told.recv())
                    .await
                    .is_ok_and(|more| more.is_some())
                {}
                let catalogue = Arc::clone(&catalogue);
                let reloaded = tokio::task::spawn_blocking(move || catalogue.reload()).await;
                if let Err(error) = reloaded {
                    tracing::error!(%error, "Reading the tools again failed.");
                }
            }
        })
    }
}

fn watcher(folders: &[PathBuf], tell: mpsc::Sender<()>) -> Result<RecommendedWatcher, WatchError> {
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        match event {
            // reading is not a change: otherwise each read would cause the next one
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => {}
            Ok(_change) => {
                // a full channel means that a read is already due
                let _waiting = tell.try_send(());
            }
            Err(error) => {
                tracing::warn!(%error, "Watching the tools: an event was lost, reading again.");
                let _waiting = tell.try_send(());
            }
        }
    });
    let failed = |folder: &Path, source| WatchError { folder: folder.to_owned(), source };
    let first = folders.first().map_or(Path::new(""), PathBuf::as_path);
    let mut watcher = watcher.map_err(|error| failed(first, error))?;
    for folder in folders {
        // a pack keeps its tools and data in folders of their own
        let is_pack = super::pack::is_pack(folder);
        let mode = if is_pack { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
        watcher.watch(folder, mode).map_err(|error| failed(folder, error))?;
    }
    Ok(watcher)
}
