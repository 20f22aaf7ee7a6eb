//! Reports and work orders as files: complete, grounded, and the same in every format and on every
//! run (R-AGENT-2, R-AGENT-8, R-AGENT-11).

mod case;
mod schemas;
mod told;

use std::path::{Path, PathBuf};

use pdm_report::files::{self, Format, Written};
use pdm_report::waveform::{Waveform, WaveformCurve, WaveformMark, WaveformPlot};
use pdm_report::work_order::WorkOrder;
use pdm_report::work_order::data::{Priority, WorkKind};
use pdm_report::{CaseFile, Report};
use pdm_service::document_text::DocumentText;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::{Language, Text};
use pdm_shared::time::Timestamp;

const BOTH: [Language; 2] = [Language::Ko, Language::En];

fn written(case: &CaseFile, folder: &Path) -> Written {
    files::write(case, folder, &BOTH, &Format::ALL).expect("written")
}

fn file(written: &Written, ending: &str) -> PathBuf {
    let found = written.files.iter().find(|path| path.to_string_lossy().ends_with(ending));
    found.unwrap_or_else(|| panic!("no {ending} in {:?}", written.files)).clone()
}

fn text(written: &Written, ending: &str) -> String {
    std::fs::read_to_string(file(written, ending)).expect("text")
}

/// The text of a PDF that a reader can select.
fn selected(written: &Written, ending: &str) -> String {
    let path = file(written, ending);
    let bytes = std::fs::read(&path).expect("there");
    match pdm_pdf::text(bytes) {
        DocumentText::Markdown(text) => text,
        other @ (DocumentText::Empty | DocumentText::Refused(_)) => {
            panic!("{}: {other:?}", path.display())
        }
    }
}

#[test]
fn a_warning_makes_report_and_work_order_in_both_languages_and_all_forms() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("reports");
    let written = written(&case::case(), &folder);
    let names: Vec<String> = written
        .files
        .iter()
        .map(|path| path.file_name().expect("name").to_string_lossy().into_owned())
        .collect();
    let stem = "20261121T051021Z-01936f3e-7c1a-7b52-9a6e-2f0d5c8e4b11";
    let forms = ["json", "ko.html", "ko.pdf", "en.html", "en.pdf"];
    let wanted = ["report", "work-order"]
        .iter()
        .flat_map(|kind| forms.iter().map(move |form| format!("{stem}-{kind}.{form}")));
    assert_eq!(names, wanted.collect::<Vec<_>>());
    assert_eq!(written.ungrounded, Vec::<String>::new());
    let left = std::fs::read_dir(&folder).expect("folder").flatten();
    let parts = left.filter(|entry| entry.file_name().to_string_lossy().ends_with(".part"));
    assert_eq!(parts.count(), 0, "no half-written file stays");
}

#[test]
fn writing_again_gives_the_same_bytes() {
    let folder = tempfile::tempdir().expect("folder");
    let (first, second) = (folder.path().join("1"), folder.path().join("2"));
    let (first, second) = (written(&case::case(), &first), written(&case::case(), &second));
    for (a, b) in first.files.iter().zip(&second.files) {
        assert!(std::fs::read(a).expect("read") == std::fs::read(b).expect("read"), "{a:?}");
    }
}

#[test]
fn the_pdf_is_selectable_korean_with_the_figures_of_the_event() {
    let folder = tempfile::tempdir().expect("folder");
    let written = written(&case::case(), folder.path());
    let report = selected(&written, "report.ko.pdf");
    for word in [
        "베어링 분석 리포트",
        "외륜 결함",
        "▲ 경고",
        "첨도",
        "18.2 dB",
        "잔여수명 하한",
        "심층 조사",
        "EM-02",
    ] {
        assert!(report.contains(word), "{word:?} is missing in:\n{report}");
    }
    let order = selected(&written, "work-order.ko.pdf");
    for word in [
        "작업지시서",
        "WO-20261121-2F0D5C8E4B11",
        "6205-2RS/C3",
        "에너지원 확인",
        "길들이기 운전",
        "유도 가열기",
    ] {
        assert!(order.contains(word), "{word:?} is missing in:\n{order}");
    }
    let english = selected(&written, "work-order.en.pdf");
    assert!(english.contains("Work order") && english.contains("Replace the bearing"), "{english}");
}

