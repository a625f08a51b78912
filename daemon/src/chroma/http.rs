//! A Chroma server over HTTP, through the crate `chromadb`, which nothing else in the daemon knows.
//!
//! What the crate lacks is made up for here. It has no deadlines; it needs the server to be there before there is a
//! client; its errors are text, and it takes the tenant from the server. An answer with a record that has no text fails as
//! a whole where texts are asked for with the nearest records.

use std::collections::BTreeMap;
use std::future::Future;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use chromadb::client::{ChromaAuthMethod, ChromaClientOptions, ChromaTokenHeader};
use chromadb::collection::{CollectionEntries, GetOptions, QueryOptions};
use chromadb::{ChromaClient, ChromaCollection};
use parking_lot::Mutex;
use serde_json::{Map, json};
use tokio::runtime::Handle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::server::{Answer, DEADLINE, Error, Put, Remote, Server};
use crate::config::Chroma;
use crate::domain::seed::{Value, Written};

/// How often a call is made that finds nobody, and how long it is waited before the second time, and twice that before the third.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(40);

/// A server over HTTP.
pub struct Http {
    url: String,
    link: Arc<Link>,
    runtime: Handle,
    /// The thread of the runtime ends with it.
    _thread: DropGuard,
}

/// The way to the server. It is made at the first call that finds the server.
struct Link {
    url: String,
    tenant: String,
    database: String,
    token: Option<String>,
    made: Mutex<Option<Made>>,
}

#[derive(Clone)]
struct Made {
    client: Arc<ChromaClient>,
    /// Collections by their ids.
    collections: Arc<Mutex<BTreeMap<String, Arc<ChromaCollection>>>>,
}

impl Http {
    /// The server of a configuration. Nothing is sent yet.
    ///
    /// # Errors
    /// When the token cannot be read, or the system gives no thread.
    pub fn new(config: &Chroma) -> Result<Self, Error> {
        let url = config.url.trim_end_matches('/').to_owned();
        let failed = |error: &dyn std::fmt::Display| Error::Unreachable {
            url: url.clone(),
            reason: error.to_string(),
        };
        let token = match &config.token_file {
            Some(path) => Some(std::fs::read_to_string(path).map_err(|error| Error::Denied {
                url: url.clone(),
                reason: format!("the file {} cannot be read: {error}", path.display()),
            })?),
            None => None,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| failed(&error))?;
        let (handle, stop) = (runtime.handle().clone(), CancellationToken::new());
        let stopped = stop.clone();
        std::thread::Builder::new()
            .name("chroma".to_owned())
            .spawn(move || runtime.block_on(stopped.cancelled()))
            .map_err(|error| failed(&error))?;
        let link = Link {
            url: url.clone(),
            tenant: config.tenant.clone(),
            database: config.database.clone(),
            token: token.map(|token| token.trim().to_owned()),
            made: Mutex::default(),
        };
        Ok(Self { url, link: Arc::new(link), runtime: handle, _thread: stop.drop_guard() })
    }

    fn begin<T, F>(
        &self,
        deadline: Duration,
        work: impl Fn(Arc<Link>) -> F + Send + Sync + 'static,
    ) -> Pending<T>
    where
        T: Send + 'static,
        F: Future<Output = anyhow::Result<T>> + Send,
    {
        let (link, (tell, told)) = (self.link.clone(), mpsc::sync_channel(1));
        self.runtime.spawn(async move {
            let tried = async {
                let mut pause = PAUSE;
                for again in 1.. {
                    match work(link.clone()).await.map_err(|error| link.error(&error)) {
                        Err(Error::Unreachable { .. }) if again < TRIES => {
                            tokio::time::sleep(jittered(pause, &link.url, again)).await;
                            pause *= 2;
                        }
                        answer => return answer,
                    }
                }
                unreachable!("the last try is an answer")
            };
            let late = || Error::Late { url: link.url.clone(), deadline };
            let answer = tokio::time::timeout(deadline, tried).await.unwrap_or_else(|_| Err(late()));
            // Whoever asked may not wait any more.
            let _ = tell.send(answer);
        });
        Pending { told, url: self.url.clone() }
    }

