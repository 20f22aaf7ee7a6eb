//! Expressions: literals, operators, functions, comprehensions, patterns inside them.

use std::sync::Arc;

use open_cypher::ast::{
    self, BinaryOperator, ExprKind, IsPredicate, LabelExpression, LabelExpressionKind, LiteralKind,
    MapProjectionItemKind, ParameterName, QuantifiedPredicateKind, SubqueryExpressionKind,
    UnaryOperator,
};

use super::{Aggregates, Compiler, Kind, name_of, query, undefined};
use crate::error::{QueryError, Result};
use crate::parse::function_name;
use crate::plan::{
    Arithmetic, Comparison, Expr, Function, LabelTest, Logic, Quantifier, SubqueryKind, TextTest,
};
use crate::value::Value;

type Entries = Vec<(Arc<str>, Expr)>;

impl Compiler<'_> {
    pub(super) fn expression(&mut self, node: &ast::Expr) -> Result<Expr> {
        match &node.kind {
            ExprKind::Literal(literal) => literal_value(&literal.kind, false),
            ExprKind::Variable(name) => self.variable(name),
            ExprKind::Parameter(parameter) => Ok(Expr::Parameter(match &parameter.name {
                ParameterName::Named(name) | ParameterName::Positional(name) => {
                    name.as_str().into()
                }
                _ => return Err(QueryError::unsupported("this form of a parameter")),
            })),
            ExprKind::Parenthesized(inner) => self.expression(inner),
            ExprKind::List(items) => self.expressions(items).map(Expr::List),
            ExprKind::Map(entries) => self.entries(entries).map(Expr::Map),
            ExprKind::MapProjection(projection) => self.map_projection(projection),
            ExprKind::Unary { operator, operand } => self.unary(operator.kind, operand),
            ExprKind::Binary { left, operator, right } => self.binary(left, operator.kind, right),
            ExprKind::Is { expression, negated, predicate } => {
                self.is(expression, *negated, predicate)
            }
            ExprKind::Property { expression, key } => self.property(expression, key),
            ExprKind::Index { expression, index } => {
                let (of, index) = (self.boxed(expression)?, self.boxed(index)?);
                Ok(Expr::Index(of, index))
            }
            ExprKind::Slice { expression, lower, upper } => {
                let of = self.boxed(expression)?;
                Ok(Expr::Slice(of, self.maybe(lower.as_deref())?, self.maybe(upper.as_deref())?))
            }
            ExprKind::Function(call) => self.call(call),
            ExprKind::Case(case) => self.case(case),
            ExprKind::ListComprehension(comprehension) => self.comprehension(comprehension),
            ExprKind::QuantifiedPredicate(quantified) => self.quantified(quantified),
            ExprKind::Reduce(reduce) => self.reduce(reduce),
            ExprKind::Pattern(pattern) => self.pattern_exists(pattern),
            ExprKind::PatternComprehension(comprehension) => self.pattern_list(comprehension),
            ExprKind::Subquery(subquery) => self.subquery(subquery),
            ExprKind::Wildcard => Err(QueryError::unsupported("* in this place")),
            _ => Err(QueryError::unsupported("this expression")),
        }
    }

    fn boxed(&mut self, node: &ast::Expr) -> Result<Box<Expr>> {
        self.expression(node).map(Box::new)
    }

    fn maybe(&mut self, node: Option<&ast::Expr>) -> Result<Option<Box<Expr>>> {
        node.map(|node| self.boxed(node)).transpose()
    }

    fn expressions(&mut self, nodes: &[ast::Expr]) -> Result<Vec<Expr>> {
        nodes.iter().map(|node| self.expression(node)).collect()
    }

    pub(super) fn entries(&mut self, entries: &[ast::MapEntry]) -> Result<Entries> {
        let entries = entries.iter();
        entries.map(|entry| Ok((name_of(&entry.key), self.expression(&entry.value)?))).collect()
    }

    fn variable(&self, name: &ast::Name) -> Result<Expr> {
        let found = self.scope.find(&name.kind.text);
        found.map(Expr::Slot).ok_or_else(|| undefined(&name.kind.text))
    }

    fn property(&mut self, of: &ast::Expr, key: &ast::Name) -> Result<Expr> {
        let of = self.boxed(of)?;
        let key = name_of(key);
        let allowed = [Kind::Node, Kind::Relationship, Kind::Map];
        self.expect(&format!(".{key}"), &of, &allowed)?;
        Ok(Expr::Property(of, key))
    }

    fn unary(&mut self, operator: UnaryOperator, operand: &ast::Expr) -> Result<Expr> {
        if operator == UnaryOperator::Minus
            && let ExprKind::Literal(literal) = &operand.kind
            && matches!(literal.kind, LiteralKind::Integer(_) | LiteralKind::Float(_))
        {
            return literal_value(&literal.kind, true);
        }
        let compiled = self.boxed(operand)?;
        match operator {
            UnaryOperator::Not => {
                self.expect("NOT", &compiled, &[Kind::Bool])?;
                Ok(Expr::Not(compiled))
            }
            UnaryOperator::Minus => {
                self.expect("-", &compiled, &[Kind::Int, Kind::Float])?;
                Ok(Expr::Negate(compiled))
            }
            UnaryOperator::Plus => {
                self.expect("+", &compiled, &[Kind::Int, Kind::Float])?;
                Ok(*compiled)
            }
            _ => Err(QueryError::unsupported("this operator")),
        }
    }

    fn binary(
        &mut self,
        left: &ast::Expr,
        operator: BinaryOperator,
        right: &ast::Expr,
    ) -> Result<Expr> {
        if let Some(comparison) = comparison(operator) {
            return self.chain(left, comparison, right);
        }
        let (a, b) = (self.boxed(left)?, self.boxed(right)?);
        Ok(match operator {
            BinaryOperator::And => self.logic("AND", Logic::And, a, b)?,
            BinaryOperator::Or => self.logic("OR", Logic::Or, a, b)?,
            BinaryOperator::Xor => self.logic("XOR", Logic::Xor, a, b)?,
            BinaryOperator::In => {
                self.expect("IN", &b, &[Kind::List, Kind::Relationships])?;
                Expr::In(a, b)
            }
            BinaryOperator::StartsWith => Expr::TextTest(TextTest::StartsWith, a, b),
            BinaryOperator::EndsWith => Expr::TextTest(TextTest::EndsWith, a, b),
            BinaryOperator::Contains => Expr::TextTest(TextTest::Contains, a, b),
            BinaryOperator::Add => Expr::Arithmetic(Arithmetic::Add, a, b),
            BinaryOperator::Subtract => Expr::Arithmetic(Arithmetic::Subtract, a, b),
            BinaryOperator::Multiply => Expr::Arithmetic(Arithmetic::Multiply, a, b),
            BinaryOperator::Divide => Expr::Arithmetic(Arithmetic::Divide, a, b),
            BinaryOperator::Remainder => Expr::Arithmetic(Arithmetic::Remainder, a, b),
            BinaryOperator::Power => Expr::Arithmetic(Arithmetic::Power, a, b),
            BinaryOperator::RegexMatch => return Err(QueryError::unsupported("=~")),
            BinaryOperator::Concat => return Err(QueryError::unsupported("||")),
            _ => return Err(QueryError::unsupported("this operator")),
        })
    }

    fn logic(&self, name: &str, logic: Logic, a: Box<Expr>, b: Box<Expr>) -> Result<Expr> {
        self.expect(name, &a, &[Kind::Bool])?;
        self.expect(name, &b, &[Kind::Bool])?;
        Ok(Expr::Logic(logic, a, b))
    }

    /// `a < b < c` is `a < b AND b < c`.
    fn chain(&mut self, left: &ast::Expr, by: Comparison, right: &ast::Expr) -> Result<Expr> {
        if let ExprKind::Binary { operator, right: middle, .. } = &left.kind
            && comparison(operator.kind).is_some()
        {
            let before = self.boxed(left)?;
            let after = Expr::Compare(by, self.boxed(middle)?, self.boxed(right)?);
            return Ok(Expr::Logic(Logic::And, before, Box::new(after)));
        }
        Ok(Expr::Compare(by, self.boxed(left)?, self.boxed(right)?))
    }

    fn is(&mut self, of: &ast::Expr, negated: bool, predicate: &IsPredicate) -> Result<Expr> {
        let of = self.boxed(of)?;
        let test = match predicate {
            IsPredicate::Null => Expr::IsNull(of),
            IsPredicate::Label(labels) => {
                self.expect("a label", &of, &[Kind::Node, Kind::Relationship])?;
                Expr::HasLabels(of, label_test(labels)?)
            }
            IsPredicate::Typed(_) => return Err(QueryError::unsupported("IS TYPED")),
            _ => return Err(QueryError::unsupported("this form of IS")),
        };
        Ok(if negated { Expr::Not(Box::new(test)) } else { test })
    }

    fn map_projection(&mut self, projection: &ast::MapProjection) -> Result<Expr> {
        let base = self.expression(&projection.base)?;
        let (mut entries, mut all) = (Vec::new(), false);
        for item in &projection.items {
            entries.push(match &item.kind {
                MapProjectionItemKind::AllProperties => {
                    all = true;
                    continue;
                }
                MapProjectionItemKind::Property(key) => {
                    let key = name_of(key);
                    (Arc::clone(&key), Expr::Property(Box::new(base.clone()), key))
                }
                MapProjectionItemKind::Variable(name) => (name_of(name), self.variable(name)?),
                MapProjectionItemKind::Entry(entry) => {
                    (name_of(&entry.key), self.expression(&entry.value)?)
                }
                _ => return Err(QueryError::unsupported("this map projection")),
            });
        }
        // a projection of null is null, with or without its properties
        let base = if all { base } else { only_null(base) };
        Ok(Expr::MapOver(Box::new(base), entries))
    }

    fn call(&mut self, call: &ast::FunctionInvocation) -> Result<Expr> {
        if let Some(aggregate) = self.aggregate(call)? {
            return Ok(aggregate);
        }
        let name: Vec<_> =
            call.name.parts.iter().map(|part| function_name(&part.kind.text)).collect();
        let name = name.join(".");
        let Some((function, fewest, most)) = Function::named(&name) else {
            let message = format!("function {name}() is not known to this engine");
            return Err(QueryError::invalid("UnknownFunction", message));
        };
        if call.quantifier.is_some() {
            return Err(QueryError::unsupported(format!("DISTINCT in {name}()")));
        }
        if function == Function::Exists
            && let [ast::Node { kind: ExprKind::Pattern(pattern), .. }] = call.arguments.as_slice()
        {
            return self.pattern_exists(pattern);
        }
        if !(fewest..=most).contains(&call.arguments.len()) {
            let given = call.arguments.len();
            let message = format!("{name}() takes {fewest} to {most} arguments, not {given}");
            return Err(QueryError::invalid("InvalidNumberOfArguments", message));
        }
        call.arguments.iter().try_for_each(no_pattern)?;
        let compiled = Expr::Call(function, self.expressions(&call.arguments)?);
        self.expect_arguments(&name, &compiled)?;
        Ok(compiled)
    }

    fn case(&mut self, case: &ast::CaseExpression) -> Result<Expr> {
        let operand = self.maybe(case.operand.as_deref())?;
        let mut arms = Vec::new();
        for alternative in &case.alternatives {
            for when in &alternative.when {
                arms.push((self.expression(when)?, self.expression(&alternative.then)?));
            }
        }
        let otherwise = self.maybe(case.else_expression.as_deref())?;
        Ok(match operand {
            Some(operand) => Expr::CaseOf { operand, arms, otherwise },
            None => Expr::Case { arms, otherwise },
        })
    }

    /// Compiles something that sees one more variable.
    fn with_local<T>(
        &mut self,
        name: &ast::Name,
        kind: Kind,
        body: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let width = self.scope.width();
        self.scope.push(Some(name_of(name)), kind);
        let done = body(self);
        self.scope.cut(width);
        done
    }

    /// Returns the type of a list's elements, as far as it is known.
    fn element(list: &Expr) -> Kind {
        match list {
            Expr::Call(Function::Nodes, _) => Kind::Node,
            Expr::Call(Function::Relationships, _) => Kind::Relationship,
            Expr::Call(Function::Range, _) => Kind::Int,
            _ => Kind::Any,
        }
    }

    fn comprehension(&mut self, node: &ast::ListComprehension) -> Result<Expr> {
        let list = self.list(&node.list)?;
        self.with_local(&node.variable, Self::element(&list), |own| {
            let predicate = own.maybe(node.predicate.as_deref())?;
            let projection = own.without_aggregates(|own| own.maybe(node.projection.as_deref()))?;
            Ok(Expr::Comprehension { list, predicate, projection })
        })
    }

    /// An aggregate over the local variable of a comprehension means nothing.
    fn without_aggregates<T>(&mut self, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let kept = std::mem::replace(&mut self.aggregates, Aggregates::Forbidden);
        let done = body(self);
        self.aggregates = kept;
        done
    }

    fn list(&mut self, node: &ast::Expr) -> Result<Box<Expr>> {
        let list = self.boxed(node)?;
        self.expect("a list operation", &list, &[Kind::List, Kind::Relationships])?;
        Ok(list)
    }

    fn quantified(&mut self, node: &ast::QuantifiedPredicate) -> Result<Expr> {
        let kind = match node.kind.kind {
            QuantifiedPredicateKind::All => Quantifier::All,
            QuantifiedPredicateKind::Any => Quantifier::Any,
            QuantifiedPredicateKind::None => Quantifier::None,
            QuantifiedPredicateKind::Single => Quantifier::Single,
            _ => return Err(QueryError::unsupported("this quantifier")),
        };
        let list = self.list(&node.list)?;
        let elements = literal_kind(&list).unwrap_or_else(|| Self::element(&list));
        self.with_local(&node.variable, elements, |own| {
            let predicate = own.without_aggregates(|own| own.boxed(&node.predicate))?;
            own.expect("a condition", &predicate, &[Kind::Bool])?;
            Ok(Expr::Quantified { kind, list, predicate })
        })
    }

    fn reduce(&mut self, node: &ast::ReduceExpression) -> Result<Expr> {
        let (initial, list) = (self.boxed(&node.initial)?, self.list(&node.list)?);
        self.with_local(&node.accumulator, Kind::Any, |own| {
            own.with_local(&node.variable, Kind::Any, |own| {
                let step = own.without_aggregates(|own| own.boxed(&node.expression))?;
                Ok(Expr::Reduce { initial, list, step })
            })
        })
    }

    fn pattern_exists(&mut self, pattern: &ast::Pattern) -> Result<Expr> {
        let width = self.scope.width();
        let plan = self.without_aggregates(|own| own.pattern(pattern, None, false));
        self.scope.cut(width);
        Ok(Expr::PatternExists(Box::new(plan?)))
    }

    fn pattern_list(&mut self, node: &ast::PatternComprehension) -> Result<Expr> {
        let width = self.scope.width();
        let mut pattern = node.pattern.clone();
        if let (Some(binding), Some(part)) = (&node.binding, pattern.parts.first_mut()) {
            part.kind.binding.get_or_insert(binding.clone());
        }
        let done = self.without_aggregates(|own| {
            let plan = own.pattern(&pattern, node.predicate.as_deref(), true)?;
            let projection = own.boxed(&node.projection)?;
            Ok(Expr::PatternList { pattern: Box::new(plan), projection })
        });
        self.scope.cut(width);
        done
    }

    fn subquery(&mut self, node: &ast::SubqueryExpression) -> Result<Expr> {
        let kind = match node.kind.kind {
            SubqueryExpressionKind::Exists => SubqueryKind::Exists,
            SubqueryExpressionKind::Count => SubqueryKind::Count,
            SubqueryExpressionKind::Collect => SubqueryKind::Collect,
            _ => return Err(QueryError::unsupported("this subquery")),
        };
        let plan = query::subquery(self.text, &node.query, &self.scope)?;
        if kind == SubqueryKind::Collect && plan.columns.len() != 1 {
            let message = "COLLECT { } has to return one column";
            return Err(QueryError::invalid("InvalidClauseComposition", message));
        }
        Ok(Expr::Subquery(kind, Box::new(plan)))
    }
}

