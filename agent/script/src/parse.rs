//! Statements out of tokens; [`expression`] does the same for expressions.
//!
//! Invariant: the depth of the tree is bounded ([`MAX_NESTING`], [`MAX_CHAIN`]), so that neither
//! reading nor dropping it can overflow the stack.

use std::rc::Rc;

use crate::error::Outcome;
use crate::syntax::{
    Action, Attempt, Block, Body, Code, Expression, Handler, Operator, Statement, Target,
};
use crate::token::{Token, syntax, tokens};

mod expression;
mod format;

/// Deepest nesting of statements and brackets.
const MAX_NESTING: u32 = 40;
/// Most operators or calls in one chain, such as `a + b + c`.
const MAX_CHAIN: u32 = 100;

/// Words that are no names.
const KEYWORDS: [&str; 33] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
];
/// Words of Python that this dialect does not have.
const ABSENT: [&str; 10] =
    ["assert", "async", "await", "class", "from", "global", "nonlocal", "with", "yield", "match"];

/// Reads a program.
pub(crate) fn program(text: &str) -> Outcome<Block> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, nesting: 0 };
    let mut block = Vec::new();
    while *parser.peek() != Token::End {
        parser.statement(&mut block)?;
    }
    Ok(block)
}

/// Whether a name can be used in a program.
pub(crate) fn is_name(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !KEYWORDS.contains(&word)
}

