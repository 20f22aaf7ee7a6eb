//! `[knowledge]` of `agent.toml`: the store, the embedding, the documents.
//!
//! ```toml
//! [knowledge]
//! documents = "knowledge"                 # folder that is ingested at start; default: the shipped
//! store = { sqlite = "knowledge.db" }     # or { qdrant = { url = "http://127.0.0.1:6334" } };
//!                                         # default: a file beside `[store] sqlite`
//! embedding = { openai = { key = { env = "OPENAI_API_KEY" } } }   # default "local"
//! # a server in the plant with a model of the E5 family:
//! # embedding = { openai = { base_url = "http://127.0.0.1:8000/v1", model = "multilingual-e5-small",
//! #   dimensions = 384, prefix = { query = "query: ", passage = "passage: " } } }
//! words = "words"                         # words and topics of the plant's own (config/words/)
//! pdf_reader = "/opt/pdm/pdm-pdf"         # program that reads PDFs; default: beside this one
//! max_judgements = 10000                  # judgements that a file keeps for searching; 0: all
//! filter_by_model = false                 # the model of [reasoner] drops passages that do not help
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pdm_service::config::ConfigError;
use pdm_service::secret::SecretSource;
use serde::Deserialize;

use super::KnowledgeError;
use super::embed::local::LocalEmbedder;
use super::embed::openai::OpenAiEmbedder;
use super::embed::{Embedder, Roles};
use super::glossary::PlantFiles;
use super::store::VectorStore;
use super::store::embedded::{EmbeddedStore, SetAside};
use super::store::qdrant::QdrantStore;

/// `[knowledge]` as the file has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KnowledgeFile {
    documents: Option<PathBuf>,
    store: Option<StoreChoice>,
    embedding: EmbeddingChoice,
    words: Option<PathBuf>,
    pdf_reader: Option<PathBuf>,
    max_judgements: Option<usize>,
    filter_by_model: bool,
}

/// `[knowledge]` after it is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnowledgeSettings {
    /// Folder (or file) of documents that is ingested at start; `None`: those that come with the
    /// program.
    pub documents: Option<PathBuf>,
    /// Store of chunks and vectors.
    pub store: StoreChoice,
    /// Embedder that makes the vectors.
    pub embedding: EmbeddingChoice,
    /// File or folder of words and topics that the plant adds to the glossary.
    pub words: Option<PathBuf>,
    /// Program that reads PDFs; `None`: `pdm-pdf` beside the running program.
    pub pdf_reader: Option<PathBuf>,
    /// Most judgements that the embedded store keeps, 0 for all; a Qdrant server keeps all.
    pub max_judgements: usize,
    /// Whether the language model drops passages that do not help, where people and programs ask
    /// (R-KB-4). Judgements never wait for it.
    pub filter_by_model: bool,
}

/// `store`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum StoreChoice {
    /// A SQLite file on this machine.
    Sqlite(PathBuf),
    /// A Qdrant server.
    Qdrant(QdrantChoice),
}

/// `store.qdrant`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QdrantChoice {
    /// The server's gRPC address, such as `http://127.0.0.1:6334`.
    pub url: String,
    /// The server's API key.
    #[serde(default)]
    pub key: Option<SecretSource>,
    /// Prefix of the names of all collections.
    #[serde(default)]
    pub prefix: String,
}

/// `embedding`
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum EmbeddingChoice {
    /// The local embedding: no network, no model.
    #[default]
    Local,
    /// An endpoint of the form of OpenAI's `/embeddings`.
    Openai(OpenAiChoice),
}

/// `embedding.openai`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OpenAiChoice {
    /// Address of the endpoint, without `/embeddings`.
    pub base_url: String,
    /// Name of the model.
    pub model: String,
    /// Length of the model's vectors.
    pub dimensions: usize,
    /// API key; a server in the plant may need none.
    pub key: Option<SecretSource>,
    /// Texts that the model wants before a question and before a passage, such as `query: ` and
    /// `passage: ` of the E5 family.
    pub prefix: Roles,
    /// The values of the field `input_type` of a request for a question and for a passage, for
    /// endpoints that know it; empty: the field is left out.
    pub input_type: Roles,
}

impl Default for OpenAiChoice {
    fn default() -> Self {
        Self {
            base_url: "https://api.openai.com/v1".to_owned(),
            model: "text-embedding-3-small".to_owned(),
            dimensions: 1536,
            key: None,
            prefix: Roles::default(),
            input_type: Roles::default(),
        }
    }
}

/// File of the embedded store if none is set.
const DEFAULT_FILE: &str = "knowledge.db";

