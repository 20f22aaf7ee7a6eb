//! The dialect, program by program.

use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::{Ended, NoResult, Outside};
use crate::child::tried;

/// A plant of tools for tests: `echo` returns its arguments, `stocks` a list, `broken` fails.
struct Plant;

impl Outside for Plant {
    fn has(&self, tool: &str) -> bool {
        matches!(tool, "echo" | "stocks" | "broken" | "list_tags")
    }

    fn call(&mut self, tool: &str, arguments: Map<String, Json>) -> Result<String, NoResult> {
        match tool {
            "echo" => Ok(Json::Object(arguments).to_string()),
            "stocks" => Ok(json!([
                { "code": "005930", "name": "삼성전자", "weight": 30.5 },
                { "code": "000660", "name": "SK하이닉스", "weight": 12.25 },
            ])
            .to_string()),
            _ => Err(NoResult::Failed("the store is away".to_owned())),
        }
    }
}

fn ended(program: &str) -> Ended {
    tried(program, &mut Plant)
}

/// Returns the value of an expression, as `str` writes it.
fn shown(expression: &str) -> String {
    let ended = ended(&format!("shown = {expression}\nprint(shown)\nNone"));
    ended.error.unwrap_or(ended.printed)
}

fn error(program: &str) -> String {
    let ended = ended(program);
    assert_eq!(ended.answer, None, "{program}");
    ended.error.unwrap_or_else(|| panic!("no error: {program}"))
}

/// The results were compared with CPython 3.11 (`python3 -c 'print(…)'`).
#[test]
fn expressions_mean_what_they_mean_in_python() {
    for (expression, value) in [
        ("1 + 2 * 3 ** 2 - -4", "23"),
        ("2 ** 3 ** 2, -2 ** 2, 2 ** -1", "(512, -4, 0.5)"),
        ("7 // 2, -7 // 2, 7 // -2, -7 // -2", "(3, -4, -4, 3)"),
        ("7 % 3, -7 % 3, 7 % -3, 7.5 % 2", "(1, 2, -2, 1.5)"),
        ("1 / 4, 3.0, 1e16, 1e-5, 0.1 + 0.2", "(0.25, 3.0, 1e+16, 1e-05, 0.30000000000000004)"),
        ("1 < 2 < 3, 1 < 3 < 2, 'a' < 'b', [1, 2] < [1, 3]", "(True, False, True, True)"),
        ("1 == 1.0, '1' == 1, None is None, not []", "(True, False, True, True)"),
        ("0 or 'a', 1 and 'b', 5 if False else 6", "('a', 'b', 6)"),
        ("'ab' * 2 + 'c', [0] * 3, (1,) * 2", "('ababc', [0, 0, 0], (1, 1))"),
        ("[1, 2, 3][-1], 'abc'[1], (1, 2)[0]", "(3, 'b', 1)"),
        ("[0, 1, 2, 3, 4][1:4:2], 'hello'[::-1], [1, 2][5:]", "([1, 3], 'olleh', [])"),
        ("[x * x for x in range(5) if x % 2]", "[1, 9]"),
        ("{k: v for k, v in [('a', 1), ('b', 2)]}", "{'a': 1, 'b': 2}"),
        ("[(x, y) for x in 'ab' for y in (1, 2)]", "[('a', 1), ('a', 2), ('b', 1), ('b', 2)]"),
        ("sum(x for x in [1, 2.5])", "3.5"),
        ("sorted({3, 1, 2}), sorted('bca', reverse=True)", "([1, 2, 3], ['c', 'b', 'a'])"),
        ("sorted([{'a': 2}, {'a': 1}], key=lambda x: x['a'])", "[{'a': 1}, {'a': 2}]"),
        ("max([3, 9, 2]), min(4, 2), max([], default=0)", "(9, 2, 0)"),
        ("max([('a', 2), ('b', 5)], key=lambda p: p[1])[0]", "b"),
        (
            "list(enumerate('ab', 1)), list(zip([1, 2], 'xy'))",
            "([(1, 'a'), (2, 'b')], [(1, 'x'), (2, 'y')])",
        ),
        ("list(map(str, [1, 2])), list(filter(None, [0, 1]))", "(['1', '2'], [1])"),
        ("int('42'), int(3.9), float('2.5'), round(2.567, 2), round(2.5)", "(42, 3, 2.5, 2.57, 2)"),
        ("len('한글'), '한글'[0], '한글'.find('글')", "(2, '한', 1)"),
        (
            "' a b '.split(), 'a,b,c'.split(',', 1), 'a b'.upper()",
            "(['a', 'b'], ['a', 'b,c'], 'A B')",
        ),
        ("', '.join(['x', 'y']), 'aXbX'.replace('X', '-'), ' x '.strip()", "('x, y', 'a-b-', 'x')"),
        ("'abc'.startswith(('x', 'a')), 'b' in 'abc', 3 not in [1, 2]", "(True, True, True)"),
        (
            "f\"{3.14159:.2f} {42:>5} {'x':<3}| {1234567:,} {0.256:.1%}\"",
            "3.14    42 x  | 1,234,567 25.6%",
        ),
        ("f\"{'a' + \"b\"} {{braces}} {[1, 2][0]!r} {'q'!r}\"", "ab {braces} 1 'q'"),
        ("'%s has %d and %.1f%%' % ('P-101', 3, 12.34)", "P-101 has 3 and 12.3%"),
        ("'{0} {name:.1f} {0}'.format('a', name=2.25)", "a 2.2 a"),
        ("json.loads('{\"a\": [1, 2.5, null, true]}')", "{'a': [1, 2.5, None, True]}"),
        (
            "json.dumps({'가': [1, 2.0, None], 'b': True}, ensure_ascii=False)",
            "{\"가\": [1, 2.0, null], \"b\": true}",
        ),
        (
            "{'a': 1}.get('b', 5), {'a': 1} | {'b': 2}, list({'a': 1}.items())",
            "(5, {'a': 1, 'b': 2}, [('a', 1)])",
        ),
        ("{1, 2} & {2, 3}, {1} | {2}, {1, 2} - {2}", "({2}, {1, 2}, {1})"),
        ("isinstance(3, int), isinstance('a', (int, str))", "(True, True)"),
        ("r'a\\n', 'a\\tb', '\\uac00', \"it's\"", "('a\\\\n', 'a\\tb', '가', \"it's\")"),
        ("any([0, 1]), all([1, 0]), abs(-3), repr('a')", "(True, False, 3, \"'a'\")"),
    ] {
        assert_eq!(shown(expression), value, "{expression}");
    }
}

