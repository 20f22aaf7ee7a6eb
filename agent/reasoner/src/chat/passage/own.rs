//! Finds the statements of the plant's own documents about a machine: torques, lubricants, limits
//! of vibration, isolation.
//!
//! A general table may hold the torque of another bolt, or the grease of a machine that has none.
//! So the lines that name the machine come first, with their document.

use pdm_shared::text::Language;
use serde_json::json;

use super::super::desk::CoreFields;
use super::super::intent::{PLAIN_WORDS, QUESTION_WORDS, Topic, has};
use super::super::{StepCall, sites};
use super::small_words::counts_strokes;
use super::{MANUALS, shipped};
use crate::toolbox::Toolbox;
pub(in crate::chat) use answers::{OwnAnswer, Wanted, answer_of_plant};
use machine::{Machine, machines};
use units::{PlantSection, Unit, UnitKind};

mod answers;
mod documents;
mod figures;
mod machine;
mod units;

/// Machines of a question.
const MACHINES: usize = 4;
/// Sections of an answer, each of whose lines name the machine.
const SECTIONS: usize = 12;

/// The kinds of statements that a document makes about a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::chat) enum Stated {
    /// How tight a bolt is.
    Torque,
    /// Grease or oil, how much and how often.
    Lubricant,
    /// Where vibration alarms or trips.
    Limit,
    /// How it is locked out.
    Isolation,
}

impl Stated {
    const ALL: [Self; 4] = [Self::Torque, Self::Lubricant, Self::Limit, Self::Isolation];

    /// Returns the kinds of statements that a question asks for.
    pub(in crate::chat) fn asked_by(clause: &str) -> Vec<Self> {
        let text = clause.to_lowercase();
        Self::ALL.into_iter().filter(|one| has(&text, one.words())).collect()
    }

    fn words(self) -> &'static [String] {
        match self {
            Self::Torque => &PLAIN_WORDS.own_torque,
            Self::Lubricant => &PLAIN_WORDS.own_lubricant,
            Self::Limit => &PLAIN_WORDS.own_limit,
            Self::Isolation => &PLAIN_WORDS.own_isolation,
        }
    }

    /// Whether a text of a document says it.
    fn is_said_in(self, text: &str) -> bool {
        let text = text.to_lowercase();
        let has_more = match self {
            Self::Torque => has_newton_metres(&text),
            Self::Limit => text.contains("mm/s"),
            Self::Isolation => has(&text, &PLAIN_WORDS.isolation_in_documents),
            Self::Lubricant => false,
        };
        has(&text, self.words()) || has_more
    }

    /// The topic of the general table that it stands in the place of.
    pub(in crate::chat) const fn topic(self) -> Option<Topic> {
        match self {
            Self::Torque => Some(Topic::Torque),
            Self::Lubricant => Some(Topic::Grease),
            Self::Limit | Self::Isolation => None,
        }
    }
}

/// What is stated of machines.
pub(in crate::chat) struct StatedWords {
    pub(in crate::chat) stated: Vec<Stated>,
    pub(in crate::chat) told: String,
    pub(in crate::chat) call: StepCall,
}

