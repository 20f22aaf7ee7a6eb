//! Changes of the settings in a person's words: the field, what stands and what will stand; the
//! fields of the form that takes a written change back; and refusals in the reader's language.

use minijinja::context;
use minijinja::value::Value;
use pdm_shared::text::Language;
use toml::{Table, Value as Toml};

use super::settings_fields::{Field, FieldKind, TableForm, table_of};
use crate::configuration::{ConfigChange, ConfigStep, dotted};

/// The name of the table that a form changes, with the name of its own: `Rota shift`.
pub(super) fn heading(entry: &str, values: &Table, language: Language) -> String {
    let Some((form, steps)) = table_of(entry) else { return entry.to_owned() };
    let own = at(values, &steps).and_then(|table| table.get("name")?.as_str());
    match own {
        Some(own) => format!("{} {own}", form.name(language)),
        None => form.name(language).to_owned(),
    }
}

/// What stands at the end of these steps.
fn at<'v>(values: &'v Table, steps: &[ConfigStep]) -> Option<&'v Toml> {
    let mut steps = steps.iter();
    let first = match steps.next()? {
        ConfigStep::Key(key) => values.get(key),
        ConfigStep::At(_) => None,
    };
    steps.try_fold(first?, |value, step| match step {
        ConfigStep::Key(key) => value.get(key),
        ConfigStep::At(number) => value.get(*number),
    })
}

/// A value as a person reads it; `None` for none and for one that the page does not know.
fn told(field: &Field, value: Option<&Toml>, language: Language) -> Option<String> {
    let written = field.written(value?)?;
    Some(match field.kind {
        FieldKind::Choice(_) => super::settings_fields::choice(&written, language),
        FieldKind::List if field.key == "days" => {
            let days = written.split(", ").map(|day| super::settings_fields::day(day, language));
            days.collect::<Vec<_>>().join(", ")
        }
        FieldKind::Moment => written.replace('T', " "),
        FieldKind::Text | FieldKind::Number | FieldKind::Count | FieldKind::List => written,
    })
}

/// The values of a table on one line, each with its name.
pub(super) fn summary(form: &TableForm, table: &Toml, language: Language) -> String {
    let shown = form.fields.iter().filter(|field| field.key != "name");
    let values = shown.filter_map(|field| {
        let value = told(field, table.get(field.key), language)?;
        Some(format!("{} {value}", field.short(language)))
    });
    values.collect::<Vec<_>>().join(" · ")
}

/// Changes as rows of a name, what stands before and what stands after; an empty text for nothing.
pub(super) fn rows(changes: &[ConfigChange], values: &Table, language: Language) -> Vec<Value> {
    changes.iter().flat_map(|change| rows_of(change, values, language)).collect()
}

fn rows_of(change: &ConfigChange, values: &Table, language: Language) -> Vec<Value> {
    let row = |name: &str, before: String, after: String| context! { name, before, after };
    match change {
        ConfigChange::Set { table, key, .. } | ConfigChange::Unset { table, key } => {
            let found = table_of(&dotted(table));
            let field =
                found.and_then(|(form, _)| form.fields.iter().find(|one| one.key == key.as_str()));
            let Some(field) = field else { return vec![row(key, String::new(), String::new())] };
            let new = if let ConfigChange::Set { value, .. } = change { Some(value) } else { None };
            let before = at(values, table).and_then(|table| told(field, table.get(key), language));
            let after = told(field, new, language);
            let name = field.short(language);
            vec![row(name, before.unwrap_or_default(), after.unwrap_or_default())]
        }
        ConfigChange::Append { table, list, entries } => {
            let steps = [&table[..], &[ConfigStep::Key(list.clone())]].concat();
            let Some((form, _)) = table_of(&dotted(&steps)) else { return Vec::new() };
            let entries: Table = entries.iter().cloned().collect();
            let summary = summary(form, &Toml::Table(entries.clone()), language);
            let own = entries.get("name").and_then(Toml::as_str).unwrap_or_default();
            let name = format!("{} {own}", form.name(language));
            vec![row(name.trim(), String::new(), summary)]
        }
        ConfigChange::Remove { table } => {
            let Some((form, _)) = table_of(&dotted(table)) else { return Vec::new() };
            let before = at(values, table).map(|table| summary(form, table, language));
            let name = heading(&dotted(table), values, language);
            vec![row(&name, before.unwrap_or_default(), String::new())]
        }
    }
}

