//! The plant of a course: what it does at each act, with the real store, policy and watch.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use pdm_routes::ToldLately;
use pdm_service::clock::{Clock, JumpWatch};
use pdm_shared::delivery::{
    ACK_SCHEMA, Acknowledgement, GatewayStatus, Notification, NotificationReason, Presence,
};
use pdm_shared::episode::{SHELVE_SCHEMA, Shelve, ShelveAction};
use pdm_shared::id::{BearingKey, EventId, GatewayKey};
use pdm_shared::risk::RiskLevel::{self, Critical, Watch};
use pdm_shared::time::Timestamp;
use pdm_shared::topic::Prefix;
use pdm_store::{Announcement, Incoming, PlantPart, Removal, RemovalWording, Store};

use super::{Act, BEGIN_MS, CONFIRMED, PERIOD_S, Sensor, SetClock, Verdicts};
use crate::notify::gateways::Bursts;
use crate::notify::policy::{Followed, JudgedWindow, Policy};
use crate::notify::silence::Watchdog;
use crate::progress::Reporter;
use crate::settings::{BearingOwners, NotifySettings, SilenceSettings, WebhookSettings};

/// A plant in the middle of its course.
pub(super) struct Plant {
    verdicts: Arc<Verdicts>,
    pub(super) store: Store,
    clock: Arc<SetClock>,
    watchdog: Watchdog,
    bursts: Bursts,
    lately: Vec<ToldLately>,
    sensors: Vec<Sensor>,
    /// How often each machine was renamed.
    names: [u32; 2],
    /// The number of the last event of each gateway, and whether it is there.
    gateways: Vec<(u64, bool)>,
}

fn settings() -> NotifySettings {
    let hook = WebhookSettings {
        name: "ops".to_owned(),
        url: Some("http://ops.invalid/".to_owned()),
        from: Watch,
        ..WebhookSettings::default()
    };
    NotifySettings { webhook: vec![hook], ..NotifySettings::default() }
}

fn watchdog(store: &Store, clock: &Arc<SetClock>) -> Watchdog {
    Watchdog {
        store: store.clone(),
        clock: Arc::clone(clock) as _,
        policy: Policy::new(settings(), Prefix::default()),
        silence: SilenceSettings::default(),
        reporter: Reporter::new(),
        owners: BearingOwners::default(),
        jumps: JumpWatch::new(Arc::clone(clock) as _),
        started: clock.now(),
    }
}

impl Plant {
    pub(super) fn new(store: Store, verdicts: Arc<Verdicts>) -> Self {
        let clock = Arc::new(SetClock(AtomicI64::new(BEGIN_MS)));
        let sensor = |machine, bearing, gateway| Sensor {
            machine,
            bearing,
            gateway,
            critical: 0,
            is_refused: false,
            taken_out_at: None,
        };
        Self {
            verdicts,
            watchdog: watchdog(&store, &clock),
            store,
            clock,
            bursts: Bursts::default(),
            lately: Vec::new(),
            sensors: vec![
                sensor(0, "DE", 0),
                sensor(0, "NDE", 0),
                sensor(1, "DE", 0),
                sensor(1, "NDE", 1),
            ],
            names: [0; 2],
            gateways: vec![(0, true); 2],
        }
    }

