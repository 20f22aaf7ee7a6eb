//! The shares, the order and the bounds of the queue of the intake.

use proptest::prelude::*;

use super::*;

const LIMITS: Limits = Limits { messages: 100, crowded: 8, crowded_kib: 1000 };

fn gateway(name: &str) -> Sender {
    Sender::Gateway(format!("s/{name}").parse().expect("a gateway"))
}

/// The result of offering a message.
#[derive(Debug, PartialEq, Eq)]
enum Came {
    Queued,
    PutOff,
    Full,
}
use Urgency::{Latest, Once, Repeated};

fn came<T: std::fmt::Debug>(
    inlet: &Inlet<T>,
    sender: &Sender,
    urgency: Urgency,
    kib: usize,
    message: T,
) -> Came {
    if inlet.puts_off(sender, urgency) {
        return Came::PutOff;
    }
    match inlet.offer(sender, kib, message) {
        Offered::Queued => Came::Queued,
        Offered::Full(_) => Came::Full,
        Offered::Closed => panic!("open"),
    }
}

#[tokio::test]
async fn one_message_is_behind_at_most_one_of_each_other_sender() {
    let (inlet, outlet) = fair(LIMITS);
    let (flood, honest) = (gateway("flood"), gateway("honest"));
    for number in 0..8 {
        let offered = came(&inlet, &flood, Repeated, 1, ("flood", number));
        assert_eq!(offered, Came::Queued);
    }
    assert_eq!(came(&inlet, &honest, Repeated, 1, ("honest", 0)), Came::Queued);
    let taken = outlet.take(4, 1000).await;
    assert_eq!(taken, [("flood", 0), ("honest", 0), ("flood", 1), ("flood", 2)]);
    // what was not heard lately goes first
    assert_eq!(came(&inlet, &honest, Repeated, 1, ("honest", 1)), Came::Queued);
    assert_eq!(outlet.take(2, 1000).await, [("honest", 1), ("flood", 3)]);
}

#[test]
fn a_sender_above_its_share_is_put_off_alone_until_half_of_its_line_is_served() {
    let (inlet, outlet) = fair(LIMITS);
    let (flood, honest) = (gateway("flood"), gateway("honest"));
    assert_eq!(came(&inlet, &honest, Repeated, 1, 0), Came::Queued);
    let mut queued = 0;
    while came(&inlet, &flood, Repeated, 1, queued) == Came::Queued {
        queued += 1;
    }
    assert_eq!(queued, 7, "the rest of what may wait before shares count");
    assert_eq!(came(&inlet, &honest, Repeated, 1, 1), Came::Queued);
    assert_eq!(came(&inlet, &flood, Once, 1, 9), Came::Queued, "a status");
    outlet.0.state().take(4, 1000);
    assert_eq!(came(&inlet, &flood, Repeated, 1, 8), Came::PutOff);
    outlet.0.state().take(100, 1000);
    assert_eq!(came(&inlet, &flood, Repeated, 1, 8), Came::Queued);
}

#[test]
fn large_messages_use_a_share_up_by_their_bytes() {
    let (inlet, _outlet) = fair(LIMITS);
    let (flood, honest) = (gateway("flood"), gateway("honest"));
    assert_eq!(came(&inlet, &honest, Repeated, 1, 0), Came::Queued);
    for number in 0..4 {
        assert_eq!(came(&inlet, &flood, Repeated, 250, number), Came::Queued);
    }
    assert_eq!(came(&inlet, &flood, Repeated, 250, 5), Came::PutOff);
    assert_eq!(came(&inlet, &honest, Repeated, 250, 1), Came::Queued);
}

/// The broker keeps what does not fit: there is nobody whom it would delay.
#[test]
fn a_gateway_that_is_alone_is_never_put_off() {
    let (inlet, outlet) = fair(LIMITS);
    let only = gateway("only");
    assert_eq!(came(&inlet, &Sender::Staff, Once, 1, 0), Came::Queued);
    for number in 1..LIMITS.messages {
        assert_eq!(came(&inlet, &only, Repeated, 1, number), Came::Queued);
    }
    assert_eq!(came(&inlet, &only, Repeated, 1, 7), Came::Full);
    outlet.0.state().take(1, 1000);
    assert_eq!(came(&inlet, &only, Repeated, 1, 7), Came::Queued);
}

#[tokio::test(start_paused = true)]
async fn a_sender_that_is_shut_out_is_put_off_until_then() {
    let (inlet, outlet) = fair(LIMITS);
    let flood = gateway("flood");
    outlet.shut_out(&flood, Instant::now() + Duration::from_mins(1));
    assert_eq!(came(&inlet, &flood, Repeated, 1, 1), Came::PutOff);
    assert_eq!(came(&inlet, &flood, Once, 1, 2), Came::Queued, "a status");
    tokio::time::advance(Duration::from_mins(1)).await;
    assert_eq!(came(&inlet, &flood, Repeated, 1, 3), Came::Queued);
}

