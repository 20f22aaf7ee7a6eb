//! The limits of a judgement: the quality of its data, and observations that would change it.

use pdm_expert::wording::figure;
use pdm_shared::bounds::{MAX_LINE, in_one_line};
use pdm_shared::event::{BaselineState, Event, Method, SpeedSource, TrendDirection};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;

use super::case_file::CaseFile;
use super::words;

/// The quality of the data, one statement for each point.
pub(super) fn data_quality(case: &CaseFile) -> Vec<Text> {
    let event = &case.event;
    let mut told = vec![validity(event), baseline(event), speed(event)];
    told.extend(event.signal_quality.flags.iter().map(|flag| words::quality(*flag)));
    told.push(match event.frequency_domain.method {
        Method::Thorough => Text::new(
            "주파수 분석: 정밀(분리, 대역 선택, 회전수 탐색, 유의성)",
            "Frequency analysis: thorough (separation, band selection, speed search, significance)",
        ),
        Method::Fast => {
            Text::new("주파수 분석: 간이(대역 하나)", "Frequency analysis: fast (one band)")
        }
    });
    if let Some(why) = &event.frequency_domain.undetermined {
        let why = in_one_line(why, MAX_LINE);
        told.push(Text::new(
            format!("결함 판별 불가 사유: {why}"),
            format!("No fault can be named or excluded: {why}"),
        ));
    }
    if let Some(estimate) = &event.frequency_domain.bearing_estimate {
        let bearing = in_one_line(&estimate.bearing, MAX_LINE);
        let percent = figure(estimate.order_tolerance_percent);
        told.push(Text::new(
            format!("{bearing} 베어링의 결함 차수는 주요 치수로 추정한 값(오차 {percent}% 이내): 제조사 값이 더 확실함"),
            format!(
                "The defect orders of the bearing {bearing} are estimated from its boundary \
                 dimensions, to {percent} %: the maker's own are surer"
            ),
        ));
    }
    if let Some(db) = event.frequency_domain.new_comb_db {
        let db = figure(db);
        told.push(Text::new(
            format!("부위 명칭의 근거는 기준선 이후 {db} dB 커진 보지기 빗살뿐: 전동체 결함, 드물게 보지기 결함"),
            format!(
                "The name rests on a comb of the cage alone, which has grown by {db} dB since the \
                 baseline: a rolling element, or seldom the cage itself"
            ),
        ));
    }
    for stood in &event.frequency_domain.since_commissioning {
        let (name, db) = (stood.fault.name(), figure(stood.level_db));
        told.push(Text::new(
            format!("기준선 학습 때부터 있던 선: {} {db} dB(새로운 징후가 아님)", name.ko),
            format!(
                "Lines of the {} stood at {db} dB while the baseline was learnt: no news",
                name.en
            ),
        ));
    }
    if event.replayed {
        let delay = figure(event.delayed_s);
        told.push(Text::new(
            format!("통신 두절 뒤 {delay}초 늦게 전송됨"),
            format!("Sent {delay} s late out of the spool"),
        ));
    }
    told.push(looked_back(case));
    told
}

fn validity(event: &Event) -> Text {
    let seconds = figure(event.window.duration_s);
    let rate = figure(event.window.sampling_rate_hz);
    let (ko, en) = if event.signal_quality.valid {
        ("판정 가능", "can be judged")
    } else {
        ("판정 불가", "cannot be judged")
    };
    Text::new(
        format!("신호 {ko}: {seconds} s, {rate} Hz"),
        format!("The signal {en}: {seconds} s at {rate} Hz"),
    )
}

fn baseline(event: &Event) -> Text {
    let windows = event.anomaly.baseline.windows;
    match event.anomaly.baseline.state {
        BaselineState::Ready => Text::new(
            format!("기준선: 측정 {windows}회로 학습 완료"),
            format!("Baseline: learnt from {windows} windows"),
        ),
        BaselineState::Learning => Text::new(
            format!("기준선: 학습 중({windows}회)"),
            format!("Baseline: still learning ({windows} windows)"),
        ),
    }
}

