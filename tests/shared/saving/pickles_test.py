"""Pickles have the version of phasic that wrote them."""

import copy
import functools
import pickle
import warnings

from absl.testing import absltest

from phasic import distributions as pd
from phasic import graphs as pg
from phasic import inference
from phasic import math as pm
from phasic.internal import late_names
from tests.helpers import test_case


def _objects():
  data = inference.Observations([1.0, 2.0])
  return (
    pd.Erlang(2, 1.0),
    pd.GraphPhaseType(pg.models.kingman(3), [1.0]),
    pg.models.kingman(3),
    pm.EdgeRates([0], [1], [1.0]),
    pm.EdgeProbs([0], [1], [0.5]),
    data,
    inference.fit_mle(pd.Erlang(1, 1.0), data, fixed=["rate"]),
  )


def _written_by(version, x):
  """Returns the pickle of an object as another version would write it."""
  text = late_names.version()
  written = pickle.dumps(x, protocol=0)
  assert text.encode() in written
  return written.replace(text.encode(), version.encode())


class PicklesTest(test_case.TestCase):
  def test_this_version(self):
    with warnings.catch_warnings():
      warnings.simplefilter("error")
      for x in _objects():
        for y in (
          pickle.loads(pickle.dumps(x)),
          copy.deepcopy(x),
          copy.copy(x),
        ):
          self.assertEqual(repr(y), repr(x))
          self.assertNotIn("_phasic_version", getattr(y, "__dict__", {}))

  def test_other_versions_warn_once(self):
    for i, x in enumerate(_objects()):
      other = f"99.{i}.0"
      load = functools.partial(pickle.loads, _written_by(other, x))
      again, found = self.caught(load)
      self.assertEqual(repr(again), repr(x))
      self.assertLen(found, 1)
      self.assertRegex(
        str(found[0].message),
        f"was written by phasic {other} and is read by phasic "
        f"{late_names.version()}: pickles need not work",
      )
      self.assertEqual(self.caught(load)[1], [])

  def test_no_version(self):
    dist = pd.Erlang(2, 1.0)
    state = dist.__getstate__()
    del state["_phasic_version"]
    again = object.__new__(pd.Erlang)
    _, found = self.caught(lambda: again.__setstate__(state))
    self.assertEqual(repr(again), repr(dist))
    self.assertLen(found, 1)
    self.assertIn("by a phasic before 0.1.0", str(found[0].message))


if __name__ == "__main__":
  absltest.main()
