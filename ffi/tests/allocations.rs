//! The calls of a request allocate nothing and free nothing, whatever the policy, also when they
//! fail and when they meet a new snapshot. There are three exceptions: Envoy's schedule, once an
//! update, load reports in JSON, and what a new cookie takes.

// Counting what goes through the allocator, and calling the interface as C does, takes raw pointers.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use plimsoll_ffi::batch::plimsoll_worker_pick_batch;
use plimsoll_ffi::cluster::{ClusterHandle, plimsoll_cluster_free, plimsoll_cluster_open};
use plimsoll_ffi::control::{plimsoll_cluster_assign, plimsoll_cluster_tick};
use plimsoll_ffi::options::{ClusterOptions, PLIMSOLL_BEHAVIOR_ENVOY, PLIMSOLL_BEHAVIOR_NATIVE};
use plimsoll_ffi::override_host::plimsoll_worker_pick_override;
use plimsoll_ffi::pick::{
    Pick, PickContext, plimsoll_worker_done, plimsoll_worker_peek, plimsoll_worker_pick,
    plimsoll_worker_pick_filtered,
};
use plimsoll_ffi::picked::{plimsoll_worker_host_address, plimsoll_worker_host_data};
use plimsoll_ffi::reports::{ResponseLoad, plimsoll_worker_report};
use plimsoll_ffi::request_hash::{
    HashPolicies, Header, Request, plimsoll_hash_policies_free, plimsoll_hash_policies_parse,
    plimsoll_worker_hash,
};
use plimsoll_ffi::status::Status;
use plimsoll_ffi::text::Str;
use plimsoll_ffi::worker::{
    WorkerHandle, plimsoll_worker_free, plimsoll_worker_new, plimsoll_worker_quiesce,
    plimsoll_worker_refresh,
};

/// The system's allocator, with a count for each thread.
struct Counting;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    CALLS.set(CALLS.get() + 1);
}

// SAFETY: everything is passed on to the system's allocator; the count allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: passed on from the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count();
        // SAFETY: passed on from the caller.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often `body` called the allocator.
fn allocator_calls(body: impl FnOnce()) -> u64 {
    let before = CALLS.get();
    body();
    CALLS.get() - before
}

fn text(text: &str) -> Str {
    Str { data: text.as_ptr().cast(), len: text.len() }
}

const EMPTY: Str = Str { data: null(), len: 0 };
const NO_PICK: Pick = Pick { slot: 0, generation: 0, priority: 0, flags: 0 };

