"""Errors for non-arrays and for counts that are too large."""

import fractions

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic import math as pm
from tests.helpers import test_case

_ERLANG = pd.Erlang(2, 1.0)
_TREE = graphs.models.kingman(2)
_TOTALS = (
  pd.MultivariatePhaseType([1.0], [[-1.0]], [[1.0]]),
  pd.GraphMultivariatePhaseType(_TREE, [1.0], [[1.0]]),
  pd.MultivariateEpochs(
    pd.Epochs(_TREE, [[1.0], [2.0]], [1.0]), onp.ones((1, 1))
  ),
)
# Argument names, and calls with them.
_CALLS = (
  ("rates", pd.Hypoexponential),
  ("rate", lambda x: pd.Erlang(2, x)),
  ("mixture_probs", lambda x: pd.Hyperexponential(x, [1.0])),
  ("initial_probs", lambda x: pd.PhaseType(x, [[-1.0]])),
  ("subgenerator", lambda x: pd.PhaseType([1.0], x)),
  ("rewards", lambda x: pd.MultivariatePhaseType([1.0], [[-1.0]], x)),
  ("progression_rates", lambda x: pd.Coxian(x, [1.0])),
  ("rates", lambda x: pd.Coxian.from_probs(x, [1.0])),
  ("concentration", lambda x: pd.MatrixWeibull(_ERLANG, x)),
  ("prob_zero", lambda x: pd.ZeroInflated(_ERLANG, x)),
  ("mixture_probs", lambda x: pd.GeometricMixture(x, [0.5])),
  ("success_probs", lambda x: pd.GeometricMixture([1.0], x)),
  ("time", lambda x: pd.ResidualLife(_ERLANG, x)),
  ("low", lambda x: pd.TruncatedPhaseType(_ERLANG, x)),
  ("value", _ERLANG.log_prob),
  ("value", _ERLANG.quantile),
  ("u", _ERLANG.laplace_transform),
  *(("u", dist.laplace_transform) for dist in _TOTALS),
  (
    "u",
    lambda x: pm.phase_type.joint_laplace_transform(
      x, [[1.0]], [1.0], [[-1.0]]
    ),
  ),
)


def _nested(x, depth):
  for _ in range(depth):
    x = [x]
  return x


# Arguments that are integers.
_INDEX_CALLS = (
  ("sources", lambda x: pd.PhaseType([1.0], pm.EdgeRates(x, [0], [1.0]))),
  ("phases", lambda x: pm.phase_type.hitting_probs(x, [1.0], [[0.0]], [1.0])),
  ("sources", lambda x: pm.phase_type.mean([1.0], pm.EdgeRates(x, [1], [1.0]))),
)


class ArraysTest(test_case.TestCase):
  """Tests that TypeErrors have the argument and its type."""

  @parameterized.parameters(*_CALLS)
  def test_none(self, name, call):
    with self.assertRaisesRegex(TypeError, f"^{name} is None: it must be an"):
      call(None)

  def test_transforms_of_totals_name_u(self):
    for dist in _TOTALS:
      self.assert_close(
        dist.laplace_transform(u=[0.0]), dist.laplace_transform([0.0])
      )
      with self.assertRaisesRegex(ValueError, "^value is None: .* argument u "):
        dist.diagnose(None, "laplace_transform")
      with self.assertRaisesRegex(ValueError, r"\bu (has shape )?\(2,\)"):
        dist.laplace_transform([1.0, 2.0])

  @parameterized.parameters(*_CALLS)
  def test_what_holds_no_numbers(self, name, call):
    for value, what in (
      (onp.asarray(["a"]), "text"),
      (onp.asarray([None, 1]), "Python objects"),
      (onp.asarray([b"a"]), "bytes"),
      (onp.asarray(["2020-01-01"], "datetime64[D]"), "dates"),
      (onp.asarray([1], "timedelta64[D]"), "durations"),
    ):
      with self.assertRaisesRegex(TypeError, f"^{name} holds {what}: it must"):
        call(value)

  @parameterized.parameters(*_CALLS, *_INDEX_CALLS)
  def test_lists_that_are_no_arrays(self, name, call):
    rule = "it must be a rectangular array"
    with self.assertRaisesRegex(ValueError, f"^{name} is ragged: {rule}"):
      call([[1, 2], [3]])
    rule = "it must have at most 20"
    for depth in (21, 30, 3000):
      with self.assertRaisesRegex(
        ValueError, f"^{name} has more than 20 dimensions: {rule}"
      ):
        call(_nested(1, depth))

  @parameterized.parameters(
    ("k", _ERLANG.moment),
    ("cause", graphs.ABSORBED),
    ("max_states", lambda x: graphs.Graph.from_edges([], 0, max_states=x)),
  )
  def test_deep_lists_in_messages(self, name, call):
    with self.assertRaisesRegex(
      (TypeError, ValueError), f"^{name} is [^ ]*...[^ ]*: it must be"
    ):
      call(_nested(1, 3000))

  def test_many_dimensions(self):
    with self.assertRaisesRegex(ValueError, "^value has more than 20 dim"):
      _ERLANG.log_prob(onp.ones((1,) * 21))

  def test_texts(self):
    for call in (pd.Hypoexponential, _ERLANG.log_prob):
      with self.assertRaisesRegex(TypeError, "^(rates|value) (holds|is) "):
        call("text")

  def test_numbers_that_are_not_the_backends(self):
    for value in (fractions.Fraction(1, 3), 2**70, [1, 2**70]):
      for name, call in (("rate", _CALLS[1][1]), ("value", _ERLANG.log_prob)):
        with self.assertRaisesRegex(TypeError, f"^{name} holds Python obj"):
          call(value)

  def test_ints_of_more_than_32_bits(self):
    for value in (2**40, [2**40]):
      self.assert_close(
        pd.Erlang(2, value).rate, onp.full_like(value, 2.0**40, float)
      )

  def test_mappings(self):
    with self.assertRaisesRegex(TypeError, "^rates is dict: it must be an arr"):
      pd.Hypoexponential({"a": 1.0})

  def test_optional_ones_may_be_none(self):
    dist = pd.PhaseType([1.0], [[-2.0]], exit_rates=None, prob_zero=None)
    self.assert_close(dist.mean(), 0.5)
    self.assertIsNone(pd.TruncatedPhaseType(_ERLANG, 1.0, None).high)


