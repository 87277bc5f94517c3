"""Load reports: as fields, and as the headers that carry them."""

import base64
import struct

PENALTY = "error_utilization_penalty"
NAMES = "metric_names_for_computing_utilization"

_PLAIN = [
    {"cpu_utilization": .5, "rps_fractional": 1000},
    {"application_utilization": .5, "cpu_utilization": .6, "rps_fractional": 1000},
    {"application_utilization": 0, "cpu_utilization": .6, "rps_fractional": 600},
    {"application_utilization": -1, "cpu_utilization": .5, "rps_fractional": 100},
    {"application_utilization": "NaN", "cpu_utilization": .5, "rps_fractional": 100},
    {"application_utilization": "Infinity", "rps_fractional": 100},
    {"cpu_utilization": "NaN", "rps_fractional": 100},
    {"cpu_utilization": "Infinity", "rps_fractional": 100},
    {"cpu_utilization": .5, "rps_fractional": "NaN"},
    {"cpu_utilization": 1e-7, "rps_fractional": 1e13},
    {"cpu_utilization": 1, "rps_fractional": 4294967295.9},
    {"cpu_utilization": 1, "rps_fractional": 4294967294.999},
    {"cpu_utilization": 2.5, "rps_fractional": 100},
    {"cpu_utilization": .5, "rps_fractional": "Infinity"},
    {"cpu_utilization": "Infinity", "rps_fractional": "Infinity"},
    {"cpu_utilization": .5, "rps_fractional": 0},
    {"cpu_utilization": .5, "rps_fractional": -1},
    {"cpu_utilization": 0, "rps_fractional": 100},
    {"cpu_utilization": -1, "rps_fractional": 100},
    {"cpu_utilization": .5, "rps_fractional": .1},
    {"cpu_utilization": 1, "rps_fractional": 1.999},
    {"cpu_utilization": .3, "rps_fractional": 1},
    {"cpu_utilization": 1, "rps_fractional": 4294967295.0},
    {},
    {"application_utilization": .5, "rps_fractional": 1000, "eps": 100},
    {"cpu_utilization": .6, "rps_fractional": 100, "eps": -50},
    {"cpu_utilization": .5, "rps_fractional": 100, "eps": "NaN"},
    {"cpu_utilization": .5, "rps_fractional": 100, "eps": "Infinity"},
    {"cpu_utilization": 0, "rps_fractional": 100, "eps": 50},
]

_ERRORS = [
    {"application_utilization": .5, "rps_fractional": 1000, "eps": 100},
    {"application_utilization": .5, "rps_fractional": 1000, "eps": 500},
    {"cpu_utilization": .6, "rps_fractional": 100, "eps": -50},
    {"cpu_utilization": .5, "rps_fractional": 100, "eps": "NaN"},
    {"cpu_utilization": 0, "rps_fractional": 100, "eps": 50},
]

_FOO_BAR = [
    {"named_metrics": named, **others, "rps_fractional": 600}
    for named, others in (
        ({"foo": .3}, {"application_utilization": .5, "cpu_utilization": .6}),
        ({"foo": 0}, {"application_utilization": .5}),
        ({"foo": -1}, {"application_utilization": .5}),
        ({"foo": "NaN"}, {"application_utilization": .5}),
        ({"foo": .3, "bar": .4}, {"cpu_utilization": .6}),
        ({"foo": .3, "bar": "NaN"}, {}),
        ({"foo": "NaN", "bar": .3}, {}),
        ({"foo": "Infinity"}, {}),
        ({"baz": .3}, {"cpu_utilization": .6}),
    )
]


def _one(names, **report):
    report.setdefault("rps_fractional", 1000)
    return {NAMES: names}, [report]


# Settings of the policy, and the reports that are weighed under them.
REPORTS = [
    ({}, _PLAIN),
    ({PENALTY: 2.0}, _ERRORS),
    ({PENALTY: 0.1}, _ERRORS),
    ({NAMES: ["named_metrics.foo", "named_metrics.bar"]}, _FOO_BAR),
    _one(["named_metrics.*"], named_metrics={"a": .3, "b": .4}, cpu_utilization=.6),
    _one(["named_metrics.*"], named_metrics={"*": .3}, cpu_utilization=.6),
    _one(["named_metrics.*"], cpu_utilization=.6),
    _one(["named_metrics."], named_metrics={"": .3}, cpu_utilization=.6),
    _one(["mem_utilization"], mem_utilization=.4, cpu_utilization=.2),
    _one(["utilization.u"], utilization={"u": .9}, cpu_utilization=.2),
    _one(["request_cost.c"], request_cost={"c": 3}, cpu_utilization=.2),
    _one(["eps"], eps=5, cpu_utilization=.2),
    _one(["rps_fractional"], cpu_utilization=.2),
    _one(["bogus"], cpu_utilization=.2),
    _one(["rps"], cpu_utilization=.2, rps=7),
    _one([""], cpu_utilization=.2),
    _one(["named_metrics"], cpu_utilization=.2),
    _one(["named_metrics.a.b"], named_metrics={"a.b": .5}),
    _one(["utilization.*", "named_metrics.*"], utilization={"u": .9}, named_metrics={"z": .95}),
    _one(["cpu_utilization", "mem_utilization"], mem_utilization=.4, cpu_utilization=.2,
         application_utilization=.1),
]


