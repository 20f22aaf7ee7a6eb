//! A drawing as inline SVG: no script, no link, colours from the page's style sheet.

use std::fmt::Write as _;

use super::drawing::{Anchor, Drawing, Label, Shape};

/// The drawing as SVG; `title` is the text for screen readers.
pub(crate) fn svg(drawing: &Drawing, title: &str) -> String {
    let mut out = String::new();
    // writing to a String cannot fail
    let _infallible = write!(
        out,
        "<svg viewBox=\"0 0 {:.0} {:.0}\" role=\"img\" aria-label=\"{}\">",
        drawing.width,
        drawing.height,
        escaped(title)
    );
    for shape in &drawing.shapes {
        write_shape(&mut out, shape);
    }
    out.push_str("</svg>");
    out
}

fn write_shape(out: &mut String, shape: &Shape) {
    let _infallible = match shape {
        Shape::Area { points, fill, opacity } => write!(
            out,
            "<polygon points=\"{}\" style=\"fill:var(--{})\" fill-opacity=\"{opacity}\"/>",
            corners(points),
            fill.name()
        ),
        Shape::Line { points, stroke, width, dashed } => write!(
            out,
            "<polyline points=\"{}\" fill=\"none\" style=\"stroke:var(--{})\" \
             stroke-width=\"{width}\"{}/>",
            corners(points),
            stroke.name(),
            if *dashed { " stroke-dasharray=\"4 3\"" } else { "" }
        ),
        Shape::Text(label) => write_text(out, label),
    };
}

fn write_text(out: &mut String, label: &Label) -> std::fmt::Result {
    let anchor = match label.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    write!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{}\" text-anchor=\"{anchor}\"{} \
         style=\"fill:var(--{})\">{}</text>",
        label.x,
        label.y,
        label.size,
        if label.bold { " font-weight=\"700\"" } else { "" },
        label.colour.name(),
        escaped(&label.text)
    )
}

fn corners(points: &[[f32; 2]]) -> String {
    let mut out = String::with_capacity(points.len() * 12);
    for [x, y] in points {
        let _infallible = write!(out, "{x:.1},{y:.1} ");
    }
    out.truncate(out.trim_end().len());
    out
}

/// Text that is safe in content and in quoted attributes, without the characters that XML forbids.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            letter if letter.is_control() => {}
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::Colour;

    #[test]
    fn text_cannot_leave_its_element() {
        let mut drawing = Drawing::new(10.0, 10.0);
        drawing.text(Label {
            x: 1.0,
            y: 2.0,
            size: 8.0,
            anchor: Anchor::Start,
            bold: false,
            colour: Colour::Ink,
            text: "</text><script>alert('\u{1}')</script>".to_owned(),
        });
        let out = svg(&drawing, "\"><script>");
        assert!(!out.contains("<script"), "{out}");
        assert_eq!(out.matches("<text").count(), 1);
    }
}
