//! People whom a question names: those whom the records know, and those whom nobody here knows. A
//! question about a person is answered with what the records have of that person, and with nothing
//! about another one.

use pdm_shared::episode::Suppression;
use pdm_shared::text::{Language, Text};

use super::desk::{CoreFields, Desk, DutyRoster, Focus, NoteLine};
use super::entities::Meant;
use super::extract::Sources;
use super::intent::{self, Lookup, PLAIN_WORDS};
use super::planning::{Part, names_bearing};
use super::reader::Reader;
use super::records::written;

/// Entries of each list that are told.
const MOST: usize = 5;
/// People who are proposed for one whom nobody knows.
const PROPOSED: usize = 10;

/// The people of a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct NamedPeople {
    /// The names as the records have them.
    pub(super) known: Vec<String>,
    /// Names that the records do not have, as they are written.
    pub(super) unknown: Vec<String>,
}

/// The people whom a text names, of these.
pub(super) fn named_in(text: &str, people: &[String]) -> NamedPeople {
    let known: Vec<String> =
        people.iter().filter(|name| names_person(text, name, people)).cloned().collect();
    let is_part = |name: &String| {
        let squeezed = without_blanks(name);
        known.iter().any(|one| without_blanks(one).contains(&squeezed) || squeezed.contains(one))
    };
    let unknown = titled(text).into_iter().filter(|name| !is_part(name)).collect();
    NamedPeople { known, unknown }
}

/// Whether a text names this person: by the whole name, or by a word of it that no other name has.
fn names_person(text: &str, name: &str, people: &[String]) -> bool {
    if !name.is_ascii() {
        return name.chars().count() > 1 && without_blanks(text).contains(&without_blanks(name));
    }
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    let parts: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).collect();
    let is_whole = words
        .windows(parts.len())
        .any(|run| run.iter().zip(&parts).all(|(said, part)| said.eq_ignore_ascii_case(part)));
    let is_alone = |part: &str| {
        let has = |other: &&String| {
            other.split(|c: char| !c.is_alphanumeric()).any(|one| one.eq_ignore_ascii_case(part))
        };
        people.iter().filter(has).count() == 1
    };
    // a word that is no name begins with a small letter: "mark", "will"
    let is_name = |part: &str| part.len() > 2 && part.starts_with(|c: char| c.is_ascii_uppercase());
    let by_part = parts.len() > 1
        && parts.iter().any(|part| is_name(part) && words.contains(part) && is_alone(part));
    is_whole || by_part
}

fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// Names with a title: `최기사`, `김철수 과장`, `Mr Brown`.
fn titled(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().unwrap_or_default();
        let english = ["mr", "mrs", "ms", "miss"].contains(&word.to_lowercase().as_str());
        if english && next.starts_with(|c: char| c.is_ascii_uppercase()) {
            found.push(format!("{word} {next}"));
        }
        found.extend(korean_titled(word, next));
    }
    found.dedup();
    found
}

/// Returns the name in `최기사` of `최기사님한테`, or in `김철수 과장` of two words; `None` where the word is of
/// a trade (`정비기사`).
fn korean_titled(word: &str, next: &str) -> Option<String> {
    let begins_title = |text: &str| {
        let title = PLAIN_WORDS.titles.iter().find(|title| text.starts_with(title.as_str()))?;
        let behind = &text[title.len()..];
        let particles = [
            "님", "은", "는", "이", "가", "을", "를", "한", "에", "의", "도", "께", "랑", "와",
            "과", "지",
        ];
        (behind.is_empty() || particles.iter().any(|one| behind.starts_with(one)))
            .then(|| title.clone())
    };
    let is_name = |name: &str| {
        let count = name.chars().count();
        let surname = name.chars().next().map(String::from).unwrap_or_default();
        (count == 1 || count == 3)
            && PLAIN_WORDS.surnames.contains(&surname)
            && !PLAIN_WORDS.no_people.iter().any(|word| name.contains(word.as_str()))
    };
    let cuts = word.char_indices().map(|(at, _)| at).filter(|at| [3, 9].contains(at));
    let joined = cuts.filter_map(|at| {
        let (name, rest) = word.split_at(at);
        let title = begins_title(rest).filter(|_| is_name(name))?;
        Some(format!("{name}{title}"))
    });
    let apart = || {
        let title = begins_title(next).filter(|_| is_name(word))?;
        Some(format!("{word} {title}"))
    };
    joined.into_iter().next().or_else(apart)
}

