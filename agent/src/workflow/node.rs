//! The nodes of a run and its edges, as a pure function (R-AGENT-3).
//!
//! ```text
//! load_memory ─► reasoning ─┬─ call_tool ─► tool_executor ─► reasoning
//!                           ├─ continue_reasoning ─► reasoning
//!                           ├─ end ─► parse_diagnosis ─► save_memory ─► END
//!                           └─ generate_report ─► parse_diagnosis ─► generate_report
//!                                ─► generate_work_order (Warning, Critical) ─► save_memory ─► END
//! ```
//!
//! Invariants: from every node every state leads to END; more than [`MAX_TOOL_CALLS`] calls or
//! [`MAX_ROUNDS`] rounds lead to `parse_diagnosis` whatever the reasoner wants.

use std::str::FromStr;

use pdm_shared::risk::RiskLevel;
use serde::{Deserialize, Serialize};

use super::state::State;

/// Calls of tools after which a diagnosis is asked for (requirement: `tool_calls_count > 10`).
pub const MAX_TOOL_CALLS: u32 = 10;
/// Rounds of reasoning after which a diagnosis is asked for: twice the calls, so that a run with
/// one call every second round still makes all its calls, and a reasoner that never concludes ends
/// too.
pub const MAX_ROUNDS: u32 = 20;

/// A node of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Node {
    /// Recalls the last judgements of the bearing.
    LoadMemory,
    /// Asks the reasoner for its next thought and what it wants.
    Reasoning,
    /// Makes the calls that the reasoner wants.
    ToolExecutor,
    /// Checks the reasoner's judgement against the contract and its sources.
    ParseDiagnosis,
    /// Writes the report; for Normal and Watch the judgement is the short status.
    GenerateReport,
    /// Writes the work order.
    GenerateWorkOrder,
    /// Writes the judgement and everything that leaves because of it in one transaction.
    SaveMemory,
}

impl Node {
    /// All, in the order of a run.
    pub const ALL: [Self; 7] = [
        Self::LoadMemory,
        Self::Reasoning,
        Self::ToolExecutor,
        Self::ParseDiagnosis,
        Self::GenerateReport,
        Self::GenerateWorkOrder,
        Self::SaveMemory,
    ];

    /// The node's name in the requirements, in the trace and in metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LoadMemory => "load_memory",
            Self::Reasoning => "reasoning",
            Self::ToolExecutor => "tool_executor",
            Self::ParseDiagnosis => "parse_diagnosis",
            Self::GenerateReport => "generate_report",
            Self::GenerateWorkOrder => "generate_work_order",
            Self::SaveMemory => "save_memory",
        }
    }
}

impl std::fmt::Display for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no node of the workflow")]
pub struct UnknownNode(String);

impl FromStr for Node {
    type Err = UnknownNode;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|node| node.as_str() == word);
        known.ok_or_else(|| UnknownNode(word.to_owned()))
    }
}

/// The next step that the reasoner asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NextAction {
    /// Another round of thinking.
    #[default]
    ContinueReasoning,
    /// Tools.
    CallTool,
    /// The diagnosis with its documents.
    GenerateReport,
    /// The diagnosis alone: nothing is wrong.
    End,
}

