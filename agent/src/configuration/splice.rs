//! Changes of a TOML text in place: the bytes of a value are exchanged, lines are put in or taken
//! out, and every other byte stays, comments, order and line ends among them.
//!
//! [`toml_edit`] tells where values stand. Invariant: the text that [`changed`] returns has the
//! values that the change means and no others; a text that is arranged so that this does not come
//! out is refused.

use std::ops::Range;

use pdm_web::configuration::{ConfigChange, ConfigStep, dotted};
use toml::Value;
use toml_edit::{Document, Item, Table};

/// Why a text is not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum SpliceError {
    /// The text is no TOML.
    #[error("{0}")]
    Syntax(String),
    /// There is no such table.
    #[error("{0} is not in the file")]
    Missing(String),
    /// The place is written in another form than as a table of its own.
    #[error("{0} is written on one line or with dots in its name: change it in the file itself")]
    Form(String),
}

/// The text with one change.
///
/// # Errors
/// [`SpliceError`]; the text is then to stay as it is.
pub(super) fn changed(text: &str, change: &ConfigChange) -> Result<String, SpliceError> {
    let document = Document::parse(text.to_owned());
    let document = document.map_err(|error| SpliceError::Syntax(error.to_string()))?;
    let edit = edit(text, document.as_item(), change)?;
    let mut new = text.to_owned();
    new.replace_range(edit.range, &edit.text);
    let subject = || SpliceError::Form(change.subject());
    let mut meant: toml::Table = toml::from_str(text).map_err(|_other| subject())?;
    mean(&mut meant, change).ok_or_else(subject)?;
    let is: toml::Table = toml::from_str(&new).map_err(|_other| subject())?;
    if is == meant { Ok(new) } else { Err(subject()) }
}

/// Bytes and the text that replaces them.
struct Edit {
    range: Range<usize>,
    text: String,
}

fn edit(text: &str, root: &Item, change: &ConfigChange) -> Result<Edit, SpliceError> {
    match change {
        ConfigChange::Set { table, key, value } => match table_at(root, table) {
            Ok(found) => set(text, found, table, (key, value)),
            Err(SpliceError::Missing(_)) if is_plain(table) => {
                let line = format!("{} = {value}", bare(key));
                Ok(lines_at(text, text.len(), &[String::new(), header(table, "[", "]"), line]))
            }
            Err(error) => Err(error),
        },
        ConfigChange::Unset { table, key } => {
            let found = table_at(root, table)?;
            let missing = || SpliceError::Missing(format!("{}.{key}", dotted(table)));
            let (name, item) = found.get_key_value(key).ok_or_else(missing)?;
            let spans = name.span().zip(item.as_value().and_then(toml_edit::Value::span));
            let (name, value) = spans.ok_or_else(|| SpliceError::Form(change.subject()))?;
            let range = line_start(text, name.start)..line_end(text, value.end);
            Ok(Edit { range, text: String::new() })
        }
        ConfigChange::Append { table, list, entries } => append(text, root, (table, list), entries),
        ConfigChange::Remove { table } => remove(text, root, table),
    }
}

/// A key of a table: its value is exchanged, or a line is put behind the last one of the table.
fn set(
    text: &str,
    found: &Table,
    table: &[ConfigStep],
    (key, value): (&str, &Value),
) -> Result<Edit, SpliceError> {
    let form = || SpliceError::Form(format!("{}.{key}", dotted(table)));
    if let Some(item) = found.get(key) {
        let span = item.as_value().and_then(toml_edit::Value::span).ok_or_else(form)?;
        return Ok(Edit { range: span, text: value.to_string() });
    }
    let line = format!("{} = {value}", bare(key));
    if found.is_dotted() {
        return Err(form());
    }
    let own = found.iter().filter_map(|(_, item)| end_of_values(item)).max();
    if found.is_implicit() && own.is_none() {
        return Ok(lines_at(text, text.len(), &[String::new(), header(table, "[", "]"), line]));
    }
    let end = own.or_else(|| found.span().map(|span| span.end)).ok_or_else(form)?;
    Ok(lines_at(text, line_end(text, end), &[line]))
}

/// The end of the values that stand under a table's own header.
fn end_of_values(item: &Item) -> Option<usize> {
    match item {
        Item::Value(value) => value.span().map(|span| span.end),
        Item::Table(table) if table.is_dotted() => {
            table.iter().filter_map(|(_, item)| end_of_values(item)).max()
        }
        Item::Table(_) | Item::ArrayOfTables(_) | Item::None => None,
    }
}

fn append(
    text: &str,
    root: &Item,
    (table, list): (&[ConfigStep], &str),
    entries: &[(String, Value)],
) -> Result<Edit, SpliceError> {
    let mut way = table.to_vec();
    way.push(ConfigStep::Key(list.to_owned()));
    let form = || SpliceError::Form(dotted(&way));
    let parent = match table_at(root, table) {
        Ok(parent) => Some(parent),
        Err(SpliceError::Missing(_)) if is_plain(table) => None,
        Err(error) => return Err(error),
    };
    let before = match parent.and_then(|parent| parent.get(list)) {
        None => None,
        Some(Item::ArrayOfTables(all)) => all.iter().last().and_then(end_of_table),
        Some(_other) => return Err(form()),
    };
    // a list within one of a list belongs to the last one before it
    let of_parent = || parent.filter(|_| !is_plain(table)).and_then(end_of_table);
    let at = before.or_else(of_parent).map_or(text.len(), |end| line_end(text, end));
    let mut lines = vec![String::new(), header(&way, "[[", "]]")];
    let (below, own): (Vec<_>, Vec<_>) = entries.iter().partition(|(_, value)| is_of_tables(value));
    lines.extend(own.iter().map(|(key, value)| format!("{} = {value}", bare(key))));
    // lists of tables within it get headers of their own, so that they can be changed later
    for (key, value) in below {
        let mut way = way.clone();
        way.push(ConfigStep::Key(key.clone()));
        for one in value.as_array().into_iter().flatten().filter_map(Value::as_table) {
            lines.push(header(&way, "[[", "]]"));
            lines.extend(one.iter().map(|(key, value)| format!("{} = {value}", bare(key))));
        }
    }
    Ok(lines_at(text, at, &lines))
}

