//! Runs a program: statements here, [`evaluate`] for expressions, [`functions`] and [`methods`] for
//! what the dialect brings, [`format`] for how values are written into texts.
//!
//! The programs of one answer share their names, as the cells of a notebook do. What a program
//! prints is kept up to a bound; the rest is counted and left out.

use std::fmt::Write as _;
use std::rc::Rc;

use serde_json::{Map, Value as Json};

use crate::MAX_PRINTED;
use crate::error::{Fault, Outcome, Stop, fault, type_error};
use crate::limits::Usage;
use crate::syntax::{Action, Attempt, Block, Code, Expression, Statement, Target};
use crate::value::{Function, Scope, Value};

mod arithmetic;
mod evaluate;
mod format;
mod functions;
mod methods;
mod texts;

/// Why a tool gave no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoResult {
    /// The tool failed or was refused; the program may catch that.
    Failed(String),
    /// Nobody answers any more.
    Gone(String),
}

/// The program's access to its outside.
pub(crate) trait Outside {
    /// Whether there is a tool of this name.
    fn has(&self, tool: &str) -> bool;

    /// Calls a tool.
    fn call(&mut self, tool: &str, arguments: Map<String, Json>) -> Result<String, NoResult>;
}

/// The continuation after a statement.
enum Next {
    Statement,
    Break,
    Continue,
    Return(Value),
}

/// How a program ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ended {
    /// The text that it printed, and the value of its last statement.
    pub(crate) printed: String,
    /// The text of `final_answer`.
    pub(crate) answer: Option<String>,
    /// Why it stopped before its end.
    pub(crate) error: Option<String>,
}

/// Runs one program.
pub(crate) struct Machine<'o> {
    outside: &'o mut dyn Outside,
    usage: Usage,
    line: u32,
    printed: String,
    left_out: usize,
    /// The value of the last statement, which is shown as smolagents and notebooks do.
    last: Value,
}

/// The names that the programs of one answer share.
#[derive(Debug, Default)]
pub(crate) struct Names(Rc<Scope>);

impl Drop for Names {
    fn drop(&mut self) {
        // values may nest deeper than the stack is high: the process ends without giving them back
        std::mem::forget(Rc::clone(&self.0));
    }
}

/// Runs a program.
pub(crate) fn program(block: &Block, names: &Names, outside: &mut dyn Outside) -> Ended {
    let mut machine = Machine {
        outside,
        usage: Usage::default(),
        line: 0,
        printed: String::new(),
        left_out: 0,
        last: Value::None,
    };
    let stopped = machine.block(block, &names.0).err();
    let mut ended = Ended::default();
    match stopped {
        Some(Stop::Answer(text)) => ended.answer = Some(text),
        Some(stop) => ended.error = Some(format!("line {}: {stop}", machine.line)),
        None if matches!(machine.last, Value::None) => {}
        None => match machine.last.shown() {
            Ok(text) => machine.print(&text),
            Err(stop) => ended.error = Some(stop.to_string()),
        },
    }
    if machine.left_out > 0 {
        let _written = write!(machine.printed, "… ({} characters left out)", machine.left_out);
    }
    machine.printed.trim_end().clone_into(&mut ended.printed);
    std::mem::forget(machine.last);
    ended
}