#[test]
fn statements_mean_what_they_mean_in_python() {
    let program = r#"
import json

def total(rows, key="weight", *, least=0) -> float:
    pass
"#;
    assert!(error(program).contains("parameters with *"), "{}", error(program));
    let program = r#"
import json  # the only module

def heavy(rows: list, least: float = 20.0) -> list:
    """Rows of at least so much."""
    out = []
    for row in rows:
        if row["weight"] < least:
            continue
        out.append(row)
    return out

rows = json.loads(stocks())
names = [row["name"] for row in heavy(rows)]
count = 0
while True:
    count += 1
    if count == 3:
        break
first, (second, third) = 1, (2, 3)
seen = {}
for row in rows:
    seen.setdefault(row["name"], []).append(row["code"])
try:
    broken()
except ToolError as e:
    problem = str(e)
finally:
    done = True
try:
    {}["missing"]
except (KeyError, ValueError):
    pass
else:
    problem = "not caught"
x = y = 5
x -= 1; rows[0]["weight"] = 1
print(names, count, third, x, y, done)
print(problem, sep="")
final_answer(f"{names[0]}: {len(rows)}")
print("never")
"#;
    let ended = ended(program);
    assert_eq!(ended.error, None);
    assert_eq!(ended.answer.as_deref(), Some("삼성전자: 2"));
    assert_eq!(ended.printed, "['삼성전자'] 3 3 4 5 True\nbroken: the store is away");
}

#[test]
fn a_function_sees_the_names_around_it_and_its_own_are_its_own() {
    let program =
        "x = 1\ndef f():\n    x = 2\n    def g():\n        return x\n    return g()\nprint(f(), x)";
    assert_eq!(ended(program).printed, "2 1");
}

/// R-CODE-1: tools by keyword, their answers as JSON texts.
#[test]
fn a_tool_is_a_function_with_keyword_arguments_that_returns_json() {
    let ended = ended("a = {'b': [1, None]}\necho(query='삼성', more=a)");
    let printed: Json = serde_json::from_str(&ended.printed).expect("json");
    assert_eq!(printed, json!({ "query": "삼성", "more": { "b": [1, null] } }));
    assert!(error("echo('x')").contains("by name"), "{}", error("echo('x')"));
    assert!(error("stocks()['a']").contains("an index is a whole number"));
    assert!(error("echo(a=print)").contains("no form in JSON"));
    assert!(error("broken()").contains("line 1: ToolError: broken: the store is away"));
}

#[test]
fn the_value_of_the_last_statement_is_observed() {
    assert_eq!(ended("1 + 1").printed, "2");
    assert_eq!(ended("x = [1]").printed, "[1]");
    assert_eq!(ended("print(3)").printed, "3");
    assert_eq!(ended("").printed, "");
}

