//! How the structs of the interface lie in memory.
//!
//! C code that is compiled already relies on these numbers, so that a change of one of them is a
//! change of the interface. The C tests assert the same from the other side. A growable struct has
//! no padding: a byte that no member names could not be told from one of a later version.

use std::mem::{offset_of, size_of};

use crate::change::HostChange;
use crate::control::Applied;
use crate::hosts::Host;
use crate::json::DumpOptions;
use crate::load::HostLoad;
use crate::localities::LocalityShown;
use crate::options::ClusterOptions;
use crate::pick::{Pick, PickContext};
use crate::reports::ResponseLoad;
use crate::request_hash::{Header, Request};
use crate::runtime::RuntimeValue;
use crate::status::Status;
use crate::text::Str;
use crate::worker_options::WorkerOptions;

const _: () = assert!(size_of::<Status>() == 4);

const _: () = assert!(size_of::<Pick>() == 16);
const _: () = assert!(offset_of!(Pick, slot) == 0);
const _: () = assert!(offset_of!(Pick, generation) == 4);
const _: () = assert!(offset_of!(Pick, priority) == 8);
const _: () = assert!(offset_of!(Pick, flags) == 12);

/// Where a pointer has 64 bits.
#[cfg(target_pointer_width = "64")]
mod pointers_of_64_bits {
    use super::*;

    const _: () = assert!(size_of::<Str>() == 16);
    const _: () = assert!(offset_of!(Str, len) == 8);

    const _: () = assert!(size_of::<Applied>() == 16);
    const _: () = assert!(offset_of!(Applied, published) == 8);

    const _: () = assert!(size_of::<ClusterOptions>() == 104);
    const _: () = assert!(offset_of!(ClusterOptions, size) == 0);
    const _: () = assert!(offset_of!(ClusterOptions, behavior) == 8);
    const _: () = assert!(offset_of!(ClusterOptions, has_seed) == 12);
    const _: () = assert!(offset_of!(ClusterOptions, seed) == 16);
    const _: () = assert!(offset_of!(ClusterOptions, now_ns) == 24);
    const _: () = assert!(offset_of!(ClusterOptions, region) == 32);
    const _: () = assert!(offset_of!(ClusterOptions, zone) == 48);
    const _: () = assert!(offset_of!(ClusterOptions, sub_zone) == 64);
    const _: () = assert!(offset_of!(ClusterOptions, local_cluster) == 80);
    const _: () = assert!(offset_of!(ClusterOptions, runtime) == 88);
    const _: () = assert!(offset_of!(ClusterOptions, runtime_count) == 96);

    const _: () = assert!(size_of::<RuntimeValue>() == 48);
    const _: () = assert!(offset_of!(RuntimeValue, size) == 0);
    const _: () = assert!(offset_of!(RuntimeValue, key) == 8);
    const _: () = assert!(offset_of!(RuntimeValue, kind) == 24);
    const _: () = assert!(offset_of!(RuntimeValue, boolean) == 28);
    const _: () = assert!(offset_of!(RuntimeValue, integer) == 32);
    const _: () = assert!(offset_of!(RuntimeValue, number) == 40);

    const _: () = assert!(size_of::<WorkerOptions>() == 40);
    const _: () = assert!(offset_of!(WorkerOptions, size) == 0);
    const _: () = assert!(offset_of!(WorkerOptions, peek_capacity) == 8);
    const _: () = assert!(offset_of!(WorkerOptions, has_number) == 12);
    const _: () = assert!(offset_of!(WorkerOptions, number) == 16);
    const _: () = assert!(offset_of!(WorkerOptions, draws) == 24);
    const _: () = assert!(offset_of!(WorkerOptions, draw_count) == 32);

    const _: () = assert!(size_of::<DumpOptions>() == 32);
    const _: () = assert!(offset_of!(DumpOptions, size) == 0);
    const _: () = assert!(offset_of!(DumpOptions, part) == 8);
    const _: () = assert!(offset_of!(DumpOptions, flags) == 12);
    const _: () = assert!(offset_of!(DumpOptions, priority) == 16);
    const _: () = assert!(offset_of!(DumpOptions, source) == 24);
    const _: () = assert!(offset_of!(DumpOptions, reserved) == 28);

    const _: () = assert!(size_of::<HostChange>() == 128);
    const _: () = assert!(offset_of!(HostChange, size) == 0);
    const _: () = assert!(offset_of!(HostChange, kind) == 8);
    const _: () = assert!(offset_of!(HostChange, event) == 12);
    const _: () = assert!(offset_of!(HostChange, address) == 16);
    const _: () = assert!(offset_of!(HostChange, hostname) == 32);
    const _: () = assert!(offset_of!(HostChange, region) == 48);
    const _: () = assert!(offset_of!(HostChange, zone) == 64);
    const _: () = assert!(offset_of!(HostChange, sub_zone) == 80);
    const _: () = assert!(offset_of!(HostChange, priority) == 96);
    const _: () = assert!(offset_of!(HostChange, weight) == 100);
    const _: () = assert!(offset_of!(HostChange, health_status) == 104);
    const _: () = assert!(offset_of!(HostChange, reserved) == 108);
    const _: () = assert!(offset_of!(HostChange, hash_key) == 112);

