//! Lines that are dispatched by machine and read elsewhere: the dispatcher looks at their names alone, so that
//! threads side by side read the rest.

use std::borrow::Cow;

use pdm_service::exit::Failure;
use pdm_shared::event::Event;
use serde::Deserialize;

use super::order::{Demands, Order, Run};
use super::{Line, SLICE_END_SCHEMA, line, wrong};

/// A line with the names of its bearing.
#[derive(Debug)]
pub(in crate::cli) struct Dispatched {
    pub(in crate::cli) number: u64,
    pub(in crate::cli) site: String,
    pub(in crate::cli) equipment: String,
    pub(in crate::cli) bearing: String,
    pub(in crate::cli) text: String,
}

/// The names as they stand in a line; the rest is passed over.
#[derive(Deserialize)]
struct Names<'a> {
    #[serde(borrow)]
    schema: Cow<'a, str>,
    #[serde(borrow)]
    site: Cow<'a, str>,
    #[serde(borrow)]
    equipment_id: Cow<'a, str>,
    #[serde(borrow)]
    bearing_id: Cow<'a, str>,
}

impl Dispatched {
    /// Reads the names; gives a line without them back.
    pub(super) fn read(number: u64, text: String) -> Result<Self, String> {
        let Ok(names) = serde_json::from_str::<Names<'_>>(&text) else { return Err(text) };
        if names.schema == SLICE_END_SCHEMA {
            return Err(text);
        }
        let site = names.site.into_owned();
        let equipment = names.equipment_id.into_owned();
        let bearing = names.bearing_id.into_owned();
        Ok(Self { number, site, equipment, bearing, text })
    }
}

/// The events of one machine out of its lines, in an order that a judgement can rest on.
#[derive(Debug)]
pub(in crate::cli) struct MachineLines {
    order: Order,
}

impl MachineLines {
    pub(in crate::cli) const fn new(demands: Demands) -> Self {
        Self { order: Order::new(demands) }
    }

    /// The event of a line of the input `name`, with what has to be said of its place.
    ///
    /// # Errors
    /// A [`Failure`] (65) with line and event where the line is no event or its place is wrong.
    pub(in crate::cli) fn event(
        &mut self,
        name: &str,
        number: u64,
        text: &str,
    ) -> Result<(Box<Event>, Option<String>), Failure> {
        let fail = |told: String| wrong(name, number, &told);
        let event = match line(text).map_err(fail)? {
            Line::Event(event) => event,
            Line::End(_) => return Err(fail("a last record in the wrong place".to_owned())),
        };
        match self.order.take(&event, number).map_err(fail)? {
            Run::GoesOn => Ok((event, None)),
            Run::ClockSetBack(remark) => Ok((event, Some(format!("line {number}: {remark}")))),
        }
    }
}
