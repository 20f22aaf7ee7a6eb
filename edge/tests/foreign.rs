//! Input from outside is read or refused without a panic: the entry points of `edge/fuzz`, with its
//! seeds and with generated input. Each format has further tests beside its reader.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pdm_dsp::bearing::DefectOrders;
use pdm_dsp::diagnose::verdict::NAMING_CONFIDENCE;
use pdm_dsp::diagnose::{Request as Record, diagnose};
use pdm_edge::catalogue::Catalogue;
use pdm_edge::features;
use pdm_edge::quality::{QualityContext, assess};
use pdm_edge::series::{Request, judge, read_table};
use pdm_edge::source::frames::{Encoding, FrameDecoder, FrameFormat};
use pdm_edge::source::modbus::adu::{AnswerHeader, RegisterRequest};
use pdm_edge::source::modbus::{ByteOrder, RegisterKind, RegisterType, RegisterValue};
use pdm_edge::source::sparkplug::{ArrayTime, SparkplugAddress, SparkplugDecoder, SparkplugForm};
use pdm_edge::source::values::{Conversion, Figure, ValueMeaning};
use pdm_edge::source::{
    AccelUnit, Block, Calibration, Preferred, RecordingOptions, SourceHost, open_content,
};
use pdm_service::clock::SystemClock;
use pdm_shared::event::feature::Feature;
use pdm_shared::units::{Rpm, SampleRate};
use proptest::prelude::*;

const CONFIG: &str = include_str!("../../config/edge.toml");
const CATALOGUE: &str = include_str!("../../config/bearings.toml");
const NAMES: [&str; 6] = ["a.npy", "a.npy.gz", "a.mat", "a.wav", "a.csv", "a"];

/// A seed's name and content; the first byte of a recording chooses its name.
fn seeds(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    files("seeds", target)
}

/// The files of a folder of `edge/fuzz`.
fn files(folder: &str, target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(folder).join(target);
    let files = std::fs::read_dir(&folder).expect("seeds");
    let mut seeds: Vec<(PathBuf, Vec<u8>)> = files
        .map(|file| file.expect("entry").path())
        .map(|path| (path.clone(), std::fs::read(path).expect("a seed")))
        .collect();
    seeds.sort();
    seeds
}

/// Columns that are asked for by name; the first byte of a recording chooses one of them, too.
const VARIABLES: [Option<&str>; 4] = [None, Some("0"), Some("1,2"), Some("acc")];

fn blocks(name: &str, content: &[u8]) -> Result<usize, String> {
    blocks_of(name, content, None)
}

fn blocks_of(name: &str, content: &[u8], variable: Option<&str>) -> Result<usize, String> {
    let sample_rate = SampleRate::new(1000.0).ok();
    let g = Calibration::new(AccelUnit::G, 1.0, 0.0).expect("valid");
    let options = RecordingOptions {
        sample_rate,
        calibrations: vec![g],
        prefer: Some(Preferred::Option),
        variable: variable.map(str::to_owned),
        ..Default::default()
    };
    let mut source = open_content(Path::new(name), content.to_vec(), &options)
        .map_err(|error| error.to_string())?;
    let mut blocks = 0;
    while source.next_block().map_err(|error| error.to_string())?.is_some() {
        blocks += 1;
    }
    Ok(blocks)
}

/// A fuzzer that starts with valid files reaches the code behind the first checks of every reader.
#[test]
fn every_seed_of_a_recording_is_a_recording() {
    let seeds = seeds("recording");
    assert!(seeds.len() >= NAMES.len(), "{}", seeds.len());
    for (file, content) in seeds {
        let name = NAMES[usize::from(content[0])];
        let read = blocks(name, &content[1..]);
        assert!(read.as_ref().is_ok_and(|count| *count > 0), "{}: {read:?}", file.display());
    }
}

fn damaged(mut bytes: Vec<u8>, at: usize, length: usize, with: &[u8]) -> Vec<u8> {
    let at = at % (bytes.len() + 1);
    let end = (at + length).min(bytes.len());
    bytes.splice(at..end, with.iter().copied());
    bytes
}

fn samples(format: &FrameFormat, bytes: &[u8], piece: usize) -> Vec<u64> {
    let mut decoder = FrameDecoder::new(format.clone(), Arc::new(SystemClock));
    let mut samples = Vec::new();
    let mut take = |block: Block| samples.extend(block.accel_m_s2.t().iter().map(|x| x.to_bits()));
    for piece in bytes.chunks(piece) {
        decoder.push(piece);
        while let Some(block) = decoder.block() {
            take(block);
        }
    }
    decoder.rest().map(&mut take);
    samples
}

fn verdict(samples: &[f64], [rate, speed, bpfo, bpfi, bsf, ftf]: [f64; 6]) {
    let (Ok(rate), Ok(speed)) = (SampleRate::new(rate), Rpm::new(speed)) else { return };
    let Ok(orders) = DefectOrders::new(bpfo, bpfi, bsf, ftf) else { return };
    let context = QualityContext { speed: Some(speed), ..QualityContext::new(rate) };
    let _quality = assess(samples, &context);
    if let Ok(findings) = diagnose(samples, &Record::new(rate, speed, orders)) {
        let block = features::thorough_block(&findings);
        assert!((0.0..=1.0).contains(&block.confidence));
        let is_sure = block.confidence >= NAMING_CONFIDENCE;
        assert!(block.dominant_fault.is_none() || is_sure, "{block:?}");
    }
}

