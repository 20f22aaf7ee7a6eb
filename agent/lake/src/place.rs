//! Where an archive lies: a folder, or a bucket of S3 with a prefix.
//!
//! Records of the archive itself lie under `_pdm`: what it is (`archive.json`), who archives
//! (`owner/`), which days are archived (`days/`). They are whole objects, written by one request.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions};
use url::Url;

use crate::error::LakeError;

/// Objects of one archive.
#[derive(Debug, Clone)]
pub struct Place {
    /// The archive as the operator named it, for messages.
    pub name: String,
    /// The root of the archive.
    pub store: Arc<dyn ObjectStore>,
    /// The disk or bucket that the archive lies on.
    pub root: Arc<dyn ObjectStore>,
    /// Where the archive begins in `root`.
    pub prefix: Path,
    /// Address of the root, with a slash at its end.
    pub url: Url,
    /// The folder, of an archive on a disk.
    pub folder: Option<PathBuf>,
}

impl Place {
    /// The place of `--lake`; a folder is made where `make` is set and there is none.
    ///
    /// # Errors
    /// [`LakeError`]: denied, no folder, an address of another kind.
    pub fn open(lake: &str, make: bool) -> Result<Self, LakeError> {
        let lake = lake.trim_end_matches('/');
        if lake.starts_with("s3://") {
            return bucket(lake);
        }
        if let Some((scheme, _)) = lake.split_once("://")
            && scheme != "file"
        {
            let told =
                format!("{scheme}:// is no place of an archive; a folder or s3://BUCKET/PREFIX");
            return Err(LakeError::Version { place: lake.to_owned(), told });
        }
        let folder = FilePath::new(lake.strip_prefix("file://").unwrap_or(lake));
        let failed = |doing, error: &std::io::Error| LakeError::of(lake, doing, error);
        if make {
            std::fs::create_dir_all(folder).map_err(|error| failed("making the folder", &error))?;
        }
        let folder = folder.canonicalize().map_err(|error| {
            let is_missing = error.kind() == std::io::ErrorKind::NotFound;
            let missing = || LakeError::NoArchive { place: lake.to_owned() };
            if is_missing { missing() } else { failed("opening the folder", &error) }
        })?;
        let prefix = Path::from_absolute_path(&folder)
            .map_err(|error| LakeError::of(lake, "opening the folder", &error))?;
        let url = Url::from_directory_path(&folder).map_err(|()| LakeError::Version {
            place: lake.to_owned(),
            told: "the folder's name is no address".to_owned(),
        })?;
        let root: Arc<dyn ObjectStore> = Arc::new(LocalFileSystem::new());
        Ok(Self::at(lake, root, prefix, url, Some(folder)))
    }

    fn at(
        name: &str,
        root: Arc<dyn ObjectStore>,
        prefix: Path,
        url: Url,
        folder: Option<PathBuf>,
    ) -> Self {
        let store: Arc<dyn ObjectStore> = if prefix.as_ref().is_empty() {
            Arc::clone(&root)
        } else {
            Arc::new(PrefixStore::new(Arc::clone(&root), prefix.clone()))
        };
        Self { name: name.to_owned(), store, root, prefix, url, folder }
    }

    /// An error at this place.
    pub fn failed(
        &self,
        doing: &'static str,
        error: &(dyn std::error::Error + 'static),
    ) -> LakeError {
        LakeError::of(&self.name, doing, error)
    }

    /// The bytes of an object, `None` if there is none.
    ///
    /// # Errors
    /// [`LakeError`] if it cannot be read.
    pub async fn read(&self, path: &str) -> Result<Option<Bytes>, LakeError> {
        let got = match self.store.get(&Path::from(path)).await {
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            got => got.map_err(|error| self.failed("reading", &error))?,
        };
        got.bytes().await.map(Some).map_err(|error| self.failed("reading", &error))
    }

    /// Writes an object, in place of one of before.
    ///
    /// # Errors
    /// [`LakeError`] if it cannot be written.
    pub async fn write(&self, path: &str, bytes: Vec<u8>) -> Result<(), LakeError> {
        let written = self.store.put(&Path::from(path), bytes.into()).await;
        written.map_err(|error| self.failed("writing", &error))?;
        self.to_disk(path)
    }

    /// Writes an object if there is none. `false`: there is one, nothing was changed.
    ///
    /// # Errors
    /// [`LakeError`] if it cannot be written.
    pub async fn create(&self, path: &str, bytes: Vec<u8>) -> Result<bool, LakeError> {
        let options = PutOptions::from(PutMode::Create);
        match self.store.put_opts(&Path::from(path), bytes.into(), options).await {
            Ok(_) => self.to_disk(path).map(|()| true),
            Err(
                object_store::Error::AlreadyExists { .. }
                | object_store::Error::Precondition { .. },
            ) => Ok(false),
            Err(error) => Err(self.failed("writing", &error)),
        }
    }

    /// Removes an object; one that is not there is no error.
    ///
    /// # Errors
    /// [`LakeError`] if it cannot be removed.
    pub async fn remove(&self, path: &str) -> Result<(), LakeError> {
        match self.store.delete(&Path::from(path)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed("removing", &error)),
        }
    }

    /// The objects under a folder, sorted by name.
    ///
    /// # Errors
    /// [`LakeError`] if they cannot be listed.
    pub async fn list(&self, folder: &str) -> Result<Vec<ObjectMeta>, LakeError> {
        let listed = self.store.list(Some(&Path::from(folder))).try_collect::<Vec<_>>().await;
        let mut listed = listed.map_err(|error| self.failed("listing", &error))?;
        listed.sort_by(|one, other| one.location.cmp(&other.location));
        Ok(listed)
    }

    /// Brings a file of an archive on a disk through a power failure. The library leaves that to
    /// the system.
    ///
    /// # Errors
    /// [`LakeError`] if the disk does not take it.
    pub fn to_disk(&self, path: &str) -> Result<(), LakeError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let file = folder.join(path);
        let synced = std::fs::File::open(&file).and_then(|file| file.sync_all());
        let parent = file.parent().unwrap_or(folder);
        synced
            .and_then(|()| std::fs::File::open(parent)?.sync_all())
            .map_err(|error| self.failed("bringing a file to the disk", &error))
    }
}

/// A bucket; its key, region and server are in the variables that every program for S3 reads.
fn bucket(lake: &str) -> Result<Place, LakeError> {
    let url = Url::parse(&format!("{lake}/")).map_err(|error| LakeError::Version {
        place: lake.to_owned(),
        told: format!("{error}; expected s3://BUCKET/PREFIX"),
    })?;
    let name = url.host_str().unwrap_or_default();
    // waiting longer hides a server that is away from the person at the terminal; `run` tries again
    let retry = object_store::RetryConfig {
        max_retries: 3,
        retry_timeout: std::time::Duration::from_secs(30),
        ..object_store::RetryConfig::default()
    };
    let client = object_store::aws::AmazonS3Builder::from_env()
        .with_bucket_name(name)
        .with_retry(retry)
        .build()
        .map_err(|error| LakeError::of(lake, "opening the bucket", &error))?;
    let prefix = Path::from(url.path().trim_matches('/'));
    Ok(Place::at(lake, Arc::new(client), prefix, url, None))
}
