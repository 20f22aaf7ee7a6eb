//! Settings of glibc's heap for a service that runs for months: what was freed goes back to the
//! system. glibc reads them before `main`, so the program replaces itself once by itself.

use std::os::unix::process::CommandExt as _;

/// One setting of glibc's heap: variable of the environment and value
/// (`man 3 mallopt`, "Environment variables").
pub type HeapSetting = (&'static str, &'static str);

/// Applies the settings: the program replaces itself by itself, with the settings in its
/// environment; process id and arguments stay. Nothing is changed if one of the settings is in the
/// environment already, or where the C library is another one.
///
/// To be called before threads are started or files opened.
pub fn restart_with_heap(settings: &[HeapSetting]) {
    let is_set = settings.iter().any(|(name, _)| std::env::var_os(name).is_some());
    if !cfg!(target_env = "gnu") || is_set {
        return;
    }
    let mut arguments = std::env::args_os();
    if let (Ok(program), Some(name)) = (std::env::current_exe(), arguments.next()) {
        let mut again = std::process::Command::new(program);
        let settings = settings.iter().copied();
        // `exec` returns only if it failed; the program then runs with the usual heap
        let _error = again.arg0(name).args(arguments).envs(settings).exec();
    }
}
