//! Input that changes under the edge: a clock that jumps, a period that becomes sixty times as
//! long, a bearing replaced without `relearn`, two channels swapped. Each is said once, and nothing
//! wrong is told.
//!
//! The samples go over a socket into the real edge, on a clock that the test sets; its events go
//! through the agent's expert, episodes and policy of telling.

use std::f64::consts::TAU;
use std::io::{self, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pdm_agent::preview::Preview;
use pdm_agent::settings::NotifySettings;
use pdm_edge::pipeline::measure_all;
use pdm_expert::rules::Rules;
use pdm_service::clock::Clock;
use pdm_shared::event::Event;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const RATE_HZ: f64 = 5120.0;
const SAMPLES: usize = 2560;
/// Level 1 of the noise, g: a velocity in zone A. Ten times as much would be zone D by itself.
const LEVEL_G: f64 = 0.05;
/// Two bearings of a machine.
const CHANNELS: usize = 2;

/// The true circumstances of a window, as the test sets them.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Time that really passes before it, s.
    passes_s: f64,
    /// The time by which the clock is set before it, s.
    set_s: f64,
    /// Levels of the channels.
    levels: [f64; CHANNELS],
}

/// A step without anything.
const fn step(passes_s: f64, levels: [f64; CHANNELS]) -> Step {
    Step { passes_s, set_s: 0.0, levels }
}

/// A wall clock that the test sets, and the time that passes whatever it is set to.
#[derive(Debug)]
struct TestClock(Mutex<(Timestamp, Duration)>);

impl TestClock {
    fn new() -> Self {
        let at = Timestamp::parse("2026-03-02T06:00:00Z").expect("a time");
        Self(Mutex::new((at, Duration::ZERO)))
    }

    fn advance(&self, step: &Step) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        now.0 = now.0.plus_seconds(step.passes_s + step.set_s);
        now.1 += Duration::from_secs_f64(step.passes_s);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    fn uptime(&self) -> Duration {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1
    }
}

/// The frames of a window: noise and a line at shaft speed, in g.
fn frames(step: &Step, random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(SAMPLES * CHANNELS * 4);
    for i in 0..SAMPLES {
        let turn = (TAU * 25.0 * i as f64 / RATE_HZ).sin();
        for level in step.levels {
            let noise: f64 = (0..6).map(|_| random.random_range(-0.5..0.5)).sum();
            bytes.extend(((level * LEVEL_G * (0.2 * turn + noise)) as f32).to_le_bytes());
        }
    }
    bytes
}

fn config(address: &str) -> String {
    let head = format!(
        "gateway_id = \"gw-7\"\nsite = \"ulsan-1\"\n[broker]\naddresses = [\"127.0.0.1:1\"]\n\
         [spool]\npath = \"spool.db\"\n[[source]]\nname = \"daq\"\nkind = \"stream\"\n\
         rate_hz = {RATE_HZ}\n[source.stream]\nfrom = \"tcp://{address}\"\nencoding = \"f32\"\n\
         block_s = {}\nsilence_s = 60.0\n",
        SAMPLES as f64 / RATE_HZ
    );
    let channel = |(number, bearing): (usize, &str)| {
        format!(
            "[[source.channel]]\nchannel = {number}\nequipment = \"P-101\"\nbearing = \
             \"{bearing}\"\n\
             orders = [3.585, 5.415, 2.357, 0.398]\nrpm = 1500.0\nunit = \"g\"\n"
        )
    };
    head + &["DE", "NDE"].into_iter().enumerate().map(channel).collect::<String>()
}