/// Fails for a pattern that stands where a value is wanted: patterns are conditions.
pub(super) fn no_pattern(node: &ast::Expr) -> Result<()> {
    match &node.kind {
        ExprKind::Parenthesized(inner) => no_pattern(inner),
        ExprKind::Pattern(_) => {
            let message = "a pattern is a condition; write [pattern | value] for its matches";
            Err(QueryError::invalid("UnexpectedSyntax", message))
        }
        _ => Ok(()),
    }
}

fn literal_value(literal: &LiteralKind, negative: bool) -> Result<Expr> {
    Ok(Expr::Constant(match literal {
        LiteralKind::Null => Value::Null,
        LiteralKind::Boolean(flag) => Value::Bool(*flag),
        LiteralKind::String(text) => Value::text(text.value.as_str()),
        LiteralKind::Integer(whole) => integer(&whole.text, negative)?,
        LiteralKind::Float(number) => float(&number.text, negative)?,
        _ => return Err(QueryError::unsupported("this literal")),
    }))
}

/// Returns the type of a list of literals, if all are of one type.
fn literal_kind(list: &Expr) -> Option<Kind> {
    let Expr::List(items) = list else { return None };
    let mut kinds = items.iter().map(|item| match item {
        Expr::Constant(Value::Text(_)) => Kind::Text,
        Expr::Constant(Value::Int(_)) => Kind::Int,
        Expr::Constant(Value::Bool(_)) => Kind::Bool,
        _ => Kind::Any,
    });
    let first = kinds.next()?;
    kinds.all(|kind| kind == first).then_some(first)
}

