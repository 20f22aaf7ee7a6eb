//! Values in one canonical text, so that a result can be compared with what the suite writes.

use crate::value::{Properties, Value};

/// The canonical text of a result's value; with `any_order`, lists are sorted.
pub(super) fn shape_of(value: &Value, any_order: bool) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(flag) => flag.to_string(),
        Value::Int(whole) => whole.to_string(),
        Value::Float(number) => float(*number),
        Value::Text(text) => format!("{text:?}"),
        Value::List(items) => {
            list(items.iter().map(|item| shape_of(item, any_order)).collect(), any_order)
        }
        Value::Map(entries) => map(entries, any_order),
        Value::Node(node) => {
            let labels = node.labels.iter().map(|label| format!(":{label}"));
            element('(', labels.collect(), &map(&node.properties, any_order), ')')
        }
        Value::Relationship(relationship) => {
            let kind = format!(":{}", relationship.kind);
            element('[', vec![kind], &map(&relationship.properties, any_order), ']')
        }
        Value::Path(path) => {
            let mut text = String::from("<");
            for (index, node) in path.nodes.iter().enumerate() {
                text.push_str(&shape_of(&Value::Node(node.clone()), any_order));
                if let Some(r) = path.relationships.get(index) {
                    let (before, after) =
                        if r.start == node.id { ("-", "->") } else { ("<-", "-") };
                    text.push_str(before);
                    text.push_str(&shape_of(&Value::Relationship(r.clone()), any_order));
                    text.push_str(after);
                }
            }
            text + ">"
        }
    }
}

fn float(number: f64) -> String {
    if number.is_nan() { "NaN".into() } else { format!("{number:?}") }
}

fn list(mut items: Vec<String>, any_order: bool) -> String {
    if any_order {
        items.sort();
    }
    format!("[{}]", items.join(", "))
}

fn map(entries: &Properties, any_order: bool) -> String {
    let entries =
        entries.iter().map(|(key, value)| format!("{key}: {}", shape_of(value, any_order)));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}

fn element(open: char, mut labels: Vec<String>, properties: &str, close: char) -> String {
    labels.sort();
    format!("{open}{}{properties}{close}", labels.join(""))
}

/// The canonical text of what the suite writes.
pub(super) fn canonical(text: &str, any_order: bool) -> String {
    let mut reader = Reader { rest: text.trim(), any_order };
    let canonical = reader.value();
    assert!(reader.rest.trim().is_empty(), "{text:?} ends with {:?}", reader.rest);
    canonical
}

/// A parameter's value as the suite writes it.
pub(super) fn value(text: &str) -> Value {
    let query = crate::Query::read(&format!("RETURN {text} AS value")).expect("a parameter");
    let graph = crate::MemoryGraph::default();
    let table = query.run(&graph, &Properties::new(), &crate::Limits::default());
    table.expect("a parameter's value").rows[0][0].clone()
}

struct Reader<'t> {
    rest: &'t str,
    any_order: bool,
}

impl<'t> Reader<'t> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn takes(&mut self, token: &str) -> bool {
        self.space();
        let found = self.rest.strip_prefix(token);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn name(&mut self) -> &'t str {
        self.space();
        let end =
            self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name
    }

    fn value(&mut self) -> String {
        self.space();
        match self.rest.chars().next().expect("a value") {
            '\'' => self.text(),
            '{' => self.map(),
            '(' => self.node(),
            '<' => self.path(),
            '[' if self.rest.starts_with("[:") => self.relationship(),
            '[' => self.list(),
            _ => self.plain(),
        }
    }

    fn plain(&mut self) -> String {
        let end = self.rest.find([',', ']', '}', ')', ' ']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word {
            "Inf" => return "inf".into(),
            "-Inf" => return "-inf".into(),
            _ => {}
        }
        let is_float = word.contains(['.', 'e', 'E']) && word.parse::<f64>().is_ok();
        if is_float { float(word.parse().expect("a float")) } else { word.to_owned() }
    }

    fn text(&mut self) -> String {
        let mut text = String::new();
        let mut characters = self.rest.char_indices().skip(1);
        while let Some((at, c)) = characters.next() {
            match c {
                '\\' => {
                    text.extend(characters.next().map(|(_, c)| if c == 'n' { '\n' } else { c }));
                }
                '\'' => {
                    self.rest = &self.rest[at + 1..];
                    return format!("{text:?}");
                }
                other => text.push(other),
            }
        }
        panic!("a text without an end: {}", self.rest);
    }

    fn list(&mut self) -> String {
        assert!(self.takes("["));
        let mut items = Vec::new();
        while !self.takes("]") {
            items.push(self.value());
            self.takes(",");
        }
        list(items, self.any_order)
    }

    fn map(&mut self) -> String {
        assert!(self.takes("{"));
        let mut entries = Vec::new();
        while !self.takes("}") {
            let name = self.name().to_owned();
            assert!(self.takes(":"), "a map at {:?}", self.rest);
            entries.push((name, self.value()));
            self.takes(",");
        }
        entries.sort();
        let entries = entries.into_iter().map(|(name, value)| format!("{name}: {value}"));
        format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
    }

    fn labels(&mut self) -> Vec<String> {
        let mut labels = Vec::new();
        while self.takes(":") {
            labels.push(format!(":{}", self.name()));
        }
        labels
    }

    fn inside(&mut self, open: char, close: char) -> String {
        let labels = self.labels();
        self.space();
        let properties = if self.rest.starts_with('{') { self.map() } else { "{}".into() };
        assert!(self.takes(&close.to_string()), "an element at {:?}", self.rest);
        element(open, labels, &properties, close)
    }

    fn node(&mut self) -> String {
        assert!(self.takes("("));
        self.inside('(', ')')
    }

    fn relationship(&mut self) -> String {
        assert!(self.takes("["));
        self.inside('[', ']')
    }

    fn path(&mut self) -> String {
        assert!(self.takes("<"));
        let mut text = format!("<{}", self.node());
        while !self.takes(">") {
            let left = self.takes("<-");
            if !left {
                assert!(self.takes("-"));
            }
            let relationship = self.relationship();
            let after = if left { "-" } else { "->" };
            assert!(self.takes(after));
            let before = if left { "<-" } else { "-" };
            let node = self.node();
            text.extend([before, &relationship, after, &node]);
        }
        text + ">"
    }
}
