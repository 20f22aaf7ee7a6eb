//! Walks over expressions: which places of a row an expression reads.

use super::{Clause, Expr, PatternPlan, PlanStep};

impl Expr {
    /// The expressions directly inside; patterns and subqueries are told by [`Expr::slots`].
    pub(crate) fn children(&self) -> Vec<&Expr> {
        match self {
            Self::Constant(_)
            | Self::Parameter(_)
            | Self::Slot(_)
            | Self::PatternExists(_)
            | Self::Subquery(..) => Vec::new(),
            Self::List(items) | Self::Call(_, items) => items.iter().collect(),
            Self::Map(entries) => entries.iter().map(|(_, value)| value).collect(),
            Self::MapOver(base, entries) => {
                std::iter::once(&**base).chain(entries.iter().map(|(_, value)| value)).collect()
            }
            Self::Property(of, _)
            | Self::HasLabels(of, _)
            | Self::Not(of)
            | Self::Negate(of)
            | Self::IsNull(of) => vec![of],
            Self::Index(a, b)
            | Self::In(a, b)
            | Self::Logic(_, a, b)
            | Self::Compare(_, a, b)
            | Self::Arithmetic(_, a, b)
            | Self::TextTest(_, a, b) => vec![a, b],
            Self::Slice(of, from, to) => {
                let bounds = from.iter().chain(to).map(|bound| &**bound);
                std::iter::once(&**of).chain(bounds).collect()
            }
            Self::Case { arms, otherwise } => arms_of(None, arms, otherwise.as_deref()),
            Self::CaseOf { operand, arms, otherwise } => {
                arms_of(Some(operand), arms, otherwise.as_deref())
            }
            Self::Comprehension { list, predicate, projection } => {
                let rest = predicate.iter().chain(projection).map(|part| &**part);
                std::iter::once(&**list).chain(rest).collect()
            }
            Self::Quantified { list, predicate, .. } => vec![list, predicate],
            Self::Reduce { initial, list, step } => vec![initial, list, step],
            Self::PatternList { projection, .. } => vec![projection],
        }
    }

    /// Calls `see` with every slot that the expression reads; slots of its own local variables too.
    pub(crate) fn slots(&self, see: &mut dyn FnMut(usize)) {
        match self {
            Self::Slot(slot) => see(*slot),
            Self::PatternExists(pattern) => pattern.slots(see),
            Self::PatternList { pattern, projection } => {
                pattern.slots(see);
                projection.slots(see);
            }
            Self::Subquery(_, query) => {
                for clause in query.branches.iter().flatten() {
                    clause.slots(see);
                }
            }
            _ => self.children().into_iter().for_each(|child| child.slots(see)),
        }
    }

    /// The slots below `width` that the expression reads: those of the row, without local
    /// variables.
    pub(crate) fn reads(&self, width: usize) -> Vec<usize> {
        let mut read = Vec::new();
        self.slots(&mut |slot| {
            if slot < width && !read.contains(&slot) {
                read.push(slot);
            }
        });
        read
    }
}

fn arms_of<'e>(
    operand: Option<&'e Expr>,
    arms: &'e [(Expr, Expr)],
    otherwise: Option<&'e Expr>,
) -> Vec<&'e Expr> {
    let arms = arms.iter().flat_map(|(when, then)| [when, then]);
    operand.into_iter().chain(arms).chain(otherwise).collect()
}

impl PatternPlan {
    fn slots(&self, see: &mut dyn FnMut(usize)) {
        for step in &self.steps {
            match step {
                PlanStep::Scan { slot, lookup, .. } => {
                    see(*slot);
                    for (_, value) in lookup {
                        value.slots(see);
                    }
                }
                PlanStep::IsNode { slot } | PlanStep::Path { slot, .. } => see(*slot),
                PlanStep::Ends { relationship, left, right, .. } => {
                    [*relationship, left.slot, right.slot].into_iter().for_each(&mut *see);
                }
                PlanStep::Expand(hop) => {
                    [hop.from, hop.relationship, hop.to.slot].into_iter().for_each(&mut *see);
                }
                PlanStep::ExpandMany { hop, test, .. } => {
                    [hop.from, hop.relationship, hop.to.slot].into_iter().for_each(&mut *see);
                    for (_, value) in test {
                        value.slots(see);
                    }
                }
                PlanStep::Filter(condition) => condition.slots(see),
            }
        }
    }
}

impl Clause {
    fn slots(&self, see: &mut dyn FnMut(usize)) {
        match self {
            Self::Match(plan) => plan.pattern.slots(see),
            Self::Unwind { list, .. } => list.slots(see),
            Self::Project(projection) => {
                projection.items.iter().for_each(|item| item.expression.slots(see));
                let arguments = projection.aggregates.iter().flat_map(|(_, a)| &a.arguments);
                arguments.for_each(|argument| argument.slots(see));
            }
        }
    }
}
