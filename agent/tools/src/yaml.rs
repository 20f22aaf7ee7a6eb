//! YAML with positions: reads text into a JSON value and the line of every field.
//!
//! First step of reading a tool. Constructs that unfold or hide content are refused, not
//! interpreted: anchors and aliases (a short file could grow without bound), tags, several
//! documents, a repeated key, more than [`MAX_BYTES`] bytes, more than [`MAX_DEPTH`] levels. Plain
//! scalars follow the YAML 1.2 core schema. No text causes a panic.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use serde_json::{Map, Number, Value};

/// Largest file, bytes: 64 times a tool with two long schemas (about 4,000 bytes).
pub const MAX_BYTES: usize = 256 * 1024;
/// Most levels of nesting: five times a schema of schemas (about 12).
pub const MAX_DEPTH: usize = 64;

/// A position in a file, both numbers from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Column, characters.
    pub column: usize,
}

impl Position {
    /// The position of the first character.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl From<Span> for Position {
    fn from(span: Span) -> Self {
        Self { line: span.start.line().max(1), column: span.start.col() + 1 }
    }
}

/// Text that is not the accepted YAML. The caller shows the error with the file's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{}: {message}", at.line, at.column)]
pub struct YamlError {
    /// Position of the error.
    pub at: Position,
    /// The error.
    pub message: String,
}

/// A document: its value and the positions of its parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The value.
    pub value: Value,
    positions: BTreeMap<String, Position>,
}

impl Document {
    /// Position of the part at the JSON pointer; for an absent part, that of its nearest parent.
    pub fn position(&self, pointer: &str) -> Position {
        let mut pointer = pointer;
        loop {
            if let Some(at) = self.positions.get(pointer) {
                return *at;
            }
            match pointer.rfind('/') {
                Some(cut) => pointer = &pointer[..cut],
                None => return Position::START,
            }
        }
    }
}

/// One step of a JSON pointer, escaped (RFC 6901, section 3).
pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Reads one YAML document.
///
/// # Errors
/// [`YamlError`] with the position of the refused text.
pub fn parse(text: &str) -> Result<Document, YamlError> {
    if text.len() > MAX_BYTES {
        let message = format!("{} bytes, at most {MAX_BYTES} are read", text.len());
        return Err(YamlError { at: Position::START, message });
    }
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let marker = error.marker();
            let at = Position { line: marker.line().max(1), column: marker.col() + 1 };
            YamlError { at, message: error.info().to_owned() }
        })?;
        builder.take(event, span.into())?;
    }
    let value = builder.root.ok_or_else(|| YamlError {
        at: Position::START,
        message: "an empty file, expected a mapping".to_owned(),
    })?;
    Ok(Document { value, positions: builder.positions })
}

/// An open collection.
enum Open {
    List { pointer: String, items: Vec<Value> },
    Map { pointer: String, entries: Map<String, Value>, key: Option<String> },
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    root: Option<Value>,
    positions: BTreeMap<String, Position>,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, at: Position) -> Result<(), YamlError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                no_extras(anchor, tag.is_some(), at)?;
                if let Some(Open::Map { key: key @ None, entries, pointer }) = self.open.last_mut()
                {
                    return new_key(&text, key, entries, pointer, at, &mut self.positions);
                }
                let value = if style == ScalarStyle::Plain { plain(&text) } else { text.into() };
                let pointer = self.next_pointer();
                self.note(pointer, at);
                self.put(value, at)
            }
            Event::SequenceStart(anchor, tag) => {
                no_extras(anchor, tag.is_some(), at)?;
                let pointer = self.enter(at)?;
                self.open.push(Open::List { pointer, items: Vec::new() });
                Ok(())
            }
            Event::MappingStart(anchor, tag) => {
                no_extras(anchor, tag.is_some(), at)?;
                let pointer = self.enter(at)?;
                self.open.push(Open::Map { pointer, entries: Map::new(), key: None });
                Ok(())
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let value = match self.open.pop() {
                    Some(Open::List { items, .. }) => Value::Array(items),
                    Some(Open::Map { entries, .. }) => Value::Object(entries),
                    None => return refused(at, "an end without a start"),
                };
                self.put(value, at)
            }
            Event::Alias(_) => refused(at, "an alias (*name) is not allowed: write the value out"),
            Event::DocumentStart(_) if self.root.is_some() => {
                refused(at, "a second document (---): one file holds one tool")
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    /// Notes the start of a collection and returns its pointer.
    fn enter(&mut self, at: Position) -> Result<String, YamlError> {
        if self.open.len() >= MAX_DEPTH {
            return refused(at, &format!("nested deeper than {MAX_DEPTH} levels"));
        }
        if let Some(Open::Map { key: None, .. }) = self.open.last() {
            return refused(at, "a key must be a word, not a list or mapping");
        }
        let pointer = self.next_pointer();
        self.note(pointer.clone(), at);
        Ok(pointer)
    }

    fn next_pointer(&self) -> String {
        match self.open.last() {
            None => String::new(),
            Some(Open::List { pointer, items }) => format!("{pointer}/{}", items.len()),
            Some(Open::Map { pointer, key, .. }) => {
                format!("{pointer}/{}", escaped(key.as_deref().unwrap_or_default()))
            }
        }
    }

    /// Notes a position: a field has that of its key; list items and the root have that of their
    /// value.
    fn note(&mut self, pointer: String, at: Position) {
        self.positions.entry(pointer).or_insert(at);
    }

    fn put(&mut self, value: Value, at: Position) -> Result<(), YamlError> {
        match self.open.last_mut() {
            None if self.root.is_some() => refused(at, "a second value: one file holds one tool"),
            None => {
                self.root = Some(value);
                Ok(())
            }
            Some(Open::List { items, .. }) => {
                items.push(value);
                Ok(())
            }
            Some(Open::Map { entries, key, .. }) => match key.take() {
                Some(key) => {
                    entries.insert(key, value);
                    Ok(())
                }
                None => refused(at, "a key must be a word, not a list or mapping"),
            },
        }
    }
}

