//! The report of a tuning: one self-contained HTML file a language, with the curve of what could be
//! had.

use pdm_report::document::{Block, Document, DocumentTable, Pair};
use pdm_report::drawing::{Anchor, Colour, Drawing, Label, Shape};
use pdm_report::html::{self, HtmlError};
use pdm_shared::text::{Language, Text};
use pdm_shared::time::Timestamp;

use super::result::CurvePoint;
use super::{Advice, Change, LEAST_MACHINES, Tuning};

/// Size of the curve, pt: the text width of an A4 page.
const WIDTH: f32 = 505.0;
const HEIGHT: f32 = 220.0;
/// The edges of the plot, pt.
const LEFT: f32 = 40.0;
const TOP: f32 = 14.0;
const BOTTOM: f32 = 184.0;
const LETTERS: f32 = 8.0;
/// Most rows of a list; the JSON has all.
const MOST_ROWS: usize = 40;

/// The page in a language. `written_at` is the time of the last event.
///
/// # Errors
/// [`HtmlError`], which is a bug.
pub(crate) fn page(
    tuning: &Tuning,
    written_at: Timestamp,
    language: Language,
) -> Result<String, HtmlError> {
    let say = |text: Text| text.in_language(language).to_owned();
    let mut blocks = vec![
        Block::Section(say(Text::new("무엇을 얻을 수 있는가", "What could be had"))),
        Block::Plot {
            title: say(Text::new("거짓 에피소드와 리드 타임", "False episodes against lead time")),
            caption: say(Text::new(
                "점 하나가 설정 하나이다. 왼쪽 위가 좋다. 선은 더 나은 것이 없는 설정들을 잇는다.",
                "Each mark is a configuration; up and to the left is better. The line joins those \
                 that none of the others betters.",
            )),
            drawing: drawing(tuning, language),
        },
        Block::Table(curve(tuning, language)),
        Block::Section(say(Text::new(
            "하나씩 빼 본 설비",
            "Machines, each left out of the choice once",
        ))),
        Block::Table(left_out(tuning, language)),
        Block::Section(say(Text::new("어떻게 셌는가", "How it is counted"))),
        Block::Text(method(tuning, language)),
    ];
    if !tuning.remarks.is_empty() {
        blocks.push(Block::Callout {
            label: say(Text::new("기록에 대하여", "About the events")),
            text: tuning.remarks.iter().take(MOST_ROWS).cloned().collect::<Vec<_>>().join(". "),
            tone: Colour::Watch,
        });
    }
    html::html(&Document {
        language,
        kind: say(Text::new("임계값 조정", "Tuning")),
        title: tuning.configuration.clone(),
        subtitle: say(finding(tuning)),
        number: "pdm.tune/1".to_owned(),
        written_at,
        risk: None,
        head: head(tuning, language),
        blocks,
    })
}

/// The one sentence that says what to do.
pub(crate) fn finding(tuning: &Tuning) -> Text {
    match tuning.advice {
        Advice::CannotSay => Text::new(
            format!(
                "알 수 없음: 고장이 알려진 설비가 {}대이고, {LEAST_MACHINES}대가 필요하다",
                tuning.machines_with_failure
            ),
            format!(
                "Cannot say: {} machines have a known failure, {LEAST_MACHINES} are needed",
                tuning.machines_with_failure
            ),
        ),
        Advice::Keep => Text::new(
            "그대로 두는 것이 좋다: 선택에 쓰이지 않은 설비에서 더 나은 값이 없었다",
            "Keep the thresholds: no others cost less on machines that had no part in the choice",
        ),
        Advice::Change => Text::new(
            format!(
                "선택에 쓰이지 않은 설비에서 비용이 {:.1}에서 {:.1}로 줄었다: {}",
                tuning.cost,
                tuning.cost_left_out,
                list(&tuning.changes)
            ),
            format!(
                "On machines that had no part in the choice the cost falls from {:.1} to {:.1}: {}",
                tuning.cost,
                tuning.cost_left_out,
                list(&tuning.changes)
            ),
        ),
    }
}