fn remove(text: &str, root: &Item, table: &[ConfigStep]) -> Result<Edit, SpliceError> {
    let form = || SpliceError::Form(dotted(table));
    let found = table_at(root, table)?;
    let start = line_start(text, found.span().ok_or_else(form)?.start);
    let end = line_end(text, end_of_table(found).ok_or_else(form)?);
    // the blank line before it goes with it
    let before = text[..start].strip_suffix('\n').unwrap_or_default();
    let before = before.strip_suffix('\r').unwrap_or(before);
    let is_blank = before.ends_with('\n');
    let start = if is_blank { before.len() } else { start };
    Ok(Edit { range: start..end, text: String::new() })
}

/// The end of everything in a table, those below it among them.
fn end_of_table(table: &Table) -> Option<usize> {
    let below = table.iter().filter_map(|(_, item)| match item {
        Item::Value(value) => value.span().map(|span| span.end),
        Item::Table(table) => end_of_table(table),
        Item::ArrayOfTables(all) => all.iter().filter_map(end_of_table).max(),
        Item::None => None,
    });
    let own = table.span().map(|span| span.end);
    below.chain(own).max()
}

fn table_at<'a>(root: &'a Item, way: &[ConfigStep]) -> Result<&'a Table, SpliceError> {
    let missing = || SpliceError::Missing(dotted(way));
    let form = || SpliceError::Form(dotted(way));
    let mut steps = way.iter();
    let mut table = root.as_table().ok_or_else(form)?;
    while let Some(step) = steps.next() {
        let ConfigStep::Key(key) = step else { return Err(missing()) };
        table = match table.get(key).ok_or_else(missing)? {
            Item::Table(table) => table,
            Item::ArrayOfTables(all) => {
                let Some(ConfigStep::At(number)) = steps.next() else { return Err(form()) };
                all.get(*number).ok_or_else(missing)?
            }
            Item::Value(_) | Item::None => return Err(form()),
        };
    }
    Ok(table)
}

fn is_of_tables(value: &Value) -> bool {
    value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(Value::is_table))
}

/// Whether a way leads through no list.
fn is_plain(way: &[ConfigStep]) -> bool {
    way.iter().all(|step| matches!(step, ConfigStep::Key(_)))
}

fn header(way: &[ConfigStep], open: &str, close: &str) -> String {
    let keys = way.iter().filter_map(|step| match step {
        ConfigStep::Key(key) => Some(bare(key)),
        ConfigStep::At(_) => None,
    });
    format!("{open}{}{close}", keys.collect::<Vec<_>>().join("."))
}

/// A key as TOML writes it: in quotes where it has other characters than a bare one.
fn bare(key: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    if !key.is_empty() && key.bytes().all(is_bare) {
        key.to_owned()
    } else {
        Value::String(key.to_owned()).to_string()
    }
}

/// Lines put in at the start of a line or at the end of the text, with the text's line ends.
fn lines_at(text: &str, at: usize, lines: &[String]) -> Edit {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let before = &text[..at];
    let mut new = String::new();
    if !before.is_empty() && !before.ends_with('\n') {
        new.push_str(end);
    }
    let is_first = before.is_empty();
    for (number, line) in lines.iter().enumerate() {
        // an empty text begins without a blank line
        if !(number == 0 && is_first && line.is_empty()) {
            new.push_str(line);
            new.push_str(end);
        }
    }
    Edit { range: at..at, text: new }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1)
}

/// The values that a change means.
fn mean(root: &mut toml::Table, change: &ConfigChange) -> Option<()> {
    match change {
        ConfigChange::Set { table, key, value } => {
            made_at(root, table)?.insert(key.clone(), value.clone());
        }
        ConfigChange::Unset { table, key } => {
            made_at(root, table)?.remove(key)?;
        }
        ConfigChange::Append { table, list, entries } => {
            let empty = || Value::Array(Vec::new());
            let list = made_at(root, table)?.entry(list).or_insert_with(empty);
            list.as_array_mut()?.push(Value::Table(entries.iter().cloned().collect()));
        }
        ConfigChange::Remove { table } => {
            let (ConfigStep::At(number), way) = table.split_last()? else { return None };
            let (ConfigStep::Key(key), way) = way.split_last()? else { return None };
            let parent = made_at(root, way)?;
            let list = parent.get_mut(key)?.as_array_mut()?;
            if *number >= list.len() {
                return None;
            }
            list.remove(*number);
            if list.is_empty() {
                parent.remove(key);
            }
        }
    }
    Some(())
}

fn made_at<'a>(root: &'a mut toml::Table, way: &[ConfigStep]) -> Option<&'a mut toml::Table> {
    let mut table = root;
    let mut steps = way.iter();
    while let Some(step) = steps.next() {
        let ConfigStep::Key(key) = step else { return None };
        let made = || Value::Table(toml::Table::new());
        table = match table.entry(key).or_insert_with(made) {
            Value::Table(table) => table,
            Value::Array(all) => {
                let Some(ConfigStep::At(number)) = steps.next() else { return None };
                all.get_mut(*number)?.as_table_mut()?
            }
            Value::String(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Boolean(_)
            | Value::Datetime(_) => return None,
        };
    }
    Some(table)
}

#[cfg(test)]
mod tests;
