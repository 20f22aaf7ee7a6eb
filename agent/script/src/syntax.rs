//! A program as a tree.

use std::rc::Rc;

/// Statements one after the other.
pub(crate) type Block = Vec<Statement>;

/// A statement with its line.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) line: u32,
    pub(crate) what: Action,
}

/// The action of a statement.
#[derive(Debug)]
pub(crate) enum Action {
    Evaluate(Expression),
    Assign(Vec<Target>, Expression),
    Augment(Target, Operator, Expression),
    If(Vec<(Expression, Block)>, Block),
    While(Expression, Block),
    For(Target, Expression, Block),
    Define(Rc<Code>),
    Return(Option<Expression>),
    Break,
    Continue,
    Pass,
    Try(Box<Attempt>),
    Raise(Expression),
    Delete(Target),
}

/// A `try` with what follows it.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) body: Block,
    pub(crate) handlers: Vec<Handler>,
    pub(crate) otherwise: Block,
    pub(crate) last: Block,
}

/// An `except`.
#[derive(Debug)]
pub(crate) struct Handler {
    /// Kinds of errors; empty for all.
    pub(crate) kinds: Vec<String>,
    pub(crate) name: Option<Rc<str>>,
    pub(crate) body: Block,
}

/// A target of an assignment.
#[derive(Debug)]
pub(crate) enum Target {
    Name(Rc<str>),
    Item(Expression, Expression),
    Several(Vec<Target>),
}

/// A function as it is written.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) name: Rc<str>,
    pub(crate) parameters: Vec<(Rc<str>, Option<Expression>)>,
    pub(crate) body: Body,
}

/// The body of a function or of a lambda.
#[derive(Debug)]
pub(crate) enum Body {
    Block(Block),
    Expression(Expression),
}

/// An operator of arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Remainder,
    Power,
    Or,
    And,
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
    Is,
    IsNot,
}

/// The value that a comprehension makes.
#[derive(Debug)]
pub(crate) enum Made {
    List(Expression),
    Set(Expression),
    Dict(Expression, Expression),
}

/// `for target in of if …` of a comprehension.
#[derive(Debug)]
pub(crate) struct Clause {
    pub(crate) target: Target,
    pub(crate) of: Expression,
    pub(crate) conditions: Vec<Expression>,
}

/// A piece of an f-string.
#[derive(Debug)]
pub(crate) enum Piece {
    Text(Rc<str>),
    Shown { value: Expression, is_repr: bool, format: Vec<Piece> },
}

/// A value that stands in the program's text.
#[derive(Debug)]
pub(crate) enum Constant {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Rc<str>),
}

/// An expression.
#[derive(Debug)]
pub(crate) enum Expression {
    Constant(Constant),
    Name(Rc<str>),
    List(Vec<Expression>),
    Tuple(Vec<Expression>),
    Set(Vec<Expression>),
    Dict(Vec<(Option<Expression>, Expression)>),
    Comprehension(Box<Made>, Vec<Clause>),
    Negative(Box<Expression>),
    Not(Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
    Compare(Box<Expression>, Vec<(Comparison, Expression)>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Choice { condition: Box<Expression>, then: Box<Expression>, otherwise: Box<Expression> },
    Call(Box<Expression>, Vec<Argument>),
    Attribute(Box<Expression>, Rc<str>),
    Item(Box<Expression>, Box<Expression>),
    Slice(Box<Expression>, Box<[Option<Expression>; 3]>),
    Lambda(Rc<Code>),
    Format(Vec<Piece>),
}

/// An argument of a call.
#[derive(Debug)]
pub(crate) enum Argument {
    Positional(Expression),
    Named(Rc<str>, Expression),
    /// `*values`
    Each(Expression),
    /// `**values`
    Names(Expression),
}
