//! The report: one self-contained HTML file a language, in the look of the project's reports.

use pdm_expert::wording::element;
use pdm_report::document::{Block, Document, DocumentTable, Mark, Pair};
use pdm_report::drawing::Colour;
use pdm_report::html::{self, HtmlError};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Language;
use pdm_shared::time::Timestamp;

use super::compare::{Difference, DifferenceKind, ToldEpisode};
use super::figures::SideFigures;
use super::played::MachinePlayed;
use super::plot::{minute, plot};
use super::summary::Summary;

/// Most differing episodes with a plot; the others are in the JSON. A file of a hundred plots is
/// some hundred kilobytes.
const MOST_PLOTS: usize = 100;
/// Most rows of other lists.
const MOST_ROWS: usize = 50;

/// Texts in one language.
#[derive(Clone, Copy)]
struct Words(Language);

impl Words {
    fn say(self, ko: &str, en: &str) -> String {
        match self.0 {
            Language::Ko => ko.to_owned(),
            Language::En => en.to_owned(),
        }
    }

    fn cannot_say(self) -> String {
        self.say("알 수 없음", "cannot say")
    }

    fn pair(self, ko: &str, en: &str, value: impl Into<String>) -> Pair {
        Pair { label: self.say(ko, en), value: value.into() }
    }

    fn section(self, ko: &str, en: &str) -> Block {
        Block::Section(self.say(ko, en))
    }

    fn number(self, value: Option<f64>, decimals: usize) -> String {
        value.map_or_else(|| self.cannot_say(), |value| format!("{value:.decimals$}"))
    }

    fn risk(self, risk: RiskLevel) -> String {
        risk.label().in_language(self.0).to_owned()
    }
}

/// The page in a language.
///
/// # Errors
/// [`HtmlError`], which is a bug.
pub(crate) fn page(
    summary: &Summary,
    machines: &[MachinePlayed],
    language: Language,
) -> Result<String, HtmlError> {
    html::html(&document(summary, machines, Words(language)))
}

fn document(summary: &Summary, machines: &[MachinePlayed], words: Words) -> Document {
    let names: Vec<&str> = summary.sides.iter().map(|side| side.name.as_str()).collect();
    let mut blocks = vec![tiles(summary, words)];
    blocks.extend(said(summary, words));
    blocks.push(words.section("설정별 결과", "What each configuration would have done"));
    blocks.push(figures(summary, words));
    blocks.extend(people(summary, words));
    blocks.extend(failures(summary, words));
    blocks.extend(differences(summary, machines, words));
    blocks.extend(holes(summary, words));
    blocks.extend(method(summary, words));
    let worst = machines.iter().flat_map(|machine| &machine.bearings);
    let worst = worst.flat_map(|one| &one.sides).flat_map(|side| &side.episodes);
    Document {
        language: words.0,
        kind: words.say("과거 재현", "Back-test"),
        title: names.join(words.say(" 대 ", " against ").as_str()),
        subtitle: finding(summary, words),
        number: "pdm.backtest/1".to_owned(),
        written_at: summary.last.unwrap_or(Timestamp::EPOCH),
        risk: worst.filter_map(|one| one.told).max(),
        head: head(summary, words),
        blocks,
    }
}

/// The one sentence of the head.
fn finding(summary: &Summary, words: Words) -> String {
    if summary.windows == 0 {
        return words.say("이벤트가 없어 재현할 것이 없음", "No events: there is nothing to say");
    }
    match summary.sides.as_slice() {
        [a, b] => {
            let of = |kind| summary.differences.iter().filter(|one| one.kind == kind).count();
            let (only_a, only_b) = (of(DifferenceKind::OnlyA), of(DifferenceKind::OnlyB));
            words.say(
                &format!(
                    "B는 에피소드 {}건을 알림(A는 {}건): A만 {only_a}건, B만 {only_b}건",
                    b.episodes_told, a.episodes_told
                ),
                &format!(
                    "B would have told {} episodes where A tells {}: {only_a} by A alone, {only_b} \
                     by B alone",
                    b.episodes_told, a.episodes_told
                ),
            )
        }
        sides => {
            let told = sides.first().map_or(0, |side| side.episodes_told);
            words.say(&format!("에피소드 {told}건을 알림"), &format!("{told} episodes told"))
        }
    }
}

fn head(summary: &Summary, words: Words) -> Vec<Pair> {
    let mut head: Vec<Pair> = ["A", "B"]
        .into_iter()
        .zip(&summary.sides)
        .map(|(letter, side)| Pair { label: letter.to_owned(), value: side.name.clone() })
        .collect();
    let time = |at: Option<Timestamp>| at.map_or_else(|| words.cannot_say(), minute);
    head.push(words.pair("처음 구간", "First window", time(summary.first)));
    head.push(words.pair("마지막 구간", "Last window", time(summary.last)));
    head
}

