//! The sheet under the text: pages, and the position of the next line.

use super::wrap;
use crate::drawing::{Anchor, Colour, Drawing, Label};

/// A4, pt (ISO 216: 210 × 297 mm).
const PAGE: [f32; 2] = [595.28, 841.89];
/// Margin at the left, pt.
pub(super) const LEFT: f32 = 45.0;
/// Width of the text, pt.
pub(super) const WIDTH: f32 = PAGE[0] - 2.0 * LEFT;
/// Margins at the top and at the foot, pt.
const TOP: f32 = 42.0;
const FOOT: f32 = 50.0;
/// Font size of plain text, pt.
pub(super) const BODY: f32 = 9.5;
/// Distance of lines as a multiple of the font size.
pub(super) const LEADING: f32 = 1.5;

/// Pages, and the position of the next line.
#[derive(Debug)]
pub(super) struct Sheet {
    done: Vec<Drawing>,
    page: Drawing,
    y: f32,
}

impl Sheet {
    /// An empty first page.
    pub(super) fn new() -> Self {
        Self { done: Vec::new(), page: Drawing::new(PAGE[0], PAGE[1]), y: TOP }
    }

    /// The current page.
    pub(super) fn page(&mut self) -> &mut Drawing {
        &mut self.page
    }

    /// Position of the next line.
    pub(super) const fn y(&self) -> f32 {
        self.y
    }

    /// Moves the next line to another position on this page.
    pub(super) fn move_to(&mut self, y: f32) {
        self.y = y;
    }

    /// Height of the text of a page.
    pub(super) const fn capacity() -> f32 {
        PAGE[1] - TOP - FOOT
    }

    /// Leaves a space, except at the top of a page.
    pub(super) fn space(&mut self, height: f32) {
        if self.y > TOP {
            self.y += height;
        }
    }

    /// Begins a new page unless `height` fits on this one.
    pub(super) fn make_room(&mut self, height: f32) {
        if self.y + height > PAGE[1] - FOOT && self.y > TOP {
            self.turn();
        }
    }

    fn turn(&mut self) {
        let page = std::mem::replace(&mut self.page, Drawing::new(PAGE[0], PAGE[1]));
        self.done.push(page);
        self.y = TOP;
    }

    /// Writes a paragraph into the column `[from, width]`, over several pages if needed.
    pub(super) fn paragraph(
        &mut self,
        text: &str,
        size: f32,
        bold: bool,
        colour: Colour,
        column: [f32; 2],
    ) {
        for line in wrap::lines(text, size, column[1]) {
            self.make_room(size * LEADING);
            self.write(line, size, bold, colour, column[0]);
            self.y += size * LEADING;
        }
    }

    /// Writes one line at the current position, without moving on.
    pub(super) fn write(&mut self, text: String, size: f32, bold: bool, colour: Colour, from: f32) {
        if text.is_empty() {
            return;
        }
        let y = self.y + size * (LEADING + 1.0) / 2.0 - size * 0.12;
        let anchor = Anchor::Start;
        self.page.text(Label { x: LEFT + from, y, size, anchor, bold, colour, text });
    }

    /// The pages, each with its footer and number.
    pub(super) fn finish(mut self, foot: &str) -> Vec<Drawing> {
        self.turn();
        let all = self.done.len();
        for (at, page) in self.done.iter_mut().enumerate() {
            let y = PAGE[1] - 24.0;
            page.line([LEFT, y - 12.0], [LEFT + WIDTH, y - 12.0], Colour::Rule, 0.6);
            let label = |x, anchor, text| Label {
                x,
                y,
                size: 7.5,
                anchor,
                bold: false,
                colour: Colour::Muted,
                text,
            };
            let told = wrap::lines(foot, 7.5, WIDTH - 60.0).remove(0);
            page.text(label(LEFT, Anchor::Start, told));
            page.text(label(LEFT + WIDTH, Anchor::End, format!("{} / {all}", at + 1)));
        }
        self.done
    }
}
