//! Tests that an agent that cannot work says so: health fails with the cause, staff is told past
//! the store, and the events that came in meanwhile are judged and told once. Issue 33, points 2, 3
//! and 5.

use pdm_harness::{Postgres, SmallDisk, until};
use sqlx::{Connection as _, PgConnection};

use crate::other_program::OtherProgram;
use crate::watched::{PATIENCE, Watched};

/// Issue 33, point 2: disk full.
#[test]
fn a_full_disk_is_told_past_the_store_and_loses_no_alarm() {
    let test = "a_full_disk_is_told_past_the_store_and_loses_no_alarm";
    let Some(disk) = SmallDisk::mount(test, 24) else { return };
    let store = format!("sqlite = {:?}", disk.path().join("agent.db"));
    let Some(mut plant) = Watched::new(test, &store, "") else { return };
    plant.start();
    plant.works();
    disk.fill();
    plant.fault("P-201");
    plant.is_blind("full");
    plant.hears("the diagnosis agent is blind: the disk of its store is full");
    let (code, said) = plant.said("check");
    assert!(code == Some(69) && said.contains("FAIL  store"), "{said}");
    disk.make_room();
    plant.hears("works again");
    plant.hears("P-201");
    plant.works();
    plant.stop();
}

/// Issue 33, point 2: another program holds the file.
#[test]
fn a_locked_file_is_told_past_the_store() {
    let test = "a_locked_file_is_told_past_the_store";
    let Some(mut plant) = Watched::new(test, "sqlite = \"agent.db\"", "") else { return };
    plant.start();
    plant.works();
    let file = plant.path().join("agent.db");
    let Some(mut other) = OtherProgram::open(test, &file) else { return };
    other.runs("BEGIN EXCLUSIVE");
    plant.fault("P-202");
    plant.is_blind("another program holds it");
    plant.hears("its store takes no row");
    other.runs("ROLLBACK");
    plant.hears("works again");
    plant.hears("P-202");
}

/// Issue 33, point 2: a clean-up or a backup that is put back moves the file from under the agent,
/// and SQLite writes on without an error into a file that nobody finds.
#[test]
fn a_store_whose_file_was_moved_or_replaced_is_told_past_the_store() {
    let test = "a_store_whose_file_was_moved_or_replaced_is_told_past_the_store";
    let Some(mut plant) = Watched::new(test, "sqlite = \"agent.db\"", "") else { return };
    plant.start();
    plant.works();
    let (file, aside) = (plant.path().join("agent.db"), plant.path().join("moved.db"));
    std::fs::rename(&file, &aside).expect("moved");
    plant.is_blind("moved, removed or replaced");
    plant.hears("its store was moved, removed or replaced while it was open");
    std::fs::rename(&aside, &file).expect("moved back");
    plant.hears("works again");
    plant.works();
    std::fs::copy(&file, &aside).expect("copied");
    std::fs::rename(&aside, &file).expect("replaced");
    plant.is_blind("moved, removed or replaced");
    plant.stop();
    plant.start();
    plant.works();
}

/// Issue 33, point 2: the store takes events and judgements, and what waits for staff cannot be
/// taken out of it (a right that is missing, a trigger of the database's keeper).
#[test]
fn an_outbox_that_cannot_be_emptied_is_told_past_the_store() {
    let test = "an_outbox_that_cannot_be_emptied_is_told_past_the_store";
    let Some(mut plant) = Watched::new(test, "sqlite = \"agent.db\"", "") else { return };
    plant.start();
    plant.works();
    let file = plant.path().join("agent.db");
    let Some(mut keeper) = OtherProgram::open(test, &file) else { return };
    let trigger = "CREATE TRIGGER kept BEFORE UPDATE ON outbox \
                   BEGIN SELECT RAISE(ABORT, 'kept by hand'); END";
    keeper.runs(trigger);
    plant.fault("P-212");
    plant.is_blind("do not leave the store");
    plant.hears("the diagnosis agent is mute: messages by ");
    plant.hears("do not leave its store");
    assert_eq!(plant.count("P-212"), 0, "nobody is told by the usual way");
    keeper.runs("DROP TRIGGER kept");
    plant.hears("P-212");
    plant.hears("messages leave its store");
    plant.works();
}