fn tiles(summary: &Summary, words: Words) -> Block {
    let mut tiles = vec![
        words.pair("구간", "windows", grouped(summary.windows)),
        words.pair("베어링", "bearings", grouped(summary.bearings)),
        words.pair("베어링·년", "bearing-years", format!("{:.2}", summary.bearing_years)),
    ];
    if summary.sides.len() == 2 {
        let differing = grouped(summary.differences.len() as u64);
        tiles.push(words.pair("다른 에피소드", "episodes that differ", differing));
    }
    Block::Tiles(tiles)
}

/// A count with its thousands apart.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns the remarks that come before the figures.
fn said(summary: &Summary, words: Words) -> Option<Block> {
    let mut said = Vec::new();
    if !summary.holes.is_empty() {
        let bearings: std::collections::BTreeSet<_> =
            summary.holes.iter().map(|one| &one.bearing).collect();
        said.push(words.say(
            &format!(
                "베어링 {}개의 기록에 빈 시간이 {}곳 있음: 그 시간에 대해서는 알 수 없음",
                bearings.len(),
                summary.holes.len()
            ),
            &format!(
                "The events of {} bearings have {} holes: of those times nothing can be said",
                bearings.len(),
                summary.holes.len()
            ),
        ));
    }
    if summary.late_windows > 0 {
        said.push(words.say(
            &format!("늦은 구간 {}건은 상태를 낮추지 않음", summary.late_windows),
            &format!("{} windows came late and lower nothing", summary.late_windows),
        ));
    }
    said.extend(summary.remarks.iter().take(MOST_ROWS).cloned());
    (!said.is_empty()).then(|| Block::Callout {
        label: words.say("기록에 대하여", "About the events"),
        text: said.join(". "),
        tone: Colour::Watch,
    })
}

/// One column for each configuration.
fn figures(summary: &Summary, words: Words) -> Block {
    let row = |ko: &str, en: &str, of: &dyn Fn(&SideFigures) -> String| {
        let mut row = vec![words.say(ko, en)];
        row.extend(summary.sides.iter().map(of));
        row
    };
    let count = |side: &SideFigures, reason: &str| {
        side.messages.get(reason).copied().unwrap_or(0).to_string()
    };
    let truth = |side: &SideFigures, of: &dyn Fn(&super::figures::TruthFigures) -> String| {
        side.truth.as_ref().map_or_else(|| words.cannot_say(), of)
    };
    let mut rows = vec![
        row("알린 에피소드", "Episodes told", &|side| side.episodes_told.to_string()),
        row(
            "다른 경보와 함께 알렸거나 보류됨",
            "Told with another alarm, or held back",
            &|side| side.episodes_not_told.to_string(),
        ),
        row("경보 메시지", "Messages: raised", &|side| count(side, "raised")),
        row("반복 메시지", "Messages: repeated", &|side| count(side, "repeated")),
        row("해제 메시지", "Messages: cleared", &|side| count(side, "cleared")),
        row("그 밖의 메시지", "Messages: others", &|side| count(side, "message")),
        row(
            "거짓 에피소드(사실이 알려진 베어링)",
            "False episodes, where the truth is known",
            &|side| truth(side, &|one| one.false_episodes.to_string()),
        ),
        row("베어링·년당 거짓 에피소드", "False episodes a bearing-year", &|side| {
            truth(side, &|one| words.number(one.false_per_bearing_year, 2))
        }),
        row("고장 중 미리 알린 것", "Failures told before they came", &|side| {
            truth(side, &|one| format!("{}/{}", one.failures - one.failures_not_told, one.failures))
        }),
    ];
    rows.push(row(
        "알린 잔여수명 / 실제(중앙값)",
        "Life told over the life that came (median)",
        &|side| {
            truth(side, &|one| words.number(one.life.as_ref().map(|life| life.median_ratio), 2))
        },
    ));
    rows.push(row(
        "점검 결과: 맞음/이상 없음/다른 원인/미점검",
        "Checked by staff: right / wrong / other cause / not checked",
        &|side| {
            let one = side.checked;
            format!("{} / {} / {} / {}", one.right, one.wrong, one.other_cause, one.not_checked)
        },
    ));
    let mut head = vec![String::new()];
    head.extend(["A", "B"].into_iter().map(str::to_owned).take(summary.sides.len()));
    table(head, rows)
}

/// A table whose first column is the widest.
fn table(head: Vec<String>, rows: Vec<Vec<String>>) -> Block {
    let others = head.len().saturating_sub(1).max(1);
    let first = if others == 1 { 0.6 } else { 0.4 };
    let mut shares = vec![(1.0 - first) / others as f32; head.len()];
    if let Some(share) = shares.first_mut() {
        *share = first;
    }
    Block::Table(DocumentTable { head, shares, rows })
}