    fn key(&self, sensor: usize) -> BearingKey {
        let Sensor { machine, bearing, .. } = self.sensors[sensor];
        let name = format!("P-{machine}{}", self.names[machine]);
        BearingKey::parse("ulsan-1", &name, bearing).expect("names")
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Lets time pass, at whose end the watch looks.
    async fn pass(&mut self, seconds: i64) {
        self.clock.0.fetch_add(1000 * seconds, Ordering::Relaxed);
        self.watchdog.look(&mut self.bursts).await.expect("looked");
    }

    async fn store(&self, incoming: Incoming) -> pdm_store::Stored {
        self.store.intake().store(&[incoming], self.now(), "dead").await.expect("stored")
    }

    pub(super) async fn act(&mut self, act: Act) {
        match act {
            Act::Windows(sensor, count, level) => {
                for _ in 0..count {
                    self.window(sensor, level).await;
                    self.pass(PERIOD_S).await;
                }
            }
            Act::Presence(gateway, presence) => {
                let gateway = gateway % self.gateways.len();
                self.presence(gateway, presence).await;
            }
            Act::Replace { from, is_released } => self.replace(from, is_released).await,
            Act::Rename(machine) => self.has_another_name(machine),
            Act::Forget(machine) => {
                let part = self.part(machine);
                self.store.removal().take_out(&part, &self.how()).await.expect("taken out");
                self.is_taken_out(|one| one.machine == machine);
            }
            Act::RenameByCommand { machine, history } => {
                let from = self.part(machine);
                self.has_another_name(machine);
                let (to, how) = (self.part(machine), self.how());
                self.store.removal().rename(&from, &to, history, &how).await.expect("renamed");
                self.is_taken_out(|one| one.machine == machine);
            }
            Act::ForgetGateway(gateway) => {
                let gateway = self.gateway(gateway);
                self.store
                    .removal()
                    .forget_gateway(&gateway, &self.how())
                    .await
                    .expect("taken out");
            }
            Act::ReplaceByCommand(from) => self.replace_by_command(from).await,
            Act::Acknowledge(sensor) => self.acknowledge(self.key(sensor)).await,
            Act::AcknowledgeGateway(gateway) => {
                let name = format!("gw-{}", gateway % self.gateways.len());
                let key = BearingKey::parse("ulsan-1", "gateway", &name).expect("names");
                self.acknowledge(key).await;
            }
            Act::Shelve(sensor, hours) => self.shelve(sensor, hours).await,
            Act::Restart => {
                self.watchdog = watchdog(&self.store, &self.clock);
                self.bursts = Bursts::default();
                self.lately.clear();
            }
            Act::Wait(minutes) => {
                for _ in 0..3 {
                    self.pass(i64::from(minutes) * 20).await;
                }
            }
        }
    }

    fn has_another_name(&mut self, machine: usize) {
        self.names[machine] += 1;
        for sensor in self.sensors.iter_mut().filter(|one| one.machine == machine) {
            (sensor.critical, sensor.taken_out_at) = (0, None);
        }
    }

    fn is_taken_out(&mut self, is_meant: impl Fn(&Sensor) -> bool) {
        let now = self.now();
        for sensor in self.sensors.iter_mut().filter(|one| is_meant(one)) {
            (sensor.critical, sensor.taken_out_at) = (0, Some(now));
        }
    }

    fn part(&self, machine: usize) -> PlantPart {
        format!("ulsan-1/P-{machine}{}", self.names[machine]).parse().expect("a machine")
    }

    fn gateway(&self, gateway: usize) -> GatewayKey {
        format!("ulsan-1/gw-{}", gateway % self.gateways.len()).parse().expect("a gateway")
    }

    fn how(&self) -> Removal {
        Removal {
            prefix: Prefix::default(),
            who: "kim".to_owned(),
            by: "kim".to_owned(),
            via: "cli".to_owned(),
            peer: None,
            reason: "gone".to_owned(),
            now: self.now(),
            is_dry: false,
            wording: RemovalWording::default(),
        }
    }

    /// Lets another gateway take the place of one that goes offline, with staff saying so.
    async fn replace_by_command(&mut self, from: usize) {
        let (from, old) = (from % self.gateways.len(), self.gateway(from));
        let new = self.gateways.len();
        self.gateways.push((0, true));
        self.presence(from, Presence::Offline).await;
        let key = self.gateway(new);
        self.store.removal().replace_gateway(&old, &key, &self.how()).await.expect("replaced");
        for sensor in self.sensors.iter_mut().filter(|one| one.gateway == from) {
            (sensor.gateway, sensor.critical) = (new, 0);
        }
        self.presence(new, Presence::Online).await;
    }

    async fn presence(&mut self, gateway: usize, presence: Presence) {
        self.gateways[gateway].1 = presence == Presence::Online;
        let status = GatewayStatus::bare(
            format!("gw-{gateway}").parse().expect("name"),
            presence,
            self.now(),
        );
        let site = "ulsan-1".parse().expect("name");
        let _stored = self.store(Incoming::Status { site, status }).await;
        self.pass(60).await;
    }

    /// Lets another gateway take the place of one, which goes offline.
    async fn replace(&mut self, from: usize, is_released: bool) {
        let from = from % self.gateways.len();
        let new = self.gateways.len();
        self.gateways.push((0, true));
        self.presence(from, Presence::Offline).await;
        for sensor in 0..self.sensors.len() {
            if self.sensors[sensor].gateway != from {
                continue;
            }
            if is_released {
                self.store.gateways().release_bearing(&self.key(sensor)).await.expect("released");
            }
            self.sensors[sensor].gateway = new;
            self.sensors[sensor].critical = 0;
        }
        self.presence(new, Presence::Online).await;
    }

    async fn acknowledge(&mut self, key: BearingKey) {
        let ack = Acknowledgement {
            schema: ACK_SCHEMA.to_owned(),
            notification_id: None,
            by: "kim".to_owned(),
            at: self.now(),
            note: None,
            episode_id: None,
            via: None,
        };
        let _stored = self.store(Incoming::Ack { key, ack, topic: "t".to_owned() }).await;
    }

    async fn shelve(&mut self, sensor: usize, hours: u32) {
        let now = self.now();
        let shelve = Shelve {
            schema: SHELVE_SCHEMA.to_owned(),
            action: if hours.is_multiple_of(2) {
                ShelveAction::Shelve
            } else {
                ShelveAction::OutOfService
            },
            until: Some(now.plus_seconds(3600.0 * f64::from(hours))),
            by: "kim".to_owned(),
            reason: "spare on its way".to_owned(),
            work_order: None,
            at: now,
        };
        let incoming = Incoming::Shelve { key: self.key(sensor), shelve, topic: "t".to_owned() };
        let _stored = self.store(incoming).await;
    }

    /// A window of a sensor, if its gateway is there: taken or refused, judged, told.
    async fn window(&mut self, sensor: usize, level: RiskLevel) {
        let (key, now) = (self.key(sensor), self.now());
        let gateway = self.sensors[sensor].gateway;
        if !self.gateways[gateway].1 {
            self.sensors[sensor].critical = 0;
            return;
        }
        self.gateways[gateway].0 += 1;
        let verdicts = Arc::clone(&self.verdicts);
        let (event, judgement, point) = &verdicts.0[&level];
        let (mut event, mut judgement) = (event.clone(), judgement.clone());
        event.site = key.site.clone();
        event.equipment_id = key.equipment.clone();
        event.bearing_id = key.bearing.clone();
        event.gateway_id = format!("gw-{gateway}").parse().expect("name");
        event.sequence = self.gateways[gateway].0;
        event.measured_at = now;
        event.event_id = EventId::at(now.unix_ms());
        judgement.diagnosis.event_id = event.event_id;
        let payload = serde_json::to_string(&event).expect("json");
        let incoming = Incoming::Event { event: Box::new(event.clone()), payload, proven: false };
        let stored = self.store(incoming).await;
        let one = &mut self.sensors[sensor];
        one.is_refused = !stored.refusals.is_empty();
        one.critical = if level == Critical { one.critical + 1 } else { 0 };
        if !one.is_refused {
            self.judge(
                &key,
                &JudgedWindow { event: &event, judgement: &judgement, point, is_repaired: false },
            )
            .await;
        }
    }

    /// Does with a judgement what the judging task does.
    async fn judge(&mut self, key: &BearingKey, window: &JudgedWindow<'_>) {
        let now = self.now();
        let policy = self.watchdog.policy.clone();
        let record = self.store.episodes().episode(key).await.expect("read");
        let followed = policy.judged(key, window, record.as_ref(), now);
        let followed = match followed {
            Some(Followed::Told(told))
                if told.notification.reason == NotificationReason::Raised =>
            {
                self.of_one_cause(window, record.as_ref(), told).await
            }
            Some(followed) => followed,
            None => return,
        };
        let open = record.filter(pdm_store::EpisodeRecord::is_open).map(|one| one.version());
        self.watchdog.follow(key, open, followed).await.expect("written");
    }

    async fn of_one_cause(
        &mut self,
        window: &JudgedWindow<'_>,
        record: Option<&pdm_store::EpisodeRecord>,
        told: Box<Announcement>,
    ) -> Followed {
        let now = self.now();
        let policy = &self.watchdog.policy;
        let since = now.plus_seconds(-policy.related_within_s());
        self.lately.retain(|one| one.at >= since);
        let site = &window.event.site;
        let mut lately = self.store.judging().told_lately(site, since, 99).await.expect("read");
        lately.retain(|stored| !self.lately.iter().any(|one| one.key == stored.key));
        lately.extend(self.lately.iter().cloned());
        let followed = policy.of_one_cause(window, record, told, &lately, now);
        if let Followed::Told(announcement) = &followed {
            let key = window.event.key();
            let mine = Policy::told_lately(&key, window.event, announcement);
            self.lately.retain(|one| one.key != key);
            self.lately.extend(mine);
        }
        followed
    }

    /// Whether staff knows that a bearing is Critical, or that its events are refused.
    async fn is_told(&self, sensor: usize) -> bool {
        let key = self.key(sensor);
        let far = Timestamp::from_unix_ms(BEGIN_MS).expect("in range").plus_seconds(1e9);
        if self.sensors[sensor].is_refused {
            let all = self.store.pages().notifications(None, far, 500).await.expect("read");
            return all.iter().any(|one| names_refusal(one, &key));
        }
        let told = self.store.pages().notifications(Some(&key), far, 500).await.expect("read");
        let since = self.sensors[sensor].taken_out_at;
        let is_over = |one: &&Notification| {
            one.reason != NotificationReason::Cleared
                && since.is_none_or(|since| one.created_at >= since)
        };
        // newest first
        told.iter().take_while(is_over).any(|one| one.risk_level == Critical)
    }

    /// The bearing that breaks the property, if one does.
    pub(super) async fn untold(&self) -> Option<BearingKey> {
        for sensor in 0..self.sensors.len() {
            if self.sensors[sensor].critical >= CONFIRMED && !self.is_told(sensor).await {
                return Some(self.key(sensor));
            }
        }
        None
    }
}

/// Whether a notification says that a bearing's events are refused.
fn names_refusal(told: &Notification, key: &BearingKey) -> bool {
    let text = format!("{}\n{}", told.title.en, told.body.en);
    text.contains("refused") && text.contains(&key.to_string())
}
