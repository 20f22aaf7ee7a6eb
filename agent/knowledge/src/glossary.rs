//! The terms of the field in Korean and English, one concept for each line: "외륜", "outer race" and
//! "BPFO" find each other.
//!
//! A concept that is recognised in a text ([`concepts`]) becomes one keyword and one coordinate of
//! the local embedding. Korean forms are stems, matched inside words so that particles do not hide
//! them; English forms are whole words in lower case. The order of the list is part of the
//! embedding's identity: append, never insert ([`crate::embed::local`] has the version).

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

mod beyond;
pub(crate) mod elsewhere;
mod everyday;
mod jargon;

use beyond::BEYOND;
use elsewhere::TOPICS;
use everyday::EVERYDAY;
use jargon::JARGON;

/// One concept and its words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Concept {
    /// Name of the concept, itself a keyword.
    pub name: &'static str,
    /// Weight of the concept in telling documents apart, 0…1. No data chose the values: names of a
    /// fault, a failure mode or a step of work have the highest; terms that occur in every document
    /// have the lowest.
    pub weight: f32,
    /// Korean stems, without spaces.
    pub ko: &'static [&'static str],
    /// English words.
    pub en: &'static [&'static str],
}

impl Concept {
    /// Every Korean stem: those of the field and those of everyday.
    pub(crate) fn korean(&self) -> impl Iterator<Item = &'static str> {
        self.ko.iter().copied().chain(self.everyday().flat_map(|(_, ko, _)| ko.iter().copied()))
    }

    /// Every English word: those of the field and those of everyday.
    pub(crate) fn english(&self) -> impl Iterator<Item = &'static str> {
        self.en.iter().copied().chain(self.everyday().flat_map(|(_, _, en)| en.iter().copied()))
    }

    fn everyday(&self) -> impl Iterator<Item = &'static everyday::Words> {
        let name = self.name;
        EVERYDAY.iter().chain(JARGON).filter(move |(of, _, _)| *of == name)
    }
}

const fn concept(
    name: &'static str,
    weight: f32,
    ko: &'static [&'static str],
    en: &'static [&'static str],
) -> Concept {
    Concept { name, weight, ko, en }
}

