//! The view of a running chain: a progress bar, one line for each bearing with its risk, and the
//! notifications.
//!
//! In a terminal the lines are redrawn in place (on standard error); anywhere else each change is
//! one plain line on standard output, so that a log or a pipe can be read afterwards.

use std::collections::BTreeMap;
use std::io::IsTerminal;

use console::Style;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use pdm_agent::progress::Standing;
use pdm_shared::delivery::Notification;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Language;

/// The view of one run.
#[derive(Debug)]
pub(crate) struct View {
    language: Language,
    terminal: Option<Terminal>,
    risks: BTreeMap<String, RiskLevel>,
}

#[derive(Debug)]
struct Terminal {
    lines: MultiProgress,
    progress: ProgressBar,
    bearings: BTreeMap<String, ProgressBar>,
}

impl View {
    /// A view of a run of `expected` windows, if their number is known.
    pub(crate) fn new(language: Language, expected: Option<u64>) -> Self {
        let terminal = std::io::stderr().is_terminal() && std::io::stdout().is_terminal();
        Self {
            language,
            terminal: terminal.then(|| Terminal::new(expected)),
            risks: BTreeMap::new(),
        }
    }

    /// Shows the numbers of measured and judged windows.
    pub(crate) fn progressed(&mut self, measured: u64, judged: u64) {
        if let Some(terminal) = &self.terminal {
            terminal.progress.set_position(judged);
            terminal.progress.set_message(format!("{measured} measured"));
        }
    }

    /// Shows a bearing that was judged and has no line yet, if its risk is `Normal`. A higher risk
    /// is shown by [`Self::stands`].
    pub(crate) fn seen(&mut self, bearing: &BearingKey, standing: &Standing) {
        let name = bearing.within_site();
        if !self.risks.contains_key(&name) && standing.risk == RiskLevel::Normal {
            self.stands(bearing, standing);
        }
    }

    /// Shows the risk of a bearing.
    pub(crate) fn stands(&mut self, bearing: &BearingKey, standing: &Standing) {
        let name = bearing.within_site();
        let line = bearing_line(&name, standing, self.language);
        let before = self.risks.insert(name.clone(), standing.risk);
        match &mut self.terminal {
            Some(terminal) => terminal.bearing(&name).set_message(line),
            None if before != Some(standing.risk) => crate::print(&line),
            None => {}
        }
    }

    /// Shows a notification.
    pub(crate) fn notified(&mut self, notification: &Notification) {
        let title = notification.title.in_language(self.language);
        let body = notification.body.in_language(self.language);
        let text = format!(
            "{} {title}\n    {}",
            painted("▶", notification.risk_level, self.terminal.is_some()),
            body.trim_end().replace('\n', "\n    ")
        );
        match &self.terminal {
            // without a terminal the chain continues, so an error is ignored
            Some(terminal) => drop(terminal.lines.println(text)),
            None => crate::print(&text),
        }
    }

    /// Shows a line of text.
    pub(crate) fn say(&self, text: &str) {
        match &self.terminal {
            Some(terminal) => drop(terminal.lines.println(text)),
            None => crate::print(text),
        }
    }

    /// Leaves the last state on the screen.
    pub(crate) fn finish(self) {
        if let Some(terminal) = self.terminal {
            terminal.progress.finish();
            terminal.bearings.values().for_each(ProgressBar::finish);
        }
    }
}

impl Terminal {
    fn new(expected: Option<u64>) -> Self {
        let lines = MultiProgress::new();
        let progress = expected.map_or_else(ProgressBar::no_length, ProgressBar::new);
        let template = if expected.is_some() {
            "{elapsed_precise} {wide_bar} {pos}/{len} judged, {msg}, {eta} left"
        } else {
            "{elapsed_precise} {spinner} {pos} judged, {msg}"
        };
        progress.set_style(style(template));
        Self { progress: lines.add(progress), lines, bearings: BTreeMap::new() }
    }

    fn bearing(&mut self, name: &str) -> &ProgressBar {
        self.bearings.entry(name.to_owned()).or_insert_with(|| {
            let line = self.lines.add(ProgressBar::no_length());
            line.set_style(style("{msg}"));
            line
        })
    }
}

/// The style for a template of this file.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_bad| ProgressStyle::default_bar())
}

fn bearing_line(bearing: &str, standing: &Standing, language: Language) -> String {
    let level = standing.risk;
    let label = level.label();
    format!(
        "{} {bearing:<12} {} stage {} {}",
        standing.at.date_time().format("%Y-%m-%d %H:%M"),
        painted(&format!("{:<8}", label.in_language(language)), level, console::colors_enabled()),
        standing.stage,
        standing.fault.map_or("-", pdm_shared::fault::Fault::as_str),
    )
}

fn painted(text: &str, level: RiskLevel, colour: bool) -> String {
    let style = match level {
        RiskLevel::Normal => Style::new().green(),
        RiskLevel::Watch => Style::new().yellow(),
        RiskLevel::Warning => Style::new().magenta().bold(),
        RiskLevel::Critical => Style::new().red().bold(),
    };
    style.force_styling(colour).apply_to(text).to_string()
}
