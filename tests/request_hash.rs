//! Hashes of requests, against the values that Envoy's own tests and a second implementation give.

use std::cell::Cell;
use std::time::Duration;

use plimsoll::config::{HashPolicy, HashPolicyKind};
use plimsoll::{HashInput, RequestHash, hash_request};

/// A request of which everything is said, or nothing.
#[derive(Default)]
struct Request {
    headers: Vec<(&'static str, &'static [u8])>,
    path: Option<&'static str>,
    source_ip: Option<&'static str>,
    remote: Option<&'static str>,
    local: Option<&'static str>,
    object: Option<(&'static str, u64)>,
    asked: Cell<u32>,
}

impl HashInput for Request {
    fn header_values<'a>(&'a self, name: &str, each: &mut dyn FnMut(&'a [u8])) {
        self.asked.set(self.asked.get() + 1);
        self.headers.iter().filter(|(own, _)| *own == name).for_each(|(_, value)| each(value));
    }

    fn path(&self) -> Option<&[u8]> {
        self.path.map(str::as_bytes)
    }

    fn source_ip(&self) -> Option<&str> {
        self.source_ip
    }

    fn remote_address(&self) -> Option<&str> {
        self.remote
    }

    fn local_address(&self) -> Option<&str> {
        self.local
    }

