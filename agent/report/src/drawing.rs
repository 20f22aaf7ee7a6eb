//! Vector drawings: the form of plots and PDF pages before they become SVG or PDF.
//!
//! Lengths are points (1/72 inch), the origin is at the top left, y grows downwards. Colours are
//! named by meaning; each output has its own values.

/// A sheet with shapes, drawn in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// Width, pt.
    pub width: f32,
    /// Height, pt.
    pub height: f32,
    /// The shapes.
    pub shapes: Vec<Shape>,
}

/// One shape.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A filled polygon.
    Area {
        /// Corners of the polygon.
        points: Vec<[f32; 2]>,
        /// Colour of the polygon.
        fill: Colour,
        /// Opacity: 0 invisible … 1 solid.
        opacity: f32,
    },
    /// An open line.
    Line {
        /// Points of the line.
        points: Vec<[f32; 2]>,
        /// Colour of the line.
        stroke: Colour,
        /// Width of the line, pt.
        width: f32,
        /// Whether the line is dashed.
        dashed: bool,
    },
    /// A word or a line of text.
    Text(Label),
}

/// A line of text.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// Position of the anchor, pt.
    pub x: f32,
    /// Position of the base line, pt.
    pub y: f32,
    /// Font size, pt.
    pub size: f32,
    /// The part of the text that is placed at `x`.
    pub anchor: Anchor,
    /// Whether the text is bold.
    pub bold: bool,
    /// Colour of the text.
    pub colour: Colour,
    /// The text.
    pub text: String,
}

/// The part of a text that is placed at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The beginning of the text.
    Start,
    /// The middle of the text.
    Middle,
    /// The end of the text.
    End,
}

/// Colours by their meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Text and axes.
    Ink,
    /// Text of less importance.
    Muted,
    /// Rules and grids.
    Rule,
    /// The background of boxes.
    Shade,
    /// The background of the sheet.
    Paper,
    /// Lines of measured values.
    Course,
    /// Risk Normal.
    Normal,
    /// Risk Watch.
    Watch,
    /// Risk Warning.
    Warning,
    /// Risk Critical.
    Critical,
}

impl Colour {
    /// All colours.
    pub const ALL: [Self; 10] = [
        Self::Ink,
        Self::Muted,
        Self::Rule,
        Self::Shade,
        Self::Paper,
        Self::Course,
        Self::Normal,
        Self::Watch,
        Self::Warning,
        Self::Critical,
    ];

    /// The colour's name in style sheets.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ink => "ink",
            Self::Muted => "muted",
            Self::Rule => "rule",
            Self::Shade => "shade",
            Self::Paper => "paper",
            Self::Course => "course",
            Self::Normal => "normal",
            Self::Watch => "watch",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }

    /// Red, green, blue on white paper. Text in each colour on white, and white text on each risk
    /// colour, has a contrast of at least 4.5 (WCAG 2.2, 1.4.3).
    pub const fn on_paper(self) -> [u8; 3] {
        match self {
            Self::Ink => [0x1a, 0x20, 0x27],
            Self::Muted => [0x5a, 0x66, 0x72],
            Self::Rule => [0xd5, 0xdb, 0xe1],
            Self::Shade => [0xf3, 0xf5, 0xf7],
            Self::Paper => [0xff, 0xff, 0xff],
            Self::Course => [0x1f, 0x5f, 0xa8],
            Self::Normal => [0x1d, 0x7a, 0x46],
            Self::Watch => [0x8a, 0x64, 0x00],
            Self::Warning => [0xb4, 0x50, 0x09],
            Self::Critical => [0xb3, 0x1b, 0x1b],
        }
    }

    /// Red, green, blue on a dark screen.
    pub const fn on_dark(self) -> [u8; 3] {
        match self {
            Self::Ink => [0xe8, 0xec, 0xf0],
            Self::Muted => [0xa3, 0xae, 0xb9],
            Self::Rule => [0x3a, 0x44, 0x4e],
            Self::Shade => [0x1e, 0x25, 0x2c],
            Self::Paper => [0x14, 0x19, 0x1e],
            Self::Course => [0x6f, 0xb1, 0xf5],
            Self::Normal => [0x5f, 0xc9, 0x8c],
            Self::Watch => [0xe3, 0xb3, 0x41],
            Self::Warning => [0xf0, 0x8c, 0x4a],
            Self::Critical => [0xf4, 0x77, 0x77],
        }
    }
}

impl Drawing {
    /// An empty sheet.
    pub const fn new(width: f32, height: f32) -> Self {
        Self { width, height, shapes: Vec::new() }
    }

    /// Adds a filled rectangle.
    pub fn rectangle(&mut self, [x, y]: [f32; 2], [w, h]: [f32; 2], fill: Colour, opacity: f32) {
        let points = vec![[x, y], [x + w, y], [x + w, y + h], [x, y + h]];
        self.shapes.push(Shape::Area { points, fill, opacity });
    }

    /// Adds a straight line.
    pub fn line(&mut self, from: [f32; 2], to: [f32; 2], stroke: Colour, width: f32) {
        self.shapes.push(Shape::Line { points: vec![from, to], stroke, width, dashed: false });
    }

    /// Adds a straight dashed line.
    pub fn dashes(&mut self, from: [f32; 2], to: [f32; 2], stroke: Colour, width: f32) {
        self.shapes.push(Shape::Line { points: vec![from, to], stroke, width, dashed: true });
    }

    /// Adds a small diamond around a point.
    pub fn diamond(&mut self, [x, y]: [f32; 2], radius: f32, fill: Colour) {
        let points = vec![[x, y - radius], [x + radius, y], [x, y + radius], [x - radius, y]];
        self.shapes.push(Shape::Area { points, fill, opacity: 1.0 });
    }

    /// Adds a line of text.
    pub fn text(&mut self, label: Label) {
        self.shapes.push(Shape::Text(label));
    }

    /// Adds all shapes of `other`, with its origin at `at`.
    pub fn put(&mut self, other: &Self, [dx, dy]: [f32; 2]) {
        let moved = |points: &[[f32; 2]]| points.iter().map(|[x, y]| [x + dx, y + dy]).collect();
        self.shapes.extend(other.shapes.iter().map(|shape| match shape {
            Shape::Area { points, fill, opacity } => {
                Shape::Area { points: moved(points), fill: *fill, opacity: *opacity }
            }
            Shape::Line { points, stroke, width, dashed } => Shape::Line {
                points: moved(points),
                stroke: *stroke,
                width: *width,
                dashed: *dashed,
            },
            Shape::Text(label) => {
                Shape::Text(Label { x: label.x + dx, y: label.y + dy, ..label.clone() })
            }
        }));
    }
}
