//! The captured waveform in a document: its picture with the sound reference beside it, or that it
//! follows.

use crate::chart;
use crate::document::{Block, Speaker};
use crate::waveform::{Waveform, WaveformPlot};

/// Returns the blocks of a document about the waveform; empty if the agent takes no captures.
pub(crate) fn waveform_blocks(waveform: Option<&Waveform>, speaker: Speaker) -> Vec<Block> {
    let Some(waveform) = waveform else { return Vec::new() };
    let mut blocks = vec![speaker.section("파형", "Waveform")];
    match &waveform.capture {
        Some(plot) => blocks.extend(plots(plot, speaker)),
        None => blocks.push(Block::Text(speaker.word(
            "파형은 뒤따라온다: 게이트웨이가 저장해 보내면 아래 화면에서 보고 들을 수 있다",
            "The waveform follows: once the gateway has captured and sent it, it is seen and heard \
             at the page below",
        ))),
    }
    let page = speaker.pair("파형 화면", "Page of the waveform", waveform.page.clone());
    blocks.push(Block::Pairs(vec![page]));
    blocks
}

fn plots(plot: &WaveformPlot, speaker: Speaker) -> Vec<Block> {
    let begin = speaker.moment(plot.started_at);
    let seconds = format!("{:.1}", plot.duration_s);
    let mut told = speaker.word(
        &format!("{begin}부터 {seconds} s, 0 s: 판정한 윈도의 시작"),
        &format!("{seconds} s from {begin} on; 0 s: begin of the judged window"),
    );
    if let Some(at) = plot.reference_at {
        let at = speaker.moment(at);
        told.push_str(&speaker.word(
            &format!(", 회색: {at}의 정상 기준"),
            &format!("; grey: the sound reference of {at}"),
        ));
    }
    let band = plot.band_hz.map_or_else(String::new, |[low, high]| {
        let band = format!("{low:.0}–{high:.0} Hz");
        speaker.word(&format!("복조 대역 {band}, "), &format!("demodulated in {band}; "))
    });
    let lines = speaker.word(
        "붉은 점선: 판정된 결함의 주파수와 배수",
        "red dashes: the named fault's frequency and multiples",
    );
    let unit =
        speaker.word("제곱 포락선 스펙트럼, 파형", "Squared-envelope spectrum of the waveform");
    vec![
        Block::Plot {
            title: format!("{} (m/s²)", speaker.word("저장된 파형", "Captured waveform")),
            caption: told,
            drawing: chart::acceleration(plot),
        },
        Block::Plot {
            title: format!("{unit} ((m/s²)²)"),
            caption: format!("{band}{lines}"),
            drawing: chart::envelope_of_capture(plot),
        },
    ]
}
