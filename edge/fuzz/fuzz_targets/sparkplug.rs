//! Any messages of a Sparkplug node: none makes the decoder panic, and every block has both
//! channels.
//!
//! A byte chooses the kind of each message and two its length.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use pdm_edge::source::SourceHost;
use pdm_edge::source::frames::{Encoding, FrameFormat};
use pdm_edge::source::sparkplug::{ArrayTime, SparkplugAddress, SparkplugDecoder, SparkplugForm};
use pdm_service::clock::SystemClock;
use pdm_shared::units::SampleRate;

const KINDS: [&str; 6] = [
    "NBIRTH/gw-7",
    "DBIRTH/gw-7/pump",
    "DDATA/gw-7/pump",
    "NDEATH/gw-7",
    "DDEATH/gw-7/pump",
    "DDATA/gw-7/x",
];

fuzz_target!(|data: &[u8]| {
    let format = FrameFormat {
        channels: 2,
        sample_rate: SampleRate::new(1000.0).expect("a rate"),
        encoding: Encoding::F32,
        block_samples: 2,
        calibrations: Vec::new(),
    };
    let form = SparkplugForm {
        address: SparkplugAddress::parse("spBv1.0/plant/gw-7/pump").expect("an address"),
        metrics: vec!["Vibration/X".to_owned(), "Vibration/Y".to_owned()],
        rate: Some("Temperature".to_owned()),
        dated: ArrayTime::Last,
        is_big_endian: false,
        asks_rebirth: true,
    };
    let host = SourceHost::alone(Arc::new(SystemClock), "fuzz");
    let mut decoder = SparkplugDecoder::new(form, format, 0.05, host);
    let mut rest = data;
    while let Some((&[kind, low, high], tail)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes([low, high])).min(tail.len());
        let (message, next) = tail.split_at(length);
        let topic = KINDS[usize::from(kind) % KINDS.len()];
        let (kind, name) = topic.split_once('/').expect("two parts");
        let _outcome = decoder.push(&format!("spBv1.0/plant/{kind}/{name}"), message);
        while let Some(block) = decoder.block() {
            assert_eq!(block.accel_m_s2.nrows(), 2);
            assert!(block.accel_m_s2.ncols() > 0);
        }
        let _request = decoder.rebirth_request();
        rest = next;
    }
});
