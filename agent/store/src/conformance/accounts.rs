//! Users, their sessions and tokens, who did what; and what a person at a page works with.

use pdm_service::http::callers::Role;
use pdm_shared::follow_up::FollowUpState;
use pdm_web::accounts::{
    AccountStore as _, Act, Provided, StoredSession, User, UserChange, UserToken,
};
use pdm_web::plant::{EpisodeFilter, ListPlace};

use super::{at, event, judge_all, key, put};
use crate::Store;

fn user(name: &str) -> User {
    User {
        name: name.to_owned(),
        role: Role::Technician,
        password: Some("$argon2id$".to_owned()),
        provider: None,
        is_disabled: false,
        created_at: at(0.0),
    }
}

pub(super) async fn a_user_stands_once_and_the_first_is_first(store: &Store) {
    assert!(!store.accounts().has_users().await.expect("read"));
    assert!(store.accounts().add_user(&user("kim"), true).await.expect("added"));
    assert!(!store.accounts().add_user(&user("lee"), true).await.expect("not the first"));
    assert!(!store.accounts().add_user(&user("kim"), false).await.expect("taken"));
    assert!(store.accounts().add_user(&user("an"), false).await.expect("added"));
    assert!(store.accounts().has_users().await.expect("read"));
    let names: Vec<String> =
        store.accounts().users().await.expect("read").into_iter().map(|user| user.name).collect();
    assert_eq!(names, ["an", "kim"]);
    for change in [
        UserChange::Role(Role::Admin),
        UserChange::Password("other".to_owned()),
        UserChange::Disabled(true),
    ] {
        assert!(store.accounts().change_user("kim", &change).await.expect("changed"));
        assert!(!store.accounts().change_user("nobody", &change).await.expect("nobody"));
    }
    let kim = store.accounts().user("kim").await.expect("read").expect("there");
    assert_eq!((kim.role, kim.is_disabled), (Role::Admin, true));
    assert_eq!(kim.password.as_deref(), Some("other"));
    assert_eq!(store.accounts().user("an").await.expect("read"), Some(user("an")));
}

pub(super) async fn a_user_of_a_provider_is_found_by_its_name_there(store: &Store) {
    let by =
        |subject: &str| Provided { issuer: "https://a".to_owned(), subject: subject.to_owned() };
    let kim = User { password: None, provider: Some(by("7")), ..user("kim") };
    assert!(store.accounts().add_user(&kim, false).await.expect("added"));
    assert_eq!(store.accounts().provided_user(&by("7")).await.expect("read"), Some(kim.clone()));
    assert_eq!(store.accounts().provided_user(&by("8")).await.expect("read"), None);
    let elsewhere = Provided { issuer: "https://b".to_owned(), ..by("7") };
    assert_eq!(store.accounts().provided_user(&elsewhere).await.expect("read"), None);
    let twice = User { name: "kim2".to_owned(), ..kim };
    assert!(!store.accounts().add_user(&twice, false).await.expect("the same person"));
    assert!(
        store.accounts().add_user(&user("lee"), false).await.expect("a user without a provider")
    );
    assert!(store.accounts().add_user(&user("an"), false).await.expect("another"));
}

pub(super) async fn a_token_lets_its_owner_in_until_its_end(store: &Store) {
    store.accounts().add_user(&user("kim"), false).await.expect("added");
    let token = |ends| UserToken { label: "line-1".into(), created_at: at(0.0), expires_at: ends };
    store.accounts().put_token("kim", &[1; 32], &token(Some(at(100.0)))).await.expect("written");
    let owner = store.accounts().token_owner(&[1; 32], at(99.0)).await.expect("read");
    assert_eq!(owner.map(|user| user.name).as_deref(), Some("kim"));
    assert_eq!(
        store.accounts().token_owner(&[1; 32], at(100.0)).await.expect("read"),
        None,
        "ended"
    );
    assert_eq!(
        store.accounts().token_owner(&[2; 32], at(0.0)).await.expect("read"),
        None,
        "another"
    );
    store.accounts().put_token("kim", &[3; 32], &token(None)).await.expect("replaced");
    assert_eq!(store.accounts().tokens("kim").await.expect("read"), [token(None)]);
    assert_eq!(
        store.accounts().token_owner(&[1; 32], at(0.0)).await.expect("read"),
        None,
        "replaced"
    );
    assert!(store.accounts().token_owner(&[3; 32], at(1e9)).await.expect("read").is_some());
    store.accounts().change_user("kim", &UserChange::Disabled(true)).await.expect("changed");
    assert_eq!(
        store.accounts().token_owner(&[3; 32], at(0.0)).await.expect("read"),
        None,
        "disabled"
    );
    assert!(store.accounts().revoke_token("kim", "line-1").await.expect("revoked"));
    assert!(!store.accounts().revoke_token("kim", "line-1").await.expect("gone"));
}

