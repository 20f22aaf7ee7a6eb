//! Korean particles behind words that are filled in: 로/으로, 이/가, 은/는, 을/를, 와/과.
//!
//! A particle depends on the sound that the word ends with. Hangul tells it by its code; digits and
//! Latin letters are read as Koreans read them (`3` is 삼, `R` is 알). A word in brackets behind
//! another is not what the particle follows in writing, but what is read last, so it decides.

/// A pair of particles: the one behind a consonant, the one behind a vowel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Particle {
    /// 이/가, the subject.
    Subject,
    /// 은/는, the topic.
    Topic,
    /// 을/를, the object.
    Object,
    /// 과/와, and.
    And,
    /// 으로/로, towards; 로 behind the consonant ㄹ too.
    Towards,
}

/// How the sound of a word ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Vowel,
    Rieul,
    Consonant,
}

/// The word with its particle: `정상으로`, `주의가`, `MH-03과`.
pub fn with_particle(word: &str, particle: Particle) -> String {
    let ending = ending(word);
    let behind = match (particle, ending) {
        (Particle::Subject, Ending::Vowel) => "가",
        (Particle::Subject, Ending::Rieul | Ending::Consonant) => "이",
        (Particle::Topic, Ending::Vowel) => "는",
        (Particle::Topic, Ending::Rieul | Ending::Consonant) => "은",
        (Particle::Object, Ending::Vowel) => "를",
        (Particle::Object, Ending::Rieul | Ending::Consonant) => "을",
        (Particle::And, Ending::Vowel) => "와",
        (Particle::And, Ending::Rieul | Ending::Consonant) => "과",
        (Particle::Towards, Ending::Vowel | Ending::Rieul) => "로",
        (Particle::Towards, Ending::Consonant) => "으로",
    };
    format!("{word}{behind}")
}

/// The ending of the last letter or digit; a vowel where there is none.
fn ending(word: &str) -> Ending {
    let last = word.chars().rev().find(|letter| letter.is_alphanumeric());
    match last.map(|letter| letter.to_ascii_lowercase()) {
        Some(letter @ '가'..='힣') => match (letter as u32 - '가' as u32) % 28 {
            0 => Ending::Vowel,
            8 => Ending::Rieul,
            _ => Ending::Consonant,
        },
        // 일, 칠, 팔; 엘, 알
        Some('1' | '7' | '8' | 'l' | 'r') => Ending::Rieul,
        // 영, 삼, 육; 엠, 엔
        Some('0' | '3' | '6' | 'm' | 'n') => Ending::Consonant,
        Some(_) | None => Ending::Vowel,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_particle_follows_the_sound_that_is_read_last() {
        for (word, particle, told) in [
            ("정상", Particle::Towards, "정상으로"),
            ("정상(외륜)", Particle::Towards, "정상(외륜)으로"),
            ("위험", Particle::Towards, "위험으로"),
            ("5일", Particle::Towards, "5일로"),
            ("주의", Particle::Subject, "주의가"),
            ("위험", Particle::Subject, "위험이"),
            ("경고", Particle::Topic, "경고는"),
            ("외륜 결함", Particle::And, "외륜 결함과"),
            ("케이지", Particle::And, "케이지와"),
            ("MH-03", Particle::Subject, "MH-03이"),
            ("MH-05", Particle::Subject, "MH-05가"),
            ("EM-02", Particle::Object, "EM-02를"),
            ("3.8", Particle::Towards, "3.8로"),
            ("WO-20261123-8B1D7133CA29", Particle::Towards, "WO-20261123-8B1D7133CA29로"),
            ("", Particle::Subject, "가"),
        ] {
            assert_eq!(with_particle(word, particle), told);
        }
    }
}
