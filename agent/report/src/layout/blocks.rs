//! Sets blocks one after another.

use super::sheet::{BODY, LEADING, LEFT, Sheet, WIDTH};
use super::wrap;
use crate::document::{Block, DocumentTable, Mark, Pair};
use crate::drawing::{Colour, Drawing};
use crate::font;

/// Size of small text, pt.
const SMALL: f32 = 8.0;
/// Space around the text of a cell, pt.
const PADDING: f32 = 4.0;

/// Sets a block; a heading stays on the page of the next block.
pub(super) fn set(sheet: &mut Sheet, block: &Block, next: Option<&Block>) {
    match block {
        Block::Section(text) => {
            let follows = match next {
                Some(Block::Plot { drawing, caption, .. }) => plot_height(drawing, caption),
                Some(_) | None => 0.0,
            };
            section(sheet, text, follows);
        }
        Block::Sub(text) => {
            sheet.space(6.0);
            sheet.make_room(4.0 * BODY * LEADING);
            sheet.paragraph(text, 10.5, true, Colour::Ink, [0.0, WIDTH]);
        }
        Block::Text(text) => {
            sheet.paragraph(text, BODY, false, Colour::Ink, [0.0, WIDTH]);
            sheet.space(2.0);
        }
        Block::Callout { label, text, tone } => callout(sheet, label, text, *tone),
        Block::Pairs(all) => pairs(sheet, all, BODY),
        Block::Tiles(all) => tiles(sheet, all),
        Block::Table(all) => table(sheet, all),
        Block::Items { mark, items } => list(sheet, *mark, items),
        Block::Source(text) => {
            sheet.paragraph(text, SMALL, false, Colour::Muted, [0.0, WIDTH]);
            sheet.space(3.0);
        }
        Block::Plot { title, caption, drawing } => plot(sheet, title, caption, drawing),
        Block::Signs(all) => signs(sheet, all),
    }
}

fn section(sheet: &mut Sheet, text: &str, follows: f32) {
    sheet.space(12.0);
    sheet.make_room((follows + 34.0).max(110.0));
    sheet.paragraph(text, 13.0, true, Colour::Ink, [0.0, WIDTH]);
    let y = sheet.y();
    sheet.page().line([LEFT, y], [LEFT + WIDTH, y], Colour::Rule, 0.8);
    sheet.move_to(y + 5.0);
}

fn callout(sheet: &mut Sheet, label: &str, text: &str, tone: Colour) {
    sheet.space(4.0);
    sheet.make_room(4.0 * BODY * LEADING);
    let inside = [12.0, WIDTH - 24.0];
    let bar = |sheet: &mut Sheet, line: String, size: f32, bold: bool, colour: Colour| {
        let height = size * LEADING;
        sheet.make_room(height);
        let y = sheet.y();
        sheet.page().rectangle([LEFT, y], [WIDTH, height + 0.3], Colour::Shade, 1.0);
        sheet.page().rectangle([LEFT, y], [4.0, height + 0.3], tone, 1.0);
        sheet.write(line, size, bold, colour, inside[0]);
        sheet.move_to(y + height);
    };
    for line in wrap::lines(label, BODY, inside[1]) {
        bar(sheet, line, BODY, true, tone);
    }
    for line in wrap::lines(text, BODY + 0.5, inside[1]) {
        bar(sheet, line, BODY + 0.5, false, Colour::Ink);
    }
    sheet.space(6.0);
}

/// Sets names and values in two columns of pairs.
pub(super) fn pairs(sheet: &mut Sheet, all: &[Pair], size: f32) {
    let half = WIDTH / 2.0;
    let name = all.iter().map(|pair| font::width(&pair.label, size)).fold(0.0, f32::max);
    let name = name.min(half * 0.5) + 8.0;
    for row in all.chunks(2) {
        let cells: Vec<(f32, &str, f32, Colour)> = row
            .iter()
            .enumerate()
            .flat_map(|(at, pair)| {
                let from = half * at as f32;
                [
                    (from, pair.label.as_str(), name - 6.0, Colour::Muted),
                    (from + name, pair.value.as_str(), half - name - 8.0, Colour::Ink),
                ]
            })
            .collect();
        cells_side_by_side(sheet, &cells, size, false);
    }
}

/// Sets texts side by side, each in its column, line by line, over several pages if needed.
fn cells_side_by_side(
    sheet: &mut Sheet,
    cells: &[(f32, &str, f32, Colour)],
    size: f32,
    bold: bool,
) {
    let set: Vec<Vec<String>> =
        cells.iter().map(|(_, text, width, _)| wrap::lines(text, size, *width)).collect();
    let most = set.iter().map(Vec::len).max().unwrap_or(0);
    let height = size * LEADING;
    if most as f32 * height <= Sheet::capacity() {
        sheet.make_room(most as f32 * height);
    }
    for at in 0..most {
        sheet.make_room(height);
        for (lines, (from, _, _, colour)) in set.iter().zip(cells) {
            if let Some(line) = lines.get(at) {
                sheet.write(line.clone(), size, bold, *colour, *from);
            }
        }
        sheet.move_to(sheet.y() + height);
    }
}