#[test]
fn html_stands_alone_and_tells_the_risk_by_word_and_sign() {
    let folder = tempfile::tempdir().expect("folder");
    let written = written(&case::case(), folder.path());
    for ending in ["report.ko.html", "report.en.html", "work-order.ko.html", "work-order.en.html"] {
        let html = text(&written, ending);
        for outside in
            ["<script", "http://", "https://", "<link", "<img", "url(", "@import", "src="]
        {
            assert!(!html.contains(outside), "{ending} has {outside}");
        }
        assert!(html.contains("size:A4") && html.contains("<span aria-hidden=\"true\">▲</span>"));
    }
    let report = text(&written, "report.ko.html");
    assert_eq!(report.matches("<svg").count(), 3, "trend, spectrum, risk");
    assert!(report.contains("BPFO 107.4 Hz") && report.contains("2×BPFO 214.8 Hz"), "marked");
    assert!(text(&written, "report.en.html").contains("Recommendation"));
}

/// R-AGENT-8: the plot shows the trend with the baseline; an event from before that field is
/// plotted without it.
#[test]
fn the_trend_is_drawn_with_the_baseline_where_the_event_tells_it() {
    let folder = tempfile::tempdir().expect("folder");
    let mut case = case::case();
    let html = text(&written(&case, folder.path()), "report.ko.html");
    assert!(html.contains(">기준선 한계</text>"), "no limit in the plot");
    assert!(html.contains("기준선 0.04 g, 점선: 그 한계 0.055 g"), "no limit in the caption");
    let mut old = serde_json::to_value(&case.event).expect("json");
    let trend = old["trend"].as_object_mut().expect("a trend");
    assert!(trend.remove("baseline_limit").is_some() && trend.remove("baseline_level").is_some());
    case.event = serde_json::from_value(old).expect("an event of before");
    let html = text(&written(&case, folder.path()), "report.ko.html");
    assert_eq!(html.matches("<svg").count(), 3);
    assert!(!html.contains("기준선 한계"));
}

/// R-REPORT-1: documents tell times on the plant's clock, in all forms.
#[test]
fn documents_tell_times_on_the_plants_clock() {
    let mut case = case::case();
    case.asset.zone = Some("Asia/Seoul".to_owned());
    let folder = tempfile::tempdir().expect("folder");
    let written = written(&case, folder.path());
    let local = case.event.measured_at.plus_seconds(9.0 * 3600.0).to_string();
    let local = format!("{} KST", local[..16].replace('T', " "));
    for ending in ["report.ko.html", "report.en.html"] {
        let text = text(&written, ending);
        assert!(text.contains(&local), "{ending}: {local}");
        assert!(!text.contains(" UTC"), "{ending}");
    }
    let pages = selected(&written, "report.ko.pdf");
    assert!(pages.contains("KST") && !pages.contains("UTC"), "{pages}");
}

#[test]
fn hostile_words_stay_words() {
    let evil = "</svg></style><script>alert(1)</script>{{ 7*7 }}\" onload=\"x";
    let mut case = case::case();
    let both = || Text::new(evil, evil);
    case.asset.equipment = Some(both());
    case.asset.designation = Some(evil.to_owned());
    case.diagnosis.recommendation = both();
    case.diagnosis.thoughts[0].conclusion = both();
    case.diagnosis.thoughts[0].evidence[0].path = evil.to_owned();
    case.event.trend.feature = evil.to_owned();
    case.event.rul.unknown = Some(evil.to_owned());
    case.research[0].hits[0].quote = evil.repeat(500);
    if let Some(spectra) = &mut case.event.spectra {
        spectra.envelope.unit = evil.to_owned();
    }
    case.grounds[0].sections[1].body = format!("- {evil}\n1. {evil} 2. x\n");
    let folder = tempfile::tempdir().expect("folder");
    let written = written(&case, folder.path());
    for ending in ["report.ko.html", "work-order.en.html"] {
        let html = text(&written, ending);
        assert!(!html.contains("<script") && !html.contains("onload=\"x"), "{ending}");
        assert!(html.contains("{{ 7*7 }}"), "{ending}: no template in a text");
        assert_eq!(html.matches("</style>").count(), 1);
    }
    assert!(!selected(&written, "report.ko.pdf").is_empty());
}

