//! A bearing's designation as people type it: maker, series, size, suffixes.
//!
//! Stands between a typed name and the ids of the catalogue. Suffixes of seals, clearance, cage,
//! bore, grease and precision leave the rolling elements as they are and are passed over; those
//! that change them (the contact angle of 7xxx, the steep angle of tapers) are part of the id or an
//! error. Invariants: what is not understood is an error with its text; nothing is corrected in
//! silence.
//!
//! The suffixes are those of the catalogues that `config/bearings.toml` names.

/// Makers that may stand before a designation.
const MAKERS: [&str; 26] = [
    "NTN-SNR",
    "SCHAEFFLER",
    "TIMKEN",
    "FAFNIR",
    "NACHI",
    "JTEKT",
    "REXNORD",
    "ASAHI",
    "KOYO",
    "SKF",
    "FAG",
    "INA",
    "NSK",
    "NTN",
    "SNR",
    "RHP",
    "FYH",
    "NKE",
    "URB",
    "ZKL",
    "FBJ",
    "KYK",
    "NMB",
    "LYC",
    "ZWZ",
    "HRB",
];
/// Housing units, by the letters before the size of their insert `UC…`.
const UNITS: [&str; 12] =
    ["UCFLU", "UCPA", "UCPH", "UCFL", "UCFA", "UCFB", "UCFC", "UCFS", "UCP", "UCF", "UCT", "UCC"];
/// Letters before the digits that are a series of the catalogue.
const SERIES: [&str; 5] = ["NUP", "NU", "NJ", "UC", "N"];
/// Letters before the digits of tapers that are a maker's word for its steel or cage.
const TAPER_PREFIXES: [&str; 3] = ["HR", "ET", "E"];
/// NTN's word for carburized steel, which starts with a digit.
const CARBURIZED: &str = "4T-";

/// Suffixes of any bearing; `#` stands for digits.
const ANY: [&str; 49] = [
    "2RS#", "2RSH", "2RSL", "2RSR", "2RZ", "2RS", "RS#", "RSH", "RSL", "RSR", "RZ", "RS", "2Z",
    "ZZ", "2ZR", "ZR", "Z", "LLU", "LLB", "LLH", "LU", "LB", "DDU", "DU", "DD", "VV", "2NSE",
    "NSE", "NR", "C#", "CN", "CM", "P#", "TN#", "TN", "TVP#", "TVP", "TVH", "JEM", "JN", "J#", "M",
    "MA", "VL#", "VA#", "L#", "LT#", "LHT#", "GJN",
];
/// Further suffixes of any bearing: grease, heat, pairs, precision.
const ANY_TOO: [&str; 23] = [
    "#K", "HT", "HT#", "MT#", "WT", "AS#S", "#AS", "AV#S", "NS#", "S#", "DB", "DF", "DT", "DG",
    "GA", "GB", "UA", "SUL", "G#", "T#", "XL", "JP", "PH",
];
/// Suffixes of roller bearings: reinforced and inner designs, cages, bores, lubrication.
const ROLLERS: [&str; 38] = [
    "E", "E#", "EC", "ECP", "ECJ", "ECM", "ECML", "ECMP", "ECMA", "ECPH", "EA", "EM", "EMA", "ET",
    "ET#X", "EW", "EG", "EK", "EAK", "EAKE#", "EAE#", "EAD#", "EAKD#", "CC", "CCK", "CD", "CA",
    "CAM", "CAMK", "CJ", "K", "K#", "W#", "MB", "D#", "RHR", "RHRK", "ML",
];
/// Suffixes of tapers that keep the angle.
const TAPERS: [&str; 8] = ["A", "X", "J", "XJ", "JR", "XJR", "Q", "XU"];
/// Suffixes of angular contact bearings behind the letter of the angle, which is part of the id.
const ANGULAR: [&str; 10] = ["E", "EP", "ECBP", "ECBM", "ECBJ", "ECBY", "EGAP", "EAT#", "JR", "MP"];

/// Suffixes of inserts and their units: covers and grease nipples.
const INSERTS: [&str; 5] = ["D#", "C", "CD", "FC", "FCD"];

/// A designation, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Designation {
    maker: Option<&'static str>,
    /// Series and size, with the letter of the contact angle.
    base: String,
}

impl Designation {
    /// Takes a name apart; the error says what is not understood.
    pub(super) fn read(name: &str) -> Result<Self, String> {
        let upper: String = name.trim().to_uppercase().replace(['–', '—', '−'], "-");
        let (maker, rest) = without_maker(&upper);
        let rest = rest.strip_prefix(CARBURIZED).unwrap_or(rest);
        let letters = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let (series, rest) = rest.split_at(letters);
        let rest = rest.trim_start_matches([' ', '-', '.']);
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (size, suffixes) = rest.split_at(digits);
        if size.is_empty() {
            return Err("no number of a series is in it".to_owned());
        }
        let is_taper = size.len() == 5 && size.starts_with('3');
        let series = match series {
            "" => "",
            unit if UNITS.contains(&unit) => "UC",
            known if SERIES.contains(&known) => known,
            word if is_taper && TAPER_PREFIXES.contains(&word) => "",
            other => return Err(format!("{other:?} before the number is not understood")),
        };
        let mut base = format!("{series}{size}");
        let mut suffixes = suffixes.trim_start_matches([' ', '-', '/']);
        let mut own: &[&str] = &[];
        if series.is_empty() && size.len() == 4 && size.starts_with('7') {
            let (angle, rest) = angle(suffixes)?;
            base.push(angle);
            (suffixes, own) = (rest, &ANGULAR);
        } else if is_taper {
            own = &TAPERS;
        } else if series.starts_with('N') || (size.len() == 5 && size.starts_with("22")) {
            own = &ROLLERS;
        } else if series == "UC" {
            own = &INSERTS;
        }
        let is_koyo_reinforced = series.starts_with('N') && suffixes == "R";
        if !is_koyo_reinforced {
            understood(suffixes, own)?;
        }
        if series.starts_with('N') {
            // the older design has smaller rollers, and the ring does not say more than that E is
            // missing
            if !is_koyo_reinforced && !suffixes.starts_with('E') {
                return Err(format!(
                    "{base} without E is the older design, which has other rollers and is not in \
                     the catalogue: write {base}E (ECP, EM, EW, TVP2 behind E …; Koyo {base}R) if \
                     the ring says so"
                ));
            }
            base.push('E');
        }
        Ok(Self { maker, base })
    }

