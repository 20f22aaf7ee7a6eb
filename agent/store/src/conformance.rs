//! The claims that every [`Store`] has to meet on each database. Each claim starts from an empty
//! store.

use futures_util::future::LocalBoxFuture;
use pdm_expert::case::Case;
use pdm_expert::judge;
use pdm_expert::rules::Rules;
use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use pdm_shared::trace::TraceStep;

use super::{
    BearingJudged, Checkpoint, FollowUp, FollowUpState, Incoming, Judged, Store, Stored, Unjudged,
};

mod accounts;
pub(super) mod before;
mod captures;
mod claims;
mod episodes;
mod graph;
mod held;
mod intake;
mod judgements;
mod leaving;
mod opinions;
mod pages;
mod pauses;
mod photos;
mod relearning;
mod removal;
mod reports;
mod room;
mod series;
mod telling;
mod ways;

pub(super) fn at(seconds: f64) -> Timestamp {
    Timestamp::from_unix_ms(1_795_238_000_000).expect("in range").plus_seconds(seconds)
}

pub(super) fn event(sequence: u64) -> Event {
    let mut event: Event =
        serde_json::from_str(include_str!("../../../config/examples/event.json")).expect("event");
    event.sequence = sequence;
    event.measured_at = at(sequence as f64 * 60.0);
    let id = 0x0193_6f3e_7c1a_7b52_9a6e_0000_0000_0000_u128 + u128::from(sequence);
    event.event_id = EventId(uuid::Uuid::from_u128(id));
    event
}

pub(super) fn incoming(event: &Event) -> Incoming {
    let payload = serde_json::to_string(event).expect("json");
    Incoming::Event { event: Box::new(event.clone()), payload, proven: false }
}

pub(super) async fn put(store: &Store, events: &[Event]) -> Stored {
    let batch: Vec<Incoming> = events.iter().map(incoming).collect();
    store.intake().store(&batch, at(0.0), "dead").await.expect("stored")
}

pub(super) fn key() -> BearingKey {
    let event = event(1);
    event.key()
}

fn step(number: u32) -> TraceStep {
    TraceStep {
        number,
        node: "reasoning".to_owned(),
        at: at(f64::from(number)),
        detail: serde_json::json!({ "round": number, "결론": "외륜" }),
    }
}

fn to_do() -> FollowUp {
    FollowUp {
        action: Text::new("예비품 확인", "Check the spare"),
        due_at: Some(at(3600.0)),
        state: FollowUpState::Open,
        by: None,
        at: None,
        note: None,
        work_order: Some("WO-1".to_owned()),
        repaired: false,
        found: None,
    }
}

/// Judges everything that waits, as the judging task does.
pub(super) async fn judge_all(store: &Store) {
    judge_some(store, 100).await;
}

/// Judges at most `limit` waiting events; returns how many it judged.
pub(super) async fn judge_some(store: &Store, limit: u32) -> u64 {
    let waiting = store.judging().unjudged(limit).await.expect("read");
    let count = waiting.len() as u64;
    for unjudged in waiting {
        judge_one(store, unjudged, None).await;
    }
    count
}

/// Judges an event, whose documents are left if there is a checkpoint for them.
async fn judge_one(store: &Store, unjudged: Unjudged, unwritten: Option<Checkpoint>) {
    let key = || BearingKey { bearing: unjudged.event.bearing_id.clone(), ..key() };
    let recall = store.judging().recall(&key(), at(1e9)).await.expect("recalled");
    let case = Case { event: &unjudged.event, memory: &recall.memory, now: at(10_000.0) };
    let judgement = judge(&case, &Rules::default());
    let mut memory = recall.memory.clone();
    memory.recall(&unjudged.event, &judgement);
    let diagnosis = &judgement.diagnosis;
    let announcement = telling::raised(&key(), diagnosis, recall.episode.as_ref(), at(10_000.0));
    let judged = Judged {
        arrival: unjudged.arrival,
        measured_at: unjudged.event.measured_at,
        late: judgement.late,
        outgoing: vec![telling::publication(diagnosis)],
        diagnosis: judgement.diagnosis,
        announcement,
        quiet: None,
        follow_up: vec![to_do()],
        supersedes: false,
        trace: vec![step(1), step(2), step(3)],
        unwritten,
        opinion_on: Some(Box::new(recall.memory)),
        was_held: unjudged.checkpoint.is_some(),
    };
    let bearing = BearingJudged {
        key: key(),
        judgements: vec![judged],
        state: judgement.state,
        recent: memory.recent,
    };
    store.judging().save(std::slice::from_ref(&bearing)).await.expect("saved");
    // the same again, as after a crash that hid the commit: nothing twice
    store.judging().save(&[bearing]).await.expect("saved again");
}

