//! Accepted and refused contents of `agent.toml`, and the errors of refused ones.

use pdm_service::postgres::{PostgresCertificates, PostgresTls};

use pdm_shared::risk::RiskLevel;

use super::*;

const SHIPPED: &str = include_str!("../../../config/agent.toml");

fn parse(text: &str) -> Result<AgentSettings, ConfigError> {
    AgentSettings::parse(Path::new("/etc/pdm/agent.toml"), text)
}

#[test]
fn the_shipped_file_says_what_the_defaults_are() {
    let settings = parse(SHIPPED).expect("valid");
    let mut defaults = AgentSettings::embedded("127.0.0.1", 1883, "/var/lib/pdm-agent/agent.db");
    defaults.http.listen = "127.0.0.1:9465".parse().ok();
    defaults.reports.folder = Some("/var/lib/pdm-agent/reports".into());
    assert_eq!(settings, defaults);
}

#[test]
fn what_the_shipped_file_shows_commented_out_is_valid_too() {
    let shown: String = SHIPPED
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest) if rest.contains(" = ") && !rest.starts_with('{') => rest,
            Some(rest) if rest.starts_with('[') => rest,
            _ => line,
        })
        // a key file and the folders of packs and words have to be there
        .filter(|line| {
            !line.starts_with("file =")
                && !line.starts_with("pack_folder =")
                && !line.starts_with("words =")
        })
        .fold(String::new(), |text, line| text + line + "\n");
    let settings = parse(&shown).expect("valid");
    assert_eq!(settings.notify.webhook.len(), 2);
    assert_eq!(settings.notify.email.as_ref().map(|email| email.to.len()), Some(1));
    assert!(settings.knowledge.documents.is_some() && settings.tools.folder.is_some());
    assert_eq!(settings.tools.databases.len(), 2);
    let reasoner = settings.reasoner.clone().expect("shown");
    assert!(reasoner.key.is_some());
    assert_eq!(ReasonerSettings { key: None, ..reasoner }, ReasonerSettings::default());
    assert!(settings.http.token.is_some());
    assert!(settings.broker.tls.is_some() && settings.broker.login.is_some());
}

#[test]
fn a_short_file_is_enough_and_paths_start_at_its_folder() {
    let settings = parse("[store]\nsqlite = \"agent.db\"\n").expect("valid");
    assert_eq!(settings.store.place, StorePlace::Sqlite("/etc/pdm/agent.db".into()));
    assert_eq!(settings.store.replica, settings.broker.client_id);
}

/// A login in the clear gives the password to everybody on the way.
#[test]
fn a_password_without_tls_is_allowed_to_this_machine_only() {
    let mail = |host: &str| {
        parse(&format!(
            "[store]\nsqlite = \"a.db\"\n[notify.email]\nhost = \"{host}\"\nsecurity = \"none\"\n\
             user = \"pdm\"\npassword = {{ file = \"mail.key\" }}\n\
             from_address = \"pdm@plant.example\"\nto = [\"lead@plant.example\"]\n"
        ))
    };
    for host in ["127.0.0.1", "localhost", "::1", "127.1.2.3"] {
        let settings = mail(host).expect(host);
        let password = settings.notify.email.and_then(|email| email.password);
        let file = pdm_service::secret::SecretSource::File("/etc/pdm/mail.key".into());
        assert_eq!(password, Some(file), "relative to the configuration's folder");
    }
    for host in ["mail.plant.example", "10.0.0.5", "localhost.plant.example"] {
        let error = mail(host).expect_err(host).to_string();
        assert!(
            error.contains("notify.email.security is none, allowed is \"starttls\""),
            "{error}"
        );
    }
}

