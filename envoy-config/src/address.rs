//! A host's address: from Envoy's `Address` message to the text that identifies the host.

use std::net::{IpAddr, Ipv6Addr};

use plimsoll::config::{ConfigError, Problem};
use serde_json::Value;

use crate::fields::{IGNORED_SOCKET_ADDRESS_FIELDS, REFUSED_SOCKET_ADDRESS_FIELDS};
use crate::message::{self, Message, Result, required};
use crate::scalars::Choices;

const MAX_PORT: u32 = 65_535;
const MAX_PIPE_MODE: u32 = 0o777;

const PROTOCOL: Choices<()> =
    Choices { expected: "TCP or UDP", values: &[("TCP", 0, ()), ("UDP", 1, ())] };

/// Where a host or its health check is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum HostAddress {
    /// An IP address or a name, and a port.
    Socket { host: String, port: u32 },
    /// A path or an internal listener, which have no port.
    Portless(String),
}

impl HostAddress {
    /// The text by which the engine knows the address.
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Socket { host, port } => format!("{host}:{port}"),
            Self::Portless(text) => text,
        }
    }

    /// The same place at another port; `None` where there are no ports.
    pub(crate) fn with_port(self, port: u32) -> Option<Self> {
        match self {
            Self::Socket { host, .. } => Some(Self::Socket { host, port }),
            Self::Portless(_) => None,
        }
    }
}

/// Reads an `Address`.
pub(crate) fn read(value: &Value) -> Result<HostAddress> {
    message::read(value, |address| {
        address.only_one_of(&["socket_address", "pipe", "envoy_internal_address"])?;
        let socket = address.message("socket_address", socket_address)?;
        let pipe = address.message("pipe", pipe)?;
        let internal = address.message("envoy_internal_address", internal_address)?;
        required("", socket.or(pipe).or(internal))
    })
}

/// The port of a message that has one.
pub(crate) fn port(message: &mut Message<'_>, rule: &'static str) -> Result<Option<u32>> {
    message.uint32_in("port_value", 0..=MAX_PORT, rule)
}

fn socket_address(socket: &mut Message<'_>) -> Result<HostAddress> {
    socket.choice("protocol", &PROTOCOL)?;
    let host = host(socket.required_string("address", "SocketAddressValidationError.Address")?)?;
    let port = port(socket, "SocketAddressValidationError.PortValue")?;
    socket.refuse(REFUSED_SOCKET_ADDRESS_FIELDS)?;
    socket.ignore(IGNORED_SOCKET_ADDRESS_FIELDS)?;
    Ok(HostAddress::Socket { host, port: required("port_value", port)? })
}

/// The part before the port. IPv6 addresses are written in one way only, because the text is the
/// host's identity; whatever else has a colon would not be told from its port again.
fn host(text: &str) -> Result<String> {
    let (address, scope) = text.split_once('%').map_or((text, None), |(a, s)| (a, Some(s)));
    match (text.parse::<IpAddr>(), address.parse::<Ipv6Addr>(), scope) {
        (Ok(IpAddr::V4(address)), ..) => Ok(address.to_string()),
        (_, Ok(address), Some(scope)) if !scope.contains([':', ']']) => {
            Ok(format!("[{address}%{scope}]"))
        }
        (_, Ok(address), None) => Ok(format!("[{address}]")),
        _ if text.contains(':') => {
            let message = format!("malformed IP address: {text}");
            Err(ConfigError::new("address", Problem::Invalid { message }))
        }
        _ => Ok(text.to_owned()),
    }
}

fn pipe(pipe: &mut Message<'_>) -> Result<HostAddress> {
    pipe.uint32_in("mode", 0..=MAX_PIPE_MODE, "PipeValidationError.Mode")?;
    Ok(HostAddress::Portless(pipe.required_string("path", "PipeValidationError.Path")?.to_owned()))
}

fn internal_address(internal: &mut Message<'_>) -> Result<HostAddress> {
    let name = "server_listener_name";
    let listener = Some(internal.string(name)?).filter(|listener| !listener.is_empty());
    let listener = required(name, listener)?;
    let endpoint = internal.string("endpoint_id")?;
    Ok(HostAddress::Portless(format!("envoy://{listener}/{endpoint}")))
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn every_spelling_of_an_ipv6_address_is_one_host() {
        for text in ["::1", "0:0:0:0:0:0:0:1", "0000::0001"] {
            assert_eq!(host(text).as_deref(), Ok("[::1]"), "{text}");
        }
        assert_eq!(host("fe80::1%eth0").as_deref(), Ok("[fe80::1%eth0]"));
    }

    #[test]
    fn names_stay_as_they_are_and_colons_are_refused() {
        assert_eq!(host("Backend.local").as_deref(), Ok("Backend.local"));
        for text in ["[::1]", "10.0.0.1:80", "fe80::1%a]b", "a:b", "::g"] {
            assert!(host(text).is_err(), "{text}");
        }
    }
}
