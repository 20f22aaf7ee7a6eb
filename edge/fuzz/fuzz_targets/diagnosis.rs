//! Any samples at any speed, rate and orders: quality, features and verdict, or a refusal; every
//! figure of the event is finite.
//!
//! The first twelve bytes choose rate, speed and orders, the rest are 16-bit samples.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pdm_dsp::bearing::DefectOrders;
use pdm_dsp::diagnose::verdict::NAMING_CONFIDENCE;
use pdm_dsp::diagnose::{Request, diagnose};
use pdm_edge::features;
use pdm_edge::quality::{QualityContext, assess};
use pdm_shared::units::{Rpm, SampleRate};

fuzz_target!(|data: &[u8]| {
    let Some((head, bytes)) = data.split_first_chunk::<12>() else { return };
    let number = |at: usize| f64::from(u16::from_le_bytes([head[at], head[at + 1]]));
    let samples: Vec<f64> = bytes
        .chunks_exact(2)
        .map(|raw| f64::from(i16::from_le_bytes([raw[0], raw[1]])) / 1000.0)
        .collect();
    let (Ok(rate), Ok(speed)) = (SampleRate::new(number(0)), Rpm::new(number(2))) else { return };
    let order = |at| number(at) / 1000.0;
    let Ok(orders) = DefectOrders::new(order(4), order(6), order(8), order(10)) else { return };
    let context = QualityContext { speed: Some(speed), ..QualityContext::new(rate) };
    let _ = assess(&samples, &context);
    if let Ok(findings) = diagnose(&samples, &Request::new(rate, speed, orders)) {
        let block = features::thorough_block(&findings);
        assert!((0.0..=1.0).contains(&block.confidence));
        assert!(block.dominant_fault.is_none() || block.confidence >= NAMING_CONFIDENCE);
        for text in
            [serde_json::to_string(&block), serde_json::to_string(&features::spectra(&findings))]
        {
            text.expect("figures are JSON");
        }
    }
});