/// Returns the node after `node` in this state; `None` after the last.
pub fn next(node: Node, state: &State) -> Option<Node> {
    let spent = state.tool_calls_count > MAX_TOOL_CALLS || state.rounds >= MAX_ROUNDS;
    match node {
        Node::Reasoning => Some(match state.next_action {
            NextAction::GenerateReport | NextAction::End => Node::ParseDiagnosis,
            NextAction::CallTool | NextAction::ContinueReasoning if spent => Node::ParseDiagnosis,
            NextAction::CallTool => Node::ToolExecutor,
            NextAction::ContinueReasoning => Node::Reasoning,
        }),
        Node::ToolExecutor if spent => Some(Node::ParseDiagnosis),
        Node::LoadMemory | Node::ToolExecutor => Some(Node::Reasoning),
        Node::ParseDiagnosis if state.next_action == NextAction::End => Some(Node::SaveMemory),
        Node::ParseDiagnosis => Some(Node::GenerateReport),
        Node::GenerateReport if state.risk() >= RiskLevel::Warning => Some(Node::GenerateWorkOrder),
        Node::GenerateReport | Node::GenerateWorkOrder => Some(Node::SaveMemory),
        Node::SaveMemory => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::workflow::state::tests::state;

    fn walk(node: Node, action: NextAction, calls: u32, risk: RiskLevel) -> Option<Node> {
        let mut state = state(risk);
        state.next_action = action;
        state.tool_calls_count = calls;
        next(node, &state)
    }

    /// R-AGENT-3: the seed's edges, one by one.
    #[test]
    fn the_edges_are_those_of_the_seed() {
        use NextAction::{CallTool, ContinueReasoning, End, GenerateReport};
        use RiskLevel::{Critical, Normal, Warning, Watch};
        let edges = [
            (Node::LoadMemory, ContinueReasoning, Normal, Some(Node::Reasoning)),
            (Node::Reasoning, CallTool, Watch, Some(Node::ToolExecutor)),
            (Node::Reasoning, ContinueReasoning, Watch, Some(Node::Reasoning)),
            (Node::Reasoning, GenerateReport, Watch, Some(Node::ParseDiagnosis)),
            (Node::Reasoning, End, Normal, Some(Node::ParseDiagnosis)),
            (Node::ToolExecutor, CallTool, Watch, Some(Node::Reasoning)),
            (Node::ParseDiagnosis, End, Normal, Some(Node::SaveMemory)),
            (Node::ParseDiagnosis, GenerateReport, Watch, Some(Node::GenerateReport)),
            (Node::GenerateReport, GenerateReport, Watch, Some(Node::SaveMemory)),
            (Node::GenerateReport, GenerateReport, Warning, Some(Node::GenerateWorkOrder)),
            (Node::GenerateReport, GenerateReport, Critical, Some(Node::GenerateWorkOrder)),
            (Node::GenerateWorkOrder, GenerateReport, Critical, Some(Node::SaveMemory)),
            (Node::SaveMemory, GenerateReport, Critical, None),
        ];
        for (node, action, risk, after) in edges {
            assert_eq!(walk(node, action, 0, risk), after, "{node} {action:?} {risk}");
        }
    }

    /// R-AGENT-3: the seed's safety device.
    #[test]
    fn more_than_ten_calls_force_the_diagnosis() {
        let after = |node, calls| walk(node, NextAction::CallTool, calls, RiskLevel::Watch);
        assert_eq!(after(Node::ToolExecutor, 10), Some(Node::Reasoning));
        assert_eq!(after(Node::ToolExecutor, 11), Some(Node::ParseDiagnosis));
        assert_eq!(after(Node::Reasoning, 11), Some(Node::ParseDiagnosis));
    }

    #[test]
    fn every_node_is_read_back_from_its_word() {
        for node in Node::ALL {
            assert_eq!(node.as_str().parse(), Ok(node));
        }
        assert!("call_tool".parse::<Node>().is_err());
    }

    proptest! {
        /// Whatever a reasoner wants in each of its rounds, a run ends.
        #[test]
        fn every_walk_ends(wants in proptest::collection::vec((0..4_u8, 0..5_u32), 1..60)) {
            let mut state = state(RiskLevel::Warning);
            let mut node = Node::LoadMemory;
            let mut wants = wants.into_iter().cycle();
            let mut steps = 0;
            while let Some(after) = next(node, &state) {
                if after == Node::Reasoning {
                    let (action, calls) = wants.next().expect("endless");
                    state.rounds += 1;
                    state.tool_calls_count += calls;
                    state.next_action = match action {
                        0 => NextAction::ContinueReasoning,
                        1 => NextAction::CallTool,
                        2 => NextAction::GenerateReport,
                        _ => NextAction::End,
                    };
                }
                node = after;
                steps += 1;
                prop_assert!(steps < 100);
            }
            prop_assert_eq!(node, Node::SaveMemory);
        }
    }
}
