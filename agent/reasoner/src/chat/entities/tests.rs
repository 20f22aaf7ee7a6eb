//! Names of machines as people write them, and what a follow-up is about.

use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Language;

use super::*;

fn fleet() -> Vec<CoreFields> {
    let names =
        [("P-101", "DE"), ("P-102", "DE"), ("P-102", "NDE"), ("F-301", "DE"), ("보일러팬", "1")];
    let core = |(machine, bearing): (&str, &str)| CoreFields {
        key: BearingKey::parse("ulsan-1", machine, bearing).expect("names"),
        risk: RiskLevel::Normal,
        stage: 0,
        fault: None,
        rul_hours: None,
        event_id: None,
        measured_at: None,
        alarm: None,
        machine_name: None,
        location: None,
        suppression: pdm_shared::episode::Suppression::None,
        abnormal_since: None,
        risen: Vec::new(),
        watch: crate::chat::desk::Watch::default(),
        is_of_many_sites: false,
    };
    names.into_iter().filter(|(machine, _)| machine.is_ascii()).map(core).collect()
}

fn told(text: &str) -> (Vec<String>, Vec<String>) {
    let meant = named_in(text, &fleet());
    let keys = meant.keys.iter().map(|key| format!("{} {}", key.equipment, key.bearing));
    (keys.collect(), meant.unknown.into_iter().map(|one| one.name).collect())
}

#[test]
fn a_machine_is_named_however_it_is_written() {
    for text in ["P-101 상태", "p101 어때", "P 101?", "how is p-101", "P-101이랑", "P_101의"]
    {
        assert_eq!(told(text), (vec!["P-101 DE".to_owned()], vec![]), "{text}");
    }
    assert_eq!(told("P-102 반구동측").0, ["P-102 NDE"]);
    assert_eq!(told("P-102 NDE는?").0, ["P-102 NDE"]);
    assert_eq!(told("F-301하고 P-101").0, ["F-301 DE", "P-101 DE"]);
}

