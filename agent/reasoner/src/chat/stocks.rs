//! The spare parts of the whole register, for a question that names none: those that are not there
//! first.

use std::collections::BTreeMap;

use pdm_shared::text::{Language, Text};
use serde_json::{Map, Value};

use super::desk::CoreFields;
use super::intent::{PLAIN_WORDS, has};
use super::planned::{MACHINE, spare};
use crate::toolbox::{self, Toolbox};

/// Machines whose parts are read.
const MACHINES: usize = 100;
/// Parts that a listing tells.
const MOST: usize = 30;

/// A spare part with the machines that it is for.
struct Spare {
    line: String,
    stock: Option<f64>,
    machines: Vec<String>,
}

/// The spare parts of all machines, or those alone that are not there where the clause asks for
/// these.
pub(super) async fn of_all(
    tools: &dyn Toolbox,
    fleet: &[CoreFields],
    clause: &str,
    language: Language,
) -> Option<String> {
    let all = parts(tools, fleet, language).await;
    if all.is_empty() {
        let none = Text::new(
            "자산 목록에 예비품이 없습니다.",
            "The register of assets has no spare parts.",
        );
        return Some(none.in_language(language).to_owned());
    }
    let is_zero = |part: &&Spare| part.stock == Some(0.0);
    let asks_zero = has(&clause.to_lowercase(), &PLAIN_WORDS.out_of_stock);
    let mut chosen: Vec<&Spare> =
        if asks_zero { all.iter().filter(is_zero).collect() } else { all.iter().collect() };
    chosen.sort_by(|a, b| {
        let stock = |part: &Spare| part.stock.unwrap_or(f64::INFINITY);
        stock(a).total_cmp(&stock(b)).then_with(|| a.line.cmp(&b.line))
    });
    let count = chosen.len();
    let head = match (asks_zero, count, language) {
        (true, 0, Language::Ko) => "재고가 0인 예비품이 없습니다.".to_owned(),
        (true, 0, Language::En) => "No spare part has a stock of 0.".to_owned(),
        (true, _, Language::Ko) => format!("재고가 0인 예비품 {count}종:"),
        (true, _, Language::En) => format!("Spare parts with a stock of 0: {count}"),
        (false, _, Language::Ko) => format!("예비품 {count}종, 재고가 적은 것부터:"),
        (false, _, Language::En) => format!("Spare parts, the scarcest first: {count}"),
    };
    let lines = chosen
        .into_iter()
        .take(MOST)
        .map(|part| format!("{} ({})", part.line, part.machines.join(", ")));
    let rest = (count > MOST).then(|| match language {
        Language::Ko => format!("그 밖에 {}종", count - MOST),
        Language::En => format!("and {} more", count - MOST),
    });
    let note = Text::new(
        "재고 수는 자산 목록의 값이며, 기록되지 않은 재고는 0으로 세지 않습니다.",
        "Stocks are those of the register of assets; a part without one is not counted as 0.",
    );
    let note = std::iter::once(note.in_language(language).to_owned());
    Some(std::iter::once(head).chain(lines).chain(rest).chain(note).collect::<Vec<_>>().join("\n"))
}

/// The parts of every machine, each once.
async fn parts(tools: &dyn Toolbox, fleet: &[CoreFields], language: Language) -> Vec<Spare> {
    let mut machines: Vec<String> =
        fleet.iter().map(|core| format!("{}/{}", core.key.site, core.key.equipment)).collect();
    machines.sort_unstable();
    machines.dedup();
    let mut all: BTreeMap<String, Spare> = BTreeMap::new();
    for machine in machines.into_iter().take(MACHINES) {
        let arguments = Map::from_iter([("equipment_id".to_owned(), Value::from(machine.clone()))]);
        let answer = toolbox::traced(tools, "extraction", MACHINE, arguments).await;
        let rows = answer.data.get("parts").and_then(Value::as_array).cloned();
        for row in rows.into_iter().flatten() {
            let Some(line) = spare(&row, language) else { continue };
            let stock = row.get("stock").and_then(Value::as_f64);
            let part =
                all.entry(line.clone()).or_insert(Spare { line, stock, machines: Vec::new() });
            part.machines.push(machine.clone());
        }
    }
    all.into_values().collect()
}
