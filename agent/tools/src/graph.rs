//! The graph of dependencies: its errors, the order of execution, and its output as text and for
//! Graphviz.
//!
//! Invariant of [`order`]: a tool comes after all its dependencies, and after every tool of an
//! earlier layer. Source of the rules: tool specification, sections 3.1 and 7.2.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use super::layer::Layer;
use super::problem::Problem;
use super::spec::ToolSpec;
use super::spec::executor::Executor;

/// Tools by name.
pub(super) type Tools = BTreeMap<String, Arc<ToolSpec>>;

/// Errors of the dependencies, each with the name of its tool.
pub(super) fn problems(tools: &Tools) -> Vec<(String, Problem)> {
    let mut problems = Vec::new();
    for spec in tools.values() {
        for (index, needed) in spec.dependencies.iter().enumerate() {
            let message = if *needed == spec.name {
                "a tool cannot depend on itself".to_owned()
            } else if let Some(other) = tools.get(needed) {
                if other.layer <= spec.layer {
                    continue;
                }
                format!("{needed} runs later, in the layer {}", other.layer)
            } else {
                format!("there is no tool {needed}")
            };
            let problem = spec.problem(&format!("/dependencies/{index}"), message);
            problems.push((spec.name.clone(), problem));
        }
        if let Executor::Pipeline(pipeline) = &spec.executor
            && let Err((at, message)) = pipeline.plan(|name| tools.get(name).map(AsRef::as_ref))
        {
            problems.push((spec.name.clone(), spec.problem(&at, message)));
        }
    }
    for circle in circles(tools) {
        let path = circle.join(" → ");
        for name in &circle[1..] {
            let problem = tools[name].problem("/dependencies", format!("a circle: {path}"));
            problems.push((name.clone(), problem));
        }
    }
    problems
}

/// Circles of two or more tools, each written from its first tool back to it.
fn circles(tools: &Tools) -> Vec<Vec<String>> {
    let mut left: BTreeSet<&str> = tools.keys().map(String::as_str).collect();
    // a tool whose dependencies are all removed cannot be part of a circle
    while let Some(free) = left.iter().copied().find(|name| needs(tools, name, &left).is_empty()) {
        left.remove(free);
    }
    let mut circles = Vec::new();
    while let Some(start) = left.first().copied() {
        let mut path = vec![start];
        let back = loop {
            let last = path[path.len() - 1];
            let Some(next) = needs(tools, last, &left).first().copied() else { break None };
            if let Some(at) = path.iter().position(|name| *name == next) {
                break Some(at);
            }
            path.push(next);
        };
        for name in &path {
            left.remove(name);
        }
        if let Some(at) = back {
            let mut circle: Vec<String> = path[at..].iter().map(|&name| name.to_owned()).collect();
            circle.push(circle[0].clone());
            circles.push(circle);
        }
    }
    circles
}

fn needs<'t>(tools: &'t Tools, name: &str, left: &BTreeSet<&str>) -> Vec<&'t str> {
    let Some(spec) = tools.get(name) else { return Vec::new() };
    let others = spec.dependencies.iter().map(String::as_str);
    others.filter(|other| *other != name && left.contains(other)).collect()
}

/// The names in the order of execution: layer by layer, dependencies first within a layer.
pub(super) fn order(tools: &Tools) -> Vec<String> {
    let mut left: BTreeSet<&str> = tools.keys().map(String::as_str).collect();
    let mut order = Vec::with_capacity(tools.len());
    for layer in Layer::ALL {
        loop {
            let ready = left
                .iter()
                .copied()
                .find(|name| tools[*name].layer == layer && needs(tools, name, &left).is_empty());
            let Some(name) = ready else { break };
            left.remove(name);
            order.push(name.to_owned());
        }
    }
    order
}

/// The tools layer by layer, each with its dependencies and products, for the terminal.
pub(super) fn as_text(tools: &Tools, order: &[String]) -> String {
    let mut text = String::new();
    for layer in Layer::ALL {
        let mut specs =
            order.iter().filter_map(|name| tools.get(name)).filter(|s| s.layer == layer).peekable();
        if specs.peek().is_none() {
            continue;
        }
        text.push_str(layer.name());
        text.push('\n');
        for spec in specs {
            // writing to a String cannot fail
            let _never = write!(text, "  {} {}", spec.name, spec.version);
            if !spec.dependencies.is_empty() {
                let _never = write!(text, "  ◄ {}", spec.dependencies.join(", "));
            }
            if !spec.produces.is_empty() {
                let _never = write!(text, "  ► {}", spec.produces.join(", "));
            }
            text.push('\n');
        }
    }
    text
}

/// The graph as Graphviz text.
pub(super) fn as_dot(tools: &Tools, order: &[String]) -> String {
    let mut text = String::from("digraph tools {\n  rankdir=LR;\n  node [shape=box];\n");
    for layer in Layer::ALL {
        let specs = order.iter().filter_map(|name| tools.get(name)).filter(|s| s.layer == layer);
        let nodes: Vec<String> = specs
            .map(|spec| {
                let (name, version) = (&spec.name, &spec.version);
                format!("    {name} [label=\"{name}\\n{version} · {}\"];\n", spec.executor.kind())
            })
            .collect();
        if !nodes.is_empty() {
            let _never = write!(
                text,
                "  subgraph cluster_{layer} {{\n    label={layer};\n{}  }}\n",
                nodes.concat()
            );
        }
    }
    for spec in order.iter().filter_map(|name| tools.get(name)) {
        for needed in &spec.dependencies {
            let _never = writeln!(text, "  {needed} -> {};", spec.name);
        }
    }
    text.push_str("}\n");
    text
}
