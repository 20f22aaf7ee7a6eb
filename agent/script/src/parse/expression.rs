//! Expressions, by the precedence of Python.

use std::rc::Rc;

use super::{KEYWORDS, Parser, format};
use crate::error::Outcome;
use crate::syntax::{
    Argument, Body, Clause, Code, Comparison, Constant, Expression, Made, Operator,
};
use crate::token::{Token, syntax, unescaped};

type Read = fn(&mut Parser) -> Outcome<Expression>;

impl Parser {
    /// `a, b` is a tuple.
    pub(super) fn expressions(&mut self) -> Outcome<Expression> {
        let first = self.expression()?;
        if !self.is_sign(",") {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.take_sign(",") {
            if !self.begins_expression() {
                break;
            }
            all.push(self.expression()?);
        }
        Ok(Expression::Tuple(all))
    }

    fn begins_expression(&self) -> bool {
        match self.peek() {
            Token::Int(_) | Token::Float(_) | Token::Text(_) | Token::Format(..) => true,
            Token::Sign(sign) => matches!(*sign, "(" | "[" | "{" | "-" | "+" | "~"),
            Token::Name(name) => {
                !KEYWORDS.contains(&name.as_str())
                    || matches!(name.as_str(), "None" | "True" | "False" | "not" | "lambda")
            }
            Token::Newline | Token::Indent | Token::Dedent | Token::End => false,
        }
    }

    pub(super) fn expression(&mut self) -> Outcome<Expression> {
        self.deeper()?;
        let expression = self.choice()?;
        self.nesting -= 1;
        Ok(expression)
    }

    fn choice(&mut self) -> Outcome<Expression> {
        if self.take_word("lambda") {
            let parameters = self.parameters(":")?;
            let body = Body::Expression(self.expression()?);
            let code = Code { name: Rc::from("<lambda>"), parameters, body };
            return Ok(Expression::Lambda(Rc::new(code)));
        }
        let then = self.either()?;
        if !self.take_word("if") {
            return Ok(then);
        }
        let condition = Box::new(self.either()?);
        if !self.take_word("else") {
            return self.wrong("else");
        }
        let otherwise = Box::new(self.expression()?);
        Ok(Expression::Choice { condition, then: Box::new(then), otherwise })
    }

    fn either(&mut self) -> Outcome<Expression> {
        let (mut left, mut links) = (self.both()?, 0);
        while self.take_word("or") {
            self.chained(&mut links)?;
            left = Expression::Or(Box::new(left), Box::new(self.both()?));
        }
        Ok(left)
    }

    fn both(&mut self) -> Outcome<Expression> {
        let (mut left, mut links) = (self.negation()?, 0);
        while self.take_word("and") {
            self.chained(&mut links)?;
            left = Expression::And(Box::new(left), Box::new(self.negation()?));
        }
        Ok(left)
    }

    fn negation(&mut self) -> Outcome<Expression> {
        if self.take_word("not") {
            self.deeper()?;
            let inner = self.negation()?;
            self.nesting -= 1;
            return Ok(Expression::Not(Box::new(inner)));
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Outcome<Expression> {
        let first = self.alternatives()?;
        let (mut all, mut links) = (Vec::new(), 0);
        while let Some(comparison) = self.take_comparison() {
            self.chained(&mut links)?;
            all.push((comparison, self.alternatives()?));
        }
        Ok(if all.is_empty() { first } else { Expression::Compare(Box::new(first), all) })
    }

    fn take_comparison(&mut self) -> Option<Comparison> {
        for (sign, comparison) in [
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
            ("<", Comparison::Less),
            ("<=", Comparison::LessOrEqual),
            (">", Comparison::Greater),
            (">=", Comparison::GreaterOrEqual),
        ] {
            if self.take_sign(sign) {
                return Some(comparison);
            }
        }
        if self.take_word("in") {
            return Some(Comparison::In);
        }
        if self.take_word("is") {
            return Some(if self.take_word("not") { Comparison::IsNot } else { Comparison::Is });
        }
        let is_not_in = self.is_word("not")
            && matches!(self.tokens.get(self.at + 1), Some((Token::Name(word), _)) if word == "in");
        if is_not_in {
            self.at += 2;
            return Some(Comparison::NotIn);
        }
        None
    }

    fn alternatives(&mut self) -> Outcome<Expression> {
        let signs = [("|", Operator::Or), ("&", Operator::And)];
        self.chain(&signs, Self::sum)
    }

    fn sum(&mut self) -> Outcome<Expression> {
        self.chain(&[("+", Operator::Add), ("-", Operator::Subtract)], Self::product)
    }

    fn product(&mut self) -> Outcome<Expression> {
        let signs = [
            ("*", Operator::Multiply),
            ("/", Operator::Divide),
            ("//", Operator::FloorDivide),
            ("%", Operator::Remainder),
        ];
        self.chain(&signs, Self::sign_before)
    }

    fn chain(&mut self, signs: &[(&str, Operator)], of: Read) -> Outcome<Expression> {
        let (mut left, mut links) = (of(self)?, 0);
        while let Some((_, operator)) = signs.iter().find(|(sign, _)| self.is_sign(sign)) {
            self.at += 1;
            self.chained(&mut links)?;
            left = Expression::Binary(*operator, Box::new(left), Box::new(of(self)?));
        }
        Ok(left)
    }

    fn sign_before(&mut self) -> Outcome<Expression> {
        let is_minus = self.is_sign("-");
        if is_minus || self.is_sign("+") {
            self.at += 1;
            self.deeper()?;
            let inner = self.sign_before()?;
            self.nesting -= 1;
            return Ok(if is_minus { Expression::Negative(Box::new(inner)) } else { inner });
        }
        let base = self.postfix()?;
        if self.take_sign("**") {
            self.deeper()?;
            let exponent = Box::new(self.sign_before()?);
            self.nesting -= 1;
            return Ok(Expression::Binary(Operator::Power, Box::new(base), exponent));
        }
        Ok(base)
    }

    pub(super) fn postfix(&mut self) -> Outcome<Expression> {
        let (mut of, mut links) = (self.atom()?, 0);
        loop {
            if self.take_sign("(") {
                of = Expression::Call(Box::new(of), self.arguments()?);
            } else if self.take_sign("[") {
                of = self.item(of)?;
            } else if self.take_sign(".") {
                of = Expression::Attribute(Box::new(of), self.name()?);
            } else {
                return Ok(of);
            }
            self.chained(&mut links)?;
        }
    }

    fn arguments(&mut self) -> Outcome<Vec<Argument>> {
        let mut arguments = Vec::new();
        while !self.take_sign(")") {
            let is_named = matches!(self.peek(), Token::Name(_))
                && matches!(self.tokens.get(self.at + 1), Some((Token::Sign("="), _)));
            arguments.push(if is_named {
                let name = self.name()?;
                self.at += 1;
                Argument::Named(name, self.expression()?)
            } else if self.take_sign("**") {
                Argument::Names(self.expression()?)
            } else if self.take_sign("*") {
                Argument::Each(self.expression()?)
            } else {
                let value = self.expression()?;
                if self.is_word("for") {
                    let clauses = self.clauses()?;
                    let made = Box::new(Made::List(value));
                    Argument::Positional(Expression::Comprehension(made, clauses))
                } else {
                    Argument::Positional(value)
                }
            });
            if !self.take_sign(",") {
                self.sign(")")?;
                break;
            }
        }
        Ok(arguments)
    }

    fn item(&mut self, of: Expression) -> Outcome<Expression> {
        let mut parts: [Option<Expression>; 3] = [None, None, None];
        let mut is_slice = false;
        for part in &mut parts {
            if !self.is_sign(":") && !self.is_sign("]") {
                *part = Some(self.expressions()?);
            }
            if !self.take_sign(":") {
                break;
            }
            is_slice = true;
        }
        self.sign("]")?;
        if is_slice {
            return Ok(Expression::Slice(Box::new(of), Box::new(parts)));
        }
        let [index, _, _] = parts;
        match index {
            Some(index) => Ok(Expression::Item(Box::new(of), Box::new(index))),
            None => self.wrong("an index"),
        }
    }

    fn atom(&mut self) -> Outcome<Expression> {
        let line = self.line();
        match self.next() {
            Token::Int(number) => Ok(Expression::Constant(Constant::Int(number))),
            Token::Float(number) => Ok(Expression::Constant(Constant::Float(number))),
            Token::Text(text) => self.texts(vec![(text, None)]),
            Token::Format(inside, is_raw) => self.texts(vec![(inside, Some(is_raw))]),
            Token::Name(name) => match name.as_str() {
                "None" => Ok(Expression::Constant(Constant::None)),
                "True" => Ok(Expression::Constant(Constant::Bool(true))),
                "False" => Ok(Expression::Constant(Constant::Bool(false))),
                word if KEYWORDS.contains(&word) => {
                    syntax(line, format!("{word} is out of place or not in this dialect"))
                }
                word => Ok(Expression::Name(Rc::from(word))),
            },
            Token::Sign("(") => self.bracket(),
            Token::Sign("[") => self.list(),
            Token::Sign("{") => self.braces(),
            Token::Sign(_) | Token::Newline | Token::Indent | Token::Dedent | Token::End => {
                self.at -= 1;
                self.wrong("an expression")
            }
        }
    }

    /// Texts that stand side by side are one text.
    fn texts(&mut self, mut all: Vec<(String, Option<bool>)>) -> Outcome<Expression> {
        loop {
            match self.peek().clone() {
                Token::Text(text) => all.push((text, None)),
                Token::Format(inside, is_raw) => all.push((inside, Some(is_raw))),
                _ => break,
            }
            self.at += 1;
        }
        if all.iter().all(|(_, format)| format.is_none()) {
            let text: String = all.into_iter().map(|(text, _)| text).collect();
            return Ok(Expression::Constant(Constant::Text(Rc::from(text))));
        }
        let (line, mut pieces) = (self.line(), Vec::new());
        for (text, is_format) in all {
            match is_format {
                None => pieces.push(crate::syntax::Piece::Text(Rc::from(text))),
                Some(is_raw) => {
                    let read = if is_raw { str::to_owned } else { unescaped };
                    pieces.extend(format::pieces(&text, read, line, self.nesting)?);
                }
            }
        }
        Ok(Expression::Format(pieces))
    }

    fn bracket(&mut self) -> Outcome<Expression> {
        if self.take_sign(")") {
            return Ok(Expression::Tuple(Vec::new()));
        }
        let inner = self.expressions()?;
        let inner = if self.is_word("for") {
            Expression::Comprehension(Box::new(Made::List(inner)), self.clauses()?)
        } else {
            inner
        };
        self.sign(")")?;
        Ok(inner)
    }

    fn list(&mut self) -> Outcome<Expression> {
        if self.take_sign("]") {
            return Ok(Expression::List(Vec::new()));
        }
        let first = self.expression()?;
        if self.is_word("for") {
            let clauses = self.clauses()?;
            self.sign("]")?;
            return Ok(Expression::Comprehension(Box::new(Made::List(first)), clauses));
        }
        Ok(Expression::List(self.rest(first, "]")?))
    }

    /// The rest of a list up to a sign, which is taken.
    fn rest(&mut self, first: Expression, end: &str) -> Outcome<Vec<Expression>> {
        let mut all = vec![first];
        while !self.take_sign(end) {
            self.sign(",")?;
            if !self.is_sign(end) {
                all.push(self.expression()?);
            }
        }
        Ok(all)
    }

    fn braces(&mut self) -> Outcome<Expression> {
        if self.take_sign("}") {
            return Ok(Expression::Dict(Vec::new()));
        }
        if self.is_sign("**") {
            return self.dictionary(Vec::new());
        }
        let first = self.expression()?;
        if !self.take_sign(":") {
            if self.is_word("for") {
                let clauses = self.clauses()?;
                self.sign("}")?;
                return Ok(Expression::Comprehension(Box::new(Made::Set(first)), clauses));
            }
            return Ok(Expression::Set(self.rest(first, "}")?));
        }
        let value = self.expression()?;
        if self.is_word("for") {
            let clauses = self.clauses()?;
            self.sign("}")?;
            return Ok(Expression::Comprehension(Box::new(Made::Dict(first, value)), clauses));
        }
        let all = vec![(Some(first), value)];
        if !self.is_sign("}") {
            self.sign(",")?;
        }
        self.dictionary(all)
    }

    fn dictionary(
        &mut self,
        mut all: Vec<(Option<Expression>, Expression)>,
    ) -> Outcome<Expression> {
        while !self.take_sign("}") {
            if self.take_sign("**") {
                all.push((None, self.expression()?));
            } else {
                let key = self.expression()?;
                self.sign(":")?;
                all.push((Some(key), self.expression()?));
            }
            if !self.is_sign("}") {
                self.sign(",")?;
            }
        }
        Ok(Expression::Dict(all))
    }

    /// `for a in b if c …`
    fn clauses(&mut self) -> Outcome<Vec<Clause>> {
        let (mut clauses, mut links) = (Vec::new(), 0);
        while self.take_word("for") {
            self.chained(&mut links)?;
            let target = self.targets()?;
            if !self.take_word("in") {
                return self.wrong("in");
            }
            let of = self.either()?;
            let mut conditions = Vec::new();
            while self.take_word("if") {
                self.chained(&mut links)?;
                conditions.push(self.either()?);
            }
            clauses.push(Clause { target, of, conditions });
        }
        Ok(clauses)
    }
}
