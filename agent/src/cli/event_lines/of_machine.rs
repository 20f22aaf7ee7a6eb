//! Lines that are dispatched by machine and read elsewhere: the dispatcher looks at their names
//! alone, so that threads side by side read the rest.

use std::borrow::Cow;
use std::fmt;

use pdm_service::exit::Failure;
use pdm_shared::event::Event;
use serde::Deserialize;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};

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
#[derive(Debug, Deserialize, PartialEq)]
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

/// Returns the names that stand first in a line, as the edge writes it: the nine tenths of the line
/// behind them are not looked at. `None` where they stand otherwise; then the whole line is read.
fn first_names(text: &str) -> Option<Names<'_>> {
    let mut found = None;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // the visitor stops within the object, which is an error of its own kind
    let _stopped = deserializer.deserialize_map(FirstNames(&mut found));
    found
}

struct FirstNames<'f, 'a>(&'f mut Option<Names<'a>>);

impl<'a> Visitor<'a> for FirstNames<'_, 'a> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an event")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        let mut places: [Option<&'a str>; 4] = [None; 4];
        while let Some(key) = map.next_key::<&str>()? {
            let place = ["schema", "site", "equipment_id", "bearing_id"];
            match place.iter().position(|name| *name == key) {
                Some(place) => places[place] = Some(map.next_value()?),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            if let [Some(schema), Some(site), Some(equipment), Some(bearing)] = places {
                *self.0 = Some(Names {
                    schema: schema.into(),
                    site: site.into(),
                    equipment_id: equipment.into(),
                    bearing_id: bearing.into(),
                });
                return Ok(());
            }
        }
        Ok(())
    }
}

impl Dispatched {
    /// Reads the names; gives a line without them back.
    pub(super) fn read(number: u64, text: String) -> Result<Self, String> {
        let names = first_names(&text).or_else(|| serde_json::from_str(&text).ok());
        let Some(names) = names else { return Err(text) };
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EVENT: &str = include_str!("../../../../config/examples/event.json");

    #[test]
    fn the_names_of_an_event_are_those_that_the_whole_line_has() {
        let whole: Names<'_> = serde_json::from_str(EVENT).expect("an event");
        assert_eq!(first_names(EVENT), Some(whole));
        // an escape, or no object: the whole line decides
        for text in [r#"{"schema":"a\u0062","site":"s"}"#, "[]", "{", ""] {
            assert_eq!(first_names(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_dispatched_or_given_back(text: String) {
            if let Err(back) = Dispatched::read(1, text.clone()) {
                prop_assert_eq!(back, text);
            }
        }
    }
}
