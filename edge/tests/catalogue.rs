//! Claims about the shipped catalogue, its names and its estimates.

use std::path::Path;

use pdm_dsp::Geometry;
use pdm_edge::catalogue::{Basis, Bearing, Catalogue, Dimensions, Family, Size};
use pdm_shared::fault::Fault;

/// Least of a race order that makers' roundings hide, ratio.
const ROUNDING: f64 = 2e-3;

fn ids_of(families: &[&str]) -> usize {
    let is_in = |b: &&Bearing| b.family.as_deref().is_some_and(|family| families.contains(&family));
    Catalogue::built_in().bearings().iter().filter(is_in).count()
}

/// Issue 35, point 7: the series that motors, pumps and fans have.
#[test]
fn the_catalogue_has_more_than_300_bearings_of_the_usual_series() {
    let catalogue = Catalogue::built_in();
    assert!(catalogue.bearings().len() >= 300, "{}", catalogue.bearings().len());
    for (families, least) in [
        (&["60"][..], 20),
        (&["62"], 20),
        (&["63"], 20),
        (&["22"], 30),
        (&["NU"], 30),
        (&["72A", "72B", "72C"], 60),
        (&["73A", "73B"], 40),
        (&["3"], 70),
        (&["UC2", "UC3"], 20),
    ] {
        assert!(ids_of(families) >= least, "{families:?}: {}", ids_of(families));
    }
    let words: Vec<&str> = catalogue.bearings().iter().map(|b| b.basis.word()).collect();
    let count = |word: &str| words.iter().filter(|w| **w == word).count();
    println!(
        "{} bearings: {} published, {} derived, {} estimated",
        words.len(),
        count("published"),
        count("derived"),
        count("estimated")
    );
}

/// R-EDGE-3 names the 22210.
#[test]
fn the_22210_is_there_as_an_estimate_and_says_so() {
    let catalogue = Catalogue::built_in();
    let bearing = catalogue.find("SKF 22210 EK/C3").expect("there");
    let estimate = bearing.estimate().expect("an estimate");
    assert_eq!((bearing.id.as_str(), bearing.basis.word()), ("22210", "estimated"));
    assert!((estimate.order_tolerance - 0.13).abs() < 1e-12 && estimate.searched() <= 0.1);
    assert!((17..=21).contains(&bearing.geometry.expect("estimated").elements));
}

/// R-EDGE-3. The sum of the race orders is the number of elements.
#[test]
fn the_race_orders_of_every_bearing_add_up_to_its_elements() {
    for bearing in Catalogue::built_in().bearings() {
        let orders = bearing.orders;
        let sum = orders.bpfo.get() + orders.bpfi.get();
        let elements = bearing.geometry.map_or(sum.round(), |d| f64::from(d.elements));
        // printed orders are rounded to three decimals
        assert!((sum - elements).abs() < 0.005, "{}: {sum}", bearing.id);
        assert!(orders.is_consistent(), "{}", bearing.id);
    }
}

#[test]
fn published_orders_follow_from_the_geometry() {
    let catalogue = Catalogue::built_in();
    for (id, bpfo, bpfi, bsf, ftf) in [
        ("6205", 3.5848, 5.4152, 2.3567, 0.3983),
        ("6203", 3.0530, 4.9469, 1.994, 0.3817),
        ("ZA-2115", 7.0921, 8.9079, 4.1975, 0.4433),
        ("NICE", 3.245, 4.755, 2.5546, 0.4056),
        ("PRONOSTIA", 5.611, 7.389, 3.589, 0.4316),
        ("ER-16K", 3.572, 5.428, 2.32, 0.3969),
    ] {
        let orders = catalogue.find(id).expect(id).orders;
        for (got, expected) in
            [(orders.bpfo, bpfo), (orders.bpfi, bpfi), (orders.bsf, bsf), (orders.ftf, ftf)]
        {
            // published to three or four digits
            assert!((got.get() / expected - 1.0).abs() < ROUNDING, "{id}: {got} {expected}");
        }
    }
}

/// The balls that CWRU prints for its bearings are those that the ratings of two makers give.
#[test]
fn ratings_give_the_balls_that_data_sets_print() {
    for (rating_kn, f0, printed) in [(7.85, 13.9, (9.0, 7.940)), (4.8, 13.2, (8.0, 6.746))] {
        let (elements, ball_mm) = printed;
        let by_balls_kn = f0 * elements * ball_mm * ball_mm / 1e3;
        assert!((by_balls_kn / rating_kn - 1.0_f64).abs() < 0.01, "{by_balls_kn} {rating_kn}");
    }
}

