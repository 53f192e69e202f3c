"""Texts that `from_json` refuses, each with a reason."""

import copy
import json

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import graphs as pg
from phasic import inference
from phasic import math as pm
from tests.helpers import test_case


def _array(data, shape, dtype="float64"):
  return {"class": "array", "dtype": dtype, "shape": shape, "data": data}


def _parts(x):
  """Returns the object of JSON that another one holds."""
  data = json.loads(x.to_json())
  return {"class": data["class"], "parameters": data["parameters"]}


def _changed(x, path, value):
  """Returns the text of an object with something else at a path."""
  data = json.loads(x.to_json())
  *start, last = path
  at = data
  for key in start:
    at = at[key]
  at[last] = copy.deepcopy(value)
  return json.dumps(data)


_RATE = ("parameters", "rate")
_DATA = (*_RATE, "data")


class DistributionsTest(test_case.TestCase):
  def refused(self, text, message, cls=pd.Distribution):
    with self.assertRaisesRegex(ValueError, message):
      cls.from_json(text)

  @parameterized.parameters(
    ("", "is not JSON"),
    ("null", "the text is null: it must be an object"),
    ("{}", "format is None: it must be 'phasic.object'"),
    ('{"a": 1, "a": 2}', "the key 'a' more than once"),
    ('{"format": NaN}', "NaN is in the text"),
    ('{"a":' * 100_000, "nested too deeply|is not JSON"),
    ("[" + "1" * 10_000 + "]", "digits"),
    (b"\xff\xfe\xfa", "the text is not JSON: .* codec can't decode"),
  )
  def test_no_object(self, text, message):
    self.refused(text, message)

  def test_no_text(self):
    with self.assertRaisesRegex(TypeError, "text is dict: it must be a str"):
      pd.Distribution.from_json({})

  def test_cut_texts(self):
    text = pd.GraphPhaseType(pg.models.kingman(3), [1.0]).to_json()
    for end in range(0, len(text), 7):
      self.refused(text[:end], "the text is not JSON")

  @parameterized.parameters(
    (("format",), "phasic.graph", "'phasic.object'; Graph.from_json reads"),
    (("version",), 2, "version is 2: it must be 1; a later phasic wrote"),
    (("version",), 0, "version is 0: it must be 1$"),
    (("version",), True, "version is True: it must be 1$"),
    (("class",), "Mine", "class is 'Mine': it must be one of Acyclic"),
    (("class",), "Distribution", "class is 'Distribution': it must be one"),
    (("class",), "os.system", "class is 'os.system': it must be one of"),
    (("class",), ["Erlang"], r"class is \['Erlang'\]: it must be one of"),
    (("class",), "Coxian", r"Coxian: parameters lacks .*'progression_rates'"),
    (("more",), 1, r"lacks the keys \[\] and has the unknown keys \['more'\]"),
    (("parameters",), [], "Erlang.parameters is an array: .* an object"),
    (("parameters", "more"), 1, r"parameters lacks .* unknown .*\['more'\]"),
    (("parameters", "concentration"), 0, "concentration is 0: it must be at"),
    (("parameters", "concentration"), 2.5, "concentration is float"),
    (("parameters", "concentration"), 10**400, "concentration is 1000.*most"),
    (("parameters", "validate_args"), 1, "validate_args is 1: it must be True"),
    (("parameters", "name"), 1, "Erlang: name is 1: it must be a string"),
    (_RATE, None, "Erlang: rate is None"),
    (_RATE, "0.5", "Erlang: rate holds text"),
    (_RATE, [1.0, [2.0]], "Erlang: rate is ragged"),
    (_RATE, {"class": "eval"}, "Erlang.rate: class is 'eval': .* one of"),
    (_RATE, {}, "Erlang.rate: class is None: it must be one of"),
    (_RATE, {"class": "float", "value": "1"}, "Erlang.rate.value is '1'"),
    (_RATE, {"class": "float", "value": "nan"}, "Erlang: rate = nan: .* > 0"),
    (_RATE, {"class": "mapping", "items": []}, "rate.items is an array"),
    (
      _RATE,
      {"class": "array"},
      r"rate lacks the keys \['dtype', 'shape', 'data",
    ),
    (_RATE, _array([0.5], []) | {"x": 1}, r"unknown keys \['x'\]"),
    (_RATE, _array([0.5, 0.5], []), "rate.data has 2 entries: it must have 1"),
    (_RATE, _array([], [2**30]), "rate.data has 0 entries"),
    (_RATE, _array([], [0, 2**30, 2**30]), "must have at most 2.31 entries"),
    (_RATE, _array([], [0] * 30), "rate.shape has 30 sizes: .* at most 20"),
    (_RATE, _array([], [-1]), r"rate.shape\[0\] is -1"),
    (_RATE, _array([0.5], [True]), r"rate.shape\[0\] is True"),
    (_RATE, _array([0.5], 1), "rate.shape is a number: it must be an array"),
    (_RATE, _array([0.5], [], "complex128"), "rate.dtype is 'complex128'"),
    (_RATE, _array([0.5], [], "object"), "rate.dtype is 'object': it must be"),
    (_RATE, _array([0.5], [], ["f"]), r"rate.dtype is \['f'\]: it must be one"),
    (_RATE, _array([0.5], [], "int32"), r"rate.data\[0\] is 0.5: .* of int32"),
    (_RATE, _array([2**31], [], "int32"), r"data\[0\] is 2147483648: .* int32"),
    (_RATE, _array([1e39], [], "float32"), r"data\[0\] is 1e\+39: .* float32"),
    (_DATA, [10**400], r"Erlang.rate.data\[0\] is 1000"),
    (_DATA, [True], r"Erlang.rate.data\[0\] is True: it must be a number"),
    (_DATA, ["Infinity"], r"rate.data\[0\] is 'Infinity': .* 'inf', '-inf'"),
    (_DATA, [None], r"Erlang.rate.data\[0\] is None: it must be a number"),
    (_DATA, [-0.5], "Erlang: rate = -0.5: it must be > 0"),
    (_DATA, ["nan"], "Erlang: rate = nan: it must be > 0"),
    (_DATA, ["inf"], "Erlang: rate = inf: it must be > 0 and finite"),
  )
  def test_edited(self, path, value, message):
    self.refused(_changed(pd.Erlang(2, 0.5), path, value), message)

  def test_number_that_is_read_as_infinite(self):
    text = pd.Erlang(2, 0.5).to_json().replace("[0.5]", "[1e999]")
    self.refused(text, r"Erlang.rate.data\[0\] is inf: it must be a number")

  def test_every_key_is_needed(self):
    data = json.loads(pd.Erlang(2, 0.5).to_json())
    for part in (data, data["parameters"], data["parameters"]["rate"]):
      for key, value in list(part.items()):
        del part[key]
        self.refused(json.dumps(data), key)
        part[key] = value

  def test_within_others(self):
    dist = pd.TruncatedPhaseType(pd.Erlang(2, 1.0), 0.5, 2.0)
    for path, value, message in (
      (("distribution",), 1.0, "TruncatedPhaseType: distribution is float"),
      (
        ("distribution", *_DATA),
        [-1.0],
        "TruncatedPhaseType.distribution: rate = -1.0: it must be > 0",
      ),
      (("high", "data"), [0.25], "TruncatedPhaseType: .*"),
      (("low",), _array([0.5], [], "float32"), "float32 and .* float64"),
    ):
      self.refused(_changed(dist, ("parameters", *path), value), message)
    deep = _parts(pd.Erlang(2, 1.0))
    for _ in range(200):
      deep = {"class": "Equilibrium", "parameters": {"distribution": deep}}
    text = json.dumps({"format": "phasic.object", "version": 1, **deep})
    self.refused(text, "is nested too deeply: there must be at most 16")

  def test_graphs(self):
    dist = pd.GraphPhaseType(pg.models.kingman(3), [1.0])
    path = ("parameters", "graph", "parameters")
    for key, value, message in (
      ("targets", [1, 7], r"GraphPhaseType.graph: targets\[1\] = 7"),
      ("version", 2, "GraphPhaseType.graph: version is 2: it must be 1"),
      ("states", [3, _parts(dist)], "GraphPhaseType.graph: state .* object"),
    ):
      self.refused(_changed(dist, (*path, key), value), message)

  def test_epochs(self):
    graphs = [pg.models.kingman(4), pg.models.kingman(3)]
    dist = pd.Epochs(graphs, [[1.0], [0.5]], [0.75], [lambda s: min(s, 3)])
    for key, value, message in (
      ("state_maps", [_array([0, 0, 2], [3], "int32")], r"state_maps\[0\] is"),
      ("state_maps", [_array([0, 1], [2], "int32")], "for each of the 3 phase"),
      ("state_maps", [[0.5, 0.0, 1.0]], r"state_maps\[0\] has dtype float64"),
      ("state_maps", [], "graphs has 2 graphs"),
      ("state_maps", 1, "state_maps is 1: it must be a list"),
      ("graphs", [1, 2], r"graphs\[0\] is int: it must be a Graph"),
    ):
      self.refused(_changed(dist, ("parameters", key), value), message)