#[test]
fn normal_and_watch_get_a_short_status_and_no_work_order() {
    for risk in [RiskLevel::Normal, RiskLevel::Watch] {
        let mut case = case::case();
        case.diagnosis.risk_level = risk;
        let folder = tempfile::tempdir().expect("folder");
        let written = written(&case, folder.path());
        assert_eq!(written.files.len(), 5, "{:?}", written.files);
        let html = text(&written, "report.ko.html");
        assert!(html.contains("베어링 상태 알림") && !html.contains("판단 과정"));
    }
}

fn order(case: &CaseFile) -> WorkOrder {
    pdm_report::work_order::work_order(case).expect("an order")
}

#[test]
fn the_schedule_rests_on_the_lower_bound_and_critical_is_at_once() {
    let mut case = case::case();
    let planned = order(&case);
    assert_eq!(planned.priority, Priority::Urgent, "120 h are less than the lead time");
    let end = case.event.measured_at.plus_seconds(120.0 * 3600.0);
    assert_eq!(planned.schedule.finish_by, Some(end));
    assert_eq!(planned.schedule.order_by, Some(case.diagnosis.judged_at), "order now");
    case.event.rul.ci_low_hours = Some(1000.0);
    let relaxed = order(&case);
    assert_eq!(relaxed.priority, Priority::Planned);
    let order_by = case.event.measured_at.plus_seconds((1000.0 - 168.0) * 3600.0);
    assert_eq!(relaxed.schedule.order_by, Some(order_by));
    case.diagnosis.risk_level = RiskLevel::Critical;
    let critical = order(&case);
    assert_eq!((critical.priority, critical.schedule.at_once), (Priority::Emergency, true));
}

/// R-AGENT-11: the research is quoted in the document's English, where it has one.
#[test]
fn the_research_is_quoted_in_the_readers_language_if_its_document_has_it() {
    let mut case = case::case();
    let hit = case.research[0].hits[0].clone();
    let told = "Fast under overload and starved lubrication.";
    case.english.insert(hit.quote.clone(), told.to_owned());
    case.english.insert(hit.title.clone(), "Fault guide: outer race".to_owned());
    let evidence = &mut case.diagnosis.thoughts[2].evidence;
    evidence[0].value = hit.quote.clone().into();
    let folder = tempfile::tempdir().expect("folder");
    let written = written(&case, folder.path());
    let english = text(&written, "report.en.html");
    assert_eq!(english.matches(told).count(), 2, "in the thought and in the research");
    assert!(!english.contains(&hit.quote), "not beside the original");
    assert!(english.contains("EM-02 Fault guide: outer race (config"), "its source");
    let other = &case.research[1].hits[0].quote;
    assert!(english.contains(&format!("{other} (Korean original)")), "nobody has its English");
    let korean = text(&written, "report.ko.html");
    assert!(korean.contains(&hit.quote) && !korean.contains(told));
}