fn refused<T>(at: Position, message: &str) -> Result<T, YamlError> {
    Err(YamlError { at, message: message.to_owned() })
}

fn no_extras(anchor: usize, tagged: bool, at: Position) -> Result<(), YamlError> {
    if anchor != 0 {
        return refused(at, "an anchor (&name) is not allowed: write the value out");
    }
    if tagged { refused(at, "a tag (!name) is not allowed") } else { Ok(()) }
}

fn new_key(
    text: &str,
    key: &mut Option<String>,
    entries: &Map<String, Value>,
    pointer: &str,
    at: Position,
    positions: &mut BTreeMap<String, Position>,
) -> Result<(), YamlError> {
    if entries.contains_key(text) {
        return refused(at, &format!("the key {text} stands here twice"));
    }
    positions.insert(format!("{pointer}/{}", escaped(text)), at);
    *key = Some(text.to_owned());
    Ok(())
}

/// A plain scalar under the core schema (YAML 1.2.2, section 10.3.2). An infinity or NaN has no
/// JSON number and stays text.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let digits = text.trim_start_matches(['+', '-']);
    let starts_as_number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if text.len() - digits.len() > 1 || !starts_as_number {
        return text.into();
    }
    if let Ok(whole) = text.parse::<i64>() {
        return whole.into();
    }
    if let Some(hex) = text.strip_prefix("0x")
        && let Ok(whole) = i64::from_str_radix(hex, 16)
    {
        return whole.into();
    }
    if let Some(octal) = text.strip_prefix("0o")
        && let Ok(whole) = i64::from_str_radix(octal, 8)
    {
        return whole.into();
    }
    let number = text.parse::<f64>().ok().and_then(Number::from_f64);
    number.map_or_else(|| text.into(), Value::Number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn message(text: &str) -> String {
        parse(text).expect_err("refused").to_string()
    }

    #[test]
    fn fields_keep_the_line_of_their_key() {
        let text = "name: a_tool\ninput_schema:\n  type: object\n  properties:\n    q:\n      \
                    type: string\ntags: [x, y]\n";
        let document = parse(text).expect("YAML");
        assert_eq!(document.value["input_schema"]["properties"]["q"], json!({"type": "string"}));
        let line = |pointer: &str| document.position(pointer).line;
        assert_eq!(line("/name"), 1);
        assert_eq!(line("/input_schema/properties/q/type"), 6);
        assert_eq!(line("/tags/1"), 7);
        assert_eq!(line("/input_schema/required/0"), 2, "absent: its nearest parent");
    }

    #[test]
    fn scalars_follow_the_core_schema() {
        let text = "a: 1\nb: 1.5\nc: true\nd: ~\ne: \"1.0\"\nf: 1.0.0\ng: 0x1F\nh: 베어링\ni: .inf\n\
                    j: -3e2\nk: ++1\n";
        let expected = json!({"a": 1, "b": 1.5, "c": true, "d": null, "e": "1.0", "f": "1.0.0",
            "g": 31, "h": "베어링", "i": ".inf", "j": -300.0, "k": "++1"});
        assert_eq!(parse(text).expect("YAML").value, expected);
    }

    #[test]
    fn what_unfolds_or_hides_is_refused() {
        assert!(message("a: &x [1]\nb: *x\n").contains("anchor (&name) is not allowed"));
        assert!(message("a: !!binary x\n").contains("tag"));
        assert!(message("a: 1\nb: 2\na: 3\n").starts_with("3:1: the key a stands here twice"));
        assert!(message("a: 1\n---\nb: 2\n").contains("second document"));
        assert!(message("? [1, 2]\n: x\n").contains("a key must be a word"));
        assert!(message("").contains("empty file"));
        assert!(message(&"[".repeat(80)).contains("nested deeper"));
        assert!(message(&"x".repeat(MAX_BYTES + 1)).contains("at most"));
    }

    #[test]
    fn a_syntax_error_says_its_line() {
        assert!(message("a: 1\nb: [1, 2\nc: 3\n").starts_with("3:"));
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "\\PC{0,200}|[\\[\\]{}:,&*!|>'\"#\\- \
            \nab0-9]{0,300}") {
            let _read = parse(&text);
        }

        /// Valid JSON is valid YAML, and reads as the same value.
        #[test]
        fn json_is_read_as_itself(words in prop::collection::btree_map("[a-z]{1,6}", "[a-z0-9 \
            ]{0,9}", 0..6)) {
            let value = json!(words);
            prop_assert_eq!(parse(&value.to_string()).expect("YAML").value, value);
        }
    }
}