/// Returns the statements of the plant's own documents about the machines that a question asks
/// about. Where they state no lock-out, the general procedure for every machine is returned.
pub(in crate::chat) async fn of_machines(
    tools: &dyn Toolbox,
    (meant, fleet): (&[&CoreFields], &[CoreFields]),
    clause: &str,
    language: Language,
) -> Option<StatedWords> {
    let asked = Stated::asked_by(clause);
    if asked.is_empty() || has(&clause.to_lowercase(), &QUESTION_WORDS.act) {
        return None;
    }
    let (mut told, mut stated): (Vec<String>, Vec<Stated>) = (Vec::new(), Vec::new());
    let all: Vec<&CoreFields> = fleet.iter().collect();
    let everyone = machines(&all, fleet);
    let own = machines(meant, fleet);
    for machine in own.iter().take(MACHINES) {
        // which machine a line is of, where several are meant
        let of = if own.len() > 1 {
            format!("{} · ", machine.id.to_uppercase())
        } else {
            String::new()
        };
        for section in documents::about(tools, machine, clause, language).await {
            let named = section.machines_named(&everyone);
            if is_of_another_site(&section, machine, &named, fleet) {
                continue;
            }
            let others = machine.others_of(&named);
            for one in &asked {
                if *one == Stated::Isolation && !isolates(&section, machine, &everyone) {
                    continue;
                }
                let found = stated_in(&section, machine, *one, (&others, language));
                if !found.is_empty() && !stated.contains(one) {
                    stated.push(*one);
                }
                let text = format!("{of}{}\n{}", section.head(), found.join("\n"));
                let is_new = !found.is_empty() && !told.contains(&text);
                told.extend(is_new.then_some(text));
            }
        }
    }
    let is_cut = told.len() > SECTIONS;
    told.truncate(SECTIONS);
    told.extend(is_cut.then(|| cut_off(language).to_owned()));
    if asked.contains(&Stated::Isolation)
        && !stated.contains(&Stated::Isolation)
        && !meant.is_empty()
    {
        const PROCEDURE: &str = "LOTO 잠금 표지 작업 전 안전 (lock-out and tag-out before work)";
        let general = shipped(tools, PROCEDURE, language).await;
        told.push(no_lock_out(general.as_deref(), language));
        stated.push(Stated::Isolation);
    }
    if asked == [Stated::Lubricant] && figures::lack_amount(clause, &told) {
        told.insert(0, figures::no_figure(language).to_owned());
    }
    let call = call_for(clause);
    (!told.is_empty()).then(|| StatedWords { stated, told: told.join("\n"), call })
}

/// Returns the statements of the plant's own documents on some machines, where a question asks for
/// such a value and names no machine: a general table would answer for a machine that has its own
/// value.
pub(in crate::chat) async fn of_some_machine(
    tools: &dyn Toolbox,
    fleet: &[CoreFields],
    clause: &str,
    language: Language,
) -> Option<String> {
    let asked = Stated::asked_by(clause);
    if asked.is_empty() || has(&clause.to_lowercase(), &QUESTION_WORDS.act) {
        return None;
    }
    let all: Vec<&CoreFields> = fleet.iter().collect();
    let machines = machines(&all, fleet);
    let mut told: Vec<String> = Vec::new();
    for section in documents::read_documents(tools, &[clause.to_owned()], language).await {
        let named = section.machines_named(&machines);
        for (machine, one) in
            named.iter().flat_map(|machine| asked.iter().map(move |one| (machine, *one)))
        {
            if is_of_another_site(&section, machine, &named, fleet) {
                continue;
            }
            let found = stated_in(&section, machine, one, (&machine.others_of(&named), language));
            let text = format!("{}\n{}", section.head(), found.join("\n"));
            if !found.is_empty() && !told.contains(&text) {
                told.push(text);
            }
        }
    }
    if told.is_empty() {
        return None;
    }
    let more = told.len() > SECTIONS;
    told.truncate(SECTIONS);
    let head = match language {
        Language::Ko => "현장 문서가 설비마다 따로 정해 두었습니다. 어느 설비인지 확인하십시오:",
        Language::En => {
            "The plant's own documents state it for each machine. Make sure which one you mean:"
        }
    };
    let rest = more.then(|| cut_off(language).to_owned());
    Some(std::iter::once(head.to_owned()).chain(told).chain(rest).collect::<Vec<_>>().join("\n"))
}

/// Takes the machines that a question names itself, where its "pumps" are strokes of a grease gun.
pub(in crate::chat) fn leave_strokes<'f>(
    cores: &mut Vec<&'f CoreFields>,
    fleet: &'f [CoreFields],
    clause: &str,
) {
    let lower = clause.to_lowercase();
    if !counts_strokes(&lower) {
        return;
    }
    let all: Vec<&CoreFields> = fleet.iter().collect();
    let named: Vec<Machine> = machines(&all, fleet)
        .into_iter()
        .filter(|machine| machine.is_named_itself(&lower))
        .collect();
    let is_named = |core: &&CoreFields| {
        let id = core.key.equipment.as_str().to_lowercase();
        named.iter().any(|one| one.id == id && one.site == core.key.site.as_str())
    };
    if !named.is_empty() {
        *cores = fleet.iter().filter(is_named).collect();
    }
}

/// The search as a step tells it.
pub(in crate::chat) fn call_for(clause: &str) -> StepCall {
    StepCall { name: MANUALS.to_owned(), arguments: json!({ "query": clause, "whose": "plant" }) }
}

