//! The API against its own document.

use reqwest::StatusCode;
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};

use crate::captured;
use crate::plant::{Plant, client};

async fn get(url: &str, path: &str) -> (StatusCode, String, Value) {
    let answer = client().get(format!("{url}/api/v1{path}")).send().await.expect("answers");
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let (status, kind) = (answer.status(), kind.unwrap_or_default().to_owned());
    (status, kind, answer.json().await.unwrap_or(Value::Null))
}

/// A path of the document with the names of the stored bearing and event.
fn filled(path: &str, event: &str, episode: &str) -> String {
    path.replace("{site}", "ulsan-1")
        .replace("{equipment}", "P-101")
        .replace("{bearing}", "DE")
        .replace("{event_id}", event)
        .replace("{episode_id}", episode)
        .replace("/captures/{id}", &format!("/captures/{}", captured::ALARM))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_of_the_document_answers_what_the_document_says() {
    let plant = Plant::open().await;
    let (_, _, document) = get(&plant.url, "/openapi.json").await;
    let (_, _, fleet) = get(&plant.url, "/bearings").await;
    let event = fleet["items"][0]["event_id"].as_str().expect("an event").to_owned();
    let episode = fleet["items"][0]["episode"]["episode_id"].as_str().expect("one").to_owned();
    let paths = document["paths"].as_object().expect("paths");
    let mut asked = 0;
    for (path, route) in paths {
        let Some(read) = route.get("get") else { continue };
        let (status, _, answer) = get(&plant.url, &filled(path, &event, &episode)).await;
        if ["/captures/demand", "/relearn"].iter().any(|end| path.ends_with(end))
            || path.starts_with("/captures/{id}")
        {
            // this plant keeps none, and nobody asked for one; agent/tests read them
            assert_eq!(status, StatusCode::NOT_FOUND, "{path}: {answer}");
            continue;
        }
        assert_eq!(status, StatusCode::OK, "{path}: {answer}");
        let schema = &read["responses"]["200"]["content"]["application/json"]["schema"];
        // the references of the schema point into the document
        let root = json!({ "components": document["components"], "allOf": [schema] });
        let schema = jsonschema::validator_for(&root).expect("a schema");
        let wrong: Vec<String> = schema
            .iter_errors(&answer)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(wrong.is_empty(), "{path}: {wrong:?}");
        asked += 1;
    }
    assert_eq!(asked, 20);
    plant.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn windows_come_in_pages_and_none_twice() {
    let plant = Plant::open().await;
    let mut path = "/bearings/ulsan-1/P-101/DE/windows?limit=6".to_owned();
    let mut seen = Vec::new();
    loop {
        let (status, _, page) = get(&plant.url, &path).await;
        assert_eq!(status, StatusCode::OK, "{page}");
        let items = page["items"].as_array().expect("items");
        seen.extend(items.iter().map(|item| item["event_id"].to_string()));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/bearings/ulsan-1/P-101/DE/windows?limit=6&before={next}");
    }
    assert_eq!(seen.len(), 20);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 20, "no window twice");
    plant.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_asked_wrongly_is_told_as_a_problem() {
    let plant = Plant::open().await;
    let wrong = [
        ("/bearings/ulsan-1/P-101/NDE", 404, "bearing"),
        ("/bearings/ulsan-1/P%2F101/DE", 400, "equipment name"),
        ("/bearings/ulsan-1/P%00/DE", 400, "equipment name"),
        ("/bearings/ulsan-1/P-101/DE/windows?limit=0", 400, "limit"),
        ("/bearings/ulsan-1/P-101/DE/windows?limit=1001", 400, "limit"),
        ("/notifications?before=yesterday", 400, "before"),
        ("/events/1", 400, "event_id"),
        ("/events/00000000-0000-7000-8000-000000000000", 404, "event"),
        ("/nothing", 404, "route"),
    ];
    for (path, status, word) in wrong {
        let (got, kind, problem) = get(&plant.url, path).await;
        assert_eq!((got.as_u16(), kind.as_str()), (status, "application/problem+json"), "{path}");
        assert_eq!(problem["status"], json!(status), "{path}");
        let detail = problem["detail"].as_str().unwrap_or_default();
        assert!(detail.contains(word), "{path}: {detail}");
    }
    plant.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_acknowledgement_of_another_alarm_or_without_a_name_is_refused() {
    let plant = Plant::open().await;
    let (_, _, fleet) = get(&plant.url, "/bearings").await;
    let id = fleet["items"][0]["alarm"]["notification_id"].as_str().expect("an alarm").to_owned();
    let other = "00000000-0000-7000-8000-000000000000";
    let send = |body: Value| {
        let url = format!("{}/api/v1/bearings/ulsan-1/P-101/DE/acknowledgements", plant.url);
        async move { client().post(url).json(&body).send().await.expect("answers").status().as_u16() }
    };
    assert_eq!(send(json!({ "notification_id": other, "by": "Kim" })).await, 409);
    assert_eq!(send(json!({ "notification_id": id, "by": " " })).await, 422);
    assert_eq!(send(json!({ "notification_id": id, "by": "a\nb" })).await, 422);
    assert_eq!(send(json!({ "notification_id": id, "by": "x".repeat(257) })).await, 422);
    assert_eq!(send(json!({ "notification_id": id })).await, 422);
    assert_eq!(send(json!({ "notification_id": id, "by": "Kim", "more": 1 })).await, 422);
    assert_eq!(send(json!({ "notification_id": id, "by": "김 정비" })).await, 204);
    let (_, _, fleet) = get(&plant.url, "/bearings").await;
    assert_eq!(fleet["items"][0]["alarm"]["acknowledged_by"], json!("김 정비"));
    plant.stop().await;
}
