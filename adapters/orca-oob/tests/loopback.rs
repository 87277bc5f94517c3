//! One call against real servers on the loopback interface. Waits end as soon as what is waited for
//! happens, and a test fails after 20 s, so that a slow machine makes none of them fail.

mod common;

use std::time::Duration;

use bytes::Bytes;
use common::{Call, Orca, Raw, all, every, nobody, report, silence, within};
use plimsoll::StreamEnd;
use plimsoll_orca_oob::{OrcaLoadReport, Receiver, Target, stream_core_metrics};
use prost::Message;
use tokio::sync::mpsc;
use tonic::Status;

const SECOND: Duration = Duration::from_secs(1);

/// What a receiver was called with.
#[derive(Debug, PartialEq)]
enum Event {
    Report(OrcaLoadReport),
    Empty,
    End(StreamEnd),
}

struct Events(mpsc::UnboundedSender<Event>);

impl Receiver for Events {
    async fn on_report(&mut self, report: Bytes) {
        assert!(!report.is_empty());
        self.0.send(Event::Report(OrcaLoadReport::decode(report).unwrap())).unwrap();
    }

    async fn on_empty(&mut self) {
        self.0.send(Event::Empty).unwrap();
    }

    async fn on_end(&mut self, end: StreamEnd) {
        self.0.send(Event::End(end)).unwrap();
    }
}

/// A whole call.
async fn events(target: &Target) -> Vec<Event> {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    within(stream_core_metrics(target, SECOND, &mut Events(sender))).await;
    std::iter::from_fn(|| receiver.try_recv().ok()).collect()
}

#[tokio::test]
async fn reports_arrive_in_order_and_while_the_stream_goes_on() {
    let (calls, mut called) = mpsc::unbounded_channel();
    let orca = Orca::new(move |call| {
        calls.send(call).unwrap();
        Ok(every(Duration::from_millis(50)))
    });
    let target = Target { authority: "a.example".into(), ..Target::new(orca.start().await) };
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let interval = Duration::from_millis(1_500);
    let stream = tokio::spawn(async move {
        stream_core_metrics(&target, interval, &mut Events(sender)).await;
    });
    for number in 1..=10 {
        assert_eq!(within(receiver.recv()).await, Some(Event::Report(report(number))));
    }
    let Call { authority, request } = within(called.recv()).await.unwrap();
    assert_eq!(authority, "a.example");
    assert_eq!(request.encode_to_vec(), [0x0a, 8, 8, 1, 0x10, 0x80, 0xca, 0xb5, 0xee, 1]);
    stream.abort();
    assert!(within(stream).await.unwrap_err().is_cancelled());
}

#[tokio::test]
async fn without_a_name_the_authority_is_the_address() {
    let (calls, mut called) = mpsc::unbounded_channel();
    let orca = Orca::new(move |call| {
        calls.send(call.authority).unwrap();
        Err(Status::aborted("seen"))
    });
    let address = orca.start().await;
    assert_eq!(events(&Target::new(&address)).await, [Event::End(StreamEnd::Status(10))]);
    assert_eq!(within(called.recv()).await, Some(address));
}

#[tokio::test]
async fn a_server_without_the_method_is_told_from_others() {
    let refusing = Orca::new(|_| Err(Status::unimplemented("no")));
    let later = Orca::new(|_| {
        Ok(Box::pin(tokio_stream::iter([Ok(report(1)), Err(Status::unimplemented("no more"))])))
    });
    let unavailable = Orca::new(|_| Err(Status::unavailable("later")));
    let end = Event::End(StreamEnd::Unimplemented);
    assert_eq!(events(&Target::new(refusing.start().await)).await, [end]);
    let expected = [Event::Report(report(1)), Event::End(StreamEnd::Unimplemented)];
    assert_eq!(events(&Target::new(later.start().await)).await, expected);
    let end = Event::End(StreamEnd::Status(14));
    assert_eq!(events(&Target::new(unavailable.start().await)).await, [end]);
}

#[tokio::test]
async fn one_report_and_then_ok_is_an_end_too() {
    let orca = Orca::new(|_| Ok(all(vec![report(1)])));
    let expected = [Event::Report(report(1)), Event::End(StreamEnd::Status(0))];
    assert_eq!(events(&Target::new(orca.start().await)).await, expected);
}

#[tokio::test]
async fn messages_of_no_bytes_are_told_from_reports() {
    let idle = OrcaLoadReport::default();
    let orca = Orca::new(move |_| Ok(all(vec![idle.clone(), report(1), idle.clone()])));
    let expected =
        [Event::Empty, Event::Report(report(1)), Event::Empty, Event::End(StreamEnd::Status(0))];
    assert_eq!(events(&Target::new(orca.start().await)).await, expected);
}

