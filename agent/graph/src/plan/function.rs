//! The functions that a query may call, by name; a name that is not here is refused.

/// A function of a row's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Coalesce,
    Head,
    Last,
    Tail,
    Size,
    Length,
    Id,
    Type,
    StartNode,
    EndNode,
    Properties,
    Labels,
    Keys,
    Nodes,
    Relationships,
    Range,
    Reverse,
    IsEmpty,
    Exists,
    ToInteger,
    ToFloat,
    ToText,
    ToBoolean,
    Abs,
    Ceil,
    Floor,
    Round,
    Sign,
    Rand,
    Sqrt,
    Exp,
    Log,
    Log10,
    E,
    Pi,
    Sin,
    Cos,
    Tan,
    Cot,
    Asin,
    Acos,
    Atan,
    Atan2,
    Degrees,
    Radians,
    Replace,
    Substring,
    Left,
    Right,
    Trim,
    LTrim,
    RTrim,
    Upper,
    Lower,
    Split,
}

/// A function of many rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AggregateFunction {
    /// `count(*)`.
    CountRows,
    Count,
    Collect,
    Sum,
    Avg,
    Min,
    Max,
    StDev,
    StDevP,
    PercentileDisc,
    PercentileCont,
}

/// Name in lower case, function, fewest and most arguments.
const FUNCTIONS: &[(&str, Function, usize, usize)] = &[
    ("coalesce", Function::Coalesce, 1, 100),
    ("head", Function::Head, 1, 1),
    ("last", Function::Last, 1, 1),
    ("tail", Function::Tail, 1, 1),
    ("size", Function::Size, 1, 1),
    ("char_length", Function::Size, 1, 1),
    ("length", Function::Length, 1, 1),
    ("id", Function::Id, 1, 1),
    ("type", Function::Type, 1, 1),
    ("startnode", Function::StartNode, 1, 1),
    ("endnode", Function::EndNode, 1, 1),
    ("properties", Function::Properties, 1, 1),
    ("labels", Function::Labels, 1, 1),
    ("keys", Function::Keys, 1, 1),
    ("nodes", Function::Nodes, 1, 1),
    ("relationships", Function::Relationships, 1, 1),
    ("range", Function::Range, 2, 3),
    ("reverse", Function::Reverse, 1, 1),
    ("isempty", Function::IsEmpty, 1, 1),
    ("exists", Function::Exists, 1, 1),
    ("tointeger", Function::ToInteger, 1, 1),
    ("tofloat", Function::ToFloat, 1, 1),
    ("tostring", Function::ToText, 1, 1),
    ("toboolean", Function::ToBoolean, 1, 1),
    ("abs", Function::Abs, 1, 1),
    ("ceil", Function::Ceil, 1, 1),
    ("floor", Function::Floor, 1, 1),
    ("round", Function::Round, 1, 1),
    ("sign", Function::Sign, 1, 1),
    ("rand", Function::Rand, 0, 0),
    ("sqrt", Function::Sqrt, 1, 1),
    ("exp", Function::Exp, 1, 1),
    ("log", Function::Log, 1, 1),
    ("log10", Function::Log10, 1, 1),
    ("e", Function::E, 0, 0),
    ("pi", Function::Pi, 0, 0),
    ("sin", Function::Sin, 1, 1),
    ("cos", Function::Cos, 1, 1),
    ("tan", Function::Tan, 1, 1),
    ("cot", Function::Cot, 1, 1),
    ("asin", Function::Asin, 1, 1),
    ("acos", Function::Acos, 1, 1),
    ("atan", Function::Atan, 1, 1),
    ("atan2", Function::Atan2, 2, 2),
    ("degrees", Function::Degrees, 1, 1),
    ("radians", Function::Radians, 1, 1),
    ("replace", Function::Replace, 3, 3),
    ("substring", Function::Substring, 2, 3),
    ("left", Function::Left, 2, 2),
    ("right", Function::Right, 2, 2),
    ("trim", Function::Trim, 1, 1),
    ("ltrim", Function::LTrim, 1, 1),
    ("rtrim", Function::RTrim, 1, 1),
    ("toupper", Function::Upper, 1, 1),
    ("upper", Function::Upper, 1, 1),
    ("tolower", Function::Lower, 1, 1),
    ("lower", Function::Lower, 1, 1),
    ("split", Function::Split, 2, 2),
];

const AGGREGATES: &[(&str, AggregateFunction, usize)] = &[
    ("count", AggregateFunction::Count, 1),
    ("collect", AggregateFunction::Collect, 1),
    ("sum", AggregateFunction::Sum, 1),
    ("avg", AggregateFunction::Avg, 1),
    ("min", AggregateFunction::Min, 1),
    ("max", AggregateFunction::Max, 1),
    ("stdev", AggregateFunction::StDev, 1),
    ("stdevp", AggregateFunction::StDevP, 1),
    ("percentiledisc", AggregateFunction::PercentileDisc, 2),
    ("percentilecont", AggregateFunction::PercentileCont, 2),
];

impl Function {
    /// The function of this name, with the fewest and most arguments it takes.
    pub(crate) fn named(name: &str) -> Option<(Self, usize, usize)> {
        let name = name.to_ascii_lowercase();
        let found = FUNCTIONS.iter().find(|(known, ..)| *known == name)?;
        Some((found.1, found.2, found.3))
    }
}

impl AggregateFunction {
    /// The aggregate of this name, with the number of its arguments.
    pub(crate) fn named(name: &str) -> Option<(Self, usize)> {
        let name = name.to_ascii_lowercase();
        let found = AGGREGATES.iter().find(|(known, ..)| *known == name)?;
        Some((found.1, found.2))
    }
}
