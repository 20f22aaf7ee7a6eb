//! The statement of an `sql` tool: one SELECT with named parameters and without a word that writes.

/// Words that change data, anywhere outside quotes. `REPLACE` counts only as a statement: as a
/// function it is followed by a bracket.
const WRITING: [&str; 16] = [
    "INSERT",
    "UPDATE",
    "DELETE",
    "REPLACE",
    "MERGE",
    "INTO",
    "CREATE",
    "DROP",
    "ALTER",
    "ATTACH",
    "DETACH",
    "PRAGMA",
    "VACUUM",
    "REINDEX",
    "SAVEPOINT",
    "BEGIN",
];

/// A statement that is refused when its tool is read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StatementError {
    /// The statement is not a SELECT.
    #[error("starts with {0:?}, allowed is one SELECT (or WITH … SELECT)")]
    NotASelect(String),
    /// A word changes data.
    #[error("contains {0}, which changes the database: only reading is allowed")]
    Writes(String),
    /// The text has more than one statement.
    #[error("holds more than one statement")]
    Several,
    /// A parameter has another form than `:name`.
    #[error("has a parameter {0:?}, write :name, the name of a property of input_schema")]
    Parameter(char),
    /// A quote or comment has no end.
    #[error("has {0} without its end")]
    Unclosed(&'static str),
}

/// One SELECT with named parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The texts before, between and after the parameters.
    texts: Vec<String>,
    /// The parameter that follows each text but the last, as an index into `parameters`.
    places: Vec<usize>,
    parameters: Vec<String>,
}

impl Statement {
    /// Reads a statement; `:name` stands for an argument.
    ///
    /// # Errors
    /// [`StatementError`] with the refused and the allowed form.
    pub fn read(text: &str) -> Result<Self, StatementError> {
        let mut scan = Scan { rest: text, ..Scan::default() };
        while !scan.rest.is_empty() {
            scan.step()?;
        }
        let first = scan.words.first().map(|(word, _)| word.as_str()).unwrap_or_default();
        if first != "SELECT" && first != "WITH" {
            return Err(StatementError::NotASelect(first.to_owned()));
        }
        for (word, called) in &scan.words {
            if WRITING.contains(&word.as_str()) && !(word == "REPLACE" && *called) {
                return Err(StatementError::Writes(word.clone()));
            }
        }
        scan.texts.push(scan.out);
        Ok(Self { texts: scan.texts, places: scan.places, parameters: scan.names })
    }

    /// The statement with a database's own parameters: `?1` for the marker `?`, `$1` for `$`.
    pub(crate) fn text(&self, marker: char) -> String {
        let mut text = String::new();
        let mut places = self.places.iter();
        for part in &self.texts {
            text.push_str(part);
            if let Some(place) = places.next() {
                text.push(marker);
                text.push_str(&(place + 1).to_string());
            }
        }
        text
    }

    /// The names of the parameters.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(String::as_str)
    }
}

/// Scans a statement: quotes and comments are skipped, `:name` is a parameter.
#[derive(Default)]
struct Scan<'a> {
    rest: &'a str,
    /// Text since the last parameter.
    out: String,
    texts: Vec<String>,
    places: Vec<usize>,
    /// Bare words in capitals, each with whether a bracket follows.
    words: Vec<(String, bool)>,
    names: Vec<String>,
}