    /// The ids to look for, the maker's own first.
    pub(super) fn ids(&self) -> Vec<String> {
        let own = self.maker.map(|maker| format!("{maker} {}", self.base));
        own.into_iter().chain([self.base.clone()]).collect()
    }
}

/// A name without signs, in lower case.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns the part of a name by which the nearest ids are searched for: without a maker, with
/// letters that look like digits among digits taken as these, up to the end of the first number.
pub(super) fn base(name: &str) -> String {
    let upper = name.trim().to_uppercase();
    let (_, rest) = without_maker(&upper);
    let all: Vec<char> = rest.chars().collect();
    let is_digit = |at: Option<&char>| at.is_some_and(char::is_ascii_digit);
    let mut base = String::new();
    let mut has_digits = false;
    for (at, &c) in all.iter().enumerate() {
        let is_between = (at > 0 && is_digit(all.get(at - 1))) || is_digit(all.get(at + 1));
        let c = match c {
            'O' | 'Q' if is_between => '0',
            'I' | 'L' if is_between => '1',
            other => other,
        };
        if has_digits && !c.is_ascii_digit() {
            break;
        }
        has_digits |= c.is_ascii_digit();
        if c.is_alphanumeric() {
            base.extend(c.to_lowercase());
        }
    }
    // cylindrical rollers have the letter of their design in the id
    if base.starts_with('n') {
        base.push('e');
    }
    base
}

/// Returns how far two plain names are apart: letters put in, left out or changed, and digits in
/// another order as one slip.
pub(super) fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let sorted = |word: &[char]| {
        let mut word = word.to_vec();
        word.sort_unstable();
        word
    };
    if a != b && sorted(&a) == sorted(&b) {
        return 1;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

fn without_maker(upper: &str) -> (Option<&'static str>, &str) {
    for maker in MAKERS {
        if let Some(rest) = upper.strip_prefix(maker) {
            let rest = rest.trim_start_matches([' ', '-', ':', ',']);
            return (Some(maker), rest);
        }
    }
    (None, upper)
}

/// The letter of a 7xxx's contact angle (A 30°, B 40°, C 15°) and what follows.
fn angle(suffixes: &str) -> Result<(char, &str), String> {
    let refused = || {
        "a bearing 7xxx needs the letter of its contact angle: A (30°), B (40°) or C (15°); 25° \
         (AC, A5) is not in the catalogue"
            .to_owned()
    };
    if ["AC", "A5"].iter().any(|other| suffixes.starts_with(other)) {
        return Err(refused());
    }
    let letter =
        suffixes.chars().next().filter(|c| matches!(c, 'A' | 'B' | 'C')).ok_or_else(refused)?;
    // `7205 C3` is a clearance, no angle
    if letter == 'C' && suffixes[1..].starts_with(|c: char| c.is_ascii_digit()) {
        return Err(refused());
    }
    Ok((letter, suffixes[1..].trim_start_matches([' ', '-', '/'])))
}

/// Checks that these are only suffixes that leave the rolling elements as they are.
fn understood(suffixes: &str, own: &[&str]) -> Result<(), String> {
    for token in suffixes.split([' ', '-', '/', '.', ',', '+', '(', ')']).filter(|t| !t.is_empty())
    {
        if !is_made_of(token, own) {
            return Err(format!("the suffix {token:?} is not understood"));
        }
    }
    Ok(())
}

/// Whether a token is a row of known suffixes.
fn is_made_of(token: &str, own: &[&str]) -> bool {
    if token.is_empty() {
        return true;
    }
    let known = ANY.iter().chain(&ANY_TOO).chain(own);
    known.copied().any(|suffix| rests(token, suffix).into_iter().any(|rest| is_made_of(rest, own)))
}

/// Returns the possible rests of a token behind a suffix; `#` takes one digit or more.
fn rests<'a>(token: &'a str, suffix: &str) -> Vec<&'a str> {
    let mut rest = token;
    let mut parts = suffix.split('#').peekable();
    while let Some(part) = parts.next() {
        let Some(after) = rest.strip_prefix(part) else { return Vec::new() };
        rest = after;
        if parts.peek().is_some() {
            let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            if after.len() == rest.len() {
                return Vec::new();
            }
            rest = after;
        }
    }
    vec![rest]
}
