//! A connection for one call, and whether what it answers is a response of gRPC, judged as Envoy
//! does and before tonic sees it.
//!
//! Left alone, tonic would wait for the body of an error page, and take a `grpc-encoding` that it
//! does not know for a server without the method, although such a server's frames may well be
//! plain.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::header::{CONTENT_TYPE, HeaderValue, USER_AGENT};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tonic::body::Body;
use tonic::{Code, Status};
use tower_service::Service;

const AGENT: HeaderValue =
    HeaderValue::from_static(concat!("plimsoll-orca-oob/", env!("CARGO_PKG_VERSION")));

/// What a server may send before it is read: the smallest that HTTP/2 knows without asking, because
/// there are many streams and reports are small.
const WINDOW_BYTES: u32 = 65_535;

/// A connection of HTTP/2, which is closed when it is dropped.
#[derive(Debug)]
pub(crate) struct Connection(http2::SendRequest<Body>);

impl Connection {
    /// Connects once. The second thing must run while the connection is used; what has arrived can
    /// be read after the connection is gone, so that it does not end.
    pub(crate) async fn open(
        address: &str,
    ) -> Result<(Self, impl Future<Output = Infallible>), Status> {
        let socket = TcpStream::connect(address).await?;
        // It holds requests back, at worst.
        let _ = socket.set_nodelay(true);
        let (sender, connection) = http2::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(WINDOW_BYTES)
            .initial_connection_window_size(WINDOW_BYTES)
            .handshake(TokioIo::new(socket))
            .await
            .map_err(failed)?;
        let work = async {
            // The stream tells why.
            let _ = connection.await;
            std::future::pending().await
        };
        Ok((Self(sender), work))
    }
}

impl Service<Request<Body>> for Connection {
    type Response = Response<Incoming>;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Incoming>, Status>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Status>> {
        self.0.poll_ready(context).map_err(failed)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        request.headers_mut().insert(USER_AGENT, AGENT);
        let response = self.0.send_request(request);
        Box::pin(async move {
            let mut response = response.await.map_err(failed)?;
            let ends = response.body().is_end_stream();
            judge(response.status(), response.headers(), ends)?;
            response.headers_mut().remove("grpc-encoding");
            Ok(response)
        })
    }
}

/// A status that has a cause.
fn failed(error: hyper::Error) -> Status {
    Status::from_error(error.into())
}

/// Refuses what is not a response of gRPC. `ends` says that there is a head only.
fn judge(status: StatusCode, headers: &HeaderMap, ends: bool) -> Result<(), Status> {
    let is_grpc = if ends {
        headers.contains_key("grpc-status")
    } else {
        let content_type = headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
        status == StatusCode::OK && content_type.starts_with(b"application/grpc")
    };
    if is_grpc { Ok(()) } else { Err(Status::new(code_of(status), "not a response of gRPC")) }
}

/// The status that gRPC assigns to one of HTTP.
fn code_of(status: StatusCode) -> Code {
    match status.as_u16() {
        400 => Code::Internal,
        401 => Code::Unauthenticated,
        403 => Code::PermissionDenied,
        404 => Code::Unimplemented,
        429 | 502..=504 => Code::Unavailable,
        _ => Code::Unknown,
    }
}
