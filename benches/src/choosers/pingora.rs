//! The weighted round robin of `pingora-load-balancing`: a table that has each backend as often as
//! its weight says, one after the other, and a shared counter.
//!
//! What is measured is `select` of the load balancer, which includes a snapshot of the backends, a
//! look at the backend's health and a copy of it.

use std::collections::BTreeSet;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use pingora_load_balancing::discovery::Static;
use pingora_load_balancing::selection::RoundRobin;
use pingora_load_balancing::{Backend, Backends, LoadBalancer};

use super::{Chooser, Maker};

impl Chooser for LoadBalancer<RoundRobin> {
    #[inline]
    fn pick(&mut self) -> u32 {
        let backend = self.select(b"", 1).expect("a healthy backend");
        match backend.addr.as_inet().map(SocketAddr::ip) {
            Some(IpAddr::V4(address)) => address.to_bits(),
            _ => unreachable!("all addresses are of version 4"),
        }
    }
}

pub(super) fn round_robin(weights: &[u32]) -> Maker {
    let backend = |(index, &weight)| {
        let address = format!("{}:80", Ipv4Addr::from_bits(index));
        Backend::new_with_weight(&address, weight as usize).expect("a valid address")
    };
    let backends: BTreeSet<Backend> = (0..).zip(weights).map(backend).collect();
    Box::new(move || {
        let discovery = Static::new(backends.clone());
        let balancer = LoadBalancer::<RoundRobin>::from_backends(Backends::new(discovery));
        now(balancer.update()).expect("nothing to wait for or to fail");
        Box::new(balancer)
    })
}

/// What a future comes to that has nothing to wait for.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => unreachable!("static backends are there"),
    }
}
