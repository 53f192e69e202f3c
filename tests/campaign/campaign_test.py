"""The campaign's own tests: it can draw everything, and finds what is planted."""

import os
import secrets
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np

from phasic.substrates.numpy import binding
from phasic.substrates.numpy import config
from phasic.substrates.numpy import distributions as pd
from phasic.substrates.numpy import inference
from tests.campaign import campaign
from tests.campaign import choices
from tests.campaign import endurance
from tests.campaign import scene as scene_lib
from tests.campaign import surface
from tests.campaign import worker

_SEED = 1
_FULL = os.environ.get("PHASIC_FULL_SWEEPS") == "1"


def _wrong(factor, owner, method):
  """Returns a method whose results are multiplied by a factor."""
  right = getattr(owner, method)

  def found(self, *args):
    return factor * right(self, *args)

  return mock.patch.object(owner, method, found)


class CampaignTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.addCleanup(config.set_work_limit, config.work_limit())
    config.set_work_limit(scene_lib.WORK_LIMIT)
    self.names = scene_lib.modules("numpy")
    self.enter_context(mock.patch.object(worker, "SHRINK_SECONDS", 0.0))

  def faults(self, count, only=()):
    """Returns what a number of cases found wrong."""
    rows = [
      worker.run_case("numpy", self.names, _SEED, number, list(only))
      for number in range(count)
    ]
    return [row["fault"] for row in rows if "fault" in row]

  def test_every_parameter_can_be_drawn(self):
    self.assertEqual(surface.unknown("numpy"), [])
    self.assertGreater(len(list(surface.entries("numpy"))), 1500)

  def test_what_is_left_out_is_there(self):
    left_out = {name.partition(".")[2] for name in surface.LEFT_OUT}
    known = {*dir(pd), *dir(config), *dir(inference)}
    self.assertEqual(left_out - known, set())

  def test_nothing_is_wrong(self):
    self.assertEqual(self.faults(150), [])

  @absltest.skipUnless(_FULL, "in `make test-slow`")
  def test_a_new_seed(self):
    seed = secrets.randbelow(2**31)
    rows = [
      worker.run_case("numpy", self.names, seed, number, [])
      for number in range(3000)
    ]
    faults = {row["number"]: row["fault"] for row in rows if "fault" in row}
    self.assertEqual(faults, {}, f"seed {seed}")

  @parameterized.parameters(
    ("probabilities", 1.0 + 1e-9, "cdf"),
    ("probabilities", -1.0, "log_prob"),
    ("hazards", 2.0, "hazard_function"),
    ("quantiles", 1.01, "quantile"),
    ("moments", 1.0 + 1e-6, "mean"),
    ("closures", 1.0 + 1e-6, "survival_function"),
    ("samples", -1.0, "sample"),
    ("integrals", 1.0 + 1e-8, "prob"),
    ("step_values", 1.0 + 1e-11, "log_prob"),
    ("observed", 1.0 + 1e-7, "log_prob"),
  )
  def test_planted_faults_are_found(self, judge, factor, method):
    with _wrong(factor, pd.Distribution, method):
      self.assertNotEmpty(self.faults(30, [judge]))

  @parameterized.parameters("jvp", "vjp")
  def test_wrong_rules_of_bound_functions_are_found(self, name):
    right = binding.bind

    def bind(f, **rules):
      own = rules[name]
      lost = lambda args, given: own(args, 0.5 * given)
      twice = lambda args, given: own(args, (0.5 * given[0],))
      return right(f, **rules | {name: lost if name == "vjp" else twice})

    with mock.patch.object(binding, "bind", bind):
      self.assertNotEmpty(self.faults(10, ["bound"]))

  def test_exceptions_of_others_are_found(self):
    scene = scene_lib.Scene("numpy", self.names, choices.Choices(1))
    refused = scene.hostile("pd.Erlang(2, 1.0).quantile('a')")
    self.assertEqual(refused.type, "TypeError")
    for body in ({}.__getitem__, lambda _: [][3], lambda _: None + 1):
      call = mock.patch.object(
        pd.Erlang, "_quantile", lambda self, value, body=body: body("x")
      )
      with call, self.assertRaises((scene_lib.Fault, KeyError)):
        scene.hostile("pd.Erlang(2, 1.0).quantile(0.5)")

  def test_nan_without_a_word_is_found(self):
    with _wrong(np.nan, pd.Distribution, "cdf"):
      self.assertIn("NaN without a word", self.faults(10, ["probabilities"]))

  def test_an_equal_ledger_in_other_substrates(self):
    ledger = campaign.Ledger()
    row = {"judge": "values", "number": 1, "calls": 2}
    ledger.add("numpy", {**row, "results": [1.0, 2.0]}, [])
    ledger.add("jax", {**row, "results": [1.0, 2.0 + 1e-15]}, [])
    self.assertEqual(ledger.failures, [])
    ledger.add("tf", {**row, "results": [1.0, 2.0 + 1e-6]}, ["d = 1"])
    self.assertLen(ledger.failures, 1)
    self.assertIn(
      "tf, case 1: 2.000001 and 2.0 in numpy", str(ledger.failures[0])
    )
    self.assertRegex(str(ledger), "6 calls, 1 cases failed$")

  def test_a_case_is_made_small(self):
    longer = mock.patch.object(worker, "SHRINK_SECONDS", 5.0)
    with longer, _wrong(2.0, pd.Distribution, "mean"):
      row = worker.run_case("numpy", self.names, _SEED, 4, ["moments"])
    self.assertLess(len("".join(row["smallest"])), 400)
    self.assertIn("d.mean()", row["smallest"])

  def test_choices_shrink_to_the_fewest_that_fail(self):
    def fails(made):
      used = choices.Choices(0, made)
      count = used.integers(9)
      sizes = [used.integers(100) for _ in range(count)]
      return used.made if any(x >= 50 for x in sizes) else None

    first = [0.9] + [0.8123] * 8
    self.assertEqual(choices.shrink(fails, first, 5.0), [0.125, 0.5])

  def test_memory_that_calls_leave_is_found(self):
    self.assertTrue(campaign.grows([100.0 + i for i in range(200)]))
    self.assertFalse(
      campaign.grows([100.0 + 90.0 * (i > 130) for i in range(200)])
    )

  def test_memory_that_grows_is_found(self):
    look = {"calls": 1, "files": 5, "threads": 4}
    flat = [{"megabytes": 200.0 + 9.0 * (i % 3), **look} for i in range(40)]
    self.assertTrue(endurance.is_flat(flat))
    grown = [{"megabytes": 200.0 + 5.0 * i, **look} for i in range(40)]
    self.assertFalse(endurance.is_flat(grown))
    leaked = [{**row, "files": i} for i, row in enumerate(flat)]
    self.assertFalse(endurance.is_flat(leaked))

  def test_processes_that_end(self):
    # A worker of an unknown substrate ends at once: that is a failure, and the
    # campaign goes on.
    ledger = campaign.run(1.0, _SEED, ("none",))
    self.assertNotEmpty(ledger.failures)
    self.assertIn("the process ended with", ledger.failures[0].what)


if __name__ == "__main__":
  absltest.main()
