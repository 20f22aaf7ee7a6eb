//! Finds the role of a column or variable by the words of its name: English, Korean, German.
//!
//! Invariant: a name without a known word is [`ChannelRole::Unknown`]; the interpretation then asks
//! the unit and the numbers.

mod quantities;

pub(crate) use quantities::says_voltage;

/// The quantity of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelRole {
    /// Vibration: an acceleration, or a sensor's voltage or counts of it.
    Acceleration,
    /// Time.
    Time,
    /// A count of rows or samples.
    Count,
    /// Another quantity, by its name.
    Other(&'static str),
    /// The name says nothing.
    Unknown,
}

const ACCELERATION: &[&str] = &[
    "acc",
    "accel",
    "acceleration",
    "accelerations",
    "accelerometer",
    "accelerometers",
    "vib",
    "vibration",
    "vibrations",
    "vibe",
    "ax",
    "ay",
    "az",
    "accx",
    "accy",
    "accz",
    "accelx",
    "accely",
    "accelz",
    "beschleunigung",
    "beschl",
    "schwingung",
    "körperschall",
    "icp",
    "iepe",
    "linearacceleration",
    "horizontalvibration",
    "verticalvibration",
    "ускорение",
    "виброускорение",
    "вибрация",
];
const TIME: &[&str] = &[
    "time",
    "timestamp",
    "timestamps",
    "datetime",
    "date",
    "clock",
    "zeit",
    "uhrzeit",
    "datum",
    "zeitstempel",
    "millis",
    "micros",
    "elapsed",
    "seconds",
    "second",
    "sec",
    "milliseconds",
    "microseconds",
    "hour",
    "minute",
    "microsecond",
    "epoch",
    "utc",
    "hours",
    "minutes",
    "systemtime",
    "localtime",
    "secs",
    "sek",
    "sekunde",
    "sekunden",
    "seconde",
    "secondes",
    "segundos",
    "msec",
    "msecs",
    "usec",
    "usecs",
    "nsec",
    "nsecs",
    "nanosec",
    "millisecond",
    "millisekunde",
    "millisekunden",
    "mikrosekunde",
    "mikrosekunden",
    "nanosecond",
    "nanoseconds",
    "nanos",
    "minuten",
    "stunde",
    "stunden",
    "betriebsstunden",
    "hrs",
    "days",
    "초",
    "분",
    "경과초",
    "밀리초",
    "마이크로초",
    "秒",
    "毫秒",
    "время",
];
/// Names of time only where they are the whole name.
const TIME_WHOLE: &[&str] = &["t", "ms", "us", "µs", "ns", "ts", "s", "x_value", "dt"];
const COUNT: &[&str] = &[
    "index",
    "idx",
    "count",
    "counter",
    "sample",
    "samples",
    "nr",
    "seq",
    "sequence",
    "row",
    "id",
    "packet",
    "packetcounter",
    "lfd",
    "sampleno",
    "samplenumber",
    "record",
    "line",
];
/// `result` and `table` number the series of an InfluxDB export.
const COUNT_WHOLE: &[&str] = &["n", "no", "#", "no.", "i", "unnamed: 0", "result", "table"];
const OTHERS: &[(&[&str], &str)] = &[
    (&["rpm", "speed", "drehzahl", "upm", "shaftspeed", "rotspeed"], "shaft speed"),
    (
        &[
            "tacho",
            "tachometer",
            "tach",
            "keyphasor",
            "keyphase",
            "encoder",
            "trigger",
            "puls",
            "pulse",
            "impuls",
            "pps",
        ],
        "tachometer",
    ),
    (&["current", "currents", "strom", "phasecurrent", "amps", "ampere"], "current"),
    (&["phase"], "a phase"),
    (&["frequency", "frequencies", "freq", "freqs", "frequenz"], "frequency"),
    (&["temp", "temperature", "temperatur", "thermo", "tc"], "temperature"),
    (&["force", "kraft", "load", "last"], "force"),
    (&["torque", "drehmoment", "moment"], "torque"),
    (&["pressure", "druck", "baro"], "pressure"),
    (
        &[
            "velocity",
            "velocities",
            "geschwindigkeit",
            "schwinggeschwindigkeit",
            "schwingschnelle",
            "schnelle",
            "vel",
            "скорость",
            "виброскорость",
        ],
        "velocity",
    ),
    (
        &[
            "displacement",
            "displacements",
            "disp",
            "displ",
            "schwingweg",
            "auslenkung",
            "weg",
            "position",
            "pos",
            "proximity",
            "gap",
            "перемещение",
            "виброперемещение",
        ],
        "displacement",
    ),
    (
        &[
            "height",
            "altitude",
            "latitude",
            "longitude",
            "gps",
            "distance",
            "accuracy",
            "satellites",
            "höhe",
        ],
        "a place",
    ),
    (&["lux", "light", "illuminance", "licht"], "light"),
    (&["gravity"], "gravity"),
    (&["gyro", "gyroscope", "gyrox", "gyroy", "gyroz", "angular", "rotation"], "rate of turn"),
    (&["mag", "magx", "magy", "magz", "magnetometer"], "magnetic field"),
    (&["mic", "microphone", "sound", "audio", "mikrofon", "acoustic"], "sound"),
    (&["humidity", "feuchte"], "humidity"),
    (&["power", "leistung"], "power"),
    (
        &[
            "battery", "status", "flag", "quality", "label", "class", "error", "rssi", "temp_c",
            "comment",
        ],
        "no measurement",
    ),
    (&["strain", "dehnung"], "strain"),
    (&["angle", "winkel", "roll", "pitch", "yaw"], "angle"),
];
/// Words beside which `amp` is a current.
const BESIDE_AMPERES: &[&str] =
    &["motor", "line", "stator", "rotor", "drive", "pump", "fan", "inverter", "supply"];
