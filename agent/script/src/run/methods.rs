//! Methods of lists, dictionaries and sets; [`super::texts`] has those of texts.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "an operation works on a few kinds of values and refuses all others alike"
)]

use std::cell::RefCell;
use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};

use super::Machine;
use super::evaluate::Arguments;
use super::texts;
use crate::error::{Outcome, fault, type_error, value_error};
use crate::value::{Key, Value};

const OF_LIST: [&str; 11] = [
    "append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse",
    "sort",
];
const OF_DICT: [&str; 9] =
    ["clear", "copy", "get", "items", "keys", "pop", "setdefault", "update", "values"];
const OF_SET: [&str; 8] =
    ["add", "copy", "difference", "discard", "intersection", "issubset", "remove", "union"];

type Shared<T> = Rc<RefCell<T>>;

impl Machine<'_> {
    /// Whether a value has a method.
    pub(super) fn has_method(of: &Value, name: &str) -> bool {
        match of {
            Value::Text(_) => texts::NAMES.contains(&name),
            Value::List(_) => OF_LIST.contains(&name),
            Value::Dict(_) => OF_DICT.contains(&name),
            Value::Set(_) => OF_SET.contains(&name),
            Value::Tuple(_) => matches!(name, "count" | "index"),
            _ => false,
        }
    }

    /// Calls a method.
    pub(super) fn method(
        &mut self,
        of: &Value,
        name: &str,
        arguments: Arguments,
    ) -> Outcome<Value> {
        self.usage.steps(1)?;
        match of {
            Value::Text(text) => self.of_text(text, name, arguments),
            Value::List(all) => self.of_list(all, name, arguments),
            Value::Dict(all) => self.of_dict(all, name, &arguments),
            Value::Set(all) => self.of_set(all, name, &arguments),
            _ => {
                let all = Value::from(self.each(of)?);
                self.method(&all, name, arguments)
            }
        }
    }

    fn of_list(
        &mut self,
        all: &Shared<Vec<Value>>,
        name: &str,
        mut arguments: Arguments,
    ) -> Outcome<Value> {
        if name == "sort" {
            let values = self.each(&Value::List(Rc::clone(all)))?;
            let sorted = self.sorted(values, &mut arguments)?;
            *all.borrow_mut() = sorted;
            return Ok(Value::None);
        }
        let mut given = arguments.positional.into_iter();
        let (one, two) = (given.next(), given.next());
        match (name, one) {
            ("append", Some(value)) => {
                self.usage.elements(2)?;
                all.borrow_mut().push(value);
            }
            ("extend", Some(more)) => {
                let more = self.each(&more)?;
                all.borrow_mut().extend(more);
            }
            ("insert", Some(at)) => {
                let length = all.borrow().len() as i64;
                self.usage.elements(2)?;
                self.usage.steps(length as u64 / 16)?;
                let Some(at) = at.whole() else { return type_error("insert wants an index") };
                let at = if at < 0 { at.saturating_add(length) } else { at }.clamp(0, length);
                all.borrow_mut().insert(at as usize, two.unwrap_or(Value::None));
            }
            ("pop", at) => {
                let at = at.unwrap_or(Value::Int(-1));
                return self.remove(&Value::List(Rc::clone(all)), &at);
            }
            ("remove" | "index" | "count", Some(value)) => {
                return self.found(all, name, &value);
            }
            ("reverse", None) => {
                self.usage.steps(all.borrow().len() as u64 / 16)?;
                all.borrow_mut().reverse();
            }
            ("clear", None) => all.borrow_mut().clear(),
            ("copy", None) => return self.each(&Value::List(Rc::clone(all))).map(Value::from),
            _ => return type_error(format!("{name}: the arguments do not fit")),
        }
        Ok(Value::None)
    }

    fn found(&mut self, all: &Shared<Vec<Value>>, name: &str, value: &Value) -> Outcome<Value> {
        let values = self.each(&Value::List(Rc::clone(all)))?;
        let mut places = Vec::new();
        for (at, one) in values.iter().enumerate() {
            if one.equals(value)? {
                places.push(at);
            }
        }
        match (name, places.first()) {
            ("count", _) => Ok(Value::Int(places.len() as i64)),
            ("index", Some(at)) => Ok(Value::Int(*at as i64)),
            (_, Some(at)) => {
                all.borrow_mut().remove(*at);
                Ok(Value::None)
            }
            (_, None) => value_error(format!("{} is not in the list", value.written()?)),
        }
    }

    fn of_dict(
        &mut self,
        all: &Shared<IndexMap<Key, Value>>,
        name: &str,
        arguments: &Arguments,
    ) -> Outcome<Value> {
        let (one, two) = (arguments.positional.first(), arguments.positional.get(1));
        match (name, one) {
            ("get", Some(key)) => {
                let found = all.borrow().get(&key.key()?).cloned();
                Ok(found.or_else(|| two.cloned()).unwrap_or(Value::None))
            }
            ("setdefault", Some(key)) => {
                self.usage.elements(2)?;
                let default = two.cloned().unwrap_or(Value::None);
                Ok(all.borrow_mut().entry(key.key()?).or_insert(default).clone())
            }
            ("pop", Some(key)) => {
                let removed = self.remove(&Value::Dict(Rc::clone(all)), key);
                match (removed, two) {
                    (Err(_), Some(default)) => Ok(default.clone()),
                    (removed, _) => removed,
                }
            }
            ("update", of) => {
                let mut more = IndexMap::new();
                if let Some(of) = of {
                    self.add_to(&mut more, of)?;
                }
                let named = arguments.named.iter();
                more.extend(named.map(|(name, value)| (Key::Text(Rc::clone(name)), value.clone())));
                all.borrow_mut().extend(more);
                Ok(Value::None)
            }
            ("clear", None) => {
                all.borrow_mut().clear();
                Ok(Value::None)
            }
            ("copy" | "items" | "keys" | "values", None) => {
                let all = all.borrow();
                self.usage.elements(2 * all.len())?;
                let key = |key: &Key| Value::from(key.clone());
                Ok(match name {
                    "copy" => Value::dict(all.clone()),
                    "keys" => Value::from(all.keys().map(key).collect::<Vec<_>>()),
                    "values" => Value::from(all.values().cloned().collect::<Vec<_>>()),
                    _ => {
                        let pair = |(k, value): (&Key, &Value)| {
                            Value::Tuple([key(k), value.clone()].into())
                        };
                        Value::from(all.iter().map(pair).collect::<Vec<_>>())
                    }
                })
            }
            _ => type_error(format!("{name}: the arguments do not fit")),
        }
    }

    fn of_set(
        &mut self,
        all: &Shared<IndexSet<Key>>,
        name: &str,
        arguments: &Arguments,
    ) -> Outcome<Value> {
        let one = arguments.positional.first();
        match (name, one) {
            ("add", Some(value)) => {
                self.usage.elements(2)?;
                all.borrow_mut().insert(value.key()?);
                Ok(Value::None)
            }
            ("discard" | "remove", Some(value)) => {
                self.usage.steps(all.borrow().len() as u64)?;
                let is_removed = all.borrow_mut().shift_remove(&value.key()?);
                if name == "remove" && !is_removed {
                    return fault("KeyError", value.written()?);
                }
                Ok(Value::None)
            }
            ("copy", None) => {
                self.usage.elements(all.borrow().len())?;
                Ok(Value::set(all.borrow().clone()))
            }
            ("union" | "intersection" | "difference" | "issubset", Some(of)) => {
                let other: Outcome<IndexSet<Key>> = self.each(of)?.iter().map(Value::key).collect();
                let (other, all) = (other?, all.borrow());
                self.usage.elements(all.len())?;
                Ok(match name {
                    "union" => Value::set(all.union(&other).cloned().collect()),
                    "intersection" => Value::set(all.intersection(&other).cloned().collect()),
                    "difference" => Value::set(all.difference(&other).cloned().collect()),
                    _ => Value::Bool(all.is_subset(&other)),
                })
            }
            _ => type_error(format!("{name}: the arguments do not fit")),
        }
    }
}
