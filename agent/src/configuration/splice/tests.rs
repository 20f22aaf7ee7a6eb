//! Thirty changes of each kind leave every other byte of the shipped file and of one of our own
//! making.

use super::*;

const SHIPPED: &str = include_str!("../../../../config/agent.toml");
/// Comments in odd places, both line ends, quotes, blanks, keys without a blank line between
/// tables.
const OWN: &str = "# head\r\nshutdown_grace_s = 3.0   # s\r\n[store]\r\nsqlite='a.db'\r\n\r\n\
    [notify]  # who\r\nzone   =   \"Asia/Seoul\"# no blank\r\nrepeat_after_h = 8\r\n# in \
    between\r\n\
    from = \"Watch\"\r\n[[notify.recipient]]\r\nname = \"김\"\r\nemail = \"k@x\"\r\n\
    [[notify.rota]]\r\nname = 'r'\r\n[[notify.rota.shift]] # day\r\nfrom = \"07:00\"\r\nto = \
    \"19:00\"\r\n\
    who = [ \"김\", # he\r\n  \"park\" ]\r\n\r\n# the second\r\n[[notify.rota]]\r\nname = 's'\r\n\
    [[notify.rota.shift]]\r\nfrom = \"a\"\r\n\r\n[silence]\r\nrisk = \"Warning\"\r\n# the end";

fn way(text: &str) -> Vec<ConfigStep> {
    let step = |word: &str| match word.parse() {
        Ok(number) => ConfigStep::At(number),
        Err(_no_number) => ConfigStep::Key(word.to_owned()),
    };
    text.split('.').filter(|word| !word.is_empty()).map(step).collect()
}

fn put(table: &str, key: &str, value: impl Into<Value>) -> ConfigChange {
    ConfigChange::Set { table: way(table), key: key.to_owned(), value: value.into() }
}