/// Issue 33: two mail servers in one text were looked up as a name, and no mail left.
#[test]
fn a_mail_server_is_one_name() {
    for host in ["mail-a,mail-b", "mail-a mail-b", "smtp://mail-a", ""] {
        let error = parse(&format!(
            "[store]\nsqlite = \"a.db\"\n[notify.email]\nhost = \"{host}\"\n\
             from_address = \"pdm@plant.example\"\nto = [\"lead@plant.example\"]\n"
        ));
        let error = error.expect_err(host).to_string();
        assert!(error.contains(&format!("notify.email.host is {host}")), "{error}");
        assert!(error.contains("an address that both share"), "{error}");
    }
}

#[test]
fn errors_name_line_key_value_and_what_is_allowed() {
    let error = |text: &str| {
        parse(&format!("[store]\nsqlite = \"a.db\"\n{text}")).expect_err("wrong").to_string()
    };
    let unknown = error("[broker]\nhots = \"x\"\n");
    assert!(unknown.starts_with("/etc/pdm/agent.toml:4:1: unknown field `hots`"), "{unknown}");
    assert_eq!(
        error("[intake]\nbatch = 0\n"),
        "/etc/pdm/agent.toml: intake.batch is 0, allowed is 1 to 10000"
    );
    let negative = error("[notify]\nrepeat_after_h = -1.0\n");
    assert!(negative.contains("notify.repeat_after_h is -1"), "{negative}");
    assert_eq!(
        error("[notify]\ngroup_wait_s = 86401.0\n"),
        "/etc/pdm/agent.toml: notify.group_wait_s is 86401, allowed is 0 to 86400 seconds"
    );
    let changes = error("[notify]\nchanges_at = \"8\"\n");
    assert!(changes.contains("\"8\" is no time, allowed is HH:MM"), "{changes}");
    let never = error("[notify]\nrepeat_after_h = nan\n");
    assert!(never.contains("is NaN, allowed is 0 to 8760 hours"), "{never}");
    let open = error("[http]\nlisten = \"0.0.0.0:9465\"\n");
    assert!(open.contains("http.listen is 0.0.0.0:9465"), "{open}");
    let neither = error("[[notify.webhook]]\nname = \"ops\"\n");
    assert!(neither.contains("either url or url_secret"), "{neither}");
}

/// Who is named but not known, and what a hook's file does not allow, is told by key.
#[test]
fn a_wrong_route_or_hook_is_told_with_its_key() {
    let error = |text: &str| {
        parse(&format!("[store]\nsqlite = \"a.db\"\n{text}")).expect_err("wrong").to_string()
    };
    let route = "[[notify.route]]\nname = \"r\"\nstep = [{ to = [\"kmi\"] }]\n";
    let told = error(&format!("[[notify.webhook]]\nname = \"ops\"\nurl = \"http://x/\"\n{route}"));
    assert_eq!(told, "/etc/pdm/agent.toml: notify.route.r.step.to is kmi, allowed is ops");
    let told = error("[[notify.webhook]]\nname = \"sms\"\npreset = \"nhn\"\n");
    assert!(
        told.contains("notify.webhook.sms.preset is nhn, allowed is aligo, mattermost"),
        "{told}"
    );
    let told = error("[[notify.webhook]]\nname = \"sms\"\ntemplate = \"no.toml\"\n");
    assert!(told.contains("sms.template is /etc/pdm/no.toml:1: unreadable"), "{told}");
    let told = error("[[notify.recipient]]\nname = \"kim\"\nemail = \"kim@plant.example\"\n");
    assert!(told.contains("notify.recipient.kim.email is kim@plant.example, allowed"), "{told}");
    let told =
        error("[[notify.recipient]]\nname = \"kim\"\nhooks = [{ hook = \"sms\", to = \"1\" }]\n");
    assert!(told.contains("notify.recipient.kim.hooks.hook is sms, allowed is a hook"), "{told}");
    let told = error("[notify]\nzone = \"Seoul\"\n");
    assert!(told.contains("agent.toml:4:") && told.contains("no time zone"), "{told}");
}

