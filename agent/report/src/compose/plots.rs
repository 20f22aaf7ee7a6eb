//! The plots of a report with their captions.

use pdm_shared::feature::Feature;

use crate::data::{Report, TrendPlot};
use crate::document::{Block, Speaker};
use crate::{chart, words};

/// The existing plots, each with its caption.
pub(super) fn plots(report: &Report, speaker: Speaker) -> Vec<Block> {
    let mut blocks = vec![speaker.section("추세와 스펙트럼", "Trend and spectrum")];
    if let Some(plot) = &report.plots.trend {
        let name = speaker.say(&Feature::of_key(&plot.feature).name());
        blocks.push(Block::Plot {
            title: format!("{} {name} ({})", speaker.word("추세:", "Trend:"), plot.unit),
            caption: trend_caption(plot, speaker),
            drawing: chart::trend(plot, speaker),
        });
    }
    if let Some(plot) = &report.plots.envelope {
        blocks.push(Block::Plot {
            title: format!(
                "{} ({})",
                speaker.word("제곱 포락선 스펙트럼", "Squared-envelope spectrum"),
                plot.unit
            ),
            caption: speaker.word(
                "붉은 점선: 판정된 결함의 주파수와 배수, 회색 점선: 다른 결함 주파수의 위치",
                "Red dashes: the named fault's frequency and multiples; grey dashes: where other \
                 faults would show",
            ),
            drawing: chart::envelope(plot),
        });
    }
    if let Some(plot) = &report.plots.risk {
        blocks.push(Block::Plot {
            title: speaker.word("위험도 경과", "Risk over time"),
            caption: speaker.word(
                "계단: 판정된 위험도, 숫자: P-F 단계",
                "Steps: the risk as judged; numbers: P-F stage",
            ),
            drawing: chart::risk(plot, speaker),
        });
    }
    if blocks.len() == 1 {
        blocks.push(Block::Text(speaker.word(
            "그릴 이전 측정과 스펙트럼이 없음",
            "No earlier windows and no spectrum to draw",
        )));
    }
    blocks
}

fn trend_caption(plot: &TrendPlot, speaker: Speaker) -> String {
    let mut caption = speaker.word(
        "파란 선: 측정값, 붉은 점: 이상 감지 구간, 검은 점: 이번 측정, 주황 띠: 예상 수명 구간(RUL 하한–상한)",
        "Blue line: measured; red dots: anomaly flagged; black dot: this window; orange band: \
         expected end of life (lower to upper bound)",
    );
    if let (Some(level), Some(limit)) = (plot.baseline_level, plot.baseline_limit) {
        let [level, limit] = [level, limit].map(|value| words::quantity(value, &plot.unit));
        caption.push_str(&speaker.word(
            &format!(", 회색 선: 기준선 {level}, 점선: 그 한계 {limit}"),
            &format!("; grey line: baseline {level}; dashes: its limit {limit}"),
        ));
    }
    caption
}