/// ISO 76: C0r = f0 Z Dw². The ratings are rounded to three digits or half a kilonewton.
#[test]
fn derived_balls_give_the_load_rating_that_their_source_names() {
    let number = |text: &str, after: &str| -> f64 {
        let rest = text.split(after).nth(1).expect(after);
        let word = rest.split([' ', ';']).next().expect(after);
        word.parse().expect(word)
    };
    let catalogue = Catalogue::built_in();
    let is_derived = |b: &&Bearing| b.basis == Basis::Derived && b.source.contains("f0 ");
    let derived: Vec<&Bearing> = catalogue.bearings().iter().filter(is_derived).collect();
    assert!(derived.len() >= 90, "{}", derived.len());
    for bearing in derived {
        let size = bearing.geometry.expect("a geometry");
        let (rating_kn, f0) = (number(&bearing.source, "C0r "), number(&bearing.source, "f0 "));
        let by_balls = f0 * f64::from(size.elements) * size.element_diameter_mm.powi(2) / 1e3;
        let off = by_balls / rating_kn - 1.0;
        assert!(off.abs() < 0.01, "{}: {by_balls} kN of {rating_kn}", bearing.id);
        let pitch =
            f64::midpoint(number(&bearing.source, "bore "), number(&bearing.source, "outside "));
        assert!((size.pitch_diameter_mm - pitch).abs() < 1e-9, "{}", bearing.id);
    }
}

/// Two makers give the 6209 another number of balls: both are there, and each says so.
#[test]
fn what_makers_build_differently_has_an_entry_for_each() {
    let catalogue = Catalogue::built_in();
    let balls = |name: &str| {
        let bearing = catalogue.find(name).expect(name);
        (bearing.geometry.expect("derived").elements, bearing.note.is_some())
    };
    assert_eq!(balls("6209"), (10, true));
    assert_eq!(balls("NSK 6209ZZ"), (10, true));
    assert_eq!(balls("Koyo 6209-2RS"), (9, true));
}