/// A construct that the dialect lacks is refused by its name and line.
#[test]
fn what_is_not_in_the_dialect_is_refused_by_name() {
    for (program, told) in [
        ("import os", "json is the only module"),
        ("import json.decoder", "json is the only module"),
        ("x = 1\nfrom os import system", "line 2: from is not in this dialect"),
        ("class A:\n    pass", "class is not in this dialect"),
        ("open('/etc/passwd')", "open is not defined"),
        ("__import__('os')", "__import__ is not defined"),
        ("eval('1')", "eval is not defined"),
        ("().__class__", "has no __class__"),
        ("print.__globals__", "has no __globals__"),
        ("with open('a') as f:\n    pass", "with is not in this dialect"),
        ("global x", "global is not in this dialect"),
        ("b'bytes'", "bytes"),
        ("x = (1", "expected"),
        ("x = 'no end", "a text has no end"),
        ("if True:\nprint(1)", "expected an indented block"),
        ("if True:\n    a = 1\n  b = 2", "indentation"),
        ("1 +", "expected an expression"),
        ("x = 99999999999999999999", "no number of 64 bits"),
        ("nothing", "NameError: nothing is not defined"),
        ("1 = 2", "cannot be assigned"),
        ("'a' + 1", "TypeError"),
        ("1 / 0", "ZeroDivisionError"),
        ("9223372036854775807 + 1", "OverflowError"),
        ("[1][5]", "IndexError"),
        ("sorted([1, 'a'])", "cannot be compared"),
        ("raise ValueError('bad value')", "ValueError: bad value"),
        ("notify_maintenance_staff(message='x')", "notify_maintenance_staff is not defined"),
    ] {
        let error = error(program);
        assert!(error.contains(told), "{program}: {error}");
    }
}

/// Each program meets a limit of the interpreter, which tells it; no limit can be caught.
#[test]
fn what_grows_without_end_meets_a_limit() {
    for (program, told) in [
        ("while True: pass", "steps"),
        ("while True:\n    try:\n        1/0\n    except Exception:\n        pass", "steps"),
        ("try:\n    while True: pass\nexcept:\n    final_answer('caught')", "steps"),
        ("[0] * 2000000000", "MiB"),
        ("'a' * 9000000000000000000", "MiB"),
        ("x = 'a'\nwhile True: x += x", "MiB"),
        ("x = [1]\nwhile True: x += x", "more than"),
        ("x = []\nwhile True: x.append(x)", "more than"),
        ("def f(): return f()\nf()", "deeper"),
        ("f = lambda g: g(g)\nf(f)", "deeper"),
        ("range(10 ** 12)", "longer than"),
        ("a = []\na.append(a)\nprint(a)", "deeper"),
        ("a = []\na.append(a)\njson.dumps(a)", "deeper"),
        ("a = []\nb = []\na.append(b)\nb.append(a)\na == b", "deeper"),
        ("f'{1:9999999999}'", "no format"),
        ("'x'.ljust(10 ** 12)", "wide"),
        ("x = 'ab' * 100000\nwhile True: x = x.replace('a', 'bbbb')", "more than"),
        ("def f(n):\n    for i in range(1000):\n        f(n + 1)\nf(0)", "deeper"),
        ("10 ** 10 ** 10", "OverflowError"),
    ] {
        let error = error(program);
        assert!(error.contains(told), "{program}: {error}");
    }
    let deep = format!("{}1{}", "(".repeat(5000), ")".repeat(5000));
    assert!(error(&deep).contains("nests deeper"));
    assert!(error(&format!("x = {}1", "-".repeat(5000))).contains("nests deeper"));
    assert!(error(&format!("x = 1{}", " + 1".repeat(3000))).contains("more than"));
    assert!(error(&format!("x{}", "[0]".repeat(3000))).contains("more than"));
    assert!(error(&"a".repeat(20_000)).contains("bytes"));
}

#[test]
fn a_flood_of_prints_is_cut_and_counted() {
    let ended = ended("for i in range(2000): print('가나다라마바사아자차' * 10)");
    assert!(ended.printed.len() < 5000, "{}", ended.printed.len());
    assert!(ended.printed.ends_with("characters left out)"), "{}", ended.printed);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever a model writes, the interpreter answers.
    #[test]
    fn no_text_ends_the_interpreter(program in "\\PC{0,80}") {
        let _ended = ended(&program);
    }

    #[test]
    fn no_heap_of_words_ends_the_interpreter(
        words in proptest::collection::vec(
            prop_oneof![
                Just("for"), Just("x"), Just("in"), Just("["), Just("]"), Just("("), Just(")"), Just(":"),
                Just("\n"), Just("    "), Just("if"), Just("def"), Just("f"), Just("lambda"), Just("1"),
                Just("'a'"), Just("f'{x}'"), Just("="), Just("+"), Just("*"), Just("{"), Just("}"),
                Just(","), Just("return"), Just("not"), Just("."), Just("range"), Just("9999999999"),
                Just("print"), Just("try"), Just("except"), Just("%"), Just("<"), Just("sorted"),
            ],
            0..40,
        )
    ) {
        let _ended = ended(&words.join(" "));
    }
}
