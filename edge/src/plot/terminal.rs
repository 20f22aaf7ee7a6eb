//! The envelope spectrum in braille dots, with a row of marks for each defect frequency.

use std::fmt::Write;

use pdm_shared::fault::Fault;

use super::{Mark, Picture, columns_of, round_step};

/// Height of the spectrum in rows of characters, each four dots high.
const ROWS: usize = 9;

/// Width of the names to the left.
const MARGIN: usize = 7;

/// Bits of the braille dots (Unicode 28xx) in the left and right column, from the bottom up.
const DOTS: [[u8; 4]; 2] = [[0x40, 0x04, 0x02, 0x01], [0x80, 0x20, 0x10, 0x08]];

/// The spectrum and its marks as lines of at most `columns` characters.
pub fn terminal_spectrum(picture: &Picture<'_>, columns: usize) -> String {
    let width = columns.clamp(40, 160) - MARGIN - 1;
    let limit_hz = picture.envelope_limit_hz();
    let mut out = String::new();
    if limit_hz <= 0.0 {
        return out;
    }
    // writing to a string cannot fail
    let _ = write_spectrum(&mut out, picture, width, limit_hz);
    out
}

fn write_spectrum(
    out: &mut String,
    picture: &Picture<'_>,
    width: usize,
    limit_hz: f64,
) -> std::fmt::Result {
    let heights = columns_of(&picture.findings.envelope_spectrum, limit_hz, 2 * width);
    let highest = heights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let dots: Vec<usize> =
        heights.iter().map(|h| (h / highest * (4 * ROWS) as f64).round() as usize).collect();
    writeln!(out, "Squared envelope spectrum, up to {limit_hz:.0} Hz")?;
    for row in (0..ROWS).rev() {
        let line: String = dots.chunks(2).map(|pair| braille(pair, row)).collect();
        writeln!(out, "{:MARGIN$}{}", "", line.trim_end())?;
    }
    let (ticks, numbers) = axis(limit_hz, width);
    writeln!(out, "{:MARGIN$}{ticks}\n{:<MARGIN$}{numbers}", "", "Hz")?;
    let marks = picture.marks(limit_hz);
    for fault in Fault::ALL {
        let name = match fault {
            Fault::OuterRace => "BPFO",
            Fault::InnerRace => "BPFI",
            Fault::Ball => "2×BSF",
            Fault::Cage => "FTF",
        };
        writeln!(out, "{name:<MARGIN$}{}", marks_of(&marks, fault, limit_hz, width).trim_end())?;
    }
    writeln!(out, "{:MARGIN$}▲ stands out   · expected", "")
}

/// The character of two columns of dots in one row of characters.
fn braille(pair: &[usize], row: usize) -> char {
    let mut bits = 0u8;
    for (column, &height) in pair.iter().enumerate() {
        for (dot, &bit) in DOTS[column % 2].iter().enumerate() {
            if height > 4 * row + dot {
                bits |= bit;
            }
        }
    }
    if bits == 0 { ' ' } else { char::from_u32(0x2800 + u32::from(bits)).unwrap_or(' ') }
}

/// Ticks and their numbers.
fn axis(limit_hz: f64, width: usize) -> (String, String) {
    let step = round_step(limit_hz, width / 12);
    let mut ticks = vec!['─'; width];
    let mut numbers = vec![' '; width];
    let mut hz = 0.0;
    while hz <= limit_hz {
        let at = place(hz, limit_hz, width);
        ticks[at] = '┴';
        let number = format!("{hz}");
        // a number that does not fit is left out
        for (slot, c) in numbers.iter_mut().skip(at).zip(number.chars()) {
            if at + number.len() <= width {
                *slot = c;
            }
        }
        hz += step;
    }
    let numbers: String = numbers.into_iter().collect();
    (ticks.into_iter().collect(), numbers.trim_end().to_owned())
}

fn marks_of(marks: &[Mark], fault: Fault, limit_hz: f64, width: usize) -> String {
    let mut row = vec![' '; width];
    for mark in marks.iter().filter(|mark| mark.fault == fault) {
        row[place(mark.frequency_hz, limit_hz, width)] = if mark.is_found { '▲' } else { '·' };
    }
    row.into_iter().collect()
}

/// The column of a frequency.
fn place(hz: f64, limit_hz: f64, width: usize) -> usize {
    ((hz / limit_hz * width as f64) as usize).min(width - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_fill_from_the_bottom() {
        assert_eq!(braille(&[0, 0], 0), ' ');
        assert_eq!(braille(&[1, 0], 0), '⡀');
        assert_eq!(braille(&[4, 4], 0), '⣿');
        assert_eq!(braille(&[4, 5], 1), '⢀');
    }

    #[test]
    fn the_axis_is_as_wide_as_the_spectrum() {
        for width in [32, 71, 152] {
            let (ticks, numbers) = axis(697.3, width);
            assert_eq!(ticks.chars().count(), width);
            assert!(numbers.starts_with('0') && numbers.chars().count() <= width);
        }
    }
}
