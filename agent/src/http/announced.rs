//! The metrics of the agent, which exist from the start. `docs/operations.md` tells what to do
//! about each.

use pdm_service::http::announced::{Announced, OF_HTTP, announce};

use Announced as A;

/// Registers every metric at 0; `lanes` are those of the configured ways to staff, `routes` the
/// names of the configured routes.
pub(crate) fn announce_all(lanes: &[String], routes: Vec<String>) {
    announce(&OF_HTTP, &[]);
    let known = [("lane", lanes.to_vec()), ("channel", lanes.to_vec()), ("route", routes)];
    for list in [OF_INTAKE, OF_JUDGING, OF_MODEL, OF_TELLING, OF_STORE] {
        announce(list, &known);
    }
}

#[rustfmt::skip]
const OF_INTAKE: &[Announced] = &[
    A::counter("pdm_agent_events_stored_total", "events stored, each once"),
    A::counter("pdm_agent_events_duplicate_total", "events that came again and changed nothing"),
    A::counter("pdm_agent_events_lost_total", "events of gaps that did not arrive in time"),
    A::counter("pdm_agent_dead_letters_total", "messages refused"),
    A::counter("pdm_agent_dead_letters_not_published_total", "refused messages that are kept and \
        not published, because too many wait"),
    A::counter("pdm_agent_confirmed_events_gone_total", "events that were confirmed to a gateway \
        and are gone from the store"),
    A::gauge("pdm_agent_refused_gateways", "gateways whose events are refused now"),
    A::gauge("pdm_agent_bearings_without_data", "bearings of which nothing comes while their \
        gateways go on"),
    A::gauge("pdm_agent_troubled_gateways", "gateways that say that they cannot measure or keep \
                                             their events"),
    A::counter("pdm_agent_rival_counts_total", "statuses that named another count while events of \
                                                the known one came"),
    A::counter("pdm_agent_statuses_not_kept_total", "statuses of gateways beyond their share, \
                                                     which were not kept"),
    A::counter("pdm_agent_identities_taken_total", "events whose identity another gateway had used \
                                                    before"),
    A::counter("pdm_agent_gateways_behind_total", "gateways whose live events lay behind the clock \
                                                   for ten minutes"),
    A::gauge("pdm_agent_twin_gateways", "names that two gateways seem to use"),
    A::gauge("pdm_agent_dead_letters", "refused messages that are kept with their reason"),
    A::counter("pdm_agent_events_refused_total", "events that are not of the gateway that they \
        name, or not that gateway's"
        ).by("cause", &[
            "topic", "epoch", "owner", "new_bearing", "jump", "event_id", "unreadable"]),
    A::counter("pdm_agent_events_not_counted_total", "stored events with a number that was counted \
        before"),
    A::counter("pdm_agent_gateway_counts_total", "counts of a gateway that began anew"),
    A::counter("pdm_agent_gateway_troubles_total", "times a gateway said that it cannot keep its \
        events"),
    A::counter("pdm_agent_events_put_off_total", "events above their gateway's quota or share, \
        asked for again").by("cause", &["quota", "share"]),
    A::counter("pdm_agent_refusals_not_kept_total", "refused messages above refused_per_minute: \
        counted and not kept"),
    A::counter("pdm_agent_events_ahead_total", "events further ahead of the clock than ahead_s"),
    A::counter("pdm_agent_acknowledgements_total", "acknowledgements by outcome").by("outcome",
        &["applied", "without_effect"]),
    A::counter("pdm_agent_broker_errors_total",
        "connections to the broker lost or refused").by("side", &["intake", "outbox"]),
    A::counter("pdm_agent_broker_thrown_out_total", "connections that the broker ended again and \
        again").by("side", &["intake", "outbox"]),
    A::gauge("pdm_agent_broker_packet_limit_bytes", "largest packet that the broker takes, learnt \
        from a refusal; 0 until then"),
    A::counter("pdm_agent_remarks_total", "messages to staff on gateways and broker").by("what",
        &["too_large", "thrown_out", "broker_away", "broker_mute", "broker_lacks", "events_lost",
            "flood", "store_full", "configuration", "rows_missing", "confirmed_gone", "ahead"]),
];

