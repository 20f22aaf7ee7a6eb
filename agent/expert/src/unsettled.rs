//! Finds the questions that one window leaves open: no element is named, and the bearing is not
//! sound either.
//!
//! The gateway says why it cannot name or exclude a fault in one line of English, which differs in
//! its figures; this module finds its kind, says it in both languages and gives the step that
//! settles it. The figures stay in the evidence. A line that stands plainly without a name is left
//! open too. Invariant: nothing here changes a risk.

use pdm_shared::diagnosis::Evidence;
use pdm_shared::event::BaselineState;
use pdm_shared::fault::Fault;
use pdm_shared::text::Text;

use crate::case::Case;
use crate::rules::Rules;
use crate::velocity::{ZONE_C_OF_SMALLEST, velocity_without_zone};
use crate::wording::{element, fact, figure, frequency};

/// Where the gateway's reason stands in an event.
const REASON: &str = "frequency_domain.undetermined";

/// The reasons of the gateway by a part of their text, which `pdm-edge` writes in
/// `diagnose::Undetermined`, `ForeignCause` and beside them.
const REASONS: [(&str, OpenReason); 12] = [
    ("shaft turns", OpenReason::TooFewTurns),
    ("stated speed does not fit", OpenReason::SpeedMisfit),
    ("fit no part of the configured bearing", OpenReason::OtherBearing),
    ("are estimated to", OpenReason::EstimatedOrders),
    ("cage or rolling element", OpenReason::CageLines),
    ("explained by the mains", OpenReason::Mains),
    ("can be explained by", OpenReason::OtherCause),
    ("too low to name it", OpenReason::WeakLines),
    ("about equally well", OpenReason::WeakLines),
    ("lines of the cage", OpenReason::CageLines),
    ("smear", OpenReason::MovingSpeed),
    ("without a waveform", OpenReason::NoWaveform),
];

/// The kind of what is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenReason {
    /// The record holds too few turns of the shaft.
    TooFewTurns,
    /// The stated speed does not fit the record.
    SpeedMisfit,
    /// The speed moved so far that lines smear.
    MovingSpeed,
    /// Lines of another bearing than the stated one.
    OtherBearing,
    /// The orders are an estimate and fit several parts.
    EstimatedOrders,
    /// The mains explain the lines.
    Mains,
    /// Something beside the bearing explains the lines.
    OtherCause,
    /// Lines of a part that are not sure enough for a name.
    WeakLines,
    /// Lines of the cage.
    CageLines,
    /// A line that stands plainly, without a name.
    PlainLine(Fault),
    /// Ready-made values, in which no line can be looked for.
    NoWaveform,
    /// No signal that a judgement can rest on.
    NoSignal,
    /// Impacts stand out, and no line names what strikes.
    Impacts,
    /// The level has moved from its baseline and no flag is up for it.
    LevelMoved,
    /// The velocity would be in a bad zone for some machines, and nobody said which this one is.
    Ungrouped,
    /// Any other reason of the gateway.
    Other,
}

/// Level, g RMS, velocity, mm/s RMS, and kurtosis below all of which one record shows no machine in
/// service: IMS shows 0.002 g when stopped, and a kurtosis of 3 is noise. Slow machines are as
/// quiet: with impacts they are judged.
const SILENT: (f64, f64, f64) = (0.002, 0.1, 4.0);

/// Ratios of a level to its baseline outside which somebody is asked what changed, though nothing
/// is wrong. Chosen: 3 dB, half of the change that Randall (Vibration-based Condition Monitoring,
/// 2011) calls significant; sound levels wander by up to 1.28 times.
const MOVED: (f64, f64) = (0.71, 1.41);

/// Returns what the figures of this window leave open, where neither lines nor the gateway say
/// anything.
pub(crate) fn open_by_figures(case: &Case<'_>, rules: &Rules) -> Option<OpenReason> {
    let event = case.event;
    if event.anomaly.baseline.state == BaselineState::Ready {
        let ratio = event.anomaly.level_ratio.filter(|_| !event.anomaly_detected)?;
        let has_moved = ratio < MOVED.0 || ratio > MOVED.1;
        return has_moved.then_some(OpenReason::LevelMoved);
    }
    let time = &event.time_domain;
    let is_silent = case.has_waveform()
        && time.rms_g.is_some_and(|rms| rms < SILENT.0)
        && time.velocity_rms_mm_s.is_none_or(|velocity| velocity < SILENT.1)
        && time.kurtosis.is_none_or(|kurtosis| kurtosis < SILENT.2);
    if is_silent {
        return Some(OpenReason::NoSignal);
    }
    if case.is_impulsive(rules) && !case.has_spikes_of_cable() {
        return Some(OpenReason::Impacts);
    }
    let is_ungrouped = case.zone().is_none()
        && time.velocity_rms_mm_s.is_some_and(|velocity| velocity >= ZONE_C_OF_SMALLEST);
    is_ungrouped.then_some(OpenReason::Ungrouped)
}

