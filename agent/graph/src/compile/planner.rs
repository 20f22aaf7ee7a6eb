//! The order in which a pattern is matched: from what is bound or looked up, along relationships,
//! each condition as soon as everything it reads is bound.

use std::sync::Arc;

use crate::plan::{Comparison, End, Expansion, Expr, LabelTest, PatternPlan, PlanStep};
use crate::source::Direction;

/// One part of a pattern: a node more than hops.
#[derive(Debug, Default)]
pub(super) struct Chain {
    pub(super) nodes: Vec<usize>,
    pub(super) hops: Vec<Hop>,
    pub(super) path: Option<usize>,
}

#[derive(Debug)]
pub(super) struct Hop {
    pub(super) slot: usize,
    pub(super) direction: Direction,
    pub(super) kinds: Vec<Arc<str>>,
    pub(super) length: Option<(usize, Option<usize>)>,
    pub(super) test: Vec<(Arc<str>, Expr)>,
}

pub(super) struct Planner {
    width: usize,
    bound: Vec<bool>,
    conditions: Vec<Expr>,
    /// Slots of the relationships that are matched so far.
    matched: Vec<usize>,
    steps: Vec<PlanStep>,
}

/// Where a chain is entered.
#[derive(Clone, Copy)]
enum Entry {
    Node(usize),
    Hop(usize),
}

impl Planner {
    /// A planner over rows whose first `outer` slots are bound.
    pub(super) fn new(outer: usize, width: usize, conditions: Vec<Expr>) -> Self {
        let bound = (0..width).map(|slot| slot < outer).collect();
        Self { width, bound, conditions, matched: Vec::new(), steps: Vec::new() }
    }

    pub(super) fn plan(mut self, mut chains: Vec<Chain>) -> PatternPlan {
        self.conditions_met();
        while !chains.is_empty() {
            let ranked = (0..chains.len()).map(|index| (self.entry(&chains[index]), index));
            let best = ranked.min_by_key(|((rank, _), index)| (*rank, *index));
            let Some(((_, entry), index)) = best else { break };
            let chain = chains.remove(index);
            self.chain(&chain, entry);
        }
        // a condition on a slot that no step binds cannot be: it would drop every row
        let rest = std::mem::take(&mut self.conditions);
        self.steps.extend(rest.into_iter().map(PlanStep::Filter));
        PatternPlan { width: self.width, steps: self.steps }
    }

    fn is_bound(&self, slot: usize) -> bool {
        self.bound.get(slot).copied().unwrap_or(false)
    }

    fn bind(&mut self, slot: usize) {
        if let Some(bound) = self.bound.get_mut(slot) {
            *bound = true;
        }
    }

    /// The best place to enter a chain; smaller ranks are more selective.
    fn entry(&self, chain: &Chain) -> (u8, Entry) {
        let nodes = chain.nodes.iter().enumerate().map(|(index, slot)| {
            let (labels, lookup) = (!self.labels(*slot).is_empty(), !self.lookup(*slot).is_empty());
            let rank = match (self.is_bound(*slot), labels, lookup) {
                (true, ..) => 0,
                (_, true, true) => 2,
                (_, false, true) => 3,
                (_, true, false) => 4,
                (_, false, false) => 5,
            };
            (rank, Entry::Node(index))
        });
        let hops = chain.hops.iter().enumerate();
        let hops = hops.filter(|(_, hop)| hop.length.is_none() && self.is_bound(hop.slot));
        let hops = hops.map(|(index, _)| (1, Entry::Hop(index)));
        nodes.chain(hops).min_by_key(|(rank, _)| *rank).unwrap_or((9, Entry::Node(0)))
    }

