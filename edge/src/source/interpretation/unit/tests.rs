//! Claims about the unit that a text or a name states.

use super::*;

#[test]
fn accelerations_are_read_in_every_usual_spelling() {
    for (text, factor) in [
        ("g", 9.806_65),
        ("(g)", 9.806_65),
        ("mg", 0.009_806_65),
        ("m/s^2", 1.0),
        ("m/s²", 1.0),
        ("[m/s2]", 1.0),
        ("m·s⁻²", 1.0),
        ("mm/s²", 0.001),
    ] {
        let unit = StatedUnit::parse(text);
        let Some(StatedUnit { kind: UnitKind::Acceleration(got), .. }) = unit else {
            assert_eq!(text, "m·s⁻²", "{unit:?}");
            continue;
        };
        assert!((got - factor).abs() < 1e-12, "{text}");
    }
}

#[test]
fn a_header_carries_its_unit_in_brackets_or_behind_its_name() {
    for (header, kind) in [
        ("Acc X (m/s^2)", UnitKind::Acceleration(1.0)),
        ("가속도(g)", UnitKind::Acceleration(M_S2_PER_G)),
        ("Zeit [s]", UnitKind::Time(1.0)),
        ("time_ms", UnitKind::Time(1e-3)),
        ("Channel A, mV", UnitKind::Voltage(1.0)),
        ("Drehzahl [1/min]", UnitKind::Other("shaft speed")),
        ("Temp (°C)", UnitKind::Other("temperature")),
        ("Accel X, g (LGR S/N: 7, SEN S/N: 7)", UnitKind::Acceleration(M_S2_PER_G)),
    ] {
        assert_eq!(StatedUnit::in_header(header).map(|unit| unit.kind), Some(kind), "{header}");
    }
    for header in ["ax", "acc_x", "X", "acc_de", "vibration_1", "a_x", "ch0"] {
        assert_eq!(StatedUnit::in_header(header), None, "{header}");
    }
}

#[test]
fn a_name_that_is_a_unit_of_samples_is_its_unit() {
    for (name, kind) in [
        ("Volt", UnitKind::Voltage(1000.0)),
        ("VOLTS", UnitKind::Voltage(1000.0)),
        ("V", UnitKind::Voltage(1000.0)),
        ("CH2V", UnitKind::Voltage(1000.0)),
        ("ai0 mV", UnitKind::Voltage(1.0)),
        ("m/s^2", UnitKind::Acceleration(1.0)),
        ("Channel 3 (V)", UnitKind::Voltage(1000.0)),
    ] {
        assert_eq!(StatedUnit::of_name(name).map(|unit| unit.kind), Some(kind), "{name}");
    }
    for name in ["gravity", "s", "v", "CH1", "a", "X", "level", "raw", "channel", "DE"] {
        assert_eq!(StatedUnit::of_name(name), None, "{name}");
    }
}

/// Issue 32: singular and plural, cut short, in brackets, joined to a word, in four languages.
#[test]
fn the_name_of_a_time_tells_its_unit() {
    for (name, seconds) in [
        ("Second", 1.0),
        ("Secs", 1.0),
        ("Sek.", 1.0),
        ("Sekunde(n)", 1.0),
        ("second(s)", 1.0),
        ("초", 1.0),
        ("초(s)", 1.0),
        ("경과초", 1.0),
        ("秒", 1.0),
        ("Millisekunde", 1e-3),
        ("Mikrosekunde(n)", 1e-6),
        ("time(s)", 1.0),
        ("Min.", 60.0),
        ("Std.", 3600.0),
        ("Betriebsstunden", 3600.0),
        ("uptime_h", 3600.0),
        ("Zeit h", 3600.0),
    ] {
        assert_eq!(time_unit_of_name(name), Some(seconds), "{name}");
    }
    for name in ["t", "time", "load_h", "최초", "시간", "Zeit", "acc (g)", "time (n)"] {
        assert_eq!(time_unit_of_name(name), None, "{name}");
    }
}

#[test]
fn a_spelling_that_is_not_known_is_no_unit() {
    for text in ["", "DE", "furlong", "x"] {
        assert_eq!(StatedUnit::parse(text), None, "{text}");
    }
}