/// Added to the present, or multiplied into seconds, such a time would have ended the program.
#[test]
fn a_time_beyond_all_calendars_is_refused() {
    let server = "statement_timeout_s";
    for (section, key) in [
        ("", "shutdown_grace_s"),
        ("[intake]", "receipt_after_s"),
        ("[intake]", "gap_lost_after_h"),
        ("[notify]", "repeat_after_h"),
        ("[notify]", "group_wait_s"),
        ("[notify]", "give_up_after_h"),
        ("[silence]", "offline_after_s"),
        ("[silence]", "silent_after_s"),
        ("[store.postgres]\nurl = \"postgres://pdm@127.0.0.1/pdm\"", server),
    ] {
        for time in ["1e17", "1e300", "-1.0", "nan", "inf"] {
            let store = if key == server { "" } else { "[store]\nsqlite = \"a.db\"\n" };
            let text = match section {
                "" => format!("{key} = {time}\n{store}"),
                section => format!("{store}{section}\n{key} = {time}\n"),
            };
            let error = parse(&text).expect_err(&text).to_string();
            assert!(error.contains(&format!("{key} is ")), "{error}");
        }
    }
}

#[test]
fn a_server_is_named_without_its_password_and_verified_unless_it_is_this_machine() {
    let knowledge = "[knowledge]\nstore = { sqlite = \"knowledge.db\" }\n";
    let parse = |text: &str| parse(&format!("{knowledge}[store.postgres]\n{text}"));
    let server = |text: &str| match parse(text).expect("valid").store.place {
        StorePlace::Postgres(server) => server,
        StorePlace::Sqlite(_) => panic!("a file"),
    };
    let far = server("url = \"postgres://pdm@db.plant.example/pdm\"\n");
    assert_eq!(far.tls(), PostgresTls::Verified(PostgresCertificates::default()));
    assert_eq!(server("url = \"postgres://pdm@localhost/pdm\"\n").tls(), PostgresTls::Off);
    assert_eq!(server("url = \"postgres://pdm@%2Frun%2Fpg/pdm\"\n").tls(), PostgresTls::Off);
    let spoken =
        parse("url = \"postgres://pdm:hunter2@db/pdm\"\n").expect_err("refused").to_string();
    assert!(spoken.contains("store.postgres.url") && !spoken.contains("hunter2"), "{spoken}");
    let option = parse("url = \"postgres://pdm@db/pdm?sslmode=disable\"\n").expect_err("refused");
    assert!(option.to_string().contains("with a query"), "{option}");
}

#[test]
fn a_store_is_one_place() {
    let both = parse("[store]\nsqlite = \"a.db\"\n[store.postgres]\nurl = \"postgres://db/pdm\"\n");
    assert!(both.expect_err("both").to_string().contains("either sqlite or postgres"));
    let none = parse("[store]\n").expect_err("none").to_string();
    assert!(none.contains("agent.toml:1:1") && none.contains("is missing"), "{none}");
}

/// R-AGENT-5: a model is part of judgements only where there is one.
#[test]
fn a_model_in_the_loop_needs_a_model_and_a_wait() {
    let with = |text: &str| parse(&format!("[store]\nsqlite = \"a.db\"\n{text}"));
    let settings = with("[judging]\nreasoner = \"llm\"\n[reasoner]\n").expect("valid").judging;
    assert!(settings.has_model() && settings.at_once_from == RiskLevel::Critical);
    for (text, told) in [
        ("[judging]\nreasoner = \"llm\"\n", "with a model in [reasoner]"),
        ("[judging]\nreasoner = \"llm\"\n[reasoner.opinion]\nenabled = false\n", "enabled = true"),
        ("[judging]\nreasoner = \"gpt\"\n", "llm"),
        ("[judging]\nwait_s = 4000.0\n", "judging.wait_s"),
        ("[judging]\nwait_s = nan\n", "judging.wait_s"),
        ("[judging]\nat_once_from = \"Bad\"\n", "Critical"),
        ("[judging]\nwait = 1.0\n", "wait_s"),
    ] {
        let error = with(text).expect_err(text).to_string();
        assert!(error.contains(told) && error.contains("agent.toml"), "{text}: {error}");
    }
}