fn assignment(hosts: u32) -> String {
    let host = |index| {
        format!(
            r#"{{"endpoint":{{"address":{{"socket_address":{{"address":"10.0.0.{index}","port_value":80}}}}}}}}"#
        )
    };
    let hosts: Vec<String> = (1..=hosts).map(host).collect();
    format!(r#"{{"cluster_name":"api","endpoints":[{{"lb_endpoints":[{}]}}]}}"#, hosts.join(","))
}

/// A cluster without hosts. `settings` are those of Envoy's message, from `lb_policy` on.
fn open(behavior: u32, settings: &str) -> (*mut ClusterHandle, *mut WorkerHandle) {
    let config = format!(r#"{{"name":"api","lb_policy":{settings}}}"#);
    let options = ClusterOptions {
        size: size_of::<ClusterOptions>(),
        behavior,
        has_seed: 1,
        seed: 1,
        now_ns: 0,
        region: EMPTY,
        zone: EMPTY,
        sub_zone: EMPTY,
        local_cluster: null(),
    };
    let (mut cluster, mut worker) = (null_mut(), null_mut());
    let config = text(&config);
    // SAFETY: all of it is alive during the call.
    let opened =
        unsafe { plimsoll_cluster_open(config, &raw const options, &raw mut cluster, null_mut()) };
    assert_eq!(opened, Status::Ok);
    // SAFETY: opened just now.
    let made = unsafe { plimsoll_worker_new(cluster, &raw mut worker, null_mut()) };
    assert_eq!(made, Status::Ok);
    (cluster, worker)
}

/// A second later the cluster has so many hosts.
fn assign(cluster: *mut ClusterHandle, second: u64, hosts: u32) {
    let hosts = assignment(hosts);
    // SAFETY: the cluster is alive.
    let ticked = unsafe { plimsoll_cluster_tick(cluster, second * 1_000_000_000, null_mut()) };
    assert_eq!(ticked, Status::Ok);
    // SAFETY: the cluster is alive, and so is the text.
    let done = unsafe { plimsoll_cluster_assign(cluster, text(&hosts), null_mut(), null_mut()) };
    assert_eq!(done, Status::Ok);
}

fn free(cluster: *mut ClusterHandle, worker: *mut WorkerHandle) {
    // SAFETY: alive, and not used any more.
    unsafe { plimsoll_worker_free(worker) };
    // SAFETY: as above.
    unsafe { plimsoll_cluster_free(cluster) };
}

/// Every call of a worker, each with the status that it is to have.
fn all_calls(worker: *mut WorkerHandle, picks: &mut [Pick], expected: Status) {
    let mut pick = NO_PICK;
    // SAFETY: the worker is alive and used by this thread only; `pick` is ours. So in all of these.
    let picked = unsafe { plimsoll_worker_pick(worker, null(), &raw mut pick) };
    assert_eq!(picked, expected);
    let context =
        PickContext { retries: 3, size: size_of::<PickContext>(), ..PickContext::default() };
    let mut filtered = NO_PICK;
    // SAFETY: as above; `never` takes any pointer.
    let status = unsafe {
        plimsoll_worker_pick_filtered(
            worker,
            &raw const context,
            null_mut(),
            Some(never),
            &raw mut filtered,
        )
    };
    assert_eq!(status, expected);
    let (room, mut count) = (picks.len(), 0);
    let batch = picks.as_mut_ptr();
    // SAFETY: as above; `picks` has this room.
    let status = unsafe { plimsoll_worker_pick_batch(worker, null(), batch, room, &raw mut count) };
    assert_eq!(status, expected);
    let addresses = [text("10.0.0.1:80, 10.0.0.2:80"), text("\u{fffd}")];
    let (names, mut named) = (addresses.as_ptr(), NO_PICK);
    // SAFETY: as above; there are two texts.
    let status =
        unsafe { plimsoll_worker_pick_override(worker, null(), names, 2, 0, &raw mut named) };
    assert_eq!(status, expected);
    let mut peeked = NO_PICK;
    // SAFETY: as above. How many may be peeked is not the question here.
    let _ = unsafe { plimsoll_worker_peek(worker, null(), &raw mut peeked) };
    ask(worker, &pick, if expected == Status::Ok { Status::Ok } else { Status::StalePick });
    for pick in picks[..count].iter().chain([&pick, &filtered, &named]) {
        let expected = if pick.flags == 0 { Status::NotCounted } else { Status::Ok };
        // SAFETY: as above.
        let done = unsafe { plimsoll_worker_done(worker, pick, 0) };
        assert_eq!(done, expected);
    }
    // SAFETY: as above.
    assert_eq!(unsafe { plimsoll_worker_refresh(worker) }, Status::Ok);
    // SAFETY: as above.
    assert_eq!(unsafe { plimsoll_worker_quiesce(worker) }, Status::Ok);
}

/// The calls that look at a pick's host.
fn ask(worker: *mut WorkerHandle, pick: &Pick, expected: Status) {
    let mut data = null_mut();
    // SAFETY: the worker is alive and used by this thread only; the rest is ours.
    let status = unsafe { plimsoll_worker_host_data(worker, pick, &raw mut data) };
    assert_eq!(status, expected);
    let mut buffer: [c_char; 64] = [0; 64];
    let mut needed = 0;
    // SAFETY: as above.
    let status = unsafe {
        plimsoll_worker_host_address(
            worker,
            pick,
            buffer.as_mut_ptr(),
            buffer.len(),
            &raw mut needed,
        )
    };
    assert_eq!(status, expected);
}

unsafe extern "C" fn never(_: *mut c_void, _: *const Pick) -> c_int {
    0
}

const ROUND_ROBIN: &str = r#""ROUND_ROBIN""#;
const RANDOM: &str = r#""RANDOM""#;
const LEAST_REQUEST: &str = r#""LEAST_REQUEST""#;
const SLOW_START: &str = r#""ROUND_ROBIN",
    "round_robin_lb_config":{"slow_start_config":{"slow_start_window":"60s"}}"#;
const LEAST_REQUEST_AND_SLOW_START: &str = r#""LEAST_REQUEST",
    "least_request_lb_config":{"choice_count":5,"slow_start_config":{"slow_start_window":"60s"}}"#;

const RING_HASH: &str = r#""RING_HASH""#;
const MAGLEV: &str = r#""MAGLEV""#;

const BY_REPORTS: &str = r#""ROUND_ROBIN","load_balancing_policy":{"policies":[{
    "typed_extension_config":{"name":"reports","typed_config":{"@type":
    "type.googleapis.com/envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin",
    "blackout_period":"0s"}}}]}"#;