fn speed(event: &Event) -> Text {
    let source = match event.operating.speed_source {
        SpeedSource::Configured => Text::new("설정값", "configured"),
        SpeedSource::Tachometer => Text::new("회전 센서", "tachometer"),
        SpeedSource::Tag => Text::new("외부 시스템", "another system"),
        SpeedSource::Estimated => Text::new("스펙트럼 추정", "estimated from the spectrum"),
    };
    match event.operating.shaft_speed_rpm {
        Some(rpm) => {
            let rpm = figure(rpm);
            if let Some(stated) = event.operating.stated_speed_rpm {
                return learnt_speed(&rpm, &figure(stated));
            }
            Text::new(
                format!("회전수: {rpm} rpm({})", source.ko),
                format!("Shaft speed: {rpm} rpm ({})", source.en),
            )
        }
        None => Text::new("회전수: 알 수 없음", "Shaft speed: not known"),
    }
}

/// The baseline has learnt that the shaft turns at another speed than the stated one.
fn learnt_speed(rpm: &str, stated: &str) -> Text {
    Text::new(
        format!("회전수: {rpm} rpm(기준선에서 학습; 입력된 {stated} rpm은 실제와 다름, 설정 확인)"),
        format!(
            "Shaft speed: {rpm} rpm (learnt with the baseline; the stated {stated} rpm is not the \
             shaft's, check the configuration)"
        ),
    )
}

fn looked_back(case: &CaseFile) -> Text {
    let all = case.history.len();
    if all == 0 {
        return Text::new("이전 측정 없음", "No earlier windows");
    }
    let invalid = case.history.iter().filter(|point| !point.valid).count();
    Text::new(
        format!("최근 측정 {all}회를 돌아봄(판정 불가 {invalid}회)"),
        format!("Looked back on {all} windows ({invalid} could not be judged)"),
    )
}

/// Observations that would change the judgement, one statement for each.
pub(super) fn would_change(case: &CaseFile) -> Vec<Text> {
    let (event, diagnosis) = (&case.event, &case.diagnosis);
    let mut told = Vec::new();
    let mut say = |ko: &str, en: &str| told.push(Text::new(ko, en));
    if diagnosis.fault_type.is_none() && diagnosis.fault_stage > 0 {
        say(
            "다음 측정에서 결함 주파수가 특정되면 결함 유형과 조치가 구체화됨",
            "A defect frequency that can be named would give the fault its name and the work its \
             part",
        );
    }
    if event.rul.unknown.is_some() {
        say(
            "유의한 상승 추세가 이어지면 잔여수명을 수치로 제시할 수 있음",
            "A significant rising trend would allow a figure for the remaining life",
        );
    }
    if event.anomaly.baseline.state == BaselineState::Learning {
        say(
            "기준선 학습이 끝나면 설비 고유 수준과 비교해 다시 판정함",
            "Once the baseline is learnt, the bearing is judged by its own past",
        );
    }
    if !event.signal_quality.valid {
        say(
            "센서·취부를 확인하고 다시 측정하면 판정이 바뀔 수 있음",
            "A window with a sound signal may change the judgement",
        );
    }
    if diagnosis.risk_level < RiskLevel::Critical {
        if event.trend.acceleration_detected {
            say(
                "결함 단계가 오르거나 진동속도가 D구역에 이르면 위험도가 오름",
                "A higher stage or velocity in zone D would raise the risk",
            );
        } else {
            say(
                "열화 가속이 감지되거나 결함 단계가 오르면 위험도가 오름",
                "Acceleration or a higher stage would raise the risk",
            );
        }
    }
    if diagnosis.risk_level > RiskLevel::Normal {
        say(
            "정비 완료 기록 또는 여러 차례 연속된 더 나은 측정이 있어야 위험도가 내려감",
            "Only recorded maintenance or sustained better windows lower the risk",
        );
    }
    if event.trend.trend_direction == TrendDirection::Falling {
        say(
            "진동 감소는 회복이 아니라 손상 확산일 수 있어 그것만으로 위험도를 낮추지 않음",
            "Falling vibration may be damage that spreads: alone it lowers no risk",
        );
    }
    told
}