    fn filter_state_hash(&self, key: &str) -> Option<u64> {
        self.object.filter(|(own, _)| *own == key).map(|(_, hash)| hash)
    }
}

fn with(headers: &[(&'static str, &'static [u8])]) -> Request {
    Request { headers: headers.to_vec(), ..Request::default() }
}

fn header(name: &str) -> HashPolicy {
    HashPolicyKind::Header { header_name: name.to_owned() }.into()
}

fn parameter(name: &str) -> HashPolicy {
    HashPolicyKind::QueryParameter { name: name.to_owned() }.into()
}

fn terminal(policy: HashPolicy) -> HashPolicy {
    HashPolicy { terminal: true, ..policy }
}

/// A policy for the cookie `session` with these attributes.
fn cookie(ttl: Option<u64>, path: &str, attributes: &[(&str, &str)]) -> HashPolicy {
    let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    HashPolicyKind::Cookie {
        name: "session".to_owned(),
        ttl: ttl.map(Duration::from_millis),
        path: path.to_owned(),
        attributes: attributes.iter().map(owned).collect(),
    }
    .into()
}

fn hash(policies: &[HashPolicy], request: &Request) -> Option<u64> {
    hash_request(policies, request).hash
}

/// The hash of a value alone.
fn of(value: &'static str) -> Option<u64> {
    hash(&[header("x")], &with(&[("x", value.as_bytes())]))
}

const FOO: u64 = 3_728_699_739_546_630_719;
const BAR: u64 = 5_234_164_152_756_840_025;
const EMPTY: u64 = 17_241_709_254_077_376_921;
const A: u64 = 15_154_266_338_359_012_955;
const B: u64 = 8_666_379_929_374_662_555;

//= envoy v1.40 source/common/http/hash_policy.cc#HeaderHashMethod::evaluate
#[test]
fn the_values_of_a_header_are_sorted_and_none_is_left_out() {
    let sorted = 6_648_465_492_906_218_751;
    let one_value = 3_911_369_682_911_755_459;
    for (values, expected) in [
        (&[][..], None),
        (&[&b"foo"[..]][..], Some(FOO)),
        (&[b"foo", b"bar"], Some(sorted)),
        (&[b"bar", b"foo"], Some(sorted)),
        (&[b"foo,bar"], Some(one_value)),
        (&[b"foo", b"foo"], Some(16_875_369_861_680_030_278)),
        (&[b""], Some(EMPTY)),
        (&[b"foo", b""], Some(4_352_512_180_695_583_842)),
        (&[b"\xff\x00\xfe"], Some(14_485_268_273_754_389_769)),
        (&[b"foo\nbar"], Some(8_917_841_378_505_826_757)),
        (&[b"lyft"], Some(4_400_747_396_090_729_504)),
    ] {
        let headers: Vec<_> = values.iter().map(|&value| ("x-key", value)).collect();
        let request = with(&[&[("x-other", &b"foo"[..])][..], &headers].concat());
        for name in ["x-key", "X-Key", "X-KEY"] {
            assert_eq!(hash(&[header(name)], &request), expected, "{values:?}");
        }
    }
}

#[test]
fn many_values_of_a_header_are_hashed_as_few() {
    let values: Vec<&'static [u8]> =
        (0..20).map(|it| &*Vec::leak(format!("v{it}").into_bytes())).collect();
    for (count, expected) in [
        (8, 4_220_745_293_243_644_396),
        (9, 3_195_363_924_932_008_183),
        (20, 15_744_892_043_636_453_064),
    ] {
        let mut headers: Vec<_> = values[..count].iter().map(|&value| ("k", value)).collect();
        for _ in 0..2 {
            assert_eq!(hash(&[header("k")], &with(&headers)), Some(expected), "{count}");
            headers.reverse();
        }
    }
}

//= envoy v1.40 source/common/http/hash_policy.cc#HashPolicyImpl::generateHash
#[test]
fn what_policies_find_is_combined_in_their_order() {
    let request = with(&[("a", b"a"), ("b", b"b")]);
    let [a, b, none] = ["a", "b", "c"].map(header);
    for (policies, expected) in [
        (vec![], None),
        (vec![&none], None),
        (vec![&a], Some(A)),
        (vec![&none, &a, &none], Some(A)),
        (vec![&a, &b], Some(15_913_648_788_416_971_564)),
        (vec![&a, &none, &b], Some(15_913_648_788_416_971_564)),
        (vec![&b, &a], Some(2_505_287_493_334_290_797)),
        (vec![&a, &a], Some(8_562_272_060_470_244_076)),
        (vec![&a, &a, &a], Some(4_605_034_885_166_730_115)),
    ] {
        let policies: Vec<HashPolicy> = policies.into_iter().cloned().collect();
        assert_eq!(hash(&policies, &request), expected, "{policies:?}");
    }
}

//= envoy v1.40 source/common/http/hash_policy.cc#HashPolicyImpl::generateHash
#[test]
fn a_terminal_policy_ends_the_list_once_there_is_a_value() {
    let request = with(&[("a", b"a"), ("b", b"b")]);
    let [a, b, none] = ["a", "b", "c"].map(header);
    for (policies, expected, asked) in [
        (vec![terminal(a.clone()), b.clone()], Some(A), 1),
        // The value may be of a policy before.
        (vec![a.clone(), terminal(none.clone()), b.clone()], Some(A), 2),
        (vec![terminal(none.clone()), b.clone()], Some(B), 2),
        (vec![terminal(none.clone()), terminal(b.clone()), a.clone()], Some(B), 2),
        (vec![a, terminal(b), none.clone()], Some(15_913_648_788_416_971_564), 2),
        (vec![terminal(none.clone()), terminal(none)], None, 2),
    ] {
        request.asked.set(0);
        assert_eq!(hash(&policies, &request), expected, "{policies:?}");
        assert_eq!(request.asked.get(), asked, "{policies:?}");
    }
}

//= envoy v1.40 source/common/http/hash_policy.cc#QueryParameterHashMethod::evaluate
//= envoy v1.40 source/common/http/utility.cc#Utility::QueryParamsMulti::parseQueryString
#[test]
fn the_first_value_of_a_parameter_counts_as_it_is_written() {
    for (path, expected) in [
        ("/", None),
        ("/?", None),
        ("/?&", None),
        ("/k=foo", None),
        ("/?k=foo", Some(FOO)),
        ("/?x=1&k=foo&k=bar", Some(FOO)),
        ("/?K=foo&k=bar", Some(BAR)),
        ("/?kk=foo&k=bar", Some(BAR)),
        ("/?x?k=foo&k=bar", Some(BAR)),
        ("/?k", Some(EMPTY)),
        ("/?k=", Some(EMPTY)),
        ("/?k=&k=foo", Some(EMPTY)),
        ("/?%6b=foo", None),
        ("/?k=a%20b", Some(10_715_954_705_540_289_654)),
    ] {
        let request = Request { path: Some(path), ..Request::default() };
        assert_eq!(hash(&[parameter("k")], &request), expected, "{path}");
    }
    assert_eq!(hash(&[parameter("k")], &Request::default()), None);
}

//= envoy v1.40 source/common/http/hash_policy.cc#IpHashMethod::evaluate
//= envoy v1.40 source/common/http/hash_policy.cc#FilterStateHashMethod::evaluate
#[test]
fn addresses_and_objects_of_the_proxy_count_where_there_are_any() {
    let source = [HashPolicyKind::SourceIp.into()];
    for (source_ip, expected) in [
        (Some("10.0.0.1"), Some(17_084_065_887_361_098_711)),
        (Some("::1"), Some(6_441_869_463_509_800_047)),
        (Some(""), None),
        (None, None),
    ] {
        assert_eq!(hash(&source, &Request { source_ip, ..Request::default() }), expected);
    }
    let object = |key: &str| [HashPolicyKind::FilterState { key: key.to_owned() }.into()];
    let request = Request { object: Some(("mine", 7)), ..Request::default() };
    assert_eq!(hash(&object("mine"), &request), Some(7));
    assert_eq!(hash(&object("other"), &request), None);
    assert_eq!(hash(&object("mine"), &Request::default()), None);
}

//= envoy v1.40 source/common/http/utility.cc#Utility::parseCookieValue
#[test]
fn cookies_are_found_in_their_header() {
    for (headers, expected) in [
        (&[][..], None),
        (&["session=foo"][..], Some(FOO)),
        (&["session=\"foo\""], Some(FOO)),
        (&["a=1; session=foo; session=bar"], Some(FOO)),
        (&["a=1;   session=foo"], Some(FOO)),
        (&["a=1", "session=foo", "session=bar"], Some(FOO)),
        (&["Session=foo"], None),
        (&["session =foo"], None),
        (&["session; ;=; session=foo"], Some(FOO)),
        (&["xsession=bar; sessionx=bar; session=foo"], Some(FOO)),
        // The first one counts, and an empty one as none.
        (&["session=; session=foo"], None),
        (&["session=\"\""], None),
        (&["session=\""], of("\"")),
        (&["session=foo "], of("foo ")),
        (&["session=a=b"], of("a=b")),
    ] {
        let headers: Vec<_> = headers.iter().map(|text| ("cookie", text.as_bytes())).collect();
        assert_eq!(hash(&[cookie(None, "", &[])], &with(&headers)), expected, "{headers:?}");
    }
}

//= envoy v1.40 source/common/http/hash_policy.cc#CookieHashMethod::evaluate
//= envoy v1.40 source/common/router/router.h#Filter::addDownstreamSetCookie
#[test]
fn a_client_without_the_cookie_is_given_one_that_has_the_same_hash_next_time() {
    let addresses = |remote, local| Request { remote, local, ..Request::default() };
    for (remote, value, expected) in [
        ("10.0.0.1:4711", "68bf26619ead8d63", 4_538_956_216_211_543_348),
        ("10.0.0.1:1038", "0f60051d19b4a5fd", 549_605_847_493_342_417),
    ] {
        let policies = [cookie(Some(1_000_000), "/test/path", &[])];
        let request = addresses(Some(remote), Some("10.0.0.9:80"));
        let result = hash_request(&policies, &request);
        assert_eq!(result.hash, Some(expected));
        assert_eq!(result.cookies.len(), 1);
        assert_eq!(result.cookies[0].value(), value);
        assert_eq!(
            result.cookies[0].to_string(),
            format!("session=\"{value}\"; Max-Age=1000; Path=/test/path; HttpOnly")
        );
        assert_eq!(hash_request(&policies, &request), result);

        let text: &'static str = String::leak(format!("session={value}"));
        let next = with(&[("cookie", text.as_bytes())]);
        let result = hash_request(&policies, &next);
        assert_eq!((result.hash, result.cookies.len()), (Some(expected), 0));
    }
}

#[test]
fn no_cookie_is_made_without_both_addresses_or_without_a_ttl() {
    let with_ttl = [cookie(Some(1000), "", &[])];
    for (remote, local) in
        [(None, None), (Some("10.0.0.1:4711"), None), (None, Some("10.0.0.9:80"))]
    {
        let request = Request { remote, local, ..Request::default() };
        assert_eq!(hash_request(&with_ttl, &request), RequestHash::default());
    }
    let remote = Some("10.0.0.1:4711");
    let request = Request { remote, local: Some("10.0.0.9:80"), ..Request::default() };
    assert_eq!(hash_request(&[cookie(None, "/", &[])], &request), RequestHash::default());
    // Nor for a policy that is not asked.
    let policies = [terminal(HashPolicyKind::SourceIp.into()), cookie(Some(1000), "", &[])];
    let result = hash_request(&policies, &Request { source_ip: Some("::1"), ..request });
    assert_eq!((result.hash, result.cookies.len()), (Some(6_441_869_463_509_800_047), 0));
}

//= envoy v1.40 source/common/http/utility.cc#Utility::makeSetCookieValue
#[test]
fn a_new_cookie_is_written_as_envoy_writes_it() {
    let remote = Some("10.0.0.1:4711");
    let request = Request { remote, local: Some("10.0.0.9:80"), ..Request::default() };
    for (policy, expected) in [
        (cookie(Some(0), "", &[]), "; HttpOnly"),
        (cookie(Some(999), "/x", &[]), "; Path=/x; HttpOnly"),
        (cookie(Some(1999), "", &[]), "; Max-Age=1; HttpOnly"),
        (
            cookie(Some(60_000), "/", &[("SameSite", "Lax"), ("Secure", "")]),
            "; Max-Age=60; Path=/; SameSite=Lax; Secure; HttpOnly",
        ),
    ] {
        let policies = [policy];
        let written = hash_request(&policies, &request).cookies[0].to_string();
        assert_eq!(written, format!("session=\"68bf26619ead8d63\"{expected}"));
    }
    let policies = [cookie(Some(0), "/a", &[]), header("x"), cookie(Some(0), "/b", &[])];
    let result = hash_request(&policies, &request);
    let paths: Vec<&str> = result.cookies.iter().map(|cookie| cookie.path).collect();
    assert_eq!(paths, ["/a", "/b"]);
}
