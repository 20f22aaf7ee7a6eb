//! The channels of a folder's files by name: a logger that writes its columns in another order does
//! not change which sensor is which.
//!
//! The first file that names its channels says which stands where. Invariants: a channel that is
//! known by name is never measured as another one; a file that has some of the names at other
//! places, and not all of them, is refused.

use std::sync::Arc;

use crate::source::{Block, Interpretation};

/// The names of a file's channels, as they are compared; empty unless each has one of its own.
pub(super) fn names_in(input: Option<&Arc<Interpretation>>) -> Vec<String> {
    let channels = input.map_or(&[][..], |input| &input.channels[..]);
    let name = |name: &String| name.trim().to_lowercase();
    let names: Option<Vec<String>> =
        channels.iter().map(|channel| channel.name.as_ref().map(name)).collect();
    let names = names.unwrap_or_default();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if names.len() < 2 || sorted.len() < names.len() { Vec::new() } else { names }
}

/// The place in the file of each channel of the folder; `None` where the file has them in their
/// order, or other names altogether.
///
/// # Errors
/// Both orders, if some channels stand elsewhere and others are missing.
pub(super) fn order_of(known: &[String], own: &[String]) -> Result<Option<Vec<usize>>, String> {
    let place = |name: &String| own.iter().position(|other| other == name);
    let is_elsewhere = |(at, name): (usize, &String)| place(name).is_some_and(|found| found != at);
    if !known.iter().enumerate().any(is_elsewhere) {
        return Ok(None);
    }
    let order: Option<Vec<usize>> = known.iter().map(place).collect();
    order.filter(|order| order.len() == own.len()).map(Some).ok_or_else(|| {
        format!(
            "its channels are {}, and those of the folder {}: some stand at other places and some \
             are missing",
            own.join(", "),
            known.join(", ")
        )
    })
}

/// The block with its channels in this order.
pub(super) fn in_order(block: Block, order: &[usize]) -> Block {
    let is_whole = order.iter().all(|place| *place < block.accel_m_s2.nrows());
    if !is_whole {
        return block;
    }
    let accel_m_s2 = block.accel_m_s2.select(ndarray::Axis(0), order);
    let input = block.input.map(|input| {
        let mut own = (*input).clone();
        own.channels =
            order.iter().filter_map(|place| input.channels.get(*place).cloned()).collect();
        Arc::new(own)
    });
    Block { input, accel_m_s2, ..block }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_found_by_name_or_the_file_is_refused() {
        let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let order = |own: &str| order_of(&names("x y z"), &names(own));
        assert_eq!(order("x y z"), Ok(None));
        assert_eq!(order("z x y"), Ok(Some(vec![1, 2, 0])));
        assert_eq!(order("a b c"), Ok(None), "other names say nothing of the places");
        assert_eq!(order("x y w"), Ok(None), "the known ones stand where they were");
        let why = order("x z y2").expect_err("z is elsewhere and y is missing");
        assert!(why.contains("x, z, y2") && why.contains("x, y, z"), "{why}");
    }
}