pub(super) async fn a_session_is_found_with_its_user_until_it_ends(store: &Store) {
    store.accounts().add_user(&user("kim"), false).await.expect("added");
    let session = |number: u8, user: Option<&str>| StoredSession {
        hash: [number; 32],
        user: user.map(str::to_owned),
        credential: [7; 32],
        opened_at: at(0.0),
        seen_at: at(0.0),
    };
    let long_ago = at(-1e6);
    for one in [session(1, Some("kim")), session(2, None)] {
        store.accounts().open_session(&one, long_ago, long_ago).await.expect("opened");
    }
    let found = store.accounts().session(&[1; 32]).await.expect("read").expect("open");
    assert_eq!(found, (session(1, Some("kim")), Some(user("kim"))));
    let of_token = store.accounts().session(&[2; 32]).await.expect("read").expect("open");
    assert_eq!(of_token, (session(2, None), None));
    store.accounts().saw_session(&[1; 32], at(60.0)).await.expect("noted");
    let third = StoredSession { opened_at: at(70.0), seen_at: at(70.0), ..session(3, None) };
    store.accounts().open_session(&third, long_ago, at(30.0)).await.expect("opened");
    assert!(store.accounts().session(&[2; 32]).await.expect("read").is_none(), "idle");
    let seen = store.accounts().session(&[1; 32]).await.expect("read").expect("open").0.seen_at;
    assert_eq!(seen, at(60.0));
    store.accounts().end_session(&[1; 32]).await.expect("ended");
    assert!(store.accounts().session(&[1; 32]).await.expect("read").is_none());
}

pub(super) async fn acts_are_listed_newest_first_in_pages(store: &Store) {
    let act = |number: u32| Act {
        id: 0,
        at: at(f64::from(number)),
        who: "kim".to_owned(),
        via: "page".to_owned(),
        peer: Some("192.0.2.1".to_owned()),
        action: "acknowledge".to_owned(),
        // the character that PostgreSQL takes in no text
        what: format!("{number}\0"),
    };
    for number in 0..5 {
        store.accounts().note_act(&act(number)).await.expect("noted");
    }
    let first = store.accounts().acts(None, 3).await.expect("read");
    let rest = store.accounts().acts(Some(first[2].id), 3).await.expect("read");
    let all: Vec<char> =
        first.iter().chain(&rest).filter_map(|act| act.what.chars().next()).collect();
    assert_eq!(all, ['4', '3', '2', '1', '0']);
    assert_eq!(first[0].peer.as_deref(), Some("192.0.2.1"));
    let key = store.accounts().link_key([1; 32], at(0.0)).await.expect("made");
    assert_eq!(key, [1; 32]);
    assert_eq!(store.accounts().link_key([2; 32], at(0.0)).await.expect("kept"), key);
}

pub(super) async fn episodes_and_work_come_in_pages_and_none_twice(store: &Store) {
    put(store, &[event(1), event(2)]).await;
    judge_all(store).await;
    let page = store.desk().episode_page(EpisodeFilter::Open, None, 10).await.expect("read");
    assert_eq!(page.len(), 1);
    let (of, record) = &page[0];
    assert_eq!(of, &key());
    let id = record.episode.id;
    let found = store.desk().episode_by_id(id).await.expect("read").expect("there");
    assert_eq!(found.1.episode, record.episode);
    assert!(store.desk().episode_by_id(uuid::Uuid::nil()).await.expect("read").is_none());
    let place = ListPlace { at_ms: record.episode.changed_at.unix_ms(), id, number: 0 };
    for filter in [EpisodeFilter::Open, EpisodeFilter::All] {
        assert!(store.desk().episode_page(filter, Some(place), 10).await.expect("read").is_empty());
    }
    for filter in [EpisodeFilter::Closed, EpisodeFilter::Shelved] {
        assert!(store.desk().episode_page(filter, None, 10).await.expect("read").is_empty());
    }
    store.desk().remark(&key(), "Kim", "greased\0", at(20_000.0)).await.expect("written");
    let remarks = store.desk().remarks(&key(), record.episode.opened_at).await.expect("read");
    assert_eq!((remarks.len(), remarks[0].by.as_str()), (1, "Kim"));
    assert!(remarks[0].note.as_deref().is_some_and(|note| note.starts_with("greased")));
    assert!(store.desk().remarks(&key(), at(20_001.0)).await.expect("read").is_empty());
    assert_eq!(store.desk().told_since(&key(), at(0.0)).await.expect("read"), 1);
    assert_eq!(store.desk().told_since(&key(), at(1e9)).await.expect("read"), 0);
    work(store).await;
}

async fn work(store: &Store) {
    let all = store.desk().work_page(false, None, 100).await.expect("read");
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let page = store.desk().work_page(false, before, 1).await.expect("read");
        let Some(row) = page.last() else { break };
        before = Some(ListPlace {
            at_ms: row.asked_at.unix_ms(),
            id: row.event_id.0,
            number: row.number,
        });
        seen.extend(page);
    }
    assert_eq!(seen, all);
    assert!(!all.is_empty(), "the judgements ask for work");
    assert!(all.iter().all(|row| row.key == key() && !row.action.ko.is_empty()));
    let open = store.desk().work_page(true, None, 100).await.expect("read");
    assert!(open.iter().all(|row| row.state == FollowUpState::Open));
    let of = store.desk().work_of(all[0].event_id).await.expect("read");
    assert_eq!(of.first().map(|row| row.number), Some(1));
}