#[rustfmt::skip]
const OF_JUDGING: &[Announced] = &[
    A::gauge("pdm_agent_unjudged_events", "events stored and not judged yet"),
    A::counter("pdm_agent_events_judged_total", "events judged"),
    A::counter("pdm_agent_judging_errors_total", "attempts at judging that failed"),
    A::counter("pdm_agent_bearings_put_off_total", "times a bearing's judgements could not be \
        written and were put off, while others went on"),
    A::histogram("pdm_agent_node_seconds", "time in each step of the workflow").by("node",
        &["load_memory", "reasoning", "tool_executor", "parse_diagnosis", "generate_report",
            "generate_work_order", "save_memory"]),
    A::counter("pdm_agent_runs_resumed_total", "runs continued after a crash"),
    A::counter("pdm_agent_judgement_tool_uses_total", "tools used by judgements"),
    A::counter("pdm_agent_tool_calls_total", "calls of tools"),
    A::histogram("pdm_agent_tool_call_seconds", "time of calls of tools"),
    A::counter("pdm_agent_tools_away_total", "tools that did not answer"),
    A::histogram("pdm_agent_tool_calls_per_judgement", "calls of tools for each judgement"),
    A::counter("pdm_agent_research_due_total", "judgements on which research was due"),
    A::counter("pdm_agent_researched_total", "judgements that looked something up"),
    A::counter("pdm_agent_research_questions_total", "questions of research"),
    A::counter("pdm_agent_research_changed_total", "judgements that research changed"),
    A::histogram("pdm_agent_lead_time_hours", "time from the first Watch to Critical"),
    A::gauge("pdm_agent_follow_ups", "work that judgements asked for").by("state",
        &["open", "overdue", "done", "dropped", "superseded"]),
    A::counter("pdm_agent_reports_undecided_total", "reports of programs that name no action where \
        the work of several judgements is open: kept, they set none"),
    A::gauge("pdm_agent_inspected_judgements", "judgements that staff inspected, by what was \
        found").by("verdict", &["right", "wrong", "other_cause"]),
    A::gauge("pdm_agent_precision_ratio", "share of inspected judgements that were right"),
    A::counter("pdm_agent_ungrounded_figures_total", "figures left out of a text because no source \
        had them"),
    A::counter("pdm_agent_document_failures_total", "judgements whose documents failed"),
    A::counter("pdm_agent_documents_refused_total", "files that are no documents of the knowledge \
        base"),
    A::counter("pdm_agent_knowledge_rests_total", "pauses after a failure of a server of the \
        knowledge base").by("server", &["embedding", "store"]),
    A::counter("pdm_agent_knowledge_refills_total", "times the knowledge store came back empty and \
        was filled again"),
    A::counter("pdm_agent_files_set_aside_total", "damaged files of derived data that were set \
        aside and filled again").by("file", &["knowledge"]),
];

#[rustfmt::skip]
const OF_MODEL: &[Announced] = &[
    A::counter("pdm_agent_reasoner_failures_total", "judgements whose reasoner failed"),
    A::counter("pdm_agent_model_requests_total", "requests to the language model"),
    A::histogram("pdm_agent_model_seconds", "time of requests to the language model"),
    A::counter("pdm_agent_model_tokens_total", "tokens of the language model").by("kind",
        &["input", "output"]),
    A::counter("pdm_agent_model_cost_micro_usd_total", "cost of the language model, millionths of \
        a US dollar"),
    A::counter("pdm_agent_opinions_total", "second opinions by stance").by("stance",
        &["agrees", "raises", "lowers", "failed"]),
    A::counter("pdm_agent_opinions_not_asked_total", "judgements that got no second opinion \
        because too many waited"),
    A::histogram("pdm_agent_opinion_seconds", "time from the judgement to the end of its second \
        opinion").by("stance", &["agrees", "raises", "lowers", "failed"]),
    A::counter("pdm_agent_chat_answers_total",
        "answers of the chat by where they come from").by("by",
        &["model", "extraction", "observation", "apology"]),
    A::histogram("pdm_agent_chat_seconds",
        "time from a question of the chat to its answer").by("by",
        &["model", "extraction", "observation", "apology"]),
    A::counter("pdm_agent_judgements_held_total", "judgements that waited for a language model in \
        the loop"),
    A::counter("pdm_agent_judgements_heard_total", "judgements that went on after the model, by \
        its stance").by("stance", &["agrees", "raises", "lowers", "none"]),
    A::counter("pdm_agent_judgement_waits_over_total", "waits for a language model that ended \
        without an answer"),
    A::gauge("pdm_agent_mcp_sessions", "open MCP sessions"),
    A::counter("pdm_agent_mcp_refused_total", "MCP sessions and streams refused above their \
        number"),
    A::counter("pdm_tools_answers_refused_total", "answers of foreign MCP servers that were too \
        long"),
];

