//! Cuts a program into tokens; indentation becomes [`Token::Indent`] and [`Token::Dedent`].

use crate::error::{Fault, Outcome, Stop};

/// A token.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    Name(String),
    Int(i64),
    Float(f64),
    Text(String),
    /// The inside of an f-string as it is written; whether escapes stand for themselves.
    Format(String, bool),
    Sign(&'static str),
    Newline,
    Indent,
    Dedent,
    End,
}

/// Signs, longer ones first.
const SIGNS: [&str; 45] = [
    "**=", "//=", "...", ">>=", "<<=", "**", "//", "==", "!=", "<=", ">=", "->", "+=", "-=", "*=",
    "/=", "%=", "|=", "&=", "^=", ":=", "<<", ">>", "(", ")", "[", "]", "{", "}", ",", ":", ";",
    ".", "+", "-", "*", "/", "%", "=", "<", ">", "|", "&", "^", "~",
];

/// A syntax error at a line.
pub(crate) fn syntax<T>(line: u32, message: impl std::fmt::Display) -> Outcome<T> {
    let message = format!("line {line}: {message}");
    Err(Stop::Fault(Fault { kind: "SyntaxError".to_owned(), message }))
}

struct Lexer<'p> {
    rest: &'p str,
    line: u32,
    open: u32,
    indents: Vec<usize>,
    tokens: Vec<(Token, u32)>,
}

/// The tokens of a program with their lines.
pub(crate) fn tokens(program: &str) -> Outcome<Vec<(Token, u32)>> {
    let mut lexer = Lexer { rest: program, line: 1, open: 0, indents: vec![0], tokens: Vec::new() };
    lexer.run()?;
    Ok(lexer.tokens)
}

/// The tokens of an expression inside an f-string.
pub(crate) fn tokens_inside(expression: &str, line: u32) -> Outcome<Vec<(Token, u32)>> {
    // an open bracket: no line of it is a statement
    let mut lexer = Lexer { rest: expression, line, open: 1, indents: vec![0], tokens: Vec::new() };
    while !lexer.rest.is_empty() {
        lexer.token()?;
    }
    lexer.push(Token::End);
    Ok(lexer.tokens)
}