pub(crate) struct Parser {
    tokens: Vec<(Token, u32)>,
    at: usize,
    nesting: u32,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    fn line(&self) -> u32 {
        let at = self.at.min(self.tokens.len().saturating_sub(1));
        self.tokens.get(at).map_or(1, |(_, line)| *line)
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(found) if *found == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(found) if found == word)
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let is_there = self.is_sign(sign);
        self.at += usize::from(is_there);
        is_there
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_there = self.is_word(word);
        self.at += usize::from(is_there);
        is_there
    }

    fn wrong<T>(&self, expected: &str) -> Outcome<T> {
        let found = match self.peek() {
            Token::Name(name) => format!("{name:?}"),
            Token::Sign(sign) => format!("{sign:?}"),
            Token::Newline => "the end of the line".to_owned(),
            Token::Indent | Token::Dedent => "another indentation".to_owned(),
            Token::End => "the end of the program".to_owned(),
            Token::Int(_) | Token::Float(_) => "a number".to_owned(),
            Token::Text(_) | Token::Format(..) => "a text".to_owned(),
        };
        syntax(self.line(), format!("expected {expected}, found {found}"))
    }

    fn sign(&mut self, sign: &str) -> Outcome<()> {
        if self.take_sign(sign) { Ok(()) } else { self.wrong(&format!("{sign:?}")) }
    }

    fn name(&mut self) -> Outcome<Rc<str>> {
        match self.peek() {
            Token::Name(name) if !KEYWORDS.contains(&name.as_str()) => {
                let name = Rc::from(name.as_str());
                self.at += 1;
                Ok(name)
            }
            _ => self.wrong("a name"),
        }
    }

    /// Goes into a bracket or a block; the caller comes back by `nesting -= 1`.
    fn deeper(&mut self) -> Outcome<()> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return syntax(self.line(), format!("nests deeper than {MAX_NESTING}"));
        }
        Ok(())
    }

    fn chained(&self, links: &mut u32) -> Outcome<()> {
        *links += 1;
        if *links > MAX_CHAIN {
            return syntax(
                self.line(),
                format!("more than {MAX_CHAIN} operators in one expression"),
            );
        }
        Ok(())
    }

    fn statement(&mut self, block: &mut Block) -> Outcome<()> {
        let line = self.line();
        if matches!(self.peek(), Token::Indent) {
            return syntax(line, "unexpected indentation");
        }
        let word = match self.peek() {
            Token::Name(name) => name.clone(),
            _ => String::new(),
        };
        let what = match word.as_str() {
            "if" => self.conditional()?,
            "while" => {
                self.at += 1;
                let condition = self.expression()?;
                Action::While(condition, self.block()?)
            }
            "for" => self.repetition()?,
            "def" => self.definition()?,
            "try" => self.attempt()?,
            _ => return self.simple_line(block),
        };
        block.push(Statement { line, what });
        Ok(())
    }

    /// Simple statements up to the end of the line.
    fn simple_line(&mut self, block: &mut Block) -> Outcome<()> {
        loop {
            let line = self.line();
            let what = self.simple()?;
            block.push(Statement { line, what });
            if !self.take_sign(";") {
                break;
            }
            if matches!(self.peek(), Token::Newline | Token::End) {
                break;
            }
        }
        match self.peek() {
            Token::Newline => {
                self.at += 1;
                Ok(())
            }
            Token::End => Ok(()),
            _ => self.wrong("the end of the line"),
        }
    }

    fn simple(&mut self) -> Outcome<Action> {
        let word = match self.peek() {
            Token::Name(name) => name.clone(),
            _ => return self.assignment(),
        };
        match word.as_str() {
            "pass" => {
                self.at += 1;
                Ok(Action::Pass)
            }
            "break" => {
                self.at += 1;
                Ok(Action::Break)
            }
            "continue" => {
                self.at += 1;
                Ok(Action::Continue)
            }
            "return" => {
                self.at += 1;
                let is_bare =
                    matches!(self.peek(), Token::Newline | Token::End) || self.is_sign(";");
                Ok(Action::Return(if is_bare { None } else { Some(self.expressions()?) }))
            }
            "raise" => {
                self.at += 1;
                Ok(Action::Raise(self.expression()?))
            }
            "del" => {
                self.at += 1;
                let line = self.line();
                let what = self.expression()?;
                Ok(Action::Delete(target(what, line)?))
            }
            "import" => self.import(),
            word if ABSENT.contains(&word) && self.is_statement_word() => {
                syntax(self.line(), format!("{word} is not in this dialect"))
            }
            _ => self.assignment(),
        }
    }

    /// Whether the word begins a statement and is no variable (`match = 1`).
    fn is_statement_word(&self) -> bool {
        !matches!(
            self.tokens.get(self.at + 1),
            Some(
                (Token::Sign("=" | "." | "(" | "[" | "," | ")"), _)
                    | (Token::Newline | Token::End, _)
            )
        )
    }

    fn import(&mut self) -> Outcome<Action> {
        let line = self.line();
        self.at += 1;
        let module = self.name()?;
        if &*module != "json" || self.is_sign(".") || self.is_word("as") || self.is_sign(",") {
            return syntax(line, "json is the only module: import json");
        }
        Ok(Action::Pass)
    }

    fn assignment(&mut self) -> Outcome<Action> {
        let line = self.line();
        let first = self.expressions()?;
        if self.take_sign(":") {
            // a type: read, and nothing is done with it
            self.expression()?;
            if !self.is_sign("=") {
                return Ok(Action::Pass);
            }
        }
        for (sign, operator) in [
            ("+=", Operator::Add),
            ("-=", Operator::Subtract),
            ("*=", Operator::Multiply),
            ("/=", Operator::Divide),
            ("//=", Operator::FloorDivide),
            ("%=", Operator::Remainder),
            ("**=", Operator::Power),
            ("|=", Operator::Or),
            ("&=", Operator::And),
        ] {
            if self.take_sign(sign) {
                let target = target(first, line)?;
                return Ok(Action::Augment(target, operator, self.expressions()?));
            }
        }
        if !self.is_sign("=") {
            return Ok(Action::Evaluate(first));
        }
        let (mut targets, mut value) = (Vec::new(), first);
        while self.take_sign("=") {
            self.chained(&mut (targets.len() as u32))?;
            targets.push(target(value, line)?);
            value = self.expressions()?;
        }
        Ok(Action::Assign(targets, value))
    }

    fn block(&mut self) -> Outcome<Block> {
        self.sign(":")?;
        self.deeper()?;
        let mut block = Vec::new();
        if matches!(self.peek(), Token::Newline) {
            self.at += 1;
            if !matches!(self.peek(), Token::Indent) {
                return self.wrong("an indented block");
            }
            self.at += 1;
            while !matches!(self.peek(), Token::Dedent | Token::End) {
                self.statement(&mut block)?;
            }
            if matches!(self.peek(), Token::Dedent) {
                self.at += 1;
            }
        } else {
            self.simple_line(&mut block)?;
        }
        self.nesting -= 1;
        Ok(block)
    }

    fn conditional(&mut self) -> Outcome<Action> {
        let mut branches = Vec::new();
        self.at += 1;
        let condition = self.expression()?;
        branches.push((condition, self.block()?));
        while self.take_word("elif") {
            let condition = self.expression()?;
            branches.push((condition, self.block()?));
        }
        let otherwise = if self.take_word("else") { self.block()? } else { Vec::new() };
        Ok(Action::If(branches, otherwise))
    }

    fn repetition(&mut self) -> Outcome<Action> {
        self.at += 1;
        let target = self.targets()?;
        if !self.take_word("in") {
            return self.wrong("in");
        }
        let of = self.expressions()?;
        Ok(Action::For(target, of, self.block()?))
    }

    fn definition(&mut self) -> Outcome<Action> {
        self.at += 1;
        let name = self.name()?;
        self.sign("(")?;
        let parameters = self.parameters(")")?;
        if self.take_sign("->") {
            self.expression()?;
        }
        let body = Body::Block(self.block()?);
        Ok(Action::Define(Rc::new(Code { name, parameters, body })))
    }

    /// Parameters up to a sign, which is taken.
    fn parameters(&mut self, end: &str) -> Outcome<Vec<(Rc<str>, Option<Expression>)>> {
        let mut parameters = Vec::new();
        while !self.take_sign(end) {
            if self.is_sign("*") || self.is_sign("**") {
                return syntax(self.line(), "parameters with * are not in this dialect");
            }
            let name = self.name()?;
            // the colon of a lambda ends its parameters, that of a function begins a type
            if end == ")" && self.take_sign(":") {
                self.expression()?;
            }
            let default = if self.take_sign("=") { Some(self.expression()?) } else { None };
            parameters.push((name, default));
            if !self.take_sign(",") {
                self.sign(end)?;
                break;
            }
        }
        Ok(parameters)
    }

    fn attempt(&mut self) -> Outcome<Action> {
        self.at += 1;
        let body = self.block()?;
        let mut handlers = Vec::new();
        while self.take_word("except") {
            let mut handler = Handler { kinds: Vec::new(), name: None, body: Vec::new() };
            if !self.is_sign(":") {
                let line = self.line();
                kinds(&self.expression()?, line, &mut handler.kinds)?;
                if self.take_word("as") {
                    handler.name = Some(self.name()?);
                }
            }
            handler.body = self.block()?;
            handlers.push(handler);
        }
        let otherwise = if self.take_word("else") { self.block()? } else { Vec::new() };
        let last = if self.take_word("finally") { self.block()? } else { Vec::new() };
        if handlers.is_empty() && last.is_empty() {
            return self.wrong("except");
        }
        Ok(Action::Try(Box::new(Attempt { body, handlers, otherwise, last })))
    }

    /// `a`, `a, b` or `(a, b)` before `in`.
    fn targets(&mut self) -> Outcome<Target> {
        let line = self.line();
        let mut all = vec![target(self.postfix()?, line)?];
        let mut is_several = false;
        while self.take_sign(",") {
            is_several = true;
            if self.is_word("in") {
                break;
            }
            all.push(target(self.postfix()?, line)?);
        }
        Ok(match all.pop() {
            Some(only) if !is_several => only,
            last => {
                all.extend(last);
                Target::Several(all)
            }
        })
    }
}

/// The kinds of errors of an `except`.
fn kinds(expression: &Expression, line: u32, into: &mut Vec<String>) -> Outcome<()> {
    match expression {
        Expression::Name(name) | Expression::Attribute(_, name) => into.push(name.to_string()),
        Expression::Tuple(all) => {
            for one in all {
                kinds(one, line, into)?;
            }
        }
        _ => return syntax(line, "except wants the name of an error"),
    }
    Ok(())
}

fn target(expression: Expression, line: u32) -> Outcome<Target> {
    Ok(match expression {
        Expression::Name(name) => Target::Name(name),
        Expression::Item(of, index) => Target::Item(*of, *index),
        Expression::Tuple(all) | Expression::List(all) => {
            let all: Outcome<Vec<Target>> = all.into_iter().map(|one| target(one, line)).collect();
            Target::Several(all?)
        }
        _ => return syntax(line, "this cannot be assigned to"),
    })
}