#[rustfmt::skip]
const OF_TELLING: &[Announced] = &[
    A::counter("pdm_agent_notifications_total", "notifications written"),
    A::counter("pdm_agent_shelves_total", "bearings that staff shelved or took out of service"),
    A::gauge("pdm_agent_outbox_waiting", "rows of the outbox that wait"),
    A::gauge("pdm_agent_outbox_given_up", "rows of the outbox that were given up and are kept"),
    A::counter("pdm_agent_notify_failures_total", "attempts at sending that failed").by("lane",
        &[]),
    A::counter("pdm_agent_notify_given_up_total", "notifications that were given up").by("lane",
        &[]),
    A::counter("pdm_agent_notify_tried_again_total", "alarms that were given up and told to \
        nobody, tried again").by("lane", &[]),
    A::counter("pdm_agent_notify_refused_total",
        "mails that some addresses of a list refused").by("lane", &[]),
    A::counter("pdm_agent_notify_elsewhere_total", "notifications that a way did not take and \
        others heard instead").by("lane", &[]),
    A::gauge("pdm_agent_notify_untold", "alarms that no way to staff takes now"),
    A::counter("pdm_agent_notify_untold_total", "alarms that no way to staff took"),
    A::counter("pdm_agent_notify_rows_lost_total", "alarms told again, since somebody deleted \
        their rows in the outbox"),
    A::counter("pdm_agent_notify_duplicates_total", "notifications that the receiver had \
        already").by("lane", &[]),
    A::counter("pdm_agent_notify_held_back_total",
        "notifications above the ceiling of an hour").by("lane", &[]),
    A::gauge("pdm_agent_channel_failing_since_seconds", "since when a channel fails, Unix time; 0: \
        it does not").by("channel", &[]),
    A::gauge("pdm_agent_channel_waiting", "notifications that wait in a channel").by("channel",
        &[]),
    A::gauge("pdm_agent_channel_given_up",
        "notifications that a channel gave up within a week").by("channel", &[]),
    A::counter("pdm_agent_notify_escalations_total", "alarms that nobody acknowledged and that \
        went to the next step").by("route", &[]),
    A::counter("pdm_agent_notify_nobody_total", "alarms for which nobody was on duty").by("route",
        &[]),
];

#[rustfmt::skip]
const OF_STORE: &[Announced] = &[
    A::gauge("pdm_agent_clock_apart_seconds", "by how much the clock of the database's server is \
        ahead of this machine's, where they are over a minute apart"),
    A::gauge("pdm_agent_store_rows_missing", "1 from a start at which the store lacks what the \
        agent wrote last, until the next start"),
    A::gauge("pdm_agent_configuration_refused", "1 while a configuration that was read again is \
        refused"),
    A::counter("pdm_agent_configurations_refused_total", "configurations that were read again and \
        refused"),
    A::gauge("pdm_agent_blind", "1 while the agent cannot write or judge, so that health fails"),
    A::counter("pdm_agent_store_outages_total", "times in which the agent could not write or \
        judge"),
    A::counter("pdm_agent_store_errors_total", "writes of events that failed"),
    A::counter("pdm_agent_secrets_renewed_total", "secrets whose file had another text and that \
        were read again").by("secret", &["store.postgres.password"]),
    A::counter("pdm_agent_rows_left_out_total", "rows of the store that cannot be read"),
    A::counter("pdm_agent_forgotten_total", "rows that are no longer kept").by("what",
        &["events", "judgements", "notifications", "dead_letters", "analysis_history", "photos"]),
    A::counter("pdm_agent_captures_total", "waveforms that came in whole"),
    A::counter("pdm_agent_captures_refused_total", "documents and parts of waveforms that were \
        refused, by cause"
        ).by("cause", &[
            "unfit", "hash", "owner", "identity", "large", "room", "place", "busy", "unknown",
            "unavailable"]),
    A::counter("pdm_agent_captures_removed_total", "waveforms removed for newer ones"),
    A::counter("pdm_agent_capture_upload_bytes_total", "bytes of waveforms that came in"),
    A::gauge("pdm_agent_captures_held", "waveforms that are kept"),
    A::gauge("pdm_agent_capture_bytes", "size of the waveforms that are kept, bytes"),
    A::gauge("pdm_agent_store_bytes", "room that the store takes: what is in use, and what file or \
        tables hold").by("what", &["used", "held"]),
    A::gauge("pdm_agent_store_max_bytes", "ceiling of what is in use, 0: none"),
    A::counter("pdm_agent_room_made_total", "windows that were deleted or lost their spectra \
        because the store was at its ceiling"
        ).by("what", &["spectra", "normal_windows", "other_windows"]),
];
