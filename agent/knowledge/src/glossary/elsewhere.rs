//! Topics of a plant and of everyday life that documents on bearings seldom treat: where a question names one
//! and no candidate does, that speaks against an answer.
//!
//! The list holds general vocabulary, in small groups, so that a document that treats one of them (a belt, an
//! order) clears that one alone. A topic weighs only where no candidate names it, so that a plant which
//! ingests documents on cranes finds them. Korean forms and English words are matched as in the glossary.

use super::everyday::Words;

/// The topics: a name, Korean stems, English words.
pub(crate) const TOPICS: &[Words] = &[
    (
        "price",
        &["얼마주고", "단가", "가격", "견적", "비싸", "싸게", "얼마에샀", "얼마짜리"],
        &["price", "prices", "cheap", "cheaper", "expensive", "quote", "invoice", "discount"],
    ),
    (
        "maker",
        &["제조사", "메이커", "브랜드", "정품", "짝퉁", "어느회사"],
        &["skf", "nsk", "fag", "ntn", "timken", "brand", "brands", "supplier", "vendor"],
    ),
    (
        "place in the stores",
        &["몇번선반", "자재실", "재고위치", "어느칸", "자재코드"],
        &["aisle", "bin number", "which shelf", "stockroom", "part number"],
    ),
    (
        "load rating",
        &["정격하중", "동하중", "기본수명", "무게가", "몇킬로"],
        &["l10", "load rating", "catalogue life", "rating life", "weigh", "weighs"],
    ),
    (
        "history of technology",
        &["발명", "처음만든", "역사", "유래"],
        &["invented", "inventor", "founded", "history of the"],
    ),
    (
        "other bearings",
        &[
            "미끄럼베어링",
            "슬라이딩베어링",
            "배빗",
            "메탈베어링",
            "스러스트",
            "공기베어링",
            "자기베어링",
        ],
        &[
            "babbitt",
            "journal bearing",
            "plain bearing",
            "sleeve bearing",
            "thrust bearing",
            "wheel bearing",
            "wheel bearings",
            "magnetic bearing",
            "air bearing",
        ],
    ),
    ("ceramic", &["세라믹"], &["ceramic", "hybrid bearing"]),
    (
        "vehicle",
        &["자동차", "승용차", "트럭", "타이어", "운전면허", "주차", "기름값", "휘발유", "경유차"],
        &[
            "car",
            "cars",
            "truck",
            "pickup",
            "lorry",
            "tyre",
            "tire",
            "tyres",
            "tires",
            "axle",
            "parking",
            "petrol",
            "driving licence",
        ],
    ),
    ("forklift", &["지게차", "빠레트", "파레트", "팔레트"], &["forklift", "pallet", "fork truck"]),
    (
        "crane",
        &["크레인", "호이스트", "와이어로프", "체인블록", "슬링"],
        &["crane", "hoist", "wire rope", "sling", "shackle"],
    ),
    ("lift", &["엘리베이터", "승강기", "에스컬레이터"], &["elevator", "escalator"]),
    ("robot", &["로봇"], &["robot", "robots", "gripper"]),
    (
        "hydraulics",
        &["유압", "작동유", "스풀", "어큐뮬레이터"],
        &["hydraulic", "hydraulics", "spool", "accumulator"],
    ),
    (
        "pneumatics",
        &["공압", "에어실린더", "솔레노이드", "에어건"],
        &["pneumatic", "pneumatics", "solenoid", "air cylinder"],
    ),
    (
        "valve",
        &["밸브", "안전변", "스팀트랩", "체크변"],
        &["valve", "valves", "steam trap", "relief valve"],
    ),
    (
        "boiler",
        &["보일러", "스팀드럼", "버너", "굴뚝", "관수"],
        &["boiler", "burner", "boiler water", "steam drum", "chimney"],
    ),
    (
        "refrigeration",
        &["냉동기", "냉매", "에어컨", "냉각탑", "칠러"],
        &["refrigerant", "chiller", "air conditioner", "cooling tower", "hvac"],
    ),
    (
        "heat exchanger",
        &["열교환기", "스케일제거", "튜브번들"],
        &["heat exchanger", "tube bundle", "descaling"],
    ),
    ("turbine", &["터빈블레이드", "풍력", "발전기"], &["wind farm", "generator set", "nacelle"]),
    (
        "belt",
        &["벨트장력", "v벨트", "브이벨트", "벨트가찢", "벨트교체", "타이밍벨트"],
        &["v-belt", "belt tension", "belt tore", "timing belt", "splice", "spliced"],
    ),
    ("chain", &["체인늘", "체인장력", "스프로킷", "체인이"], &["chain", "chains", "sprocket"]),
    (
        "gear unit",
        &["백래시", "기어오일", "감속기오일", "기어유", "웜기어"],
        &["backlash", "gear oil", "gear tooth", "worm gear", "gear reducer oil"],
    ),
    (
        "impeller",
        &["임펠러깎", "임펠러가공", "토출밸브", "양정", "임펠러교체"],
        &["impeller trimming", "impeller", "valve plates", "pump head", "head curve"],
    ),
    (
        "electrical plant",
        &["변압기", "전기실", "차단기트립", "수배전", "절연유", "배전반", "접촉기", "계전기"],
        &["transformer", "switchgear", "circuit breaker", "contactor", "relay", "busbar"],
    ),
    (
        "winding",
        &["권선", "절연저항", "메가옴", "코일저항", "모터코일", "모타코일", "메가테스트"],
        &["winding", "windings", "insulation resistance", "megger", "rewind", "stator coil"],
    ),
    (
        "control system",
        &["plc", "래더", "통신이끊", "인터록", "hmi", "스카다", "근접센서", "근접스위치"],
        &["plc", "ladder logic", "hmi", "scada", "proximity switch", "input card", "profibus"],
    ),
    (
        "instrument calibration",
        &["교정주기", "압력계", "유량계", "성적서", "압력전송기", "4-20ma", "레벨계"],
        &[
            "pressure transmitter",
            "flow meter",
            "pressure gauge",
            "4-20",
            "level transmitter",
            "load cell",
        ],
    ),
    (
        "welding",
        &["용접봉", "용접할", "용접부", "용접사", "납땜", "절단기"],
        &["weld", "welding", "electrode", "solder", "brazing"],
    ),
    ("paint", &["도장", "페인트", "도막", "방청도료"], &["paint", "painting", "primer", "varnish"]),
    (
        "drawing",
        &["도면번호", "도면부여", "캐드", "설계도면"],
        &["drawing number", "cad file", "blueprint"],
    ),
    (
        "water treatment",
        &["폐수", "정수장", "약품투입", "수질", "침전"],
        &["wastewater", "sewage", "water treatment", "water chemistry", "effluent"],
    ),
    (
        "fire",
        &["소화기", "소방", "화재", "대피", "스프링클러"],
        &["fire extinguisher", "fire drill", "sprinkler", "evacuation", "assembly point"],
    ),
    (
        "injury",
        &["다친", "다쳤", "부상", "산재", "응급", "골절", "안전화", "보호구지급"],
        &["injury", "injured", "first aid", "hospital", "safety shoes", "ambulance"],
    ),
    (
        "health",
        &["감기", "두통", "병원", "약국", "체온", "다이어트", "혈압"],
        &["headache", "doctor", "medicine", "fever", "diet", "blood pressure"],
    ),
    (
        "pay and leave",
        &[
            "급여",
            "월급",
            "연봉",
            "수당",
            "보너스",
            "상여",
            "휴가",
            "연차",
            "연말정산",
            "퇴직",
            "승진",
            "출퇴근",
            "교대표",
            "세금",
        ],
        &[
            "salary",
            "payroll",
            "paid leave",
            "vacation",
            "bonus",
            "overtime pay",
            "promotion",
            "holiday",
            "tax",
            "taxes",
            "shift roster",
            "pension",
        ],
    ),
    (
        "licence",
        &["면허", "자격증", "수료증", "licence", "갱신"],
        &["licence", "license", "certificate renewal", "driving test"],
    ),
    (
        "meeting",
        &["회식", "회의실", "생일", "선물", "송년", "체육대회", "결혼"],
        &["birthday", "gift", "meeting room", "party", "wedding", "restaurant"],
    ),
    (
        "computer",
        &[
            "비밀번호",
            "비번",
            "로그인",
            "엑셀",
            "파이썬",
            "프린터",
            "와이파이",
            "이메일",
            "노트북",
            "컴퓨터",
            "핸드폰",
            "스마트폰",
            "계정",
        ],
        &[
            "password",
            "login",
            "excel",
            "python",
            "printer",
            "wifi",
            "wi-fi",
            "e-mail",
            "email",
            "laptop",
            "computer",
            "phone",
            "account",
            "spreadsheet",
            "website",
        ],
    ),
    (
        "weather",
        &["날씨", "비와", "비가오", "눈이온", "눈이오", "미세먼지", "태풍", "우산", "기온"],
        &["weather", "rain", "snow", "umbrella", "forecast", "sunny", "typhoon"],
    ),
    (
        "food",
        &[
            "점심",
            "저녁메뉴",
            "메뉴",
            "김치",
            "찌개",
            "라면을",
            "짜장",
            "짬뽕",
            "고기집",
            "고깃집",
            "맛집",
            "커피",
            "끓이",
            "요리",
            "레시피",
            "식당",
            "치킨",
            "밥을",
            "빵",
        ],
        &[
            "recipe",
            "lunch",
            "dinner",
            "breakfast",
            "pie",
            "chicken",
            "coffee",
            "cook",
            "roast",
            "pizza",
            "soup",
            "bread",
            "cake",
            "beer",
            "rice",
            "stew",
        ],
    ),
    (
        "sport",
        &[
            "축구",
            "야구",
            "월드컵",
            "경기결과",
            "몇대몇",
            "시리즈",
            "올림픽",
            "몇골",
            "농구",
            "골프",
        ],
        &[
            "football",
            "soccer",
            "baseball",
            "world cup",
            "basketball",
            "match score",
            "olympics",
            "golf",
            "tennis",
            "lakers",
        ],
    ),
    (
        "leisure",
        &["영화", "드라마", "노래", "여행", "비행기", "호텔", "게임", "소설", "콘서트"],
        &[
            "films",
            "movie",
            "song",
            "music",
            "flight",
            "hotel",
            "trip to",
            "game",
            "novel",
            "concert",
            "holiday trip",
        ],
    ),
    (
        "way and traffic",
        &["버스", "지하철", "기차", "고속도로", "서울에서", "역까지", "택시"],
        &["bus", "train station", "subway", "taxi", "airport", "traffic", "railway ticket"],
    ),
    (
        "money",
        &["주식", "환율", "대출", "금리", "은행", "코인", "부동산", "보험료"],
        &["stock market", "share price", "exchange rate", "loan", "mortgage", "bank account"],
    ),
    (
        "family and pets",
        &[
            "강아지",
            "고양이",
            "아이열",
            "아이가",
            "애데리고",
            "사료",
            "학교",
            "숙제",
            "아내",
            "남편",
        ],
        &["dog", "cat", "puppy", "kids", "children", "school", "homework", "wife", "husband"],
    ),
    (
        "household",
        &["빨래를", "세탁", "얼룩", "청소기", "화분", "이사", "셔츠"],
        &["laundry", "stain", "stains", "shirt", "vacuum cleaner", "garden", "furniture"],
    ),
    (
        "public affairs",
        &["대통령", "선거", "수도는", "인구는", "국회", "뉴스"],
        &["president", "election", "capital of", "population of", "parliament", "news"],
    ),
];

