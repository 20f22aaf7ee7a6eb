//! The subscription that brings the values of nodes as they change.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use opcua::client::SubscriptionCallbacks;
use opcua::types::{
    DataChangeFilter, DataChangeTrigger, DataValue, ExtensionObject, MonitoredItemCreateRequest,
    MonitoringMode, MonitoringParameters, NodeId, ReadValueId, StatusCode, TimestampsToReturn,
};

use super::connection::Connection;
use super::log;
use crate::source::SourceHost;

/// Time from one look of the server at its queues to the next.
const PUBLISHING: Duration = Duration::from_millis(250);

/// Looks without news after which the server gives a sign of life (5 s), and after which it forgets
/// a gateway that does not answer (1 min).
const LOOKS: (u32, u32) = (20, 240);

/// Arrays that the server is to keep for each node between two looks.
const SERVER_QUEUE: u32 = 32;

/// A message of the subscription.
pub(super) enum Arrival {
    /// A value of the node at this place.
    Value(usize, Box<DataValue>),
    /// The server has ended the subscription.
    Ended(StatusCode),
}

/// Subscribes to nodes; what they hold comes by `tell`, and `is_full` says that it found no room.
///
/// # Errors
/// The place of the node that is refused, or one beyond them, and why.
pub(super) fn subscribe(
    connection: &Connection,
    nodes: &[NodeId],
    (tell, is_full): (SyncSender<Arrival>, Arc<AtomicBool>),
    host: &SourceHost,
) -> Result<(), (usize, String)> {
    let of_server = |why: String| (usize::MAX, why);
    let ended = tell.clone();
    let callbacks = SubscriptionCallbacks::new(
        move |change| {
            // a full queue is read soon, and the end is then found by the connection
            let _told = ended.try_send(Arrival::Ended(change.status));
        },
        move |value, item| {
            let place = (item.client_handle() as usize).saturating_sub(1);
            if tell.try_send(Arrival::Value(place, Box::new(value))).is_err() {
                is_full.store(true, Ordering::Relaxed);
            }
        },
        |_event, _item| {},
    );
    let session = &connection.session;
    let made = session.create_subscription(PUBLISHING, LOOKS.1, LOOKS.0, 0, 0, true, callbacks);
    let subscription = connection.request(made).map_err(of_server)?;
    for with_filter in [true, false] {
        let items = nodes.iter().zip(1..).map(|(node, handle)| item(node, handle, with_filter));
        let items = items.collect();
        let both = TimestampsToReturn::Both;
        let made = session.create_monitored_items(subscription, both, items);
        let made = connection.request(made).map_err(of_server)?;
        let bad = made.iter().position(|one| !one.result.status_code.is_good());
        let Some(place) = bad else {
            if let Some(first) = made.first() {
                let (interval, queue) =
                    (first.result.revised_sampling_interval, first.result.revised_queue_size);
                log::subscribed(host, interval, queue);
            }
            return Ok(());
        };
        let status = made[place].result.status_code;
        let refuses_filter = [
            StatusCode::BadFilterNotAllowed,
            StatusCode::BadMonitoredItemFilterUnsupported,
            StatusCode::BadMonitoredItemFilterInvalid,
        ];
        if !(with_filter && refuses_filter.contains(&status)) {
            return Err((place, format!("cannot be subscribed to: {status}")));
        }
        let ids: Vec<u32> = made.iter().map(|one| one.result.monitored_item_id).collect();
        let deleted = session.delete_monitored_items(subscription, &ids);
        connection.request(deleted).map_err(of_server)?;
    }
    Err(of_server("the server takes no subscription".to_owned()))
}

/// A node that is to be watched as fast as the server can.
fn item(node: &NodeId, client_handle: u32, with_filter: bool) -> MonitoredItemCreateRequest {
    let filter = DataChangeFilter {
        trigger: DataChangeTrigger::StatusValueTimestamp,
        deadband_type: 0,
        deadband_value: 0.0,
    };
    let filter =
        if with_filter { ExtensionObject::from_message(filter) } else { ExtensionObject::null() };
    let requested = MonitoringParameters {
        client_handle,
        sampling_interval: 0.0,
        filter,
        queue_size: SERVER_QUEUE,
        discard_oldest: true,
    };
    MonitoredItemCreateRequest::new(ReadValueId::from(node), MonitoringMode::Reporting, requested)
}
