//! Any bytes as the load report of a response. It gives a report that is in order, or an error
//! that can be told.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll::orca::{Headers, LoadReport, MetricMap, MetricNames, Parser, Report, ReportError};
use plimsoll_envoy_config::parse_load_report;

fn check(outcome: Result<Report<'_>, ReportError<'_>>) -> Option<LoadReport> {
    let report = match outcome {
        Ok(report) => report,
        Err(error) => {
            let _ = (error.to_string(), error.reason().name());
            return None;
        }
    };
    for map in MetricMap::ALL {
        let keys: Vec<&[u8]> = report.metrics(map).map(|(key, _)| key).collect();
        assert!(keys.is_sorted_by(|one, next| one < next), "each key once");
        for (key, value) in report.metrics(map) {
            let found = report.metric(map, key).map(f64::to_bits);
            assert_eq!(found, Some(value.to_bits()), "what a walk finds, a look finds");
        }
    }
    let own = report.to_owned_report();
    let names = MetricNames::new(["named_metrics.*", "utilization.a", "eps"]);
    for named_first in [true, false] {
        let utilization = own.as_report().utilization(&names, named_first);
        assert_eq!(report.utilization(&names, named_first).to_bits(), utilization.to_bits());
    }
    Some(own)
}

fuzz_target!(|bytes: &[u8]| {
    let mut parser = Parser::new();
    check(parser.grpc(bytes));
    check(parser.binary(bytes));
    check(parser.text(bytes));
    let headers = Headers { text: Some(bytes), ..Headers::default() };
    let first = check(parser.read(headers, Some(&parse_load_report)));
    let again = check(Parser::new().read(headers, Some(&parse_load_report)));
    assert_eq!(format!("{first:?}"), format!("{again:?}"), "a parser keeps nothing");
});