/// Reads any bytes as a historian's table.
fn table(bytes: &[u8]) {
    let values = vec!["rms_g".to_owned()];
    let request =
        Request { time: "time".to_owned(), values, period_s: 600.0, ..Request::default() };
    if let Ok(table) = read_table(bytes, &request) {
        let Ok(()) = judge(&table, &BTreeMap::new(), |line| {
            serde_json::to_string(&line).expect("a line is JSON");
            Ok::<_, Infallible>(())
        });
    }
}

/// Reads any bytes as a configuration and as a catalogue.
fn configuration(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _read = pdm_edge::settings::parse(Path::new("edge.toml"), &text);
    let _read = Catalogue::parse(Path::new("b.toml"), &text);
}

/// The nested, long and false inputs of `edge/fuzz/hostile`.
#[test]
fn every_hostile_seed_is_read_or_refused() {
    for (_, content) in files("hostile", "recording") {
        let _read = blocks(NAMES[usize::from(content[0])], &content[1..]);
    }
    for (_, content) in files("hostile", "series") {
        table(&content);
    }
    for (_, content) in files("hostile", "configuration") {
        configuration(&content);
    }
    for (_, content) in files("hostile", "diagnosis") {
        let (head, samples) = content.split_at(12);
        let number = |at: usize| f64::from(u16::from_le_bytes([head[at], head[at + 1]]));
        let order = |at| number(at) / 1000.0;
        let sample = |raw: &[u8]| f64::from(i16::from_le_bytes([raw[0], raw[1]])) / 1000.0;
        let samples: Vec<f64> = samples.chunks_exact(2).map(sample).collect();
        verdict(&samples, [number(0), number(2), order(4), order(6), order(8), order(10)]);
    }
    let sample_rate = SampleRate::new(1000.0).expect("a rate");
    for (_, content) in files("hostile", "quality") {
        let value = |raw: &[u8]| f64::from_le_bytes(raw.try_into().expect("eight"));
        let samples: Vec<f64> = content.chunks_exact(8).map(value).collect();
        let _quality = assess(&samples, &QualityContext::new(sample_rate));
    }
    for (_, content) in files("hostile", "frames") {
        let encodings = [Encoding::I16, Encoding::I24, Encoding::F32];
        let format = FrameFormat {
            channels: usize::from(content[0] % 17),
            sample_rate,
            encoding: encodings[usize::from(content[1]) % 3],
            block_samples: usize::from(content[2]),
            calibrations: Vec::new(),
        };
        if format.check().is_ok() {
            let whole = samples(&format, &content[4..], usize::MAX);
            assert_eq!(whole, samples(&format, &content[4..], usize::from(content[3]) + 1));
        }
    }
}