/// A claim: it is given an empty store.
type Claim = fn(&Store) -> LocalBoxFuture<'_, ()>;

/// Claims as functions that box their futures: the futures of all of them in one frame overflow the
/// stack of a test's thread.
macro_rules! claims {
    ($($claim:path),* $(,)?) => {
        [$({
            fn boxed(store: &Store) -> LocalBoxFuture<'_, ()> {
                Box::pin($claim(store))
            }
            boxed as Claim
        }),*]
    };
}

/// Runs the whole suite; `fresh` gives an empty store each time.
pub(super) async fn suite(fresh: impl AsyncFn() -> Store) {
    let fresh = async || {
        let store = fresh().await;
        store.migrate().await.expect("migrated");
        store.migrate().await.expect("a second time changes nothing");
        store
    };
    for claim in OF_EVENTS.into_iter().chain(OF_PEOPLE) {
        claim(&fresh().await).await;
    }
    Box::pin(held::judgements_wait_for_a_model(&fresh().await, &fresh().await)).await;
    Box::pin(claims::no_claim_of_one_gateway_changes_what_is_told_of_anothers_bearing(&fresh))
        .await;
}

/// The tests of intake, judging and telling.
const OF_EVENTS: [Claim; 72] = claims![
    removal::what_is_gone_is_taken_out_whole,
    removal::a_bearing_is_renamed_with_its_history,
    removal::a_name_that_is_known_is_joined_on_request_alone,
    removal::of_two_removals_at_once_one_finds_nothing,
    removal::a_release_is_written_down,
    removal::a_gateway_is_replaced_and_taken_out,
    removal::refused_events_are_kept_until_they_are_over,
    removal::suppressed_episodes_and_shares_are_found,
    intake::an_event_is_stored_once,
    pauses::a_bearings_pauses_are_kept_once_and_go_with_it,
    intake::sequences_are_followed,
    intake::a_gateway_counts_anew_only_by_its_status,
    intake::the_first_count_of_a_gateway_goes_on,
    intake::a_count_that_events_have_brought_goes_on,
    intake::two_sites_have_two_receipts_for_one_name,
    intake::a_bearing_stays_with_its_gateway_until_it_is_released,
    intake::an_identity_that_another_event_has_is_refused_and_not_taken_as_a_repetition,
    intake::an_identity_that_another_gateway_has_used_refuses_nothing,
    intake::a_change_names_no_bearing_of_another_gateway,
    intake::so_many_gateways_are_known_by_a_status_alone,
    intake::a_topic_that_named_a_gateway_demands_nothing_of_its_later_events,
    intake::a_rival_count_is_kept_and_followed_when_the_known_one_is_silent,
    intake::gaps_are_lost_in_the_end,
    intake::refused_messages_do_not_pile_up,
    intake::presence_is_noted,
    intake::what_a_gateway_has_no_more_is_lost_at_once,
    intake::what_a_gateway_says_of_itself_is_kept,
    judgements::judgements_are_remembered,
    judgements::the_past_of_a_bearing_is_read_back,
    judgements::a_run_is_resumed_where_it_stood,
    judgements::documents_are_left_until_they_are_written,
    judgements::what_is_to_be_done_is_followed,
    judgements::later_work_supersedes_what_is_open,
    judgements::what_was_found_is_remembered_and_counted,
    reports::a_report_on_replaced_work_goes_to_the_open_work,
    reports::a_report_on_a_replaced_action_sets_the_one_that_asks_for_the_same,
    reports::a_report_without_open_work_is_a_finding_of_the_bearing,
    reports::the_same_report_is_kept_once,
    reports::a_report_is_taken_back_soon_after_it,
    reports::a_report_that_names_no_action_of_several_sets_none,
    leaving::an_alarm_is_told_once_and_acknowledged,
    leaving::a_channel_that_fails_is_told_with_its_reason,
    leaving::an_acknowledgement_of_before_silences_no_alarm,
    leaving::what_is_held_back_is_counted_and_settled_together,
    leaving::judgements_are_sent_again_once,
    leaving::an_alarm_of_a_clock_that_was_ahead_is_repeated,
    leaving::an_alarm_whose_rows_are_gone_is_found,
    leaving::the_outbox_keeps_order_and_counts_tries,
    leaving::what_failed_is_tried_at_once,
    leaving::what_is_old_goes_and_what_waits_stays,
    leaving::no_clock_makes_anything_old_by_being_set,
    leaving::what_is_stored_is_not_missing,
    leaving::a_message_is_told_once,
    episodes::a_bearing_is_shelved_and_told_of_at_its_end,
    episodes::an_acknowledgement_and_a_window_change_their_own_axis,
    episodes::a_step_is_due_until_somebody_acknowledges,
    episodes::alarms_of_one_cause_are_found,
    episodes::one_episode_is_open_and_the_closed_ones_are_listed,
    ways::a_notification_spreads_to_further_lanes_once,
    ways::the_worst_risk_leaves_first,
    ways::an_alarm_that_its_lane_does_not_try_is_late,
    ways::what_is_held_back_fails_with_its_summary,
    ways::a_summary_covers_the_criticals_that_it_names,
    room::room_is_made_of_what_is_least_missed,
    room::a_flood_does_not_grow_beyond_the_ceiling_and_open_alarms_stay,
    room::a_gateway_that_fills_the_store_deletes_its_own_history_alone,
    room::gateways_are_judged_in_turn,
    room::notifications_are_claimed_before_publications,
    room::no_more_than_so_many_refused_messages_wait_to_be_published,
    opinions::an_opinion_is_claimed_noted_and_ended_once,
    opinions::a_full_queue_takes_no_more,
    opinions::what_the_model_costs_is_counted_by_day,
];