#[test]
fn what_no_document_says_is_said_to_be_planned() {
    let mut case = case::case();
    let quoted = order(&case);
    assert!(quoted.people.text.ko.contains("인원 2명"), "{:?}", quoted.people);
    assert!(quoted.tools.iter().any(|tool| tool.ko == "유도 가열기"), "{:?}", quoted.tools);
    assert!(quoted.safety[0].items.len() >= 10, "{:?}", quoted.safety);
    case.grounds.clear();
    case.asset.designation = None;
    let bare = order(&case);
    assert_eq!(bare.people.text.en, "to be planned");
    assert!(bare.procedure.is_empty() && bare.tools.is_empty());
    assert!(bare.parts[0].note.en.contains("to be checked"));
    case.diagnosis.fault_type = None;
    case.diagnosis.fault_stage = 2;
    assert_eq!(order(&case).kind, WorkKind::Inspect);
}

#[test]
fn every_quoted_step_stands_in_its_document() {
    let case = case::case();
    let squeeze =
        |text: &str| text.replace("**", "").split_whitespace().collect::<Vec<_>>().join(" ");
    let bodies: Vec<String> = case.grounds.iter().map(|chunk| squeeze(&chunk.body())).collect();
    let order = order(&case);
    let passages = [order.safety, order.preparation, order.procedure, order.acceptance].concat();
    let english: Vec<String> = case
        .grounds
        .iter()
        .flat_map(|chunk| &chunk.sections)
        .map(|section| squeeze(&section.english))
        .collect();
    for item in passages.iter().flat_map(|passage| &passage.items) {
        assert!(bodies.iter().any(|body| body.contains(&squeeze(&item.ko))), "{item:?}");
        assert!(english.iter().any(|body| body.contains(&squeeze(&item.en))), "{item:?}");
    }
}

/// R-AGENT-11: a technician who reads only English gets every step in English.
#[test]
fn the_english_work_order_has_no_korean_but_the_names_of_its_sources() {
    let folder = tempfile::tempdir().expect("folder");
    let mut case = case::case();
    let is_korean = |text: &str| text.chars().any(|letter| ('가'..='힣').contains(&letter));
    let order = order(&case);
    let passages = [order.safety, order.preparation, order.procedure, order.acceptance].concat();
    assert!(passages.len() >= 9, "{passages:?}");
    for passage in &passages {
        assert!(!is_korean(&passage.title.en), "{passage:?}");
        assert!(!passage.items.iter().any(|item| is_korean(&item.en)), "{passage:?}");
    }
    assert!(order.tools.iter().any(|tool| tool.en == "induction heater"), "{:?}", order.tools);
    let sheet = selected(&written(&case, folder.path()), "work-order.en.pdf");
    for word in ["Verify zero (0) energy", "induction heater", "M12 85 N·m", "Run-in", "24 hours"]
    {
        assert!(sheet.contains(word), "{word:?} is missing in:\n{sheet}");
    }
    assert!(!sheet.contains("Korean original"));

    // a plant's own procedure in Korean alone carries a note
    for section in case.grounds.iter_mut().flat_map(|chunk| &mut chunk.sections) {
        section.english.clear();
    }
    let sheet = text(&written(&case, folder.path()), "work-order.en.html");
    assert!(sheet.contains("Safety, LOTO (Korean original)"), "{sheet}");
}

#[test]
fn a_figure_that_nobody_measured_is_told() {
    let mut case = case::case();
    case.diagnosis.recommendation = Text::new("31.7시간 안에", "within 31.7 h");
    let folder = tempfile::tempdir().expect("folder");
    let written = files::write(&case, folder.path(), &BOTH, &[]).expect("written");
    assert_eq!(written.ungrounded, ["31.7", "31.7", "31.7", "31.7"], "report and order");
}

#[test]
fn the_data_are_read_back_as_they_were_written() {
    let folder = tempfile::tempdir().expect("folder");
    let written = written(&case::case(), folder.path());
    let report: Report = serde_json::from_str(&text(&written, "report.json")).expect("report");
    assert_eq!(report, pdm_report::report(&case::case()));
    let read: WorkOrder = serde_json::from_str(&text(&written, "order.json")).expect("order");
    assert_eq!(read, order(&case::case()));
}