class OptionsTest(test_case.TestCase):
  """Tests types of options, so that extra arguments raise."""

  def test_flags(self):
    for option in ("validate_args", "allow_nan_stats"):
      for value in (1.5, 1, "yes", None):
        with self.assertRaisesRegex(TypeError, f"^{option} is .*True or False"):
          pd.Erlang(2, 1.0, **{option: value})
      self.assertTrue(
        getattr(pd.Erlang(2, 1.0, **{option: onp.bool_(True)}), option)
      )

  def test_a_parameter_too_many(self):
    with self.assertRaisesRegex(TypeError, "^validate_args is 2.0: it must be"):
      pd.MatrixLogNormal(_ERLANG, 0.5, 2.0)
    with self.assertRaisesRegex(TypeError, "^validate_args is 'service': it"):
      pd.Hypoexponential([1.0, 2.0], "service")

  def test_names(self):
    with self.assertRaisesRegex(TypeError, "^name is 3: it must be a string"):
      pd.Erlang(2, 1.0, name=3)

  def test_sample_shapes(self):
    for shape in ([[1], [1, 2]], (2.0,), "ab"):
      with self.assertRaisesRegex(TypeError, "^sample_shape is .* integers"):
        _ERLANG.sample(shape, seed=1)


class SumsTest(test_case.TestCase):
  """Tests that messages about sums have the sum and its index."""

  @parameterized.parameters(
    (
      pd.Hyperexponential,
      ([0.5, 0.75], [1, 2]),
      r"^sum\(mixture_probs\) = 1.25: ",
    ),
    (
      pd.GeometricMixture,
      ([[0.5, 0.5], [0.5, 0.25]], [0.5, 0.5]),
      r"^sum\(mixture_probs\)\[1\] = 0.75: this sum must be 1",
    ),
    (
      pd.AcyclicPhaseType,
      ([0.75, 0.75], [1, 2]),
      r"^sum\(initial_probs\) = 1.5: this sum must be <= 1",
    ),
    (
      pd.PhaseType,
      ([0.75, 0.75], [[-1, 0], [0, -1]]),
      r"^sum\(initial_probs\) = 1.5: this sum must be <= 1",
    ),
  )
  def test_messages(self, family, arguments, message):
    with self.assertRaisesRegex(ValueError, message):
      family(*arguments, validate_args=True)


class CountsTest(test_case.TestCase):
  """Tests that too large numbers of phases raise at once."""

  @parameterized.parameters(2**20 + 1, 10**9, 10**30)
  def test_too_large(self, count):
    for name, make in (
      ("concentration", lambda: pd.Erlang(count, 1.0)),
      (r"concentrations\[1\]", lambda: pd.HyperErlang([1], [1, count], [1])),
      ("num_successes", lambda: pd.NegativeBinomialTrials(count, 0.5)),
      ("num_successes", lambda: pd.NegativeBinomialFailures(count, 0.5)),
    ):
      with self.assertRaisesRegex(
        ValueError, f"^{name} is {count}: it must be .* at most 1048576"
      ):
        make()

  def test_sum_too_large(self):
    with self.assertRaisesRegex(
      ValueError, "concentrations sum to 1200000: .* at most 1048576"
    ):
      pd.HyperErlang([0.5, 0.5], (600000, 600000), [1.0, 1.0])

  def test_the_largest(self):
    self.assertEqual(pd.Erlang(2**20, 1.0).concentration, 2**20)


if __name__ == "__main__":
  absltest.main()
