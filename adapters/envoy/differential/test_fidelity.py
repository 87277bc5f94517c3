#!/usr/bin/env python3
"""Tests of the harness's own arithmetic and texts; they start no Envoy."""

import sys
import tempfile
import unittest
import unittest.mock
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ among the sources

from fidelity import clusters, module, origins, report, shares  # noqa: E402
from fidelity.envoy import last_error  # noqa: E402
from fidelity.scenario import MODULE, STOCK, Row, Scenario, same_sequence  # noqa: E402
from fidelity.scenarios.validation import _plain, _short  # noqa: E402
from fidelity.scenarios.zones import per_tick  # noqa: E402


class Shares(unittest.TestCase):
    def test_equal_shares_agree_whatever_the_sizes(self):
        self.assertEqual(shares.deviation(Counter(a=1, b=3), Counter(a=100, b=300)), 0.0)

    def test_a_deviation_is_in_standard_deviations_of_the_difference(self):
        seen, predicted = Counter(a=60, b=40), Counter(a=50, b=50)
        self.assertAlmostEqual(shares.deviation(seen, predicted), .1 / (.55 * .45 / 50) ** .5)
        self.assertTrue(shares.agree(seen, predicted))

    def test_a_host_that_should_get_nothing_is_noticed(self):
        self.assertFalse(shares.agree(Counter(a=9_900, b=100), Counter(a=100_000)))
        self.assertFalse(shares.agree(Counter(a=10_000), Counter(a=99_000, b=1_000)))

    def test_groups_add_up_their_members(self):
        self.assertEqual(shares.regrouped({"a1": 1, "a2": 2, "b1": 4}, lambda name: name[0]),
                         Counter(a=3, b=4))


class Rows(unittest.TestCase):
    def test_one_other_host_is_a_difference(self):
        row = same_sequence("case", {STOCK: ["a", "b"]}, ["a", "c"])
        self.assertEqual((row.seen, row.agrees), ({STOCK: "1 of 2"}, {STOCK: False}))
        self.assertFalse(row.is_as_expected())

    def test_the_module_answers_for_reachable_hosts_only(self):
        measured = {STOCK: ["a", None], MODULE: ["a", "b"]}
        row = same_sequence("case", measured, ["a", None], {"a", "b"})
        self.assertEqual(row.seen, {STOCK: "2 of 2", MODULE: "1 of 1"})
        self.assertTrue(row.is_as_expected())
        row = same_sequence("case", measured, ["a", None], set())
        self.assertEqual(row.seen[MODULE], "none possible")
        self.assertNotIn(MODULE, row.agrees)

    def test_a_deliberate_difference_that_is_none_any_more_is_unexpected(self):
        row = Row("case", "refused", {STOCK: "accepted"}, {STOCK: False}, "a reason")
        self.assertTrue(row.is_as_expected())
        row.agrees[STOCK] = True
        self.assertFalse(row.is_as_expected())

    def test_the_module_has_no_deliberate_differences(self):
        self.assertFalse(Row("case", "", {}, {STOCK: False, MODULE: False}, "a").is_as_expected())

    def test_a_scenario_without_rows_is_a_failure(self):
        self.assertFalse(Scenario("name", "Title", "", None).is_as_expected())


class Ticks(unittest.TestCase):
    def test_what_every_tick_counts_is_told_from_what_some_do(self):
        before, after = ({"a": 1, "b": 0, "c": 5}, 10), ({"a": 7, "b": 1, "c": 5}, 13)
        with unittest.mock.patch("fidelity.scenarios.zones.COUNTERS", ("a", "b", "c")):
            self.assertEqual(per_tick(before, after), {"a": 2, "b": None})


class Texts(unittest.TestCase):
    def test_the_last_complaint_is_found_with_all_of_its_lines(self):
        log = ("[2026-01-01 00:00:00.000][7][warning][main] [a.cc:1] careful\n"
               "[2026-01-01 00:00:00.000][7][critical][main] [b.cc:2] broken:\n  here\n")
        self.assertEqual(last_error(log), "broken:\n  here")

    def test_noise_of_protobuf_is_taken_out(self):
        text = ("error initializing configuration '/x.json': Invalid: goo.gle/debugstr  \n"
                "seconds: -1")
        self.assertEqual(_plain(text), "Invalid: seconds: -1")

    def test_only_the_broken_rule_is_shown(self):
        text = ("name: x : Proto constraint validation failed (A.B: embedded message failed | "
                "caused by C.D: value must be 1)")
        self.assertEqual(_short(text), "C.D: value must be 1")

    def test_a_page_has_all_rows_and_says_what_differs(self):
        rows = [Row("one|two", "x", {STOCK: "x"}, {STOCK: True}),
                Row("other", "x", {STOCK: "y"}, {STOCK: False}),
                Row("meant", "x", {STOCK: "y"}, {STOCK: False}, "for a reason")]
        scenario = Scenario("name", "A: title", "About.", None, "not possible", rows=rows)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "page.md")
            report.write(path, [scenario], "9.9.9")
            page = path.read_text(encoding="utf-8")
        self.assertIn("1 of 3 cases agree, 1 differ on purpose, 1 differ otherwise", page)
        self.assertIn("| [A: title](#a-title) | 3 | 1 of 3 | – |", page)
        self.assertIn("| one\\|two | x | x | = |", page)
        self.assertIn("| other | x | y | **differs** |", page)
        self.assertIn("For a reason:\n\n* meant", page)
        self.assertIn("* A: title: not possible.", page)


class Messages(unittest.TestCase):
    def test_origins_know_their_groups(self):
        some = origins.Origins(10_000)
        self.assertEqual(some.group_of(some.address(3, 5)), 3)
        self.assertEqual(len(set(some.some(60))), 60)
        with self.assertRaises(IndexError):
            some.address(0, origins.EACH)

    def test_the_module_gets_the_settings_and_not_the_hosts(self):
        message = clusters.cluster("c", clusters.maglev(), [
            clusters.locality([clusters.host("127.0.0.1:1")])], {"overprovisioning_factor": 100})
        dressed = module.dress(message, "za")
        entry, = dressed["load_balancing_policy"]["policies"]
        settings = entry["typed_extension_config"]["typed_config"]["lb_policy_config"]["value"]
        self.assertEqual(settings["load_balancing_policy"], message["load_balancing_policy"])
        self.assertEqual(settings["load_assignment"], {"policy": {"overprovisioning_factor": 100}})
        self.assertEqual(settings["node_locality"]["zone"], "za")
        self.assertEqual(dressed["load_assignment"], message["load_assignment"])

    def test_what_envoy_does_not_tell_keeps_the_module_out(self):
        draining = clusters.host("127.0.0.1:1", health="DRAINING")
        message = clusters.cluster("c", clusters.maglev(), [clusters.locality([draining])])
        self.assertFalse(module.is_told_enough(message))


if __name__ == "__main__":
    unittest.main()
