"""What kind of thing the methods of all distributions return."""

import inspect
import pickle

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np

from phasic.substrates.numpy import distributions as pd
from tests.generated.numpy.helpers import chain_cases
from tests.generated.numpy.helpers import family_cases

_CASES = {**family_cases.CASES, **chain_cases.CASES}
del _CASES["erlang_1000"]
# Arguments of methods, by the names of their parameters.
_ARGUMENTS = {
  "u": 0.3,
  "s": -0.1,
  "z": 0.5,
  "k": 1,
  "since": 0.1,
  "until": 0.7,
  "by_epoch": False,
  "sample_shape": (),
  "seed": 1,
}
# These return no numbers.
_OTHERS = (
  "as_phase_type",
  "batch_shape_tensor",
  "copy",
  "diagnose",
  "event_shape_tensor",
  "expected_statistics",
  "experimental_default_event_space_bijector",
  "from_graph",
  "from_json",
  "from_phase_type",
  "from_probs",
  "parameter_properties",
  "sample_paths",
  "to_json",
)
# One for each phase or cause, whatever the batch.
_VECTORS = (
  "cause_probs",
  "expected_sojourn_times",
  "expected_visits",
  "occupancy",
)


def _results(dist, value):
  """Yields names and results of all public methods."""
  known = {**_ARGUMENTS, "value": value, "other": dist, "cause": None}
  for name, method in inspect.getmembers(dist, inspect.ismethod):
    if name.startswith("_") or name in _OTHERS:
      continue
    own = known
    if name.startswith("quantile"):
      own = {**known, "value": -1.0 if "_log_" in name else 0.25}
    try:
      found = method(
        **{x: own[x] for x in inspect.signature(method).parameters}
      )
    except NotImplementedError:
      continue
    for x in found if isinstance(found, tuple) else (found,):
      yield name, x


class ResultsTest(parameterized.TestCase):
  """Scalars where there are no dimensions, arrays where there are some."""

  @parameterized.product(name=tuple(_CASES), dtype=("float64", "float32"))
  def test_scalars(self, name, dtype):
    case = _CASES[name]
    dist = case.make(dtype)
    count = 0
    for method, x in _results(dist, case.values[2]):
      expected = np.ndarray if method in _VECTORS else np.dtype(dtype).type
      self.assertIs(type(x), expected, method)
      count += 1
    self.assertGreaterEqual(count, 17)

  @parameterized.parameters(*_CASES)
  def test_arrays(self, name):
    case = _CASES[name]
    for method, x in _results(case.batched((1,)), case.values[2]):
      self.assertIs(type(x), np.ndarray, method)
      self.assertEqual(x.shape[0], 1, method)
      self.assertEqual(x.ndim, 2 if method in _VECTORS else 1, method)

  def test_vectors(self):
    dist = pd.MultivariatePhaseType(
      [1.0, 0.0], [[-2.0, 1.0], [0.0, -4.0]], np.eye(2)
    )
    for x in (dist.mean(), dist.covariance(), dist.sample(seed=1)):
      self.assertIs(type(x), np.ndarray)
    for x in (
      dist.log_prob([0.5, 1.0]),
      dist.laplace_transform([0.5, 1.0]),
      dist.mixed_moment([1, 1]),
    ):
      self.assertIs(type(x), np.float64)

  def test_divergences_that_are_registered(self):
    dist = pd.Erlang(2, 1.0)
    self.assertIs(type(pd.kl_divergence(dist, dist)), np.float64)


class ParametersTest(absltest.TestCase):
  """Parameters, which do not change, so that what follows from them is kept."""

  def test_read_only(self):
    start = np.asarray([1.0, 0.0])
    dist = pd.PhaseType(start, [[-2.0, 2.0], [0.0, -2.0]])
    of_graph = pd.PhaseType.from_graph(chain_cases.repairs(), [1.5, 0.75, 0.5])
    of_graph.mean()
    for array in (dist.initial_probs, of_graph.params, of_graph.initial_probs):
      with self.assertRaisesRegex(ValueError, "read-only"):
        array[0] = 0.5
    start[0] = 0.5  # The given array is the caller's.
    self.assertEqual(dist.initial_probs[0], 1.0)

  def test_after_pickle(self):
    dist = pd.PhaseType.from_graph(chain_cases.repairs(), [1.5, 0.75, 0.5])
    mean, variance = dist.mean(), dist.variance()
    # In protocol 5, the default from Python 3.14 on, arrays stay read-only.
    other = pickle.loads(pickle.dumps(dist, protocol=4))
    self.assertEqual(other.mean(), mean)
    self.assertEqual(other.variance(), variance)
    other.params[0] *= 2.0
    want = pd.PhaseType.from_graph(chain_cases.repairs(), [3.0, 0.75, 0.5])
    self.assertEqual(other.mean(), want.mean())
    self.assertEqual(dist.mean(), mean)


if __name__ == "__main__":
  absltest.main()