/// Messages a person and week.
fn people(summary: &Summary, words: Words) -> Vec<Block> {
    let mut names: Vec<&str> = Vec::new();
    for person in summary.sides.iter().flat_map(|side| &side.people) {
        if !names.contains(&person.name.as_str()) {
            names.push(&person.name);
        }
    }
    if names.is_empty() {
        return Vec::new();
    }
    let cell = |side: &SideFigures, name: &str| {
        let Some(person) = side.people.iter().find(|one| one.name == name) else {
            return "0".to_owned();
        };
        let (week, busiest) = (words.number(person.per_week, 1), person.busiest_hour);
        words.say(
            &format!("{}건, 주당 {week}, 최다 {busiest}건/시간", person.messages),
            &format!("{}, {week} a week, at most {busiest} in an hour", person.messages),
        )
    };
    let rows = names.iter().map(|name| {
        let shown = if *name == "mqtt" {
            words.say("MQTT 토픽", "the broker's topic")
        } else {
            (*name).to_owned()
        };
        let mut row = vec![shown];
        row.extend(summary.sides.iter().map(|side| cell(side, name)));
        row
    });
    let mut head = vec![words.say("사람 또는 채널", "Person or channel")];
    head.extend(["A", "B"].into_iter().map(str::to_owned).take(summary.sides.len()));
    vec![words.section("사람당 메시지", "Messages a person"), table(head, rows.collect())]
}

/// Lead times.
fn failures(summary: &Summary, words: Words) -> Vec<Block> {
    let mut blocks = vec![words.section("고장과 예고 시간", "Failures and lead times")];
    if summary.failures.is_empty() {
        blocks.push(Block::Text(words.say(
            "알려진 고장이 없어 예고 시간은 알 수 없음 (--truth).",
            "No failure is known, so lead times cannot be said (--truth).",
        )));
        return blocks;
    }
    let lead = |hours: Option<f64>, warning: Option<f64>, is_within: bool| match hours {
        None if is_within => words.say("알리지 않음", "not told"),
        None => words.cannot_say(),
        Some(_) => {
            let shown = |hours: Option<f64>| words.number(hours, 1);
            words.say(
                &format!("{} h (Warning {} h)", shown(hours), shown(warning)),
                &format!("{} h (Warning: {} h)", shown(hours), shown(warning)),
            )
        }
    };
    let rows = summary.failures.iter().take(MOST_ROWS).map(|one| {
        let mut row = vec![format!("{} {}", one.bearing, minute(one.failed_at))];
        let leads = one.lead_h.iter().zip(&one.lead_warning_h);
        row.extend(leads.map(|(hours, warning)| lead(*hours, *warning, one.is_within_events)));
        row
    });
    let mut head = vec![words.say("고장", "Failure")];
    head.extend(["A", "B"].into_iter().map(str::to_owned).take(summary.sides.len()));
    blocks.push(table(head, rows.collect()));
    blocks.extend(more(summary.failures.len(), MOST_ROWS, words));
    blocks
}

fn more(all: usize, shown: usize, words: Words) -> Option<Block> {
    let left = all.checked_sub(shown).filter(|left| *left > 0)?;
    let told = words
        .say(&format!("그 밖의 {left}건은 JSON에 있음."), &format!("{left} more are in the JSON."));
    Some(Block::Text(told))
}

/// The episodes that differ, each with its plot.
fn differences(summary: &Summary, machines: &[MachinePlayed], words: Words) -> Vec<Block> {
    if summary.sides.len() < 2 {
        return Vec::new();
    }
    let mut blocks = vec![words.section("서로 다른 에피소드", "Episodes that differ")];
    if summary.differences.is_empty() {
        let none = words.say(
            "없음: 수준, 처음 알린 시각, 메시지 수, 끝이 같음. 받는 사람만 다르면 여기 나오지 않음(사람당 메시지 참조).",
            "None: level, time of the first message, number of messages and end are the same. \
             Other receivers alone do not show here, see messages a person.",
        );
        blocks.push(Block::Text(none));
    }
    for difference in summary.differences.iter().take(MOST_PLOTS) {
        blocks.push(Block::Sub(format!("{}: {}", difference.bearing, kind(difference, words))));
        let items = [("A", &difference.a), ("B", &difference.b)];
        let items =
            items.map(|(letter, told)| format!("{letter}: {}", episode(told.as_ref(), words)));
        blocks.push(Block::Items { mark: Mark::Bullet, items: items.into_iter().collect() });
        if let Some(drawing) = plot(difference, machines) {
            blocks.push(Block::Plot {
                title: words.say("기준선 대비 수준과 위험도", "Level over the baseline, and risk"),
                caption: words.say(
                    "선: 기준선 대비 배수. 띠: A와 B의 위험도. 마름모: 메시지.",
                    "Line: times the baseline. Strips: the risk under A and B. Diamonds: messages.",
                ),
                drawing,
            });
        }
        blocks.extend(difference.page.clone().map(Block::Source));
    }
    blocks.extend(more(summary.differences.len(), MOST_PLOTS, words));
    blocks
}