/// The concepts, in the order of the embedding's coordinates.
pub const CONCEPTS: &[Concept] = &[
    concept(
        "outer_race",
        1.0,
        &["외륜", "아우터레이스", "바깥쪽궤도", "외측궤도"],
        &["outer race", "outer ring", "bpfo", "outer raceway", "outer_race"],
    ),
    concept(
        "inner_race",
        1.0,
        &["내륜", "이너레이스", "안쪽궤도", "내측궤도"],
        &["inner race", "inner ring", "bpfi", "inner raceway", "inner_race"],
    ),
    concept(
        "rolling_element",
        1.0,
        &["전동체", "구름요소", "롤러", "강구", "볼결함", "볼손상"],
        &["rolling element", "roller", "rollers", "ball", "balls", "bsf"],
    ),
    concept(
        "cage",
        1.0,
        &["보지기", "유지기", "케이지", "리테이너"],
        &["cage", "retainer", "separator", "ftf"],
    ),
    concept("sideband", 0.6, &["측대파", "측파대"], &["sideband", "sidebands"]),
    concept("harmonic", 0.4, &["고조파", "하모닉", "배수성분"], &["harmonic", "harmonics"]),
    concept("envelope", 0.3, &["포락선", "엔벨로프"], &["envelope", "demodulation"]),
    concept("kurtosis", 0.5, &["첨도"], &["kurtosis"]),
    concept("crest_factor", 0.5, &["파고율"], &["crest factor", "crest"]),
    concept("rms", 0.2, &["실효값"], &["rms"]),
    concept("velocity", 0.4, &["진동속도"], &["velocity", "vrms"]),
    concept("temperature", 0.5, &["온도", "발열", "과열"], &["temperature", "hot", "overheating"]),
    concept(
        "noise_floor",
        0.6,
        &["노이즈플로어", "바닥잡음", "잡음바닥"],
        &["noise floor", "floor"],
    ),
    concept("natural_frequency", 0.5, &["고유진동수", "공진"], &["natural frequency", "resonance"]),
    concept("load_zone", 0.7, &["부하역", "부하구역", "부하영역"], &["load zone"]),
    concept("spalling", 0.5, &["박리", "스폴링", "플레이킹"], &["spalling", "spall", "flaking"]),
    concept(
        "indentation",
        0.8,
        &["압흔", "눌림", "브리넬"],
        &["indentation", "brinelling", "brinell", "dent"],
    ),
    concept("wear", 0.5, &["마모", "닳"], &["wear", "worn"]),
    concept(
        "corrosion",
        0.8,
        &["부식", "녹발생", "녹이", "녹슨", "수분", "물이"],
        &["corrosion", "rust", "water", "moisture"],
    ),
    concept(
        "electrical_erosion",
        1.0,
        &["전식", "플루팅", "축전류", "방전", "빨래판", "접지"],
        &["electrical erosion", "fluting", "shaft current", "grounding", "washboard"],
    ),
    concept("vfd", 0.8, &["인버터"], &["vfd", "inverter", "drive"]),
    concept(
        "fracture",
        0.6,
        &["파손", "균열", "파단", "깨진", "부러"],
        &["fracture", "crack", "broken"],
    ),
    concept("unbalance", 0.8, &["불평형", "언밸런스"], &["unbalance", "imbalance"]),
    concept(
        "misalignment",
        0.9,
        &["축정렬", "미스얼라인", "얼라인먼트", "정렬불량", "센터링"],
        &["misalignment", "alignment", "misaligned", "align"],
    ),
    concept("looseness", 0.8, &["이완", "풀림", "헐거", "덜그덕"], &["looseness", "loose"]),
    concept("cavitation", 0.9, &["캐비테이션", "공동현상"], &["cavitation"]),
    concept(
        "starvation",
        0.9,
        &["윤활부족", "급유부족", "윤활불량", "그리스부족", "그리스가마", "기름부족", "마른"],
        &["starvation", "lubrication starvation", "lack of grease", "dry"],
    ),
    concept(
        "lubrication",
        0.5,
        &["윤활", "그리스", "급유", "급지", "구리스", "윤활유"],
        &["lubrication", "grease", "lubricant", "oil", "relubrication", "greasing", "relube"],
    ),
    concept(
        "overgreasing",
        0.9,
        &["과급유", "과충전", "과다주입", "과다급유", "과다급지", "많이넣", "너무많이"],
        &["overgreasing", "overfill", "too much grease", "over greasing"],
    ),
    concept(
        "fill",
        0.8,
        &["봉입량", "충전량", "주입량", "보충량"],
        &["grease fill", "fill amount", "quantity"],
    ),
    concept(
        "fit",
        0.8,
        &["끼워맞춤", "억지끼움", "공차", "끼움"],
        &["fit", "interference", "tolerance", "fits"],
    ),
    concept("clearance", 0.8, &["틈새", "클리어런스"], &["clearance", "c3", "c4"]),
    concept(
        "heater",
        0.9,
        &["유도가열", "가열기", "히터", "가열"],
        &["induction heater", "heater", "heating", "heat"],
    ),
    concept("locknut", 0.9, &["로크너트", "록너트", "너트"], &["locknut", "lock nut", "nut"]),
    concept("torque", 0.9, &["토크", "체결", "조임"], &["torque", "tighten", "tightening"]),
    concept(
        "run_in",
        0.9,
        &["길들이기", "시운전", "런인"],
        &["run-in", "run in", "running-in", "trial run"],
    ),
    concept("replacement", 0.7, &["교체", "교환", "갈아"], &["replacement", "replace", "exchange"]),
    concept(
        "removal",
        0.8,
        &["분해", "탈거", "풀러", "빼"],
        &["removal", "puller", "dismount", "dismantle"],
    ),
    concept(
        "mounting",
        0.8,
        &["장착", "조립", "설치", "끼우"],
        &["mounting", "mount", "assembly", "install", "installation"],
    ),
    concept(
        "acceptance",
        0.8,
        &["합격", "인수", "검수", "판정기준", "확인기준"],
        &["acceptance", "accept", "acceptable"],
    ),
    concept(
        "loto",
        1.0,
        &["잠금", "표지", "전원차단", "안전절차", "안전조치"],
        &["loto", "lockout", "tagout", "isolation", "zero energy"],
    ),
    concept("storage", 1.0, &["보관", "저장", "창고"], &["storage", "store", "shelf", "warehouse"]),
    concept("tools", 0.7, &["공구", "준비물", "장비목록"], &["tools", "tool", "equipment list"]),
    concept(
        "duration",
        0.6,
        &["소요시간", "몇시간", "작업시간", "인원"],
        &["duration", "man-hours", "crew"],
    ),
    concept(
        "rul",
        0.5,
        &["잔여수명", "잔존수명", "남은수명", "며칠남", "얼마나버", "수명"],
        &["rul", "remaining life", "remaining useful life", "life"],
    ),
    concept("lower_bound", 0.6, &["신뢰구간하한", "하한"], &["lower bound"]),
    concept(
        "acceleration",
        0.7,
        &["가속열화", "급속열화", "급격", "급속", "갑자기", "빠르게", "급진전"],
        &["accelerating", "rapid", "sudden", "suddenly", "fast"],
    ),
    concept("degradation", 0.3, &["열화", "진행경과"], &["degradation", "deterioration"]),
    concept("risk", 0.5, &["위험도", "위험등급"], &["risk level", "risk"]),
    concept("fmea", 0.9, &["고장모드", "고장형태"], &["fmea", "failure mode", "failure modes"]),
    concept(
        "rpn",
        0.9,
        &["위험우선순위", "우선순위", "심각도", "발생도", "검출도"],
        &["rpn", "severity", "occurrence", "detection", "detectability", "risk priority"],
    ),
    concept("work_order", 0.6, &["작업지시"], &["work order"]),
    concept(
        "lead_time",
        0.8,
        &["리드타임", "납기", "조달", "발주"],
        &["lead time", "procurement", "order"],
    ),
    concept(
        "unplanned",
        0.6,
        &["비계획정지", "돌발정지", "비상정지", "돌발"],
        &["unplanned", "emergency stop"],
    ),
    concept(
        "geometry",
        1.0,
        &["기하", "치수", "피치원", "접촉각", "볼수", "롤러수", "전동체수"],
        &["geometry", "pitch diameter", "contact angle", "number of rollers", "dimensions"],
    ),
    concept(
        "orders",
        0.9,
        &["차수", "결함주파수", "주파수계산", "계산식", "주파수표"],
        &["orders", "order", "defect frequency", "fault frequency", "fault frequencies", "formula"],
    ),
    concept("rexnord", 0.9, &["렉스노드"], &["rexnord", "za-2115", "za2115"]),
    concept("6205", 0.9, &["6205"], &["6205", "6205-2rs"]),
    concept(
        "iso_zone",
        0.9,
        &["진동등급", "구역", "존판정"],
        &["zone", "zones", "iso 20816", "iso 10816", "20816", "10816"],
    ),
    concept("pump", 0.7, &["펌프"], &["pump"]),
    concept("motor", 0.6, &["전동기", "모터"], &["motor"]),
    concept("fan", 0.8, &["송풍기", "팬베어링", "팬에서", "팬의", "집진"], &["fan", "blower"]),
    concept("gearbox", 0.8, &["감속기", "기어박스"], &["gearbox", "reducer", "gear"]),
    concept("conveyor", 0.9, &["컨베이어"], &["conveyor"]),
    concept("compressor", 0.9, &["압축기", "콤프레서", "컴프레서"], &["compressor"]),
    concept("spindle", 0.9, &["스핀들", "주축"], &["spindle"]),
    concept(
        "separator_mill",
        0.8,
        &["분쇄기", "밀베어링", "교반기", "믹서"],
        &["mill", "agitator", "mixer"],
    ),
    concept(
        "contamination",
        0.8,
        &["오염", "이물", "분진", "먼지"],
        &["contamination", "debris", "dust", "particles"],
    ),
    concept("seal", 0.8, &["씰", "밀봉", "패킹", "실링", "오일실"], &["seal", "sealing"]),
    concept("overload", 0.7, &["과부하", "하중과다", "과대하중"], &["overload", "overloading"]),
    concept("skidding", 0.9, &["미끄럼", "스키딩", "경부하"], &["skidding", "slip", "light load"]),
    concept(
        "cross_talk",
        0.9,
        &["전달", "이웃", "옆베어링", "인접"],
        &["cross-talk", "neighbour", "neighbor", "neighbours", "adjacent", "cross talk"],
    ),
    concept(
        "healing",
        0.9,
        &["거짓회복", "회복", "다시줄", "다시내려", "떨어졌", "좋아진", "낮아졌", "감소후"],
        &["recovery", "healing", "false recovery", "drop", "dropped", "fell"],
    ),
    concept("nasa_ims", 0.8, &["나사"], &["ims", "nasa"]),
    concept("test_1", 0.9, &["시험1", "1번시험", "1차시험"], &["test 1", "first test", "t1"]),
    concept("test_2", 0.9, &["시험2", "2번시험", "2차시험"], &["test 2", "second test", "t2"]),
    concept("test_3", 0.9, &["시험3", "3번시험", "3차시험"], &["test 3", "third test", "t3"]),
    concept("lesson", 0.4, &["교훈", "재발방지"], &["lesson", "lessons", "prevention"]),
    concept("root_cause", 0.4, &["근본원인", "원인"], &["root cause", "cause", "why"]),
    concept("sensor", 0.8, &["센서", "케이블", "가속도계"], &["sensor", "cable", "accelerometer"]),
    concept(
        "storage_false",
        0.9,
        &["정지중", "예비기", "대기중", "진동전달"],
        &["standstill", "standby", "stationary", "false brinelling"],
    ),
    concept("modulation", 0.6, &["변조"], &["modulation", "modulated"]),
    concept("shaft", 0.5, &["축손상", "축외경", "축경"], &["shaft damage", "shaft diameter"]),
    concept("housing", 0.5, &["하우징"], &["housing"]),
    concept(
        "seizure",
        0.8,
        &["고착", "소착", "눌어붙"],
        &["seizure", "seized", "lock-up", "lockup"],
    ),
    concept("erratic", 0.8, &["불규칙", "들쭉날쭉", "오락가락"], &["erratic", "irregular"]),
    concept("spare", 0.6, &["예비품", "재고"], &["spare", "stock"]),
    concept(
        "misdiagnosis",
        0.9,
        &[
            "오진",
            "헛교체",
            "헛으로",
            "착각",
            "잘못본",
            "잘못봤",
            "잘못짚",
            "잘못읽",
            "오경보",
            "멀쩡한",
            "멀쩡했",
            "쓸데없이",
        ],
        &[
            "misdiagnosis",
            "misdiagnosed",
            "mistaken",
            "mistook",
            "needless",
            "false alarm",
            "wrongly",
            "nothing wrong",
        ],
    ),
    concept(
        "noise",
        0.5,
        &["이상음", "소음", "소리", "시끄러", "우는", "잡음", "쇳소리"],
        &["noise", "noises", "noisy", "sound", "sounds", "squeal", "whine"],
    ),
    concept(
        "suction",
        0.9,
        &["흡입", "스트레이너", "흡입압", "여과망"],
        &["suction", "strainer", "npsh"],
    ),
    concept(
        "repeat",
        0.6,
        &["재발", "되풀이", "연달아", "연속", "자꾸", "또다시", "잡아먹", "거듭"],
        &["repeat", "repeated", "repeatedly", "again and again", "kept", "keeps", "recurring"],
    ),
    concept(
        "oil_analysis",
        0.8,
        &["오일분석", "기름분석", "규소", "철분", "성분검사"],
        &["oil analysis", "silicon", "iron"],
    ),
    concept("piping", 0.8, &["배관", "파이프", "관로"], &["piping", "pipe", "pipes", "pipework"]),
    concept("coupling", 0.8, &["커플링", "카플링", "이음"], &["coupling", "couplings"]),
    concept("lubricator", 0.8, &["급유기", "주유기", "급지기"], &["lubricator", "auto-luber"]),
    concept(
        "mains_frequency",
        0.8,
        &["전원주파수", "120hz", "60hz", "120헤르츠", "60헤르츠"],
        &["mains", "line frequency", "120 hz", "60 hz"],
    ),
    concept("mesh", 0.7, &["맞물림", "톱니", "기어맞"], &["mesh", "gear mesh", "teeth"]),
    concept(
        "grease_amount",
        0.7,
        &["퍼센트", "그램", "얼마나넣", "몇그램", "공간의"],
        &["grams", "percent", "how much grease"],
    ),
    concept(
        "vibration",
        0.3,
        &["진동", "떨림", "떨려", "떨리", "떨어대", "흔들", "덜덜", "요동", "진폭"],
        &[
            "vibration",
            "vibrations",
            "vibrates",
            "shake",
            "shakes",
            "shaking",
            "rattle",
            "rattles",
            "judder",
            "amplitude",
        ],
    ),
    concept(
        "failure",
        0.3,
        &[
            "고장", "망가", "나갔", "나간", "죽었", "죽은", "뻗었", "퍼졌", "탈났", "손상", "파손",
            "상한", "상했", "결함", "사고", "못쓰",
        ],
        &[
            "failure",
            "failures",
            "failed",
            "fail",
            "fails",
            "died",
            "dead",
            "damage",
            "damaged",
            "ruined",
            "destroyed",
            "defect",
            "fault",
            "faults",
            "broke down",
            "gave out",
        ],
    ),
    concept(
        "bearing",
        0.2,
        &["베어링", "베아링", "베어닝", "배어링", "축받이"],
        &["bearing", "bearings", "brg"],
    ),
    concept(
        "machine",
        0.2,
        &["기계", "설비", "장비", "기기", "호기"],
        &["machine", "machines", "equipment", "unit", "asset"],
    ),
    concept(
        "stop",
        0.4,
        &["정지", "멈추", "멈춰", "멈췄", "세우", "세워", "세웠", "스톱", "내리", "꺼야", "끄고"],
        &["stop", "stops", "stopped", "shut down", "shutdown", "halt", "take out of service"],
    ),
    concept(
        "inspection",
        0.3,
        &["점검", "확인", "검사", "살펴", "살피", "체크", "봐야", "들여다"],
        &["inspect", "inspection", "check", "checks", "look at", "verify", "examine"],
    ),
    concept(
        "limit",
        0.4,
        &["기준", "한계", "최대", "최고", "이하", "이내", "허용", "넘으면", "넘기면", "상한"],
        &[
            "limit",
            "limits",
            "maximum",
            "max",
            "at most",
            "allowed",
            "allowable",
            "permitted",
            "threshold",
        ],
    ),
    concept(
        "measuring",
        0.3,
        &["측정", "재어", "재는", "재고", "찍어보", "계측", "판독"],
        &["measure", "measured", "measurement", "measuring", "reading", "readings", "interval"],
    ),
    concept(
        "cleaning",
        0.6,
        &["청소", "세척", "씻어", "씻고", "닦아", "닦고", "플러싱"],
        &["clean", "cleaned", "cleaning", "wash", "flush", "flushing"],
    ),
    concept(
        "turning_by_hand",
        0.8,
        &["손으로돌", "돌려놓", "교번", "번갈아", "돌려가며"],
        &["by hand", "alternate", "alternating", "rotate duty", "take turns"],
    ),
    concept(
        "crew",
        0.7,
        &["인원", "몇명", "몇사람", "혼자", "둘이서", "사람이몇"],
        &["crew", "people", "persons", "alone", "technicians"],
    ),
    concept(
        "photo_record",
        0.6,
        &["사진", "기록", "적어두", "남겨", "보존", "증거"],
        &["photo", "photograph", "record", "evidence", "keep it"],
    ),
    concept(
        "standards_clearance",
        0.5,
        &["눈금", "눈대중", "게이지", "마이크로미터", "다이얼"],
        &["gauge", "feeler", "micrometer", "dial"],
    ),
    concept(
        "spreading",
        0.6,
        &["번지", "번져", "번졌", "퍼지", "퍼져", "커지", "커져", "자라", "늘어나"],
        &["spread", "spreads", "spreading", "grows", "grow", "growing", "grew"],
    ),
    concept(
        "warning_time",
        0.7,
        &["예고", "징후", "조짐", "낌새", "전조", "신호가먼저", "미리", "사전에", "눈치"],
        &["warning", "warned", "sign", "signs", "symptom", "symptoms", "notice", "hint", "early"],
    ),
    concept(
        "how_long",
        0.6,
        &["얼마만에", "며칠만에", "며칠", "몇시간만", "걸렸", "버텼", "기간"],
        &["how long", "days", "hours", "weeks", "took"],
    ),
    concept(
        "usual_level",
        0.4,
        &["정상", "평소", "멀쩡", "이상없", "아무일없"],
        &["normal", "usual", "healthy", "sound", "fine"],
    ),
    concept(
        "test_rig",
        0.7,
        &["시험기", "실험", "시험", "테스트", "리그"],
        &["test rig", "rig", "experiment", "test"],
    ),
    concept(
        "stage",
        0.6,
        &["단계", "몇단계", "초기", "중기", "말기", "초반", "막판"],
        &["stage", "stages", "early stage", "late stage"],
    ),
    concept(
        "lubricant_blocked",
        0.8,
        &["막혀", "막혔", "막힌", "굳은", "굳어", "안통"],
        &["blocked", "clogged", "hardened", "plugged"],
    ),
    concept(
        "baseline",
        0.6,
        &["기준선", "기준값", "비교값", "초깃값", "첫측정", "처음잰"],
        &["baseline", "reference", "reference value", "starting value", "first reading"],
    ),
    concept(
        "periodic",
        0.6,
        &["주기", "몇달마다", "얼마마다", "하루한번", "순회", "정기"],
        &["how often", "periodic", "periodically", "once a day", "daily", "patrol", "patrols"],
    ),
    concept(
        "indicator_lamp",
        0.8,
        &["표시등", "램프", "불이들어", "파란불", "초록불"],
        &["lamp", "lamps", "indicator", "green light", "led"],
    ),
    concept(
        "drain",
        0.8,
        &["배출", "드레인", "빠지는구멍", "빼는구멍"],
        &["drain", "drain plug", "outlet", "relief plug", "relief hole"],
    ),
    concept(
        "comb",
        0.8,
        &["빗살", "참빗", "촘촘"],
        &["comb", "picket fence", "evenly spaced", "rake"],
    ),
    concept(
        "burnt",
        0.7,
        &["검게", "까맣게", "시커멓", "그을", "타버린", "탄내"],
        &["burnt", "burned", "black", "blackened", "charred"],
    ),
    concept(
        "prediction",
        0.6,
        &["예측", "예상", "추정", "중앙값"],
        &["prediction", "predictions", "predicted", "forecast", "estimate", "estimated", "median"],
    ),
    concept(
        "mixing",
        0.8,
        &["섞어", "섞으", "섞여", "섞인", "혼합", "혼용"],
        &["mix", "mixed", "mixing", "blend"],
    ),
    concept(
        "law",
        0.9,
        &["법규", "법령", "법으로", "법에", "규칙", "규정", "조항", "몇조", "산업안전"],
        &["law", "laws", "regulation", "regulations", "legal", "legally", "rules", "statutory"],
    ),
    concept(
        "expansion",
        0.7,
        &["팽창", "벌어지", "벌어져", "열간"],
        &["expand", "expands", "expansion", "wider", "thermal growth"],
    ),
];

