//! TLS to a real PostgreSQL: what is right works, what is wrong is told with an exit code.

use std::path::Path;
use std::process::{Command, Output};

use pdm_harness::{Authority, Postgres};
use sqlx::{Connection as _, PgConnection};

/// `pdm-agent migrate` with these lines in `[store.postgres.tls]`.
fn migrate(folder: &Path, url: &str, tls: &str) -> Output {
    let config = folder.join("agent.toml");
    let text = format!(
        "[store.postgres]\nurl = \"{url}\"\n[store.postgres.tls]\n{tls}\
         [knowledge]\nstore = {{ sqlite = \"knowledge.db\" }}\n"
    );
    std::fs::write(&config, text).expect("writes");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pdm-agent"));
    command.args(["migrate", "--config"]).arg(config).env("NO_COLOR", "1");
    command.output().expect("runs")
}

fn line(authority: &Authority, key: &str, file: &str) -> String {
    format!("{key} = \"{}\"\n", authority.path(file).display())
}

fn ends_with(done: &Output, code: i32, told: &str) {
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(code), "{said}");
    assert!(said.contains(told), "{told} is not in: {said}");
}

#[test]
fn the_servers_certificate_has_to_be_of_the_named_authority_and_valid() {
    let name = "the_servers_certificate_has_to_be_of_the_named_authority_and_valid";
    let Some(authority) = Authority::found(name) else { return };
    authority.issue("server");
    authority.issue_expired("expired");
    let file = |name: &str| authority.path(name);
    let Some(server) = Postgres::start_tls(name, &file("server.pem"), &file("server.key"), None)
    else {
        return;
    };
    let Some(old) = Postgres::start_tls(name, &file("expired.pem"), &file("expired.key"), None)
    else {
        return;
    };
    let folder = tempfile::tempdir().expect("folder");
    let with = |url: &str, ca: &str| migrate(folder.path(), url, &line(&authority, "ca", ca));
    ends_with(&with(&server.url(), "ca.pem"), 0, "");
    ends_with(&with(&server.url(), "other-ca.pem"), 69, "UnknownIssuer");
    ends_with(&with(&old.url(), "ca.pem"), 69, "xpired");
    ends_with(&with(&server.url(), "nowhere.pem"), 78, "store.postgres.tls.ca: cannot read");
}

#[tokio::test]
async fn a_server_that_asks_for_certificates_gets_the_configured_one() {
    let name = "a_server_that_asks_for_certificates_gets_the_configured_one";
    let Some(authority) = Authority::found(name) else { return };
    for who in ["server", "pdm", "stranger"] {
        authority.issue(who);
    }
    let file = |name: &str| authority.path(name);
    let authorities = file("ca.pem");
    let Some(server) =
        Postgres::start_tls(name, &file("server.pem"), &file("server.key"), Some(&authorities))
    else {
        return;
    };
    let folder = tempfile::tempdir().expect("folder");
    let ca = line(&authority, "ca", "ca.pem");
    let pair = |who: &str| {
        let certificate = line(&authority, "certificate", &format!("{who}.pem"));
        format!("{ca}{certificate}{}", line(&authority, "key", &format!("{who}.key")))
    };
    ends_with(&migrate(folder.path(), &server.url(), &pair("pdm")), 0, "");
    ends_with(&migrate(folder.path(), &server.url(), &pair("stranger")), 69, "authentication");
    ends_with(&migrate(folder.path(), &server.url(), &ca), 69, "certificate");

    let options = server.url().parse::<sqlx::postgres::PgConnectOptions>().expect("an address");
    let options = options
        .ssl_root_cert(file("ca.pem"))
        .ssl_client_cert(file("pdm.pem"))
        .ssl_client_key(file("pdm.key"));
    let mut connection = PgConnection::connect_with(&options).await.expect("connects");
    let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM pdm_agent_memory")
        .fetch_one(&mut connection)
        .await
        .expect("the schema is there");
    assert_eq!(tables, 0);
}