/// Issue 33, point 2: the address leads to a standby, at the start and while the agent runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_is_named_and_its_promotion_goes_on() {
    let test = "a_standby_is_named_and_its_promotion_goes_on";
    let Some(mut server) = Postgres::start(test) else { return };
    let store = format!("[store.postgres]\nurl = {:?}", server.url());
    let Some(mut plant) = Watched::new(test, &store, "") else { return };
    plant.start();
    plant.works();
    server.restart_as_standby();
    plant.fault("P-203");
    plant.is_blind("standby");
    plant.hears("leads to a standby that is not promoted");
    let (code, said) = plant.said("check");
    assert!(code == Some(69) && said.contains("pg_is_in_recovery"), "{said}");
    plant.stop();
    plant.start();
    plant.is_blind("standby");
    // an end is told only of an outage that was told
    plant.hears_times("leads to a standby that is not promoted", 2);
    let mut primary = PgConnection::connect(&server.url()).await.expect("connects");
    sqlx::raw_sql("SELECT pg_promote()").execute(&mut primary).await.expect("promoted");
    plant.works();
    plant.hears("works again");
    plant.hears("P-203");
}

/// Issue 33, point 2: a batch that hangs is refused after the server's time-out and tried again;
/// between the two nothing works.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_stays_locked_is_not_told_to_work_again() {
    let test = "a_table_that_stays_locked_is_not_told_to_work_again";
    let Some(server) = Postgres::start(test) else { return };
    let store = format!("[store.postgres]\nurl = {:?}\nstatement_timeout_s = 10.0", server.url());
    let Some(mut plant) = Watched::new(test, &store, "") else { return };
    plant.start();
    plant.works();
    let mut other = PgConnection::connect(&server.url()).await.expect("connects");
    let lock = "BEGIN; LOCK TABLE events IN ACCESS EXCLUSIVE MODE";
    sqlx::raw_sql(lock).execute(&mut other).await.expect("locked");
    plant.fault("P-213");
    plant.is_blind("another program holds it");
    plant.hears("its store takes no row");
    until("the server's time-out", PATIENCE, || {
        plant.log().contains("statement timeout").then_some(())
    });
    // the time in which the next try has neither hung for long nor failed
    tokio::time::sleep(std::time::Duration::from_secs(6)).await;
    assert_eq!(plant.count("works again"), 0, "{}", plant.log());
    sqlx::raw_sql("ROLLBACK").execute(&mut other).await.expect("freed");
    plant.hears("works again");
    plant.hears("P-213");
    let lock = "BEGIN; LOCK TABLE notifications IN ACCESS EXCLUSIVE MODE";
    sqlx::raw_sql(lock).execute(&mut other).await.expect("locked");
    plant.fault("P-214");
    plant.hears_times("the diagnosis agent is blind", 2);
    // two of the server's time-outs
    tokio::time::sleep(std::time::Duration::from_secs(24)).await;
    assert_eq!(plant.count("works again"), 1, "{}", plant.log());
    sqlx::raw_sql("ROLLBACK").execute(&mut other).await.expect("freed");
    plant.hears_times("works again", 2);
    plant.hears("P-214");
}