/// The tests of pages, users and the asset graph.
const OF_PEOPLE: [Claim; 23] = claims![
    pages::the_fleet_is_listed_worst_first_with_its_alarms,
    pages::windows_are_told_as_their_events_and_judgements,
    pages::the_last_spectra_are_found,
    pages::what_staff_was_told_is_listed_newest_first,
    photos::photos_are_bounded_by_order_and_in_all,
    photos::photos_go_with_their_judgement,
    captures::a_capture_stands_once,
    captures::the_oldest_captures_make_room_and_those_of_open_alarms_stay,
    captures::an_open_alarm_keeps_its_rise_and_the_newest_few,
    captures::captures_go_with_their_bearing,
    captures::a_demand_is_known_until_its_capture_is_here,
    relearning::a_request_to_learn_anew_waits_for_its_gateway,
    accounts::a_user_stands_once_and_the_first_is_first,
    accounts::a_user_of_a_provider_is_found_by_its_name_there,
    accounts::a_token_lets_its_owner_in_until_its_end,
    accounts::a_session_is_found_with_its_user_until_it_ends,
    accounts::acts_are_listed_newest_first_in_pages,
    accounts::episodes_and_work_come_in_pages_and_none_twice,
    series::a_value_of_a_station_stands_once,
    series::a_case_is_read_with_its_values_newest_first,
    series::the_features_of_a_bearing_are_series_under_their_names,
    graph::a_plant_is_stored_changed_and_read_back,
    graph::the_days_of_a_bearing_are_read,
];