/// Sets boxes with a large value above its name.
fn tiles(sheet: &mut Sheet, all: &[Pair]) {
    const COLUMNS: usize = 4;
    let gap = 6.0;
    let width = (WIDTH - gap * (COLUMNS as f32 - 1.0)) / COLUMNS as f32;
    for row in all.chunks(COLUMNS) {
        let names: Vec<Vec<String>> =
            row.iter().map(|pair| wrap::lines(&pair.label, SMALL, width - 12.0)).collect();
        let lines = names.iter().map(Vec::len).max().unwrap_or(1) as f32;
        let height = 24.0 + lines * SMALL * LEADING + 4.0;
        sheet.make_room(height + gap);
        let top = sheet.y();
        for (at, (pair, name)) in row.iter().zip(&names).enumerate() {
            let from = (width + gap) * at as f32;
            sheet.page().rectangle([LEFT + from, top], [width, height], Colour::Shade, 1.0);
            sheet.move_to(top + 3.0);
            let size = fitting(&pair.value, 13.0, width - 12.0);
            sheet.write(pair.value.clone(), size, true, Colour::Ink, from + 6.0);
            for (line, text) in name.iter().enumerate() {
                sheet.move_to(top + 22.0 + line as f32 * SMALL * LEADING);
                sheet.write(text.clone(), SMALL, false, Colour::Muted, from + 6.0);
            }
        }
        sheet.move_to(top + height + gap);
    }
}

/// The font size, at most `largest`, at which a text fits into a width.
fn fitting(text: &str, largest: f32, width: f32) -> f32 {
    let needed = font::width(text, largest);
    if needed <= width { largest } else { (largest * width / needed).max(1.0) }
}

fn table(sheet: &mut Sheet, table: &DocumentTable) {
    let columns: Vec<[f32; 2]> = table
        .shares
        .iter()
        .scan(0.0, |from, share| {
            let column = [*from, WIDTH * share];
            *from += WIDTH * share;
            Some(column)
        })
        .collect();
    if table.head.iter().any(|name| !name.is_empty()) {
        sheet.make_room(4.0 * SMALL * LEADING);
        let y = sheet.y();
        sheet.page().rectangle([LEFT, y], [WIDTH, SMALL * LEADING + 4.0], Colour::Shade, 1.0);
        sheet.move_to(y + 2.0);
        row(sheet, &columns, &table.head, Colour::Muted, true);
        sheet.move_to(sheet.y() + 2.0);
    }
    for cells in &table.rows {
        sheet.space(2.0);
        row(sheet, &columns, cells, Colour::Ink, false);
        sheet.space(2.0);
        let y = sheet.y();
        sheet.page().line([LEFT, y], [LEFT + WIDTH, y], Colour::Rule, 0.5);
    }
    sheet.space(6.0);
}

fn row(sheet: &mut Sheet, columns: &[[f32; 2]], cells: &[String], colour: Colour, bold: bool) {
    let cells: Vec<(f32, &str, f32, Colour)> = columns
        .iter()
        .zip(cells)
        .map(|([from, width], text)| {
            (from + PADDING, text.as_str(), (width - 2.0 * PADDING).max(SMALL), colour)
        })
        .collect();
    cells_side_by_side(sheet, &cells, SMALL + 0.5, bold);
}

fn list(sheet: &mut Sheet, mark: Mark, items: &[String]) {
    let indent = match mark {
        Mark::Bullet => 12.0,
        Mark::Step => 34.0,
    };
    for (at, item) in items.iter().enumerate() {
        for (number, line) in wrap::lines(item, BODY, WIDTH - indent).into_iter().enumerate() {
            sheet.make_room(BODY * LEADING);
            if number == 0 {
                let before = match mark {
                    Mark::Bullet => "·".to_owned(),
                    Mark::Step => format!("□ {}.", at + 1),
                };
                sheet.write(before, BODY, mark == Mark::Bullet, Colour::Muted, 2.0);
            }
            sheet.write(line, BODY, false, Colour::Ink, indent);
            sheet.move_to(sheet.y() + BODY * LEADING);
        }
        sheet.space(1.5);
    }
    sheet.space(3.0);
}

fn plot(sheet: &mut Sheet, title: &str, caption: &str, drawing: &Drawing) {
    sheet.space(4.0);
    sheet.make_room(plot_height(drawing, caption));
    sheet.paragraph(title, BODY, true, Colour::Ink, [0.0, WIDTH]);
    let y = sheet.y();
    sheet.page().put(drawing, [LEFT, y]);
    sheet.move_to(y + drawing.height + 2.0);
    sheet.paragraph(caption, SMALL, false, Colour::Muted, [0.0, WIDTH]);
    sheet.space(4.0);
}

fn plot_height(drawing: &Drawing, caption: &str) -> f32 {
    let caption_lines = wrap::lines(caption, SMALL, WIDTH).len() as f32;
    drawing.height + (BODY + caption_lines * SMALL) * LEADING + 8.0
}

/// Sets roles, each with space for a name, a date and a signature.
fn signs(sheet: &mut Sheet, all: &[String]) {
    let height = 30.0;
    sheet.make_room(height * all.len().min(4) as f32 + 10.0);
    for role in all {
        sheet.make_room(height);
        let y = sheet.y();
        sheet.move_to(y + height - BODY * LEADING - 4.0);
        sheet.write(role.clone(), BODY, false, Colour::Ink, 0.0);
        for [from, to] in [[0.30, 0.55], [0.58, 0.75], [0.78, 1.0]] {
            let (from, to) = (LEFT + WIDTH * from, LEFT + WIDTH * to);
            sheet.page().line([from, y + height - 5.0], [to, y + height - 5.0], Colour::Muted, 0.6);
        }
        sheet.move_to(y + height);
    }
}