/// The thresholds as they stand in a configuration.
pub(crate) fn list(changes: &[Change]) -> String {
    let one = |change: &Change| format!("{} = {}", change.key, change.to);
    let all: Vec<String> = changes.iter().map(one).collect();
    if all.is_empty() { "=".to_owned() } else { all.join(", ") }
}

fn head(tuning: &Tuning, language: Language) -> Vec<Pair> {
    let pair = |ko: &str, en: &str, value: String| Pair {
        label: Text::new(ko, en).in_language(language).to_owned(),
        value,
    };
    vec![
        pair("설비", "Machines", tuning.machines.to_string()),
        pair("베어링·년", "Bearing-years", format!("{:.2}", tuning.bearing_years)),
        pair("고장", "Failures", tuning.failures.to_string()),
        pair("시도한 설정", "Configurations tried", tuning.curve.len().to_string()),
    ]
}

fn method(tuning: &Tuning, language: Language) -> String {
    let price = &tuning.price;
    Text::new(
        format!(
            "비용은 고장 없이 알린 에피소드의 수에, 고장마다 모자란 리드 타임의 비율에 {:.0}을 곱한 값을 더한 \
             것이다. 바라는 리드 타임은 {:.0} h이고, 첫 경보부터 고장까지를 센다. 에피소드가 끝나고 {:.0}일 \
             안에 온 고장은 그 에피소드의 것이다. 설비마다 나머지 설비로 고른 설정을 그 설비에서 센다.",
            price.miss_cost, price.lead_h, price.horizon_days
        ),
        format!(
            "The cost is the number of episodes told without a failure, and for each failure {:.0} \
             times the missing share of the wanted lead time of {:.0} h, which counts from the \
             first alarm. A failure within {:.0} days after an episode is what the episode told \
             of. On each machine the configuration is counted that the other machines would have \
             chosen.",
            price.miss_cost, price.lead_h, price.horizon_days
        ),
    )
    .in_language(language)
    .to_owned()
}

fn table(
    language: Language,
    columns: &[(&str, &str, f32)],
    rows: Vec<Vec<String>>,
) -> DocumentTable {
    let name =
        |(ko, en, _): &(&str, &str, f32)| Text::new(*ko, *en).in_language(language).to_owned();
    DocumentTable {
        head: columns.iter().map(name).collect(),
        shares: columns.iter().map(|(_, _, share)| *share).collect(),
        rows,
    }
}

/// The configuration, the proposal, and those that none of the others betters.
fn curve(tuning: &Tuning, language: Language) -> DocumentTable {
    let is_shown = |(place, point): &(usize, &CurvePoint)| {
        *place == 0 || *place == tuning.proposed || point.is_best_of_its_kind
    };
    let mut shown: Vec<(usize, &CurvePoint)> =
        tuning.curve.iter().enumerate().filter(is_shown).collect();
    shown.sort_by(|(_, one), (_, other)| one.cost.total_cmp(&other.cost));
    shown.dedup_by_key(|(_, point)| (point.false_episodes, point.cost.to_bits()));
    let rows = shown.into_iter().take(MOST_ROWS).map(|(place, point)| {
        let mark = if place == 0 { tuning.configuration.clone() } else { list(&point.changes) };
        let lead =
            point.lead_share.map_or_else(|| "-".to_owned(), |it| format!("{:.0} %", 100.0 * it));
        vec![
            mark,
            point.false_episodes.to_string(),
            point.failures_not_told.to_string(),
            lead,
            point.messages.to_string(),
            format!("{:.1}", point.cost),
        ]
    });
    let columns = [
        ("설정", "Configuration", 0.46),
        ("거짓 에피소드", "False episodes", 0.12),
        ("못 알린 고장", "Failures not told", 0.12),
        ("리드 타임", "Lead time had", 0.1),
        ("메시지", "Messages", 0.1),
        ("비용", "Cost", 0.1),
    ];
    table(language, &columns, rows.collect())
}