/// Returns the open question of this window, if no element is named.
pub(crate) fn open_reason(case: &Case<'_>, rules: &Rules) -> Option<OpenReason> {
    if let Some(said) = &case.event.frequency_domain.undetermined {
        let known = REASONS.iter().find(|(part, _)| said.contains(part));
        return Some(known.map_or(OpenReason::Other, |(_, reason)| *reason));
    }
    plain_line(case, rules).map(OpenReason::PlainLine)
}

/// A part whose line stands clearly with its multiples, that was not there from the first day.
fn plain_line(case: &Case<'_>, rules: &Rules) -> Option<Fault> {
    let lines = &case.event.frequency_domain;
    let is_plain = |fault: &Fault| {
        let line = lines.line(*fault);
        let is_old = lines.since_commissioning.iter().any(|stood| stood.fault == *fault);
        !is_old
            && line.harmonics.len() >= rules.stage.many_harmonics
            && line.snr_db.is_some_and(|snr| snr >= rules.stage.clear_snr_db)
    };
    Fault::ALL.into_iter().find(is_plain)
}

impl OpenReason {
    /// The fact behind it.
    pub(crate) fn evidence(self, case: &Case<'_>) -> Evidence {
        match self {
            Self::PlainLine(fault) => {
                let path = format!("frequency_domain.{}.snr_db", fault.frequency_key());
                fact(path, case.event.frequency_domain.line(fault).snr_db, "SCREEN-8")
            }
            Self::NoSignal => fact("time_domain.rms_g", case.event.time_domain.rms_g, "SCREEN-11"),
            Self::Impacts => fact("time_domain.peak_g", case.event.time_domain.peak_g, "SCREEN-11"),
            Self::LevelMoved => {
                fact("anomaly.level_ratio", case.event.anomaly.level_ratio, "SCREEN-8")
            }
            Self::Ungrouped => {
                let velocity = case.event.time_domain.velocity_rms_mm_s;
                fact("time_domain.velocity_rms_mm_s", velocity, "SCREEN-8")
            }
            Self::TooFewTurns
            | Self::SpeedMisfit
            | Self::MovingSpeed
            | Self::OtherBearing
            | Self::EstimatedOrders
            | Self::Mains
            | Self::OtherCause
            | Self::WeakLines
            | Self::CageLines
            | Self::NoWaveform
            | Self::Other => fact(REASON, &case.event.frequency_domain.undetermined, "SCREEN-8"),
        }
    }

    /// Returns why bearing damage is neither found nor excluded.
    pub(crate) fn why(self, case: &Case<'_>) -> Text {
        match self {
            Self::TooFewTurns => Text::new(
                "축 회전수에 비해 측정 길이가 짧아 결함선을 판정할 수 없음",
                "the record holds too few turns of the shaft to judge defect lines",
            ),
            Self::SpeedMisfit => Text::new(
                "입력된 회전속도가 신호의 축 성분과 맞지 않음",
                "the stated speed does not fit the lines of the shaft in the record",
            ),
            Self::MovingSpeed => Text::new(
                "측정 중 회전속도가 변해 결함선이 흐려짐",
                "the speed moved during the record, which smears defect lines",
            ),
            Self::OtherBearing => Text::new(
                "설정된 베어링에 없는 차수의 결함선이 나타남: 다른 베어링이 장착되었을 수 있음",
                "lines stand at an order that the configured bearing does not have: another one \
                 may be built in",
            ),
            Self::EstimatedOrders => Text::new(
                "결함 차수가 추정값이어서 부위를 구분할 수 없음",
                "the defect orders are estimated and fit more than one part",
            ),
            Self::Mains => Text::new(
                "결함 주파수 근처의 선이 전원 주파수의 배수와 일치함: 전원·인버터의 영향으로 볼 수 있음",
                "lines near a defect frequency stand on multiples of the mains frequency: mains or \
                 a drive may make them",
            ),
            Self::OtherCause => Text::new(
                "결함 주파수 근처의 선이 베어링 외의 원인으로도 설명됨",
                "lines near a defect frequency can be explained by something else than the bearing",
            ),
            Self::WeakLines => Text::new(
                "결함선이 보이나 부위를 특정하기에는 신뢰도가 낮음",
                "defect lines are seen, but not surely enough to name a part",
            ),
            Self::CageLines => Text::new(
                "보지기 주파수의 선이 나타남: 보지기 또는 전동체 손상 가능",
                "lines of the cage stand out: the cage or a rolling element may be damaged",
            ),
            Self::PlainLine(fault) => plain(case, fault),
            Self::NoSignal => Text::new(
                "운전 중인 설비로 볼 수 있는 신호가 없음",
                "there is no signal of a machine that runs",
            ),
            Self::Impacts => impacts(case),
            Self::LevelMoved => moved(case),
            Self::Ungrouped => velocity_without_zone(case),
            Self::NoWaveform => Text::new(
                "파형이 없어 결함선을 볼 수 없음",
                "without a waveform no defect line can be looked for",
            ),
            Self::Other => Text::new(
                "게이트웨이가 결함 여부를 판정하지 못함",
                "the gateway can neither name nor exclude a fault",
            ),
        }
    }