/// The text before and behind the bytes that differ.
fn around<'a>(old: &'a str, new: &str) -> (&'a str, &'a str, String) {
    let (left, right) = (old.as_bytes(), new.as_bytes());
    let before = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let most = left.len().min(right.len()) - before;
    let behind =
        left.iter().rev().zip(right.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let middle = String::from_utf8_lossy(&right[before..right.len() - behind]).into_owned();
    let edge = |mut at: usize| {
        while !old.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    (&old[..edge(before)], &old[edge(left.len() - behind)..], middle)
}

/// R-UI-1: a value is exchanged and put back, thirty times; the file is then the one it was.
#[test]
fn thirty_values_are_exchanged_and_put_back_byte_for_byte() {
    let keys = [("", "shutdown_grace_s"), ("notify", "repeat_after_h"), ("notify", "zone")];
    for number in 0..30_u8 {
        let (table, key) = keys[usize::from(number) % keys.len()];
        let (value, former): (Value, &str) = match key {
            "zone" => (format!("Zone/\"{number}\"\\김").into(), "\"Asia/Seoul\""),
            "repeat_after_h" => (Value::Float(f64::from(number) / 7.0), "8"),
            _ => (Value::Integer(i64::from(number)), "3.0"),
        };
        let new = changed(OWN, &put(table, key, value.clone())).expect("changed");
        let at = new.find(&value.to_string()).expect("the value stands there");
        let mut back = new.clone();
        back.replace_range(at..at + value.to_string().len(), former);
        assert_eq!(back, OWN, "{key}");
    }
}

/// R-UI-1: a key that the file lacks is put in and taken out again, in tables with and without
/// values, in one that is not there, in lists, in the shipped file too.
#[test]
fn thirty_keys_are_put_in_and_taken_out_byte_for_byte() {
    let own = ["notify", "silence", "notify.rota.0", "notify.rota.1", "notify.rota.0.shift.0", ""];
    let shipped = ["notify", "silence", "intake", "store", "broker", "http"];
    for number in 0..30_u8 {
        let is_own = number % 2 == 0;
        let (text, tables) = if is_own { (OWN, own) } else { (SHIPPED, shipped) };
        let table = tables[usize::from(number) / 2 % 6];
        let key = format!("new_{number}");
        let new = changed(text, &put(table, &key, i64::from(number))).expect(table);
        let (.., middle) = around(text, &new);
        assert!(middle.contains(&format!("{key} = {number}")), "{table}: {middle:?}");
        assert_eq!(middle.lines().filter(|line| !line.is_empty()).count(), 1, "{middle:?}");
        let back = ConfigChange::Unset { table: way(table), key };
        assert_eq!(changed(&new, &back).expect("taken out"), text, "{table}");
    }
    let new = changed(OWN, &put("intake", "batch", 3)).expect("a new table");
    assert_eq!(new, format!("{OWN}\r\n\r\n[intake]\r\nbatch = 3\r\n"));
}

/// R-UI-1: tables of a list are added and taken out, on both levels.
#[test]
fn thirty_tables_of_lists_are_added_and_taken_out_byte_for_byte() {
    let lists = [
        ("notify", "route"),
        ("notify", "rota"),
        ("notify.rota.0", "shift"),
        ("notify.rota.0", "override"),
        ("notify.rota.1", "shift"),
        ("notify", "webhook"),
    ];
    let text = format!("{OWN}\r\n");
    for number in 0..30_u8 {
        let (table, list) = lists[usize::from(number) % lists.len()];
        let name = format!("이름 \"{number}\"");
        let entries = vec![("name".to_owned(), name.clone().into())];
        let change = ConfigChange::Append { table: way(table), list: list.to_owned(), entries };
        let new = changed(&text, &change).expect(list);
        let values: toml::Table = toml::from_str(&new).expect("TOML");
        let mut parent = &Value::Table(values);
        for step in way(table) {
            parent = match step {
                ConfigStep::Key(key) => &parent[key.as_str()],
                ConfigStep::At(number) => &parent[number],
            };
        }
        let all = parent[list].as_array().expect("a list");
        assert_eq!(all.last().expect("one")["name"].as_str(), Some(name.as_str()));
        let last = format!("{table}.{list}.{}", all.len() - 1);
        let back = changed(&new, &ConfigChange::Remove { table: way(&last) }).expect("taken out");
        assert_eq!(back, text, "{table}.{list}");
    }
}

/// A new route has its first step under a header of its own, so that steps can be added to it.
#[test]
fn lists_within_a_new_table_get_headers_of_their_own() {
    let step: toml::Table =
        [("to".to_owned(), Value::Array(vec!["kim".into()]))].into_iter().collect();
    let entries =
        vec![("step".to_owned(), Value::Array(vec![step.into()])), ("name".to_owned(), "r".into())];
    let change = ConfigChange::Append { table: way("notify"), list: "route".into(), entries };
    let new = changed("a = 1\n", &change).expect("added");
    let told = "a = 1\n\n[[notify.route]]\nname = \"r\"\n[[notify.route.step]]\nto = [\"kim\"]\n";
    assert_eq!(new, told);
    let more = ConfigChange::Append {
        table: way("notify.route.0"),
        list: "step".into(),
        entries: vec![("after_minutes".to_owned(), 15.into())],
    };
    let more = changed(&new, &more).expect("added");
    assert!(more.ends_with("to = [\"kim\"]\n\n[[notify.route.step]]\nafter_minutes = 15\n"));
}

/// A form that cannot be changed in place is refused, with its key; so is what is not there.
#[test]
fn what_a_page_cannot_change_is_refused() {
    let inline =
        "store = { sqlite = \"a\" }\nnotify.zone = \"UTC\"\n[a]\nroute = [{ name = \"x\" }]\n";
    let told = |change: &ConfigChange| changed(inline, change).expect_err("refused").to_string();
    assert!(told(&put("store", "sqlite", "b")).starts_with("store is written on one line"));
    assert!(told(&put("notify", "from", "x")).contains("notify.from is written"));
    assert_eq!(
        changed(inline, &put("notify", "zone", "X")).expect("a value"),
        inline.replace("UTC", "X")
    );
    let append =
        ConfigChange::Append { table: way("a"), list: "route".into(), entries: Vec::new() };
    assert!(told(&append).starts_with("a.route is written"));
    assert!(
        told(&ConfigChange::Remove { table: way("a.route.0") }).contains("a.route.0 is written")
    );
    let unset = ConfigChange::Unset { table: way("a"), key: "no".into() };
    assert_eq!(told(&unset), "a.no is not in the file");
    assert!(changed("a = ", &unset).is_err());
    // a table of the list stands behind another one: taking the first out would take that one too
    let torn = "[[r]]\nn = 1\n[silence]\nx = 1\n[[r.s]]\nm = 1\n";
    let remove = ConfigChange::Remove { table: way("r.0") };
    assert!(matches!(changed(torn, &remove), Err(SpliceError::Form(_))));
}
