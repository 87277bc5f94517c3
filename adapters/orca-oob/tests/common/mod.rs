//! Servers on the loopback interface, and a limit to the patience of tests.
#![allow(dead_code, unreachable_pub)] // each test uses a part of it

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use plimsoll_orca_oob::{OrcaLoadReport, OrcaLoadReportRequest, STREAM_CORE_METRICS};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_stream::{Stream, StreamExt};
use tonic::body::Body;
use tonic::server::{Grpc, NamedService};
use tonic::transport::Server;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;
use tower::{Service, service_fn};

/// What a server sends on one stream.
pub type Reports = Pin<Box<dyn Stream<Item = Result<OrcaLoadReport, Status>> + Send>>;

/// What a server was called with.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub authority: String,
    pub request: OrcaLoadReportRequest,
}

type Answer = dyn Fn(Call) -> Result<Reports, Status> + Send + Sync;

/// `xds.service.orca.v3.OpenRcaService`.
#[derive(Clone)]
pub struct Orca(Arc<Answer>);

impl Orca {
    /// A service that answers each call with what the function gives.
    pub fn new(answer: impl Fn(Call) -> Result<Reports, Status> + Send + Sync + 'static) -> Self {
        Self(Arc::new(answer))
    }

    /// Starts a server of the service and returns its address.
    pub async fn start(self) -> String {
        let (listener, address) = listen().await;
        tokio::spawn(self.serve(listener));
        address.to_string()
    }

    /// Serves for ever.
    pub async fn serve(self, listener: TcpListener) {
        let incoming = TcpListenerStream::new(listener);
        Server::builder().add_service(self).serve_with_incoming(incoming).await.unwrap();
    }
}

impl NamedService for Orca {
    const NAME: &'static str = "xds.service.orca.v3.OpenRcaService";
}

impl Service<http::Request<Body>> for Orca {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        assert_eq!(request.uri().path(), STREAM_CORE_METRICS);
        let authority = request.uri().authority().map(ToString::to_string).unwrap_or_default();
        let answer = Arc::clone(&self.0);
        let handler = service_fn(move |request: Request<OrcaLoadReportRequest>| {
            let call = Call { authority: authority.clone(), request: request.into_inner() };
            let reports = answer(call);
            async move { reports.map(Response::new) }
        });
        let codec = ProstCodec::<OrcaLoadReport, OrcaLoadReportRequest>::default();
        Box::pin(async move { Ok(Grpc::new(codec).server_streaming(handler, request).await) })
    }
}

/// A free port, listened on.
pub async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// An address that nobody listens on.
pub async fn nobody() -> String {
    listen().await.1.to_string()
}

/// A report that can be told from others.
pub fn report(number: u32) -> OrcaLoadReport {
    OrcaLoadReport {
        application_utilization: 0.5,
        rps_fractional: f64::from(number),
        ..OrcaLoadReport::default()
    }
}

/// Reports that come at once, then the end with OK.
pub fn all(reports: Vec<OrcaLoadReport>) -> Reports {
    Box::pin(tokio_stream::iter(reports.into_iter().map(Ok)))
}

/// Reports 1, 2, and so on for ever.
pub fn every(interval: Duration) -> Reports {
    Box::pin(tokio_stream::iter(1..).map(|number| Ok(report(number))).throttle(interval))
}

/// Nothing, for ever.
pub fn silence() -> Reports {
    Box::pin(tokio_stream::pending())
}

/// How many streams a server has and has had.
#[derive(Debug, Default)]
pub struct Streams {
    all: AtomicUsize,
    closed: AtomicUsize,
}

impl Streams {
    /// Those that there have been.
    pub fn all(&self) -> usize {
        self.all.load(Ordering::SeqCst)
    }

    /// Those that the client has not closed.
    pub fn open(&self) -> usize {
        self.all() - self.closed.load(Ordering::SeqCst)
    }
}

/// The reports of a stream that is counted.
pub struct Counted {
    reports: Reports,
    streams: Arc<Streams>,
}

impl Counted {
    pub fn new(reports: Reports, streams: &Arc<Streams>) -> Self {
        streams.all.fetch_add(1, Ordering::SeqCst);
        Self { reports, streams: Arc::clone(streams) }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.streams.closed.fetch_add(1, Ordering::SeqCst);
    }
}

impl Stream for Counted {
    type Item = Result<OrcaLoadReport, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.reports.as_mut().poll_next(context)
    }
}

/// One answer of HTTP/2, byte for byte.
#[derive(Debug, Clone, Default)]
pub struct Raw {
    pub status: u16,
    pub headers: Vec<(&'static str, &'static str)>,
    pub data: Vec<u8>,
    /// How it ends: not at all, without trailers, or with them.
    pub end: Option<Vec<(&'static str, &'static str)>>,
}

impl Raw {
    /// Starts a server that gives this answer to all.
    pub async fn start(self) -> String {
        let (listener, address) = listen().await;
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(self.clone().answer(socket));
            }
        });
        address.to_string()
    }

    async fn answer(self, socket: tokio::net::TcpStream) {
        let mut connection = h2::server::handshake(socket).await.unwrap();
        while let Some(Ok((_, mut respond))) = connection.accept().await {
            let mut response = http::Response::builder().status(self.status);
            for (name, value) in &self.headers {
                response = response.header(*name, *value);
            }
            let ends = self.data.is_empty() && self.end.as_ref().is_some_and(Vec::is_empty);
            let mut send = respond.send_response(response.body(()).unwrap(), ends).unwrap();
            if ends {
                continue;
            }
            let trailers = self.end.as_ref().filter(|trailers| !trailers.is_empty());
            let last = self.end.is_some() && trailers.is_none();
            send.send_data(Bytes::from(self.data.clone()), last).unwrap();
            if let Some(trailers) = trailers {
                let trailers = trailers.iter().map(|(name, value)| {
                    (name.parse().unwrap(), http::HeaderValue::from_static(value))
                });
                send.send_trailers(trailers.collect()).unwrap();
            } else if !last {
                // Dropping it would reset the stream.
                std::mem::forget(send);
            }
        }
    }
}

/// Fails a test that waits longer than any machine needs.
pub async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("too slow")
}