/// Says that the documents state more than the answer tells.
const fn cut_off(language: Language) -> &'static str {
    match language {
        Language::Ko => "문서에 더 있습니다. 설비와 부위를 지정해 다시 물어 주십시오.",
        Language::En => "The documents state more. Ask again for one machine and one part of it.",
    }
}

/// Says that lines of a manual of several machines do not say of which one they are.
const fn of_no_machine(language: Language) -> &'static str {
    match language {
        Language::Ko => "(어느 설비인지 밝히지 않은 줄:)",
        Language::En => "(Lines that do not say of which machine:)",
    }
}

/// Says that the plant has written no lock-out of the machine, before the general one if there is
/// one.
fn no_lock_out(general: Option<&str>, language: Language) -> String {
    let (none, head) = match language {
        Language::Ko => (
            "이 설비의 차단·잠금 절차를 현장 문서에서 찾지 못했습니다. 차단 지점은 담당자에게 확인하십시오.",
            "일반 절차입니다:",
        ),
        Language::En => (
            "I found no lock-out of this machine in the plant's documents: ask its owner for the \
             points of isolation.",
            "The general procedure:",
        ),
    };
    general.map_or_else(|| none.to_owned(), |text| format!("{none} {head}\n{text}"))
}

/// Whether a document is of another site than the machine: its title names that site, or all
/// machines that the section names are of other sites.
fn is_of_another_site(
    section: &PlantSection,
    machine: &Machine,
    named: &[Machine],
    fleet: &[CoreFields],
) -> bool {
    let sites = sites::named_in(&section.title, fleet).known;
    if !sites.is_empty() {
        return !sites.contains(&machine.site);
    }
    !named.is_empty() && named.iter().all(|one| one.site != machine.site)
}

/// Whether a section may be the lock-out of a machine: it names the machine itself, or its title or
/// heading names the machine's kind and no other machine. A line that only speaks of a fan is no
/// step of the lock-out of every fan.
fn isolates(section: &PlantSection, machine: &Machine, everyone: &[Machine]) -> bool {
    let head = format!("{} {}", section.title, section.heading).to_lowercase();
    let names_another =
        || everyone.iter().any(|one| one.id != machine.id && one.is_named_itself(&head));
    machine.is_named_itself(&section.whole()) || (machine.is_named_in(&head) && !names_another())
}

/// What a section states of a machine: all of it where its head is about that, else the pieces that
/// say it, a step with all steps.
fn stated_in(
    section: &PlantSection,
    machine: &Machine,
    stated: Stated,
    (others, language): (&[Machine], Language),
) -> Vec<String> {
    let own = section.of_machine(machine, others, false);
    let of_machine = PlantSection { units: own, ..section.clone() };
    let is_in_head = stated.is_said_in(&section.heading) || stated.is_said_in(&section.title);
    let says = |unit: &&Unit| is_in_head || stated.is_said_in(&unit.text);
    let chosen: Vec<&Unit> = of_machine.units.iter().filter(says).collect();
    if chosen.is_empty() {
        return Vec::new();
    }
    let has_steps = chosen.iter().any(|unit| unit.kind == UnitKind::Step);
    // a manual of several machines: what names this one, not what may be of the others; steps keep
    // their order
    let names = |unit: &&Unit| machine.is_named_itself(&unit.text.to_lowercase());
    let is_of_several = others.iter().any(|one| one.is_named_itself(&section.title));
    if is_of_several
        && !has_steps
        && !machine.is_named_itself(&section.heading.to_lowercase())
        && chosen.iter().any(names)
    {
        let (own, of_nobody): (Vec<&Unit>, Vec<&Unit>) = chosen.into_iter().partition(names);
        let text = |unit: &&Unit| unit.text.clone();
        let label = (!of_nobody.is_empty()).then(|| of_no_machine(language).to_owned());
        return own.iter().map(text).chain(label).chain(of_nobody.iter().map(text)).collect();
    }
    let is_whole = is_in_head || has_steps;
    if is_whole {
        let is_told = |unit: &&Unit| is_in_head || says(unit) || unit.kind == UnitKind::Step;
        return of_machine.units.iter().filter(is_told).map(|unit| unit.text.clone()).collect();
    }
    let told = answers::text_of_pieces(&of_machine, &chosen);
    told.lines().skip(1).map(str::to_owned).collect()
}

