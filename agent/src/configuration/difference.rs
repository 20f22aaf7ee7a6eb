//! The lines in which two texts differ, for people.

use pdm_web::configuration::ChangedLine;

/// Lines around those that change.
const AROUND: usize = 2;
/// Most lines of a part that are compared one by one; larger parts are told whole.
const COMPARED: usize = 400;

/// The lines that differ, with those around them.
pub(super) fn difference(old: &str, new: &str) -> Vec<ChangedLine> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let most = old.len().min(new.len()) - before;
    let behind =
        old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(old, new)| old == new);
    let behind = behind.count();
    let line = |mark: char, text: &&str| ChangedLine { mark, text: (*text).to_owned() };
    let mut lines: Vec<ChangedLine> =
        old[before.saturating_sub(AROUND)..before].iter().map(|text| line(' ', text)).collect();
    let (left, right) = (&old[before..old.len() - behind], &new[before..new.len() - behind]);
    lines.extend(compared(left, right).iter().map(|(mark, text)| line(*mark, text)));
    let after = &old[old.len() - behind..];
    lines.extend(after.iter().take(AROUND).map(|text| line(' ', text)));
    lines
}

/// The longest common sequence of two parts, with what is only in the one or the other.
fn compared<'a>(left: &[&'a str], right: &[&'a str]) -> Vec<(char, &'a str)> {
    let whole = |mark: char| move |text: &&'a str| (mark, *text);
    if left.len() > COMPARED || right.len() > COMPARED {
        return left.iter().map(whole('-')).chain(right.iter().map(whole('+'))).collect();
    }
    // common[i][j]: the length of what left[i..] and right[j..] have in common
    let mut common = vec![vec![0_u32; right.len() + 1]; left.len() + 1];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            common[i][j] = if left[i] == right[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::new();
    while i < left.len() || j < right.len() {
        if i < left.len() && j < right.len() && left[i] == right[j] {
            lines.push((' ', left[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == right.len() || (i < left.len() && common[i + 1][j] >= common[i][j + 1]) {
            lines.push(('-', left[i]));
            i += 1;
        } else {
            lines.push(('+', right[j]));
            j += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(old: &str, new: &str) -> String {
        let lines = difference(old, new);
        let lines: Vec<String> =
            lines.iter().map(|line| format!("{}{}|", line.mark, line.text)).collect();
        lines.concat()
    }

    #[test]
    fn what_differs_is_told_with_two_lines_around() {
        assert_eq!(told("a\nb\nc\nd\n", "a\nb\nx\nd\n"), " a| b|-c|+x| d|");
        assert_eq!(told("a\nb\nc\n", "a\nb\nc\nd\n"), " b| c|+d|");
        assert_eq!(told("a\nb\nc\nd\ne\nf\n", "a\nX\nc\nd\nY\nf\n"), " a|-b|+X| c| d|-e|+Y| f|");
        assert_eq!(told("", "a\n"), "+a|");
        assert_eq!(told("a\n", "a\n"), " a|");
    }
}