#[test]
fn a_name_is_found_however_it_is_typed() {
    let catalogue = Catalogue::built_in();
    for (name, id) in [
        ("za2115", "ZA-2115"),
        ("Rexnord ZA-2115", "ZA-2115"),
        ("ZA 2115", "ZA-2115"),
        ("6205-2RS1/C3", "6205"),
        ("SKF 6205-2RSH/C3", "6205"),
        ("6205ZZ", "6205"),
        ("6205 2Z", "6205"),
        ("NTN 6205LLU/5K", "6205"),
        ("6205LLUC3/L627", "6205"),
        ("NSK 6205DDUCM", "6205"),
        ("6205VVCMNS7S5", "6205"),
        ("FAG 6205-2RSR-C3", "6205"),
        ("6205 TN9/C4", "6205"),
        ("6205NR", "6205"),
        ("6205/P6", "6205"),
        ("skf6308-2z/c3", "6308"),
        ("6205-2RSH/C3GJN", "6205"),
        ("NU 205 ECP", "NU205E"),
        ("NU205-E-TVP2", "NU205E"),
        ("NU205EW", "NU205E"),
        ("NU205R", "NU205E"),
        ("NJ 205 ECP/C3", "NU205E"),
        ("22210 EK", "22210"),
        ("22210EAE4", "22210"),
        ("22210 CC/W33", "22210"),
        ("22210-E1-K", "22210"),
        ("NTN 22210EAKD1", "22210"),
        ("22210RHRK", "22210"),
        ("UCP205", "UC205"),
        ("UCFL 205-D1", "UC205"),
        ("FYH UCF208", "UC208"),
        ("7206 BEP", "7206B"),
        ("7206-B-TVP", "7206B"),
        ("SKF 7206 BECBP", "7206B"),
        ("7206C", "7206C"),
        ("30206 J2/Q", "30206"),
        ("HR30206J", "30206"),
        ("4T-30206", "30206"),
        ("32008X", "32008"),
        ("32008 XJ", "32008"),
    ] {
        match catalogue.find(name) {
            Ok(bearing) => assert_eq!(bearing.id, id, "{name}"),
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

/// A slip is answered with what is near, and never taken for another bearing.
#[test]
fn a_slip_is_answered_with_suggestions() {
    let catalogue = Catalogue::built_in();
    for (slip, near) in [
        ("6502", "6205"),
        ("62O5", "6205"),
        ("6205 2RX", "6205"),
        ("6250", "6205"),
        ("UCP25", "UC205"),
        ("NU 25 ECP", "NU205E"),
        ("22201", "22210"),
        ("7206", "7206B"),
        ("7206 AC", "7206A"),
    ] {
        let error = catalogue.find(slip).expect_err(slip).to_string();
        let near_words = error.split("near are ").nth(1).expect("suggestions");
        let near_words = near_words.split(';').next().expect("a list");
        assert!(near_words.split(", ").any(|id| id == near), "{slip}: {error}");
        assert!(error.contains(&format!("{slip:?}")), "{error}");
    }
    let error = catalogue.find("6205 2RX").expect_err("no suffix").to_string();
    assert!(error.contains("the suffix \"2RX\" is not understood"), "{error}");
}

/// A suffix that changes the rolling elements is not passed over.
#[test]
fn a_suffix_that_changes_the_rolling_elements_is_refused() {
    let catalogue = Catalogue::built_in();
    for name in [
        "6205R",  // Koyo: more and other balls
        "30305D", // steep angle
        "HR30305DJ",
        "32208-B",
        "30206C",
        "7205 A5",
        "7205 ACD/P4A",
        "7205 C3", // clearance without an angle
        "RNU205",
        "NU205", // the older design has other rollers
        "NJ 205/C3",
        "KOYO NU205",
        "N",
        "",
        "베어링",
    ] {
        assert!(catalogue.find(name).is_err(), "{name}");
    }
}

/// The tolerance of the families' formula: every ball bearing of 20 mm bore and more with a known
/// geometry is estimated with constants from the others of its series.
#[test]
fn an_estimate_keeps_its_tolerance_on_ball_bearings_left_out() {
    let catalogue = Catalogue::built_in();
    let (mut by_section, mut by_size) = (Vec::new(), Vec::new());
    for name in ["60", "62", "63", "UC2", "UC3", "72A", "72B", "72C", "73A", "73B"] {
        let of_family = |b: &&Bearing| {
            b.family.as_deref() == Some(name) && b.size.is_some_and(|size| size.bore_mm >= 20.0)
        };
        let all: Vec<&Bearing> = catalogue.bearings().iter().filter(of_family).collect();
        for (at, bearing) in all.iter().enumerate() {
            let others = all.iter().enumerate().filter(|(other, _)| *other != at);
            let family = fitted(others.map(|(_, other)| *other));
            let (size, known) = (bearing.size.expect("given"), bearing.geometry.expect("known"));
            by_section.push(off(&family.estimate(size).expect("a bearing"), bearing));
            let inner_raceway_mm = Some(known.pitch_diameter_mm - known.element_diameter_mm);
            by_size.push(off(
                &family.estimate(Size { inner_raceway_mm, ..size }).expect("a bearing"),
                bearing,
            ));
        }
    }
    for (what, errors, tolerance) in
        [("by the section", &mut by_section, 0.13), ("by the element's size", &mut by_size, 0.09)]
    {
        errors.sort_by(f64::total_cmp);
        let share = |q: f64| 100.0 * errors[(q * (errors.len() - 1) as f64) as usize];
        println!(
            "estimate {what}, {} bearings left out: median {:.1} %, 90 % within {:.1} %, 95 % \
             within {:.1} %, worst {:.1} %",
            errors.len(),
            share(0.5),
            share(0.9),
            share(0.95),
            share(1.0)
        );
        let within = errors.iter().filter(|error| **error <= tolerance).count() as f64;
        assert!(within >= 0.95 * errors.len() as f64, "{what}: {within} of {}", errors.len());
    }
}

/// The entries that the families of rollers are fitted on lie within the stated tolerance.
#[test]
fn published_roller_bearings_lie_within_the_tolerance_of_their_family() {
    let catalogue = Catalogue::built_in();
    for family in catalogue.families() {
        let bearing = catalogue.find(&family.fitted_on).expect("there");
        assert_eq!(bearing.basis, Basis::Published, "{}", bearing.id);
        let estimate = family.estimate(bearing.size.expect("given")).expect("a bearing");
        let off = off(&estimate, bearing);
        println!("{} of family {}: {:.1} % off", bearing.id, family.name, 100.0 * off);
        assert!(off <= family.order_tolerance, "{}: {off}", bearing.id);
    }
}

/// The constants of the formula as medians over bearings.
fn fitted<'a>(bearings: impl Iterator<Item = &'a Bearing>) -> Family {
    let (mut offsets, mut shares, mut fillings) = (Vec::new(), Vec::new(), Vec::new());
    for bearing in bearings {
        let (size, known) = (bearing.size.expect("given"), bearing.geometry.expect("known"));
        let section_mm = (size.outside_mm - size.bore_mm) / 2.0;
        let mean_mm = f64::midpoint(size.bore_mm, size.outside_mm);
        let circle_mm = std::f64::consts::PI * known.pitch_diameter_mm;
        offsets.push((known.pitch_diameter_mm - mean_mm) / section_mm);
        shares.push(known.element_diameter_mm / section_mm);
        fillings.push(f64::from(known.elements) * known.element_diameter_mm / circle_mm);
    }
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Family {
        name: "fitted".to_owned(),
        pitch_offset: median(&mut offsets),
        element_share: Some(median(&mut shares)),
        filling: median(&mut fillings),
        order_tolerance: 0.0,
        fitted_on: String::new(),
    }
}

/// The largest error of an estimate's orders.
fn off(estimate: &Dimensions, bearing: &Bearing) -> f64 {
    let Dimensions { elements, element_diameter_mm, pitch_diameter_mm, contact_angle_deg } =
        *estimate;
    let orders = Geometry::new(elements, element_diameter_mm, pitch_diameter_mm, contact_angle_deg)
        .expect("a bearing")
        .orders();
    Fault::ALL
        .into_iter()
        .map(|fault| (orders.of(fault).get() / bearing.orders.of(fault).get() - 1.0).abs())
        .fold(0.0, f64::max)
}

#[test]
fn an_own_file_adds_and_replaces_and_may_use_a_family() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("own.toml");
    let text = "[[bearing]]\nid = \"6205\"\nelements = 10\nelement_diameter_mm = 7.0\n\
                pitch_diameter_mm = 39.0\nsource = \"drawing 4711\"\n\
                [[bearing]]\nid = \"22232 X\"\nfamily = \"22\"\nbore_mm = 160\noutside_mm = 290\n\
                contact_angle_deg = 9.8\nsource = \"catalogue\"\n";
    std::fs::write(&path, text).expect("written");
    let catalogue = Catalogue::with(&path).expect("valid");
    assert_eq!(catalogue.find("6205").expect("there").source, "drawing 4711");
    assert_eq!(catalogue.find("SKF 6205-2RS").expect("there").source, "drawing 4711");
    assert_eq!(catalogue.find("22232X").expect("there").basis.word(), "estimated");
    assert_eq!(catalogue.bearings().len(), Catalogue::built_in().bearings().len() + 1);
}

#[test]
fn an_entry_that_cannot_be_is_refused_by_name() {
    let refused = |entry: &str| {
        let text = format!("[[bearing]]\nid = \"x\"\nsource = \"s\"\n{entry}");
        Catalogue::parse(Path::new("b.toml"), &text).expect_err(entry).to_string()
    };
    let both = "elements = 9\nelement_diameter_mm = 8.0\npitch_diameter_mm = 39.0\n\
                orders = { bpfo = 3.5, bpfi = 5.4, bsf = 2.3, ftf = 0.4 }";
    for entry in [
        "",
        both,
        "elements = 9",
        "elements = 2\nelement_diameter_mm = 8.0\npitch_diameter_mm = 39.0",
        "family = \"62\"\nbore_mm = 25\noutside_mm = 52",
        "family = \"62\"\nbore_mm = 25",
        "family = \"62\"\nbore_mm = 52\noutside_mm = 25",
        "bore_mm = 25\noutside_mm = 52",
        "basis = \"derived\"\nfamily = \"62\"\nbore_mm = 25\noutside_mm = 52",
    ] {
        let error = refused(entry);
        assert!(error.contains("bearing \"x\""), "{error}");
    }
    assert!(refused("balls = 9").contains("b.toml:4"), "{}", refused("balls = 9"));
    assert!(
        refused("basis = \"guessed\"").contains("b.toml:4"),
        "{}",
        refused("basis = \"guessed\"")
    );
    let family = "[[family]]\nname = \"f\"\nfilling = 2.0\norder_tolerance_percent = 5\n\
                  fitted_on = \"x\"\n";
    let error = Catalogue::parse(Path::new("b.toml"), family).expect_err("too full").to_string();
    assert!(error.contains("family \"f\", filling"), "{error}");
}

mod verdicts {
    //! Tests the verdicts with orders that are an estimate.

    use pdm_edge::catalogue::Catalogue;
    use pdm_shared::fault::Fault;

    use pdm_shared::event::{DefectLine, FrequencyDomain};

    fn verdict(fault: Fault, order: f64) -> FrequencyDomain {
        let line = |of: Fault| DefectLine {
            order: Some(if of == fault { order } else { 0.0 }),
            ..DefectLine::default()
        };
        FrequencyDomain {
            method: pdm_shared::event::Method::Thorough,
            envelope_band_hz: None,
            noise_floor_g: None,
            bpfo: line(Fault::OuterRace),
            bpfi: line(Fault::InnerRace),
            bsf: line(Fault::Ball),
            ftf: line(Fault::Cage),
            dominant_fault: Some(fault),
            confidence: 0.97,
            second_fault: None,
            new_comb_db: None,
            bearing_estimate: None,
            damaged: None,
            since_commissioning: Vec::new(),
            undetermined: None,
        }
    }

    /// The estimated 22210 has BPFO 8.2, twice BSF 7.0, BPFI 10.8: at 13 % a line at 8.55 is the
    /// outer race's alone, one at 7.6 may be of the rolling element, one at 8.05 of the shaft.
    #[test]
    fn a_name_is_withdrawn_where_the_tolerance_makes_it_ambiguous() {
        let catalogue = Catalogue::built_in();
        let bearing = catalogue.find("22210").expect("there");
        let estimate = bearing.estimate().expect("estimated");
        let judged =
            |order: f64| estimate.applied(verdict(Fault::OuterRace, order), &bearing.orders);
        let named = judged(8.55);
        assert_eq!(named.dominant_fault, Some(Fault::OuterRace));
        assert!(named.confidence <= 0.8 && named.bearing_estimate.is_some());
        for (order, word) in [(7.6, "of the rolling element"), (8.05, "of the shaft")] {
            let open = judged(order);
            assert_eq!(open.dominant_fault, None, "{order}");
            let why = open.undetermined.expect("told");
            assert!(why.contains(word) && why.contains("22210"), "{why}");
            assert!(why.chars().count() <= pdm_shared::bounds::MAX_LINE, "{why}");
            assert!(open.confidence <= 0.3 && open.bearing_estimate.is_some());
        }
    }

    /// An inner race at 10.2 orders needs 18 rollers and a ratio of roller to pitch diameter of
    /// 0.133 (estimated 0.1375), one at 9.8 needs 17 and 0.153. One at 9.4 needs 17 and 0.106, or
    /// 16 and 0.175: both are more than 13 % off.
    #[test]
    fn a_race_that_no_number_of_elements_fits_is_not_named() {
        let catalogue = Catalogue::built_in();
        let bearing = catalogue.find("22210").expect("there");
        let estimate = bearing.estimate().expect("estimated");
        let judged =
            |order: f64| estimate.applied(verdict(Fault::InnerRace, order), &bearing.orders);
        assert_eq!(judged(10.2).dominant_fault, Some(Fault::InnerRace));
        assert_eq!(judged(9.8).dominant_fault, Some(Fault::InnerRace));
        let why = judged(9.4).undetermined.expect("told");
        assert!(why.contains("no number of elements fits"), "{why}");
    }

    #[test]
    fn a_verdict_without_a_name_tells_the_estimate_too() {
        let catalogue = Catalogue::built_in();
        let bearing = catalogue.find("30206").expect("there");
        let estimate = bearing.estimate().expect("estimated");
        let nothing = FrequencyDomain { dominant_fault: None, ..verdict(Fault::Cage, 0.4) };
        let told = estimate.applied(nothing, &bearing.orders).bearing_estimate.expect("told");
        assert_eq!((told.bearing.as_str(), told.order_tolerance_percent), ("30206", 13.0));
    }
}