impl Scan<'_> {
    fn step(&mut self) -> Result<(), StatementError> {
        let Some(next) = self.rest.chars().next() else { return Ok(()) };
        match next {
            '\'' | '"' | '`' => self.quoted(next),
            '[' => self.until("]", "a [name"),
            '-' if self.rest.starts_with("--") => {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.rest = &self.rest[end..];
                Ok(())
            }
            '/' if self.rest.starts_with("/*") => {
                let end = self.rest.find("*/").ok_or(StatementError::Unclosed("a /* comment"))?;
                self.out.push(' ');
                self.rest = &self.rest[end + 2..];
                Ok(())
            }
            ';' => {
                let after = &self.rest[1..];
                self.rest = "";
                if after.trim().is_empty() { Ok(()) } else { Err(StatementError::Several) }
            }
            ':' if self.rest.starts_with("::") => {
                // a PostgreSQL cast
                self.out.push_str("::");
                self.rest = &self.rest[2..];
                Ok(())
            }
            ':' => self.parameter(),
            '?' | '$' | '@' => Err(StatementError::Parameter(next)),
            _ if is_word(next) => {
                self.word();
                Ok(())
            }
            other => {
                self.out.push(other);
                self.rest = &self.rest[other.len_utf8()..];
                Ok(())
            }
        }
    }

    fn quoted(&mut self, quote: char) -> Result<(), StatementError> {
        let inside = &self.rest[1..];
        let mut end = None;
        let mut chars = inside.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            if c == quote {
                // a doubled quote is a literal quote
                if chars.next_if(|(_, next)| *next == quote).is_none() {
                    end = Some(at + 2);
                    break;
                }
            }
        }
        let end = end.ok_or(StatementError::Unclosed("a quote"))?;
        self.out.push_str(&self.rest[..end]);
        self.rest = &self.rest[end..];
        Ok(())
    }

    fn until(&mut self, end: &str, what: &'static str) -> Result<(), StatementError> {
        let at = self.rest.find(end).ok_or(StatementError::Unclosed(what))? + end.len();
        self.out.push_str(&self.rest[..at]);
        self.rest = &self.rest[at..];
        Ok(())
    }

    fn parameter(&mut self) -> Result<(), StatementError> {
        let name = self.rest[1..].chars().take_while(|c| is_word(*c)).collect::<String>();
        if name.is_empty() {
            return Err(StatementError::Parameter(':'));
        }
        self.rest = &self.rest[1 + name.len()..];
        let index = self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        self.texts.push(std::mem::take(&mut self.out));
        self.places.push(index);
        Ok(())
    }

    fn word(&mut self) {
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.words.push((word.to_ascii_uppercase(), rest.trim_start().starts_with('(')));
        self.out.push_str(word);
        self.rest = rest;
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refusal(text: &str) -> StatementError {
        Statement::read(text).expect_err("refused")
    }

    /// R-TOOL-6
    #[test]
    fn a_statement_that_writes_is_refused_when_it_is_read() {
        for text in [
            "DELETE FROM t",
            "with x as (select 1) INSERT INTO t SELECT * FROM x",
            "SELECT 1; DROP TABLE t",
            "WITH x AS (SELECT 1) DELETE FROM t WHERE 1",
            "ATTACH DATABASE 'x' AS y",
            "PRAGMA query_only = OFF",
            "SELECT * INTO new FROM t",
            "WITH x AS (SELECT 1) MERGE INTO t USING x ON true WHEN MATCHED THEN DELETE",
            "select 1 /* */ ; /* */ update t set a = 1",
            "",
        ] {
            assert!(Statement::read(text).is_err(), "{text}");
        }
        assert_eq!(
            refusal("WITH a AS (SELECT 1) UPDATE t SET b=1"),
            StatementError::Writes("UPDATE".into())
        );
    }

    #[test]
    fn words_in_quotes_comments_and_functions_do_not_write() {
        let text =
            "SELECT replace(a, 'DELETE', \"update\"), [drop] -- insert\n FROM t /* alter */;";
        assert!(Statement::read(text).is_ok(), "{:?}", Statement::read(text));
    }

    #[test]
    fn a_cast_is_no_parameter() {
        let statement = Statement::read("SELECT a::text FROM t WHERE b = :b::int").expect("read");
        assert_eq!(statement.text('$'), "SELECT a::text FROM t WHERE b = $1::int");
    }

    #[test]
    fn named_parameters_become_numbered_ones() {
        let statement = Statement::read("SELECT ':x', a FROM t WHERE b = :b AND c = :c OR d = :b");
        let statement = statement.expect("statement");
        let rest = "SELECT ':x', a FROM t WHERE b = @1 AND c = @2 OR d = @1";
        assert_eq!(statement.text('?'), rest.replace('@', "?"));
        assert_eq!(statement.text('$'), rest.replace('@', "$"));
        assert_eq!(statement.parameters().collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!(refusal("SELECT ?"), StatementError::Parameter('?'));
        assert_eq!(refusal("SELECT 'a"), StatementError::Unclosed("a quote"));
    }

    proptest! {
        #[test]
        fn arbitrary_statements_never_panic(
            text in "\\PC{0,120}|(SELECT|WITH|'|\"|;|:a|--|/\\*|\\*/|\\[|\\]| ){0,30}") {
            let _read = Statement::read(&text);
        }
    }
}