#[cfg(test)]
mod tests {
    use super::super::beyond::BEYOND;
    use super::super::topics;
    use super::TOPICS;

    fn names() -> Vec<&'static str> {
        TOPICS.iter().map(|topic| topic.0).chain(BEYOND.iter().map(|topic| topic.0)).collect()
    }

    fn named(text: &str) -> Vec<&'static str> {
        topics(&crate::words::fold(text)).into_iter().map(|at| names()[at]).collect()
    }

    #[test]
    fn a_topic_is_found_in_both_languages_and_not_inside_another_word() {
        assert_eq!(named("크레인 와이어로프 교체"), ["crane"]);
        assert_eq!(named("the crane rope"), ["crane"]);
        assert!(named("the outer race of a careful catalogue").is_empty());
    }

    #[test]
    fn few_shipped_chunks_name_a_topic_of_elsewhere() {
        let documents = crate::shipped::documents().expect("documents");
        let chunks: Vec<_> = documents.iter().flat_map(crate::chunk::cut).collect();
        let naming = chunks.iter().filter(|chunk| !named(&chunk.body()).is_empty()).count();
        assert!(naming * 3 <= chunks.len(), "{naming} of {}", chunks.len());
    }

    #[test]
    fn every_topic_has_a_name_of_its_own() {
        let mut names = names();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TOPICS.len() + BEYOND.len());
    }
}
