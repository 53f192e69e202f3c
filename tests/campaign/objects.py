"""Objects that arguments may be, for expressions of draws."""

from __future__ import annotations

from collections.abc import Iterator
import pickle
import tempfile
from typing import Any

import numpy as np


class Lying:
  """An array-like object whose shape is not that of its values."""

  shape = (2,)
  dtype = np.dtype("float64")
  ndim = 1

  def __array__(self, *_: Any, **__: Any) -> np.ndarray:
    return np.ones(3)

  def __len__(self) -> int:
    return 2

  def __getitem__(self, index: Any) -> float:
    return 1.0


def strided(values: Any = (1.0, 2.0)) -> np.ndarray:
  """Returns an array whose entries are not next to each other."""
  return np.repeat(np.asarray(values, float)[..., None], 2, axis=-1)[..., 0]


def read_only(values: Any = (1.0, 2.0)) -> np.ndarray:
  """Returns an array that cannot be written."""
  array = np.array(values, float)
  array.flags.writeable = False
  return array


def sparse(form: str) -> Any:
  """Returns a sparse matrix of SciPy."""
  from scipy import sparse as scipy_sparse

  return scipy_sparse.eye(3).asformat(form)


def chain(count: int, seed: int, gone: float = 0.5) -> np.ndarray:
  """Returns a subgenerator of phases that are linked at random."""
  random = np.random.default_rng(seed)
  rates = random.uniform(0.1, 2.0, (count, count))
  rates *= random.random((count, count)) < min(1.0, 3.0 / max(count, 1))
  np.fill_diagonal(rates, 0.0)
  leave = random.uniform(0.1, 1.0, count) * (random.random(count) < gone)
  if count:
    leave[-1] = 1.0
  return rates - np.diag(rates.sum(axis=1) + leave)


def share(count: int, rest: int) -> np.ndarray:
  """Returns masses of every other phase, which sum to one."""
  own = (np.arange(count) % 2 == rest) * (1.0 + np.arange(count))
  return own / own.sum()


def steps(count: int, seed: int) -> np.ndarray:
  """Returns a subtransition matrix."""
  random = np.random.default_rng(seed)
  return random.dirichlet(np.ones(count + 1), count)[:, :count]


def transitions(kind: str) -> Any:
  """Returns a callable for `Graph.from_transitions`, of which some are bad."""

  def good(state: int) -> Iterator[tuple[int, float]]:
    if state > 0:
      yield state - 1, 1.0 * state

  def endless(state: int) -> Iterator[tuple[int, float]]:
    yield state + 1, 1.0

  def negative(state: int) -> Iterator[tuple[int, float]]:
    yield state + 1, -1.0

  def nothing(_: int) -> None:
    return None

  def text(_: int) -> str:
    return "ab"

  def raises(_: int) -> None:
    raise Refused("of the caller")

  found = (good, endless, negative, nothing, text, raises)
  return {function.__name__: function for function in found}[kind]


class Refused(Exception):
  """What a hostile callable raises."""


def of_graph(pd: Any, graph: Any, rates: Any) -> Any:
  """Returns the law of a graph with as many of the rates as it has parameters."""
  names = graph.parameter_names or range(graph.num_params)
  values = {name: rates[i % len(rates)] for i, name in enumerate(names)}
  return pd.GraphPhaseType(graph, values or None)


def of_epochs(pd: Any, graph: Any, rates: Any, boundaries: Any) -> Any:
  """Returns the law of a graph whose parameters change at the boundaries."""
  names = graph.parameter_names
  params = [dict(zip(names, own, strict=False)) for own in rates]
  return pd.Epochs(graph, params, boundaries)


def pickled(value: Any) -> Any:
  """Returns a copy by pickle."""
  return pickle.loads(pickle.dumps(value))


def compiled(substrate: str, f: Any) -> Any:
  """Returns a function that the substrate's framework compiles."""
  if substrate == "jax":
    import jax

    return jax.jit(f)
  if substrate == "tf":
    import tensorflow as tf

    return tf.function(f, autograph=False)
  return f


def exported(substrate: str, f: Any, *args: Any) -> Any:
  """Returns the values of a function that was saved, and read again."""
  if substrate == "jax":
    import jax

    from phasic.substrates import jax as ph

    shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in args]
    text = ph.export(jax.jit(f))(*shapes).serialize()
    return jax.export.deserialize(text).call(*args)
  if substrate == "tf":
    import tensorflow as tf

    module = tf.Module()
    shapes = [tf.TensorSpec(x.shape, x.dtype) for x in args]
    module.f = tf.function(f, shapes, autograph=False)
    with tempfile.TemporaryDirectory() as folder:
      tf.saved_model.save(module, folder)
      return tf.saved_model.load(folder).f(*(tf.constant(x) for x in args))
  return f(*args)


def seed(substrate: str, number: int) -> Any:
  """Returns a seed of the substrate's kind."""
  if substrate == "jax":
    import jax

    return jax.random.key(number)
  return number


def nodes(a: float, b: float, power: int = 1) -> tuple[np.ndarray, np.ndarray]:
  """Returns points and weights of an integral, dense near a if power is large."""
  x, weights = np.polynomial.legendre.leggauss(12)
  ends = a + (b - a) * np.linspace(0.0, 1.0, 9) ** power
  half = np.diff(ends)[:, None] / 2.0
  points = ends[:-1, None] + half * (1.0 + x)
  return np.ravel(points), np.ravel(half * weights)


def edges(pm: Any, matrix: Any, exits: Any) -> Any:
  """Returns a model's rates as those of edges."""
  count = len(exits)
  rates = np.append(matrix * (1.0 - np.eye(count)), exits[:, None], axis=1)
  sources, targets = np.nonzero(rates)
  return pm.EdgeRates(sources, targets, rates[sources, targets])


def machines(pg: Any, count: int) -> Any:
  """Returns a graph of machines of their own that break, and are repaired."""

  def moves(up: tuple[int, ...]) -> Iterator[tuple[Any, Any]]:
    for i, works in enumerate(up):
      after = (*up[:i], 1 - works, *up[i + 1 :])
      to = after if any(after) else pg.ABSORBED
      yield to, ({"breaks": 1.0} if works else {"repaired": 1.0})

  return pg.Graph.from_transitions(moves, (1,) * count, ["breaks", "repaired"])


def mapped(substrate: str, f: Any, rows: Any) -> Any:
  """Returns the values of a function, mapped by the framework."""
  if substrate == "jax":
    import jax

    return jax.vmap(f)(rows)
  if substrate == "tf":
    import tensorflow as tf

    return tf.vectorized_map(f, tf.constant(rows))
  return np.stack([f(row) for row in rows])


def scanned(substrate: str, f: Any, rows: Any) -> Any:
  """Returns the values of a function, in a loop that the framework compiles."""
  if substrate == "jax":
    import jax

    return jax.lax.scan(lambda carry, row: (carry, f(row)), 0.0, rows)[1]
  if substrate == "tf":
    import tensorflow as tf

    loop = tf.function(lambda x: tf.map_fn(f, x), autograph=False)
    return loop(tf.constant(rows))
  return np.stack([f(row) for row in rows])