proptest! {
    #[test]
    fn a_damaged_recording_is_read_or_refused(
        which in 0usize..100, name in 0usize..NAMES.len(), at in 0usize..700, length in 0usize..9,
        with in prop::collection::vec(any::<u8>(), 0..9),
    ) {
        let seeds = seeds("recording");
        let content = seeds[which % seeds.len()].1.clone();
        let own = NAMES[usize::from(content[0])];
        let content = damaged(content[1..].to_vec(), at, length, &with);
        let _read = blocks(own, &content);
        let _named = blocks_of(own, &content, VARIABLES[at % VARIABLES.len()]);
        let _misnamed = blocks(NAMES[name], &content);
    }

    #[test]
    fn however_a_stream_is_cut_its_samples_are_the_same(
        bytes in prop::collection::vec(any::<u8>(), 0..400), piece in 1usize..300,
        channels in 1usize..9, block_samples in 1usize..40,
        encoding in prop::sample::select(vec![Encoding::I16, Encoding::I24, Encoding::F32]),
    ) {
        let sample_rate = SampleRate::new(1000.0).expect("a rate");
        let calibrations = Vec::new();
        let format = FrameFormat { channels, sample_rate, encoding, block_samples, calibrations };
        let whole = samples(&format, &bytes, usize::MAX);
        prop_assert_eq!(whole.len(), bytes.len() / format.frame_bytes() * channels);
        prop_assert_eq!(whole, samples(&format, &bytes, piece));
    }

    #[test]
    fn a_damaged_table_is_judged_or_refused(
        which in 0usize..100, at in 0usize..2000, length in 0usize..20,
        with in "[0-9eE.:;,#%g\t\n\" +-]{0,9}",
    ) {
        let mut seeds = seeds("series");
        let seed = seeds.swap_remove(which % seeds.len()).1;
        table(&damaged(seed, at, length, with.as_bytes()));
    }

    #[test]
    fn a_damaged_configuration_is_read_or_refused(
        at in 0usize..9000, length in 0usize..12, with in "[0-9a-z\\[\\]{}=\".\n#-]{0,6}",
    ) {
        let shown = CONFIG.replace("\n# ", "\n");
        for text in [CONFIG, &shown, CATALOGUE] {
            configuration(&damaged(text.as_bytes().to_vec(), at, length, with.as_bytes()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_samples_have_a_verdict_or_are_refused(
        samples in prop::collection::vec(-40.0..40.0_f64, 0..1500),
        machine in prop::array::uniform6(0.0..6000.0_f64), scale in 1.0..1000.0_f64,
    ) {
        let [rate, speed, bpfo, bpfi, bsf, ftf] = machine;
        verdict(&samples, [rate, speed, bpfo / scale, bpfi / scale, bsf / scale, ftf / scale]);
    }
}

/// The kinds of messages of the target `sparkplug`, which a byte chooses.
const MESSAGES: [&str; 6] = [
    "NBIRTH/gw-7",
    "DBIRTH/gw-7/pump",
    "DDATA/gw-7/pump",
    "NDEATH/gw-7",
    "DDEATH/gw-7/pump",
    "DDATA/gw-7/x",
];

/// Blocks in messages as the target `sparkplug` cuts them.
fn sparkplug_blocks(data: &[u8]) -> usize {
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
    let host = SourceHost::alone(Arc::new(SystemClock), "foreign");
    let mut decoder = SparkplugDecoder::new(form, format, 0.05, host);
    let (mut rest, mut blocks) = (data, 0);
    while let Some((&[kind, low, high], tail)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes([low, high])).min(tail.len());
        let (message, next) = tail.split_at(length);
        let (kind, name) =
            MESSAGES[usize::from(kind) % MESSAGES.len()].split_once('/').expect("two parts");
        let _outcome = decoder.push(&format!("spBv1.0/plant/{kind}/{name}"), message);
        while let Some(block) = decoder.block() {
            assert_eq!(block.accel_m_s2.nrows(), 2);
            assert!(block.accel_m_s2.ncols() > 0);
            blocks += 1;
        }
        rest = next;
    }
    blocks
}

#[test]
fn messages_of_sparkplug_give_blocks_and_hostile_ones_none() {
    for (path, seed) in files("seeds", "sparkplug") {
        assert!(sparkplug_blocks(&seed) > 0, "{}", path.display());
    }
    for (_, seed) in files("hostile", "sparkplug") {
        let _blocks = sparkplug_blocks(&seed);
    }
}

proptest! {
    /// A valid session with bytes changed and appended.
    #[test]
    fn no_message_of_sparkplug_makes_it_panic(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        changed in any::<[u8; 4]>(),
        appended in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let seeds = files("seeds", "sparkplug");
        let mut data = which.get(&seeds).1.clone();
        let at = at.index(data.len());
        data.iter_mut().skip(at).zip(changed).for_each(|(byte, new)| *byte = new);
        data.extend(appended);
        let _blocks = sparkplug_blocks(&data);
    }
}

/// The value in an answer as the target `modbus` reads it.
fn modbus_value(data: &[u8]) -> Option<f64> {
    let (&[kind, order, registers], answer) = data.split_first_chunk()?;
    let (_, register_type) = RegisterType::NAMES[usize::from(kind) % RegisterType::NAMES.len()];
    let orders = [ByteOrder::Abcd, ByteOrder::Cdab, ByteOrder::Badc, ByteOrder::Dcba];
    let meaning = ValueMeaning {
        channel: 0,
        figure: Figure::Feature(Feature::Velocity),
        no_value: vec![9999.0],
        standing_below: None,
        plausible: f64::NEG_INFINITY..=f64::INFINITY,
    };
    let value = RegisterValue {
        meaning,
        kind: RegisterKind::Input,
        address: 0,
        register_type,
        order: orders[usize::from(order) % orders.len()],
        conversion: Conversion { factor: 0.01, offset: 0.0 },
    };
    let request = RegisterRequest {
        transaction: 1,
        unit: 7,
        kind: RegisterKind::Input,
        address: 0,
        count: u16::from(registers % 126),
    };
    let (header, body) = answer.split_first_chunk()?;
    let Ok(header) = AnswerHeader::parse(*header) else { return None };
    assert!(header.body_bytes <= 253);
    let Ok(bytes) = request.registers(header, body) else { return None };
    assert_eq!(bytes.len(), 2 * usize::from(request.count));
    let value = value.value_in(bytes).ok();
    assert!(value.is_none_or(f64::is_finite));
    value
}

#[test]
fn answers_of_modbus_give_values_and_hostile_ones_none() {
    for (path, seed) in files("seeds", "modbus") {
        assert!(modbus_value(&seed).is_some(), "{}", path.display());
    }
    for (path, seed) in files("hostile", "modbus") {
        assert_eq!(modbus_value(&seed), None, "{}", path.display());
    }
}

proptest! {
    #[test]
    fn no_answer_of_modbus_makes_it_panic(data in prop::collection::vec(any::<u8>(), 0..300)) {
        let _value = modbus_value(&data);
    }
}