fn allocates_nothing(behavior: u32, settings: &str) {
    let (cluster, worker) = open(behavior, settings);
    let mut picks = vec![NO_PICK; 200];
    let empty = allocator_calls(|| all_calls(worker, &mut picks, Status::NoHost));
    assert_eq!(empty, 0, "{settings} of behavior {behavior}, without hosts");
    for (second, hosts) in [(1, 3), (2, 20), (3, 5)] {
        assign(cluster, second, hosts);
        let calls = allocator_calls(|| all_calls(worker, &mut picks, Status::Ok));
        assert_eq!(calls, 0, "{settings} of behavior {behavior}, {hosts} hosts");
    }
    free(cluster, worker);
}

#[test]
fn native_requests_allocate_nothing() {
    allocates_nothing(PLIMSOLL_BEHAVIOR_NATIVE, ROUND_ROBIN);
    allocates_nothing(PLIMSOLL_BEHAVIOR_NATIVE, RANDOM);
    allocates_nothing(PLIMSOLL_BEHAVIOR_NATIVE, LEAST_REQUEST);
    allocates_nothing(PLIMSOLL_BEHAVIOR_NATIVE, SLOW_START);
    allocates_nothing(PLIMSOLL_BEHAVIOR_NATIVE, LEAST_REQUEST_AND_SLOW_START);
    allocates_nothing(PLIMSOLL_BEHAVIOR_NATIVE, BY_REPORTS);
    allocates_nothing(PLIMSOLL_BEHAVIOR_NATIVE, RING_HASH);
    allocates_nothing(PLIMSOLL_BEHAVIOR_NATIVE, MAGLEV);
}

#[test]
fn envoy_requests_allocate_nothing() {
    allocates_nothing(PLIMSOLL_BEHAVIOR_ENVOY, ROUND_ROBIN);
    allocates_nothing(PLIMSOLL_BEHAVIOR_ENVOY, RANDOM);
    allocates_nothing(PLIMSOLL_BEHAVIOR_ENVOY, LEAST_REQUEST);
    allocates_nothing(PLIMSOLL_BEHAVIOR_ENVOY, RING_HASH);
    allocates_nothing(PLIMSOLL_BEHAVIOR_ENVOY, MAGLEV);
}

#[test]
fn an_envoy_schedule_is_allocated_once_an_update() {
    for settings in [SLOW_START, LEAST_REQUEST_AND_SLOW_START] {
        let (cluster, worker) = open(PLIMSOLL_BEHAVIOR_ENVOY, settings);
        let mut picks = vec![NO_PICK; 200];
        for (second, hosts) in [(1, 3), (2, 20), (3, 5)] {
            assign(cluster, second, hosts);
            let mut calls = || allocator_calls(|| all_calls(worker, &mut picks, Status::Ok));
            let (first, second) = (calls(), calls());
            assert!(first > 0, "{settings}, {hosts} hosts: there is no schedule");
            assert_eq!(second, 0, "{settings}, {hosts} hosts");
        }
        free(cluster, worker);
    }
}

/// A response with these headers, and the text as a trailer as well.
fn response(binary: Str, text: Str) -> ResponseLoad {
    ResponseLoad {
        size: size_of::<ResponseLoad>(),
        header_binary: binary,
        header_text: text,
        trailer_binary: EMPTY,
        trailer_text: text,
        now_ns: 0,
    }
}

fn report(worker: *mut WorkerHandle, load: &ResponseLoad) -> Status {
    let context =
        PickContext { flags: 1, size: size_of::<PickContext>(), ..PickContext::default() };
    let mut pick = NO_PICK;
    // SAFETY: the worker is alive and used by this thread only; the rest is ours.
    let picked = unsafe { plimsoll_worker_pick(worker, &raw const context, &raw mut pick) };
    assert_eq!(picked, Status::Ok);
    // SAFETY: as above.
    unsafe { plimsoll_worker_report(worker, &raw const pick, load) }
}

