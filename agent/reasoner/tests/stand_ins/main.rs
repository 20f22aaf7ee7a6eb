//! Opinions and chat against stand-ins for OpenAI's server that others have written: `faults` by
//! llmock, of the Python registry; `dialogue` by aimock, of the registry of npm.

mod dialogue;
mod faults;
mod llmock;
mod plant;

#[expect(clippy::print_stdout, reason = "figures of a run are printed")]
fn print(line: &str) {
    println!("{line}");
}
