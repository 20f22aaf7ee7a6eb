//! Series and cases of a pack's tables: `series` (station_id, element, at, value), `cases` (id,
//! station_id, element, from_at, to_at, what_ko, what_en, outcome_ko, outcome_en), `elements`
//! (element, unit). A pack without them has none.

use std::sync::Arc;

use async_trait::async_trait;
use pdm_shared::text::Text;
use pdm_tools::exec::Failure;
use pdm_tools::pack::{Cell, DataTable, PackData};

use super::series::{Case, Sample, SeriesSource, Window, read_time};

/// The series of a pack.
#[derive(Debug, Clone)]
pub struct PackSeries(pub Arc<PackData>);

/// A row by the names of its columns.
struct RowOf<'t> {
    table: &'t DataTable,
    row: &'t [Cell],
}

impl RowOf<'_> {
    fn cell(&self, column: &str) -> Option<&Cell> {
        self.row.get(self.table.column(column)?)
    }

    fn text(&self, column: &str) -> Option<&str> {
        match self.cell(column)? {
            Cell::Text(text) => Some(text),
            Cell::Null | Cell::Integer(_) | Cell::Real(_) | Cell::Boolean(_) => None,
        }
    }

    fn whole(&self, column: &str) -> Option<i64> {
        match self.cell(column)? {
            Cell::Integer(number) => Some(*number),
            Cell::Null | Cell::Text(_) | Cell::Real(_) | Cell::Boolean(_) => None,
        }
    }

    fn time(&self, column: &str) -> Option<i64> {
        read_time(self.text(column)?).ok()
    }

    fn window(&self) -> Option<Window> {
        Some(Window {
            station_id: self.whole("station_id")?,
            element: self.text("element")?.to_owned(),
            from_s: self.time("from_at")?,
            to_s: self.time("to_at")?,
        })
    }
}

impl PackSeries {
    fn rows(&self, table: &str) -> impl Iterator<Item = RowOf<'_>> {
        let table = self.0.tables.get(table);
        table.into_iter().flat_map(|table| table.rows.iter().map(|row| RowOf { table, row }))
    }

    fn samples(&self, window: &Window) -> Vec<Sample> {
        let sample = |row: RowOf<'_>| {
            let at_s = row.time("at")?;
            let is_asked = row.whole("station_id")? == window.station_id
                && row.text("element")? == window.element
                && (window.from_s..=window.to_s).contains(&at_s);
            let value = match row.cell("value")? {
                Cell::Real(value) => Some(*value),
                Cell::Null | Cell::Text(_) | Cell::Integer(_) | Cell::Boolean(_) => None,
            };
            is_asked.then_some(Sample { at_s, value })
        };
        let mut samples: Vec<Sample> = self.rows("series").filter_map(sample).collect();
        samples.sort_by_key(|sample| sample.at_s);
        samples.dedup_by_key(|sample| sample.at_s);
        samples
    }
}

#[async_trait]
impl SeriesSource for PackSeries {
    async fn values(&self, window: &Window) -> Result<Vec<Sample>, Failure> {
        Ok(self.samples(window))
    }

    async fn cases(&self, before_s: i64, most: usize) -> Result<Vec<Case>, Failure> {
        let case = |row: RowOf<'_>| {
            let text = |ko: &str, en: &str| {
                Some(Text { ko: row.text(ko)?.to_owned(), en: row.text(en)?.to_owned() })
            };
            let window = row.window()?;
            Some(Case {
                id: row.text("id")?.to_owned(),
                what: text("what_ko", "what_en")?,
                outcome: text("outcome_ko", "outcome_en")?,
                samples: self.samples(&window),
                window,
            })
        };
        let mut cases: Vec<Case> = self
            .rows("cases")
            .filter(|row| row.time("to_at").is_some_and(|to| to <= before_s))
            .filter_map(case)
            .collect();
        cases.sort_by_key(|case| std::cmp::Reverse(case.window.to_s));
        cases.truncate(most);
        Ok(cases)
    }

    async fn known(&self, most: usize) -> Result<Vec<(i64, String)>, Failure> {
        let one =
            |row: RowOf<'_>| Some((row.whole("station_id")?, row.text("element")?.to_owned()));
        let mut known: Vec<(i64, String)> = self.rows("series").filter_map(one).collect();
        known.sort();
        known.dedup();
        known.truncate(most);
        Ok(known)
    }

    async fn unit(&self, element: &str) -> Result<Option<String>, Failure> {
        let mut units = self.rows("elements").filter(|row| row.text("element") == Some(element));
        Ok(units.find_map(|row| row.text("unit").map(str::to_owned)))
    }
}