/// The fields of the form that takes written changes back to `before`; `None` where no form of the
/// page can: a table that was taken out with tables below it, or with values that the page does not
/// know.
pub(super) fn back(changes: &[ConfigChange], before: &Table) -> Option<Vec<(String, String)>> {
    let field = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    match changes {
        [ConfigChange::Append { table, list, .. }] => {
            let steps = [&table[..], &[ConfigStep::Key(list.clone())]].concat();
            let number = at(before, &steps).and_then(Toml::as_array).map_or(0, Vec::len);
            let entry = format!("{}.{number}", dotted(&steps));
            Some(vec![field("entry", &entry), field("act", "remove")])
        }
        [ConfigChange::Remove { table }] => {
            let (form, _) = table_of(&dotted(table))?;
            let (_, list) = table.split_last()?;
            let gone = at(before, table)?.as_table()?;
            let known = |key: &String| form.fields.iter().any(|field| field.key == key.as_str());
            if !form.below.is_empty() || !gone.keys().all(known) {
                return None;
            }
            let mut fields = vec![field("entry", &dotted(list)), field("act", "add")];
            for one in form.fields {
                let Some(value) = gone.get(one.key) else { continue };
                fields.push(field(&format!("v.{}", one.key), &one.written(value)?));
            }
            Some(fields)
        }
        [] => None,
        several => {
            let mut fields = Vec::new();
            for change in several {
                let (ConfigChange::Set { table, key, .. } | ConfigChange::Unset { table, key }) =
                    change
                else {
                    return None;
                };
                if fields.is_empty() {
                    fields.extend([field("entry", &dotted(table)), field("act", "set")]);
                }
                let (form, _) = table_of(&dotted(table))?;
                let one = form.fields.iter().find(|field| field.key == key.as_str())?;
                let value = at(before, table).and_then(|table| table.get(key));
                let written = value.map_or(Some(String::new()), |value| one.written(value))?;
                fields.push(field(&format!("v.{key}"), &written));
            }
            Some(fields)
        }
    }
}

/// A refusal of the program in Korean; `None` for a form of words that is not known. The program
/// says `FILE: KEY is VALUE, allowed is ALLOWED`, or `FILE:LINE:COLUMN: KEY: VALUE is no KIND,
/// allowed is ALLOWED`.
pub(super) fn refusal(detail: &str) -> Option<String> {
    if detail == "this program was started without a file" {
        return Some("이 프로그램은 설정 파일 없이 시작되었습니다.".to_owned());
    }
    let (said, allowed) =
        detail.split_once(", allowed is ").or_else(|| detail.split_once(", allowed are "))?;
    let (key, value) = match said.rsplit_once(": ") {
        // the key stands before its value where the value is quoted
        Some((before, last)) if last.starts_with('"') => {
            (before.rsplit(": ").next().unwrap_or(before), last)
        }
        Some((_, last)) => last.split_once(" is ")?,
        None => said.split_once(" is ")?,
    };
    let value = value.split_once(" is no ").map_or(value, |(value, _)| value);
    let key = key.rsplit(['.', '[']).next().unwrap_or(key);
    let name = name_of(key).unwrap_or(key);
    let allowed = allowed_in_korean(allowed);
    Some(format!("{name} {}: 쓸 수 없는 값입니다. 허용: {allowed}", value.trim()))
}

/// The Korean name of a key, whichever table has it.
fn name_of(key: &str) -> Option<&'static str> {
    fn of(forms: &'static [TableForm], key: &str) -> Option<&'static str> {
        forms.iter().find_map(|form| {
            let own = form.fields.iter().find(|field| field.key == key);
            own.map(|field| field.short(Language::Ko)).or_else(|| of(form.below, key))
        })
    }
    super::settings_tables::SECTIONS.iter().find_map(|section| of(section.tables, key))
}

fn allowed_in_korean(allowed: &str) -> String {
    let known = match allowed {
        "names of the IANA database such as Asia/Seoul" => "Asia/Seoul 같은 시간대 이름",
        "HH:MM from 00:00 to 24:00" => "00:00부터 24:00까지의 시각(시:분)",
        "\"YYYY-MM-DD HH:MM\"" => "2026-11-30 07:00 같은 날짜와 시각",
        "after `from`" => "시작보다 뒤의 시각",
        "a name that no other recipient, channel, group or rota has" => {
            "다른 사람, 채널, 그룹, 당직표가 쓰지 않는 이름"
        }
        "people, channels and rotas, no groups" => "사람, 채널, 당직표(그룹은 안 됨)",
        "hours that end" => "끝나는 시간(온 주일은 안 됨)",
        "a number, a chat or a topic on one line" => "한 줄로 된 번호, 대화방, 주제",
        "each hook once" => "웹훅마다 한 번",
        "0 in the first step: somebody hears of an alarm at once" => {
            "첫 차례는 0(누군가는 바로 들어야 함)"
        }
        other => return range_in_korean(other).unwrap_or_else(|| other.to_owned()),
    };
    known.to_owned()
}