/// The events of the real edge over these windows, as they come from a socket.
fn measured(steps: &[Step]) -> Vec<Event> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound").to_string();
    let (settings, _) =
        pdm_edge::settings::parse(Path::new("edge.toml"), &config(&address)).expect("valid");
    let clock = Arc::new(TestClock::new());
    // one window is sent after the events of the one before have come
    let (next, wanted) = std::sync::mpsc::sync_channel::<()>(1);
    let mut events = Vec::new();
    std::thread::scope(|scope| {
        let sender_clock = Arc::clone(&clock);
        scope.spawn(move || {
            let (mut socket, _) = listener.accept().expect("the edge connects");
            let mut random = ChaCha8Rng::seed_from_u64(7);
            for step in steps {
                sender_clock.advance(step);
                socket.write_all(&frames(step, &mut random)).expect("sent");
                if wanted.recv().is_err() {
                    return;
                }
            }
        });
        let last = CHANNELS * steps.len();
        let mut each = |event: &Event, _: Option<u64>| {
            event.check().expect("a valid event");
            events.push(event.clone());
            if events.len() == last {
                return Err(io::Error::other("that is all"));
            }
            if events.len() % CHANNELS == 0 {
                // the sender has ended if this fails
                let _ = next.send(());
            }
            Ok(())
        };
        measure_all(&settings, clock.clone(), &mut each).expect_err("a live source has no end");
        drop(next);
    });
    events
}

/// The messages to staff, and the worst risk.
struct Told {
    titles: Vec<String>,
    bodies: Vec<(String, String)>,
    worst: RiskLevel,
}

fn told(events: &[Event]) -> Told {
    let mut preview = Preview::new(NotifySettings::default(), Rules::default());
    let worst = events.iter().map(|event| preview.play(event)).max().expect("events");
    let told = preview.told();
    let bodies = told.iter().map(|one| (one.body.ko.clone(), one.body.en.clone())).collect();
    Told { titles: told.iter().map(|one| one.title.en.clone()).collect(), bodies, worst }
}

const SOUND: [f64; CHANNELS] = [1.0, 0.6];

#[test]
fn a_clock_that_jumps_forth_and_back_is_said_each_time_and_alarms_nobody() {
    let mut steps = vec![step(10.0, SOUND); 130];
    steps[60].set_s = 7200.0;
    steps[90].set_s = -7200.0;
    steps[110].set_s = 30.0; // a time service that corrects by less than a minute
    let told = told(&measured(&steps));
    let titles = [
        "[Clock] gateway gw-7: the time was set ahead",
        "[Clock] gateway gw-7: the time was set back",
    ];
    assert_eq!(told.titles, titles);
    assert_eq!(told.worst, RiskLevel::Normal);
    let (ko, en) = &told.bodies[0];
    assert!(ko.contains("시간 앞으로 바뀜") && ko.contains("NTP"), "{ko}");
    assert!(en.contains("Moved ahead by about 2 h") && en.contains("no vibration alarm"), "{en}");
}

#[test]
fn a_period_that_becomes_sixty_times_as_long_is_said_once_and_alarms_nobody() {
    let steps: Vec<Step> =
        (0..130).map(|n| step(if n < 70 { 10.0 } else { 600.0 }, SOUND)).collect();
    let told = told(&measured(&steps));
    assert_eq!(told.titles, ["[Period] gateway gw-7: a window each 10 min instead of 10 s"]);
    assert_eq!(told.worst, RiskLevel::Normal);
    assert!(told.bodies[0].0.contains("같은 입력의 측정점"), "{}", told.bodies[0].0);
}

#[test]
fn a_bearing_replaced_without_relearn_is_said_and_alarms_nobody() {
    for other in [0.6, 1.6] {
        let steps: Vec<Step> = (0..100)
            .map(|n| {
                let levels = [if n < 70 { SOUND[0] } else { other }, SOUND[1]];
                step(if n == 70 { 4.0 * 3600.0 } else { 60.0 }, levels)
            })
            .collect();
        let told = told(&measured(&steps));
        assert_eq!(
            told.titles,
            ["[Changed] P-101 DE: other levels since a standstill"],
            "× {other}"
        );
        assert_eq!(told.worst, RiskLevel::Normal, "× {other}");
        assert!(told.bodies[0].1.contains("run relearn"), "{}", told.bodies[0].1);
    }
}

#[test]
fn channels_swapped_with_each_other_are_said_and_alarm_nobody() {
    let levels = |n: usize| if n < 70 { SOUND } else { [SOUND[1], SOUND[0]] };
    let steps: Vec<Step> = (0..100).map(|n| step(60.0, levels(n))).collect();
    let told = told(&measured(&steps));
    // the channel that became louder asks first
    assert_eq!(told.titles, ["[Channels] P-101 NDE: seems swapped with DE"]);
    assert_eq!(told.worst, RiskLevel::Normal);
}
