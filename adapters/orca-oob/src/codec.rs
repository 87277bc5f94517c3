//! Requests out, bytes in: reports are not decoded here, because the engine reads them itself and
//! without building maps.

use bytes::{Buf, Bytes};
use prost::Message;
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

use crate::message::OrcaLoadReportRequest;

/// Reports are small and streams are many, so that a stream starts with little.
const BUFFER_BYTES: usize = 256;

/// See the module.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RawReports;

impl Codec for RawReports {
    type Encode = OrcaLoadReportRequest;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for RawReports {
    type Item = OrcaLoadReportRequest;
    type Error = Status;

    fn encode(
        &mut self,
        request: OrcaLoadReportRequest,
        buffer: &mut EncodeBuf<'_>,
    ) -> Result<(), Status> {
        request.encode(buffer).map_err(|error| Status::internal(error.to_string()))
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::new(BUFFER_BYTES, BUFFER_BYTES)
    }
}

impl Decoder for RawReports {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::new(BUFFER_BYTES, BUFFER_BYTES)
    }
}