/// R-AGENT-10: a right that was taken away, or a rule of the database, refuses what tells staff.
/// The reason is named, and not what follows from it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_whose_right_was_taken_away_is_named_as_that() {
    let test = "a_table_whose_right_was_taken_away_is_named_as_that";
    let Some(server) = Postgres::start(test) else { return };
    let store = format!("[store.postgres]\nurl = {:?}", server.url());
    let Some(mut plant) = Watched::new(test, &store, "") else { return };
    plant.start();
    plant.works();
    let mut other = PgConnection::connect(&server.url()).await.expect("connects");
    let refuse = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE \
                  EXCEPTION 'permission denied for table outbox' USING ERRCODE = '42501'; END $$; \
                  CREATE TRIGGER refused BEFORE INSERT ON outbox EXECUTE FUNCTION refuse()";
    sqlx::raw_sql(refuse).execute(&mut other).await.expect("refused");
    plant.fault("P-214");
    plant.is_blind("its database user lacks a right");
    plant.hears("its database user lacks a right");
    assert!(plant.log().contains("permission denied for table outbox"), "{}", plant.log());
    sqlx::raw_sql("DROP TRIGGER refused ON outbox").execute(&mut other).await.expect("allowed");
    plant.hears("works again");
    plant.hears("P-214");
}

/// R-AGENT-10: a trigger without `RETURN NEW` takes rows without an error and keeps none. Nothing
/// is lost: what was swallowed is written when it is gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_drops_rows_without_an_error_is_told_and_loses_no_alarm() {
    let test = "a_database_that_drops_rows_without_an_error_is_told_and_loses_no_alarm";
    let Some(server) = Postgres::start(test) else { return };
    let store = format!("[store.postgres]\nurl = {:?}", server.url());
    let Some(mut plant) = Watched::new(test, &store, "") else { return };
    plant.start();
    plant.works();
    let mut other = PgConnection::connect(&server.url()).await.expect("connects");
    let function =
        "CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$";
    sqlx::raw_sql(function).execute(&mut other).await.expect("made");
    for (n, table) in ["outbox", "events_unjudged", "pdm_agent_memory"].into_iter().enumerate() {
        let on = format!(
            "CREATE TRIGGER audited BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION audit()"
        );
        sqlx::raw_sql(sqlx::AssertSqlSafe(on)).execute(&mut other).await.expect("audited");
        let machine = format!("P-22{n}");
        plant.fault(&machine);
        plant.is_blind(&format!("swallows rows of table {table}"));
        plant.hears_times("its database drops rows that it has taken", n + 1);
        let off = format!("DROP TRIGGER audited ON {table}");
        sqlx::raw_sql(sqlx::AssertSqlSafe(off)).execute(&mut other).await.expect("mended");
        plant.hears_times("works again", n + 1);
        plant.hears(&machine);
    }
}

/// Issue 33, point 2: SQLite writes on into a log that no name leads to, and a crash loses it.
#[test]
fn a_log_of_the_store_that_was_removed_is_told_and_an_orderly_restart_loses_nothing() {
    let test = "a_log_of_the_store_that_was_removed_is_told_and_an_orderly_restart_loses_nothing";
    let Some(mut plant) = Watched::new(test, "sqlite = \"agent.db\"", "") else { return };
    plant.start();
    plant.works();
    plant.fault("P-215");
    plant.hears("P-215");
    std::fs::remove_file(plant.path().join("agent.db-wal")).expect("the log");
    plant.is_blind("agent.db-wal");
    plant.hears("the log of its store (agent.db-wal) was moved, removed or replaced");
    plant.fault("P-216");
    plant.hears("P-216");
    plant.agent().terminate();
    plant.stop();
    plant.start();
    plant.works();
    let (_status, known) = plant.status("/api/v1/bearings").expect("answers");
    assert!(known.contains("P-215") && known.contains("P-216"), "{known}");
    assert_eq!(plant.count("the store has lost its latest rows"), 0);
}

/// R-AGENT-10: where the system allows few open files, who holds connections takes none that
/// judging needs.
#[test]
fn idle_connections_take_no_file_that_an_alarm_needs() {
    let test = "idle_connections_take_no_file_that_an_alarm_needs";
    let Some(mut plant) = Watched::new(test, "sqlite = \"agent.db\"", "") else { return };
    plant.start_with_few_files(96);
    plant.works();
    let idle = plant.hold_connections(200);
    assert!(idle.len() > 100, "{}", idle.len());
    std::thread::sleep(std::time::Duration::from_secs(1));
    plant.fault("P-217");
    plant.hears("P-217");
    assert_eq!(plant.status("/healthz").map(|answer| answer.0), Some(200), "{}", plant.log());
    drop(idle);
}

