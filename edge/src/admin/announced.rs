//! The metrics of the edge, which exist from the start. `docs/operations.md` tells what to do about
//! each.

use pdm_service::http::announced::{Announced, OF_HTTP, announce};

use Announced as A;

/// Registers every metric at 0; `sources` are the names of the configured sources.
pub(super) fn announce_all(sources: Vec<String>) {
    announce(&OF_HTTP, &[]);
    announce(OF_EDGE, &[("source", sources)]);
}

#[rustfmt::skip]
const OF_EDGE: &[Announced] = &[
    A::gauge("pdm_edge_measured_windows", "windows measured since the start"),
    A::counter("pdm_edge_source_failures_total",
        "times a source failed and was opened again").by("source", &[]),
    A::counter("pdm_edge_missed_blocks_total",
        "blocks dropped because measuring was too slow").by("source", &[]),
    A::counter("pdm_edge_recordings_set_aside_total", "damaged or foreign recordings left out"),
    A::counter("pdm_edge_recordings_replaced_total", "files of a folder that were measured and \
        then replaced").by("source", &[]),
    A::counter("pdm_edge_folder_forms_changed_total",
        "folders whose files changed their form").by("source", &[]),
    A::counter("pdm_edge_messages_refused_total", "messages or datagrams that are not of the \
        configured form").by("source", &[]),
    A::counter("pdm_edge_recordings_lost_total", "files of a folder that went before they were \
        measured").by("source", &[]),
    A::counter("pdm_edge_messages_repeated_total", "messages or windows that came before and are \
        measured once").by("source", &[]),
    A::counter("pdm_edge_samples_left_out_total",
        "samples of each channel that fill no window").by("source", &[]),
    A::counter("pdm_edge_frozen_sensors_total",
        "times a sensor began to repeat its samples").by("source", &[]),
    A::counter("pdm_edge_samples_without_value_total", "marks for no value among the samples of \
        bursts").by("source", &[]),
    A::counter("pdm_edge_values_frozen_total", "readings of a device whose value stands still to \
        its last digit").by("source", &[]),
    A::gauge("pdm_edge_source_silent", "1 while a topic brings no samples").by("source", &[]),
    A::counter("pdm_edge_bursts_given_up_total", "bursts of which a part did not come").by("source",
        &[]),
    A::counter("pdm_edge_sparkplug_lost_messages_total", "messages of a Sparkplug node that are \
        missing by its count").by("source", &[]),
    A::counter("pdm_edge_sparkplug_deaths_total",
        "deaths of a Sparkplug node or device").by("source", &[]),
    A::counter("pdm_edge_sparkplug_rebirths_requested_total", "times a Sparkplug node was asked \
        for its births").by("source", &[]),
    A::counter("pdm_edge_modbus_failures_total", "values of a Modbus device that were not read, by \
        cause").by("source", &[]),
    A::counter("pdm_edge_opcua_failures_total", "values of an OPC UA server that were not used, by \
        cause").by("source", &[]),
    A::counter("pdm_edge_opcua_lost_values_total", "times arrays of an OPC UA server found no \
        room").by("source", &[]),
    A::counter("pdm_edge_stream_gaps_total", "gaps of a stream").by("source", &[]),
    A::counter("pdm_edge_stream_lost_frames_total",
        "frames of a stream that were lost").by("source", &[]),
    A::counter("pdm_edge_stream_damaged_blocks_total", "blocks of a stream with a wrong \
        checksum").by("source", &[]),
    A::counter("pdm_edge_stream_skipped_bytes_total",
        "bytes between the blocks of a stream").by("source", &[]),
    A::counter("pdm_edge_stream_late_blocks_total", "blocks of a stream that came twice or \
        late").by("source", &[]),
    A::gauge("pdm_edge_estimated_bearings", "measuring points whose defect orders are an estimate \
        of the catalogue").by("source", &[]),
    A::counter("pdm_edge_speeds_learnt_total", "shaft speeds that were learnt in place of the \
        stated one"),
    A::gauge("pdm_edge_source_rate_hz",
        "true rate of a live source; 0 until it is known").by("source", &[]),
    A::counter("pdm_edge_rate_faults_total", "times the true rate of a source was too far from \
        rate_hz").by("source", &[]),
    A::gauge("pdm_edge_sender_clock_offset_seconds", "clock of a sender against that of the \
        gateway").by("source", &[]),
    A::counter("pdm_edge_windows_without_time_total", "windows left out because the clock of the \
        gateway stands before 2020").by("source", &[]),
    A::gauge("pdm_edge_broker_connected", "1 while the broker is connected"),
    A::counter("pdm_edge_broker_connections_total", "connections to the broker made"),
    A::counter("pdm_edge_broker_losses_total",
        "connections to the broker lost or refused").by("kind", &["lost", "refused"]),
    A::counter("pdm_edge_published_events_total", "events sent, repetitions included"),
    A::counter("pdm_edge_acknowledged_events_total", "events acknowledged by the broker"),
    A::counter("pdm_edge_received_events_total", "events that the agent has confirmed by receipt"),
    A::counter("pdm_edge_called_back_events_total", "events that the agent has requested again"),
    A::counter("pdm_edge_states_given_up_total", "starts after which the broker refused the states \
        of bearings and none were published"),
    A::counter("pdm_edge_receipts_total", "receipts of the agent by outcome").by("outcome",
        &["applied", "refused", "not_understood", "above_last", "gaps", "fell", "another_count"]),
    A::gauge("pdm_edge_last_sequence", "last sequence number given out"),
    A::gauge("pdm_edge_stored_through", "sequence number up to which the agent has every event"),
    A::counter("pdm_edge_speed_tag_values_total",
        "values of a shaft-speed tag by outcome").by("source", &[]),
    A::gauge("pdm_edge_spool_waiting_events", "events without the acknowledgement of the broker"),
    A::gauge("pdm_edge_spool_acknowledged_events", "acknowledged events without a receipt"),
    A::gauge("pdm_edge_spool_unconfirmed_events", "acknowledged events deleted at a cap before \
        their receipt"),
    A::gauge("pdm_edge_spool_bytes", "size of the stored events, bytes"),
    A::gauge("pdm_edge_spool_dropped_events", "events lost at a cap since the spool was made"),
    A::counter("pdm_edge_spool_losses_total", "events lost at a cap since the start").by("kind",
        &["dropped", "unconfirmed"]),
    A::gauge("pdm_edge_spool_parked_events", "events that are too large for the broker and are \
        kept"),
    A::counter("pdm_edge_oversized_events_total", "events that are larger than the broker accepts"),
    A::counter("pdm_edge_broker_thrown_out_total", "connections that the broker ended soon after \
        it took them"),
    A::gauge("pdm_edge_broker_packet_limit_bytes", "largest packet that the broker takes, learnt \
        from a refusal; 0 until then"),
    A::counter("pdm_edge_dropped_by_broker_total", "events that the broker acknowledged and did \
        not deliver whole"),
    A::counter("pdm_edge_oversized_states_total", "states that are larger than the broker accepts"),
    A::counter("pdm_edge_receipts_missing_total", "times no receipt covered acknowledged events \
        for long"),
    A::counter("pdm_edge_spool_failures_total", "writes that the disk refused"),
    A::counter("pdm_edge_abandoned_windows_total", "windows not written at a stop"),
    A::counter("pdm_edge_spool_repairs_total", "damaged spools that were replaced"),
    A::counter("pdm_edge_unreadable_rows_total", "rows of a damaged spool that could not be read"),
    A::counter("pdm_edge_captures_total", "waveforms captured, by reason").by("reason",
        &["alarm", "stage", "name", "no_name", "demand", "reference"]),
    A::counter("pdm_edge_capture_demands_total", "demands for captures over the broker, by \
        outcome").by("outcome", &["taken", "refused"]),
    A::counter("pdm_edge_relearn_requests_total", "requests over the broker to learn a bearing \
        anew, by outcome").by("outcome", &["taken", "refused"]),
    A::counter("pdm_edge_captures_refused_total",
        "triggers that made no capture, by cause").by("cause", &["storm", "gone", "disk"]),
    A::counter("pdm_edge_captures_removed_total", "captures removed for newer ones"),
    A::counter("pdm_edge_capture_lost_samples_total",
        "samples that captures could not follow").by("source", &[]),
    A::counter("pdm_edge_captures_uploaded_total", "captures that the agent has whole"),
    A::counter("pdm_edge_capture_uploads_refused_total", "captures that the agent never takes"),
    A::counter("pdm_edge_capture_upload_failures_total", "times captures could not be sent and \
        were tried again later"),
    A::gauge("pdm_edge_capture_uploads_waiting", "captures that wait to be sent"),
    A::gauge("pdm_edge_capture_disk_bytes", "size of the captures on disk, bytes"),
    A::gauge("pdm_edge_capture_ring_bytes", "memory of the newest samples, bytes"),
    A::gauge("pdm_edge_capture_ring_seconds", "length of the newest samples in memory of the point \
        that has least"),
    A::counter("pdm_edge_memories_lost_total", "states of bearings that could not be read"),
    A::counter("pdm_edge_declined_publications_total", "publications that the broker refused"),
    A::counter("pdm_edge_subscription_refusals_total", "subscriptions to the receipt topic that \
        the broker refused"),
    A::counter("pdm_edge_tail_repetitions_total", "repetitions of the last event because no \
        receipt came"),
];