/// Judgements that the embedded store keeps by default: 10,000 of healthy windows take 32 MiB of
/// memory and a file of 44 MB.
const MAX_JUDGEMENTS: usize = 10_000;

impl KnowledgeFile {
    /// The checked settings, with paths resolved against the folder of `path`. If no store is set,
    /// it is a file in the folder `beside`, if there is one.
    ///
    /// # Errors
    /// [`ConfigError::Value`] with key, value and the allowed values; `path` is the file in the
    /// error.
    pub fn meant(
        self,
        path: &Path,
        beside: Option<&Path>,
    ) -> Result<KnowledgeSettings, ConfigError> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let store = match (self.store, beside) {
            (Some(StoreChoice::Sqlite(file)), _) => StoreChoice::Sqlite(folder.join(file)),
            (Some(StoreChoice::Qdrant(choice)), _) => StoreChoice::Qdrant(QdrantChoice {
                key: choice.key.map(|key| key.rooted(folder)),
                ..choice
            }),
            (None, Some(beside)) => StoreChoice::Sqlite(beside.join(DEFAULT_FILE)),
            (None, None) => {
                let allowed = "{ sqlite = \"FILE\" } or { qdrant = { url = \"…\" } }";
                return Err(ConfigError::value(path, "knowledge.store", "absent", allowed));
            }
        };
        let documents = self.documents.map(|documents| folder.join(documents));
        let max_judgements = self.max_judgements.unwrap_or(MAX_JUDGEMENTS);
        let embedding = match self.embedding {
            EmbeddingChoice::Openai(choice) => EmbeddingChoice::Openai(OpenAiChoice {
                key: choice.key.map(|key| key.rooted(folder)),
                ..choice
            }),
            EmbeddingChoice::Local => EmbeddingChoice::Local,
        };
        let words = self.words.map(|words| folder.join(words));
        if let Some(words) = &words {
            PlantFiles::read_from(words)?;
        }
        let settings = KnowledgeSettings {
            documents,
            store,
            embedding,
            words,
            pdf_reader: self.pdf_reader.map(|program| folder.join(program)),
            max_judgements,
            filter_by_model: self.filter_by_model,
        };
        settings.check(path)?;
        Ok(settings)
    }
}

impl KnowledgeSettings {
    /// Settings of an embedded store in one file, with the local embedding and the documents that
    /// come with the program.
    pub fn embedded(store: impl Into<PathBuf>) -> Self {
        Self {
            documents: None,
            store: StoreChoice::Sqlite(store.into()),
            embedding: EmbeddingChoice::Local,
            words: None,
            pdf_reader: None,
            max_judgements: MAX_JUDGEMENTS,
            filter_by_model: false,
        }
    }

    /// [`KnowledgeSettings::embedded`] in `folder`.
    pub fn embedded_in(folder: &Path) -> Self {
        Self::embedded(folder.join(DEFAULT_FILE))
    }

    fn check(&self, path: &Path) -> Result<(), ConfigError> {
        if let StoreChoice::Qdrant(choice) = &self.store {
            check_url(path, "knowledge.store.qdrant.url", &choice.url)?;
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            if !choice.prefix.chars().all(plain) {
                let key = "knowledge.store.qdrant.prefix";
                let allowed = "letters, digits, '-', '_'";
                return Err(ConfigError::value(path, key, &choice.prefix, allowed));
            }
        }
        if let EmbeddingChoice::Openai(choice) = &self.embedding {
            check_url(path, "knowledge.embedding.openai.base_url", &choice.base_url)?;
            if !(1..=8192).contains(&choice.dimensions) {
                let key = "knowledge.embedding.openai.dimensions";
                return Err(ConfigError::value(path, key, choice.dimensions, "1 to 8192"));
            }
        }
        Ok(())
    }

    /// Whether the store is on a server, which may come back empty.
    pub const fn is_server(&self) -> bool {
        matches!(self.store, StoreChoice::Qdrant(_))
    }

    /// Reads the keys, so that one that cannot be used is told before a server is asked.
    ///
    /// # Errors
    /// [`KnowledgeError::Secret`].
    pub fn check_keys(&self) -> Result<(), KnowledgeError> {
        let mut keys = Vec::new();
        if let StoreChoice::Qdrant(choice) = &self.store {
            keys.push(("store.qdrant.key", &choice.key));
        }
        if let EmbeddingChoice::Openai(choice) = &self.embedding {
            keys.push(("embedding.openai.key", &choice.key));
        }
        for (key, source) in keys {
            let read = source.as_ref().map(SecretSource::fetch).transpose();
            read.map_err(|source| KnowledgeError::Secret { key, source })?;
        }
        Ok(())
    }