#[test]
fn a_machine_is_named_by_what_people_call_it() {
    let mut fleet = fleet();
    for (machine, ko, en) in [
        ("P-101", "냉각수 펌프", "Cooling water pump"),
        ("P-102", "급수 펌프", "Feed water pump"),
        ("F-301", "배기 팬", "Exhaust fan"),
    ] {
        let of = fleet.iter_mut().filter(|core| core.key.equipment.as_str() == machine);
        of.for_each(|core| core.machine_name = Some(pdm_shared::text::Text::new(ko, en)));
    }
    let told = |text: &str| {
        let keys = named_in(text, &fleet).keys;
        keys.iter().map(|key| key.equipment.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(told("냉각수펌프 어때"), ["P-101"]);
    assert_eq!(told("how is the feed water pump doing"), ["P-102"]);
    assert_eq!(told("배기팬 괜찮아?"), ["F-301"]);
    assert_eq!(told("is the fan ok"), ["F-301"]);
    assert_eq!(told("급수펌푸 어떻슴까"), ["P-102"]);
    assert_eq!(told("feedwater pmup health check"), ["P-102"]);
    assert_eq!(told("will the feed pump make it"), ["P-102"]);
    assert_eq!(told("the pump sounds odd"), ["P-101", "P-102"], "there are two");
    assert!(named_in("the pump sounds odd", &fleet).is_ambiguous);
    assert!(!named_in("compare the pumps", &fleet).is_ambiguous);
}

#[test]
fn a_machine_that_does_not_exist_is_no_other_one() {
    for (text, name) in [
        ("P-999 상태", "P-999"),
        ("p103?", "p103"),
        ("MTR-12 어때", "MTR-12"),
        ("P-101 NDE는?", "P-101 NDE"),
        ("P-1012", "P-1012"),
    ] {
        assert_eq!(told(text), (vec![], vec![name.to_owned()]), "{text}");
    }
    for text in [
        "M12 볼트",
        "C3 틈새",
        "EM-06 5절",
        "ISO 20816-1",
        "6205 베어링",
        "H7 공차",
        "WO-20261121-1A",
        "gw-01",
        "NU205",
    ] {
        assert_eq!(told(text), (vec![], vec![]), "{text}");
    }
    let near = named_in("P-103", &fleet()).unknown.remove(0).near;
    assert_eq!(near[..2], ["P-101", "P-102"]);
}

#[test]
fn a_follow_up_is_about_what_the_conversation_named_last() {
    let said = |role, text: &str| Said { role, content: text.to_owned() };
    let ask = |history: Vec<Said>| {
        let message = "왜 그래?".to_owned();
        let question = Question { message, history, about: None, language: Language::Ko };
        let keys = meant(&question, &fleet()).keys;
        keys.iter().map(|key| key.equipment.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        ask(vec![
            said(Speaker::User, "P-102 어때?"),
            said(Speaker::Assistant, "P-102는 P-101보다 낫습니다")
        ]),
        ["P-102"]
    );
    assert_eq!(
        ask(vec![
            said(Speaker::User, "제일 위험한 건?"),
            said(Speaker::Assistant, "F-301 · DE: 위험")
        ]),
        ["F-301"]
    );
    let unknown = vec![
        said(Speaker::User, "P-999 어때?"),
        said(Speaker::Assistant, "P-999는 없습니다. P-101을 찾으십니까?"),
    ];
    assert_eq!(ask(unknown), Vec::<String>::new());
    assert_eq!(ask(Vec::new()), Vec::<String>::new());
}

/// Two sites have a K-40, which are called differently; one of the machines is a blower and called
/// a fan in Korean.
fn named_differently() -> Vec<CoreFields> {
    let of = |(site, machine, ko, en): (&str, &str, &str, &str)| {
        let mut core = fleet().swap_remove(0);
        core.key = BearingKey::parse(site, machine, "DE").expect("names");
        core.machine_name = Some(pdm_shared::text::Text::new(ko, en));
        core
    };
    [
        ("ulsan-1", "K-40", "흡입 압축기 1호", "Suction compressor 1"),
        ("yeosu-2", "K-40", "순환 압축기", "Recycle compressor"),
        ("ulsan-1", "V-3", "배풍 팬", "Vent blower"),
        ("yeosu-2", "V-8", "지붕 팬", "Roof fan"),
        ("ulsan-1", "M-16", "교반기", "Agitator"),
    ]
    .map(of)
    .into()
}

/// R-CHAT-5: a configured name is that of one machine, whatever other machine has its number at
/// another site.
#[test]
fn a_configured_name_is_that_of_one_machine_alone() {
    let fleet = named_differently();
    let told = |text: &str| {
        let keys = named_in(text, &fleet).keys;
        keys.iter().map(|key| format!("{} {}", key.site, key.equipment)).collect::<Vec<_>>()
    };
    assert_eq!(told("흡입압축기 쪽에서 소리가 나"), ["ulsan-1 K-40"]);
    assert_eq!(told("is the recycle compressor fine"), ["yeosu-2 K-40"]);
    assert_eq!(told("K-40 상태"), ["ulsan-1 K-40", "yeosu-2 K-40"]);
    assert_eq!(told("how is the compressor"), ["ulsan-1 K-40", "yeosu-2 K-40"]);
    assert_eq!(told("the fan is loud"), ["yeosu-2 V-8"]);
    assert_eq!(told("배풍 팬 상태"), ["ulsan-1 V-3"]);
}

#[test]
fn sizes_of_bolts_and_codes_behind_a_kind_name_no_other_machine() {
    let fleet = named_differently();
    let told = |text: &str| {
        let meant = named_in(text, &fleet);
        let keys = meant.keys.iter().map(|key| key.equipment.to_string());
        (
            keys.collect::<Vec<_>>(),
            meant.unknown.into_iter().map(|one| one.name).collect::<Vec<_>>(),
        )
    };
    let nothing: Vec<String> = Vec::new();
    assert_eq!(told("M16 볼트는 몇으로 조여?"), (nothing.clone(), nothing.clone()));
    assert_eq!(told("torque for M16"), (nothing.clone(), nothing.clone()));
    assert_eq!(told("M-16 커버 볼트 토크"), (vec!["M-16".to_owned()], nothing.clone()));
    assert_eq!(told("M16 상태"), (vec!["M-16".to_owned()], nothing.clone()));
    assert_eq!(told("status of compressor K-77"), (nothing.clone(), vec!["K-77".to_owned()]));
    assert_eq!(told("agitator M-16 ok?"), (vec!["M-16".to_owned()], nothing.clone()));
    assert_eq!(told("2 mm/s on a 90 kW fan, rigid").0, nothing);
}
