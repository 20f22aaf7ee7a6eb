//! The parent against children that do not keep to the agreement: scripts of a shell in their
//! place.

use super::*;

struct NoTools;

#[async_trait]
impl Tools for NoTools {
    async fn call(&mut self, _tool: &str, _arguments: Map<String, Value>) -> ToolReply {
        Ok("x".repeat(10))
    }
}

async fn told(script: &str) -> String {
    let host = ProgramHost::child(ConfinedProgram::other("/bin/sh", &["-c", script]));
    let outcome = host.session().run("1", &[], &mut NoTools).await;
    assert_eq!((outcome.answer, outcome.printed), (None, String::new()), "{script}");
    outcome.error.expect("an error")
}

const READY: &str = r#"echo '{"kind":"ready"}'; "#;

/// Whatever the child says, its parent has an error with its reason, and goes on.
#[tokio::test]
async fn a_child_that_keeps_to_nothing_is_ended() {
    for (script, expected) in [
        ("exit 70", "exit status: 70"),
        ("kill -SEGV $$", "signal 11"),
        ("echo hello", "another language"),
        (
            r#"echo '{"kind":"ended","printed":"x","answer":"y","error":null}'"#,
            "not the one asked for",
        ),
        ("exec cat /dev/zero", "too much at once"),
    ] {
        let told = told(script).await;
        assert!(told.contains(expected), "{script}: {told}");
    }
    let call = r#"{"kind":"call","tool":"a","arguments":{}}"#;
    for (script, expected) in [
        ("sleep 60".to_owned(), "longer than 1.5 s"),
        ("exec sleep 60 >&-".to_owned(), "closed its output"),
        ("exec cat /dev/zero".to_owned(), "too much at once"),
        ("exec yes nonsense".to_owned(), "another language"),
        ("exec yes '{\"kind\":\"ready\"}'".to_owned(), "out of turn"),
        (format!("exec yes '{call}'"), "more than 60 times"),
        (format!("echo '{call}'; exec sleep 60"), "longer than 1.5 s"),
        ("kill -XCPU $$".to_owned(), "too much memory or time"),
    ] {
        let told = told(&format!("{READY}{script}")).await;
        assert!(told.contains(expected), "{script}: {told}");
    }
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_told() {
    let host = ProgramHost::child(ConfinedProgram::other("/nonexistent", &[]));
    let outcome = host.session().run("1", &[], &mut NoTools).await;
    assert!(outcome.error.expect("an error").contains("cannot start"));
}
