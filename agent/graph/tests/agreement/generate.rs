//! Makes a small graph and reads over it, all drawn from one seed. Every query is one of the
//! supported subset, is typed (no arithmetic on texts), and has one right multiset of rows: a cut
//! stands behind an order of every column.

use serde_json::{Map, Value, json};

/// Numbers from a seed (splitmix64; Steele, Lea and Flood 2014).
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Returns true once in `of` calls on the average.
    fn once_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    fn one<'t, T: ?Sized>(&mut self, of: &[&'t T]) -> &'t T {
        of[self.below(of.len() as u64) as usize]
    }
}

const LABELS: [&str; 3] = ["A", "B", "C"];
const TYPES: [&str; 3] = ["R", "S", "T"];
const TEXTS: [&str; 6] = ["a", "ab", "b", "", "가나", "Ba"];

/// A graph as the oracle reads it.
pub(crate) struct Graph {
    pub(crate) nodes: Vec<(Vec<&'static str>, Map<String, Value>)>,
    pub(crate) relationships: Vec<(usize, usize, &'static str, Map<String, Value>)>,
}

/// Twelve nodes with up to two labels and 22 relationships, loops among them. `i` tells nodes and
/// relationships apart; `n`, `t`, `f` and `b` are absent at times.
pub(crate) fn graph(draw: &mut Draw) -> Graph {
    let mut nodes = Vec::new();
    for i in 0..12 {
        let labels = LABELS.into_iter().filter(|_| draw.once_in(2)).take(2).collect();
        let mut own = Map::new();
        own.insert("i".into(), json!(i));
        if !draw.once_in(4) {
            own.insert("n".into(), json!(draw.below(5)));
        }
        if !draw.once_in(4) {
            own.insert("t".into(), json!(draw.one(&TEXTS)));
        }
        if !draw.once_in(3) {
            own.insert("f".into(), json!(draw.below(8) as f64 / 4.0));
        }
        if !draw.once_in(3) {
            own.insert("b".into(), json!(draw.once_in(2)));
        }
        nodes.push((labels, own));
    }
    let relationships = (0..22).map(|i| {
        let ends = (draw.below(12) as usize, draw.below(12) as usize);
        let mut own = Map::new();
        own.insert("i".into(), json!(i));
        if !draw.once_in(3) {
            own.insert("n".into(), json!(draw.below(4)));
        }
        (ends.0, ends.1, draw.one(&TYPES), own)
    });
    Graph { relationships: relationships.collect(), nodes }
}

/// The variables that a query has bound so far.
#[derive(Clone, Default)]
struct Scope {
    nodes: Vec<String>,
    relationships: Vec<String>,
    numbers: Vec<String>,
    count: usize,
}

impl Scope {
    fn fresh(&mut self, letter: char) -> String {
        self.count += 1;
        format!("{letter}{}", self.count)
    }

    fn pick(of: &[String], draw: &mut Draw) -> Option<String> {
        (!of.is_empty()).then(|| of[draw.below(of.len() as u64) as usize].clone())
    }
}

/// A query.
pub(crate) fn query(draw: &mut Draw) -> String {
    match draw.below(12) {
        0 => {
            let all = if draw.once_in(2) { " ALL" } else { "" };
            // each column has one type on both sides
            let kinds = [draw.below(2), draw.below(2)];
            let kinds = &kinds[..=draw.below(2) as usize];
            let (first, second) = (simple(draw, kinds), simple(draw, kinds));
            format!("{first} UNION{all} {second}")
        }
        1 => grouped_in_order(draw),
        _ => {
            let mut scope = Scope::default();
            let head = head(draw, &mut scope);
            let tail = if draw.once_in(3) {
                grouped(draw, &scope)
            } else {
                let columns = 1 + draw.below(3) as usize;
                projected(draw, &scope, columns)
            };
            format!("{head} {tail}")
        }
    }
}

/// The first of each group in an order, as the examples of the ETF document take it.
fn grouped_in_order(draw: &mut Draw) -> String {
    let (kind, way) = (draw.one(&TYPES), draw.one(&["", " DESC"]));
    format!(
        "MATCH (a)-[r:{kind}]->(b) WITH a, r ORDER BY r.i{way} WITH a, head(collect(r)) AS last \
         RETURN a.i AS c0, last.i AS c1, last.n AS c2"
    )
}

fn simple(draw: &mut Draw, kinds: &[u64]) -> String {
    let mut scope = Scope::default();
    let pattern = pattern(draw, &mut scope, false);
    let columns = kinds.iter().enumerate().map(|(at, kind)| {
        let value = if *kind == 0 { number(draw, &scope, 1) } else { text(draw, &scope, 1) };
        format!("{value} AS c{at}")
    });
    let columns = columns.collect::<Vec<_>>().join(", ");
    format!("MATCH {pattern} RETURN {columns}")
}

/// The clauses before the result.
fn head(draw: &mut Draw, scope: &mut Scope) -> String {
    let mut text = format!("MATCH {}", pattern(draw, scope, true));
    if draw.once_in(4) {
        // of other types than the first pattern
        text = format!("{text}, {}", pattern_of(draw, scope, true, &["T"]));
    }
    if draw.once_in(2) {
        text = format!("{text} WHERE {}", truth(draw, scope, 2));
    }
    if draw.once_in(3) {
        text = format!("{text} OPTIONAL MATCH {}", pattern(draw, scope, true));
        if draw.once_in(2) {
            text = format!("{text} WHERE {}", truth(draw, scope, 1));
        }
    }
    if draw.once_in(5) {
        let name = scope.fresh('u');
        let list = numbers(draw, scope, 1);
        text = format!("{text} UNWIND {list} AS {name}");
        scope.numbers.push(name);
    }
    if draw.once_in(4) {
        text = format!("{text} {}", with(draw, scope));
    }
    text
}

/// A `WITH` that passes one node on, with a number; grouped at times.
fn with(draw: &mut Draw, scope: &mut Scope) -> String {
    let Some(node) = Scope::pick(&scope.nodes, draw) else { return String::new() };
    let name = scope.fresh('w');
    let value = if draw.once_in(2) { aggregate(draw, scope) } else { number(draw, scope, 1) };
    let count = scope.count;
    *scope =
        Scope { nodes: vec![node.clone()], numbers: vec![name.clone()], count, ..Scope::default() };
    let mut text = format!("WITH {node}, {value} AS {name}");
    let goes_on = draw.once_in(2);
    if goes_on || draw.once_in(2) {
        // an OPTIONAL MATCH may have left nothing, from which no pattern goes on
        let there = if goes_on { format!("{node} IS NOT NULL AND ") } else { String::new() };
        text = format!("{text} WHERE {there}{}", truth(draw, scope, 1));
    }
    if goes_on {
        text = format!("{text} MATCH {}", pattern(draw, scope, true));
    }
    text
}

fn node(draw: &mut Draw, scope: &mut Scope, again: bool) -> String {
    if again
        && draw.once_in(3)
        && let Some(known) = Scope::pick(&scope.nodes, draw)
    {
        return format!("({known})");
    }
    let name = if draw.once_in(5) { String::new() } else { scope.fresh('a') };
    if !name.is_empty() {
        scope.nodes.push(name.clone());
    }
    let label = if draw.once_in(3) { format!(":{}", draw.one(&LABELS)) } else { String::new() };
    let own = if draw.once_in(10) { format!(" {{n: {}}}", draw.below(5)) } else { String::new() };
    format!("({name}{label}{own})")
}

fn relationship(draw: &mut Draw, scope: &mut Scope, kinds: &[&str]) -> String {
    let kinds = match draw.below(3) {
        0 => format!(":{}", draw.one(kinds)),
        _ => format!(":{}", kinds.join("|")),
    };
    let many = draw.once_in(5);
    let way = draw.below(4);
    let inner = if many {
        let length = if way == 1 { "*0..1" } else { draw.one(&["*1..2", "*2", "*0..1", "*..2"]) };
        format!("{kinds}{length}")
    } else if draw.once_in(2) {
        let name = scope.fresh('r');
        scope.relationships.push(name.clone());
        let own =
            if draw.once_in(6) { format!(" {{n: {}}}", draw.below(4)) } else { String::new() };
        format!("{name}{kinds}{own}")
    } else {
        kinds
    };
    match way {
        0 => format!("<-[{inner}]-"),
        1 => format!("-[{inner}]-"),
        _ => format!("-[{inner}]->"),
    }
}

fn pattern(draw: &mut Draw, scope: &mut Scope, again: bool) -> String {
    let kinds: &[&str] = if draw.once_in(3) { &["S"] } else { &["R", "S"] };
    pattern_of(draw, scope, again, kinds)
}

/// A pattern whose relationships have these types.
fn pattern_of(draw: &mut Draw, scope: &mut Scope, again: bool, kinds: &[&str]) -> String {
    let mut text = node(draw, scope, again);
    for _ in 0..draw.below(3) {
        let step = relationship(draw, scope, kinds);
        text = format!("{text}{step}{}", node(draw, scope, again));
    }
    text
}

fn property(draw: &mut Draw, scope: &Scope, key: &str) -> Option<String> {
    Scope::pick(&scope.nodes, draw).map(|node| format!("{node}.{key}"))
}

fn number(draw: &mut Draw, scope: &Scope, depth: usize) -> String {
    let leaf = |draw: &mut Draw| draw.below(6).to_string();
    if depth == 0 {
        let bound = match draw.below(4) {
            0 => Scope::pick(&scope.numbers, draw),
            1 => Scope::pick(&scope.relationships, draw).map(|name| format!("{name}.n")),
            _ => property(draw, scope, "n"),
        };
        return bound.filter(|_| !draw.once_in(4)).unwrap_or_else(|| leaf(draw));
    }
    let (one, two) = (number(draw, scope, depth - 1), number(draw, scope, depth - 1));
    match draw.below(12) {
        0 => format!("({one} + {two})"),
        1 => format!("({one} - {two})"),
        2 => format!("({one} * {two})"),
        3 => format!("({one} / {})", 1 + draw.below(4)),
        4 => format!("({one} % {})", 1 + draw.below(4)),
        5 => format!("coalesce({one}, {two})"),
        6 => format!("size({})", numbers(draw, scope, 0)),
        7 => format!("size({})", text(draw, scope, 0)),
        8 => format!("CASE WHEN {} THEN {one} ELSE {two} END", truth(draw, scope, 0)),
        9 => format!("abs({one} - {two})"),
        10 => format!("toInteger({one} + {})", draw.one(&["0.5", "0.25", "1.0"])),
        _ => format!("reduce(s = 0, x IN {} | s + x)", numbers(draw, scope, 0)),
    }
}

fn float(draw: &mut Draw, scope: &Scope) -> String {
    let value = property(draw, scope, "f").unwrap_or_else(|| "0.5".to_owned());
    match draw.below(4) {
        0 => format!("({value} * 2)"),
        1 => format!("toFloat({})", number(draw, scope, 0)),
        2 => format!("({} / 2.0)", number(draw, scope, 0)),
        _ => value,
    }
}

fn text(draw: &mut Draw, scope: &Scope, depth: usize) -> String {
    let leaf = match draw.below(4) {
        0 => format!("'{}'", draw.one(&TEXTS)),
        1 => Scope::pick(&scope.relationships, draw)
            .map_or_else(|| "'x'".to_owned(), |name| format!("type({name})")),
        _ => property(draw, scope, "t").unwrap_or_else(|| "'ab'".to_owned()),
    };
    if depth == 0 {
        return leaf;
    }
    match draw.below(9) {
        0 => format!("toUpper({leaf})"),
        1 => format!("toLower({leaf})"),
        2 => format!("({leaf} + {})", text(draw, scope, depth - 1)),
        3 => format!("substring({leaf}, {})", draw.below(2)),
        4 => format!("toString({})", number(draw, scope, depth - 1)),
        5 => format!("coalesce({leaf}, 'z')"),
        6 => format!("replace({leaf}, 'a', 'xy')"),
        7 => format!("left({leaf}, {})", draw.below(3)),
        _ => format!("reverse({leaf})"),
    }
}

fn numbers(draw: &mut Draw, scope: &Scope, depth: usize) -> String {
    let list = match draw.below(3) {
        0 => format!("range({}, {})", draw.below(3), draw.below(5)),
        1 => format!("[{}, {}]", number(draw, scope, 0), number(draw, scope, 0)),
        _ => "[3, 1, 2]".to_owned(),
    };
    if depth == 0 {
        return list;
    }
    match draw.below(5) {
        0 => format!("[x IN {list} WHERE x > {} | x + {}]", draw.below(3), draw.below(3)),
        1 => format!("{list}[..{}]", draw.below(3)),
        2 => format!("tail({list})"),
        3 => format!("reverse({list})"),
        _ => format!("({list} + {})", draw.below(4)),
    }
}

fn truth(draw: &mut Draw, scope: &Scope, depth: usize) -> String {
    if depth > 0 && draw.once_in(2) {
        let (one, two) = (truth(draw, scope, depth - 1), truth(draw, scope, depth - 1));
        return match draw.below(5) {
            0 => format!("({one} AND {two})"),
            1 => format!("({one} OR {two})"),
            2 => format!("({one} XOR {two})"),
            3 => format!("NOT ({one})"),
            _ => format!("({one} AND NOT {two})"),
        };
    }
    let compare = draw.one(&["=", "<>", "<", "<=", ">", ">="]);
    match draw.below(12) {
        0 | 1 => format!("({} {compare} {})", number(draw, scope, 1), number(draw, scope, 0)),
        2 => format!("({} {compare} {})", text(draw, scope, 0), text(draw, scope, 1)),
        3 => format!("({} {compare} {})", float(draw, scope), number(draw, scope, 0)),
        4 => format!("({} IS NULL)", property(draw, scope, "n").unwrap_or_else(|| "null".into())),
        5 => {
            format!("({} IS NOT NULL)", property(draw, scope, "t").unwrap_or_else(|| "null".into()))
        }
        6 => {
            let how = draw.one(&["STARTS WITH", "ENDS WITH", "CONTAINS"]);
            format!("({} {how} '{}')", text(draw, scope, 0), draw.one(&TEXTS))
        }
        7 => format!("({} IN {})", number(draw, scope, 0), numbers(draw, scope, 1)),
        8 => match Scope::pick(&scope.nodes, draw) {
            Some(node) => format!("({node}:{})", draw.one(&LABELS)),
            None => "true".to_owned(),
        },
        9 => match Scope::pick(&scope.nodes, draw) {
            Some(node) => {
                let kind = draw.one(&TYPES);
                let step = draw.one(&["-[:K]->()", "<-[:K]-()", "-[:K]-(:A)", "-[:K*1..2]->(:B)"]);
                format!("({node}){}", step.replace('K', kind))
            }
            None => "false".to_owned(),
        },
        10 => {
            let which = draw.one(&["any", "all", "none", "single"]);
            format!("{which}(x IN {} WHERE x > {})", numbers(draw, scope, 1), draw.below(4))
        }
        _ => property(draw, scope, "b").map_or_else(|| "true".into(), |b| format!("({b} = true)")),
    }
}

/// A value that a row can hold.
fn value(draw: &mut Draw, scope: &Scope) -> String {
    match draw.below(9) {
        0 | 1 => number(draw, scope, 2),
        2 => text(draw, scope, 2),
        3 => float(draw, scope),
        // a pattern is a condition and no value
        4 => format!("CASE WHEN {} THEN 1 ELSE 0 END", truth(draw, scope, 1)),
        5 => numbers(draw, scope, 1),
        6 => format!("{{k: {}, m: {}}}", number(draw, scope, 1), text(draw, scope, 1)),
        7 => match Scope::pick(&scope.nodes, draw) {
            Some(node) => {
                let kind = draw.one(&TYPES);
                format!("size([({node})-[:{kind}]->(x) | x.i])")
            }
            None => "1".to_owned(),
        },
        _ => property(draw, scope, "i").unwrap_or_else(|| "0".to_owned()),
    }
}

fn projected(draw: &mut Draw, scope: &Scope, columns: usize) -> String {
    let distinct = if draw.once_in(3) { "DISTINCT " } else { "" };
    let names: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
    let values: Vec<String> =
        names.iter().map(|name| format!("{} AS {name}", value(draw, scope))).collect();
    let mut text = format!("RETURN {distinct}{}", values.join(", "));
    if draw.once_in(3) {
        let way = draw.one(&["", " DESC"]);
        text = format!("{text} ORDER BY {}{way}", names.join(", "));
        if draw.once_in(2) {
            text = format!("{text} SKIP {}", draw.below(4));
        }
        if draw.once_in(2) {
            text = format!("{text} LIMIT {}", 1 + draw.below(6));
        }
    }
    text
}

fn aggregate(draw: &mut Draw, scope: &Scope) -> String {
    let distinct = draw.one(&["", "DISTINCT "]);
    match draw.below(7) {
        0 => "count(*)".to_owned(),
        1 => format!("count({distinct}{})", number(draw, scope, 0)),
        2 => format!("sum({})", number(draw, scope, 1)),
        3 => format!("min({})", number(draw, scope, 0)),
        4 => format!("max({})", number(draw, scope, 0)),
        5 => format!("size(collect({distinct}{}))", number(draw, scope, 0)),
        _ => format!("count({distinct}{})", text(draw, scope, 0)),
    }
}

/// A result by groups.
fn grouped(draw: &mut Draw, scope: &Scope) -> String {
    let key = if draw.once_in(4) {
        String::new()
    } else {
        let value = match draw.below(3) {
            0 => text(draw, scope, 0),
            1 => number(draw, scope, 0),
            _ => property(draw, scope, "i").unwrap_or_else(|| "1".to_owned()),
        };
        format!("{value} AS c0, ")
    };
    let mut text = format!("RETURN {key}{} AS c1", aggregate(draw, scope));
    text = match draw.below(4) {
        0 => format!("{text}, avg({}) AS c2", number(draw, scope, 0)),
        1 => format!("{text}, min({}) AS c2", self::text(draw, scope, 0)),
        2 => format!("{text}, max({}) AS c2", float(draw, scope)),
        _ => text,
    };
    text
}
