//! The files under `deploy/`: parsed and compared with the repository and both programs. No image
//! is built here; `deploy/compose/check.sh` does that (R-RUN-2).

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

fn deploy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(deploy().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn compose() -> Value {
    serde_saphyr::from_str(&read("compose/compose.yaml")).expect("compose.yaml is YAML")
}

fn services(compose: &Value) -> impl Iterator<Item = (&String, &Value)> {
    compose["services"].as_object().expect("services").iter()
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Names of the files and folders that `prepare.sh` makes under `private`.
fn is_made_by_prepare(path: &str) -> bool {
    let script = read("compose/prepare.sh");
    let name = path.trim_start_matches("./private/");
    path.starts_with("./private/")
        && match name.strip_prefix("secrets/") {
            Some(secret) => script
                .lines()
                .any(|line| line.starts_with("for secret in") && line.contains(secret)),
            None => script.contains(&format!("private/{name}")),
        }
}

#[test]
fn every_file_a_container_is_given_is_in_the_repository_or_made_by_prepare() {
    let compose = compose();
    let folder = deploy().join("compose");
    let mut seen = 0;
    let secrets = compose["secrets"].as_object().expect("secrets");
    let files = secrets.values().filter_map(|secret| secret["file"].as_str());
    let mounts = services(&compose)
        .flat_map(|(_, service)| texts(&service["volumes"]))
        .filter(|mount| mount.starts_with('.'))
        .filter_map(|mount| mount.split(':').next());
    for path in files.chain(mounts) {
        assert!(folder.join(path).exists() || is_made_by_prepare(path), "{path}");
        seen += 1;
    }
    assert!(seen >= 8, "only {seen} files were looked at");
}

#[test]
fn every_volume_and_secret_that_a_service_names_is_declared() {
    let compose = compose();
    for (name, service) in services(&compose) {
        for secret in texts(&service["secrets"]) {
            assert!(compose["secrets"].get(secret).is_some(), "{name}: secret {secret}");
        }
        for mount in texts(&service["volumes"]) {
            let source = mount.split(':').next().expect("a source");
            let is_declared = compose["volumes"].get(source).is_some();
            assert!(source.starts_with('.') || is_declared, "{name}: volume {source}");
        }
    }
}

#[test]
fn containers_are_pinned_and_run_without_privileges_on_a_read_only_root() {
    let compose = compose();
    for (name, service) in services(&compose) {
        let image = service["image"].as_str().expect("an image");
        assert_is_pinned(image);
        assert_eq!(service["read_only"], true, "{name}");
        assert_eq!(texts(&service["cap_drop"]), ["ALL"], "{name}");
        assert_eq!(texts(&service["security_opt"]), ["no-new-privileges:true"], "{name}");
        assert!(service["mem_limit"].is_string(), "{name} may take all memory");
    }
}

#[test]
fn images_are_built_upon_images_named_by_digest() {
    let file = read("compose/Dockerfile");
    let stages: Vec<Vec<&str>> = file
        .lines()
        .filter(|line| line.starts_with("FROM "))
        .map(|line| line.split_whitespace().collect())
        .collect();
    let own: Vec<&str> = stages.iter().filter_map(|stage| stage.get(3).copied()).collect();
    let foreign: Vec<&str> =
        stages.iter().map(|stage| stage[1]).filter(|image| !own.contains(image)).collect();
    assert_eq!(foreign.len(), 2, "{foreign:?}");
    foreign.into_iter().for_each(assert_is_pinned);
}

/// R-KB-7: the program is installed apart; an installation that forgets it would refuse every
/// manual.
#[test]
fn every_way_of_installing_the_agent_brings_the_program_that_reads_pdfs() {
    let image = read("compose/Dockerfile");
    let agent = image.split("AS agent\n").nth(1).expect("the agent's stage");
    assert!(agent.contains("/usr/local/bin/pdm-agent") && agent.contains("/usr/local/bin/pdm-pdf"));
    for unit in ["systemd/pdm-agent.service", "systemd/pdm.service"] {
        assert!(read(unit).contains("pdm-pdf"), "{unit}");
    }
    let workspace = std::fs::read_to_string(deploy().join("../Cargo.toml")).expect("the manifest");
    let workspace: toml::Table = workspace.parse().expect("TOML");
    let built = workspace["workspace"]["default-members"].as_array().expect("a list");
    assert!(built.iter().any(|member| member.as_str() == Some("agent/pdf")), "{built:?}");
}

/// A version for people, and for machines the digest, which a registry cannot give to another
/// image; our own images are built here and have no registry that could name one.
fn assert_is_pinned(image: &str) {
    let (named, digest) = image.split_once('@').unwrap_or((image, ""));
    let tag = named.split(':').nth(1).unwrap_or_else(|| panic!("{image} has no tag"));
    assert!(tag.chars().any(|c| c.is_ascii_digit()), "{image} is not pinned");
    if !named.starts_with("pdm-") {
        let hexadecimal =
            digest.strip_prefix("sha256:").unwrap_or_else(|| panic!("{image} has no digest"));
        assert!(
            hexadecimal.len() == 64 && hexadecimal.chars().all(|c| c.is_ascii_hexdigit()),
            "{image}"
        );
    }
}

#[test]
fn only_the_broker_listens_beyond_this_machine() {
    let compose = compose();
    for (name, service) in services(&compose) {
        for port in texts(&service["ports"]) {
            assert!(name == "mosquitto" || port.starts_with("127.0.0.1:"), "{name}: {port}");
        }
    }
    let broker = read("mosquitto/mosquitto.conf");
    assert!(broker.contains("listener 8883") && broker.contains("allow_anonymous false"));
}

/// Seconds of a duration such as `30s` or `1m`.
fn seconds(text: &Value) -> u64 {
    let text = text.as_str().expect("a duration");
    let (number, unit) = text.split_at(text.len() - 1);
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        other => panic!("{text}: unit {other:?}"),
    };
    number.parse::<u64>().expect("a number") * seconds
}

/// Docker kills a container after ten seconds if the composition sets no other time.
#[test]
fn containers_are_given_the_time_that_their_programs_take_to_stop() {
    let compose = compose();
    let edge = pdm_edge::settings::parse(Path::new("edge.toml"), &read("compose/config/edge.toml"));
    let agent = pdm_agent::settings::AgentSettings::parse(
        Path::new("agent.toml"),
        &read("compose/config/agent.toml"),
    );
    let graces = [
        ("edge", edge.expect("edge.toml").0.shutdown_grace),
        ("agent", agent.expect("agent.toml").shutdown_grace),
    ];
    for (name, grace) in graces {
        let given = seconds(&compose["services"][name]["stop_grace_period"]);
        assert!(given > grace.as_secs(), "{name} is killed after {given} s, before its {grace:?}");
    }
    assert!(seconds(&compose["services"]["postgres"]["stop_grace_period"]) > 10);
}

#[test]
fn what_a_service_waits_for_says_when_it_is_ready() {
    let compose = compose();
    let mut seen = 0;
    for (name, service) in services(&compose) {
        for (other, how) in service["depends_on"].as_object().into_iter().flatten() {
            let waited_for = &compose["services"][other];
            let is_healthy = how["condition"] == "service_healthy";
            assert_eq!(is_healthy, waited_for["healthcheck"].is_object(), "{name}: {other}");
            seen += usize::from(is_healthy);
        }
    }
    assert_eq!(seen, 3);
    // while the image creates the database, its server answers on the socket alone
    let postgres = texts(&compose["services"]["postgres"]["healthcheck"]["test"]);
    assert!(postgres.contains(&"-h"), "{postgres:?}");
}

/// The configurations are valid, with their paths under `/etc/pdm` and `/run/secrets` unchanged.
#[test]
fn the_programs_accept_their_configurations() {
    let edge = Path::new("/etc/pdm/edge.toml");
    let (edge, _log) =
        pdm_edge::settings::parse(edge, &read("compose/config/edge.toml")).expect("edge.toml");
    assert_eq!(edge.admin.map(|admin| admin.listen.port()), Some(9101));

    let path = Path::new("/etc/pdm/agent.toml");
    let cluster = manifests();
    let config = cluster.iter().find(|m| m["kind"] == "ConfigMap").expect("a configuration");
    let inner = config["data"]["agent.toml"].as_str().expect("agent.toml").to_owned();
    for text in [read("compose/config/agent.toml"), inner] {
        let agent = pdm_agent::settings::AgentSettings::parse(path, &text).expect("agent.toml");
        assert_eq!(agent.http.listen.map(|listen| listen.port()), Some(9465));
        assert_eq!(agent.broker.addresses[0].port, 8883);
    }
}

fn manifests() -> Vec<Value> {
    serde_saphyr::from_multiple(&read("k8s/agent.yaml")).expect("agent.yaml is YAML")
}

#[test]
fn scripts_are_sound_shell() {
    for script in ["compose/prepare.sh", "mosquitto/certificates.sh"] {
        let path = deploy().join(script);
        let done = std::process::Command::new("bash").arg("-n").arg(&path).output().expect("bash");
        assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

#[test]
fn prepare_makes_certificates_and_secrets_and_keeps_them() {
    let folder = tempfile::tempdir().expect("folder");
    for name in ["compose", "mosquitto"] {
        std::fs::create_dir(folder.path().join(name)).expect("folder");
    }
    for file in ["compose/prepare.sh", "mosquitto/certificates.sh"] {
        std::fs::copy(deploy().join(file), folder.path().join(file)).expect("copies");
    }
    let prepare = || {
        let script = folder.path().join("compose/prepare.sh");
        let done = std::process::Command::new("bash").arg(script).output().expect("bash");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    prepare();
    let private = folder.path().join("compose/private");
    let secret = std::fs::read_to_string(private.join("secrets/postgres")).expect("a secret");
    assert_eq!(secret.len(), 48);
    secrets_belong_to_their_containers(&private);
    for file in
        ["mosquitto/broker.key", "agent/pdm-agent-out.crt", "gw-01/gw-01.key", "gw-01/ca.crt"]
    {
        assert!(private.join(file).exists(), "{file}");
    }
    keys_belong_to_their_containers(&private);
    prepare();
    let again = std::fs::read_to_string(private.join("secrets/postgres")).expect("a secret");
    assert_eq!(again, secret, "a second run keeps what is there");
}

/// As root each secret is for the containers' user alone; without root nobody can give files away.
fn secrets_belong_to_their_containers(private: &Path) {
    for secret in ["postgres", "http", "admin"] {
        let metadata = std::fs::metadata(private.join("secrets").join(secret)).expect("a secret");
        let owner = std::os::unix::fs::MetadataExt::uid(&metadata);
        let mode = metadata.permissions().mode() & 0o777;
        let is_private = owner == 10001 && mode == 0o400;
        assert!(is_private || (owner != 10001 && mode == 0o444), "{secret}: {owner} {mode:o}");
    }
}

/// A broker that runs under another user than the owner of its image's folders saves no session.
fn keys_belong_to_their_containers(private: &Path) {
    let owner = |file: &str| {
        let metadata = std::fs::metadata(private.join(file)).expect("a file");
        (std::os::unix::fs::MetadataExt::uid(&metadata), metadata.permissions().mode() & 0o777)
    };
    let user = compose()["services"]["mosquitto"]["user"].clone();
    assert_eq!(user, "1883:1883", "the user of eclipse-mosquitto");
    let (agent, _) = owner("agent/pdm-agent.key");
    let (broker, mode) = owner("mosquitto/broker.key");
    // without root the owner cannot be changed, so the files must be readable for all
    let is_readable = (broker, agent) == (1883, 10001) || mode & 0o004 != 0;
    assert!(is_readable, "broker.key of {broker} with {mode:o}, pdm-agent.key of {agent}");
}

/// A unit's keys, each with its section, unchanged.
fn unit(name: &str) -> Vec<(String, String, String)> {
    let mut section = String::new();
    let mut keys = Vec::new();
    for line in read(&format!("systemd/{name}.service")).lines() {
        let line = line.trim();
        if let Some(opened) = line.strip_prefix('[') {
            opened.trim_end_matches(']').clone_into(&mut section);
        } else if let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) {
            keys.push((section.clone(), key.to_owned(), value.to_owned()));
        }
    }
    keys
}

const UNITS: [&str; 3] = ["pdm-edge", "pdm-agent", "pdm"];

#[test]
fn units_run_unprivileged_and_leave_time_to_stop() {
    for name in UNITS {
        let keys = unit(name);
        let value = |wanted: &str| {
            let found = keys.iter().find(|(section, key, _)| section == "Service" && key == wanted);
            found.map_or("", |(_, _, value)| value.as_str())
        };
        assert_eq!(value("DynamicUser"), "yes", "{name}");
        assert_eq!(value("NoNewPrivileges"), "yes", "{name}");
        assert_eq!(value("ProtectSystem"), "strict", "{name}");
        assert_eq!(value("CapabilityBoundingSet"), "", "{name}");
        assert_eq!(value("RestartPreventExitStatus"), "78", "{name}");
        let program = value("ExecStart").split(' ').next().unwrap_or_default();
        assert_eq!(program, format!("/usr/local/bin/{name}"));
        // everything else is read-only for the service
        let state = format!("/var/lib/{}", value("StateDirectory"));
        assert_eq!(value("WorkingDirectory"), state, "{name}");
        let folder = value("ExecStart").split("--broker-folder ").nth(1);
        assert!(folder.is_none_or(|folder| folder.starts_with(&state)), "{name}: {folder:?}");
        assert!(name != "pdm" || folder.is_some(), "the broker's folder would be below /etc");
        let grace_s = if name == "pdm-agent" { 10 } else { 45 };
        let stop_s: u32 = value("TimeoutStopSec").parse().expect("seconds");
        assert!(stop_s > grace_s, "{name} is killed after {stop_s} s, before its {grace_s} s");
    }
}

/// The units are checked with the program at its installed path.
#[test]
fn systemd_accepts_the_units() {
    let Some(analyze) = pdm_harness::program("systemd_accepts_the_units", "systemd-analyze") else {
        return;
    };
    let folder = tempfile::tempdir().expect("folder");
    for name in UNITS {
        let installed = format!("ExecStart=/usr/local/bin/{name} ");
        let text = read(&format!("systemd/{name}.service"));
        assert!(text.contains(&installed), "{name}");
        let here = format!("ExecStart={} ", pdm_harness::binary(name).display());
        let file = folder.path().join(format!("{name}.service"));
        std::fs::write(&file, text.replace(&installed, &here)).expect("writes");
        let done = std::process::Command::new(&analyze)
            .args(["verify", "--man=no"])
            .arg(&file)
            .output()
            .expect("runs");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success() && said.is_empty(), "{name}: {said}");
    }
}