/// Whether a text in lower case has a figure in newton metres: `85 Nm`, `85 N·m`.
fn has_newton_metres(text: &str) -> bool {
    text.match_indices("nm").any(|(at, unit)| {
        let before = text[..at].trim_end();
        let is_word = !text[at + unit.len()..].starts_with(|c: char| c.is_alphanumeric());
        is_word && before.ends_with(|c: char| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::units::sections_of;
    use super::*;

    fn machine(id: &str, name: &str, other: &str) -> Machine {
        let names =
            |name: &str| vec![name.to_owned()].into_iter().filter(|n| !n.is_empty()).collect();
        Machine { names: names(name), others: names(other), ..Machine::named(id) }
    }

    /// A document as the tool gives it, a section an entry.
    fn document(id: &str, title: &str, sections: &[(&str, &str)]) -> Vec<PlantSection> {
        let one = |(heading, text): &(&str, &str)| -> Value {
            json!({ "id": id, "title": format!("{title} §{heading}"), "text": format!("{heading}\n{text}") })
        };
        sections_of(&sections.iter().map(one).collect::<Vec<_>>(), Language::En)
    }

    fn of(
        document: &[PlantSection],
        machine: &Machine,
        stated: Stated,
        others: &[Machine],
    ) -> Vec<String> {
        let of_one = |section| stated_in(section, machine, stated, (others, Language::En));
        document.iter().flat_map(of_one).collect()
    }

    #[test]
    fn lines_of_a_machine_are_told_and_no_others() {
        let sheet = document(
            "LS-1",
            "Line sheet",
            &[
                (
                    "1 Lubricants",
                    "- C-7 air compressor: oil, ISO VG 68. No grease nipples.\n- F-2 roof fan: \
                     grease LGHP 2, 9 g a shot",
                ),
                ("2 Torques", "- F-2 roof fan bolts M20: 380 N·m"),
                ("3 Isolation of C-7", "- Open breaker 4, lock and tag."),
            ],
        );
        let fan = machine("f-2", "roof fan", "");
        let compressor = machine("c-7", "air compressor", "gas compressor");
        let beside_fan = [machine("c-7", "air compressor", "")];
        let beside_compressor = [machine("f-2", "roof fan", "")];
        assert_eq!(
            of(&sheet, &fan, Stated::Torque, &beside_fan),
            ["- F-2 roof fan bolts M20: 380 N·m"]
        );
        assert_eq!(of(&sheet, &fan, Stated::Lubricant, &beside_fan).len(), 1);
        assert!(of(&sheet, &fan, Stated::Isolation, &beside_fan).is_empty());
        let told = of(&sheet, &compressor, Stated::Lubricant, &beside_compressor);
        assert!(told.len() == 1 && told[0].contains("No grease nipples"), "{told:?}");
        assert!(
            of(&sheet, &compressor, Stated::Isolation, &beside_compressor)[0].contains("breaker 4")
        );
        assert!(of(&sheet, &compressor, Stated::Torque, &beside_compressor).is_empty());
        let elsewhere = machine("c-7", "gas compressor", "air compressor");
        assert!(of(&sheet, &elsewhere, Stated::Lubricant, &[]).is_empty(), "of another site");
        assert!(of(&sheet, &machine("c-70", "", ""), Stated::Lubricant, &[]).is_empty());
    }

    /// A manual of two machines, which its sections do not name: no line of the other one is told.
    #[test]
    fn a_manual_that_names_its_machine_in_the_title_answers_for_it() {
        let manual = document(
            "M-7",
            "Belt B-3 and crusher Q-1",
            &[
                ("1 Fasteners", "Cap bolts M24: 520 Nm.\n\n- Q-1 liner bolts M36: 1900 N·m"),
                ("2 Stopping", "- Open no cover before 25 minutes have passed."),
            ],
        );
        let belt = machine("b-3", "belt", "");
        let others = [machine("q-1", "crusher", "")];
        assert_eq!(of(&manual, &belt, Stated::Torque, &others), ["Cap bolts M24: 520 Nm."]);
        assert!(of(&manual, &machine("z-9", "", ""), Stated::Torque, &others).is_empty());
    }

    /// A chart whose title says what it is of, a machine a row, and one whose machines are columns.
    #[test]
    fn rows_and_columns_of_a_machine_are_told_without_those_of_others() {
        let chart = document(
            "LC-1",
            "Lubrication chart",
            &[(
                "",
                "| Tag | Point | Product | Quantity |\n|---|---|---|---|\n| F-2 | fan | LGHP 2 | 9 \
                 g |\n| C-7 | main | none, sealed | 0 |",
            )],
        );
        let (fan, compressor) = (machine("f-2", "roof fan", ""), machine("c-7", "", ""));
        let others = [machine("f-2", "roof fan", "")];
        assert_eq!(
            of(&chart, &compressor, Stated::Lubricant, &others),
            ["- Tag: C-7; Point: main; Product: none, sealed; Quantity: 0"]
        );
        let bolts = document(
            "BT-1",
            "Travelling gear of F-2 and C-7",
            &[("1 Bolts", "| Part | F-2 | C-7 |\n|---|---|---|\n| cap | 1050 Nm | 820 Nm |")],
        );
        let others = [machine("c-7", "", "")];
        assert_eq!(of(&bolts, &fan, Stated::Torque, &others), ["- Part: cap; F-2: 1050 Nm"]);
    }

    /// A kind of two machines in the heading of a third one names none of the two.
    #[test]
    fn a_kind_in_the_heading_of_another_machine_names_nobody_else() {
        let sheet =
            document("S-3", "Mill", &[("2 Vacuum pump Old Tom (v-4)", "- Grease: LGWA 2, 60 g")]);
        let pump = Machine { kinds: vec!["pump".to_owned()], ..Machine::named("w-6") };
        let others = [machine("v-4", "old tom", "")];
        assert!(of(&sheet, &pump, Stated::Lubricant, &others).is_empty());
        let all = document("S-4", "Mill", &[("1 Pumps", "- Grease of the pumps: LGWA 2, 60 g")]);
        assert_eq!(of(&all, &pump, Stated::Lubricant, &[]).len(), 1);
    }

    /// Steps of an odour fan's lock-out were told as those of a boiler fan.
    #[test]
    fn a_lock_out_is_of_the_machine_that_it_names() {
        let of_kind = |id: &str, name: &str| Machine {
            kinds: vec!["fan".to_owned()],
            ..machine(id, name, "")
        };
        let everyone = [of_kind("fx-7", "stack fan"), of_kind("bx-2", "boiler fan")];
        let [stack, boiler] = &everyone;
        let isolates = |title: &str, heading: &str, text: &str, machine: &Machine| {
            let sections = document("d-1", title, &[(heading, text)]);
            isolates(&sections[0], machine, &everyone)
        };
        let text = "1. Tell the control room: nobody is without the fan for long.\n2. Lock F9.";
        assert!(isolates("Stack fan FX-7", "Isolation", text, stack));
        assert!(!isolates("Stack fan FX-7", "Isolation", text, boiler));
        assert!(isolates("Lock-out of every fan", "Isolation", text, boiler), "of its kind");
        assert!(!isolates("Entry into the pit", "Isolation", text, boiler), "a line alone");
        assert!(isolates("Entry into the pit", "Isolation", "1. Lock BX-2 at F4.", boiler));
    }

    #[test]
    fn what_is_asked_of_a_machine_is_read() {
        for (question, stated) in [
            ("bolt torque for the roof fan", Stated::Torque),
            ("하우징 볼트 몇 뉴턴으로 조여", Stated::Torque),
            ("구리스 뭐 넣고 얼마 주기로?", Stated::Lubricant),
            ("which oil goes into the gearbox", Stated::Lubricant),
            ("what vibration trips it?", Stated::Limit),
            ("트립값 몇이야", Stated::Limit),
            ("walk me through isolating C-7 before I open it", Stated::Isolation),
        ] {
            assert!(Stated::asked_by(question).contains(&stated), "{question}");
        }
        for question in
            ["how is C-7?", "언제부터 이상이야", "who is on duty", "what is the remaining life"]
        {
            assert_eq!(Stated::asked_by(question), [], "{question}");
        }
        assert!(Stated::Torque.is_said_in("Roller guard M8: 20 Nm."));
    }
}
