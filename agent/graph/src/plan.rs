//! A compiled query: expressions whose variables are places in a row, patterns as steps,
//! projections.
//!
//! Invariant: an expression is evaluated on a stack that is exactly as long as the scope was when
//! the expression was compiled, so that its local variables come to stand at the places it names.

use std::sync::Arc;

use crate::source::Direction;
use crate::value::Value;

mod function;
mod walk;

pub(crate) use function::{AggregateFunction, Function};

/// A whole query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryPlan {
    pub(crate) branches: Vec<Vec<Clause>>,
    /// Whether the rows of the branches are made distinct (`UNION` without `ALL`).
    pub(crate) distinct: bool,
    pub(crate) columns: Vec<Arc<str>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Clause {
    Match(MatchPlan),
    Unwind { list: Expr, slot: usize },
    Project(Box<Projection>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MatchPlan {
    /// Where the number of the input row is kept, for `OPTIONAL MATCH`.
    pub(crate) optional: Option<usize>,
    pub(crate) pattern: PatternPlan,
}

/// A pattern as steps that each bind something or drop rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PatternPlan {
    /// Length of a row with everything that the pattern binds.
    pub(crate) width: usize,
    pub(crate) steps: Vec<PlanStep>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PlanStep {
    /// Binds `slot` to the nodes that fit.
    Scan { slot: usize, labels: Vec<Arc<str>>, lookup: Vec<(Arc<str>, Expr)> },
    /// Drops the rows whose `slot` is null, and fails if it is no node.
    IsNode { slot: usize },
    /// Binds the two ends of a bound relationship.
    Ends { relationship: usize, left: End, right: End, direction: Direction, kinds: Vec<Arc<str>> },
    /// Follows one relationship.
    Expand(Expansion),
    /// Follows a number of relationships; the relationship's slot holds their list.
    ExpandMany { hop: Expansion, min: usize, max: Option<usize>, test: Vec<(Arc<str>, Expr)> },
    /// Binds `slot` to the path over these slots: node, relationship, …, node.
    Path { slot: usize, parts: Vec<usize> },
    /// Keeps the rows for which the condition is true.
    Filter(Expr),
}

/// A node of a pattern: its slot, and whether an earlier step has bound it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) slot: usize,
    pub(crate) bound: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expansion {
    pub(crate) from: usize,
    pub(crate) relationship: usize,
    /// Whether the relationship (or its list) is bound already and only compared.
    pub(crate) relationship_bound: bool,
    pub(crate) to: End,
    pub(crate) direction: Direction,
    /// Allowed types; every type if empty.
    pub(crate) kinds: Vec<Arc<str>>,
    /// Slots of relationships that this one must differ from.
    pub(crate) unlike: Vec<usize>,
    /// Whether the list of an [`PlanStep::ExpandMany`] is reversed, because the step walks the
    /// pattern from its end.
    pub(crate) backward: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Projection {
    /// Length of a row with the places of the aggregates, before the items.
    pub(crate) width: usize,
    pub(crate) aggregates: Vec<(usize, Aggregate)>,
    pub(crate) items: Vec<Item>,
    /// Whether rows are grouped by the items without an aggregate.
    pub(crate) grouped: bool,
    pub(crate) distinct: bool,
    pub(crate) order: Vec<Sort>,
    pub(crate) skip: Option<Expr>,
    pub(crate) limit: Option<Expr>,
    pub(crate) filter: Option<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    pub(crate) name: Arc<str>,
    pub(crate) expression: Expr,
    /// Whether rows are grouped by it.
    pub(crate) is_key: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sort {
    pub(crate) expression: Expr,
    pub(crate) descending: bool,
    /// `NULLS FIRST` is true, `NULLS LAST` false.
    pub(crate) nulls_first: Option<bool>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Aggregate {
    pub(crate) function: AggregateFunction,
    pub(crate) distinct: bool,
    pub(crate) arguments: Vec<Expr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Logic {
    And,
    Or,
    Xor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextTest {
    StartsWith,
    EndsWith,
    Contains,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantifier {
    All,
    Any,
    None,
    Single,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubqueryKind {
    Exists,
    Count,
    Collect,
}

/// A condition on a label or a type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LabelTest {
    Name(Arc<str>),
    Any,
    Not(Box<LabelTest>),
    And(Vec<LabelTest>),
    Or(Vec<LabelTest>),
}

/// An expression over a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expr {
    Constant(Value),
    Parameter(Arc<str>),
    Slot(usize),
    List(Vec<Expr>),
    Map(Vec<(Arc<str>, Expr)>),
    /// Entries over the properties of a base, if there is one.
    MapOver(Box<Expr>, Vec<(Arc<str>, Expr)>),
    Property(Box<Expr>, Arc<str>),
    Index(Box<Expr>, Box<Expr>),
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Logic(Logic, Box<Expr>, Box<Expr>),
    Compare(Comparison, Box<Expr>, Box<Expr>),
    Arithmetic(Arithmetic, Box<Expr>, Box<Expr>),
    TextTest(TextTest, Box<Expr>, Box<Expr>),
    In(Box<Expr>, Box<Expr>),
    IsNull(Box<Expr>),
    HasLabels(Box<Expr>, LabelTest),
    Call(Function, Vec<Expr>),
    Case {
        arms: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    /// `CASE operand WHEN …`: the operand is evaluated once.
    CaseOf {
        operand: Box<Expr>,
        arms: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    Comprehension {
        list: Box<Expr>,
        predicate: Option<Box<Expr>>,
        projection: Option<Box<Expr>>,
    },
    Quantified {
        kind: Quantifier,
        list: Box<Expr>,
        predicate: Box<Expr>,
    },
    Reduce {
        initial: Box<Expr>,
        list: Box<Expr>,
        step: Box<Expr>,
    },
    PatternExists(Box<PatternPlan>),
    PatternList {
        pattern: Box<PatternPlan>,
        projection: Box<Expr>,
    },
    Subquery(SubqueryKind, Box<QueryPlan>),
}