fn left_out(tuning: &Tuning, language: Language) -> DocumentTable {
    let mut rows: Vec<_> = tuning.left_out.iter().collect();
    let gain = |row: &super::result::LeftOutRow| row.cost - row.cost_chosen;
    rows.sort_by(|one, other| gain(one).total_cmp(&gain(other)));
    let rows = rows.into_iter().take(MOST_ROWS).map(|row| {
        vec![
            row.machine.clone(),
            list(&row.changes),
            format!("{:.1}", row.cost),
            format!("{:.1}", row.cost_chosen),
        ]
    });
    let columns = [
        ("설비", "Machine", 0.24),
        ("나머지 설비로 고른 값", "Chosen by the others", 0.5),
        ("지금 비용", "Cost now", 0.13),
        ("고른 값의 비용", "Cost of the choice", 0.13),
    ];
    table(language, &columns, rows.collect())
}

/// The places of the points in the plot.
struct Frame {
    most_false: f64,
}

impl Frame {
    fn of(point: &CurvePoint, most_false: f64) -> [f32; 2] {
        Self { most_false }.place(point.false_episodes as f64, point.lead_share.unwrap_or(0.0))
    }

    fn place(&self, false_episodes: f64, lead_share: f64) -> [f32; 2] {
        let x = (false_episodes / self.most_false).clamp(0.0, 1.0) as f32;
        let y = lead_share.clamp(0.0, 1.0) as f32;
        [LEFT + (WIDTH - LEFT - 10.0) * x, BOTTOM - (BOTTOM - TOP) * y]
    }
}

fn drawing(tuning: &Tuning, language: Language) -> Drawing {
    let mut drawing = Drawing::new(WIDTH, HEIGHT);
    let most = tuning.curve.iter().map(|point| point.false_episodes).max().unwrap_or(0).max(1);
    let most = most as f64;
    drawing.line([LEFT, BOTTOM], [WIDTH, BOTTOM], Colour::Rule, 0.7);
    drawing.line([LEFT, TOP], [LEFT, BOTTOM], Colour::Rule, 0.7);
    let mut label = |at: [f32; 2], anchor: Anchor, text: String| {
        let [x, y] = at;
        let (size, colour) = (LETTERS, Colour::Muted);
        drawing.text(Label { x, y, size, anchor, bold: false, colour, text });
    };
    label([LEFT - 4.0, TOP + 3.0], Anchor::End, "100 %".to_owned());
    label([LEFT - 4.0, BOTTOM + 3.0], Anchor::End, "0 %".to_owned());
    label([LEFT, BOTTOM + 14.0], Anchor::Start, "0".to_owned());
    let axis = Text::new("거짓 에피소드", "false episodes").in_language(language).to_owned();
    label([WIDTH, BOTTOM + 14.0], Anchor::End, format!("{most:.0} {axis}"));
    let mut best: Vec<[f32; 2]> = tuning
        .curve
        .iter()
        .filter(|point| point.is_best_of_its_kind)
        .map(|point| Frame::of(point, most))
        .collect();
    best.sort_by(|one, other| one[0].total_cmp(&other[0]).then(other[1].total_cmp(&one[1])));
    drawing.shapes.push(Shape::Line {
        points: best,
        stroke: Colour::Course,
        width: 1.0,
        dashed: true,
    });
    for point in &tuning.curve {
        drawing.diamond(Frame::of(point, most), 2.5, Colour::Muted);
    }
    for (place, colour) in [(0, Colour::Ink), (tuning.proposed, Colour::Normal)] {
        if let Some(point) = tuning.curve.get(place).filter(|_| place > 0 || colour == Colour::Ink)
        {
            let [x, y] = Frame::of(point, most);
            drawing.diamond([x, y], 5.0, colour);
            let text = match place {
                0 => tuning.configuration.clone(),
                _ => Text::new("제안", "proposed").in_language(language).to_owned(),
            };
            let (anchor, x) =
                if x > WIDTH / 2.0 { (Anchor::End, x - 8.0) } else { (Anchor::Start, x + 8.0) };
            let (size, colour) = (LETTERS, Colour::Ink);
            drawing.text(Label { x, y: y + 3.0, size, anchor, bold: true, colour, text });
        }
    }
    drawing
}