#[test]
fn only_load_reports_in_json_allocate() {
    let sound = "TEXT rps_fractional=100,cpu_utilization=0.5,named_metrics.queue=3";
    let binary = text("CQAAAAAAAOA/MQAAAAAAAFlA");
    let cases = [
        (response(EMPTY, text(sound)), Status::Ok),
        (response(EMPTY, text("BIN CQAAAAAAAOA/MQAAAAAAAFlA")), Status::Ok),
        (response(binary, text("not read")), Status::Ok),
        (response(EMPTY, EMPTY), Status::NoReport),
        (response(EMPTY, text("garbage")), Status::ReportUnreadable),
        (response(text("!"), text("TEXT eps")), Status::ReportUnreadable),
        (response(EMPTY, text("TEXT rps_fractional=100")), Status::ReportRejected),
    ];
    let json = response(EMPTY, text(r#"JSON {"rps_fractional":100,"cpu_utilization":0.5}"#));
    for behavior in [PLIMSOLL_BEHAVIOR_NATIVE, PLIMSOLL_BEHAVIOR_ENVOY] {
        let (cluster, worker) = open(behavior, BY_REPORTS);
        for (second, hosts) in [(1, 3), (2, 20)] {
            assign(cluster, second, hosts);
            for (load, expected) in &cases {
                let calls = allocator_calls(|| assert_eq!(report(worker, load), *expected));
                assert_eq!(calls, 0, "behavior {behavior}, {hosts} hosts, {expected:?}");
            }
            assert!(allocator_calls(|| assert_eq!(report(worker, &json), Status::Ok)) > 0);
            let after = allocator_calls(|| assert_eq!(report(worker, &cases[0].0), Status::Ok));
            assert_eq!(after, 0, "behavior {behavior}, after JSON");
        }
        free(cluster, worker);
    }
}

/// Hashes a request with this header, and says where the hash is.
fn hash(worker: *mut WorkerHandle, route: *const HashPolicies, headers: &[Header]) -> Status {
    let request = Request {
        size: size_of::<Request>(),
        headers: headers.as_ptr(),
        header_count: headers.len(),
        path: EMPTY,
        query: EMPTY,
        source_ip: EMPTY,
        remote_address: text("10.9.0.1:4711"),
        local_address: text("10.9.0.2:80"),
    };
    let mut hash = 0;
    // SAFETY: the worker is alive and used by this thread only; so are the policies and the rest.
    unsafe {
        plimsoll_worker_hash(
            worker,
            route,
            &raw const request,
            null_mut(),
            Some(no_cookie),
            &raw mut hash,
        )
    }
}

unsafe extern "C" fn no_cookie(_: *mut c_void, _: Str) {}

#[test]
fn only_new_cookies_and_many_values_allocate() {
    let (cluster, worker) = open(PLIMSOLL_BEHAVIOR_NATIVE, MAGLEV);
    let policies = text("- header: { header_name: x-a }\n- cookie: { name: b, ttl: 1s }");
    let mut route = null_mut();
    // SAFETY: all of it is ours.
    let parsed = unsafe { plimsoll_hash_policies_parse(policies, &raw mut route, null_mut()) };
    assert_eq!(parsed, Status::Ok);
    let mut headers = vec![Header { name: text("X-A"), value: text("foo") }; 8];
    headers.push(Header { name: text("cookie"), value: text("b=bar") });
    let all = |headers: &[Header]| {
        allocator_calls(|| assert_eq!(hash(worker, route, headers), Status::Ok))
    };
    assert_eq!(all(&headers), 0, "the first time");
    assert_eq!(all(&headers[8..]), 0, "a cookie that is there");
    assert!(all(&headers[..8]) > 0, "a new cookie");
    headers.push(headers[0]);
    assert!(all(&headers) > 0, "nine values");
    // SAFETY: not used any more.
    unsafe { plimsoll_hash_policies_free(route) };
    free(cluster, worker);
}

#[test]
fn the_count_counts() {
    assert_eq!(allocator_calls(|| drop(Box::new([0_u8; 100]))), 2);
}