    const _: () = assert!(size_of::<HostLoad>() == 40);
    const _: () = assert!(offset_of!(HostLoad, size) == 0);
    const _: () = assert!(offset_of!(HostLoad, address) == 8);
    const _: () = assert!(offset_of!(HostLoad, active) == 24);
    const _: () = assert!(offset_of!(HostLoad, pending) == 28);
    const _: () = assert!(offset_of!(HostLoad, flags) == 32);
    const _: () = assert!(offset_of!(HostLoad, reserved) == 36);

    const _: () = assert!(size_of::<Host>() == 176);
    const _: () = assert!(offset_of!(Host, size) == 0);
    const _: () = assert!(offset_of!(Host, address) == 8);
    const _: () = assert!(offset_of!(Host, hostname) == 24);
    const _: () = assert!(offset_of!(Host, region) == 40);
    const _: () = assert!(offset_of!(Host, zone) == 56);
    const _: () = assert!(offset_of!(Host, sub_zone) == 72);
    const _: () = assert!(offset_of!(Host, priority) == 88);
    const _: () = assert!(offset_of!(Host, weight) == 92);
    const _: () = assert!(offset_of!(Host, active) == 96);
    const _: () = assert!(offset_of!(Host, health) == 100);
    const _: () = assert!(offset_of!(Host, eds_health) == 104);
    const _: () = assert!(offset_of!(Host, coarse) == 108);
    const _: () = assert!(offset_of!(Host, effective_weight) == 112);
    const _: () = assert!(offset_of!(Host, share) == 120);
    const _: () = assert!(offset_of!(Host, slow_start_factor) == 128);
    const _: () = assert!(offset_of!(Host, slow_start_seconds_left) == 136);
    const _: () = assert!(offset_of!(Host, has_report) == 144);
    const _: () = assert!(offset_of!(Host, reserved) == 148);
    const _: () = assert!(offset_of!(Host, utilization) == 152);
    const _: () = assert!(offset_of!(Host, report_age_ns) == 160);
    const _: () = assert!(offset_of!(Host, reported_weight) == 168);

    const _: () = assert!(size_of::<LocalityShown>() == 104);
    const _: () = assert!(offset_of!(LocalityShown, size) == 0);
    const _: () = assert!(offset_of!(LocalityShown, region) == 8);
    const _: () = assert!(offset_of!(LocalityShown, zone) == 24);
    const _: () = assert!(offset_of!(LocalityShown, sub_zone) == 40);
    const _: () = assert!(offset_of!(LocalityShown, priority) == 56);
    const _: () = assert!(offset_of!(LocalityShown, source) == 60);
    const _: () = assert!(offset_of!(LocalityShown, all_local) == 64);
    const _: () = assert!(offset_of!(LocalityShown, has_utilization) == 68);
    const _: () = assert!(offset_of!(LocalityShown, hosts) == 72);
    const _: () = assert!(offset_of!(LocalityShown, load) == 80);
    const _: () = assert!(offset_of!(LocalityShown, utilization) == 88);
    const _: () = assert!(offset_of!(LocalityShown, weight) == 96);

    const _: () = assert!(size_of::<PickContext>() == 40);
    const _: () = assert!(offset_of!(PickContext, size) == 0);
    const _: () = assert!(offset_of!(PickContext, retries) == 8);
    const _: () = assert!(offset_of!(PickContext, flags) == 12);
    const _: () = assert!(offset_of!(PickContext, now_ns) == 16);
    const _: () = assert!(offset_of!(PickContext, hash) == 24);
    const _: () = assert!(offset_of!(PickContext, attempt) == 32);
    const _: () = assert!(offset_of!(PickContext, reserved) == 36);

    const _: () = assert!(size_of::<Header>() == 32);
    const _: () = assert!(offset_of!(Header, name) == 0);
    const _: () = assert!(offset_of!(Header, value) == 16);

    const _: () = assert!(size_of::<Request>() == 120);
    const _: () = assert!(offset_of!(Request, size) == 0);
    const _: () = assert!(offset_of!(Request, headers) == 8);
    const _: () = assert!(offset_of!(Request, header_count) == 16);
    const _: () = assert!(offset_of!(Request, path) == 24);
    const _: () = assert!(offset_of!(Request, query) == 40);
    const _: () = assert!(offset_of!(Request, source_ip) == 56);
    const _: () = assert!(offset_of!(Request, remote_address) == 72);
    const _: () = assert!(offset_of!(Request, local_address) == 88);
    const _: () = assert!(offset_of!(Request, cookies) == 104);
    const _: () = assert!(offset_of!(Request, cookie_count) == 112);

    const _: () = assert!(size_of::<ResponseLoad>() == 80);
    const _: () = assert!(offset_of!(ResponseLoad, size) == 0);
    const _: () = assert!(offset_of!(ResponseLoad, header_binary) == 8);
    const _: () = assert!(offset_of!(ResponseLoad, header_text) == 24);
    const _: () = assert!(offset_of!(ResponseLoad, trailer_binary) == 40);
    const _: () = assert!(offset_of!(ResponseLoad, trailer_text) == 56);
    const _: () = assert!(offset_of!(ResponseLoad, now_ns) == 72);
}