    fn chain(&mut self, chain: &Chain, entry: Entry) {
        let (first, last) = match entry {
            Entry::Node(index) => {
                self.node(chain.nodes[index]);
                (index, index)
            }
            Entry::Hop(index) => {
                self.ends(chain, index);
                (index, index + 1)
            }
        };
        for index in last..chain.hops.len() {
            self.hop(&chain.hops[index], chain.nodes[index], chain.nodes[index + 1], false);
        }
        for index in (0..first).rev() {
            self.hop(&chain.hops[index], chain.nodes[index + 1], chain.nodes[index], true);
        }
        if let Some(slot) = chain.path {
            let mut parts = Vec::new();
            for (index, node) in chain.nodes.iter().enumerate() {
                parts.push(*node);
                parts.extend(chain.hops.get(index).map(|hop| hop.slot));
            }
            self.steps.push(PlanStep::Path { slot, parts });
            self.bind(slot);
            self.conditions_met();
        }
    }

    fn node(&mut self, slot: usize) {
        if self.is_bound(slot) {
            self.steps.push(PlanStep::IsNode { slot });
        } else {
            let (labels, lookup) = (self.labels(slot), self.lookup(slot));
            self.steps.push(PlanStep::Scan { slot, labels, lookup });
            self.bind(slot);
        }
        self.conditions_met();
    }

    fn end(&self, slot: usize) -> End {
        End { slot, bound: self.is_bound(slot) }
    }

    fn ends(&mut self, chain: &Chain, index: usize) {
        let hop = &chain.hops[index];
        let left = self.end(chain.nodes[index]);
        self.bind(left.slot);
        let right = self.end(chain.nodes[index + 1]);
        self.bind(right.slot);
        self.steps.push(PlanStep::Ends {
            relationship: hop.slot,
            left,
            right,
            direction: hop.direction,
            kinds: hop.kinds.clone(),
        });
        self.matched.push(hop.slot);
        self.conditions_met();
    }

    fn hop(&mut self, hop: &Hop, from: usize, to: usize, backward: bool) {
        let direction = if backward { hop.direction.reverse() } else { hop.direction };
        let expansion = Expansion {
            from,
            relationship: hop.slot,
            relationship_bound: self.is_bound(hop.slot),
            to: self.end(to),
            direction,
            kinds: hop.kinds.clone(),
            unlike: self.matched.clone(),
            backward,
        };
        self.steps.push(match hop.length {
            None => PlanStep::Expand(expansion),
            Some((min, max)) => {
                PlanStep::ExpandMany { hop: expansion, min, max, test: hop.test.clone() }
            }
        });
        self.bind(hop.slot);
        self.bind(to);
        self.matched.push(hop.slot);
        self.conditions_met();
    }

    /// Adds the conditions of which everything is bound.
    fn conditions_met(&mut self) {
        let (met, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.conditions)
            .into_iter()
            .partition(|condition| self.can_read(condition));
        self.conditions = rest;
        self.steps.extend(met.into_iter().map(PlanStep::Filter));
    }

    fn can_read(&self, expression: &Expr) -> bool {
        expression.reads(self.width).into_iter().all(|slot| self.is_bound(slot))
    }

    /// The labels that a node of the pattern has to have.
    fn labels(&self, node: usize) -> Vec<Arc<str>> {
        fn names(test: &LabelTest, into: &mut Vec<Arc<str>>) {
            match test {
                LabelTest::Name(name) => into.push(Arc::clone(name)),
                LabelTest::And(parts) => parts.iter().for_each(|part| names(part, into)),
                LabelTest::Any | LabelTest::Not(_) | LabelTest::Or(_) => {}
            }
        }
        let mut labels = Vec::new();
        for condition in &self.conditions {
            if let Expr::HasLabels(of, test) = condition
                && **of == Expr::Slot(node)
            {
                names(test, &mut labels);
            }
        }
        labels
    }

    /// The properties that a node has to have, with expressions that are known before it.
    fn lookup(&self, node: usize) -> Vec<(Arc<str>, Expr)> {
        let mut found = Vec::new();
        for condition in &self.conditions {
            let Expr::Compare(Comparison::Equal, a, b) = condition else { continue };
            for (own, other) in [(a, b), (b, a)] {
                if let Expr::Property(of, key) = &**own
                    && **of == Expr::Slot(node)
                    && self.can_read(other)
                {
                    found.push((Arc::clone(key), (**other).clone()));
                }
            }
        }
        found
    }
}