/// An expression that is an empty map, or null where `base` is.
fn only_null(base: Expr) -> Expr {
    let missing = (Expr::IsNull(Box::new(base)), Expr::Constant(Value::Null));
    Expr::Case { arms: vec![missing], otherwise: Some(Box::new(Expr::Map(Vec::new()))) }
}

const fn comparison(operator: BinaryOperator) -> Option<Comparison> {
    Some(match operator {
        BinaryOperator::Equal => Comparison::Equal,
        BinaryOperator::NotEqual => Comparison::NotEqual,
        BinaryOperator::Less => Comparison::Less,
        BinaryOperator::LessEqual => Comparison::LessEqual,
        BinaryOperator::Greater => Comparison::Greater,
        BinaryOperator::GreaterEqual => Comparison::GreaterEqual,
        _ => return None,
    })
}

fn integer(text: &str, negative: bool) -> Result<Value> {
    let plain = text.replace('_', "").to_ascii_lowercase();
    let magnitude = match plain.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16),
        None => match plain.strip_prefix("0o") {
            Some(digits) => i128::from_str_radix(digits, 8),
            None => plain.parse(),
        },
    };
    let signed = magnitude.map(|whole| if negative { -whole } else { whole });
    signed.ok().and_then(|whole| i64::try_from(whole).ok()).map(Value::Int).ok_or_else(|| {
        QueryError::invalid("IntegerOverflow", format!("{text} does not fit into 64 bits"))
    })
}

fn float(text: &str, negative: bool) -> Result<Value> {
    let plain = text.replace('_', "");
    let number = plain.trim_end_matches(['f', 'F', 'd', 'D']).parse::<f64>();
    let number = number.ok().filter(|number| number.is_finite()).ok_or_else(|| {
        QueryError::invalid("FloatingPointOverflow", format!("{text} does not fit into 64 bits"))
    })?;
    Ok(Value::Float(if negative { -number } else { number }))
}

pub(super) fn label_test(labels: &LabelExpression) -> Result<LabelTest> {
    let all = |labels: &[LabelExpression]| labels.iter().map(label_test).collect::<Result<_>>();
    Ok(match &labels.kind {
        LabelExpressionKind::Name(name) => LabelTest::Name(name_of(name)),
        LabelExpressionKind::Wildcard => LabelTest::Any,
        LabelExpressionKind::Not(inner) => LabelTest::Not(Box::new(label_test(inner)?)),
        LabelExpressionKind::And(parts) => LabelTest::And(all(parts)?),
        LabelExpressionKind::Or(parts) => LabelTest::Or(all(parts)?),
        LabelExpressionKind::Parenthesized(inner) => label_test(inner)?,
        _ => return Err(QueryError::unsupported("this label expression")),
    })
}
