//! Writes values into texts: the formats of f-strings, of `format` and of `%`.

use std::fmt::Write as _;

use super::evaluate::Arguments;
use crate::error::{Outcome, Stop, fault, type_error, value_error};
use crate::value::Value;

/// Widest field and most decimals.
const MAX_WIDTH: usize = 1000;
const MAX_DECIMALS: usize = 20;

/// `[[fill]align][sign][#][0][width][,][.decimals][type]`
#[derive(Debug, Default)]
struct Spec {
    fill: Option<char>,
    align: Option<char>,
    has_plus: bool,
    width: usize,
    has_commas: bool,
    decimals: Option<usize>,
    kind: Option<char>,
}

fn spec(text: &str) -> Outcome<Spec> {
    let wrong = || value_error(format!("{text:?} is no format of this dialect"));
    let mut rest: Vec<char> = text.chars().collect();
    let mut spec = Spec::default();
    let is_align = |c: Option<&char>| matches!(c, Some('<' | '>' | '^'));
    if is_align(rest.get(1)) {
        (spec.fill, spec.align) = (Some(rest[0]), Some(rest[1]));
        rest.drain(..2);
    } else if is_align(rest.first()) {
        spec.align = Some(rest.remove(0));
    }
    if let Some('+' | '-' | ' ') = rest.first() {
        spec.has_plus = rest.remove(0) == '+';
    }
    if rest.first() == Some(&'0') {
        rest.remove(0);
        spec.fill = spec.fill.or(Some('0'));
        spec.align = spec.align.or(Some('>'));
    }
    let mut rest = rest.into_iter().peekable();
    let number = |rest: &mut std::iter::Peekable<std::vec::IntoIter<char>>| {
        let mut digits = String::new();
        while let Some(c) = rest.next_if(char::is_ascii_digit) {
            digits.push(c);
        }
        digits
    };
    let width = number(&mut rest);
    if !width.is_empty() {
        spec.width = width.parse().unwrap_or(usize::MAX);
    }
    spec.has_commas = rest.next_if(|c| matches!(c, ',' | '_')).is_some();
    if rest.next_if_eq(&'.').is_some() {
        spec.decimals = number(&mut rest).parse().ok();
        if spec.decimals.is_none_or(|decimals| decimals > MAX_DECIMALS) {
            return wrong();
        }
    }
    spec.kind = rest.next();
    if rest.next().is_some() || spec.width > MAX_WIDTH {
        return wrong();
    }
    Ok(spec)
}

/// A value in a format.
pub(super) fn formatted(value: &Value, format: &str) -> Outcome<String> {
    if format.is_empty() {
        return value.shown();
    }
    let spec = spec(format)?;
    let is_text = matches!(value, Value::Text(_));
    let text = match (spec.kind, value.number()) {
        (None | Some('s'), _) if is_text => {
            let text = value.shown()?;
            match spec.decimals {
                Some(most) => text.chars().take(most).collect(),
                None => text,
            }
        }
        (Some('f' | 'F'), Some(number)) => {
            let decimals = spec.decimals.unwrap_or(6);
            signed(&format!("{number:.decimals$}"), &spec)
        }
        (Some('%'), Some(number)) => {
            let decimals = spec.decimals.unwrap_or(6);
            signed(&format!("{:.decimals$}%", number * 100.0), &spec)
        }
        (Some('e'), Some(number)) => {
            let decimals = spec.decimals.unwrap_or(6);
            signed(&format!("{number:.decimals$e}"), &spec)
        }
        (None | Some('g'), Some(number)) if spec.decimals.is_some() => {
            signed(&significant(number, spec.decimals.unwrap_or(6)), &spec)
        }
        (Some('x'), Some(_)) if value.whole().is_some() => {
            format!("{:x}", value.whole().unwrap_or(0))
        }
        (None | Some('d' | 'n' | 'g'), Some(_)) => signed(&value.shown()?, &spec),
        (None, None) => value.shown()?,
        _ => {
            return value_error(format!("{format:?} is no format of a {}", value.kind()));
        }
    };
    let is_number = value.number().is_some();
    let align = spec.align.unwrap_or(if is_number { '>' } else { '<' });
    padded(&text, spec.fill.unwrap_or(' '), align, spec.width)
}