impl Lexer<'_> {
    fn push(&mut self, token: Token) {
        self.tokens.push((token, self.line));
    }

    fn run(&mut self) -> Outcome<()> {
        while !self.rest.is_empty() {
            if self.open == 0 && self.at_line_start() {
                self.indentation()?;
                if self.rest.is_empty() {
                    break;
                }
            }
            self.token()?;
        }
        if !self.at_line_start() {
            self.push(Token::Newline);
        }
        for _ in 1..self.indents.len() {
            self.push(Token::Dedent);
        }
        self.push(Token::End);
        Ok(())
    }

    fn at_line_start(&self) -> bool {
        self.tokens.last().is_none_or(|(token, _)| {
            matches!(token, Token::Newline | Token::Indent | Token::Dedent)
        })
    }

    /// Reads the indentation of the next line with a statement.
    fn indentation(&mut self) -> Outcome<()> {
        if matches!(self.tokens.last(), Some((Token::Indent | Token::Dedent, _))) {
            return Ok(());
        }
        loop {
            let (mut width, mut length) = (0, 0);
            for c in self.rest.chars() {
                match c {
                    ' ' => width += 1,
                    '\t' => width += 8 - width % 8,
                    '\r' => {}
                    _ => break,
                }
                length += 1;
            }
            self.rest = &self.rest[length..];
            if let Some(rest) = self.rest.strip_prefix('\n') {
                self.rest = rest;
                self.line += 1;
            } else if self.rest.starts_with('#') {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.rest = &self.rest[end..];
            } else if self.rest.is_empty() {
                return Ok(());
            } else {
                return self.indented(width);
            }
        }
    }

    fn indented(&mut self, width: usize) -> Outcome<()> {
        let now = self.indents.last().copied().unwrap_or(0);
        if width > now {
            self.indents.push(width);
            self.push(Token::Indent);
        }
        while self.indents.last().is_some_and(|&last| width < last) {
            self.indents.pop();
            self.push(Token::Dedent);
        }
        if self.indents.last().copied().unwrap_or(0) != width {
            return syntax(self.line, "the indentation fits no line before it");
        }
        Ok(())
    }

    fn token(&mut self) -> Outcome<()> {
        let Some(first) = self.rest.chars().next() else { return Ok(()) };
        match first {
            ' ' | '\t' | '\r' => self.rest = &self.rest[1..],
            '\n' => {
                self.rest = &self.rest[1..];
                if self.open == 0 && !self.at_line_start() {
                    self.push(Token::Newline);
                }
                self.line += 1;
            }
            '#' => {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.rest = &self.rest[end..];
            }
            '\\' if self.rest[1..].trim_start_matches('\r').starts_with('\n') => {
                let end = self.rest.find('\n').unwrap_or(0);
                self.rest = &self.rest[end + 1..];
                self.line += 1;
            }
            '0'..='9' => self.number()?,
            '.' if self.rest[1..].starts_with(|c: char| c.is_ascii_digit()) => self.number()?,
            '"' | '\'' => self.text("")?,
            _ if first.is_alphabetic() || first == '_' => self.word()?,
            _ => {
                let sign = SIGNS.into_iter().find(|sign| self.rest.starts_with(sign));
                let Some(sign) = sign else {
                    return syntax(self.line, format!("unexpected character {first:?}"));
                };
                match sign {
                    "(" | "[" | "{" => self.open += 1,
                    ")" | "]" | "}" => self.open = self.open.saturating_sub(1),
                    _ => {}
                }
                self.rest = &self.rest[sign.len()..];
                self.push(Token::Sign(sign));
            }
        }
        Ok(())
    }

    fn word(&mut self) -> Outcome<()> {
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        let word = &self.rest[..end.unwrap_or(self.rest.len())];
        let after = &self.rest[word.len()..];
        let is_prefix = matches!(
            word.to_ascii_lowercase().as_str(),
            "f" | "r" | "b" | "u" | "fr" | "rf" | "br" | "rb"
        );
        if is_prefix && after.starts_with(['"', '\'']) {
            self.rest = after;
            return self.text(&word.to_ascii_lowercase());
        }
        self.rest = after;
        self.push(Token::Name(word.to_owned()));
        Ok(())
    }

    fn number(&mut self) -> Outcome<()> {
        let mut end = 0;
        let mut before = ' ';
        for c in self.rest.chars() {
            let is_sign = matches!(c, '+' | '-') && matches!(before, 'e' | 'E');
            if !(c.is_ascii_alphanumeric() || c == '.' || c == '_' || is_sign) {
                break;
            }
            end += c.len_utf8();
            before = c;
        }
        let written = &self.rest[..end];
        let digits = written.replace('_', "");
        let token = if let Some(hex) = digits.strip_prefix("0x") {
            i64::from_str_radix(hex, 16).ok().map(Token::Int)
        } else if digits.contains(['.', 'e', 'E']) {
            digits.parse().ok().map(Token::Float)
        } else {
            digits.parse().ok().map(Token::Int)
        };
        let Some(token) = token else {
            return syntax(self.line, format!("{written} is no number of 64 bits"));
        };
        self.rest = &self.rest[end..];
        self.push(token);
        Ok(())
    }

    /// A text in quotes; `rest` begins with the quote.
    fn text(&mut self, prefix: &str) -> Outcome<()> {
        if prefix.contains('b') {
            return syntax(self.line, "texts of bytes are not in this dialect");
        }
        let quote = self.rest.chars().next().unwrap_or('"');
        let triple: String = std::iter::repeat_n(quote, 3).collect();
        let single = quote.to_string();
        let mark = if self.rest.starts_with(&triple) { triple } else { single };
        let body = &self.rest[mark.len()..];
        let is_format = prefix.contains('f');
        let Some(end) = end_of(body, &mark, is_format) else {
            return syntax(self.line, "a text has no end");
        };
        let (inside, is_raw) = (&body[..end], prefix.contains('r'));
        let token = if is_format {
            Token::Format(inside.to_owned(), is_raw)
        } else if is_raw {
            Token::Text(inside.to_owned())
        } else {
            Token::Text(unescaped(inside))
        };
        self.push(token);
        self.line += inside.matches('\n').count() as u32;
        self.rest = &body[end + mark.len()..];
        Ok(())
    }
}

/// Returns where a text ends. In an f-string quotes inside braces belong to the expression there.
fn end_of(body: &str, mark: &str, is_format: bool) -> Option<usize> {
    let (mut depth, mut inner): (u32, Option<char>) = (0, None);
    let mut characters = body.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        if c == '\\' {
            characters.next();
            continue;
        }
        if let Some(quote) = inner {
            if c == quote {
                inner = None;
            }
            continue;
        }
        if depth == 0 && body[at..].starts_with(mark) {
            return Some(at);
        }
        if c == '\n' && mark.len() == 1 {
            return None;
        }
        if !is_format {
            continue;
        }
        match c {
            '{' if depth == 0 && characters.peek().is_some_and(|(_, next)| *next == '{') => {
                characters.next();
            }
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '"' | '\'' if depth > 0 => inner = Some(c),
            _ => {}
        }
    }
    None
}

/// A text with its escapes read.
pub(crate) fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match characters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('0') => out.push('\0'),
            Some('\n') => {}
            Some(c @ ('\\' | '\'' | '"')) => out.push(c),
            Some(c @ ('x' | 'u')) => {
                let length = if c == 'x' { 2 } else { 4 };
                let digits: String = characters.clone().take(length).collect();
                match u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32) {
                    Some(letter) => {
                        out.push(letter);
                        characters.nth(length - 1);
                    }
                    None => {
                        out.push('\\');
                        out.push(c);
                    }
                }
            }
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => out.push('\\'),
        }
    }
    out
}
