//! Demands for captured waveforms, by command, over HTTP and over the broker: taken, refused with
//! the reason, counted.

use std::process::Command;
use std::time::Duration;

use pdm_harness::{Mosquitto, Persistence, free_port, program, until};

use crate::captures::{configuration, edge, http, run, text, whole};

#[test]
fn a_demand_is_acknowledged_by_the_service_and_refused_by_name() {
    let folder = tempfile::tempdir().expect("folder");
    let admin = free_port();
    let config = configuration(folder.path(), admin);
    let path = config.to_str().expect("UTF-8").to_owned();
    let take = |bearing: &str| edge(&["capture", "take", bearing, "--config", &path]);
    assert_eq!(take("P-101/DE").status.code(), Some(69), "nobody answers");
    assert_eq!(take("P-101/NDE").status.code(), Some(64), "no such bearing");
    let mut child = run(&config);
    let answer = until("the demand to be taken", 20, || {
        let output = take("P-101/DE");
        (output.status.code() == Some(0)).then(|| text(&output.stdout))
    });
    assert!(answer.contains("P-101/DE is captured"), "{answer}");
    let refused = http(admin, "POST /capture/P-101/NDE").expect("answers");
    assert!(refused.contains(" 404 ") && refused.contains("there is P-101/DE"), "{refused}");
    let captures = folder.path().join("captures");
    until("the capture", 20, || (!whole(&captures).is_empty()).then_some(()));
    let metrics = http(admin, "GET /metrics").expect("answers");
    assert!(metrics.contains("pdm_edge_captures_total{reason=\"demand\"} 1"), "{metrics}");
    let listed = edge(&["capture", "list", "--config", &path]);
    assert!(text(&listed.stdout).contains("P-101/DE"), "{}", text(&listed.stdout));
    let id = whole(&captures)[0].document.capture_id.to_string();
    let shown = edge(&["capture", "show", &id[28..], "--config", &path]);
    assert!(text(&shown.stdout).contains("\"pdm.capture/1\""), "{}", text(&shown.stderr));
    assert_eq!(edge(&["capture", "show", "nothing", "--config", &path]).status.code(), Some(64));
    assert_eq!(child.terminate().code(), Some(0));
}

/// A demand over the broker is taken by the gateway that measures the bearing; one that the broker
/// kept, or that is malformed, is refused and counted.
#[test]
fn a_demand_over_the_broker_is_taken_and_a_retained_one_is_not() {
    let test = "a_demand_over_the_broker";
    let Some(broker) = Mosquitto::start(test, Persistence::Memory) else { return };
    let Some(publish) = program(test, "mosquitto_pub") else { return };
    let folder = tempfile::tempdir().expect("folder");
    let admin = free_port();
    let config = configuration(folder.path(), admin);
    let text = std::fs::read_to_string(&config).expect("reads");
    let begin = text.find("addresses = [\"127.0.0.1:").expect("an address");
    let end = begin + text[begin..].find('\n').expect("a line");
    let own = format!("addresses = [\"127.0.0.1:{}\"]", broker.port());
    let own = [&text[..begin], &own, &text[end..]].concat();
    std::fs::write(&config, own.replace("per_hour = 3600", "per_hour = 4")).expect("writes");
    let port = broker.port().to_string();
    let demand = |bearing: &str, payload: &str, more: &[&str]| {
        let topic = format!("pdm/v1/ulsan-1/{bearing}/capture");
        let sent = Command::new(&publish)
            .args(["-p", &port, "-V", "mqttv5", "-q", "1", "-t", &topic, "-m", payload])
            .args(more)
            .status();
        assert!(sent.expect("runs").success());
    };
    let good = include_str!("../../../config/examples/capture_demand.json");
    demand("P-101/DE", good, &["-r"]);
    let mut child = run(&config);
    let counted = |outcome: &str| {
        let metrics = http(admin, "GET /metrics")?;
        let name = format!("pdm_edge_capture_demands_total{{outcome=\"{outcome}\"}} ");
        metrics.lines().find_map(|line| line.strip_prefix(&name)?.parse::<f64>().ok())
    };
    until("the retained demand to be refused", 20, || counted("refused").filter(|n| *n >= 1.0));
    assert_eq!(counted("taken"), Some(0.0));
    demand("P-101/DE", "{}", &[]);
    demand("P-101/DE", "{\"schema\":\"pdm.capture_demand/9\",\"by\":\"kim\"}", &[]);
    demand("P-999/DE", good, &[]);
    let dated = "{\"schema\":\"pdm.capture_demand/1\",\"by\":\"kim\",\"asked_at\":\"2026-11-21T05:10:11.000Z\"}";
    demand("P-101/DE", dated, &[]);
    until("the demand to be taken", 20, || counted("taken").filter(|n| *n >= 1.0));
    assert_eq!(counted("refused"), Some(3.0), "that of another bearing is not this gateway's");
    let captures = folder.path().join("captures");
    let first = until("the capture", 20, || whole(&captures).into_iter().next());
    let asked_at = first.document.triggers[0].asked_at.map(|at| at.to_string());
    assert_eq!(asked_at.as_deref(), Some("2026-11-21T05:10:11.000Z"), "a late demand has its age");
    // a retained one is refused while the gateway is connected as well, and clears nothing of
    // before
    demand("P-101/DE", good, &["-r"]);
    until("the retained demand to be refused again", 20, || {
        counted("refused").filter(|n| *n >= 4.0)
    });
    assert_eq!(counted("taken"), Some(1.0));
    // beyond the hour's captures, of which the last is an alarm's, a demand is refused
    for _ in 0..8 {
        demand("P-101/DE", good, &[]);
        std::thread::sleep(Duration::from_millis(300));
    }
    until("a demand to be refused", 20, || counted("refused").filter(|n| *n >= 5.0));
    assert_eq!(child.terminate().code(), Some(0));
}

/// A demand that is refused is answered so: 429 with the wait, exit code 69 with the reason.
#[test]
fn a_demand_beyond_the_hour_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().expect("folder");
    let admin = free_port();
    let config = configuration(folder.path(), admin);
    let settings = std::fs::read_to_string(&config).expect("reads");
    std::fs::write(&config, settings.replace("per_hour = 3600", "per_hour = 4")).expect("writes");
    let mut child = run(&config);
    until("a demand to be taken", 20, || {
        http(admin, "POST /capture/P-101/DE").filter(|answer| answer.contains(" 202 "))
    });
    let captures = folder.path().join("captures");
    until("the capture", 20, || (!whole(&captures).is_empty()).then_some(()));
    let refused = until("a demand to be refused", 20, || {
        std::thread::sleep(Duration::from_millis(300));
        http(admin, "POST /capture/P-101/DE").filter(|answer| !answer.contains(" 202 "))
    });
    assert!(refused.contains(" 429 ") && refused.contains("per_hour = 4"), "{refused}");
    assert!(refused.to_lowercase().contains("retry-after: 3"), "{refused}");
    let path = config.to_str().expect("UTF-8");
    let output = edge(&["capture", "take", "P-101/DE", "--config", path]);
    assert_eq!(output.status.code(), Some(69));
    let told = text(&output.stderr);
    assert!(told.contains("the next demand is taken in"), "{told}");
    assert_eq!(child.terminate().code(), Some(0));
}
