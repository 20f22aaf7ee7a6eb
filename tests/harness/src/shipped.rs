//! The shipped configuration of Mosquitto in a real broker, with certificates of the shipped
//! script.

use std::path::Path;
use std::process::Command;

use crate::mosquitto::Mosquitto;
use crate::needs::program;
use crate::process::free_port;

/// Starts Mosquitto with the configuration in `deploy/mosquitto`, except for its port and the paths
/// of its files, which stand in `folder`: the certificate of each of `clients` as NAME.crt and
/// NAME.key, the authority as ca.crt. `rules` are added to the shipped access rules. None, and
/// noted, if Mosquitto or openssl is not installed.
///
/// # Panics
/// If the script or the broker fails, or the shipped files are other than expected.
pub fn shipped_mosquitto(
    test: &str,
    deploy: &Path,
    folder: &Path,
    clients: &[&str],
    rules: &str,
) -> Option<Mosquitto> {
    program(test, "openssl")?;
    let (shipped, place) = (deploy.join("mosquitto"), folder.display().to_string());
    let certificate = |arguments: &[&str]| {
        let script = shipped.join("certificates.sh");
        let done = Command::new("bash").arg(script).arg(&place).args(arguments).output();
        let done = done.expect("bash");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    certificate(&["broker", "127.0.0.1", "localhost"]);
    for client in clients {
        certificate(&["client", client]);
    }
    let read = |name: &str| std::fs::read_to_string(shipped.join(name)).expect("a shipped file");
    std::fs::write(folder.join("acl"), read("acl") + rules).expect("acl");
    let port = free_port();
    let mut text = read("mosquitto.conf");
    for (there, here) in [
        ("listener 8883", format!("listener {port} 127.0.0.1")),
        ("/mosquitto/certificates", place.clone()),
        ("/mosquitto/config/acl", format!("{place}/acl")),
        ("/mosquitto/data", place.clone()),
    ] {
        assert!(text.contains(there), "{there} is not in mosquitto.conf");
        text = text.replace(there, &here);
    }
    Mosquitto::start_configured(test, &text, port)
}
