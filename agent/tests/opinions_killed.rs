//! R-AGENT-5: an agent that is killed (SIGKILL) in the midst of a second opinion goes on with it:
//! at every question to the model, and a moment after every answer. The model is a stand-in that
//! answers as scripted; what is stored before the start is judged, so no broker is needed.

#[path = "support/asked.rs"]
mod asked;
mod support;

use std::time::Duration;

use pdm_agent::service::connect_store;
use pdm_harness::{ModelReply, ModelStandIn, free_port};
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_shared::diagnosis::{OpinionStance, SecondOpinion};
use pdm_shared::event::Event;
use pdm_store::{OpinionCounts, Store};

use asked::{configured, scripted, waiting_event};
use support::{settings, start, until};

async fn opinion_on(store: &Store, event: &Event) -> SecondOpinion {
    for _ in 0..3000 {
        let diagnosis = store.history().diagnosis(event.event_id).await.expect("read");
        if let Some(opinion) = diagnosis.and_then(|diagnosis| diagnosis.second_opinion) {
            return opinion;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("no opinion in a minute")
}

#[tokio::test]
async fn a_killed_agent_goes_on_with_the_opinion_at_every_step() {
    // after so many answers of the model it is killed: at the next question, or so many ms after an
    // answer
    let at_questions = (0..3).map(|answers| (answers, None));
    let after_answers = (1..=3).flat_map(|answers| [0, 10].map(|ms| (answers, Some(ms))));
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
        let mut agent = start(&configured(folder.path(), &model, ""));
        let wanted = if pause_ms.is_none() { answers + 1 } else { answers };
        let point = format!("question {wanted}");
        until(&point, 60, || model.requests().len() >= wanted).await;
        tokio::time::sleep(Duration::from_millis(pause_ms.unwrap_or(0))).await;
        agent.kill();
        let next = ModelStandIn::answering(scripted);
        let mut agent = start(&configured(folder.path(), &next, ""));
        let store =
            connect_store(&settings(free_port(), folder.path()).store).await.expect("opens");
        let opinion = opinion_on(&store, &fault).await;
        let told = format!("killed after {answers} answers, {pause_ms:?} ms");
        assert_eq!(opinion.stance, Some(OpinionStance::Agrees), "{told}: {opinion:?}");
        assert_eq!(opinion.tools.len(), 2, "{told}: each look-up once: {:?}", opinion.tools);
        // an answer that was not stored yet is asked for again, an older one never
        let again = next.requests().len();
        assert!(again <= 3 - answers + 1, "{told}: {again} questions");
        assert_eq!((model.violations(), next.violations()), (Vec::new(), Vec::new()), "{told}");
        let counts = store.opinions().opinion_counts().await.expect("counts");
        assert_eq!(counts, OpinionCounts { agrees: 1, ..OpinionCounts::default() }, "{told}");
        let usage = store.opinions().model_usage(SystemClock.now()).await.expect("read");
        assert!(usage.calls >= 3, "{told}: the cost of every answer is kept: {usage:?}");
        store.close().await;
        agent.kill();
    }
}
