//! Judges events as the service does, research included, without a store, a broker or a message:
//! for `pdm-agent judge`.
//!
//! The knowledge base is the shipped one, in a folder of its own that is deleted afterwards; it is
//! opened when the first event asks something. No tool that acts is offered.

use std::sync::Arc;

use pdm_expert::case::{Case, Memory};
use pdm_expert::research::{self, Inquiry};
use pdm_expert::rules::Rules;
use pdm_expert::{Judgement, judge};
use pdm_knowledge::Knowledge;
use pdm_service::clock::SystemClock;
use pdm_service::exit::{Exit, Failure};
use pdm_shared::event::Event;
use pdm_shared::time::Timestamp;
use pdm_tools::mcp;

use super::scratch::Scratch;
use crate::service::tooling::Tooling;
use crate::settings::AgentSettings;
use crate::workflow::{Expert, Node, State, Workflow};

/// Judges events one after the other.
pub(super) struct Rehearsal {
    rules: Rules,
    opened: Option<Opened>,
}

/// The knowledge base and the workflow that searches it.
struct Opened {
    knowledge: Knowledge,
    workflow: Workflow,
    /// Keeps the knowledge base's folder.
    _scratch: Scratch,
}

impl Rehearsal {
    pub(super) const fn new(rules: Rules) -> Self {
        Self { rules, opened: None }
    }

    /// The state of an event's run at its end.
    ///
    /// # Errors
    /// A [`Failure`] if the knowledge base cannot be opened.
    pub(super) async fn run(
        &mut self,
        event: &Event,
        memory: &Memory,
        now: Timestamp,
    ) -> Result<State, Failure> {
        let workflow = if self.asks(event, memory, now) {
            self.opened().await?.workflow.clone()
        } else {
            Workflow::new(Expert::new(self.rules.clone()), Arc::new(SystemClock))
        };
        let mut run = workflow.begin(event.clone(), memory.clone());
        run.state.now = now;
        while run.node != Node::SaveMemory {
            workflow.step(&mut run).await;
        }
        Ok(run.state)
    }

    /// The judgement of a run's state.
    pub(super) fn judgement(&self, state: &State) -> Judgement {
        let case =
            Case { event: &state.event_payload, memory: &state.memory_context, now: state.now };
        let own = state.diagnosis_result.as_deref().cloned();
        own.unwrap_or_else(|| judge(&case, &self.rules))
    }

    /// The knowledge base.
    ///
    /// # Errors
    /// A [`Failure`] if it cannot be opened.
    pub(super) async fn knowledge(&mut self) -> Result<&Knowledge, Failure> {
        Ok(&self.opened().await?.knowledge)
    }

    /// Whether the judgement of this event asks something.
    fn asks(&self, event: &Event, memory: &Memory, now: Timestamp) -> bool {
        let case = Case { event, memory, now };
        let diagnosis = judge(&case, &self.rules).diagnosis;
        !research::ask(&diagnosis, &case, &Inquiry::default()).is_empty()
    }

    async fn opened(&mut self) -> Result<&Opened, Failure> {
        if self.opened.is_none() {
            self.opened = Some(self.open().await?);
        }
        let missing = || Failure::new(Exit::Software, anyhow::anyhow!("no knowledge base"));
        self.opened.as_ref().ok_or_else(missing)
    }

    async fn open(&self) -> Result<Opened, Failure> {
        let scratch = Scratch::new().map_err(|error| Failure::new(Exit::Io, error))?;
        let settings = AgentSettings::embedded("127.0.0.1", 1883, scratch.path().join("agent.db"));
        let unavailable = |error: anyhow::Error| Failure::new(Exit::Unavailable, error);
        let tooling = Tooling::open(&settings, None, None).await;
        let tooling = tooling.map_err(|error| unavailable(error.into()))?;
        let client = mcp::in_process(tooling.runtime).await;
        let client = client.map_err(|error| unavailable(error.into()))?;
        let workflow = Workflow::new(Expert::new(self.rules.clone()), Arc::new(SystemClock))
            .with_tools(Arc::new(client));
        Ok(Opened { knowledge: tooling.knowledge, workflow, _scratch: scratch })
    }
}