/// A capture with the reference beside it.
fn captured() -> Waveform {
    let curve = |range: [f64; 2], high: f64| {
        let step = (range[1] - range[0]) / 200.0;
        let at = |n: i32| range[0] + step * f64::from(n);
        let points = (0..200).map(|n| [at(n), -high * f64::from(n % 7), high * f64::from(n % 5)]);
        let points: Vec<[f64; 3]> = points.collect();
        let reference = points.iter().map(|[x, low, high]| [*x, low / 10.0, high / 10.0]).collect();
        WaveformCurve { range, points, reference }
    };
    let time = |text: &str| Timestamp::parse(text).expect("a time");
    let mark = |label: &str, frequency_hz, named| WaveformMark {
        label: label.to_owned(),
        frequency_hz,
        named,
    };
    Waveform {
        page: "https://pdm.example/bearings/ulsan-1/P-101/DE/captures/01936f3e".to_owned(),
        capture: Some(WaveformPlot {
            capture_id: case::case().event.event_id,
            started_at: time("2026-11-21T05:10:11.000Z"),
            duration_s: 13.0,
            acceleration_m_s2: curve([-10.0, 3.0], 4.0),
            envelope: curve([0.0, 700.0], 2.0),
            band_hz: Some([3200.0, 6400.0]),
            reference_at: Some(time("2026-11-20T05:10:11.000Z")),
            marks: vec![mark("BPFO", 107.4, true), mark("BPFI", 162.2, false)],
        }),
    }
}

/// R-AGENT-8, R-AGENT-11: report and work order show the waveform of the alarm with the sound
/// reference beside it, and where it is heard, in both languages and forms.
#[test]
fn documents_show_the_waveform_of_the_alarm_and_its_page() {
    let mut case = case::case();
    case.waveform = Some(captured());
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("waveform");
    let written = written(&case, &folder);
    assert_eq!(written.ungrounded, Vec::<String>::new());
    let without = {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("without-waveform");
        files::write(&case::case(), &folder, &BOTH, &Format::ALL).expect("written")
    };
    for kind in ["report", "work-order"] {
        for (language, words) in [
            ("ko", ["저장된 파형", "정상 기준", "복조 대역 3200–6400 Hz"]),
            ("en", ["Captured waveform", "the sound reference of", "demodulated in 3200–6400 Hz"]),
        ] {
            let ending = format!("{kind}.{language}.html");
            let html = text(&written, &ending).replace("&#x2f;", "/");
            for word in words {
                assert!(html.contains(word), "{ending}: {word}");
            }
            assert!(html.contains("pdm.example/bearings/ulsan-1/P-101/DE/captures/"), "{ending}");
            let plots =
                html.matches("<svg").count() - text(&without, &ending).matches("<svg").count();
            assert_eq!(plots, 2, "{ending}: waveform and envelope");
            let pdf = selected(&written, &format!("{kind}.{language}.pdf"));
            assert!(pdf.contains(words[0]) && pdf.contains("captures/"), "{pdf}");
        }
    }
    let report: Report = serde_json::from_str(&text(&written, "report.json")).expect("a report");
    assert_eq!(report.waveform, case.waveform);
}

/// R-AGENT-8: a document that is written before its waveform has come says that it follows, and
/// where.
#[test]
fn a_document_before_its_waveform_says_that_it_follows() {
    let mut case = case::case();
    let page = "https://pdm.example/analyses/01936f3e-7c1a-7b52-9a6e-2f0d5c8e4b11".to_owned();
    case.waveform = Some(Waveform { page: page.clone(), capture: None });
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("waveform-follows");
    let written = written(&case, &folder);
    for kind in ["report", "work-order"] {
        for (language, word) in [("ko", "파형은 뒤따라온다"), ("en", "The waveform follows")]
        {
            let html = text(&written, &format!("{kind}.{language}.html")).replace("&#x2f;", "/");
            assert!(html.contains(word) && html.contains(&page), "{kind} {language}");
        }
    }
}