/// The concepts in `folded`, by their index, with their numbers of occurrences. `folded` is text in
/// lower case ([`super::words::fold`]).
pub fn concepts(folded: &str) -> Vec<(usize, u32)> {
    CONCEPT_FINDERS.counts(folded)
}

/// The topics of [`elsewhere`] that `folded` names, by their index.
pub(crate) fn topics(folded: &str) -> Vec<usize> {
    TOPIC_FINDERS.counts(folded).into_iter().map(|(at, _)| at).collect()
}

/// Searchers for the words of a list; each group is searched in one pass over a text.
struct Finders {
    /// Length of the list.
    size: usize,
    english: Finder,
    /// Two-syllable stems, found inside a word only: across two words a match is chance.
    short: Finder,
    /// Longer stems, found across spaces too.
    long: Finder,
}

static CONCEPT_FINDERS: LazyLock<Finders> = LazyLock::new(|| {
    Finders::of(CONCEPTS, |one| one.korean().collect(), |one| one.english().collect())
});

static TOPIC_FINDERS: LazyLock<Finders> = LazyLock::new(|| {
    type Topic = (Vec<&'static str>, Vec<&'static str>);
    let listed = TOPICS.iter().map(|(_, ko, en)| (ko.to_vec(), en.to_vec()));
    let parted = |words: &'static str| words.split(", ").collect();
    let beyond = BEYOND.iter().map(|(_, ko, en)| (parted(ko), parted(en)));
    let all: Vec<Topic> = listed.chain(beyond).collect();
    Finders::of(&all, |(ko, _)| ko.clone(), |(_, en)| en.clone())
});