#[tokio::test]
async fn where_nobody_listens_or_nothing_can_be_called_the_stream_is_broken() {
    let listening = Orca::new(|_| Ok(silence())).start().await;
    let targets = [
        Target::new(nobody().await),
        Target::new(""),
        Target::new("no address"),
        Target { authority: "no name".into(), ..Target::new(listening) },
    ];
    for target in targets {
        assert_eq!(events(&target).await, [Event::End(StreamEnd::Broken)], "{target:?}");
    }
}

#[tokio::test]
async fn a_connection_that_goes_away_breaks_the_stream() {
    let (listener, address) = common::listen().await;
    tokio::spawn(async move {
        loop {
            drop(listener.accept().await);
        }
    });
    assert_eq!(events(&Target::new(address.to_string())).await, [Event::End(StreamEnd::Broken)]);
}

#[tokio::test]
async fn a_report_of_more_than_64_kib_ends_its_stream() {
    // A name of so many bytes makes messages of 65 536 and 65 537 bytes.
    for (length, fits) in [(65_519, true), (65_520, false)] {
        let named_metrics = [("n".repeat(length), 1.0)].into();
        let large = OrcaLoadReport { named_metrics, ..OrcaLoadReport::default() };
        assert_eq!(large.encoded_len(), if fits { 65_536 } else { 65_537 });
        let sent = large.clone();
        let orca = Orca::new(move |_| Ok(all(vec![sent.clone()])));
        let expected = if fits {
            vec![Event::Report(large), Event::End(StreamEnd::Status(0))]
        } else {
            vec![Event::End(StreamEnd::Status(11))]
        };
        assert!(events(&Target::new(orca.start().await)).await == expected, "{length}");
    }
}

#[tokio::test]
async fn what_is_no_answer_of_grpc_ends_the_stream_at_once() {
    const GRPC: (&str, &str) = ("content-type", "application/grpc");
    const TEXT: (&str, &str) = ("content-type", "text/plain");
    let ok = || Some(vec![("grpc-status", "0")]);
    let table = [
        // An error page that ends, and some that do not; HTTP 404 is a server without the method.
        (500, vec![TEXT], &b"oops"[..], Some(vec![]), StreamEnd::Status(2)),
        (503, vec![TEXT], b"", None, StreamEnd::Status(14)),
        (404, vec![TEXT], b"", None, StreamEnd::Unimplemented),
        (200, vec![TEXT], b"", None, StreamEnd::Status(2)),
        // Flags, and a message that breaks off.
        (200, vec![GRPC], &[2, 0, 0, 0, 0], None, StreamEnd::Status(13)),
        (200, vec![GRPC], &[1, 0, 0, 0, 0], None, StreamEnd::Status(13)),
        (200, vec![GRPC, ("grpc-encoding", "gzip")], &[1, 0, 0, 0, 0], None, StreamEnd::Status(13)),
        (200, vec![GRPC], &[0, 0, 0, 0, 9, 1], Some(vec![]), StreamEnd::Status(13)),
        // No status at all, and one without a body.
        (200, vec![GRPC], b"", Some(vec![]), StreamEnd::Status(2)),
        (200, vec![GRPC, ("grpc-status", "12")], b"", Some(vec![]), StreamEnd::Unimplemented),
        (200, vec![GRPC, ("grpc-status", "7")], b"", Some(vec![]), StreamEnd::Status(7)),
        (200, vec![GRPC], b"", ok(), StreamEnd::Status(0)),
    ];
    for (status, headers, data, end, expected) in table {
        let raw = Raw { status, headers, data: data.to_vec(), end };
        let seen = events(&Target::new(raw.clone().start().await)).await;
        assert_eq!(seen, [Event::End(expected)], "{raw:?}");
    }
}

#[tokio::test]
async fn plain_messages_are_taken_whatever_encoding_the_server_names() {
    let raw = Raw {
        status: 200,
        headers: vec![("content-type", "application/grpc+proto"), ("grpc-encoding", "gzip")],
        data: vec![0, 0, 0, 0, 0],
        end: Some(vec![("grpc-status", "0")]),
    };
    let expected = [Event::Empty, Event::End(StreamEnd::Status(0))];
    assert_eq!(events(&Target::new(raw.start().await)).await, expected);
}

#[tokio::test]
async fn data_that_ends_without_trailers_is_an_end() {
    let raw = Raw {
        status: 200,
        headers: vec![("content-type", "application/grpc")],
        data: vec![0, 0, 0, 0, 0],
        end: Some(vec![]),
    };
    let seen = events(&Target::new(raw.start().await)).await;
    assert!(matches!(seen[..], [Event::Empty, Event::End(_)]), "{seen:?}");
}