/// `1 to 20 steps` in Korean.
fn range_in_korean(allowed: &str) -> Option<String> {
    let (least, rest) = allowed.split_once(" to ")?;
    let (most, unit) = rest.split_once([' ', ',']).unwrap_or((rest, ""));
    let is_number = |text: &str| text.parse::<f64>().is_ok();
    if !is_number(least) || !is_number(most) {
        return None;
    }
    let unit = match unit.trim() {
        "seconds" => "초",
        "hours" => "시간",
        "minutes" => "분",
        "steps" => "차례",
        _ => "",
    };
    let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
    Some(format!("{least}부터 {most}까지{unit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(way: &str) -> Vec<ConfigStep> {
        table_of(way).expect("a table").1
    }

    fn fields(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    /// A saved change could not be taken back.
    #[test]
    fn each_kind_of_change_names_the_form_that_takes_it_back() {
        let before: Table = toml::from_str(
            "[notify]\nfrom = \"Watch\"\n[[notify.rota]]\nname = \"day\"\n[[notify.rota.shift]]\n\
             days = [\"mon\"]\nfrom = \"07:00\"\nto = \"19:00\"\nwho = [\"choi\"]\n",
        )
        .expect("TOML");
        let set = ConfigChange::Set {
            table: steps("notify"),
            key: "from".to_owned(),
            value: Toml::String("Warning".to_owned()),
        };
        let wanted = fields(&[("entry", "notify"), ("act", "set"), ("v.from", "Watch")]);
        assert_eq!(back(&[set], &before), Some(wanted));
        let added = ConfigChange::Append {
            table: steps("notify.rota.0"),
            list: "shift".to_owned(),
            entries: Vec::new(),
        };
        let wanted = fields(&[("entry", "notify.rota.0.shift.1"), ("act", "remove")]);
        assert_eq!(back(&[added], &before), Some(wanted), "the new one is the second");
        let gone = ConfigChange::Remove { table: steps("notify.rota.0.shift.0") };
        let wanted = fields(&[
            ("entry", "notify.rota.0.shift"),
            ("act", "add"),
            ("v.days", "mon"),
            ("v.from", "07:00"),
            ("v.to", "19:00"),
            ("v.who", "choi"),
        ]);
        assert_eq!(back(&[gone], &before), Some(wanted));
        let whole = ConfigChange::Remove { table: steps("notify.rota.0") };
        assert_eq!(back(&[whole], &before), None, "its shifts would be lost");
        let shift = at(&before, &steps("notify.rota.0.shift.0")).expect("one");
        let (form, _) = table_of("notify.rota.0.shift").expect("a table");
        assert_eq!(
            summary(form, shift, Language::Ko),
            "요일 월 · 시작 07:00 · 끝 19:00 · 당직자 choi"
        );
    }

    #[test]
    fn a_refusal_of_the_program_is_told_in_korean() {
        for (detail, told) in [
            (
                "agent.toml:11:8: zone: \"Seoul\" is no time zone, allowed are names of the IANA \
                 database such as Asia/Seoul",
                "\"Seoul\": 쓸 수 없는 값입니다. 허용: Asia/Seoul 같은 시간대 이름",
            ),
            (
                "/etc/pdm/agent.toml: notify.group_wait_s is 86401, allowed is 0 to 86400 seconds",
                "알림을 모으는 시간 86401: 쓸 수 없는 값입니다. 허용: 0부터 86400까지 (초)",
            ),
            (
                "/etc/pdm/agent.toml: notify.route.r.step.to is kmi, allowed is choi, kim",
                "kmi: 쓸 수 없는 값입니다. 허용: choi, kim",
            ),
        ] {
            let got = refusal(detail).expect(detail);
            assert!(got.ends_with(told), "{got}");
        }
        assert_eq!(refusal("the disk is full"), None);
    }
}
