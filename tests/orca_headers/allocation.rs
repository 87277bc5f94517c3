//! Reports in TEXT and in protobuf, and errors, take no memory.

use std::hint::black_box;

use crate::counting::allocations;
use plimsoll::orca::{Headers, MetricMap, MetricNames, Parser};

#[test]
fn the_counter_counts() {
    assert_ne!(allocations(|| drop(black_box(vec![1]))), 0);
}

#[test]
fn text_and_protobuf_and_errors_allocate_nothing() {
    let names = MetricNames::new(["named_metrics.rif", "utilization.*", "mem_utilization"]);
    let response = [
        ("content-type", "text/html"),
        ("endpoint-load-metrics", "TEXT cpu_utilization=0.7,named_metrics.rif=4,utilization.u=0x1"),
    ];
    let binary =
        ("endpoint-load-metrics-bin", "CQAAAAAAAOA/MQAAAAAAAFlAOQAAAAAAAABAQg4KA3JpZhEAAAAAAAAQQA");
    let mut parser = Parser::new();
    let work = || {
        for headers in [Headers::find(response), Headers::find([binary])] {
            let report = parser.read(headers, None).unwrap();
            black_box(report.utilization(&names, true));
            black_box(report.metrics(MetricMap::NamedMetrics).count());
        }
        for bad in ["TEXT eps=1,eps=2", "TEXT eps=x", "BIN !", "BIN QUJD", "PLAIN eps=1"] {
            let headers = Headers { text: Some(bad.as_bytes()), ..Headers::default() };
            black_box(parser.read(headers, None).unwrap_err());
        }
    };
    assert_eq!(allocations(work), 0);
}

#[test]
fn a_parser_allocates_for_a_large_report_only_once() {
    let metrics: Vec<String> = (0..500).map(|index| format!("named_metrics.{index}=1")).collect();
    let text = metrics.join(",");
    let mut parser = Parser::new();
    let mut parse = || assert!(parser.text(text.as_bytes()).is_ok());
    assert_ne!(allocations(&mut parse), 0);
    assert_eq!(allocations(&mut parse), 0);
}
