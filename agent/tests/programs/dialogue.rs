//! The dialogues of the seed over the pack of funds, with a stand-in in the place of the model: it
//! writes the programs of the seed's examples, and reads nothing.

use pdm_harness::ModelStandIn;
use serde_json::Value;

use super::{Agent, text, writes};

#[tokio::test]
async fn a_question_about_holdings_is_answered_by_programs_over_the_packs_tools() {
    let model = ModelStandIn::scripted(vec![
        writes("result = stock_search(query=\"삼성전자\")"),
        writes(
            "import json\n\
             code = json.loads(result)[0][\"code\"]\n\
             cypher = f\"\"\"\n\
             MATCH (e:ETF)-[h:HOLDS]->(s:Stock {{code: '{code}'}})\n\
             WITH e, h ORDER BY h.date DESC\n\
             WITH e, head(collect(h)) AS latest\n\
             RETURN {{etf_code: e.code, etf_name: e.name, weight: latest.weight}}\n\
             ORDER BY latest.weight DESC LIMIT 5\n\
             \"\"\"\n\
             rows = [row for row in json.loads(graph_query(cypher=cypher))]\n\
             print(json.dumps(rows, ensure_ascii=False))",
        ),
        writes(
            "best = max(rows, key=lambda row: list(row.values())[0][\"weight\"] if len(row) == 1 \
             else row[\"weight\"])\n\
             best = list(best.values())[0] if len(best) == 1 else best\n\
             final_answer(f\"삼성전자({code})를 가장 많이 보유한 ETF는 {best['etf_name']}({best['weight']}%)이고, \
             합은 77777입니다.\")",
        ),
    ]);
    let agent = Agent::start(&model).await;
    let (steps, answer) = agent.ask("삼성전자를 가장 많이 보유한 ETF는?").await;
    assert_eq!(steps.len(), 3, "{steps:?}");
    for step in &steps {
        assert_eq!(step["error"], Value::Null, "{step}");
        assert!(!text(&step["code"]).is_empty(), "{step}");
    }
    assert!(text(&steps[0]["observations"]).contains("005930"), "{}", steps[0]);
    assert_eq!(steps[0]["tool_calls"][0]["name"], "stock_search");
    assert_eq!(steps[1]["tool_calls"][0]["name"], "graph_query");
    assert_eq!(answer["by"], "model");
    let told = text(&answer["answer"]);
    let rows: Vec<Value> = serde_json::from_str(text(&steps[1]["observations"])).expect("rows");
    assert_eq!(rows.len(), 5, "{rows:?}");
    let first = rows[0].get("etf_name").map_or_else(
        || rows[0].as_object().and_then(|row| row.values().next()).cloned().unwrap_or_default(),
        |_| rows[0].clone(),
    );
    assert!(told.contains(text(&first["etf_name"])), "{first}: {told}");
    assert!(told.contains(&first["weight"].to_string()), "{first}: {told}");
    assert!(!told.contains("77777"), "a figure that no tool has answered is withheld: {told}");
    assert_eq!(model.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn programs_chain_filter_and_loop_over_results() {
    let model = ModelStandIn::scripted(vec![
        writes(
            "import json\n\
             names = [tag[\"name\"] for tag in json.loads(list_tags())]\n\
             tag = names[0]\n\
             rows = json.loads(graph_query(cypher=f\"MATCH (e:ETF)-[:TAGGED]->(t:Tag {{name: \
             '{tag}'}}) RETURN {{code: e.code, name: e.name, expense_ratio: e.expense_ratio}}\"))\n\
             funds = [list(row.values())[0] if len(row) == 1 else row for row in rows]\n\
             for fund in sorted(funds, key=lambda f: f[\"expense_ratio\"])[:3]:\n    \
                 info = json.loads(get_etf_info(etf_code=fund[\"code\"]))\n    \
                 print(info[\"name\"], info[\"expense_ratio\"])",
        ),
        writes("try:\n    get_etf_info(etf_code=\"XXXXXX\")\nexcept ToolError as e:\n    print(e)"),
        writes("final_answer(f\"{tag}: {len(funds) > 2}\")"),
    ]);
    let agent = Agent::start(&model).await;
    let (steps, answer) = agent.ask("보수율이 낮은 순으로 알려 줘").await;
    let calls = steps[0]["tool_calls"].as_array().map_or(0, Vec::len);
    assert_eq!((calls, &steps[0]["error"]), (5, &Value::Null), "{}", steps[0]);
    assert!(text(&steps[1]["observations"]).contains("there is no ETF"), "{}", steps[1]);
    assert!(text(&answer["answer"]).ends_with("True"), "{answer}");
}

/// The three levels of an answer, and what a program may not reach.
#[tokio::test]
async fn a_program_reaches_no_tool_that_acts_and_its_failure_falls_back() {
    let model = ModelStandIn::scripted(vec![
        writes("notify_maintenance_staff(message='x', risk_level='Normal', equipment_id='P-101')"),
        writes("search_maintenance_history(query='x', equipment_id='P-999')"),
        writes("print('본 것')"),
        writes("1 / 0"),
    ]);
    let agent = Agent::start(&model).await;
    let (steps, answer) = agent.ask("알려 줘").await;
    assert_eq!(steps.len(), 10, "at most ten steps");
    assert!(
        text(&steps[0]["error"]).contains("notify_maintenance_staff is not defined"),
        "{}",
        steps[0]
    );
    assert!(text(&steps[1]["error"]).contains("does not belong to this case"), "{}", steps[1]);
    assert_eq!((text(&answer["by"]), text(&answer["answer"])), ("observation", "본 것"));
    let last = model.requests().pop().expect("asked");
    assert!(last["messages"].to_string().contains("This is the last step"), "{last}");
    assert_eq!(model.violations(), Vec::<String>::new());
}
