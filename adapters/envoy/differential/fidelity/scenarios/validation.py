"""Whether Envoy and the replay refuse the same clusters, with the same words."""

import os
import re

from ..envoy import validate
from ..replay import Refused
from ..scenario import STOCK, Row, scenario
from .refused_configs import cases

OMITTED = ("Envoy does not check the messages of typed policies. What comes of it is an outage, or "
           "not what was written")
ENDS = "Envoy accepts it and then ends"
SERVES_NOBODY = "Envoy accepts it, and no request gets a host"
READER = "Envoy's reader of JSON says it in its own words, with a place in the whole text"
NAMES = "the text names the values that there are"
NOT_THERE = "not there: refused with the code `unsupported`"
UNUSED = "settings of a policy that is not the chosen one have no effect, whatever they are"

DELIBERATE = {
    OMITTED: (
        "load_aware_locality: oob_reporting_config {'port_value': 70000}",
        "client_side_weighted_round_robin: error_utilization_penalty -1",
        "client_side_weighted_round_robin: error_utilization_penalty NaN",
        "client_side_weighted_round_robin: error_utilization_penalty Infinity",
        "client_side_weighted_round_robin: oob_reporting_config {'port_value': 65536}",
        "client_side_weighted_round_robin: oob_reporting_config {'authority': 'a\\nb'}",
        "client_side_weighted_round_robin: slow_start_config "
        "{'min_weight_percent': {'value': 101}}",
        "round_robin: routing_enabled -1", "round_robin: routing_enabled 101",
        "round_robin: empty locality_lb_config", "round_robin: locality_basis 7",
        "slow_start_window 0.0005s", "min_weight_percent -1", "min_weight_percent 101",
        "aggression 0", "aggression -1", "aggression NaN", "aggression Infinity",
        "aggression without a runtime_key", "round_robin_lb_config: no runtime_key",
        "least_request: choice_count 1", "least_request: active_request_bias -1",
        "least_request: active_request_bias NaN", "least_request: active_request_bias Infinity",
        "least_request: active_request_bias without a runtime_key",
        "ring_hash: rings of 8388609 to 8388609", "ring_hash: hash_function 7",
        "maglev: table_size 10000019",
        *(f"{policy}: hash_balance_factor {factor}"
          for policy in ("ring_hash", "maglev") for factor in (0, 50, 99)),
    ),
    SERVES_NOBODY: (
        "least_request: choice_count 0", "least_request: selection_method 7",
        "ring_hash: rings of 0 to 10", "ring_hash_lb_config: rings of 0 to 10",
    ),
    ENDS: (
        "maglev: table_size 1", "ring_hash: a hash policy of no kind",
        "maglev: a hash policy of no kind",
    ),
    READER: (
        "client_side_weighted_round_robin: blackout_period 315576000001s",
        "random: two ways of locality_lb_config", "zone_aware and locality_weighted",
        "a field that does not exist",
    ),
    NAMES: ("ring_hash_lb_config: hash_function 7", "lb_policy 9"),
    NOT_THERE: (
        "load_aware_locality: cluster_provided inside", "load_aware_locality: wrr_locality inside",
        "lb_policy CLUSTER_PROVIDED of a static cluster", "more than everything dropped",
    ),
    UNUSED: ("least_request_lb_config of another policy",),
}
REASONS = {case: reason for reason, names in DELIBERATE.items() for case in names}


@scenario("config-errors", "Errors of configuration",
          module="the module has settings of its own; what it refuses is in its documentation")
def errors(rig):
    """Clusters with one mistake each, and some without: what `envoy --mode validate` says has to
    contain what the replay says, or both accept."""
    everything = list(cases())
    unknown = REASONS.keys() - {case for case, _ in everything}
    if unknown:
        raise ValueError(f"no such cases: {unknown}")
    folder = os.path.join(rig.work, "validate")
    with rig.replay() as replay:
        return [_row(case, validate(rig.binary, folder, message), _refusal(replay, message))
                for case, message in everything]


def _refusal(replay, message):
    try:
        replay.open(message)
    except Refused as refused:
        return refused.message
    return None


def _row(case, envoy, ours):
    envoy, ours = _plain(envoy), _plain(ours)
    same = envoy == ours if None in (envoy, ours) else ours in envoy
    seen = "the same" if same else _short(envoy)
    return Row(case, _short(ours), {STOCK: seen}, {STOCK: same}, REASONS.get(case))


def _plain(text):
    """Without line breaks, and without what protobuf puts into texts so that nobody compares
    them."""
    if text is None:
        return None
    text = re.sub(r"goo\.gle/\w+\s", "", text)
    return " ".join(re.sub(r"^error initializing configuration '[^']*': ", "", text).split())


def _short(text):
    """The part of a text that says what is wrong; Envoy puts whole messages before or after it."""
    if text is None:
        return "accepted"
    broken_rule = re.search(r"Proto constraint validation failed \((.*)\)", text)
    if broken_rule:
        text = broken_rule.group(1).rsplit("caused by ", 1)[-1]
    reader = re.search(r"invalid JSON in (.*?)\)(:| has)", text)
    if reader:
        text = "invalid JSON in " + reader.group(1)
    return text
