//! Any bytes as the answer of a Modbus device: registers or a reason, and a value is finite.
//!
//! The first three bytes choose type, order and the number of registers asked for.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pdm_edge::source::modbus::adu::{AnswerHeader, RegisterRequest};
use pdm_edge::source::modbus::{ByteOrder, RegisterKind, RegisterType, RegisterValue};
use pdm_edge::source::values::{Conversion, Figure, ValueMeaning};
use pdm_shared::event::feature::Feature;

fuzz_target!(|data: &[u8]| {
    let Some((&[kind, order, registers], answer)) = data.split_first_chunk() else {
        return;
    };
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
    let Some((header, body)) = answer.split_first_chunk() else { return };
    let Ok(header) = AnswerHeader::parse(*header) else { return };
    assert!(header.body_bytes <= 253);
    let Ok(bytes) = request.registers(header, body) else { return };
    assert_eq!(bytes.len(), 2 * usize::from(request.count));
    assert!(value.value_in(bytes).map_or(true, f64::is_finite));
});
