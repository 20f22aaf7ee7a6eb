//! Times of pages on the plant's clock, as the server writes them: without a script and whatever
//! the zone of a browser.

use reqwest::StatusCode;

use crate::plant::{Plant, client};

async fn page(plant: &Plant, path: &str) -> String {
    let asked = client().get(format!("{}{path}", plant.url)).header("Accept-Language", "ko");
    let answer = asked.send().await.expect("answers");
    assert_eq!(answer.status(), StatusCode::OK, "{path}");
    answer.text().await.expect("text").replace("&#x2f;", "/")
}

/// Returns the instants of a page with their texts for people.
fn times(text: &str) -> Vec<(String, String)> {
    let elements = text.split("<time datetime=\"").skip(1);
    let both = elements.filter_map(|rest| {
        let (at, rest) = rest.split_once("\">")?;
        Some((at.to_owned(), rest.split_once("</time>")?.0.to_owned()))
    });
    both.collect()
}

/// R-UI-1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_tell_times_on_the_plants_clock_and_name_its_zone_once() {
    let plant = Plant::in_zone("Asia/Seoul").await;
    let pages =
        ["/", "/bearings/ulsan-1/P-101/DE", "/episodes", "/work", "/notifications", "/duty"];
    let mut seen = 0;
    for path in pages {
        let text = page(&plant, path).await;
        assert_eq!(text.matches("KST (Asia/Seoul)").count(), 1, "{path}: the zone stands once");
        assert!(text.contains("data-zone=\"Asia/Seoul\""), "{path}");
        for (at, told) in times(&text) {
            let utc = pdm_shared::time::Timestamp::parse(&at).expect(&at);
            let local = utc.plus_seconds(9.0 * 3600.0).to_string().replace('T', " ");
            assert!(local.starts_with(&told), "{path}: {told} of {at}");
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen} times");
    let script = page(&plant, "/").await;
    let folder =
        script.split("src=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("one");
    let script = page(&plant, folder).await;
    assert!(!script.contains("DateTimeFormat"), "no script writes times of another zone");
    plant.stop().await;
}

/// A machine of an id that one site alone has is found without its site, and its page names it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_is_found_by_its_site_and_by_its_id_alone() {
    let plant = Plant::in_zone("Asia/Seoul").await;
    for path in ["/equipment/ulsan-1/P-101", "/equipment/P-101"] {
        let text = page(&plant, path).await;
        assert!(text.contains("급수 펌프 1 · ulsan-1"), "{path}");
        assert!(text.contains("설치됨") && !text.contains("INSTALLED_IN"), "{path}");
    }
    let other = client().get(format!("{}/equipment/elsewhere/P-101", plant.url));
    assert_eq!(other.send().await.expect("answers").status(), StatusCode::NOT_FOUND);
    let found = page(&plant, "/search?q=6205").await;
    assert!(found.contains("/bearings/ulsan-1/P-101/DE"), "by the designation of the graph");
    let sheet = page(&plant, "/bearings.csv").await;
    assert!(sheet.contains("rul_plan_h,rul_low_h,rul_median_h,rul_high_h"), "{sheet}");
    plant.stop().await;
}
