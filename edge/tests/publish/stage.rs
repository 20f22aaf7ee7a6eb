//! A spool, a publisher and the events that are committed to it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pdm_edge::progress::Progress;
use pdm_edge::publish::{Publisher, PublisherSettings};
use pdm_edge::settings::{BrokerAddress, BrokerSettings};
use pdm_edge::spool::{Batch, Limits, Spool, SpoolSettings};
use pdm_service::clock::SystemClock;
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::topic::Prefix;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) const GATEWAY: &str = "gw-01";

pub(crate) fn local(port: u16) -> BrokerSettings {
    BrokerSettings {
        addresses: vec![BrokerAddress { host: "127.0.0.1".to_owned(), port }],
        keep_alive: Duration::from_secs(5),
        reconnect: (Duration::from_millis(20), Duration::from_millis(200)),
        ..BrokerSettings::default()
    }
}

/// A spool and what was committed to it.
pub(crate) struct Stage {
    pub(crate) spool: Spool,
    pub(crate) obligations: BTreeMap<u64, EventId>,
    made: i64,
}

impl Stage {
    pub(crate) async fn open(folder: &Path) -> Self {
        let settings = SpoolSettings {
            path: folder.join("spool.db"),
            limits: Limits::default(),
            await_receipt: true,
        };
        let gateway = GATEWAY.parse().expect("name");
        let spool = Spool::open(settings, gateway, Arc::new(SystemClock)).await.expect("opens");
        Self { spool, obligations: BTreeMap::new(), made: 0 }
    }

    /// Commits events; each is an obligation from now on.
    pub(crate) async fn commit(&mut self, count: usize) {
        let text = include_str!("../../../config/examples/event.json");
        let example: Event = serde_json::from_str(text).expect("the example");
        let mut batch = Batch::default();
        for _ in 0..count {
            self.made += 1;
            let event_id = EventId::at(1_700_000_000_000 + self.made);
            batch.events.push(Event { event_id, ..example.clone() });
        }
        self.spool.commit(&mut batch).await.expect("commits");
        for event in &batch.events {
            self.obligations.insert(event.sequence, event.event_id);
        }
    }

    pub(crate) fn publish(&self, broker: BrokerSettings) -> Running {
        let settings = PublisherSettings {
            broker,
            prefix: Prefix::default(),
            site: "ulsan-1".parse().expect("name"),
            bearings: vec!["P-101/DE".to_owned()],
        };
        let progress = watch::Sender::new(Progress::default());
        let watched = progress.subscribe();
        let publisher =
            Publisher::new(settings, self.spool.clone(), Arc::new(SystemClock), progress);
        let (closing, abandon) = (CancellationToken::new(), CancellationToken::new());
        let task = tokio::spawn(publisher.run(closing.clone(), abandon.clone()));
        Running { closing, abandon, progress: watched, task }
    }

    /// Waits until the spool is empty: every event has a PUBACK and is covered by a receipt.
    pub(crate) async fn emptied(&self, seconds: u64) {
        let mut tally = self.spool.watch();
        let empty = tally.wait_for(|tally| tally.waiting == 0 && tally.acknowledged == 0);
        let outcome = tokio::time::timeout(Duration::from_secs(seconds), empty).await;
        assert!(outcome.is_ok(), "spool not empty: {:?}", self.spool.tally().await);
    }
}

/// A running publisher.
pub(crate) struct Running {
    closing: CancellationToken,
    abandon: CancellationToken,
    pub(crate) progress: watch::Receiver<Progress>,
    task: JoinHandle<Result<(), pdm_edge::spool::SpoolError>>,
}

impl Running {
    pub(crate) async fn connected(&mut self) {
        let up = self.progress.wait_for(|progress| progress.connected);
        let outcome = tokio::time::timeout(Duration::from_secs(10), up).await;
        assert!(outcome.is_ok(), "no connection");
    }

    /// Sends the rest and ends.
    pub(crate) async fn close(self) {
        self.closing.cancel();
        let outcome = tokio::time::timeout(Duration::from_secs(30), self.task).await;
        outcome.expect("closes in time").expect("does not panic").expect("spool works");
    }

    /// Ends at once, as a crash would.
    pub(crate) async fn crash(self) {
        self.abandon.cancel();
        self.task.abort();
        // the result is ignored: both a cancelled and an ended task look like a crash from outside
        let _either = self.task.await;
    }
}