    fn call<T, F>(&self, work: impl Fn(Arc<Link>) -> F + Send + Sync + 'static) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = anyhow::Result<T>> + Send,
    {
        self.begin(DEADLINE, work).answer()
    }
}

/// Many who find nobody at once do not come back at once.
fn jittered(pause: Duration, url: &str, again: u32) -> Duration {
    let mut hasher = DefaultHasher::new();
    (url, std::process::id(), again).hash(&mut hasher);
    let share = u32::try_from(hasher.finish() % 1024).unwrap_or_default();
    pause / 2 + pause * share / 1024
}

/// An answer that is on its way.
struct Pending<T> {
    told: mpsc::Receiver<Result<T, Error>>,
    url: String,
}

impl<T> Pending<T> {
    fn answer(self) -> Result<T, Error> {
        let ended = |_| Error::Unreachable { url: self.url, reason: "the daemon stops".to_owned() };
        self.told.recv().map_err(ended)?
    }
}

impl Answer for Pending<Vec<(usize, Written)>> {
    fn wait(self: Box<Self>) -> Result<Vec<(usize, Written)>, Error> {
        self.answer()
    }
}

impl Link {
    async fn made(&self) -> anyhow::Result<Made> {
        if let Some(made) = &*self.made.lock() {
            return Ok(made.clone());
        }
        let auth = match &self.token {
            Some(token) => {
                ChromaAuthMethod::TokenAuth { token: token.clone(), header: ChromaTokenHeader::Authorization }
            }
            None => ChromaAuthMethod::None,
        };
        // The client asks in the tenant that the server names; another is reached from there by its path.
        let database = match self.tenant.as_str() {
            "" => self.database.clone(),
            tenant => format!("../../{tenant}/databases/{}", self.database),
        };
        let options = ChromaClientOptions { url: Some(self.url.clone()), auth, database };
        let client = Arc::new(ChromaClient::new(options).await?);
        let made = Made { client, collections: Arc::default() };
        *self.made.lock() = Some(made.clone());
        Ok(made)
    }

    async fn collection(&self, remote: &Remote) -> anyhow::Result<Arc<ChromaCollection>> {
        let made = self.made().await?;
        if let Some(known) = made.collections.lock().get(&remote.id) {
            return Ok(known.clone());
        }
        Ok(made.keep(made.client.get_collection(&remote.name).await?).1)
    }