/// Puts what is known of a person in the place of look-ups that answer for something else: all but
/// who is on duty, documents that are asked for, and bearings that the question names.
pub(super) fn put_into(
    plan: &mut Vec<Part>,
    message: &str,
    (people, meant): (&NamedPeople, &Meant),
    fleet: &[CoreFields],
) {
    let names_any = !people.known.is_empty() || !people.unknown.is_empty();
    if !names_any || plan.iter().any(|part| part.lookup == Lookup::Act) {
        return;
    }
    if !meant.keys.is_empty() && names_bearing(message, fleet) {
        return;
    }
    let asks_contact = intent::asks_contact(&message.to_lowercase());
    plan.retain(|part| {
        let is_of_duty = part.lookup == Lookup::Duty && people.known.is_empty() && !asks_contact;
        let is_asked = matches!(part.lookup, Lookup::Manual | Lookup::Route);
        is_of_duty || is_asked || part.lookup == Lookup::Search && asks_contact
    });
    let clause = message.to_owned();
    plan.insert(0, Part { about: None, lookup: Lookup::Person, clause });
    let is_open = asks_contact || people.known.is_empty();
    if is_open {
        let search = |clause: String| Part { about: None, lookup: Lookup::Search, clause };
        let is_there = plan.iter().any(|part| part.lookup == Lookup::Search);
        // a person whom no configuration names may stand in a document of the plant, and the title
        // apart from the name
        let apart = people
            .unknown
            .iter()
            .filter_map(|name| Some(message.replace(name.as_str(), &with_title_apart(name)?)));
        let whole = (!is_there).then(|| message.to_owned());
        plan.extend(whole.into_iter().chain(apart).map(search));
    }
}

/// `안 소장` of `안소장`, and the other way round.
fn with_title_apart(name: &str) -> Option<String> {
    if let Some((family, title)) = name.split_once(' ') {
        return (!name.is_ascii()).then(|| format!("{family}{title}"));
    }
    let title = PLAIN_WORDS.titles.iter().find(|title| name.ends_with(title.as_str()))?;
    let family = name.strip_suffix(title.as_str()).filter(|family| !family.is_empty())?;
    Some(format!("{family} {title}"))
}

/// Leaves out of what was told that the records have nobody of a name, and no number, where a
/// document of the plant answers the question (`is_said`, or by a search); whether something was
/// left out.
pub(super) async fn leave_to_documents(
    told: &mut [(&Part, String)],
    desk: &dyn Desk,
    is_said: bool,
    language: Language,
) -> bool {
    let is_answered = is_said || told.iter().any(|(part, _)| part.lookup == Lookup::Search);
    let asks_people = told.iter().any(|(part, _)| part.lookup == Lookup::Person);
    if !is_answered || !asks_people {
        return false;
    }
    let mut seen: Vec<String> = Vec::new();
    for (_, text) in told.iter_mut().filter(|(part, _)| part.lookup == Lookup::Search) {
        // one name in two spellings finds one passage
        if seen.contains(text) {
            text.clear();
        } else {
            seen.push(text.clone());
        }
    }
    let people = desk.people().await.unwrap_or_default();
    for (part, text) in told.iter_mut().filter(|(part, _)| part.lookup == Lookup::Person) {
        let unknown = named_in(&part.clause, &people).unknown;
        let denied: Vec<String> =
            unknown.iter().map(|name| nobody(name, &people, language)).collect();
        let none = no_contact().in_language(language).to_owned();
        let kept = text
            .split("\n\n")
            .filter(|one| denied.iter().all(|denial| denial != one) && *one != none);
        *text = kept.collect::<Vec<_>>().join("\n\n");
    }
    true
}

/// That no telephone number is on record.
fn no_contact() -> Text {
    Text::new(
        "전화번호와 메일 주소는 제 기록에 없습니다. 현장 문서에 있으면 함께 보여 드립니다.",
        "My records have no telephone numbers and addresses of people. What a document of the \
         plant has of them is told with this.",
    )
}

/// What the records have of the people whom a clause names.
pub(super) async fn report(clause: &str, sources: &Sources<'_>, reader: Reader) -> Option<String> {
    let desk = sources.desk;
    let people = desk.people().await.ok()?;
    let named = named_in(clause, &people);
    let mut told = Vec::new();
    for name in &named.known {
        told.push(of_person(name, sources, reader).await);
    }
    told.extend(named.unknown.iter().map(|name| nobody(name, &people, reader.language)));
    if intent::asks_contact(&clause.to_lowercase()) {
        let none = no_contact();
        told.push(none.in_language(reader.language).to_owned());
    }
    (!told.is_empty()).then(|| told.join("\n\n"))
}