type WordsOf<T> = fn(&T) -> Vec<&'static str>;

impl Finders {
    fn of<T>(list: &[T], korean: WordsOf<T>, english: WordsOf<T>) -> Self {
        let is_short = |stem: &&'static str| stem.chars().count() <= 2;
        let with = |words: &dyn Fn(&T) -> Vec<&'static str>| {
            Finder::of(list.iter().enumerate().flat_map(|(at, one)| {
                words(one).into_iter().map(move |word| (at, word)).collect::<Vec<_>>()
            }))
        };
        Self {
            size: list.len(),
            english: with(&|one| english(one)),
            short: with(&|one| korean(one).into_iter().filter(is_short).collect()),
            long: with(&|one| korean(one).into_iter().filter(|stem| !is_short(stem)).collect()),
        }
    }

    /// What `folded` names, by its index in the list, with the number of occurrences.
    fn counts(&self, folded: &str) -> Vec<(usize, u32)> {
        let joined: String = folded.chars().filter(|c| !c.is_whitespace()).collect();
        let mut counts = vec![0; self.size];
        self.english.count(&spaced(folded), true, &mut counts);
        self.short.count(folded, false, &mut counts);
        self.long.count(&joined, false, &mut counts);
        counts.into_iter().enumerate().filter(|(_, count)| *count > 0).collect()
    }
}

