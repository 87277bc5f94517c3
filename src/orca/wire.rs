//! A report in protobuf's wire format.
//!
//! What the C++ library takes is taken: unknown fields, also groups; known fields of another wire
//! type, which are unknown then; fields in any order, and of several the last one. Refused are a
//! message that ends early, field number 0, the end of a group that did not begin, and a key that
//! is not UTF-8.
//!
//! //= envoy v1.40 xds/data/orca/v3/orca_load_report.proto#OrcaLoadReport

use super::entries::{Full, Table};
use super::name::Scalar;
use super::{MetricMap, Report};

/// Groups in groups beyond that are refused, as in C++.
const MAX_GROUP_DEPTH: u32 = 100;
/// Longer fields are refused, as in C++; none fits into a message here anyway.
const MAX_FIELD_LENGTH: u64 = i32::MAX as u64;

// Wire types.
const VARINT: u8 = 0;
const FIXED64: u8 = 1;
const LENGTH: u8 = 2;
const START_GROUP: u8 = 3;
const END_GROUP: u8 = 4;
const FIXED32: u8 = 5;

/// Why a message was refused.
#[derive(Debug, Clone, Copy)]
pub(super) enum Failure {
    Malformed,
    TooManyMetrics,
}

type Result<T> = std::result::Result<T, Failure>;

/// Reads a report; `table` is over `message` afterwards.
pub(super) fn parse(message: &[u8], table: &mut Table) -> Result<Report<'static>> {
    let mut report = Report::default();
    let mut reader = Reader { bytes: message, position: 0 };
    while !reader.is_at_end() {
        let tag = reader.tag()?;
        match (tag.field, tag.wire_type) {
            (1, FIXED64) => report.set(Scalar::CpuUtilization, reader.double()?),
            (2, FIXED64) => report.set(Scalar::MemUtilization, reader.double()?),
            (3, VARINT) => report.set_rps(reader.varint()?),
            (4, LENGTH) => reader.entry(MetricMap::RequestCost, table)?,
            (5, LENGTH) => reader.entry(MetricMap::Utilization, table)?,
            (6, FIXED64) => report.set(Scalar::RpsFractional, reader.double()?),
            (7, FIXED64) => report.set(Scalar::Eps, reader.double()?),
            (8, LENGTH) => reader.entry(MetricMap::NamedMetrics, table)?,
            (9, FIXED64) => report.set(Scalar::ApplicationUtilization, reader.double()?),
            _ => reader.skip(tag, MAX_GROUP_DEPTH)?,
        }
    }
    Ok(report)
}

/// What stands before each field.
#[derive(Debug, Clone, Copy)]
struct Tag {
    field: u32,
    wire_type: u8,
}

/// Bytes up to where a message ends, and a place in them.
struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    fn is_at_end(&self) -> bool {
        self.position == self.bytes.len()
    }

    /// An entry of a map, which is a message of its own: 1 is the key, 2 the value.
    fn entry(&mut self, map: MetricMap, table: &mut Table) -> Result<()> {
        let length = self.length()?;
        let end = self.position + length;
        let bytes = self.bytes.get(..end).ok_or(Failure::Malformed)?;
        let mut entry = Reader { bytes, position: self.position };
        let (mut key, mut start, mut value) = (&bytes[end..], end, 0.0);
        while !entry.is_at_end() {
            match entry.tag()? {
                Tag { field: 1, wire_type: LENGTH } => {
                    key = entry.text()?;
                    start = entry.position - key.len();
                }
                Tag { field: 2, wire_type: FIXED64 } => value = entry.double()?,
                tag => entry.skip(tag, MAX_GROUP_DEPTH)?,
            }
        }
        let place = table.entry(self.bytes, map, key, start);
        *place.map_err(|Full| Failure::TooManyMetrics)?.0 = value;
        self.position = end;
        Ok(())
    }

    #[inline]
    fn tag(&mut self) -> Result<Tag> {
        // C++ reads a tag of at most five bytes and keeps 32 bits.
        let bits = self.varint_of(5)? & u64::from(u32::MAX);
        let field = u32::try_from(bits >> 3).unwrap_or(0);
        let wire_type = u8::try_from(bits & 7).unwrap_or(0);
        if field == 0 { Err(Failure::Malformed) } else { Ok(Tag { field, wire_type }) }
    }

    fn skip(&mut self, tag: Tag, depth: u32) -> Result<()> {
        match tag.wire_type {
            VARINT => self.varint().map(drop),
            FIXED64 => self.take(8).map(drop),
            LENGTH => {
                let length = self.length()?;
                self.take(length).map(drop)
            }
            FIXED32 => self.take(4).map(drop),
            START_GROUP => self.skip_group(tag.field, depth),
            _ => Err(Failure::Malformed),
        }
    }

    fn skip_group(&mut self, field: u32, depth: u32) -> Result<()> {
        let depth = depth.checked_sub(1).ok_or(Failure::Malformed)?;
        loop {
            match self.tag()? {
                Tag { field: end, wire_type: END_GROUP } if end == field => return Ok(()),
                tag => self.skip(tag, depth)?,
            }
        }
    }

    fn text(&mut self) -> Result<&'a [u8]> {
        let length = self.length()?;
        let bytes = self.take(length)?;
        str::from_utf8(bytes).map(str::as_bytes).map_err(|_| Failure::Malformed)
    }

    #[inline]
    fn double(&mut self) -> Result<f64> {
        let bytes = self.take(8)?.first_chunk().ok_or(Failure::Malformed)?;
        Ok(f64::from_le_bytes(*bytes))
    }

    #[inline]
    fn length(&mut self) -> Result<usize> {
        let length = self.varint_of(5)?;
        if length > MAX_FIELD_LENGTH {
            return Err(Failure::Malformed);
        }
        usize::try_from(length).map_err(|_| Failure::Malformed)
    }

    fn varint(&mut self) -> Result<u64> {
        self.varint_of(10)
    }

    /// A number in groups of seven bits, lowest first; bits beyond the 64th are lost.
    #[inline]
    fn varint_of(&mut self, max_bytes: u32) -> Result<u64> {
        let mut number = 0;
        for index in 0..max_bytes {
            let byte = *self.bytes.get(self.position).ok_or(Failure::Malformed)?;
            self.position += 1;
            number |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Failure::Malformed)
    }

    #[inline]
    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let rest = &self.bytes[self.position..];
        let bytes = rest.get(..length).ok_or(Failure::Malformed)?;
        self.position += length;
        Ok(bytes)
    }
}