fn nobody(name: &str, people: &[String], language: Language) -> String {
    let known = people.iter().take(PROPOSED).cloned().collect::<Vec<_>>().join(", ");
    match (known.is_empty(), language) {
        (true, Language::Ko) => format!("{name}: 제 기록에 없는 사람입니다."),
        (true, Language::En) => format!("There is no {name} in my records."),
        (false, Language::Ko) => {
            format!("{name}: 제 기록에 없는 사람입니다. 제가 아는 사람은 {known}입니다.")
        }
        (false, Language::En) => {
            format!("There is no {name} in my records. I know {known}.")
        }
    }
}

/// Duty, alarms, messages and notes of one person.
async fn of_person(name: &str, sources: &Sources<'_>, reader: Reader) -> String {
    let (desk, language) = (sources.desk, reader.language);
    let mut lines = vec![format!("{name}:")];
    if let Ok(Some(roster)) = desk.duty().await {
        lines.extend(duty_of(name, &roster, language));
    }
    lines.extend(sources.fleet.iter().filter_map(|core| alarm_of(name, core, reader)));
    lines.extend(notes_of(name, sources.foci, reader));
    lines.extend(messages_to(name, desk, reader).await);
    if lines.len() == 1 {
        let none = Text::new(
            "- 당직, 확인한 경보, 메모, 알림이 기록에 없습니다.",
            "- No duty, alarm, note or message of this person is in my records.",
        );
        lines.push(none.in_language(language).to_owned());
    }
    let work = Text::new(
        "- 작업은 사람에게 배정되지 않아, 맡은 작업은 기록에 없습니다.",
        "- Work is not assigned to people, so nobody's own work is on record.",
    );
    lines.push(work.in_language(language).to_owned());
    lines.join("\n")
}

/// Says when a person is on duty: now, and next.
fn duty_of(name: &str, roster: &DutyRoster, language: Language) -> Vec<String> {
    let has_name = |names: &[String]| names.iter().any(|one| one == name);
    let now = roster.rotas.iter().filter(|(_, names)| has_name(names)).map(|(rota, _)| {
        let end = roster.changes.iter().find(|(one, _, names)| one == rota && !has_name(names));
        let end = end.map(|(_, at, _)| at.format("%m-%d %H:%M").to_string());
        match (end, language) {
            (Some(end), Language::Ko) => format!("- {rota}: 지금 당직({end}까지)"),
            (Some(end), Language::En) => format!("- {rota}: on duty now (until {end})"),
            (None, Language::Ko) => format!("- {rota}: 지금 당직"),
            (None, Language::En) => format!("- {rota}: on duty now"),
        }
    });
    let later = roster.changes.iter().filter(|(_, _, names)| has_name(names)).take(MOST);
    let later = later.map(|(rota, at, _)| {
        let at = at.format("%m-%d %H:%M");
        match language {
            Language::Ko => format!("- {rota}: {at}부터 당직"),
            Language::En => format!("- {rota}: on duty from {at}"),
        }
    });
    now.chain(later).collect()
}

/// The alarm of a bearing that a person has acknowledged or put off.
fn alarm_of(name: &str, core: &CoreFields, reader: Reader) -> Option<String> {
    let language = reader.language;
    let is_seen =
        core.alarm.as_ref().and_then(|alarm| alarm.acknowledged_by.as_deref()) == Some(name);
    let is_by = match &core.suppression {
        Suppression::Shelved { by, .. } | Suppression::OutOfService { by, .. } => by == name,
        Suppression::None | Suppression::ByDesign { .. } => false,
    };
    let put_off = is_by.then(|| super::suppressed::suppressed(core, reader)).flatten();
    match (put_off, is_seen, language) {
        (Some(text), _, _) => Some(format!("- {text}")),
        (None, true, Language::Ko) => Some(format!("- 확인한 경보: {}", core.line(language))),
        (None, true, Language::En) => Some(format!("- acknowledged: {}", core.line(language))),
        (None, false, _) => None,
    }
}

/// Returns the notes that a person wrote, newest first.
fn notes_of(name: &str, foci: &[Focus], reader: Reader) -> Vec<String> {
    let mut all: Vec<_> = foci
        .iter()
        .flat_map(|focus| focus.record.notes.iter().map(move |note| (focus, note)))
        .filter(|(_, note)| note.by == name)
        .collect();
    all.sort_by_key(|(_, note)| std::cmp::Reverse(note.at));
    let line = |(focus, note): (&Focus, _)| {
        format!("{} ({})", written(note, reader), focus.core.full_name(reader.language))
    };
    all.into_iter().take(MOST).map(line).collect()
}