    /// The step that settles it.
    pub(crate) fn step(self) -> Text {
        match self {
            Self::TooFewTurns => Text::new(
                "같은 측정점에서 더 길게(축 수십 회전 이상) 다시 측정하고, 입력한 회전속도의 단위(rpm)를 확인",
                "Measure again at the same point, longer (some dozens of turns of the shaft); \
                 check that the speed was stated in turns a minute",
            ),
            Self::SpeedMisfit => Text::new(
                "실제 회전속도를 확인(타코미터·인버터 표시)하여 바로잡은 뒤 다시 판정",
                "Check the true speed (tachometer, display of the drive), correct it and judge \
                 again",
            ),
            Self::MovingSpeed => Text::new(
                "회전속도를 일정하게 유지하거나 회전속도를 함께 기록하여 다시 측정",
                "Measure again at a constant speed, or record the speed with the vibration",
            ),
            Self::OtherBearing => Text::new(
                "실제 장착된 베어링의 형번을 확인하여 바로잡은 뒤 다시 판정",
                "Check the designation of the bearing that is built in, correct it and judge again",
            ),
            Self::EstimatedOrders => Text::new(
                "제조사의 결함 차수를 입력한 뒤 다시 판정",
                "Enter the maker's defect orders and judge again",
            ),
            Self::Mains => Text::new(
                "전원을 차단하고 감속하는 동안 측정하거나(전원 성분은 즉시 사라짐) 다른 회전속도에서 다시 측정",
                "Measure while the machine runs down with its power off (lines of the mains vanish \
                 at once), or at another speed",
            ),
            Self::OtherCause => Text::new(
                "다른 회전속도나 부하에서 다시 측정하고 벨트·기어·인버터·인접 축의 영향을 확인",
                "Measure again at another speed or load; check belts, gears, drive and \
                 neighbouring shafts",
            ),
            Self::WeakLines | Self::CageLines | Self::PlainLine(_) | Self::Other => Text::new(
                "센서 취부와 회전속도를 확인하고 같은 조건에서 더 길게 다시 측정",
                "Check the sensor's mounting and the speed, and measure again under the same \
                 conditions, longer",
            ),
            Self::NoSignal => Text::new(
                "설비가 운전 중이었는지 확인하고, 운전 중이었다면 센서·케이블·감도 설정을 점검한 뒤 다시 측정",
                "Check that the machine ran; if it did, check sensor, cable and sensitivity, and \
                 measure again",
            ),
            Self::Impacts => step_of_impacts(),
            Self::LevelMoved => step_of_a_moved_level(),
            Self::Ungrouped => Text::new(
                "기계 그룹(출력·지지 조건)을 입력한 뒤 다시 판정하고, 불평형·축정렬·체결 상태를 점검",
                "State the machine's group (power, support) and judge again; check balance, \
                 alignment and fastening",
            ),
            Self::NoWaveform => Text::new(
                "베어링 손상 여부는 파형을 측정하여 확인",
                "Measure a waveform to look for bearing damage",
            ),
        }
    }

    /// What an open question leaves of the verdict.
    pub(crate) fn verdict(self, case: &Case<'_>) -> Text {
        match self {
            Self::NoSignal => Text::new(
                "판정할 근거가 되는 신호가 없음",
                "nothing was measured that a judgement can rest on",
            ),
            Self::LevelMoved => Text::new(
                "손상 징후는 없으나 수준이 달라진 원인을 확인해야 함",
                "no sign of damage, but it is to be found what moved the level",
            ),
            Self::Ungrouped => velocity_without_zone(case),
            Self::TooFewTurns
            | Self::SpeedMisfit
            | Self::MovingSpeed
            | Self::OtherBearing
            | Self::EstimatedOrders
            | Self::Mains
            | Self::OtherCause
            | Self::WeakLines
            | Self::CageLines
            | Self::PlainLine(_)
            | Self::NoWaveform
            | Self::Impacts
            | Self::Other => Self::left_open(),
        }
    }