/// A searcher with the concept or topic of each of its words.
struct Finder {
    automaton: AhoCorasick,
    concepts: Vec<usize>,
}

impl Finder {
    fn of(words: impl Iterator<Item = (usize, &'static str)>) -> Self {
        let (concepts, words): (Vec<usize>, Vec<&str>) = words.unzip();
        let automaton = AhoCorasick::new(words).expect("a few hundred short words fit");
        Self { automaton, concepts }
    }

    /// Adds the occurrences of each concept's words in `text`, if `between_spaces` only those of
    /// whole words. A word does not overlap itself.
    fn count(&self, text: &str, between_spaces: bool, counts: &mut [u32]) {
        let bytes = text.as_bytes();
        let is_space = |at: Option<usize>| at.and_then(|at| bytes.get(at)) == Some(&b' ');
        let mut ends = vec![0; self.concepts.len()];
        for found in self.automaton.find_overlapping_iter(text) {
            let word = found.pattern().as_usize();
            if found.start() < ends[word] {
                continue;
            }
            ends[word] = found.end();
            let stands = is_space(found.start().checked_sub(1)) && is_space(Some(found.end()));
            if stands || !between_spaces {
                counts[self.concepts[word]] += 1;
            }
        }
    }
}

/// Words between single spaces, with one at either end. Hyphens and `_` inside words stay; Hangul
/// ends a Latin word.
fn spaced(folded: &str) -> String {
    let mut out = String::with_capacity(folded.len() + 2);
    out.push(' ');
    for c in folded.chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') {
            out.push(c);
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    if !out.ends_with(' ') {
        out.push(' ');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<&'static str> {
        let found = concepts(&crate::words::fold(text));
        found.into_iter().map(|(at, _)| CONCEPTS[at].name).collect()
    }

    #[test]
    fn korean_english_and_frequency_name_one_concept() {
        for text in ["외륜이 깨졌다", "the Outer Race", "BPFO가 보인다"] {
            assert!(names(text).contains(&"outer_race"), "{text}: {:?}", names(text));
        }
    }

    /// The definition of the count, word by word, as the test's reference.
    fn defined(folded: &str) -> Vec<(usize, u32)> {
        let words = spaced(folded);
        let joined: String = folded.chars().filter(|c| !c.is_whitespace()).collect();
        let count = |concept: &Concept| -> usize {
            let english: usize = concept.english().map(|word| occurrences(&words, word)).sum();
            let korean = |stem: &str| {
                let short = stem.chars().count() <= 2;
                if short { folded } else { &joined }.matches(stem).count()
            };
            english + concept.korean().map(korean).sum::<usize>()
        };
        let all = CONCEPTS.iter().map(|concept| count(concept) as u32).enumerate();
        all.filter(|(_, count)| *count > 0).collect()
    }

    fn occurrences(spaced: &str, word: &str) -> usize {
        spaced
            .match_indices(word)
            .filter(|(at, _)| {
                let bytes = spaced.as_bytes();
                bytes[at - 1] == b' ' && matches!(bytes[at + word.len()], b' ')
            })
            .count()
    }

    proptest::proptest! {
        #[test]
        fn one_pass_finds_what_the_definition_finds(
            parts in proptest::collection::vec((0usize..1000, 0usize..4), 0..30),
        ) {
            let words: Vec<&str> =
                CONCEPTS.iter().flat_map(|concept| concept.english().chain(concept.korean())).collect();
            let between = [" ", "", "이 ", "x"];
            let text: String = parts
                .iter()
                .flat_map(|(word, gap)| [words[word % words.len()], between[*gap]])
                .collect();
            let folded = crate::words::fold(&text);
            proptest::prop_assert_eq!(concepts(&folded), defined(&folded), "{}", folded);
        }
    }

    #[test]
    fn the_shipped_documents_speak_of_what_the_definition_finds() {
        for document in crate::shipped::documents().expect("documents") {
            for chunk in crate::chunk::cut(&document) {
                let folded = crate::words::fold(&chunk.body());
                assert_eq!(concepts(&folded), defined(&folded), "{}", chunk.id);
            }
        }
    }

    #[test]
    fn a_part_of_an_english_word_is_no_concept() {
        assert_eq!(names("football package"), Vec::<&str>::new());
    }

    #[test]
    fn every_concept_has_a_name_of_its_own_and_a_weight() {
        let mut all: Vec<&str> = CONCEPTS.iter().map(|concept| concept.name).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), CONCEPTS.len());
        assert!(CONCEPTS.iter().all(|concept| concept.weight > 0.0 && concept.weight <= 1.0));
    }
}
