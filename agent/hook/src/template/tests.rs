//! Templates of hooks: the presets that come with the program, and what is refused in a file.

use super::*;
use crate::presets::PRESETS;

#[test]
fn every_preset_compiles_and_names_its_source() {
    for (name, text) in PRESETS {
        let template = HookTemplate::parse(name, text).expect(name);
        assert!(!template.secrets.is_empty() || !template.optional_secrets.is_empty(), "{name}");
    }
}

fn wrong(text: &str) -> String {
    HookTemplate::parse("my.toml", text).expect_err("refused").to_string()
}

const HEAD: &str = "source = \"https://example.com/\"\nurl = \"https://example.com/\"\n";

#[test]
fn a_broken_template_is_told_with_its_line_and_key() {
    let told = wrong(&format!("{HEAD}\n[json]\ntext = \"{{{{ titel }}}}\"\n"));
    assert_eq!(told, "my.toml:5: json.text: undefined value");
    let told = wrong(&format!("{HEAD}[[json.list]]\na = 1\n[[json.list]]\nb = \"{{{{ title \"\n"));
    assert!(told.starts_with("my.toml:6: json.list[1].b: syntax error"), "{told}");
    let told = wrong(&format!("{HEAD}text = \"\"\"\nfirst\n{{{{ nobody }}}}\n\"\"\"\n"));
    assert_eq!(told, "my.toml:5: text: undefined value");
}

/// A list that is repeated costs the engine one step, however long its text becomes.
#[test]
fn a_template_that_writes_without_end_is_refused() {
    let told = wrong(&format!("{HEAD}message = \"{{{{ ['x'] * 9999998 }}}}\"\n"));
    assert_eq!(told, "my.toml:3: message: more than 262144 bytes");
}

#[test]
fn a_key_that_no_hook_has_is_told_with_its_line() {
    let told = wrong(&format!("{HEAD}sucess = {{ status = [200] }}\n"));
    assert!(told.starts_with("my.toml:3: unknown field `sucess`"), "{told}");
    let told = wrong(&format!("{HEAD}success = {{ pointer = \"/ok\" }}\n"));
    assert_eq!(told, "my.toml:3: success: pointer and value go together");
    let told = wrong(&format!("{HEAD}token = {{ kind = \"bearer\", secret = \"t\" }}\n"));
    assert_eq!(told, "my.toml:3: token: `t` is not in secrets");
}

#[test]
fn a_typed_value_is_json_and_is_left_out_where_it_is_empty() {
    let text = format!(
        "{HEAD}[json]\nn = {{ \"$json\" = \"{{{{ level }}}}\" }}\n\
         none = {{ \"$json\" = \"{{% if ack_url %}}1{{% endif %}}\" }}\nplain = [1, true, \"x\"]\n"
    );
    let template = HookTemplate::parse("my.toml", &text).expect("compiles");
    let sample = sample().expect("sample");
    let message = Message {
        key: Uuid::nil(),
        to: None,
        languages: &[Language::Ko],
        notifications: &[&sample],
    };
    let filled = template.fill(&message, &Filled::default()).expect("filled");
    assert_eq!(String::from_utf8_lossy(&filled.body), r#"{"n":1,"plain":[1,true,"x"]}"#);
}

#[test]
fn markdown_is_shown_as_it_stands() {
    assert_eq!(markdown("*a* @all [x](y)".to_owned()), "\\*a\\* ＠all \\[x\\](y)");
}

#[test]
fn hostile_files_are_hooks_or_problems() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/hostile/hook");
    let files: Vec<_> = std::fs::read_dir(folder).expect("a folder of seeds").collect();
    assert!(files.len() >= 5, "{} seeds", files.len());
    for file in files {
        let path = file.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a seed");
        let told = wrong(&text);
        assert!(told.len() < 2_000, "{}: {told}", path.display());
    }
}