    /// What went wrong. The crate tells the status first, if there is one.
    fn error(&self, error: &anyhow::Error) -> Error {
        let (url, told) = (self.url.clone(), format!("{error:#}"));
        let status: Option<u16> = told.get(..3).and_then(|status| status.parse().ok());
        let reason = shortened(&told);
        match status {
            Some(401 | 403) => Error::Denied { url, reason },
            Some(404) => Error::Missing { url, reason },
            Some(400) if told.contains("does not exist") => Error::Missing { url, reason },
            Some(status @ 400..500) if !matches!(status, 408 | 429) => Error::Refused { url, reason },
            None if told.contains("decoding") || told.contains("expected") => Error::Garbled { url, reason },
            Some(_) | None => Error::Unreachable { url, reason },
        }
    }
}

/// A page of a proxy is no reason that anybody reads.
fn shortened(told: &str) -> String {
    const LONGEST: usize = 200;
    let line = told.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

impl Made {
    fn keep(&self, collection: ChromaCollection) -> (Remote, Arc<ChromaCollection>) {
        let remote = Remote { name: collection.name().to_owned(), id: collection.id().to_owned() };
        let collection = Arc::new(collection);
        self.collections.lock().insert(remote.id.clone(), collection.clone());
        (remote, collection)
    }
}

impl Server for Http {
    fn url(&self) -> &str {
        &self.url
    }

    fn collections(&self) -> Result<Vec<Remote>, Error> {
        self.call(|link| async move {
            let made = link.made().await?;
            let there = made.client.list_collections().await?;
            Ok(there.into_iter().map(|collection| made.keep(collection).0).collect())
        })
    }

    fn ensure(&self, name: &str, metadata: &BTreeMap<String, Value>) -> Result<Remote, Error> {
        let (name, metadata) = (name.to_owned(), map(metadata.iter().map(|(key, value)| (key, Some(value)))));
        self.call(move |link| {
            let (name, metadata) = (name.clone(), metadata.clone());
            async move {
                let made = link.made().await?;
                let collection = made.client.get_or_create_collection(&name, Some(metadata)).await?;
                Ok(made.keep(collection).0)
            }
        })
    }

    fn count(&self, remote: &Remote) -> Result<u64, Error> {
        let remote = remote.clone();
        self.call(move |link| {
            let remote = remote.clone();
            async move { Ok(link.collection(&remote).await?.count().await? as u64) }
        })
    }

    fn page(&self, remote: &Remote, offset: usize, limit: usize) -> Result<Vec<Written>, Error> {
        let remote = remote.clone();
        self.call(move |link| {
            let remote = remote.clone();
            async move {
                let options = GetOptions {
                    offset: Some(offset),
                    limit: Some(limit),
                    include: Some(texts()),
                    ..GetOptions::default()
                };
                read(link.collection(&remote).await?.get(options).await?)
            }
        })
    }

    fn get(&self, remote: &Remote, ids: &[String], deadline: Duration) -> Result<Vec<Written>, Error> {
        // No ids at all would be every record.
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let (remote, ids) = (remote.clone(), ids.to_vec());
        let got = self.begin(deadline, move |link| {
            let (remote, ids) = (remote.clone(), ids.clone());
            async move {
                let options = GetOptions { ids, include: Some(texts()), ..GetOptions::default() };
                read(link.collection(&remote).await?.get(options).await?)
            }
        });
        got.answer()
    }

    fn upsert(&self, remote: &Remote, records: &[Put]) -> Result<(), Error> {
        let (remote, records) = (remote.clone(), Arc::new(records.to_vec()));
        self.call(move |link| {
            let (remote, records) = (remote.clone(), records.clone());
            async move {
                link.collection(&remote).await?.upsert(entries(&records), None).await?;
                Ok(())
            }
        })
    }

    fn update(&self, remote: &Remote, records: &[Put]) -> Result<(), Error> {
        let (remote, records) = (remote.clone(), Arc::new(records.to_vec()));
        self.call(move |link| {
            let (remote, records) = (remote.clone(), records.clone());
            async move { link.collection(&remote).await?.update(entries(&records), None).await }
        })
    }

    fn delete(&self, remote: &Remote, ids: &[String]) -> Result<(), Error> {
        if ids.is_empty() {
            return Ok(());
        }
        let (remote, ids) = (remote.clone(), ids.to_vec());
        self.call(move |link| {
            let (remote, ids) = (remote.clone(), ids.clone());
            async move {
                let ids = ids.iter().map(String::as_str).collect();
                link.collection(&remote).await?.delete(Some(ids), None, None).await
            }
        })
    }

    fn begin_query(
        &self,
        remotes: &[Remote],
        vector: &[f32],
        limit: usize,
        deadline: Duration,
    ) -> Box<dyn Answer> {
        let (remotes, vector) = (remotes.to_vec(), vector.to_vec());
        Box::new(self.begin(deadline, move |link| {
            let (remotes, vector) = (remotes.clone(), vector.clone());
            async move {
                let mut found = Vec::new();
                for (place, remote) in remotes.iter().enumerate() {
                    let near = nearest(&*link.collection(remote).await?, &vector, limit).await?;
                    found.extend(near.into_iter().map(|written| (place, written)));
                }
                Ok(found)
            }
        }))
    }
}

/// The records nearest to a vector, among those that are not deprecated: that includes those that do not say. Whether a
/// record succeeds often enough cannot be asked in such a way, so that is looked at later.
async fn nearest(
    collection: &ChromaCollection,
    vector: &[f32],
    limit: usize,
) -> anyhow::Result<Vec<Written>> {
    let query = |include: Vec<&'static str>| QueryOptions {
        query_embeddings: Some(vec![vector.to_vec()]),
        n_results: Some(limit),
        where_metadata: Some(json!({ "deprecated": { "$ne": true } })),
        include: Some(include),
        ..QueryOptions::default()
    };
    if let Ok(found) = collection.query(query(vec!["metadatas", "documents"]), None).await {
        let ids = found.ids.into_iter().flatten();
        let documents = found.documents.into_iter().flatten().flatten().map(Some);
        let metadatas = found.metadatas.into_iter().flatten().flatten();
        return Ok(ids
            .zip(documents)
            .zip(metadatas)
            .map(|((id, text), known)| written(id, text, known))
            .collect());
    }
    let ids: Vec<String> =
        collection.query(query(Vec::new()), None).await?.ids.into_iter().flatten().collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    read(collection.get(GetOptions { ids, include: Some(texts()), ..GetOptions::default() }).await?)
}

fn texts() -> Vec<String> {
    vec!["metadatas".to_owned(), "documents".to_owned()]
}

fn read(got: chromadb::collection::GetResult) -> anyhow::Result<Vec<Written>> {
    let (documents, metadatas) = (got.documents.unwrap_or_default(), got.metadatas.unwrap_or_default());
    anyhow::ensure!(
        documents.len() == got.ids.len() && metadatas.len() == got.ids.len(),
        "expected as many texts as ids"
    );
    let records = got.ids.into_iter().zip(documents).zip(metadatas);
    Ok(records.map(|((id, text), known)| written(id, text, known)).collect())
}

fn written(
    id: String,
    document: Option<String>,
    metadata: Option<Map<String, serde_json::Value>>,
) -> Written {
    let metadata =
        metadata.unwrap_or_default().into_iter().filter_map(|(key, value)| Some((key, known(value)?)));
    Written { id, document, metadata: metadata.collect(), ..Written::default() }
}

fn known(value: serde_json::Value) -> Option<Value> {
    use serde_json::Value as Json;
    match value {
        Json::Null => None,
        Json::Bool(flag) => Some(Value::Flag(flag)),
        Json::Number(number) => {
            number.as_i64().map(Value::Whole).or_else(|| number.as_f64().map(Value::Number))
        }
        Json::String(text) => Some(Value::Text(text)),
        Json::Array(values) => {
            Some(Value::Texts(values.into_iter().filter_map(|value| Some(known(value)?.told())).collect()))
        }
        Json::Object(_) => Some(Value::Text(value.to_string())),
    }
}

fn map<'a>(values: impl Iterator<Item = (&'a String, Option<&'a Value>)>) -> Map<String, serde_json::Value> {
    let told = |value: &Value| match value {
        Value::Text(text) => json!(text),
        Value::Whole(whole) => json!(whole),
        Value::Number(number) => json!(number),
        Value::Flag(flag) => json!(flag),
        Value::Texts(texts) => json!(texts),
    };
    values.map(|(key, value)| (key.clone(), value.map_or(serde_json::Value::Null, told))).collect()
}

fn entries(records: &[Put]) -> CollectionEntries<'_> {
    let texts: Option<Vec<&(String, Vec<f32>)>> = records.iter().map(|record| record.text.as_ref()).collect();
    CollectionEntries {
        ids: records.iter().map(|record| record.id.as_str()).collect(),
        metadatas: Some(
            records
                .iter()
                .map(|record| map(record.metadata.iter().map(|(key, value)| (key, value.as_ref()))))
                .collect(),
        ),
        documents: texts.as_ref().map(|texts| texts.iter().map(|(text, _)| text.as_str()).collect()),
        embeddings: texts.as_ref().map(|texts| texts.iter().map(|(_, vector)| vector.clone()).collect()),
    }
}
