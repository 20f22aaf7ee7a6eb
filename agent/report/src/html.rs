//! A document as one HTML file: inline style, inline plots, no script, no link, fit for A4.
//!
//! The template escapes everything except the plots, which escape their own texts.

use std::sync::OnceLock;

use minijinja::value::Value;
use minijinja::{Environment, context};
use pdm_shared::text::Language;

use super::document::{Block, Document, Mark, Pair, colour, sign};
use super::drawing::Colour;
use super::svg::svg;

const TEMPLATE: &str = include_str!("html/document.html");
const STYLE: &str = include_str!("html/style.css");
const NAME: &str = "document.html";

/// The page was not made: a bug of this program, not an error of its input.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the page")]
pub struct HtmlError(#[from] minijinja::Error);

fn environment() -> &'static Environment<'static> {
    static ENVIRONMENT: OnceLock<Environment<'static>> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        let mut environment = Environment::new();
        environment
            .add_template(NAME, TEMPLATE)
            .expect("the template comes with the program and is read by a test");
        environment
    })
}

/// The document as HTML.
///
/// # Errors
/// [`HtmlError`] if the template fails.
pub fn html(document: &Document) -> Result<String, HtmlError> {
    let language = match document.language {
        Language::Ko => "ko",
        Language::En => "en",
    };
    let blocks: Vec<Value> = document.blocks.iter().map(block).collect();
    let page = environment().get_template(NAME)?.render(context! {
        language,
        style => Value::from_safe_string(style()),
        kind => &document.kind,
        title => &document.title,
        subtitle => &document.subtitle,
        number => &document.number,
        risk => document.risk.map_or(Colour::Muted, colour).name(),
        sign => document.risk.map(sign),
        word => document.risk.map(|risk| risk.label().in_language(document.language).to_owned()),
        head => pairs(&document.head),
        blocks,
    })?;
    Ok(page)
}

/// The style sheet, with the colours for light and dark backgrounds.
fn style() -> String {
    let colours = |of: fn(Colour) -> [u8; 3]| -> String {
        let one = |colour: Colour| {
            let [red, green, blue] = of(colour);
            format!("--{}:#{red:02x}{green:02x}{blue:02x};", colour.name())
        };
        Colour::ALL.into_iter().map(one).collect()
    };
    let (paper, dark) = (colours(Colour::on_paper), colours(Colour::on_dark));
    format!(
        ":root{{color-scheme:light dark;{paper}}}\n\
         @media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{STYLE}"
    )
}

fn pairs(pairs: &[Pair]) -> Vec<Value> {
    pairs.iter().map(|pair| context! { label => &pair.label, value => &pair.value }).collect()
}

fn block(block: &Block) -> Value {
    match block {
        Block::Section(text) => context! { kind => "section", text },
        Block::Sub(text) => context! { kind => "sub", text },
        Block::Text(text) => context! { kind => "text", text },
        Block::Callout { label, text, tone } => {
            context! { kind => "callout", label, text, tone => tone.name() }
        }
        Block::Pairs(all) => context! { kind => "pairs", pairs => pairs(all) },
        Block::Tiles(all) => context! { kind => "tiles", pairs => pairs(all) },
        Block::Table(table) => {
            let shares: Vec<f32> = table.shares.iter().map(|share| share * 100.0).collect();
            let named = table.head.iter().any(|name| !name.is_empty());
            context! { kind => "table", head => &table.head, shares, rows => &table.rows, named }
        }
        Block::Items { mark: Mark::Bullet, items } => context! { kind => "bullets", items },
        Block::Items { mark: Mark::Step, items } => context! { kind => "steps", items },
        Block::Source(text) => context! { kind => "source", text },
        Block::Plot { title, caption, drawing } => {
            let plot = Value::from_safe_string(svg(drawing, title));
            context! { kind => "plot", title, caption, plot }
        }
        Block::Signs(roles) => context! { kind => "signs", roles },
    }
}
