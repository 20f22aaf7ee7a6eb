//! Finds the recording that is the past of another: a sound one of the same measuring point, by the
//! files' names.
//!
//! Two rigs have none of the same bearing: CWRU and Paderborn mount another one for each fault, so
//! their sound bearing stands for the past. A sound recording that has no other is held against its
//! own first half. Invariant: names and places decide, as an operator would know them, and no
//! label.

/// The past with which a recording is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PastOf {
    /// Another recording and its channel.
    Recording(String, usize),
    /// The first half of the same one: the second half is judged.
    OwnHalf,
}

/// The past of a channel of a file; `files`: all that are at hand.
pub fn past_of(file: &str, channel: usize, files: &[&str]) -> Option<PastOf> {
    let (folder, name) = file.rsplit_once('/')?;
    let at = |names: &[String]| {
        let path = |name: &String| format!("{folder}/{name}");
        names.iter().map(path).find(|path| path != file && files.contains(&path.as_str()))
    };
    let of = |names: &[String], channel| Some(PastOf::Recording(at(names)?, channel));
    let parts: Vec<&str> = name.split(['_', '.']).collect();
    match folder {
        "cwru" if name.starts_with("normal") => Some(PastOf::OwnHalf),
        // channel 0 of the normal recording is the drive end, 1 the fan end
        "cwru" => of(&["normal_0_97_part1.npy".to_owned()], usize::from(name.contains("Fan_End"))),
        "hitsm" if name.contains("Normal") => Some(PastOf::OwnHalf),
        "hitsm" => {
            let rig = parts.first()?;
            let speeds = [*parts.get(2)?, "900", "1200", "600"];
            of(&speeds.map(|speed| format!("{rig}_Normal_{speed}.mat")), 0)
        }
        "uestc" if name.starts_with("N_") => Some(PastOf::OwnHalf),
        "uestc" => of(&[format!("N_{}_1.mat", parts.get(1)?)], channel),
        "mfpt" if name.starts_with("baseline") => Some(PastOf::OwnHalf),
        "mfpt" => of(&["baseline_1.mat".to_owned()], 0),
        "paderborn" => {
            let condition = parts.get(..3)?.join("_");
            of(&["K001", "K002"].map(|bearing| format!("{condition}_{bearing}_1.npy")), channel)
        }
        "gearbox" if name == "h30hz0.npy" => Some(PastOf::OwnHalf),
        "gearbox" => of(&["h30hz0.npy".to_owned()], channel),
        "pump" => {
            let speed = parts.first()?;
            of(&["1", "2"].map(|take| format!("{speed}_healthy_{take}.npy")), channel)
        }
        "ims" => {
            let test = format!("ims/{}_", parts.first()?);
            let first = files.iter().filter(|path| path.starts_with(&test)).min()?;
            (*first != file).then(|| PastOf::Recording((*first).to_owned(), channel))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_held_against_a_sound_one_of_its_point() {
        let files = [
            "cwru/normal_0_97_part1.npy",
            "hitsm/self_Normal_900.mat",
            "paderborn/N15_M07_F10_K001_1.npy",
            "paderborn/N15_M07_F10_K002_1.npy",
            "ims/test1_2003.10.22.12.06.24.npy",
            "ims/test1_2003.10.22.12.19.13.npy",
        ];
        let other = |file: &str, channel| Some(PastOf::Recording(file.to_owned(), channel));
        let of = |file, channel| past_of(file, channel, &files);
        assert_eq!(of("cwru/12k_Fan_End_B014_2_288.npy", 0), other(files[0], 1));
        assert_eq!(of("cwru/normal_0_97_part1.npy", 1), Some(PastOf::OwnHalf));
        assert_eq!(of("hitsm/self_OR5_600.mat", 0), other(files[1], 0));
        assert_eq!(of("paderborn/N15_M07_F10_K001_1.npy", 0), other(files[3], 0));
        assert_eq!(of("paderborn/N15_M07_F10_KA04_1.npy", 0), other(files[2], 0));
        assert_eq!(of(files[5], 3), other(files[4], 3));
        assert_eq!(of(files[4], 3), None, "the first snapshot has no past");
    }
}
