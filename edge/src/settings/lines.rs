//! The line number of a key, for errors about its value.

/// The line, from 1, of a key such as `broker.tls.ca` or `source[1].channel[0].rpm`; the line of
/// its table if the key is left out; `None` if the table is left out too.
pub(super) fn line_of(text: &str, key: &str) -> Option<usize> {
    let (table, name) = key.rsplit_once('.').unwrap_or(("", key));
    let mut here = Some(String::new()).filter(|_| table.is_empty());
    let mut found_table = here.as_ref().map(|_| 0);
    let mut seen: Vec<(String, usize)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            let is_array = header.starts_with('[');
            let header = header.trim_start_matches('[').split(']').next().unwrap_or("").trim();
            let path = numbered(header, is_array, &mut seen);
            here = (path == table).then_some(path);
            if here.is_some() {
                found_table.get_or_insert(number + 1);
            }
        } else if here.is_some()
            && line.split_once('=').is_some_and(|(typed, _)| typed.trim() == name)
        {
            return Some(number + 1);
        }
    }
    found_table.filter(|line| *line > 0)
}

/// The header `source.channel` with the index of every array of tables: `source[1].channel[0]`.
fn numbered(header: &str, is_array: bool, seen: &mut Vec<(String, usize)>) -> String {
    let mut path = String::new();
    let parts: Vec<&str> = header.split('.').map(str::trim).collect();
    for (depth, part) in parts.iter().enumerate() {
        if depth > 0 {
            path.push('.');
        }
        path.push_str(part);
        let is_last = depth + 1 == parts.len();
        let known = seen.iter_mut().find(|(name, _)| *name == path);
        match known {
            Some((_, count)) => {
                if is_last && is_array {
                    *count += 1;
                }
                let index = (*count - 1).to_string();
                path.extend(["[", &index, "]"]);
            }
            None if is_last && is_array => {
                seen.push((path.clone(), 1));
                path.push_str("[0]");
            }
            None => {}
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "site = \"a\"\n[broker]\nuser = \"u\"\n[[source]]\nname = \"one\"\n\
                        [[source.channel]]\nrpm = 1\n[[source]]\nname = \"two\"\n\
                        [[source.channel]]\nrpm = 2\n[[source.channel]]\nrpm = 3\n";

    #[test]
    fn a_key_is_found_in_its_own_table_of_an_array() {
        for (key, line) in [
            ("site", 1),
            ("broker.user", 3),
            ("source[0].name", 5),
            ("source[0].channel[0].rpm", 7),
            ("source[1].channel[0].rpm", 11),
            ("source[1].channel[1].rpm", 13),
            ("broker.password", 2),
        ] {
            assert_eq!(line_of(TEXT, key), Some(line), "{key}");
        }
        assert_eq!(line_of(TEXT, "admin.listen"), None);
    }
}