/// A broker that sends few messages ahead keeps the line with it: here at most two wait.
#[tokio::test(start_paused = true)]
async fn a_sender_that_keeps_the_intake_busy_gets_its_part_of_what_it_can_do() {
    let (inlet, outlet) = fair(LIMITS);
    let (flood, honest) = (gateway("flood"), gateway("honest"));
    assert_eq!(came(&inlet, &honest, Repeated, 1, 0), Came::Queued);
    let mut stored = 0;
    let mut put_off = 0;
    for number in 0..20_000 {
        match came(&inlet, &flood, Repeated, 1, number) {
            Came::Queued => {
                outlet.take(2, 1000).await;
                stored += 1;
                // the time that storing takes
                tokio::time::advance(Duration::from_micros(500)).await;
            }
            Came::PutOff => put_off += 1,
            Came::Full => panic!("few wait"),
        }
    }
    assert!(stored <= 3200, "{stored} stored: a second at full speed, then a part of it");
    assert_eq!(stored + put_off, 20_000);
    assert_eq!(came(&inlet, &honest, Repeated, 1, 1), Came::Queued, "the other is not held up");
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(came(&inlet, &flood, Repeated, 1, 1), Came::Queued, "the intake had time");
}

#[tokio::test]
async fn a_sender_has_something_waiting_until_it_is_taken() {
    let (inlet, outlet) = fair(LIMITS);
    let claimed = Sender::Claimed("s/gw-01".parse().expect("a gateway"));
    assert!(!inlet.has_waiting(&claimed));
    assert_eq!(came(&inlet, &claimed, Repeated, 1, "event"), Came::Queued);
    assert!(inlet.has_waiting(&claimed), "a status that comes now stands behind it");
    assert_eq!(came(&inlet, &claimed, Once, 1, "status"), Came::Queued);
    assert_eq!(outlet.take(8, 1000).await, ["event", "status"]);
    assert!(!inlet.has_waiting(&claimed));
}

#[tokio::test]
async fn the_queue_ends_when_the_receiver_has_ended_and_nothing_waits() {
    let (inlet, outlet) = fair(LIMITS);
    assert_eq!(came(&inlet, &Sender::Staff, Once, 1, 1), Came::Queued);
    drop(inlet);
    assert_eq!(outlet.take(8, 1000).await, [1]);
    assert_eq!(outlet.take(8, 1000).await, [0; 0]);
}

proptest! {
    /// Whatever comes in whatever order: nothing is lost or made, each sender's order is kept, and
    /// a sender that has less waiting than its share is never put off.
    #[test]
    fn every_message_leaves_once_and_in_its_senders_order(
        steps in prop::collection::vec((0_usize..5, 0_usize..4, 1_usize..300), 1..300),
    ) {
        let (inlet, outlet) = fair(LIMITS);
        let names = ["a", "b", "c", "d", "e"].map(gateway);
        let (mut queued, mut left) = ([(); 5].map(|()| Vec::new()), [(); 5].map(|()| Vec::new()));
        for (number, (who, takes, kib)) in steps.into_iter().enumerate() {
            let waits = queued[who].len() - left[who].len();
            match came(&inlet, &names[who], Repeated, kib, (who, number)) {
                Came::Queued => queued[who].push(number),
                Came::PutOff => prop_assert!(waits > 0, "{who} has nothing waiting"),
                Came::Full => {}
            }
            for (who, number) in outlet.0.state().take(takes, 1000) {
                left[who].push(number);
            }
        }
        for (who, number) in outlet.0.state().take(1000, 1_000_000) {
            left[who].push(number);
        }
        prop_assert_eq!(queued, left);
        prop_assert_eq!((outlet.len(), outlet.0.state().kib), (0, 0));
    }
}

/// R-AGENT-9: 91,000 statuses of two gateways stood before the Criticals of a third.
#[test]
fn a_flood_of_statuses_is_put_off_and_a_gateways_own_are_not() {
    let (inlet, _outlet) = fair(Limits { messages: 8192, crowded: 2048, crowded_kib: 1 << 20 });
    let (flood, other) = (gateway("gw-02"), gateway("gw-03"));
    assert_eq!(came(&inlet, &other, Repeated, 1, 0), Came::Queued);
    let kept = (0..5000).filter(|n| came(&inlet, &flood, Latest, 1, *n) == Came::Queued).count();
    assert_eq!(kept, 1024);
    assert_eq!(came(&inlet, &other, Latest, 1, 1), Came::Queued);
    assert_eq!(came(&inlet, &Sender::Staff, Once, 1, 2), Came::Queued);
}