/// Writes a number with `digits` significant digits.
fn significant(number: f64, digits: usize) -> String {
    let digits = digits.max(1);
    let exponent = if number == 0.0 { 0 } else { number.abs().log10().floor() as i32 };
    if exponent < -4 || exponent >= digits as i32 {
        return format!("{number:.*e}", digits - 1);
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    let text = format!("{number:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// The digits of a number with its sign and separators of thousands.
fn signed(digits: &str, spec: &Spec) -> String {
    let (minus, rest) = match digits.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None if spec.has_plus => ("+", digits),
        None => ("", digits),
    };
    if !spec.has_commas {
        return format!("{minus}{rest}");
    }
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let mut out = minus.to_owned();
    for (at, c) in rest[..end].chars().enumerate() {
        if at > 0 && (end - at) % 3 == 0 {
            out.push(',');
        }
        out.push(c);
    }
    out + &rest[end..]
}

/// A text filled up to a width.
pub(super) fn padded(text: &str, fill: char, align: char, width: usize) -> Outcome<String> {
    if width > MAX_WIDTH {
        return value_error(format!("a field is at most {MAX_WIDTH} characters wide"));
    }
    let missing = width.saturating_sub(text.chars().count());
    let (before, after) = match align {
        '>' => (missing, 0),
        '^' => (missing / 2, missing - missing / 2),
        _ => (0, missing),
    };
    let fill = |count: usize| std::iter::repeat_n(fill, count).collect::<String>();
    Ok(format!("{}{text}{}", fill(before), fill(after)))
}

/// `"… {} {name:.2f}".format(…)`
pub(super) fn braces(text: &str, arguments: &Arguments) -> Outcome<String> {
    let (mut out, mut rest, mut next) = (String::new(), text, 0);
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        let (found, after) = (&rest[at..=at], &rest[at + 1..]);
        if let Some(doubled) = after.strip_prefix(found) {
            out.push_str(found);
            rest = doubled;
            continue;
        }
        let Some(end) = after.find('}').filter(|_| found == "{") else {
            return value_error("a brace of format has no other");
        };
        let (name, format) = after[..end].split_once(':').unwrap_or((&after[..end], ""));
        let place = if name.is_empty() { Ok(next) } else { name.parse::<usize>() };
        let value = match place {
            Ok(place) => arguments.positional.get(place),
            Err(_) => arguments.named.iter().find(|(n, _)| &**n == name).map(|(_, value)| value),
        };
        next += 1;
        let Some(value) = value else { return fault("KeyError", name) };
        out.push_str(&formatted(value, format)?);
        bounded(&out)?;
        rest = &after[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

fn bounded(text: &str) -> Outcome<()> {
    const MOST: usize = 1 << 20;
    if text.len() > MOST {
        return Err(Stop::Limit(format!("a text is longer than {MOST} bytes")));
    }
    Ok(())
}

/// `"%s has %.1f" % (a, b)`
pub(super) fn percent(text: &str, values: &[Value]) -> Outcome<String> {
    let (mut out, mut values) = (String::new(), values.iter());
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        if letters.next_if_eq(&'%').is_some() {
            out.push('%');
            continue;
        }
        let mut format = String::new();
        while let Some(c) = letters.next_if(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))
        {
            format.push(c);
        }
        let Some(kind) = letters.next() else { return value_error("a % ends the text") };
        let Some(value) = values.next() else {
            return type_error("there are fewer values than % in the text");
        };
        match kind {
            's' | 'r' => {
                let shown = if kind == 's' { value.shown()? } else { value.written()? };
                let _written = write!(out, "{shown}");
            }
            'd' | 'i' => {
                let Some(number) = value.number() else { return type_error("%d wants a number") };
                out.push_str(&formatted(&Value::Int(number.trunc() as i64), &format)?);
            }
            'f' | 'e' | 'g' | 'x' => {
                format.push(kind);
                out.push_str(&formatted(value, &format)?);
            }
            _ => return value_error(format!("%{kind} is not in this dialect")),
        }
        bounded(&out)?;
    }
    if values.next().is_some() {
        return type_error("there are more values than % in the text");
    }
    Ok(out)
}
