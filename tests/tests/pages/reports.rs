//! Tests the reports of a technician: a report reaches the bearing's open work from every page, the
//! page says so, and it is taken back soon after.

use reqwest::header::{COOKIE, LOCATION};
use reqwest::{Response, StatusCode};

use crate::plant::{Plant, TOKEN, client};
use crate::roles::{form_key, row};

/// A logged-in technician.
struct Technician<'a> {
    plant: &'a Plant,
    session: String,
    key: String,
}

impl<'a> Technician<'a> {
    async fn of(plant: &'a Plant) -> Self {
        Self::named(plant, "technician").await
    }

    async fn named(plant: &'a Plant, name: &str) -> Self {
        let session = plant.login(name).await;
        let key = form_key(plant, &session).await;
        Self { plant, session, key }
    }

    async fn page(&self, path: &str) -> String {
        let asked = client().get(format!("{}{path}", self.plant.url)).header(COOKIE, &self.session);
        let answer = asked.send().await.expect("answers");
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        answer.text().await.expect("text").replace("&#x2f;", "/")
    }

    async fn send(&self, path: &str, fields: &[(&str, &str)]) -> Response {
        let form = [&[("form_key", self.key.as_str())][..], fields].concat();
        let sent = client().post(format!("{}{path}", self.plant.url)).form(&form);
        sent.header(COOKIE, &self.session).send().await.expect("answers")
    }

    /// Sends a form that is taken; the address that it leads to.
    async fn leads(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let answer = self.send(path, fields).await;
        assert_eq!(answer.status(), StatusCode::SEE_OTHER, "{path}");
        answer.headers()[LOCATION].to_str().expect("text").to_owned()
    }

    /// Returns how many judgements count as inspected.
    async fn inspected(&self) -> f64 {
        let asked = client().get(format!("{}/metrics", self.plant.url)).bearer_auth(TOKEN);
        let text = asked.send().await.expect("answers").text().await.expect("text");
        let lines = text.lines().filter(|line| line.starts_with("pdm_agent_inspected_judgements{"));
        lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
    }
}

const BEARING: &str = "/bearings/ulsan-1/P-101/DE";

/// The pages from which a report comes: of the episode, of the bearing, of the work order and the
/// list. Each closes what waits, keeps the note, says so and takes it back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_of_every_page_reaches_the_open_work_is_shown_and_taken_back() {
    let plant = Plant::with_users().await;
    let kim = Technician::of(&plant).await;
    let row = row(&plant).await;
    let episode = format!("/episodes/{}", row["episode"]["episode_id"].as_str().expect("one"));
    let list = kim.page("/work").await;
    let order = list.split("action=\"/work/").nth(1).and_then(|rest| rest.split('"').next());
    let order = format!("/work/{}", order.expect("work waits"));
    let event = order.trim_start_matches("/work/");
    let number =
        list.split("name=\"number\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
    let of_list = [("state", "done"), ("number", number.expect("an action"))];
    let found = [("verdict", "right"), ("element", "cage")];
    let of_order = [&found[..], &[("event_id", event), ("back", order.as_str())]].concat();
    let forms = [
        (format!("{episode}/found"), episode.as_str(), &found[..]),
        (format!("{BEARING}/found"), BEARING, &found),
        (format!("{BEARING}/found"), order.as_str(), &of_order),
        (order.clone(), "/work", &of_list),
    ];
    for (number, (action, back, fields)) in forms.into_iter().enumerate() {
        let note = format!("note of form {number}");
        let fields = [fields, &[("note", note.as_str())]].concat();
        let to = kim.leads(&action, &fields).await;
        let (page, report) = to.split_once("?recorded=").expect("says which report");
        assert_eq!(page, back);
        let told = kim.page(&to).await;
        assert!(told.contains("id=\"recorded\"") && told.contains(&note), "{action}: {told}");
        assert!(kim.page(BEARING).await.contains(&note), "on the page of the bearing");
        let is_whole = number < 3;
        let left = kim.page("/work").await.contains("name=\"number\"");
        assert!(!(is_whole && left), "{action}: no open work is left");
        assert_eq!(kim.inspected().await > 0.5, is_whole, "{action}");
        let undone = kim.leads(&format!("/reports/{report}/undo"), &[("back", page)]).await;
        assert_eq!(undone, to);
        assert!(!kim.page(&to).await.contains("/undo\""), "{action}: it is undone once");
        assert!(kim.page("/work").await.contains("name=\"number\""), "{action}: it waits again");
        assert!(kim.inspected().await.abs() < 0.5, "{action}");
    }
    plant.stop().await;
}

