//! The messages of `xds.service.orca.v3`, written by hand so that building needs no protoc.

use std::collections::HashMap;

/// `xds.data.orca.v3.OrcaLoadReport`: how loaded a server is. Zero and absent are the same.
#[derive(Clone, PartialEq, prost::Message)]
pub struct OrcaLoadReport {
    /// At least 0; more than 1 if the server does more than it should.
    #[prost(double, tag = "1")]
    pub cpu_utilization: f64,
    /// 0 to 1.
    #[prost(double, tag = "2")]
    pub mem_utilization: f64,
    /// Requests per second, before `rps_fractional` was there. Nobody reads it.
    #[prost(uint64, tag = "3")]
    pub rps: u64,
    /// What the requests cost, by the names of the costs.
    #[prost(map = "string, double", tag = "4")]
    pub request_cost: HashMap<String, f64>,
    /// 0 to 1 for each resource.
    #[prost(map = "string, double", tag = "5")]
    pub utilization: HashMap<String, f64>,
    /// Requests per second. Weights need it.
    #[prost(double, tag = "6")]
    pub rps_fractional: f64,
    /// Errors per second.
    #[prost(double, tag = "7")]
    pub eps: f64,
    /// Whatever else the server measures.
    #[prost(map = "string, double", tag = "8")]
    pub named_metrics: HashMap<String, f64>,
    /// As `cpu_utilization`, but by the application's own reckoning; preferred to that.
    #[prost(double, tag = "9")]
    pub application_utilization: f64,
}

/// `xds.service.orca.v3.OrcaLoadReportRequest`: what is asked of a server.
#[derive(Clone, PartialEq, prost::Message)]
pub struct OrcaLoadReportRequest {
    /// How often to report. Servers may do so more seldom: those of gRPC each 30 s by default.
    #[prost(message, optional, tag = "1")]
    pub report_interval: Option<prost_types::Duration>,
    /// Which costs to report. Always empty here, as in Envoy.
    #[prost(string, repeated, tag = "2")]
    pub request_cost_names: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message;
    use std::time::Duration;

    #[test]
    fn a_request_for_a_report_each_second_is_envoys_to_the_byte() {
        let report_interval = prost_types::Duration::try_from(Duration::from_secs(1)).ok();
        let request = OrcaLoadReportRequest { report_interval, ..OrcaLoadReportRequest::default() };
        assert_eq!(request.encode_to_vec(), [0x0a, 0x02, 0x08, 0x01]);
    }

    #[test]
    fn a_report_of_zeros_is_no_bytes() {
        assert_eq!(OrcaLoadReport::default().encoded_len(), 0);
    }

    #[test]
    fn fields_have_the_numbers_of_the_proto() {
        let map = |key: &str| HashMap::from([(key.to_owned(), 1.0)]);
        let report = OrcaLoadReport {
            cpu_utilization: 1.0,
            mem_utilization: 1.0,
            rps: 1,
            request_cost: map("c"),
            utilization: map("u"),
            rps_fractional: 1.0,
            eps: 1.0,
            named_metrics: map("n"),
            application_utilization: 1.0,
        };
        let one = 1.0_f64.to_le_bytes();
        let double = |tag: u8| [&[tag << 3 | 1][..], &one].concat();
        let entry = |tag: u8, key: u8| [&[tag << 3 | 2, 12, 0x0a, 1, key, 0x11][..], &one].concat();
        let expected = [
            double(1),
            double(2),
            vec![3 << 3, 1],
            entry(4, b'c'),
            entry(5, b'u'),
            double(6),
            double(7),
            entry(8, b'n'),
            double(9),
        ];
        assert_eq!(report.encode_to_vec(), expected.concat());
    }
}
