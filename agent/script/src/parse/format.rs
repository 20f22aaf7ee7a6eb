//! The inside of an f-string: texts, and expressions in braces with their format.

use std::rc::Rc;

use super::Parser;
use crate::error::Outcome;
use crate::syntax::Piece;
use crate::token::{Token, syntax, tokens_inside};

/// The pieces of an f-string; `read` reads the escapes of its texts.
pub(super) fn pieces(
    inside: &str,
    read: fn(&str) -> String,
    line: u32,
    nesting: u32,
) -> Outcome<Vec<Piece>> {
    let (mut pieces, mut text, mut rest) = (Vec::new(), String::new(), inside);
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let (found, after) = (&rest[at..=at], &rest[at + 1..]);
        if let Some(doubled) = after.strip_prefix(found) {
            text.push_str(found);
            rest = doubled;
            continue;
        }
        if found == "}" {
            return syntax(line, "a single } in an f-string");
        }
        let Some(end) = closing(after) else {
            return syntax(line, "a { in an f-string has no }");
        };
        if !text.is_empty() {
            pieces.push(Piece::Text(Rc::from(read(&text))));
            text.clear();
        }
        pieces.push(shown(&after[..end], read, line, nesting)?);
        rest = &after[end + 1..];
    }
    text.push_str(rest);
    if !text.is_empty() {
        pieces.push(Piece::Text(Rc::from(read(&text))));
    }
    Ok(pieces)
}

/// Returns where the brace of an expression closes.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0_u32, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '{') => depth += 1,
            (None, '}') if depth == 0 => return Some(at),
            (None, '}') => depth -= 1,
            (None, _) => {}
        }
    }
    None
}

/// `expression!r:format`
fn shown(text: &str, read: fn(&str) -> String, line: u32, nesting: u32) -> Outcome<Piece> {
    let (expression, format) = match format_at(text) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let expression = expression.trim_end();
    let (expression, is_repr) = match expression.strip_suffix("!r") {
        Some(before) => (before, true),
        None => (expression.strip_suffix("!s").unwrap_or(expression), false),
    };
    let mut parser = Parser { tokens: tokens_inside(expression, line)?, at: 0, nesting };
    parser.deeper()?;
    let value = parser.expressions()?;
    if *parser.peek() != Token::End {
        return parser.wrong("the end of the expression");
    }
    let format = match format {
        Some(format) => pieces(format, read, line, parser.nesting)?,
        None => Vec::new(),
    };
    Ok(Piece::Shown { value, is_repr, format })
}

/// Returns where the format of an expression begins: the first colon outside brackets and quotes.
fn format_at(text: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0_u32, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ':') if depth == 0 => return Some(at),
            (None, _) => {}
        }
    }
    None
}
