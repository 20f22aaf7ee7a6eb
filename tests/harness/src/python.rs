//! Python with packages from its registry, in a virtual environment below `target/`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{not_run, program};

/// A package that a test needs.
#[derive(Debug, Clone, Copy)]
pub struct PythonPackage<'a> {
    /// The requirements for pip, with versions and spaces between them: `mcp>=2.3,<3`.
    pub requirement: &'a str,
    /// A statement that succeeds if the package is installed: `import mcp`.
    pub probe: &'a str,
}

impl PythonPackage<'_> {
    /// The interpreter of the environment `name` in `folder` (`CARGO_TARGET_TMPDIR`) with the
    /// package; `None` (noted as not run) if the package cannot be installed.
    pub fn interpreter(&self, test: &str, folder: &str, name: &str) -> Option<PathBuf> {
        let system = program(test, "python3")?;
        let environment = Path::new(folder).join(name);
        let python = environment.join("bin/python");
        let _one = one_installs(folder);
        let probe = Command::new(&python).args(["-c", self.probe]).output();
        if failure(&probe).is_none() {
            return Some(python);
        }
        let mut pip = vec!["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        pip.extend(self.requirement.split_whitespace());
        let steps: [(&Path, Vec<&str>); 2] =
            [(&system, vec!["-m", "venv", "--clear", environment.to_str()?]), (&python, pip)];
        for (program, arguments) in steps {
            if let Some(why) = failure(&Command::new(program).args(arguments).output()) {
                let package = self.requirement;
                not_run(test, &format!("Python's package {package} cannot be installed: {why}"));
                return None;
            }
        }
        Some(python)
    }
}

/// Holds the folder's installations until it is dropped, because two tests, of one program or of
/// two that run side by side, would overwrite each other's files. `None` if the file system knows
/// no locks.
fn one_installs(folder: &str) -> Option<File> {
    std::fs::create_dir_all(folder).ok()?;
    let lock = File::create(Path::new(folder).join("python-installs.lock")).ok()?;
    lock.lock().ok()?;
    Some(lock)
}

fn failure(done: &std::io::Result<Output>) -> Option<String> {
    match done {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Some(error.to_string()),
    }
}