/// Returns the notes on any bearing that have words of the clause, else the newest ones.
pub(super) fn notes_of_all(foci: &[Focus], clause: &str, reader: Reader) -> String {
    let language = reader.language;
    let mut all: Vec<_> = foci
        .iter()
        .flat_map(|focus| focus.record.notes.iter().map(move |note| (focus, note)))
        .collect();
    all.sort_by_key(|(_, note)| std::cmp::Reverse(note.at));
    let words: Vec<String> = clause
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() > if word.is_ascii() { 4 } else { 1 })
        .map(str::to_lowercase)
        .collect();
    let share = |note: &NoteLine| {
        let text = note.note.clone().unwrap_or_default().to_lowercase();
        words.iter().filter(|word| text.contains(word.as_str())).count()
    };
    let most = all.iter().map(|(_, note)| share(note)).max().unwrap_or_default();
    let is_found = most > 0;
    if is_found {
        all.retain(|(_, note)| share(note) == most);
    }
    let head = match (all.is_empty(), is_found || words.is_empty(), language) {
        (true, _, Language::Ko) => "적힌 메모나 점검 결과가 없습니다.",
        (true, _, Language::En) => "No note and no finding is recorded.",
        (false, true, Language::Ko) if words.is_empty() => "가장 새로운 메모와 점검 결과:",
        (false, true, Language::En) if words.is_empty() => "The newest notes and findings:",
        (false, true, Language::Ko) => "그 말이 있는 메모와 점검 결과:",
        (false, true, Language::En) => "Notes and findings with these words:",
        (false, false, Language::Ko) => {
            "그 말이 있는 메모는 없습니다. 가장 새로운 메모와 점검 결과:"
        }
        (false, false, Language::En) => "No note has these words. The newest notes and findings:",
    };
    let line = |(focus, note): (&Focus, _)| {
        format!("{} ({})", written(note, reader), focus.core.full_name(language))
    };
    let lines = all.into_iter().take(MOST).map(line);
    std::iter::once(head.to_owned()).chain(lines).collect::<Vec<_>>().join("\n")
}

/// The newest messages that went to a person.
async fn messages_to(name: &str, desk: &dyn Desk, reader: Reader) -> Vec<String> {
    let language = reader.language;
    let told = desk.told_lately().await.unwrap_or_default();
    let is_told = |to: &Text| to.ko.contains(name) || to.en.contains(name);
    let of = told.iter().filter(|line| line.told_to.iter().any(is_told)).take(MOST);
    of.map(|line| {
        let (at, title) = (reader.clock_time(line.at), line.title.in_language(language));
        match language {
            Language::Ko => format!("- 받은 알림: {at} {title}"),
            Language::En => format!("- was told: {at} {title}"),
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn people() -> Vec<String> {
        ["강대리", "서 과장", "Maria Santos", "James Cole", "ops"].map(str::to_owned).into()
    }

    #[test]
    fn people_are_known_however_they_are_written() {
        for (text, known) in [
            ("강대리가 지금 맡고 있는거 뭐뭐야", "강대리"),
            ("강 대리님 언제 당직이야?", "강대리"),
            ("서과장한테 알림 갔어?", "서 과장"),
            ("Did Maria see the alarm?", "Maria Santos"),
            ("what has james cole written", "James Cole"),
            ("is Santos on duty", "Maria Santos"),
        ] {
            let named = named_in(text, &people());
            assert_eq!(named.known, [known], "{text}");
            assert_eq!(named.unknown, Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn people_whom_nobody_knows_are_named_and_trades_are_no_people() {
        for (text, unknown) in [
            ("최기사님 연락처 알려주세요", "최기사"),
            ("김철수 과장한테 전화해줘", "김철수 과장"),
            ("Has Mr Brown been told?", "Mr Brown"),
        ] {
            assert_eq!(named_in(text, &people()).unknown, [unknown], "{text}");
        }
        for text in [
            "정비기사 몇 명 필요해",
            "당직 과장 누구야",
            "정기 정비 언제야",
            "기사 좀 불러줘",
            "이 차장치 상태 어때",
            "mark the alarm",
            "조치 사항이 뭐야",
            "안전 관리자 연락처",
            "how is P-101?",
            "반장님 누구야",
        ] {
            assert_eq!(named_in(text, &people()), NamedPeople::default(), "{text}");
        }
    }
}