/// Issue 33, points 2 and 3: encodings that do not hold every character are refused before anything
/// is written, with what to do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_not_utf8_is_refused_by_every_command() {
    let test = "a_database_that_is_not_utf8_is_refused_by_every_command";
    let Some(server) = Postgres::start(test) else { return };
    let mut admin = PgConnection::connect(&server.url()).await.expect("connects");
    for (name, encoding) in [("kr", "EUC_KR"), ("latin", "LATIN1"), ("ascii", "SQL_ASCII")] {
        let sql = format!(
            "CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0 LC_COLLATE 'C' \
             LC_CTYPE 'C'"
        );
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut admin).await.expect("made");
        let url = server.url().replace("/postgres", &format!("/{name}"));
        let store = format!("[store.postgres]\nurl = {url:?}");
        let Some(plant) = Watched::new(test, &store, "") else { return };
        for command in ["migrate", "run"] {
            let (code, said) = plant.said(command);
            assert_eq!(code, Some(78), "{command} {encoding}: {said}");
            assert!(said.contains(&format!("server_encoding is {encoding}")), "{said}");
            assert!(said.contains("createdb --encoding=UTF8"), "{said}");
        }
        let (code, said) = plant.said("check");
        assert!(code == Some(78) && said.contains("allowed is UTF8"), "{encoding}: {said}");
    }
}

/// Issue 33, point 2: an agent that starts in an outage waits, serves health, tells, and goes on.
#[test]
fn an_agent_that_starts_without_its_database_waits_and_tells() {
    let test = "an_agent_that_starts_without_its_database_waits_and_tells";
    let Some(mut server) = Postgres::start(test) else { return };
    let store = format!("[store.postgres]\nurl = {:?}", server.url());
    let Some(mut plant) = Watched::new(test, &store, "") else { return };
    server.stop();
    plant.start();
    plant.is_blind("does not answer");
    plant.hears("the diagnosis agent is blind");
    assert!(plant.agent().is_running(), "it waits");
    server.restart();
    plant.works();
    plant.hears("works again: its store answers");
    assert_eq!(plant.count("the diagnosis agent is blind"), 1, "told once");
    plant.fault("P-204");
    plant.hears("P-204");
}

/// Issue 33, point 8: a damaged store ends no start silently.
#[test]
fn an_agent_whose_store_is_damaged_tells_that_it_is_blind_and_what_to_do() {
    let test = "an_agent_whose_store_is_damaged_tells_that_it_is_blind_and_what_to_do";
    let Some(mut plant) = Watched::new(test, "sqlite = \"agent.db\"", "") else { return };
    std::fs::write(plant.path().join("agent.db"), "no database".repeat(900)).expect("written");
    plant.start();
    plant.is_blind("its store is damaged");
    plant.hears("pdm-agent store recover");
    let (code, said) = plant.said("check");
    assert!(code == Some(69) && said.contains("not a database"), "{said}");
    // what the operator puts in its place is taken without a restart
    std::fs::remove_file(plant.path().join("agent.db")).expect("removed");
    plant.works();
    plant.hears("works again");
}

