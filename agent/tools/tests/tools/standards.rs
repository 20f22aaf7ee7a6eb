//! The tables of standards and of the manual: no code of their own, and every figure as the manual
//! has it.

use pdm_tools::{Catalogue, ExecutorResources, Runtime};
use serde_json::{Value, json};

use super::{call, shipped};

async fn rows(tool: &str, arguments: Value) -> Vec<Value> {
    let (catalogue, problems) = Catalogue::open(&shipped());
    assert!(problems.is_empty(), "{problems:?}");
    let runtime = Runtime::new(catalogue, ExecutorResources::default());
    let answer = runtime.call(&call(tool, arguments)).await.expect("an answer");
    answer.value["rows"].as_array().expect("rows").clone()
}

fn manual(name: &str) -> String {
    let path = shipped().join(format!("../knowledge/equipment_manual/{name}.md"));
    std::fs::read_to_string(path).expect("the manual")
}

/// R-KB-5, R-TOOL-8.
#[tokio::test]
async fn a_velocity_is_in_one_zone_and_a_group_has_four() {
    let asked = json!({"machine_group": "medium", "support": "rigid", "velocity_mm_s": 2.8});
    let found = rows("look_up_vibration_zone", asked).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["zone"], "C", "the boundary belongs to the worse zone");
    let asked = json!({"machine_group": "large", "support": "flexible"});
    assert_eq!(rows("look_up_vibration_zone", asked).await.len(), 4);
}

#[tokio::test]
async fn the_zones_are_those_of_the_manual() {
    let text = manual("em-01");
    for (group, row) in [("large", "대형, 300 kW 초과"), ("medium", "중형, 15–300 kW")] {
        for (support, word) in [("rigid", "강성"), ("flexible", "유연")] {
            let asked = json!({"machine_group": group, "support": support});
            let found = rows("look_up_vibration_zone", asked).await;
            let ends: Vec<String> = found
                .iter()
                .filter_map(|row| row["below_mm_s"].as_f64())
                .map(|end| format!("{end:.1}"))
                .collect();
            let line = format!("| {row} | {word} | {} |", ends.join(" | "));
            assert!(text.contains(&line), "{line}");
        }
    }
}

#[tokio::test]
async fn every_mounting_value_stands_in_the_manual() {
    let text = manual("em-06") + &manual("em-01");
    for topic in ["heating", "grease", "torque"] {
        for row in rows("look_up_mounting_value", json!({ "topic": topic })).await {
            for end in ["value", "from", "at_most"] {
                let Some(number) = row[end].as_f64() else { continue };
                let told = number.to_string();
                let stands = text.split(|c: char| !(c.is_ascii_digit() || c == '.'));
                assert!(stands.into_iter().any(|part| part.trim_end_matches('.') == told), "{row}");
            }
        }
    }
    let torque =
        rows("look_up_mounting_value", json!({"topic": "torque", "what": "torque_m12"})).await;
    assert_eq!((torque.len(), &torque[0]["value"]), (1, &json!(85)));
}

/// ISO 281:2007: a three-parameter Weibull distribution, to two decimals.
#[tokio::test]
async fn the_factors_of_reliability_follow_their_formula() {
    let found = rows("look_up_life_factor", json!({"factor": "reliability_a1"})).await;
    assert_eq!(found.len(), 6);
    for row in &found {
        let reliability = row["reliability_percent"].as_f64().expect("percent");
        let ratio = (100.0 / reliability).ln() / (100.0_f64 / 90.0).ln();
        let a1 = 0.95 * ratio.powf(2.0 / 3.0) + 0.05;
        assert!((row["value"].as_f64().expect("a factor") - a1).abs() < 0.006, "{row} {a1}");
    }
    let asked = json!({"factor": "reliability_a1", "reliability_percent": 95});
    assert_eq!(rows("look_up_life_factor", asked).await[0]["value"], 0.64);
}
