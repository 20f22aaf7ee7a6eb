//! Whether an answer says that it failed, in the ways that receivers do.

use serde_json::Value;

/// Fields in which receivers wrap their verdict.
const WRAPPERS: [&str; 8] =
    ["header", "response", "result", "results", "data", "d", "status", "body"];
/// How deep verdicts are wrapped.
const DEEP: u32 = 4;
/// What is said by texts that are no JSON, or JSON that is cut, without blanks and in small
/// letters.
const WORDS: [&str; 10] = [
    "\"success\":false",
    "\"success\":\"false\"",
    "\"ok\":false",
    "<success>false",
    "<issuccessful>false",
    "<faultcode>",
    "<status>error",
    "success=false",
    "ok=false",
    "status=error",
];

/// Whether a text says that its request failed: JSON, several of them, in a list, in the call of a
/// function or behind a guard against being run, XML, a form, or the beginning of one of these.
pub fn says_failure(text: &str) -> bool {
    let text = bare(text);
    let values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut is_json = false;
    for value in values {
        match value {
            Ok(value) if is_failure(&value, DEEP) => return true,
            Ok(value) => is_json = value.is_object() || value.is_array(),
            Err(_) => {
                is_json = false;
                break;
            }
        }
    }
    if is_json {
        return false;
    }
    let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let plain = plain.to_ascii_lowercase();
    WORDS.iter().any(|word| plain.contains(word))
}

/// The JSON of a text, without what some makers put around it.
pub(crate) fn json_of(text: &str) -> Option<Value> {
    serde_json::from_str(bare(text)).ok()
}

/// A text without a guard against being run and without the call of a function around it (JSONP).
fn bare(text: &str) -> &str {
    let mut text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    for guard in [")]}',", ")]}'", "while(1);", "for(;;);", "/**/"] {
        text = text.strip_prefix(guard).unwrap_or(text).trim_start();
    }
    let called = || {
        let (name, behind) = text.split_once('(')?;
        let name = name.trim();
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
        let inner = behind.trim_end().trim_end_matches(';').trim_end().strip_suffix(')')?;
        (!name.is_empty() && name.chars().all(is_name)).then(|| inner.trim())
    };
    called().unwrap_or(text)
}

fn is_failure(value: &Value, deep: u32) -> bool {
    match value {
        Value::Bool(is_done) => !is_done,
        Value::Array(all) => all.iter().any(|one| one.is_object() && is_failure(one, deep)),
        // JSON within a text of JSON, as some gateways of messengers wrap it
        Value::String(text) if text.trim_start().starts_with(['{', '[']) && deep > 0 => {
            json_of(text).is_some_and(|inner| is_failure(&inner, deep - 1))
        }
        Value::Object(answer) => {
            let wraps = |key: &&str| {
                let inner = answer.get(*key).filter(|inner| !inner.is_boolean());
                inner.is_some_and(|inner| deep > 0 && is_failure(inner, deep - 1))
            };
            says_no(answer) || has_code(answer) || WRAPPERS.iter().any(wraps)
        }
        Value::Null | Value::Number(_) | Value::String(_) => false,
    }
}

/// Words and truth values.
fn says_no(answer: &serde_json::Map<String, Value>) -> bool {
    let is_false = |key: &str| {
        let value = answer.get(key);
        value.is_some_and(|value| {
            value == &Value::Bool(false)
                || value.as_str().is_some_and(|word| word.eq_ignore_ascii_case("false"))
        })
    };
    let is_error = answer.get("error").is_some_and(|error| {
        !matches!(error, Value::Null | Value::Bool(false)) && error.as_str() != Some("")
    });
    let is_filled =
        |key: &str| answer.get(key).and_then(Value::as_array).is_some_and(|a| !a.is_empty());
    let is_result = ["result", "status"].iter().any(|key| {
        let word = answer.get(*key).and_then(Value::as_str).map(str::to_ascii_lowercase);
        word.is_some_and(|word| {
            ["error", "failed", "failure", "fail", "invalid event", "rejected"]
                .contains(&word.as_str())
        })
    });
    ["ok", "success", "Success", "isSuccessful", "isSuccess", "successful"]
        .iter()
        .any(|key| is_false(key))
        || is_error
        || is_filled("errors")
        || is_result
}

/// Codes and counts.
fn has_code(answer: &serde_json::Map<String, Value>) -> bool {
    let is_rejected = answer.get("rejected").and_then(Value::as_u64).is_some_and(|count| count > 0);
    // codes of DingTalk, WeCom and Feishu: 0 is success; a code of HTTP stands for itself
    let is_code = |key: &str| answer.get(key).and_then(Value::as_i64).is_some_and(|code| code != 0);
    let has_error_code = is_code("errcode") || (answer.contains_key("msg") && is_code("code"));
    let is_success =
        answer.get("code").and_then(Value::as_i64).is_some_and(|code| (200..300).contains(&code));
    // an HTTP status of its own in the body
    let is_status = ["status", "statusCode", "status_code"].iter().any(|key| {
        answer.get(*key).and_then(Value::as_i64).is_some_and(|status| (400..600).contains(&status))
    });
    is_rejected || (has_error_code && !is_success) || is_status
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-AGENT-10
    #[test]
    fn a_failure_is_read_whatever_wraps_it() {
        let long = format!(r#"{{"text":"{}","success":false}}"#, "x".repeat(300));
        let cut = format!(r#"{{"success": false, "echo": "{}"#, "x".repeat(300));
        for refused in [
            r#"[{"success":false}]"#,
            r#"[{"ok":true},{"ok":false}]"#,
            r#"callback({"success":false});"#,
            r#"/**/ jQuery.cb_1( {"success":false} )"#,
            ")]}',\n{\"success\":false}",
            r#"for(;;);{"error":{"code":190}}"#,
            "{\"ok\":true}\n{\"ok\":false}",
            r#"{"d":{"Success":false}}"#,
            r#"{"response":{"header":{"isSuccessful":false}}}"#,
            r#""{\"success\":false}""#,
            "<?xml version=\"1.0\"?><r><success> false </success></r>",
            "success=false&error=12",
            "false",
            long.as_str(),
            cut.as_str(),
        ] {
            assert!(says_failure(refused), "{refused}");
        }
        for taken in [
            "",
            "ok",
            "1",
            "true",
            r#"{"success":true,"data":{"ok":true}}"#,
            r#"[{"success":true}]"#,
            r#"callback({"success":true});"#,
            r#"{"message":"say \"success\":false to this"}"#,
            r#"{"status":200,"data":[]}"#,
            "<r><success>true</success></r>",
            "accepted (queued)",
        ] {
            assert!(!says_failure(taken), "{taken}");
        }
    }
}
