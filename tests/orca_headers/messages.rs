//! Protobuf messages against a naive encoder.

use plimsoll::orca::{LoadReport, MetricMap, Parser};
use proptest::prelude::*;
use proptest::sample::Index;

use super::{are_same, base64};

/// A part of a message.
#[derive(Debug, Clone)]
enum Part {
    Scalar(u8, f64),
    Rps(u64),
    Entry(MetricMap, Vec<Inner>),
    Unknown(Unknown),
}

/// A part of an entry of a map.
#[derive(Debug, Clone)]
enum Inner {
    Key(String),
    Value(f64),
    Unknown(Unknown),
}

/// What a reader of reports passes over.
#[derive(Debug, Clone)]
enum Unknown {
    Varint(u32, u64),
    Fixed64(u32, u64),
    Bytes(u32, Vec<u8>),
    Fixed32(u32, u32),
    Group(u32, Vec<Unknown>),
}

fn varint(mut number: u64, message: &mut Vec<u8>) {
    while number >= 0x80 {
        message.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    message.push(number.to_le_bytes()[0]);
}

fn tag(field: u32, wire_type: u64, message: &mut Vec<u8>) {
    varint(u64::from(field) << 3 | wire_type, message);
}

fn bytes(field: u32, bytes: &[u8], message: &mut Vec<u8>) {
    tag(field, 2, message);
    varint(bytes.len() as u64, message);
    message.extend(bytes);
}

fn double(field: u32, value: f64, message: &mut Vec<u8>) {
    tag(field, 1, message);
    message.extend(value.to_le_bytes());
}

impl Unknown {
    fn encode(&self, message: &mut Vec<u8>) {
        match self {
            Self::Varint(field, number) => {
                tag(*field, 0, message);
                varint(*number, message);
            }
            Self::Fixed64(field, number) => {
                tag(*field, 1, message);
                message.extend(number.to_le_bytes());
            }
            Self::Bytes(field, content) => bytes(*field, content, message),
            Self::Fixed32(field, number) => {
                tag(*field, 5, message);
                message.extend(number.to_le_bytes());
            }
            Self::Group(field, parts) => {
                tag(*field, 3, message);
                parts.iter().for_each(|part| part.encode(message));
                tag(*field, 4, message);
            }
        }
    }
}

impl Part {
    /// Writes the part, and does to the report what it means.
    fn encode(&self, message: &mut Vec<u8>, report: &mut LoadReport) {
        match self {
            Self::Scalar(field, value) => {
                double((*field).into(), *value, message);
                *match field {
                    1 => &mut report.cpu_utilization,
                    2 => &mut report.mem_utilization,
                    6 => &mut report.rps_fractional,
                    7 => &mut report.eps,
                    _ => &mut report.application_utilization,
                } = *value;
            }
            Self::Rps(number) => {
                tag(3, 0, message);
                varint(*number, message);
                report.rps = *number;
            }
            Self::Entry(map, parts) => {
                let (mut content, mut key, mut value) = (Vec::new(), "", 0.0);
                for part in parts {
                    match part {
                        Inner::Key(text) => {
                            bytes(1, text.as_bytes(), &mut content);
                            key = text;
                        }
                        Inner::Value(number) => {
                            double(2, *number, &mut content);
                            value = *number;
                        }
                        Inner::Unknown(unknown) => unknown.encode(&mut content),
                    }
                }
                let (field, map) = match map {
                    MetricMap::RequestCost => (4, &mut report.request_cost),
                    MetricMap::Utilization => (5, &mut report.utilization),
                    MetricMap::NamedMetrics => (8, &mut report.named_metrics),
                };
                bytes(field, &content, message);
                map.insert(key.to_owned(), value);
            }
            Self::Unknown(unknown) => unknown.encode(message),
        }
    }
}

/// Fields that a report does not have, and those of another wire type that it has.
fn unknown() -> impl Strategy<Value = Unknown> {
    let field = || prop_oneof![10_u32..20, 15_u32..1 << 29];
    let content = || prop::collection::vec(any::<u8>(), 0..20);
    let leaf = prop_oneof![
        (prop_oneof![field(), Just(1), Just(2), Just(8)], any::<u64>())
            .prop_map(|(field, number)| Unknown::Varint(field, number)),
        (prop_oneof![field(), Just(3), Just(8)], any::<u64>())
            .prop_map(|(field, number)| Unknown::Fixed64(field, number)),
        (prop_oneof![field(), Just(2), Just(3)], content())
            .prop_map(|(field, content)| Unknown::Bytes(field, content)),
        (prop_oneof![field(), Just(1), Just(3)], any::<u32>())
            .prop_map(|(field, number)| Unknown::Fixed32(field, number)),
    ];
    let group = |inner| {
        (1_u32..30, prop::collection::vec(inner, 0..3))
            .prop_map(|(field, parts)| Unknown::Group(field, parts))
    };
    leaf.prop_recursive(3, 8, 3, group)
}

fn part() -> impl Strategy<Value = Part> {
    let inner = prop_oneof![
        3 => "[ab]{0,2}".prop_map(Inner::Key),
        3 => any::<f64>().prop_map(Inner::Value),
        1 => ".{0,3}".prop_map(Inner::Key),
        1 => unknown().prop_map(Inner::Unknown),
    ];
    let inner = prop::collection::vec(inner, 0..4);
    prop_oneof![
        3 => (prop::sample::select(vec![1, 2, 6, 7, 9]), any::<f64>())
            .prop_map(|(field, value)| Part::Scalar(field, value)),
        1 => any::<u64>().prop_map(Part::Rps),
        4 => (prop::sample::select(MetricMap::ALL.to_vec()), inner)
            .prop_map(|(map, parts)| Part::Entry(map, parts)),
        2 => unknown().prop_map(Part::Unknown),
    ]
}

fn encoded(parts: &[Part]) -> (Vec<u8>, LoadReport) {
    let (mut message, mut report) = (Vec::new(), LoadReport::default());
    parts.iter().for_each(|part| part.encode(&mut message, &mut report));
    (message, report)
}

proptest! {
    #[test]
    fn a_message_is_the_report_that_it_was_written_from(
        parts in prop::collection::vec(part(), 0..12),
    ) {
        let (message, expected) = encoded(&parts);
        let mut parser = Parser::new();
        let seen = parser.grpc(&message).unwrap().to_owned_report();
        prop_assert!(are_same(&seen, &expected), "{:?} {:?}", seen, expected);
        let text = base64(&message);
        let seen = parser.binary(text.as_bytes()).map(|report| report.to_owned_report());
        prop_assert!(message.is_empty() || are_same(&seen.unwrap(), &expected));
    }

    #[test]
    fn a_damaged_message_gives_a_report_or_an_error(
        parts in prop::collection::vec(part(), 0..8),
        damage in prop::collection::vec((any::<Index>(), any::<u8>()), 1..4),
        end: Index,
    ) {
        let (mut message, _) = encoded(&parts);
        for (index, byte) in damage {
            if !message.is_empty() {
                let index = index.index(message.len());
                message[index] = byte;
            }
        }
        message.truncate(end.index(message.len() + 1));
        let _ = Parser::new().grpc(&message).map(|report| report.to_owned_report());
    }

    #[test]
    fn any_bytes_give_a_report_or_an_error(message in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut parser = Parser::new();
        let _ = parser.grpc(&message).map(|report| report.to_owned_report());
        let _ = parser.binary(&message).map(|report| report.to_owned_report());
    }

    #[test]
    fn the_copy_of_a_report_answers_as_the_report_does(
        parts in prop::collection::vec(part(), 0..8),
    ) {
        let (message, _) = encoded(&parts);
        let mut parser = Parser::new();
        let report = parser.grpc(&message).unwrap();
        let own = report.to_owned_report();
        for map in MetricMap::ALL {
            for (key, value) in report.metrics(map) {
                let seen = [report.metric(map, key), own.as_report().metric(map, key)];
                prop_assert_eq!(seen.map(|seen| seen.map(f64::to_bits)), [Some(value.to_bits()); 2]);
            }
            prop_assert_eq!(report.metrics(map).len(), own.as_report().metrics(map).len());
        }
    }
}

/// Whether a message is taken.
fn is_good(message: &[u8]) -> bool {
    Parser::new().grpc(message).is_ok()
}

#[test]
fn a_message_must_be_whole_and_well_formed() {
    let nested = |depth: usize| [vec![0x7b; depth], vec![0x7c; depth]].concat();
    let bad: &[&[u8]] = &[
        b"\x00\x01",                                         // field 0
        b"\x07\x01",                                         // field 0 and no wire type
        b"\x0c",                                             // the end of no group
        b"\x0e\x00",                                         // wire type 6
        b"\x0f\x00",                                         // wire type 7
        b"\x09\0\0\0\0\0\0\0",                               // a double of seven bytes
        b"\x7d\0\0\0",                                       // 32 bits of three bytes
        b"\x78\x80",                                         // a number without end
        b"\x78\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", // one of eleven bytes
        b"\x80\x80\x80\x80\x80\x01",                         // a tag of six bytes
        b"\x7a\x02\x00",                                     // fewer bytes than announced
        b"\x7a\xff\xff\xff\xff\x0f",                         // 4 GiB
        b"\x7a\x80\x80\x80\x80\x80\x00",                     // a length of six bytes
        b"\x7b\x78\x01",                                     // a group without end
        b"\x7b\x84\x01",                                     // the end of another group
        b"\x42\x03\x0a\x02\x61",                             // a key beyond its entry
        b"\x42\x03\x0a\x01\xff",                             // a key that is not UTF-8
        b"\x42\x06\x0a\x01\xff\x0a\x01a",                    // though another one follows
        b"\x42\x02\x00\x01",                                 // field 0 in an entry
        b"\x42\x01\x0c",                                     // the end of no group in an entry
    ];
    for message in bad {
        assert!(!is_good(message), "{message:02x?}");
    }
    let good: &[&[u8]] = &[
        b"",
        b"\x78\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", // ten bytes, of 64 bits the lowest
        b"\xf8\x80\x80\x80\x00\x01",                     // a tag that is longer than it need be
        b"\x7a\x00\x7b\x7c",
        b"\x42\x00",
    ];
    for message in good {
        assert!(is_good(message), "{message:02x?}");
    }
    assert!(is_good(&nested(100)) && !is_good(&nested(101)));
}
