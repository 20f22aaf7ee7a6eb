//! Claims about the words of names.

use super::*;

#[test]
fn the_file_of_a_sensor_is_told_from_the_file_of_a_place() {
    for (stem, what) in [
        ("Gyroscope", Some("rate of turn")),
        ("Magnetometer Raw Data", Some("magnetic field")),
        ("Location", Some("a place")),
        ("Accelerometer", None),
        ("pump_location_2", None),
        ("motor velocity test", Some("velocity")),
        ("rig2_displ_07", Some("displacement")),
        ("shaker-psd", Some("a spectrum")),
        ("sensor_out_voltage", Some("voltage")),
        ("low_voltage_motor", None),
        ("acc_from_velocity_probe", None),
        ("130", None),
    ] {
        assert_eq!(sensor_of_file(stem), what, "{stem}");
    }
    assert!(states_time("NodeTimestamp") && !states_time("X130_DE_time"));
    assert!(states_time("경과시간 (초)") && !states_time("시간파형"));
}

#[test]
fn names_say_their_role_in_three_languages() {
    for (name, role) in [
        ("acc_de", ChannelRole::Acceleration),
        ("AccX", ChannelRole::Acceleration),
        ("a_x", ChannelRole::Acceleration),
        ("vibration_1", ChannelRole::Acceleration),
        ("가속도(g)", ChannelRole::Acceleration),
        ("Lagerbeschleunigung", ChannelRole::Acceleration),
        ("rpm", ChannelRole::Other("shaft speed")),
        ("MotorDrehzahl", ChannelRole::Other("shaft speed")),
        ("회전수 (rpm)", ChannelRole::Other("shaft speed")),
        ("phase_current_1", ChannelRole::Other("current")),
        ("온도", ChannelRole::Other("temperature")),
        ("Tacho", ChannelRole::Other("tachometer")),
        ("Time (s)", ChannelRole::Time),
        ("시간(초)", ChannelRole::Time),
        ("Messzeit", ChannelRole::Time),
        ("micros", ChannelRole::Time),
        ("t", ChannelRole::Time),
        ("Secs", ChannelRole::Time),
        ("Sekunde(n)", ChannelRole::Time),
        ("초", ChannelRole::Time),
        ("최초", ChannelRole::Unknown),
        ("min", ChannelRole::Unknown),
        ("timestamp_", ChannelRole::Time),
        ("accelerometerTimestamp_sinceReboot(s)", ChannelRole::Time),
        ("accelerometer_timestamp_relative", ChannelRole::Time),
        ("count", ChannelRole::Count),
        ("NO.", ChannelRole::Count),
        ("PacketCounter", ChannelRole::Count),
        ("Height (m)", ChannelRole::Other("a place")),
        ("gFx", ChannelRole::Acceleration),
        ("gFTotal", ChannelRole::Other("magnitude")),
        ("Absolute acceleration (m/s^2)", ChannelRole::Other("magnitude")),
        ("Vibration velocity", ChannelRole::Other("velocity")),
        ("vib disp 1", ChannelRole::Other("displacement")),
        ("진동속도", ChannelRole::Other("velocity")),
        ("Виброускорение", ChannelRole::Acceleration),
        ("振动加速度", ChannelRole::Acceleration),
        ("acc_kurtosis", ChannelRole::Other("a figure of many samples")),
        ("Peak", ChannelRole::Other("a figure of many samples")),
        ("acc_peak_side", ChannelRole::Acceleration),
        ("vib psd", ChannelRole::Other("a spectrum")),
        ("Frequenz", ChannelRole::Other("frequency")),
        ("envelope", ChannelRole::Other("an envelope")),
        ("amp", ChannelRole::Unknown),
        ("amp_y", ChannelRole::Unknown),
        ("motor_amp", ChannelRole::Other("current")),
        ("Phase sweep", ChannelRole::Other("a phase")),
        ("Second sensor", ChannelRole::Unknown),
        ("elapsed second", ChannelRole::Time),
        ("DE", ChannelRole::Unknown),
        ("X", ChannelRole::Unknown),
        ("Channel A", ChannelRole::Unknown),
    ] {
        assert_eq!(ChannelRole::by_name(name), role, "{name}");
    }
}
