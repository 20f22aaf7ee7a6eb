//! Patterns: their variables, and what they ask of nodes and relationships.

use std::sync::Arc;

use open_cypher::ast::{
    self, ExprKind, NodePattern, PathFactorKind, PathPatternKind, QuantifierKind,
    RelationshipDirection, RelationshipPattern,
};

use super::expression::label_test;
use super::planner::{Chain, Hop, Planner};
use super::{Aggregates, Compiler, Kind, name_of, undefined};
use crate::error::{QueryError, Result};
use crate::plan::{Comparison, Expr, LabelTest, Logic, PatternPlan};
use crate::source::Direction;

/// One pattern as it was read, before its steps are planned.
struct PatternReading {
    /// Width of the scope before the pattern: the slots below are bound by earlier clauses.
    outer: usize,
    /// Whether the pattern may name new variables.
    names: bool,
    chains: Vec<Chain>,
    conditions: Vec<Expr>,
    /// Properties in patterns, compiled when every variable of the pattern is known.
    properties: Vec<(PatternPlace, ast::Expr)>,
}

/// The owner of a pattern's properties: a slot, or every relationship of a hop.
#[derive(Clone, Copy)]
enum PatternPlace {
    Slot(usize),
    Hop { chain: usize, hop: usize },
}

impl Compiler<'_> {
    /// Declares the variables of a pattern and plans its steps, with a condition over its rows.
    pub(super) fn pattern(
        &mut self,
        pattern: &ast::Pattern,
        condition: Option<&ast::Expr>,
        names: bool,
    ) -> Result<PatternPlan> {
        let kept = std::mem::replace(&mut self.aggregates, Aggregates::Forbidden);
        let outer = self.scope.width();
        let mut reading = PatternReading {
            outer,
            names,
            chains: Vec::new(),
            conditions: Vec::new(),
            properties: Vec::new(),
        };
        for part in &pattern.parts {
            self.part(&mut reading, &part.kind)?;
        }
        self.properties(&mut reading)?;
        if let Some(condition) = condition {
            let condition = self.expression(condition)?;
            self.expect("WHERE", &condition, &[Kind::Bool])?;
            conjuncts(condition, &mut reading.conditions);
        }
        self.aggregates = kept;
        let width = self.scope.width();
        Ok(Planner::new(outer, width, reading.conditions).plan(reading.chains))
    }

    fn part(&mut self, reading: &mut PatternReading, part: &ast::PatternPartKind) -> Result<()> {
        let mut chain = Chain::default();
        reading.chains.push(Chain::default());
        self.factors(reading, &mut chain, &part.path.kind)?;
        if let Some(binding) = &part.binding {
            let name = name_of(binding);
            if self.scope.find(&name).is_some() {
                let message = format!("path variable `{name}` is bound already");
                return Err(QueryError::invalid("VariableAlreadyBound", message));
            }
            may_name(reading, &name)?;
            chain.path = Some(self.scope.push(Some(name), Kind::Path));
        }
        if let Some(last) = reading.chains.last_mut() {
            *last = chain;
        }
        Ok(())
    }

    fn factors(
        &mut self,
        reading: &mut PatternReading,
        chain: &mut Chain,
        path: &PathPatternKind,
    ) -> Result<()> {
        for factor in &path.factors {
            match &factor.kind {
                PathFactorKind::Node(node) => {
                    let slot = self.node(reading, node)?;
                    chain.nodes.push(slot);
                }
                PathFactorKind::Relationship(relationship) => {
                    let hop = self.relationship(reading, chain.hops.len(), relationship)?;
                    chain.hops.push(hop);
                }
                PathFactorKind::Parenthesized { pattern, .. } => {
                    self.factors(reading, chain, &pattern.kind)?;
                }
                _ => return Err(QueryError::unsupported("this path pattern")),
            }
        }
        if chain.nodes.len() == chain.hops.len() + 1 {
            return Ok(());
        }
        Err(QueryError::unsupported(
            "a path pattern whose nodes and relationships do not alternate",
        ))
    }

    fn node(&mut self, reading: &mut PatternReading, node: &NodePattern) -> Result<usize> {
        let name = node.variable.as_ref().map(name_of);
        let known = name.as_ref().and_then(|name| self.scope.find(name));
        let slot = if let (Some(slot), Some(name)) = (known, &name) {
            self.same_kind(slot, name, Kind::Node)?;
            slot
        } else {
            if let Some(name) = &name {
                may_name(reading, name)?;
            }
            self.scope.push(name, Kind::Node)
        };
        if let Some(labels) = &node.labels {
            let test = label_test(labels)?;
            reading.conditions.push(Expr::HasLabels(Box::new(Expr::Slot(slot)), test));
        }
        if let Some(properties) = &node.properties {
            reading.properties.push((PatternPlace::Slot(slot), (**properties).clone()));
        }
        if node.where_clause.is_some() {
            return Err(QueryError::unsupported("WHERE inside a node pattern"));
        }
        Ok(slot)
    }

    fn same_kind(&self, slot: usize, name: &str, wanted: Kind) -> Result<()> {
        if self.scope.kind(slot).fits(wanted) {
            return Ok(());
        }
        let message = format!("variable `{name}` stands for something else already");
        Err(QueryError::invalid("VariableTypeConflict", message))
    }

    fn relationship(
        &mut self,
        reading: &mut PatternReading,
        index: usize,
        pattern: &RelationshipPattern,
    ) -> Result<Hop> {
        let length = pattern.legacy_quantifier.as_ref().map(|q| length(&q.kind)).transpose()?;
        let kind = if length.is_some() { Kind::Relationships } else { Kind::Relationship };
        let name = pattern.variable.as_ref().map(name_of);
        let known = name.as_ref().and_then(|name| self.scope.find(name));
        let slot = if let (Some(slot), Some(name)) = (known, &name) {
            self.same_kind(slot, name, kind)?;
            if slot >= reading.outer {
                let message = format!("relationship `{name}` stands twice in one pattern");
                return Err(QueryError::invalid("RelationshipUniquenessViolation", message));
            }
            slot
        } else {
            if let Some(name) = &name {
                may_name(reading, name)?;
            }
            self.scope.push(name, kind)
        };
        let mut hop = Hop {
            slot,
            direction: direction(pattern.direction.kind)?,
            kinds: Vec::new(),
            length,
            test: Vec::new(),
        };
        if let Some(labels) = &pattern.labels {
            let test = label_test(labels)?;
            match kinds(&test) {
                Some(kinds) => hop.kinds = kinds,
                None if length.is_some() => {
                    return Err(QueryError::unsupported("this type expression on a long path"));
                }
                None => {
                    reading.conditions.push(Expr::HasLabels(Box::new(Expr::Slot(slot)), test));
                }
            }
        }
        if let Some(properties) = &pattern.properties {
            let chain = reading.chains.len() - 1;
            let long = PatternPlace::Hop { chain, hop: index };
            let place = if length.is_some() { long } else { PatternPlace::Slot(slot) };
            reading.properties.push((place, (**properties).clone()));
        }
        if pattern.where_clause.is_some() {
            return Err(QueryError::unsupported("WHERE inside a relationship pattern"));
        }
        Ok(hop)
    }

    /// `(n {k: v})` is `n.k = v`; on a path of variable length it holds for each relationship.
    fn properties(&mut self, reading: &mut PatternReading) -> Result<()> {
        for (place, properties) in std::mem::take(&mut reading.properties) {
            let ExprKind::Map(entries) = &properties.kind else {
                let message = "properties of a pattern have to be written as a map";
                return Err(QueryError::invalid("InvalidParameterUse", message));
            };
            let entries = self.entries(entries)?;
            match place {
                PatternPlace::Slot(slot) => {
                    reading.conditions.extend(entries.into_iter().map(|(key, value)| {
                        let own = Expr::Property(Box::new(Expr::Slot(slot)), key);
                        Expr::Compare(Comparison::Equal, Box::new(own), Box::new(value))
                    }));
                }
                PatternPlace::Hop { chain, hop } => reading.chains[chain].hops[hop].test = entries,
            }
        }
        Ok(())
    }
}