/// Issue 33, point 5: a changed password is used without a restart, for every connection from then
/// on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_password_of_the_database_is_read_again() {
    let test = "a_changed_password_of_the_database_is_read_again";
    let Some(mut server) = Postgres::start(test) else { return };
    server.restart_with_passwords_for("app");
    let mut admin = PgConnection::connect(&server.url()).await.expect("connects");
    let made = "CREATE ROLE app LOGIN PASSWORD 'one'; ALTER SCHEMA public OWNER TO app";
    sqlx::raw_sql(made).execute(&mut admin).await.expect("made");
    let url = server.url().replace("pdm@", "app@");
    let store = format!("[store.postgres]\nurl = {url:?}\npassword = {{ file = \"pg\" }}");
    let Some(mut plant) = Watched::new(test, &store, "") else { return };
    // the file is not there yet, as on a volume that is still being mounted
    let secret = plant.path().join("pg");
    let _absent = std::fs::remove_file(&secret);
    let text = std::fs::read_to_string(plant.path().join("agent.toml")).expect("there");
    let text = text.replace("file = \"pg\"", &format!("file = {secret:?}"));
    std::fs::write(plant.path().join("agent.toml"), text).expect("written");
    plant.start();
    plant.is_blind("waits for a secret");
    plant.hears("it waits for the file of a secret");
    std::fs::write(&secret, "one\n").expect("written");
    plant.works();
    let cut = "ALTER ROLE app PASSWORD 'two';
               SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'";
    sqlx::raw_sql(cut).execute(&mut admin).await.expect("cut");
    plant.is_blind("refuses the login");
    std::fs::write(&secret, "two\n").expect("written");
    plant.works();
    plant.fault("P-205");
    plant.hears("P-205");
}

/// Issue 33, point 8: derived data heals itself, alarms first.
#[test]
fn a_damaged_knowledge_file_is_set_aside_and_staff_is_told() {
    let test = "a_damaged_knowledge_file_is_set_aside_and_staff_is_told";
    let Some(mut plant) = Watched::new(test, "sqlite = \"agent.db\"", "") else { return };
    std::fs::write(plant.path().join("knowledge.db"), vec![0; 8192]).expect("written");
    plant.start();
    plant.works();
    plant.hears("the damaged file knowledge.db was set aside");
    plant.fault("P-206");
    plant.hears("P-206");
    let aside = || {
        let names = std::fs::read_dir(plant.path()).expect("folder").flatten();
        names.filter(|file| file.file_name().to_string_lossy().contains("db.damaged-")).count()
    };
    until("the damaged file aside", PATIENCE, || (aside() == 1).then_some(()));
}

/// Issue 33, point 3: SIGHUP reads the configuration again; one that is wrong is refused whole.
#[test]
fn a_hang_up_reloads_the_configuration_or_refuses_it_whole() {
    let test = "a_hang_up_reloads_the_configuration_or_refuses_it_whole";
    let Some(mut plant) = Watched::new(test, "sqlite = \"agent.db\"", "") else { return };
    plant.start();
    plant.works();
    let config = plant.path().join("agent.toml");
    let text = std::fs::read_to_string(&config).expect("there");
    std::fs::write(&config, text.replace("\"Watch\"", "\"Loud\"")).expect("written");
    plant.agent().hang_up();
    until("the refusal", PATIENCE, || {
        plant.log().contains("the new configuration is refused").then_some(())
    });
    plant.fault("P-207");
    plant.hears("P-207");
    std::fs::write(&config, text.replace("language = \"en\"", "language = \"ko\""))
        .expect("written");
    plant.agent().hang_up();
    until("the second start", PATIENCE, || {
        (plant.log().matches("the agent runs").count() == 2).then_some(())
    });
    plant.works();
    plant.fault("P-208");
    plant.hears("P-208");
    assert!(plant.agent().is_running(), "SIGHUP never ends it");
}

/// A collector of logs that hangs, or a container's log driver that blocks: the agent stood still
/// at its next line, and so did its health.
#[test]
fn a_log_that_nobody_reads_holds_up_no_alarm() {
    let test = "a_log_that_nobody_reads_holds_up_no_alarm";
    let Some(mut plant) = Watched::new(test, "sqlite = \"agent.db\"", "") else { return };
    plant.start_unread();
    until("health", PATIENCE, || (plant.status("/readyz")?.0 == 200).then_some(()));
    // the subscription is made at some time after that, and the log that would say so is not read
    let mut machine = 0;
    while plant.count("L-") == 0 {
        machine += 1;
        assert!(machine < PATIENCE, "an alarm");
        plant.fault(&format!("L-{machine}"));
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
    assert_eq!(plant.status("/readyz").map(|answer| answer.0), Some(200));
}
