//! Functions and methods as values, and the names that a function sees.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::Value;
use crate::syntax::Code;

/// A function of the program with the names around it.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) code: Rc<Code>,
    pub(crate) defaults: Vec<Option<Value>>,
    pub(crate) around: Rc<Scope>,
}

/// A method with its value.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) of: Value,
    pub(crate) name: Rc<str>,
}

/// Names and their values.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    names: RefCell<HashMap<Rc<str>, Value>>,
    around: Option<Rc<Scope>>,
}

impl Scope {
    pub(crate) fn inside(around: &Rc<Self>) -> Rc<Self> {
        Rc::new(Self { names: RefCell::default(), around: Some(Rc::clone(around)) })
    }

    pub(crate) fn find(&self, name: &str) -> Option<Value> {
        let mut scope = self;
        loop {
            if let Some(value) = scope.names.borrow().get(name) {
                return Some(value.clone());
            }
            scope = scope.around.as_deref()?;
        }
    }

    pub(crate) fn set(&self, name: &Rc<str>, value: Value) {
        self.names.borrow_mut().insert(Rc::clone(name), value);
    }

    pub(crate) fn forget(&self, name: &str) {
        self.names.borrow_mut().remove(name);
    }
}
