//! The Kubernetes manifests, checked against the cluster's own schemas and against each other
//! (R-RUN-2). No cluster is started here.

use std::path::{Path, PathBuf};
use std::process::Command;

use pdm_harness::PythonPackage;
use serde_json::Value;

/// Python package with the schemas of the Kubernetes versions up to its own.
const VALIDATOR: PythonPackage<'_> = PythonPackage {
    requirement: "kubernetes-validate>=1.37,<2",
    probe: "import kubernetes_validate",
};

/// The oldest and the newest checked version of Kubernetes.
const KUBERNETES: [&str; 2] = ["1.30", "1.37"];

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/k8s/agent.yaml")
}

fn manifests() -> Vec<Value> {
    let text = std::fs::read_to_string(file()).expect("agent.yaml");
    serde_saphyr::from_multiple(&text).expect("agent.yaml is YAML")
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The validator's output for a file, and whether the file passes.
fn validated(python: &Path, version: &str, file: &Path) -> (bool, String) {
    let module = ["-m", "kubernetes_validate", "--strict", "-k", version];
    let done = Command::new(python).args(module).arg(file).output().expect("python runs");
    let said = [done.stdout, done.stderr].concat();
    (done.status.success(), String::from_utf8_lossy(&said).into_owned())
}

/// Strict validation refuses a field that the cluster does not know, such as a mistyped one.
#[test]
fn the_clusters_own_schemas_accept_the_manifests_and_refuse_a_mistyped_field() {
    let test = "the_clusters_own_schemas_accept_the_manifests_and_refuse_a_mistyped_field";
    let folder = env!("CARGO_TARGET_TMPDIR");
    let Some(python) = VALIDATOR.interpreter(test, folder, "kubernetes-venv") else { return };
    for version in KUBERNETES {
        let (passes, said) = validated(&python, version, &file());
        assert!(passes, "{version}: {said}");
        assert_eq!(said.matches(" passed ").count(), manifests().len(), "{version}: {said}");
    }
    let text = std::fs::read_to_string(file()).expect("agent.yaml");
    let mistyped = tempfile::NamedTempFile::with_suffix(".yaml").expect("file");
    assert!(text.contains("readinessProbe:"));
    std::fs::write(mistyped.path(), text.replace("readinessProbe:", "readynessProbe:"))
        .expect("writes");
    let (passes, said) = validated(&python, KUBERNETES[1], mistyped.path());
    assert!(!passes && said.contains("readynessProbe"), "{said}");
}

#[test]
fn replicas_are_restricted_and_every_volume_they_mount_exists() {
    let manifests = manifests();
    let set = manifests.iter().find(|m| m["kind"] == "StatefulSet").expect("a set");
    assert!(set["spec"]["replicas"].as_u64() >= Some(2), "several replicas");
    let pod = &set["spec"]["template"]["spec"];
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    assert_eq!(pod["automountServiceAccountToken"], false);
    let volumes: Vec<&str> = pod["volumes"]
        .as_array()
        .expect("volumes")
        .iter()
        .filter_map(|volume| volume["name"].as_str())
        .collect();
    let containers = ["containers", "initContainers"]
        .into_iter()
        .flat_map(|kind| pod[kind].as_array().into_iter().flatten());
    for container in containers {
        let context = &container["securityContext"];
        assert_eq!(context["allowPrivilegeEscalation"], false, "{container}");
        assert_eq!(context["readOnlyRootFilesystem"], true);
        assert_eq!(texts(&context["capabilities"]["drop"]), ["ALL"]);
        for mount in container["volumeMounts"].as_array().expect("mounts") {
            let name = mount["name"].as_str().expect("a name");
            assert!(volumes.contains(&name), "{name} is mounted and not declared");
        }
    }
}

/// Liveness never asks for the store: an agent that waits for its database lives, and tells (issue
/// 33, point 2). Nothing of the pod fails before the agent runs because the database is away.
#[test]
fn liveness_asks_for_the_process_and_readiness_for_the_work() {
    let manifests = manifests();
    let set = manifests.iter().find(|m| m["kind"] == "StatefulSet").expect("a set");
    let pod = &set["spec"]["template"]["spec"];
    let agent = &pod["containers"][0];
    assert_eq!(agent["livenessProbe"]["httpGet"]["path"], "/livez");
    assert_eq!(agent["readinessProbe"]["httpGet"]["path"], "/readyz");
    assert!(pod["initContainers"].is_null(), "no container before the agent needs the database");
}

#[test]
fn what_the_manifests_select_is_what_they_label() {
    let manifests = manifests();
    let set = manifests.iter().find(|m| m["kind"] == "StatefulSet").expect("a set");
    let labels = &set["spec"]["template"]["metadata"]["labels"];
    assert_eq!(&set["spec"]["selector"]["matchLabels"], labels);
    let service = manifests.iter().find(|m| m["kind"] == "Service").expect("a service");
    assert_eq!(&service["spec"]["selector"], labels);
    assert_eq!(set["spec"]["serviceName"], service["metadata"]["name"]);
    for manifest in manifests.iter().filter(|m| m["kind"] != "Namespace") {
        assert_eq!(manifest["metadata"]["namespace"], "pdm", "{}", manifest["kind"]);
    }
}
