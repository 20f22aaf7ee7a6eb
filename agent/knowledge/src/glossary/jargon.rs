//! Words of the shop floor for the concepts of the glossary: loan words from Japanese and English as they are
//! spelt in Korean plants, and the English of fitters. General vocabulary of the trade, taken from no set of
//! test questions that is held back. Matched as [`super::everyday`] is.

use super::everyday::Words;

/// Further words of concepts.
pub(super) const JARGON: &[Words] = &[
    ("rolling_element", &["다마", "타마", "코로가", "코로를", "알이나가"], &["marble", "marbles"]),
    (
        "shaft",
        &["샤프트", "샤후트", "샤프", "사후트", "축굵기", "축지름", "심봉"],
        &["journal", "shaft seat", "shaft", "stub"],
    ),
    ("motor", &["모다", "원동기"], &["electric motor"]),
    (
        "heater",
        &["히타", "히이터", "뎁히", "뎁힌", "뎁혀", "데펴", "덥히", "덥혀"],
        &["warming", "heaters"],
    ),
    ("temperature", &["뜨뜻", "따끈", "미지근", "안식"], &["scorching", "cool down", "cools"]),
    (
        "torque",
        &["뽈트", "보루트", "메가네", "몽키", "스파나", "스패너", "복스알", "깔깔이", "임팩트"],
        &["ratchet", "spanner", "impact gun", "torqued", "studs", "cap screw", "screwed"],
    ),
    (
        "housing",
        &["하우장", "카바", "커바", "커버", "케이싱", "베어링몸통", "블럭"],
        &["housing", "cover", "casing", "pillow block", "plummer block"],
    ),
    ("lubrication", &["니쁠", "니플", "구리스건", "그리스건"], &["nipple", "grease gun", "zerk"]),
    ("fill", &["얼마나채", "채워넣", "비워두", "채워야"], &["fill level", "pack it", "how full"]),
    (
        "indentation",
        &["기스", "기즈", "덴트", "찍어먹"],
        &["ding", "dings", "dinged", "gouge", "gouged"],
    ),
    ("wear", &["문드러", "깎여", "깎인"], &["scuffed", "scuffing"]),
    ("seizure", &["야키", "야끼", "타붙", "물고늘"], &["welded itself", "bound up", "locks up"]),
    ("fracture", &["뽀사", "아작", "작살", "실금", "동강"], &["bust", "busted", "let go", "snap"]),
    (
        "electrical_erosion",
        &["쇼트", "합선", "지락", "어스", "접지브러"],
        &["shorted", "stray current", "earthing", "earth brush", "shaft brush", "ground brush"],
    ),
    ("locknut", &["낫또", "나트", "락너트", "로크낫"], &["bearing nut", "adapter nut"]),
    ("clearance", &["가다가", "틈이", "갭이", "덜컥"], &["end play", "radial play", "wiggle"]),
    (
        "fit",
        &["쑥들어", "헐겁게들", "타이트", "죄임"],
        &["slides on", "oversize", "undersize", "loose on the shaft"],
    ),
    (
        "misalignment",
        &["심내기", "신출", "센타", "센타링", "직결도", "편각"],
        &["out of true", "soft foot", "laser alignment"],
    ),
    (
        "cage",
        &["볼잡아", "잡아주는틀", "간격유지", "리테나", "케지"],
        &["ball holder", "ball spacer"],
    ),
    ("seal", &["리데나", "빠킹", "바킹", "파킹", "오일씰"], &["o-ring", "packing"]),
    (
        "noise",
        &["달그락", "덜거덕", "까르륵", "갈갈", "딱딱소리", "찌걱"],
        &["clunk", "click", "clicking", "clatter", "screech", "knocking", "chirp", "rumbling"],
    ),
    ("vibration", &["부르르", "털털", "떤다", "떠는"], &["wobble", "wobbles", "shudder"]),
    (
        "contamination",
        &["쇳밥", "기리꼬", "쇳조각", "칩이"],
        &["chips", "swarf", "filings", "crud", "chip"],
    ),
    (
        "storage",
        &["장마", "눅눅", "습한", "방치", "사놓고", "쟁여", "포장", "박스째"],
        &["boxed", "carton", "unopened", "damp", "wrapping"],
    ),
    (
        "storage_false",
        &["놀려", "놀리", "오래세워", "세워놨"],
        &["sat idle", "sitting idle", "mothballed", "hardly turned", "stood still"],
    ),
    ("removal", &["뽑고", "뽑는", "뽑으", "풀라", "빼고", "빼낸"], &["pulled off", "pry", "prise"]),
    ("mounting", &["박는", "때려넣", "압입", "열박음"], &["slip on", "hammer it", "tap it on"]),
    ("replacement", &["가라끼", "갈아치", "새거"], &["fresh one", "new ones"]),
    ("misdiagnosis", &["헛다리", "헛짚", "범인"], &["culprit", "barking up", "good bearing"]),
    ("unplanned", &["라인스톱", "라인이서", "뻗어"], &["line down", "stopped dead"]),
    ("loto", &["시건장치", "자물통"], &["padlocks", "lock and tag"]),
    (
        "photo_record",
        &["고철", "버려도", "버리지", "폐기"],
        &["scrap", "throw away", "throw it", "discard"],
    ),
    ("rms", &["알엠에스"], &["overall level"]),
    ("kurtosis", &["커토시스", "쿠르토시스"], &["spikiness", "peakiness"]),
    ("vfd", &["브이에프디"], &["vsd", "inverters"]),
    (
        "healing",
        &["수그러", "사그라"],
        &["came down", "by itself", "by themselves", "went away", "eased"],
    ),
    (
        "cross_talk",
        &["맞은편", "반대편", "반대쪽"],
        &["other end", "opposite end", "far end", "both ends"],
    ),
    ("misalignment", &["삐딱", "처져", "처진"], &["sagged", "sagging", "skewed"]),
    ("cage", &["리벳", "주머니"], &["rivet", "rivets", "pocket", "pockets"]),
    ("lubricant_blocked", &["안나가", "떡이"], &["caked", "dried up", "hard grease"]),
    ("electrical_erosion", &["물결무늬"], &["ripple", "ripples", "corrugated", "ribbed"]),
    ("storage_false", &["여벌"], &["backup", "back-up", "reserve", "sitting"]),
    ("seizure", &["안돌아가"], &["locked solid", "locked up", "would not budge"]),
    ("temperature", &["열난", "열났"], &["celsius", "hotter", "cooler"]),
    ("kurtosis", &[], &["spiky", "peaky"]),
    ("rul", &["남은날", "며칠이나"], &["days left", "hours left"]),
    (
        "lower_bound",
        &["짧은쪽", "보수적", "최악"],
        &["worst case", "pessimistic", "conservative", "shorter end"],
    ),
    (
        "warning_time",
        &["예고없", "미리알", "경고"],
        &["without warning", "heads-up", "how early", "in advance"],
    ),
    ("suction", &["빨아들", "흡입구"], &["inlet", "intake"]),
    ("overgreasing", &[], &["overdo", "overdoes", "overdid"]),
    ("grease_amount", &["몇그람", "몇번쏘", "펌프질"], &["strokes", "shots"]),
    ("fit", &[], &["j6", "k5", "m5", "h7", "j7"]),
    ("torque", &["대각"], &["crosswise"]),
    ("loto", &[], &["stored energy", "still turning", "coasting"]),
    ("noise", &[], &["loud", "louder"]),
    ("misdiagnosis", &["괜한", "헛돈"], &["for no reason", "not the bearing", "perfectly good"]),
];