fn kind(difference: &Difference, words: Words) -> String {
    match difference.kind {
        DifferenceKind::OnlyA => words.say("A만 알림", "told by A alone"),
        DifferenceKind::OnlyB => words.say("B만 알림", "told by B alone"),
        DifferenceKind::Level => words.say("최고 위험도가 다름", "another highest level"),
        DifferenceKind::ToldAt => words.say("알린 때가 다름", "told at another time"),
        DifferenceKind::Messages => {
            words.say("메시지 수나 끝이 다름", "other messages, or another end")
        }
    }
}

fn episode(told: Option<&ToldEpisode>, words: Words) -> String {
    let Some(told) = told else { return words.say("알리지 않음", "not told") };
    let fault = told.fault.map(|fault| element(fault).in_language(words.0).to_owned());
    let fault = fault.unwrap_or_else(|| words.say("부위 미특정", "no element named"));
    let until = told.closed_at.map_or_else(|| words.say("계속", "still open"), minute);
    words.say(
        &format!(
            "{} 최고 {}, {fault}, 처음 알림 {}, 종료 {until}, 메시지 {}건",
            minute(told.opened_at),
            words.risk(told.told),
            minute(told.told_at),
            told.messages
        ),
        &format!(
            "{}, at worst {}, {fault}, first told {}, over {until}, {} messages",
            minute(told.opened_at),
            words.risk(told.told),
            minute(told.told_at),
            told.messages
        ),
    )
}

/// Times without windows, and bearings that moved.
fn holes(summary: &Summary, words: Words) -> Vec<Block> {
    let mut blocks = Vec::new();
    if !summary.holes.is_empty() {
        blocks.push(words.section("빈 시간", "Holes"));
        let rows = summary.holes.iter().take(MOST_ROWS).map(|one| {
            vec![one.bearing.to_string(), minute(one.hole.from), minute(one.hole.until)]
        });
        let head = vec![
            words.say("베어링", "Bearing"),
            words.say("마지막 구간", "Last window before"),
            words.say("다음 구간", "First window after"),
        ];
        blocks.push(table(head, rows.collect()));
        blocks.extend(more(summary.holes.len(), MOST_ROWS, words));
    }
    if !summary.moved.is_empty() {
        blocks.push(
            words.section("게이트웨이가 바뀐 베어링", "Bearings that moved between gateways"),
        );
        let items = summary.moved.iter().take(MOST_ROWS).map(|one| {
            let gateways =
                one.gateways.iter().map(|(name, at)| format!("{name} ({})", minute(*at)));
            format!("{}: {}", one.bearing, gateways.collect::<Vec<_>>().join(" → "))
        });
        blocks.push(Block::Items { mark: Mark::Bullet, items: items.collect() });
        blocks.extend(more(summary.moved.len(), MOST_ROWS, words));
    }
    blocks
}

/// Returns the description of the method behind the figures.
fn method(summary: &Summary, words: Words) -> Vec<Block> {
    let acknowledged = summary.acknowledged_after_h.map_or_else(
        || words.say("아무도 확인하지 않는다고 봄", "Nobody acknowledges"),
        |hours| {
            words.say(
                &format!("알린 지 {hours}시간 뒤 확인한다고 봄"),
                &format!("Somebody acknowledges {hours} h after each alarm"),
            )
        },
    );
    let horizon = summary.horizon_days;
    let items = vec![
        words.say(
            "서비스와 같은 판정, 에피소드, 경로, 알림 코드를 이벤트 시각으로 실행함. 아무것도 보내지 않음",
            "The judgement, episodes, routes and telling of the service, on the time of the \
             events; nothing was sent",
        ),
        acknowledged,
        words.say(
            &format!("에피소드 중 또는 끝난 뒤 {horizon}일 안의 고장은 그 에피소드가 알린 것으로 봄"),
            &format!(
                "A failure during an episode, or within {horizon} days after it, is what the \
                 episode told of"
            ),
        ),
        words.say(
            "재현하지 않은 것: 언어 모델, 도구 조사의 글, 끊긴 게이트웨이, 지난 보류와 확인, 시간당 상한",
            "Not played: language model, words of research, silent gateways, shelves and \
             acknowledgements of the past, the ceiling of an hour",
        ),
    ];
    vec![words.section("방법", "Method"), Block::Items { mark: Mark::Bullet, items }]
}