/// No verdict is chosen for the person, and one who cannot say yet is heard without being counted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_without_a_verdict_of_the_person_counts_in_nothing() {
    let plant = Plant::with_users().await;
    let kim = Technician::of(&plant).await;
    let row = row(&plant).await;
    let episode = format!("/episodes/{}", row["episode"]["episode_id"].as_str().expect("one"));
    for page in [episode.as_str(), BEARING] {
        let text = kim.page(page).await;
        let form = text.split("class=\"act report\"").nth(1).expect("a form of a report");
        let form = form.split("</form>").next().expect("its end");
        assert!(form.contains("value=\"unknown\"") && form.contains("required"), "{form}");
        assert!(!form.contains("checked") && !form.contains("selected"), "{form}");
    }
    let action = format!("{episode}/found");
    let refused = kim.send(&action, &[("note", "no verdict"), ("repaired", "yes")]).await;
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    let fields = [
        ("verdict", "unknown"),
        ("element", "ball"),
        ("cause", "grease is black"),
        ("note", "sample sent to the laboratory"),
        ("state", "open"),
        ("report_id", "01936f3e-7c1a-7b52-9a6e-000000000001"),
    ];
    for _ in 0..2 {
        kim.leads(&action, &fields).await;
    }
    let told = kim.page(BEARING).await;
    let reports = told.split("id=\"history\"").next().expect("the reports");
    assert_eq!(reports.matches("sample sent to the laboratory").count(), 1, "a form sent twice");
    assert!(told.contains("grease is black") && told.contains("전동체"), "{told}");
    assert!(kim.page("/work").await.contains("name=\"number\""), "the work still waits");
    assert!(kim.inspected().await.abs() < 0.5);
    plant.stop().await;
}

/// Two people at one machine: the second is told of the first one's contrary report, not of one
/// that agrees, of the own, or of one that was taken back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_that_contradicts_another_ones_says_so() {
    const CONTRARY: &str = "다른 보고와 다릅니다";
    let plant = Plant::with_users().await;
    let kim = Technician::of(&plant).await;
    let lee = Technician::named(&plant, "admin").await;
    let action = format!("{BEARING}/found");
    let first = kim.leads(&action, &[("verdict", "right"), ("element", "cage")]).await;
    assert!(!kim.page(&first).await.contains(CONTRARY), "nobody has said otherwise");
    let second = lee.leads(&action, &[("verdict", "wrong")]).await;
    let told = lee.page(&second).await;
    assert!(
        told.contains(CONTRARY)
            && told.contains("<strong>다른 보고와 다릅니다.</strong> technician"),
        "{told}"
    );
    assert!(!kim.page(&first).await.contains(CONTRARY), "the first one came before it");
    let same = lee.leads(&action, &[("verdict", "right"), ("element", "cage")]).await;
    assert!(
        lee.page(&same).await.contains(CONTRARY),
        "it agrees with kim's, and not with lee's own"
    );
    let (_, report) = first.split_once("?recorded=").expect("says which report");
    kim.leads(&format!("/reports/{report}/undo"), &[("back", BEARING)]).await;
    assert!(!lee.page(&second).await.contains(CONTRARY), "it was taken back");
    plant.stop().await;
}

/// An acknowledgement that was a slip is taken back from the page, once, with a remark and a
/// record; the alarm is then one that nobody has acknowledged, and can be acknowledged again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_acknowledgement_is_taken_back_within_ten_minutes() {
    let plant = Plant::with_users().await;
    let kim = Technician::of(&plant).await;
    let before = row(&plant).await;
    let episode = format!("/episodes/{}", before["episode"]["episode_id"].as_str().expect("one"));
    let undo = format!("{episode}/unacknowledge");
    assert!(!kim.page(BEARING).await.contains(&undo), "nothing to take back");
    assert_eq!(kim.send(&undo, &[]).await.status(), StatusCode::CONFLICT);
    for _ in 0..2 {
        // an update may have taken the place of the first message meanwhile
        let now = row(&plant).await;
        let alarm = now["alarm"]["notification_id"].as_str().expect("an alarm");
        let ack = [("notification_id", alarm), ("note", "a slip")];
        kim.leads(&format!("{BEARING}/acknowledge"), &ack).await;
        assert_eq!(row(&plant).await["alarm"]["acknowledged_by"], "technician");
        for page in [BEARING, &episode] {
            assert!(kim.page(page).await.contains(&undo), "{page} takes it back");
        }
        assert_eq!(kim.leads(&undo, &[]).await, episode);
        let told = kim.page(&episode).await;
        assert!(told.contains("확인을 취소함") && !told.contains(&undo), "{told}");
        assert!(row(&plant).await["alarm"]["acknowledged_at"].is_null());
    }
    assert_eq!(kim.send(&undo, &[]).await.status(), StatusCode::CONFLICT, "once");
    let admin = Technician::named(&plant, "admin").await;
    assert_eq!(admin.page("/audit").await.matches("경보 확인 취소").count(), 2);
    plant.stop().await;
}