    /// Makes the embedder.
    ///
    /// # Errors
    /// [`KnowledgeError::Secret`], [`KnowledgeError::Embed`].
    pub fn embedder(&self) -> Result<Arc<dyn Embedder>, KnowledgeError> {
        match &self.embedding {
            EmbeddingChoice::Local => Ok(Arc::new(LocalEmbedder)),
            EmbeddingChoice::Openai(choice) => {
                let key = choice.key.as_ref().map(SecretSource::fetch).transpose();
                let key = key.map_err(|source| KnowledgeError::Secret {
                    key: "embedding.openai.key",
                    source,
                })?;
                let (url, model) = (&choice.base_url, &choice.model);
                let embedder = OpenAiEmbedder::new(url, model, choice.dimensions, key)?;
                let (prefix, input_type) = (choice.prefix.clone(), choice.input_type.clone());
                let embedder = embedder.renewing(choice.key.clone());
                Ok(Arc::new(embedder.with_roles(prefix, input_type)))
            }
        }
    }

    /// Opens the store for vectors of `dimensions`. A damaged file is set aside and told.
    ///
    /// # Errors
    /// As [`KnowledgeSettings::store`].
    pub(crate) async fn healed_store(
        &self,
        dimensions: usize,
    ) -> Result<(Arc<dyn VectorStore>, Option<SetAside>), KnowledgeError> {
        let StoreChoice::Sqlite(file) = &self.store else {
            return Ok((self.store(dimensions).await?, None));
        };
        let (store, aside) = EmbeddedStore::open_healed(file, dimensions).await?;
        Ok((self.bounded(store).await?, aside))
    }

    async fn bounded(&self, store: EmbeddedStore) -> Result<Arc<dyn VectorStore>, KnowledgeError> {
        Ok(match self.max_judgements {
            0 => Arc::new(store),
            most => Arc::new(store.bounded(most).await?),
        })
    }

    /// Opens the store for vectors of `dimensions`.
    ///
    /// # Errors
    /// [`KnowledgeError::Store`], [`KnowledgeError::Secret`].
    pub async fn store(&self, dimensions: usize) -> Result<Arc<dyn VectorStore>, KnowledgeError> {
        match &self.store {
            StoreChoice::Sqlite(file) => {
                self.bounded(EmbeddedStore::open(file, dimensions).await?).await
            }
            StoreChoice::Qdrant(choice) => {
                let key = choice.key.as_ref().map(SecretSource::fetch).transpose();
                let key = key
                    .map_err(|source| KnowledgeError::Secret { key: "store.qdrant.key", source })?;
                let (url, prefix) = (&choice.url, &choice.prefix);
                let store = QdrantStore::new(url, key.as_ref(), prefix, dimensions)?;
                Ok(Arc::new(store.renewing(choice.key.clone())))
            }
        }
    }
}

fn check_url(path: &Path, key: &str, url: &str) -> Result<(), ConfigError> {
    if reqwest::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https")) {
        Ok(())
    } else {
        Err(ConfigError::value(path, key, url, "an http or https address"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<KnowledgeSettings, ConfigError> {
        let path = Path::new("conf/agent.toml");
        let typed: KnowledgeFile = pdm_service::config::parse(path, text)?;
        typed.meant(path, Some(Path::new("data")))
    }

    #[test]
    fn nothing_typed_is_the_embedded_store_with_the_local_embedding() {
        assert_eq!(read("").expect("settings"), KnowledgeSettings::embedded("data/knowledge.db"));
    }

    #[test]
    fn the_openai_endpoint_has_the_seeds_model_by_default() {
        let settings = read("embedding = { openai = {} }").expect("settings");
        assert_eq!(settings.embedding, EmbeddingChoice::Openai(OpenAiChoice::default()));
    }

    #[test]
    fn an_endpoint_may_want_prefixes_or_an_input_type() {
        let text = "embedding = { openai = { model = \"multilingual-e5-small\", dimensions = 384, \
                    prefix = { query = \"query: \", passage = \"passage: \" } } }";
        let EmbeddingChoice::Openai(choice) = read(text).expect("settings").embedding else {
            panic!("an endpoint")
        };
        assert_eq!(
            (choice.prefix.query.as_str(), choice.prefix.passage.as_str()),
            ("query: ", "passage: ")
        );
        assert_eq!(choice.input_type, Roles::default());
    }

    #[test]
    fn a_bad_address_is_told_with_its_key() {
        let error = read("store = { qdrant = { url = \"qdrant\" } }").expect_err("wrong");
        assert_eq!(
            error.to_string(),
            "conf/agent.toml: knowledge.store.qdrant.url is qdrant, allowed is an http or https \
             address"
        );
    }
}
