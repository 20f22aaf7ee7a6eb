//! R-AGENT-5: with a language model in the loop an agent that is killed (SIGKILL) while a judgement
//! waits goes on with it: at every question to the model, and a moment after every answer. Nothing
//! is lost, and nothing is told twice. The model is a stand-in that answers as scripted; what is
//! stored before the start is judged, so no broker is needed.

#[path = "support/asked.rs"]
mod asked;
mod support;

use std::time::Duration;

use pdm_agent::service::connect_store;
use pdm_harness::{ModelReply, ModelStandIn, free_port};
use pdm_shared::delivery::NotificationReason;
use pdm_shared::diagnosis::{Diagnosis, OpinionStance, Reasoner};
use pdm_shared::event::Event;
use pdm_shared::time::Timestamp;
use pdm_store::{OpinionCounts, Store};

use asked::{configured, scripted, waiting_event};
use support::{settings, start, until};

/// The model's verdict is part of the judgement.
const IN_LOOP: &str = "[judging]\nreasoner = \"llm\"\nwait_s = 600.0\n";

async fn judged(store: &Store, event: &Event) -> Diagnosis {
    for _ in 0..3000 {
        if let Some(diagnosis) = store.history().diagnosis(event.event_id).await.expect("read") {
            return diagnosis;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("no judgement in a minute")
}

/// Counts how often staff was told of an alarm.
async fn alarms(store: &Store) -> usize {
    let end = Timestamp::parse("2100-01-01T00:00:00Z").expect("a time");
    let told = store.pages().notifications(None, end, 100).await.expect("read");
    told.iter().filter(|one| one.reason == NotificationReason::Raised).count()
}

#[tokio::test]
async fn a_killed_agent_goes_on_with_the_judgement_that_waits_at_every_step() {
    // after so many answers of the model it is killed: at the next question, or so many ms after an
    // answer; the last answer makes the judgement
    let at_questions = (0..3).map(|answers| (answers, None));
    let after_answers = (1..=3).flat_map(|answers| [0, 5, 20, 60].map(|ms| (answers, Some(ms))));
    for (answers, pause_ms) in at_questions.chain(after_answers) {
        let folder = tempfile::tempdir().expect("folder");
        let fault = waiting_event(folder.path()).await;
        let mut asked = 0;
        let model = ModelStandIn::answering(move |request| {
            asked += 1;
            if asked > answers && pause_ms.is_none() {
                ModelReply::Hangs
            } else {
                scripted(request)
            }
        });
        let mut agent = start(&configured(folder.path(), &model, IN_LOOP));
        let wanted = if pause_ms.is_none() { answers + 1 } else { answers };
        let point = format!("question {wanted}");
        until(&point, 60, || model.requests().len() >= wanted).await;
        tokio::time::sleep(Duration::from_millis(pause_ms.unwrap_or(0))).await;
        agent.kill();
        let store =
            connect_store(&settings(free_port(), folder.path()).store).await.expect("opens");
        let told = format!("killed after {answers} answers, {pause_ms:?} ms");
        if pause_ms.is_none() {
            let before = store.history().diagnosis(fault.event_id).await.expect("read");
            assert_eq!(before, None, "{told}: it waited");
        }
        let next = ModelStandIn::answering(scripted);
        let mut agent = start(&configured(folder.path(), &next, IN_LOOP));
        let diagnosis = judged(&store, &fault).await;
        assert_eq!(diagnosis.reasoner, Reasoner::Llm, "{told}");
        let opinion = diagnosis.second_opinion.expect("an opinion");
        assert_eq!(opinion.stance, Some(OpinionStance::Agrees), "{told}: {opinion:?}");
        assert_eq!(opinion.tools.len(), 2, "{told}: each look-up once: {:?}", opinion.tools);
        // an answer that was not stored yet is asked for again, an older one never
        let again = next.requests().len();
        assert!(again <= 3 - answers + 1, "{told}: {again} questions");
        assert_eq!((model.violations(), next.violations()), (Vec::new(), Vec::new()), "{told}");
        let counts = store.opinions().opinion_counts().await.expect("counts");
        assert_eq!(counts, OpinionCounts { agrees: 1, ..OpinionCounts::default() }, "{told}");
        assert_eq!(alarms(&store).await, 1, "{told}: told once");
        let left = store.judging().unjudged(10).await.expect("read");
        assert!(left.is_empty(), "{told}: nothing is left behind");
        store.close().await;
        agent.kill();
    }
}