impl Machine<'_> {
    /// Keeps printed text, within bounds.
    fn print(&mut self, text: &str) {
        for c in text.chars().chain(['\n']) {
            if self.printed.len() < MAX_PRINTED {
                self.printed.push(c);
            } else {
                self.left_out += 1;
            }
        }
    }

    fn block(&mut self, block: &[Statement], scope: &Rc<Scope>) -> Outcome<Next> {
        for statement in block {
            match self.statement(statement, scope)? {
                Next::Statement => {}
                other @ (Next::Break | Next::Continue | Next::Return(_)) => return Ok(other),
            }
        }
        Ok(Next::Statement)
    }

    fn statement(&mut self, statement: &Statement, scope: &Rc<Scope>) -> Outcome<Next> {
        self.line = statement.line;
        self.usage.steps(1)?;
        match &statement.what {
            Action::Evaluate(expression) => self.last = self.evaluate(expression, scope)?,
            Action::Assign(targets, expression) => {
                let value = self.evaluate(expression, scope)?;
                for target in targets {
                    self.assign(target, value.clone(), scope)?;
                }
                self.last = value;
            }
            Action::Augment(target, operator, expression) => {
                let before = self.of_target(target, scope)?;
                let by = self.evaluate(expression, scope)?;
                let value = self.augmented(*operator, &before, &by)?;
                self.assign(target, value, scope)?;
            }
            Action::If(branches, otherwise) => {
                for (condition, block) in branches {
                    if self.evaluate(condition, scope)?.is_true() {
                        return self.nested(block, scope);
                    }
                }
                return self.nested(otherwise, scope);
            }
            Action::While(condition, block) => {
                while self.evaluate(condition, scope)?.is_true() {
                    match self.nested(block, scope)? {
                        Next::Break => break,
                        Next::Return(value) => return Ok(Next::Return(value)),
                        Next::Statement | Next::Continue => {}
                    }
                }
            }
            Action::For(target, of, block) => return self.repeat(target, of, block, scope),
            Action::Define(code) => {
                let function = self.function(code, scope)?;
                scope.set(&code.name, function);
            }
            Action::Return(value) => {
                let value = match value {
                    Some(value) => self.evaluate(value, scope)?,
                    None => Value::None,
                };
                return Ok(Next::Return(value));
            }
            Action::Break => return Ok(Next::Break),
            Action::Continue => return Ok(Next::Continue),
            Action::Pass => {}
            Action::Try(attempt) => return self.attempt(attempt, scope),
            Action::Raise(expression) => return self.raise(expression, scope),
            Action::Delete(target) => self.delete(target, scope)?,
        }
        Ok(Next::Statement)
    }

    /// A block inside a statement.
    fn nested(&mut self, block: &[Statement], scope: &Rc<Scope>) -> Outcome<Next> {
        self.usage.down()?;
        let next = self.block(block, scope);
        self.usage.up();
        next
    }

    fn repeat(
        &mut self,
        target: &Target,
        of: &Expression,
        block: &[Statement],
        scope: &Rc<Scope>,
    ) -> Outcome<Next> {
        let of = self.evaluate(of, scope)?;
        for value in self.each(&of)? {
            self.assign(target, value, scope)?;
            match self.nested(block, scope)? {
                Next::Break => break,
                Next::Return(value) => return Ok(Next::Return(value)),
                Next::Statement | Next::Continue => {}
            }
        }
        Ok(Next::Statement)
    }

    fn attempt(&mut self, attempt: &Attempt, scope: &Rc<Scope>) -> Outcome<Next> {
        let mut next = match self.nested(&attempt.body, scope) {
            Err(Stop::Fault(error)) => {
                let fits = |kinds: &[String]| {
                    let is_of = |kind: &String| {
                        matches!(kind.as_str(), "Exception" | "BaseException")
                            || *kind == error.kind
                            || (kind == "ValueError" && error.kind == "JSONDecodeError")
                            || (kind == "LookupError"
                                && matches!(error.kind.as_str(), "KeyError" | "IndexError"))
                    };
                    kinds.is_empty() || kinds.iter().any(is_of)
                };
                match attempt.handlers.iter().find(|handler| fits(&handler.kinds)) {
                    Some(handler) => {
                        if let Some(name) = &handler.name {
                            scope.set(name, Value::Error(Rc::new(error)));
                        }
                        self.nested(&handler.body, scope)
                    }
                    None => Err(Stop::Fault(error)),
                }
            }
            Ok(Next::Statement) => self.nested(&attempt.otherwise, scope),
            other => other,
        };
        if matches!(next, Err(Stop::Limit(_) | Stop::Answer(_))) {
            return next;
        }
        match self.nested(&attempt.last, scope) {
            Ok(Next::Statement) => {}
            other => next = other,
        }
        next
    }

    fn raise(&mut self, expression: &Expression, scope: &Rc<Scope>) -> Outcome<Next> {
        match self.evaluate(expression, scope)? {
            Value::Error(error) => Err(Stop::Fault(Fault::clone(&error))),
            Value::Kind(kind) => fault(&kind, ""),
            other => type_error(format!("a {} cannot be raised", other.kind())),
        }
    }

    fn delete(&mut self, target: &Target, scope: &Rc<Scope>) -> Outcome<()> {
        match target {
            Target::Name(name) => {
                scope.forget(name);
                Ok(())
            }
            Target::Item(of, index) => {
                let of = self.evaluate(of, scope)?;
                let index = self.evaluate(index, scope)?;
                self.remove(&of, &index).map(|_value| ())
            }
            Target::Several(_) => type_error("del wants a name or an element"),
        }
    }

    fn assign(&mut self, target: &Target, value: Value, scope: &Rc<Scope>) -> Outcome<()> {
        match target {
            Target::Name(name) => {
                self.usage.bytes(8)?;
                scope.set(name, value);
                Ok(())
            }
            Target::Item(of, index) => {
                let of = self.evaluate(of, scope)?;
                let index = self.evaluate(index, scope)?;
                self.put(&of, &index, value)
            }
            Target::Several(targets) => {
                let values = self.each(&value)?;
                if values.len() != targets.len() {
                    let (found, wanted) = (values.len(), targets.len());
                    return fault("ValueError", format!("{found} values for {wanted} names"));
                }
                for (target, value) in targets.iter().zip(values) {
                    self.assign(target, value, scope)?;
                }
                Ok(())
            }
        }
    }

    fn of_target(&mut self, target: &Target, scope: &Rc<Scope>) -> Outcome<Value> {
        match target {
            Target::Name(name) => self.named(name, scope),
            Target::Item(of, index) => {
                let of = self.evaluate(of, scope)?;
                let index = self.evaluate(index, scope)?;
                self.item(&of, &index)
            }
            Target::Several(_) => type_error("several names cannot be changed at once"),
        }
    }

    fn function(&mut self, code: &Rc<Code>, scope: &Rc<Scope>) -> Outcome<Value> {
        self.usage.bytes(64)?;
        let mut defaults = Vec::with_capacity(code.parameters.len());
        for (_, default) in &code.parameters {
            defaults.push(match default {
                Some(default) => Some(self.evaluate(default, scope)?),
                None => None,
            });
        }
        let (code, around) = (Rc::clone(code), Rc::clone(scope));
        Ok(Value::Function(Rc::new(Function { code, defaults, around })))
    }
}

#[cfg(test)]
mod tests;