fn may_name(reading: &PatternReading, name: &str) -> Result<()> {
    if reading.names { Ok(()) } else { Err(undefined(name)) }
}

/// The types of a type expression that is one name or an alternative of names.
fn kinds(test: &LabelTest) -> Option<Vec<Arc<str>>> {
    match test {
        LabelTest::Name(name) => Some(vec![Arc::clone(name)]),
        LabelTest::Or(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(kinds(part)?);
            }
            Some(all)
        }
        LabelTest::Any | LabelTest::Not(_) | LabelTest::And(_) => None,
    }
}

fn direction(direction: RelationshipDirection) -> Result<Direction> {
    Ok(match direction {
        RelationshipDirection::Left => Direction::In,
        RelationshipDirection::Right => Direction::Out,
        RelationshipDirection::Undirected | RelationshipDirection::Both => Direction::Either,
        _ => return Err(QueryError::unsupported("this direction of a relationship")),
    })
}

fn length(quantifier: &QuantifierKind) -> Result<(usize, Option<usize>)> {
    let bound = |text: &str| {
        text.parse::<usize>().map_err(|_| {
            QueryError::invalid("InvalidRelationshipPattern", format!("length {text} of a path"))
        })
    };
    Ok(match quantifier {
        QuantifierKind::ZeroOrMore | QuantifierKind::OneOrMore => (1, None),
        QuantifierKind::Optional => (0, Some(1)),
        QuantifierKind::Fixed(count) => (bound(count)?, Some(bound(count)?)),
        QuantifierKind::Range { lower, upper } => {
            let lower = lower.as_deref().map_or(Ok(1), bound)?;
            (lower, upper.as_deref().map(bound).transpose()?)
        }
        _ => return Err(QueryError::unsupported("this length of a path")),
    })
}

/// Splits a condition at its `AND`s.
fn conjuncts(condition: Expr, into: &mut Vec<Expr>) {
    match condition {
        Expr::Logic(Logic::And, a, b) => {
            conjuncts(*a, into);
            conjuncts(*b, into);
        }
        other => into.push(other),
    }
}