/// Words for the length of the vector of three axes, which is no axis: it is never below 0, and a
/// line of vibration stands in it at twice its frequency.
const MAGNITUDE: &[&str] = &["magnitude", "resultant", "ftotal", "vectorsum"];
const MAGNITUDE_WHOLE: &[&str] = &["absolute acceleration", "total acceleration", "gftotal"];
/// Words of a column that stay a time when the logger's clock falls back. `time` alone is not among
/// them: bearing sets name a signal over time so (`X130_DE_time`).
const SURE_TIME: &[&str] = &[
    "timestamp",
    "timestamps",
    "datetime",
    "date",
    "clock",
    "zeitstempel",
    "millis",
    "micros",
    "epoch",
    "utc",
    "uhrzeit",
    "datum",
];
/// Names of files that apps of phones and loggers give to the sensor, one file a sensor.
const SENSOR_FILES: &[(&str, &str)] = &[
    ("gyroscope", "rate of turn"),
    ("magnetometer", "magnetic field"),
    ("gravity", "gravity"),
    ("orientation", "angle"),
    ("barometer", "pressure"),
    ("location", "a place"),
    ("gps", "a place"),
    ("microphone", "sound"),
    ("light", "light"),
    ("velocity", "velocity"),
    ("displacement", "displacement"),
    ("temperature", "temperature"),
    ("pressure", "pressure"),
];
/// Words that stand beside a sensor in the name of its file.
const BESIDE_SENSOR: &[&str] = &["raw", "data", "uncalibrated", "sensor", "log"];
/// Korean words have no spaces around them, so they are searched inside of the name.
const KOREAN: &[(&[&str], ChannelRole)] = &[
    (&["스펙트럼", "频谱", "スペクトル"], ChannelRole::Other("a spectrum")),
    (&["첨도", "왜도", "파고율"], ChannelRole::Other("a figure of many samples")),
    (&["각속도", "자이로"], ChannelRole::Other("rate of turn")),
    (&["진동속도", "振动速度", "振動速度"], ChannelRole::Other("velocity")),
    (&["진동변위", "振动位移", "振動変位"], ChannelRole::Other("displacement")),
    (&["가속도", "진동", "加速度", "振动", "振動"], ChannelRole::Acceleration),
    (&["회전수", "회전속도", "속도", "转速", "回転数"], ChannelRole::Other("shaft speed")),
    (&["速度"], ChannelRole::Other("velocity")),
    (&["位移", "変位"], ChannelRole::Other("displacement")),
    (&["주파수", "频率", "周波数"], ChannelRole::Other("frequency")),
    (&["타코", "펄스", "트리거"], ChannelRole::Other("tachometer")),
    (&["전류"], ChannelRole::Other("current")),
    (&["온도"], ChannelRole::Other("temperature")),
    (&["압력"], ChannelRole::Other("pressure")),
    (&["하중"], ChannelRole::Other("force")),
    (&["토크"], ChannelRole::Other("torque")),
    (&["변위"], ChannelRole::Other("displacement")),
    (&["습도"], ChannelRole::Other("humidity")),
    (&["전력"], ChannelRole::Other("power")),
    (&["소음", "음향"], ChannelRole::Other("sound")),
    (&["시간", "시각", "일시", "날짜", "타임", "时间", "時間", "時刻"], ChannelRole::Time),
    (&["순번", "번호", "인덱스", "샘플"], ChannelRole::Count),
];

impl ChannelRole {
    /// Whether a channel of this role is no sample of a vibration even in a unit of acceleration.
    pub(super) fn is_no_sample(self) -> bool {
        matches!(self, Self::Other(what) if quantities::is_no_sample(what))
    }

