//! More topics that documents on bearings seldom treat, beside those of [`super::elsewhere`]: the trade's own
//! (makers' codes, other bearings and guides, what a catalogue says), parts of machines around a bearing, the
//! plant, and everyday life.
//!
//! General vocabulary of catalogues, maintenance shops and daily news, listed by the groups that such books
//! have and checked against the questions with an answer, of which it may name few. As in `elsewhere`, a group
//! is small, so that a document that treats it clears that one alone. A Korean stem of two syllables is left out
//! where usual words have it inside (비계 in 비계획, 장인 in 고장인지, 척을 in 세척을).

/// The topics: a name, Korean stems and English words, each list parted by ", ".
pub(crate) const BEYOND: &[(&str, &str, &str)] = &[
    // what makers and catalogues say of a bearing
    (
        "dealer",
        "대리점, 전화번호, 연락처, 영업사원, 납품업체, 거래처, 구입처",
        "dealer, distributor, phone number, sales rep, where to buy, reseller",
    ),
    (
        "warranty",
        "보증기간, 무상수리, 환불, 반품, 클레임",
        "warranty, refund, guarantee period, return policy",
    ),
    (
        "date code",
        "제조연월, 제조일자, 생산일자, 로트번호, 일련번호, 시리얼, 원산지",
        "date code, serial number, lot number, country of origin, made in, engraved code",
    ),
    (
        "part suffix",
        "접미사, 접두사, 품번, 호칭번호, 호환품, 대체품, 동등품",
        "prefix, cross reference, interchange, equivalent part",
    ),
    ("counterfeit", "위조, 가짜, 모조", "counterfeit, fake, knock-off"),
    (
        "material",
        "경도가, 경도는, 경도를, 로크웰, 열처리, 침탄, 담금질, 강종, 크롬강, 합금",
        "hardness, hrc, rockwell, vickers, heat treatment, hardening, tempering, \
         case hardened, 52100, steel grade, alloy, stainless, carburising, nitriding",
    ),
    (
        "speed rating",
        "한계속도, 허용회전수, 최고회전수, 한계회전, dn값",
        "speed limit, limiting speed, reference speed, dn value, max rpm, maximum rpm",
    ),
    (
        "washing",
        "세척제, 세척유, 솔벤트, 등유로, 초음파세척, 석유로",
        "solvent, kerosene, degreaser, paraffin, thinner, ultrasonic bath, wash out",
    ),
    (
        "reconditioning",
        "재생베어링, 재연마, 재제작",
        "remanufacture, remanufactured, reground, regrinding, refurbish, refurbished",
    ),
    (
        "oil grade",
        "점도등급, 점도지수, iso vg, vg46, vg68, vg220, 점도가, 점도는, 유욕, 오일미스트",
        "viscosity, iso vg, vg 32, vg 46, vg 68, vg 220, oil mist, oil bath, base oil, nlgi",
    ),
    (
        "mounted unit",
        "ucp, ucf, ucfl, 필로우블록, 필로블록, 유니트베어링, 유닛베어링, 플랜지유닛",
        "ucp, ucf, ucfl, mounted unit, flange unit, take-up unit, insert bearing",
    ),
    (
        "linear motion",
        "리니어, lm가이드, 엘엠가이드, 볼스크류, 볼나사, 직선운동, 가이드레일, 볼부시",
        "ball screw, ballscrew, lead screw, guide rail, linear guide, ball bushing",
    ),
    (
        "slewing ring",
        "선회베어링, 슬루잉, 턴테이블, 선회링",
        "slewing, turntable, slew ring, slew bearing",
    ),
    (
        "needle and tapered",
        "니들베어링, 니들롤러, 테이퍼롤러, 원추롤러, 캠팔로, 캠롤러, 로드엔드, 구면활주",
        "needle roller, needle bearing, tapered roller, cam follower, rod end, \
         one-way clutch, freewheel",
    ),
    ("preload", "예압, 배면조합, 정면조합", "preload, back-to-back, face-to-face, matched pair"),
    (
        "bush",
        "부싱, 부시를, 부쉬, 무급유, 건메탈",
        "bushing, bushings, bronze, self-lubricating, white metal, oilless",
    ),
    (
        "sleeve",
        "어댑터슬리브, 해체슬리브, 슬리브치수",
        "adapter sleeve, withdrawal sleeve, wear sleeve, speedi-sleeve",
    ),
    (
        "grease make",
        "리튬, 폴리우레아, 식품용, 적점, 그리스색, 모빌, 쉘그리스",
        "lithium, polyurea, food grade, food-grade, dropping point, mobil, shell gadus, \
         castrol, grease colour, shelf life of grease",
    ),
    (
        "load capacity",
        "정정격, 동정격, 등가하중, 안전율, 허용경사각",
        "static load, dynamic load rating, equivalent load, safety factor, load capacity, \
         tilt angle, slew angle",
    ),
    (
        "surface finish",
        "표면조도, 거칠기, 가우스",
        "roughness, surface finish, gauss, plating thickness",
    ),
    ("seal material", "바이톤, 니트릴, 테프론", "viton, nbr, ptfe, teflon, nitrile"),
    (
        "shaft repair",
        "육성용접, 용사코팅, 크롬도금, 축교정, 축제작",
        "metal spraying, metal spray, chrome plating, straightening, weld build-up, \
         new shaft made",
    ),
    (
        "balancing",
        "밸런싱머신, 시험추, 밸런싱웨이트, 다이나믹발란스",
        "trial weight, balancing machine, balancing weight, g2.5, g6.3, balance grade",
    ),
    (
        "foundation",
        "앵커볼트, 그라우팅, 기초공사, 콘크리트",
        "grout, grouting, anchor bolt, anchor bolts, snl",
    ),
    (
        "other machines with bearings",
        "허브베어링, 휠허브, 터보차저, 크랭크, 선박, 프로펠러, 철도차량, 풍력, 드럼세탁기, 자전거허브, 스케이트, 킥보드, 선풍기",
        "wheel hub, turbocharger, crankshaft, propeller, stern tube, railway, locomotive, \
         wind turbine, wind turbines, skateboard, bicycle hub, bottom bracket, alternator, \
         ceiling fan, fishing reel, dental, aircraft, jet engine",
    ),
    (
        "other methods of monitoring",
        "부분방전, 전류분석, 스트로보, 페로그래피, 누설탐지",
        "thermography, partial discharge, motor current signature, mcsa, stroboscope, \
         strobe, ferrography, leak detection",
    ),
    (
        "instrument details",
        "바이어스전압, 무선센서배터리, 교정성적서, 센서교정, 자석마운트, 스터드",
        "iepe, bias voltage, calibrate, calibrated, calibration certificate, stud mount, \
         magnet mount, wireless sensor, iso 18436",
    ),
    (
        "motor ratings",
        "방폭, 효율등급, 프레임번호, 프리미엄효율",
        "atex, explosion-proof, explosion proof, ie3, frame size, efficiency class",
    ),
    (
        "waste",
        "폐유, 폐기물, 분리수거, 재활용, 고철값",
        "waste oil, dispose, disposal, recycle, recycling, scrap price, landfill",
    ),
    (
        "audits",
        "인증서, 품질경영, 환경경영",
        "iso 9001, iso 14001, audit, auditor, certification body",
    ),
    (
        "stock system",
        "자재번호, 재고실사, 최소재고, 바코드",
        "sap, erp, stock code, minimum stock, stocktaking, goods receipt",
    ),
    ("permits", "작업허가, 화기작업, 허가서", "hot work, work permit, permit to work, fire watch"),
    // parts of machines around a bearing
    (
        "shaft seal",
        "메카니칼씰, 메카니컬씰, 기계식씰, 미케니컬, 그랜드패킹, 글랜드, 오링규격, 립씰",
        "mechanical seal, gland packing, stuffing box, seal faces, seal flush, lip seal",
    ),
    (
        "gasket",
        "가스켓, 가스킷, 액상, 록타이트, 접착제, 실리콘을",
        "gasket, gaskets, sealant, loctite, adhesive, threadlocker, glue, epoxy",
    ),
    (
        "flange and pipe",
        "플랜지, 배관보온, 신축이음, 엘보, 니플규격",
        "flange, flanges, elbow, pipe support, expansion joint",
    ),
    (
        "thread",
        "나사산, 탭을, 탭작업, 헬리코일, 볼트규격, 볼트등급, 몇미리로내",
        "thread pitch, tap drill, drill size, helicoil, bolt grade, stripped thread",
    ),
    (
        "key and spline",
        "키홈, 스플라인, 키웨이, 평행키",
        "keyway, spline, splines, woodruff, parallel key, shear pin",
    ),
    (
        "belt and pulley",
        "벨트, 벨트텐션",
        "belts, v-belts, pulley, pulleys, sheave, sheaves, idler, drive belt, belt",
    ),
    (
        "coupling insert",
        "커플링고무, 커플링엘레멘트, 유체커플링, 스파이더",
        "coupling insert, coupling spider, fluid coupling, elastomer insert, grid coupling",
    ),
    (
        "brake and clutch",
        "브레이크, 클러치, 라이닝",
        "brake, brakes, clutch, brake pad, brake lining, brake pads",
    ),
    (
        "gear wear",
        "기어마모, 피팅마모, 기어비, 감속비, 기어교체, 이뿌리",
        "gear ratio, tooth pitting, pinion, helical, bevel gear, planetary, backlash",
    ),
    (
        "gearbox oil",
        "감속기오일, 기어오일, 감속기기름, 기어박스오일, 감속기윤활유, 오일레벨",
        "gearbox oil, oil change, oil level, sight glass, dipstick, breather, oil filter, \
         oil cooler, oil pump, gear oil",
    ),
    (
        "pump hydraulics",
        "토출량, 프라이밍, 마중물, 펌프성능, 체절, 웨어링",
        "priming, dead head, pump curve, wear ring, diaphragm pump, dosing pump, \
         submersible, volute, self-priming",
    ),
    (
        "fan blades",
        "블레이드, 댐퍼, 풍량, 덕트, 백필터, 여과포, 필터백, 날개각도",
        "damper, ductwork, duct, filter bag, filter bags, air flow, airflow, blade angle",
    ),
    (
        "compressor parts",
        "드라이어, 이슬점, 압축공기, 에어탱크, 피스톤링, 언로더, 애프터쿨러, 에어필터",
        "air dryer, dew point, receiver tank, piston ring, piston rings, unloader, \
         aftercooler, air filter, compressed air, refrigerant dryer, air receiver",
    ),
    (
        "conveyor parts",
        "컨베이어벨트, 아이들러, 벨트사행, 스크레이퍼, 벨트이음, 호퍼, 버킷",
        "conveyor belt, idlers, belt tracking, belt scraper, hopper, bucket elevator, \
         screw conveyor",
    ),
    (
        "motor electrics",
        "절연등급, f종, h종, b종, 명판, 코일, 기동전류, 정격전류, 과전류, 역률, 결선, 와이델타, 카본브러시, 정류자, 회전자봉, 콘덴서, \
         삼상, eocr",
        "insulation class, nameplate, starting current, rated current, power factor, \
         star delta, star-delta, carbon brushes, carbon brush, commutator, slip ring, \
         rotor bar, rotor bars, capacitor, single phase, three phase, phase loss, \
         overcurrent, soft starter, coil",
    ),
    (
        "drive parameters",
        "파라미터, 에러코드, 가감속시간, 캐리어주파수, 회생저항, e-stop",
        "error code, fault code, ramp time, carrier frequency, braking resistor, servo, \
         encoder, firmware",
    ),
    (
        "electrical supply",
        "퓨즈, 절연저항, 멀티미터, 테스터기, 전선굵기, 케이블트레이, 무정전, 배터리, 콘센트, 형광등, 조명",
        "fuse, fuses, earth leakage, multimeter, cable tray, wire gauge, battery, batteries, \
         charger, light bulb, lighting, wiring diagram, voltage drop",
    ),
    (
        "instruments",
        "열전대, 써모커플, 온도조절기, 레벨센서, 압력스위치, pt100, 로드셀, 리미트스위치",
        "thermocouple, pt100, rtd, flowmeter, level sensor, pressure switch, limit switch, \
         photo eye, barcode, scanner, infrared camera, thermal camera, ph meter",
    ),
    (
        "machining",
        "선반가공, 밀링, 절삭유, 바이트, 엔드밀, 연삭, 숫돌, 머시닝센터, 금형, 사출",
        "lathe, milling, drill bit, drill bits, coolant, cutting fluid, end mill, grinder, \
         grinding wheel, chuck, insert tip, mould, injection moulding, stamping die, \
         spindle nose, tool holder",
    ),
    (
        "press",
        "프레스유, 프레스금형, 프레스기, 슬라이드조정, 유압유, 유압프레스",
        "hydraulic press, press brake, ram stroke",
    ),
    (
        "lifting gear",
        "후크, 리프팅, 줄걸이, 하중표, 아이볼트, 타워크레인, 고소작업, 사다리",
        "lifting eye, eye bolt, eyebolt, lift truck, scaffold, scaffolding, ladder, \
         tower crane, winch, cherry picker",
    ),
    (
        "tanks and vessels",
        "탱크청소, 저장탱크, 압력용기, 사일로, 맨홀, 밀폐공간",
        "storage tank, pressure vessel, silo, manhole, confined space, relief disc",
    ),
    (
        "process",
        "반응기, 증류, 원료투입, 배합, 수율, 불량률, 염산, 가성소다, 촉매",
        "reactor, distillation, batch recipe, yield, scrap rate, acid, caustic, catalyst",
    ),
    (
        "building",
        "지붕, 화장실, 하수구, 천장, 바닥재, 에폭시, 난방, 냉방",
        "roof, toilet, ceiling, floor tiles, carpet, radiator, gutter",
    ),
    // the plant's people and papers
    (
        "safety gear",
        "안전화, 안전모, 보호구, 귀마개, 방진마스크, 마스크, 작업복, 장갑지급, 안전벨트, 보안경, 지게차면허",
        "safety shoes, hard hat, helmet, ear plugs, earplugs, dust mask, respirator, \
         safety glasses, goggles, coveralls, overalls, uniform, harness, ppe, boots",
    ),
    (
        "training",
        "교육일정, 교육신청, 안전교육, 신입사원, 수료, 자격시험",
        "training course, induction, new starters, exam, apprenticeship, e-learning, \
         certificate",
    ),
    (
        "administration",
        "결재, 경비처리, 법인카드, 구매요청, 계약서, 인사팀, 총무, 근로계약, 회의록, 출입증, 사원증",
        "expense, expenses, purchase order, budget, contract, human resources, badge, \
         visitor, meeting minutes, approval form",
    ),
    (
        "working time",
        "야근, 잔업, 교대근무, 근무표, 퇴근, 출근, 조퇴, 병가, 쉬는날, 공휴일",
        "overtime, day off, sick leave, clock in, public holiday, rota, working hours",
    ),
    (
        "canteen and bus",
        "구내식당, 반찬, 통근버스, 셔틀, 주차장, 주차권, 기숙사, 사물함, 휴게실, 흡연, 자판기, 샤워",
        "canteen, cafeteria, shuttle, car park, locker, break room, smoking, \
         vending machine, dormitory, shower",
    ),
    (
        "insurance and law",
        "산재보험, 실업급여, 소송, 변호사, 벌금, 과태료, 국민연금, 건강보험",
        "lawyer, lawsuit, unemployment, insurance, compensation claim",
    ),
    // everyday life
    (
        "body",
        "무릎, 허리가, 허리통증, 어깨, 치과, 치아, 기침, 콧물, 알레르기, 감기약, 두드러기, 불면, 백신, 진통제, 근육통, 체중, 헬스장, \
         임신",
        "knee, back pain, shoulder, tooth, toothache, dentist, cough, flu, allergy, sleep, \
         insomnia, vaccine, painkiller, painkillers, muscle pain, lose weight, gym, \
         pregnant, stomach, sore throat, vitamin, vitamins, calories, yoga, haircut",
    ),
    (
        "kitchen",
        "계란, 달걀, 삼겹살, 불고기, 된장, 고추장, 떡볶이, 국수, 냉면, 비빔, 소주, 맥주, 와인, 과일, 사과를, 감자, 양파, 마늘, 설탕, \
         냉장고, 전자레인지, 에어프라이어, 프라이팬, 밥솥, 배달음식, 편의점, 디저트, 도시락, 저녁뭐, 삶는",
        "egg, eggs, pasta, noodles, noodle, potato, potatoes, onion, onions, garlic, sugar, \
         flour, butter, cheese, milk, salad, sauce, wine, tea, apple, apples, fruit, banana, \
         fridge, freezer, microwave, oven, frying pan, kettle, steak, burger, beef, pork, \
         curry, sandwich, chocolate, dessert, snack, barbecue, meal, cafe, bake, baking",
    ),
    (
        "sky and season",
        "영하로, 영상몇도, 소나기, 장마는, 황사, 폭염, 한파, 일출, 일몰, 단풍, 벚꽃, 지진, 첫눈, 추석, 설날, 크리스마스",
        "sunrise, sunset, cloudy, heatwave, freezing tomorrow, earthquake, moon, planet, \
         star sign, christmas, easter, halloween, thunder, hurricane",
    ),
    (
        "home electronics",
        "블루투스, 이어폰, 헤드폰, 텔레비전, 티비, 리모컨, 세탁기, 공유기, 충전기, 카카오톡, 유튜브, 넷플릭스, 인스타, 게임기, 아이폰, 갤럭시, \
         앱을, 사진을백업",
        "bluetooth, earphone, earphones, earbuds, headphones, headphone, tv, television, \
         remote control, washing machine, router, youtube, netflix, instagram, iphone, \
         android, app, smartphone, tablet, dishwasher, vacuum, playstation, podcast, \
         whatsapp, selfie",
    ),
    (
        "sport and play",
        "수영, 마라톤, 등산, 자전거, 낚시, 캠핑, 손흥민, 류현진, 배드민턴, 탁구, 스키장, 로또, 바둑, 골넣, 결승전, 몇대몇으로",
        "swim, swimming, pool, marathon, hiking, bicycle, bike, cycling, fishing, camping, \
         badminton, bowling, lottery, chess, poker, goal, league, cup final, olympic, ski, \
         skiing, rugby, cricket, stadium, champion, season ticket, marathon time",
    ),
    (
        "travel",
        "공항, 항공권, 여권, 숙소, 제주도, 해외여행, 고속버스, ktx, 기차표, 렌터카, 몇시차",
        "visa, passport, airbnb, suitcase, luggage, jet lag, train to, bus to, tourist, \
         beach, rental car, cheapest way, flights",
    ),
    (
        "culture and words",
        "배우가, 아이돌, 영어로뭐, 번역해, 맞춤법, 한자로, 소설가, 웹툰, 책추천, 피아노, 기타를배",
        "actor, actress, singer, translate, spelling, grammar, poem, poet, writer, \
         painting by, museum, piano, guitar, lyrics, tv series, cartoon, joke, horoscope, \
         wikipedia",
    ),
    (
        "science at school",
        "광합성, 공룡, 태양계, 원소기호, 미분, 적분, 인공지능, 블랙홀, 세계에서가장",
        "dinosaur, dinosaurs, photosynthesis, solar system, black hole, algebra, calculus, \
         square root, periodic table, tallest, largest country, speed of light, chatgpt, \
         kilometre, kilometres, kilometer, miles",
    ),
    (
        "car and home repair",
        "엔진오일, 타이어, 와이퍼, 자동차보험, 중고차, 전기차, 내비, 오토바이, 보일러고장, 도배, 전세, 월세, 이삿짐",
        "engine oil, wiper, wipers, car wash, used car, electric car, motorcycle, motorbike, \
         scooter, spark plug, driveway, lawn, mower, rent, landlord, wallpaper, curtains, \
         sofa, mattress, bathroom, kitchen",
    ),
    (
        "shopping and clothes",
        "옷을, 신발, 운동화, 할인쿠폰, 쿠팡, 택배, 배송조회, 백화점, 화장품, 향수, 안경을",
        "shoe size, sneakers, coupon, delivery tracking, parcel, supermarket, perfume, \
         make-up, jacket, dress, trousers, jeans, sweater, amazon, ebay, mall",
    ),
    (
        "people and pets",
        "아기, 유치원, 결혼식, 남자친구, 여자친구, 시어머니, 부모님, 딸이, 햄스터, 금붕어, 강아지, 친구가",
        "baby, toddler, nursery, girlfriend, boyfriend, mother, father, parents, daughter, \
         son, hamster, goldfish, friend, friends, kid",
    ),
];