    /// The verdict where lines are not judged.
    pub(crate) fn left_open() -> Text {
        Text::new(
            "결함선을 판정하지 못하여 베어링 손상 여부는 미확정",
            "defect lines are not judged, so bearing damage is neither found nor excluded",
        )
    }

    /// The conclusion of the screening.
    pub(crate) fn conclusion(self, case: &Case<'_>) -> Text {
        let why = self.why(case);
        match self {
            Self::NoSignal => {
                return Text::new(
                    format!("판정할 근거가 측정되지 않음: {}", why.ko),
                    format!("Nothing was measured that a judgement can rest on: {}", why.en),
                );
            }
            Self::LevelMoved => return why,
            Self::Ungrouped => {
                return Text::new(
                    format!("뚜렷한 결함선 없음. {}", why.ko),
                    format!("No defect line stands out. {}", why.en),
                );
            }
            Self::TooFewTurns
            | Self::SpeedMisfit
            | Self::MovingSpeed
            | Self::OtherBearing
            | Self::EstimatedOrders
            | Self::Mains
            | Self::OtherCause
            | Self::WeakLines
            | Self::CageLines
            | Self::PlainLine(_)
            | Self::NoWaveform
            | Self::Impacts
            | Self::Other => {}
        }
        if case.event.anomaly.baseline.state == BaselineState::Ready {
            Text::new(
                format!("수준은 평소와 같으나 베어링 손상 여부는 미확정: {}", why.ko),
                format!(
                    "The levels are as usual, but bearing damage is neither found nor excluded: {}",
                    why.en
                ),
            )
        } else {
            Text::new(
                format!("정상으로 판정할 수 없음: {}", why.ko),
                format!("It cannot be told whether the bearing is sound: {}", why.en),
            )
        }
    }
}

fn impacts(case: &Case<'_>) -> Text {
    let kurtosis = figure(case.event.time_domain.kurtosis.unwrap_or_default());
    let peak = figure(case.event.time_domain.peak_g.unwrap_or_default());
    Text::new(
        format!(
            "충격이 뚜렷하나(첨도 {kurtosis}, 최대 {peak} g) 무엇이 충격을 내는지 특정되지 않음"
        ),
        format!(
            "impacts stand out (kurtosis {kurtosis}, peak {peak} g), but no line names what strikes"
        ),
    )
}

fn moved(case: &Case<'_>) -> Text {
    let ratio = case.event.anomaly.level_ratio.unwrap_or(1.0);
    let told = figure(ratio);
    if ratio < 1.0 {
        return Text::new(
            format!(
                "이상 미감지. 수준이 기준 대비 {told}배로 낮아짐: 부하·회전수 변화 또는 센서 감도 저하"
            ),
            format!(
                "No anomaly, but the level has fallen to {told} times its baseline: a lighter \
                 load, or a sensor that loses its grip or sensitivity"
            ),
        );
    }
    Text::new(
        format!("이상 미감지. 수준이 기준 대비 {told}배로 달라짐: 부하·공정 또는 센서 위치의 변화"),
        format!(
            "No anomaly, but the level has moved to {told} times its baseline: load, process, or a \
             sensor that was moved"
        ),
    )
}

fn plain(case: &Case<'_>, fault: Fault) -> Text {
    let (name, line) = (element(fault), frequency(fault));
    let snr = figure(case.event.frequency_domain.line(fault).snr_db.unwrap_or_default());
    Text::new(
        format!(
            "{} 결함 주파수({line})의 선이 노이즈 플로어보다 {snr} dB 높으나 부위는 미확정",
            name.ko
        ),
        format!(
            "a line of the {} ({line}) stands {snr} dB above the floor without a name",
            name.en
        ),
    )
}
/// The step that settles impacts that no line names.
fn step_of_impacts() -> Text {
    Text::new(
        "회전속도와 장착된 베어링의 형번을 확인하고, 이완·러빙·인접 설비의 충격인지 점검한 뒤 같은 측정점에서 재측정",
        "Check the speed and the designation of the bearing, look for looseness, rubbing or a \
         neighbour that strikes, and measure again at the same point",
    )
}

/// The step that settles a level that moved.
fn step_of_a_moved_level() -> Text {
    Text::new(
        "부하·회전속도·공정이 바뀌었는지, 센서를 옮겼거나 감도가 변했는지 확인. 계속될 변경이면 기록하고 기준선을 다시 학습",
        "Find what changed: load, speed or process, or the sensor (moved, loose, losing \
         sensitivity). If it is to stay, record it and have the baseline learnt anew",
    )
}