def _texts():
    """TEXT reports of one more field each, beside a rate and a utilization."""
    usual = "rps_fractional=600,application_utilization=0.25"
    for field in (
            "mem_utilization=0.7", "mem_utilization:0.7", " mem_utilization=0.7",
            "mem_utilization = 0.7", "mem_utilization =0.7", "mem_utilization= 0.7", "", ",",
            "mem_utilization=0.7;eps=1", "named_metrics.a:b=1", "named_metrics.a=b:1",
            "mem_utilization==1", "=1", ":1", "mem_utilization=", "mem_utilization", "==",
            "eps=1e3", "eps=1E-3", "eps=0x10", "eps=+1", "eps=++1", "eps=.5", "eps=5.", "eps=.",
            "eps=1e400", "eps=1e-400", "eps=-0", "eps=-1", "eps=nan", "eps=-nan", "eps=inf",
            "eps=Infinity", "eps=1_000", "eps=1.5f", "eps=1d", "eps=nan(abc)", 'eps="0.7"',
            "named_metrics.x=-1", "utilization.x=-1", "utilization.x=1.5", "request_cost.x=1",
            "rps=100", "named_metrics.=1", "utilization.=1", "named_metrics=1", "utilization=1",
            "named_metrics..=1", "named_metrics.a.b.c=1", "named_metrics.*=1",
            "NAMED_METRICS.a=1", "Cpu_Utilization=1", "named_metrics.a b=1",
            "eps=0.1,eps:0.2", "eps=0.1, eps=0.2", "named_metrics.a=1,named_metrics.a=1",
            "named_metrics.a=1,utilization.a=0.5", "foo=1", "foo=abc"):
        text = f"TEXT {usual},{field}"
        yield text, {"": text}
    for prefix in ("text ", "Text ", "TEXT", "TEXT  ", "TEXTUAL ", "JSON ", ""):
        yield prefix + usual, {"": prefix + usual}
    yield "TEXT ,,", {"": "TEXT ,,"}


def _json():
    usual = '"rps_fractional":600,"application_utilization":0.25'
    for text in (
            "{%s}", '{%s,"eps":"1"}', '{%s,"eps":"NaN"}', '{%s,"eps":"nan"}', '{%s,"eps":null}',
            '{%s,"eps":true}', "{%s}x", "{%s,}", "{%s,'eps':1}", "{%s,eps:1}",
            '{%s,"eps":1,"eps":2}', '{%s,"memUtilization":1}', '{%s,"unknown":1}',
            '{%s,"named_metrics":{"":1}}', '{%s,"named_metrics":{"a":1,"a":2}}', '{%s,"rps":-1}',
            '{%s,"eps":1e400}', "[%s]"):
        yield f"JSON {text}" % "…", {"": f"JSON {text}" % usual}
    yield "JSON null", {"": "JSON null"}


def _double(number, value):
    return bytes([number << 3 | 1]) + struct.pack("<d", value)


def _binary():
    good = _double(1, .25) + _double(6, 600.0) + _double(7, 2.0)
    padded = base64.b64encode(good + b"\x78\x01").decode()
    for name, text in (
            ("an unknown field, padded", padded), ("unpadded", padded.rstrip("=")),
            ("one = too many", padded + "="), ("empty", ""), ("no base64", "!!"),
            ("cut off", base64.b64encode(good[:-3]).decode()),
            ("urlsafe", base64.urlsafe_b64encode(b"\xff\xfe\xfd" * 3).decode()),
            ("a key that is no UTF-8", base64.b64encode(
                good + b"\x42\x0d\x0a\x02\xff\xfe\x11" + struct.pack("<d", 1.0)).decode()),
            ("the same field twice", base64.b64encode(good + _double(1, .5)).decode()),
            ("field 0", base64.b64encode(good + b"\x00\x01").decode()),
            ("the end of a group", base64.b64encode(good + b"\x0c").decode())):
        yield f"BIN: {name}", {"": f"BIN {text}"}
        if text:
            yield f"-bin: {name}", {"-bin": text}


HEADERS = [*_texts(), *_json(), *_binary()]

# What Envoy's reader takes although it is no JSON, or says two things.
NO_JSON = dict.fromkeys(
    ('JSON {…,"eps":"nan"}', "JSON {…,}", "JSON {…,'eps':1}", "JSON {…,eps:1}",
     'JSON {…,"eps":1,"eps":2}'),
    "text that is no JSON is refused, and so is a field that stands there twice")