    /// The role that a name says.
    pub fn by_name(name: &str) -> Self {
        let whole = without_unit(name).to_lowercase();
        let whole = whole.trim();
        if TIME_WHOLE.contains(&whole) || is_timestamp(name) {
            return Self::Time;
        }
        if COUNT_WHOLE.contains(&whole) {
            return Self::Count;
        }
        if let Some((_, role)) =
            KOREAN.iter().find(|(words, _)| words.iter().any(|word| whole.contains(word)))
        {
            return *role;
        }
        let words = words_of(without_unit(name));
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        if has(MAGNITUDE) || MAGNITUDE_WHOLE.contains(&whole) {
            return Self::Other("magnitude");
        }
        if let Some(what) = quantities::no_samples(&words) {
            return Self::Other(what);
        }
        let says_acceleration = words
            .iter()
            .any(|word| ACCELERATION.contains(&word.as_str()) && !quantities::is_vibration(word));
        if let Some(what) = quantities::of_vibration(&words).filter(|_| !says_acceleration) {
            return Self::Other(what);
        }
        // "acceleration" before "speed": `acc_motor_speed_side` is an acceleration
        if has(ACCELERATION) || is_axis_of_acceleration(&words) {
            return Self::Acceleration;
        }
        if let Some((_, what)) = OTHERS.iter().find(|(list, _)| has(list)) {
            return Self::Other(what);
        }
        // `amp` alone is an amplitude
        if has(&["amp"]) && has(BESIDE_AMPERES) {
            return Self::Other("current");
        }
        // German compounds end in the word that says what they are
        let ends = |tail: &str| words.iter().any(|word| word.ends_with(tail));
        if ends("beschleunigung") {
            return Self::Acceleration;
        }
        for (tail, what) in
            [("drehzahl", "shaft speed"), ("strom", "current"), ("temperatur", "temperature")]
        {
            if ends(tail) {
                return Self::Other(what);
            }
        }
        // `Second Chan` is the one behind the first
        let is_ordinal = matches!(words.as_slice(), [first, next, ..]
            if first == "second" && !TIME.contains(&next.as_str()));
        if is_ordinal {
            return Self::Unknown;
        }
        if has(TIME) || ends("zeit") || ends("time") || ends("timestamp") {
            return Self::Time;
        }
        if has(COUNT) {
            return Self::Count;
        }
        Self::Unknown
    }
}

/// Whether a name has the word: `accelerometerTimestamp_sinceReboot` is the time of an
/// acceleration.
fn is_timestamp(name: &str) -> bool {
    words_of(without_unit(name)).iter().any(|word| word == "timestamp" || word == "timestamps")
}

/// `a_x`, `a y`, `AcX`, `Acc.Z`: an `a` and an axis; `gFx`: a force in g along an axis.
fn is_axis_of_acceleration(words: &[String]) -> bool {
    let [first, second, ..] = words else { return false };
    match first.as_str() {
        "a" | "ac" => ["x", "y", "z"].contains(&second.as_str()),
        "g" => ["fx", "fy", "fz"].contains(&second.as_str()),
        _ => false,
    }
}

/// Whether a name is that of a time, even where its numbers fall: a word that is always one, or no
/// other word beside those of time.
pub(crate) fn states_time(name: &str) -> bool {
    // `시간파형` is a waveform over time; a time ends in the word
    let whole = without_unit(name).trim();
    if ["시간", "시각", "일시", "날짜"].iter().any(|word| whole.ends_with(word)) {
        return true;
    }
    let words = words_of(without_unit(name));
    let is_time = |word: &String| TIME.contains(&word.as_str()) || word == "t";
    words.iter().any(|word| SURE_TIME.contains(&word.as_str()) || word.ends_with("timestamp"))
        || (!words.is_empty() && words.iter().all(is_time))
}

/// Returns the quantity in a file by the file's name alone: `Gyroscope.csv`, `Magnetometer raw
/// data.csv`. A name with any other word says where or when was measured, but for a velocity, a
/// displacement or a spectrum (`zone4_velocity.txt`).
pub(crate) fn sensor_of_file(stem: &str) -> Option<&'static str> {
    let words = words_of(stem);
    if let Some(what) = quantities::of_file(&words) {
        return Some(what);
    }
    let mut found = None;
    for word in &words {
        let sensor = SENSOR_FILES.iter().find(|(name, _)| name == word);
        match sensor {
            Some((_, what)) => found = Some(*what),
            None if BESIDE_SENSOR.contains(&word.as_str()) => {}
            None => return None,
        }
    }
    found
}

/// The name in front of its brackets.
fn without_unit(name: &str) -> &str {
    name.split(['(', '[', '{']).next().unwrap_or(name)
}

/// The words of a name in lower case: split at signs, digits and at changes from lower to upper
/// case.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars().take(128) {
        let begins = letter.is_uppercase() && was_lower;
        if !letter.is_alphabetic() || begins {
            words.push(String::new());
        }
        if letter.is_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests;