class OthersTest(test_case.TestCase):
  @parameterized.parameters(
    (("sources",), [0], "EdgeRates: sources have shape"),
    (("sources",), [0, 0.5], "sources has dtype float"),
    (("sources",), None, "sources is None"),
    (("sources",), ["a", "b"], "sources has dtype"),
    (("parameters",), None, "parameters is None"),
    (("parameters",), _array([0.5], [1]), "parameters have shape"),
    (("constants",), ["a"], "constants holds text"),
    (("coefficients",), _array([0.5], [1], "float32"), "must have one dtype"),
    (("more",), 1, r"parameters lacks .* unknown keys \['more'\]"),
  )
  def test_edges(self, path, value, message):
    edges = pm.EdgeRates([0, 1], [1, 2], onp.asarray([0.5, 1.0]))
    with self.assertRaisesRegex(ValueError, message):
      pm.EdgeRates.from_json(_changed(edges, ("parameters", *path), value))

  @parameterized.parameters(
    (("lower",), None, "Observations: lower is None"),
    (("lower", "data"), ["nan", 1.0], r"lower\[0\] = nan: it must be a number"),
    (("weights",), _array([-1.0], [1]), "a weight must be >= 0"),
    (("weights",), _array([1.0] * 3, [3]), "shapes do not broadcast"),
    (("cause",), _array([0.5], [1]), "cause has dtype float64"),
    (("more",), 1, r"parameters lacks .* unknown keys \['more'\]"),
  )
  def test_observations(self, path, value, message):
    data = inference.Observations(onp.asarray([0.5, 1.0]))
    text = _changed(data, ("parameters", *path), value)
    with self.assertRaisesRegex(ValueError, message):
      inference.Observations.from_json(text)

  @parameterized.parameters(
    (("distribution",), None, "Fit: distribution is NoneType: .* Distribution"),
    (("observations",), 1, "Fit: observations is int: .* Observations"),
    (("record",), {}, "Fit.record: class is None"),
    (("log_likelihood",), "1", "Fit: log_likelihood is str: .* a number"),
    (("log_likelihood",), 10**400, "Fit: int too large"),
    (("fixed",), ["rats"], "Fit: fixed has 'rats'"),
    (("fixed",), [1], r"Fit: fixed\[0\] is a number: it must be a string"),
    (("tied",), [1], r"Fit: tied\[0\] is a number: it must be an array"),
    (("bounds",), [], "Fit: bounds is list: it must be Mapping"),
    (
      ("bounds",),
      {"class": "mapping", "items": {"rate": [1.0]}},
      "bounds of 'rate'",
    ),
    (("record", "parameters", "converged"), 1, "converged is int: .* bool"),
    (("record", "parameters", "num_evaluations"), True, "num_evaluations is b"),
    (("record", "parameters", "reached"), [None], r"reached\[0\] is NoneType"),
    (("record", "parameters", "tried"), "ab", "tried is a string: .* an array"),
  )
  def test_fits(self, path, value, message):
    data = inference.Observations(onp.asarray([0.5, 1.0]))
    fit = inference.fit_mle(
      pd.Erlang(1, onp.asarray(1.0)), data, max_steps=1, starts=()
    )
    with self.assertRaisesRegex(ValueError, message):
      inference.Fit.from_json(_changed(fit, ("parameters", *path), value))


if __name__ == "__main__":
  absltest.main()
