"""Distributions of graphs as pytrees, under JAX's transformations."""

import itertools

from absl.testing import absltest
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import distributions
from phasic.substrates.jax import graphs

jax.config.update("jax_enable_x64", True)

ABSORBED = graphs.ABSORBED
TIMES = onp.asarray([0.25, 1.0, 3.0])


def chain(order, rate=1.0, discrete=False):
  """A chain through states, each left at a rate a, or for good at 0.5 b."""
  after = dict(itertools.pairwise(order))

  def transitions(state):
    yield after.get(state, ABSORBED), {"a": rate}
    if state != order[-1]:
      yield ABSORBED, {"b": 0.5}

  return graphs.Graph.from_transitions(
    transitions, order[0], params=("a", "b"), discrete=discrete
  )


def dense_log_prob(params, times):
  """The same for three states, by matrices."""
  a, b = params
  one = jnp.eye(3)
  ends = jnp.asarray([0.5, 0.5, 0.0]) * b + jnp.asarray([0.0, 0.0, 1.0]) * a
  matrix = a * jnp.eye(3, k=1) - (a + 0.5 * b) * one
  matrix = matrix.at[2, 2].set(-a)
  return distributions.PhaseType(one[0], matrix, ends).log_prob(times)


class PytreeTest(absltest.TestCase):
  def test_round_trip(self):
    params = {"a": jnp.asarray(1.5), "b": jnp.asarray([0.5, 1.0])}
    dist = distributions.PhaseType.from_graph(chain("abc"), params, name="x")
    leaves, structure = jax.tree.flatten(dist)
    self.assertLen(leaves, 6 + 2)
    other = jax.tree.unflatten(structure, leaves)
    self.assertIsInstance(other, distributions.GraphPhaseType)
    self.assertEqual(repr(other), repr(dist))
    onp.testing.assert_array_equal(other.cdf(0.5), dist.cdf(0.5))
    self.assertIn("unknown", repr(jax.tree.map(lambda _: object(), dist)))

  def test_one_compilation(self):
    traced = []

    @jax.jit
    def log_prob(dist, times):
      traced.append(dist)
      return dist.log_prob(times)

    for order, rate in (("abc", 1.0), ((7, 9, 8), 2.0)):
      dist = distributions.PhaseType.from_graph(
        chain(order, rate), [1.5 / rate, 0.5]
      )
      onp.testing.assert_allclose(
        log_prob(dist, TIMES), dense_log_prob([1.5, 0.5], TIMES), rtol=1e-12
      )
    self.assertLen(traced, 1)

  def test_one_compilation_of_log_prob_and_moments(self):
    traced = []

    @jax.jit
    def both(graph, params, times, rewards):
      traced.append(graph)
      return graphs.log_prob_and_moments(graph, params, times, rewards)

    for order, rate in (("abc", 1.0), ((7, 9, 8), 2.0)):
      graph = chain(order, rate)
      params, rewards = [1.5 / rate, 0.5], onp.asarray([1.0, 2.0, 0.0])
      log_probs, moments = both(graph, params, TIMES, rewards)
      onp.testing.assert_allclose(
        log_probs, dense_log_prob([1.5, 0.5], TIMES), rtol=1e-12
      )
      # The second phase is reached with probability 6/7.
      mean = (1.0 + 2.0 * 6 / 7) / 1.75
      onp.testing.assert_allclose(moments[0], mean, rtol=1e-12)
    self.assertLen(traced, 1)

  def test_derivatives_of_log_prob_and_moments(self):
    graph = chain("abc")
    arguments = (jnp.asarray([1.5, 0.5]), TIMES, jnp.asarray([1.0, 2.0, 0.5]))

    @jax.jit
    def total(graph, *arguments):
      log_probs, moments = graphs.log_prob_and_moments(graph, *arguments)
      return log_probs.sum() + moments.sum()

    def of(*arguments):
      return total(graph, *arguments)

    reverse = jax.jacrev(jax.jacrev(of, (0, 1, 2)), (0, 1, 2))(*arguments)
    forward = jax.jacfwd(jax.jacfwd(of, (0, 1, 2)), (0, 1, 2))(*arguments)
    for x, y in zip(
      jax.tree.leaves(reverse), jax.tree.leaves(forward), strict=True
    ):
      onp.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-11)
    # The mean of rewards is linear in them.
    onp.testing.assert_allclose(reverse[0][2], forward[2][0].T, rtol=1e-9)

  def test_every_method_under_jit(self):
    for kind, discrete in (
      (distributions.PhaseType, False),
      (distributions.DiscretePhaseType, True),
    ):
      graph = chain("abc", discrete=discrete)
      dist = kind.from_graph(graph, [0.25, 0.5])
      by_values = kind.from_graph(
        graph, edge_values=dist.graph.edge_values([0.25, 0.5])
      )
      methods = (
        lambda d: d.log_prob(2.0),
        lambda d: d.mean(),
        lambda d: d.sample(5, seed=jax.random.key(1)),
        lambda d: d.survival_function(2.0),
        lambda d: d.cumulative_incidence(2.0, None),
        lambda d: d.cumulative_incidence(jnp.inf, None),
        lambda d: d.stddev(),
        lambda d: d.moment(3),
        lambda d: d.initial_probs,
      )
      for d, given in ((dist, methods), (by_values, methods[:3])):
        for method in given:
          onp.testing.assert_allclose(jax.jit(method)(d), method(d), rtol=1e-12)

  def test_weights_of_the_start_are_needed(self):
    graph = graphs.Graph.from_transitions(
      lambda k: [(ABSORBED, {"a": k})],
      {1: {"q": 1.0}, 2: {1: 1.0, "q": -1.0}},
      params=("a", "q"),
    )

    @jax.jit
    def log_prob(graph):
      values = jnp.asarray([1.0, 2.0])
      dist = distributions.PhaseType.from_graph(graph, edge_values=values)
      return dist.log_prob(1.0)

    # Whether the start depends on parameters is not known here.
    self.assertTrue(onp.isnan(log_prob(graph)))


class TransformationsTest(absltest.TestCase):
  def test_derivatives(self):
    graph = chain("abc")
    params = jnp.asarray([1.5, 0.5])

    def of_graph(params, times):
      dist = distributions.PhaseType.from_graph(graph, params)
      return dist.log_prob(times)

    for transform in (
      jax.jacrev,
      jax.jacfwd,
      jax.hessian,
      lambda f: jax.jit(jax.jacfwd(jax.jacrev(f))),
    ):
      onp.testing.assert_allclose(
        transform(of_graph)(params, TIMES),
        transform(dense_log_prob)(params, TIMES),
        rtol=1e-9,
        atol=1e-11,
      )

  def test_derivatives_in_the_graph(self):
    graph = chain("abc")

    @jax.grad
    def gradient(coefficients):
      leaves, structure = jax.tree.flatten(graph)
      leaves[3] = coefficients
      other = jax.tree.unflatten(structure, leaves)
      dist = distributions.PhaseType.from_graph(other, [1.5, 0.5])
      return dist.log_prob(TIMES).sum()

    # Not a silent zero.
    with self.assertRaisesRegex(NotImplementedError, "coefficients"):
      gradient(jnp.asarray(graph.coefficients))

  def test_vmap(self):
    graph = chain("abc")
    params = jnp.asarray([[1.5, 0.5], [0.25, 1.0]])

    def log_prob(params, t):
      return distributions.PhaseType.from_graph(graph, params).log_prob(t)

    found = jax.vmap(log_prob, (0, None))(params, TIMES)
    batch = distributions.PhaseType.from_graph(graph, params[:, None])
    onp.testing.assert_allclose(found, batch.log_prob(TIMES), rtol=1e-13)
    # Of distributions, too.
    dists = jax.vmap(lambda p: distributions.PhaseType.from_graph(graph, p))(
      params
    )
    onp.testing.assert_allclose(
      jax.vmap(lambda d: d.log_prob(TIMES))(dists), found, rtol=1e-13
    )

  def test_vmap_of_a_batch(self):
    # There are three edges, masses and entries.
    edges = [
      (0, 1, {"a": 2.0}),
      (0, graphs.ABSORBED, {"a": 1.0}),
      (1, graphs.ABSORBED, 0.5),
    ]
    graph = graphs.Graph.from_edges(edges, 0, params=("a",))
    params = jnp.asarray([[1.0], [2.0], [3.0]])
    dist = distributions.GraphPhaseType(graph, params)

    def log_prob(dist):
      return dist.log_prob(0.5)

    for method in ("log_prob", "mean"):
      arguments = (0.5,) if method == "log_prob" else ()
      with self.assertRaisesRegex(
        ValueError, "of a graph has shape .*in_axes with None for the arrays"
      ):
        jax.vmap(lambda d, m=method, a=arguments: getattr(d, m)(*a))(dist)
    axes = jax.tree_util.tree_map_with_path(
      lambda path, _: None if path[0].name == "graph" else 0, dist
    )
    found = jax.vmap(log_prob, in_axes=(axes,))(dist)
    onp.testing.assert_allclose(found, dist.log_prob(0.5), rtol=1e-13)
    inside = jax.vmap(
      lambda p: distributions.GraphPhaseType(graph, p).log_prob(0.5)
    )(params)
    onp.testing.assert_allclose(inside, found, rtol=1e-13)

  def test_what_vmap_returns(self):
    graph = chain("abc")
    params = jnp.asarray([[[1.5, 0.5]], [[0.25, 1.0]], [[2.0, 3.0]]])

    def make(params):
      return distributions.PhaseType.from_graph(graph, params)

    batch = make(params)
    for mapped in (jax.vmap(make), jax.vmap(jax.vmap(make))):
      dists = mapped(params)
      self.assertEqual(dists.batch_shape, (3, 1))
      onp.testing.assert_array_equal(dists.mean(), batch.mean())
      onp.testing.assert_allclose(
        dists.log_prob(TIMES), batch.log_prob(TIMES), rtol=1e-13
      )
      onp.testing.assert_array_equal(dists[1].cdf(1.0), batch[1].cdf(1.0))
    slopes = jax.grad(lambda p: jax.vmap(make)(p).mean().sum())(params)
    onp.testing.assert_allclose(
      slopes, jax.grad(lambda p: make(p).mean().sum())(params), rtol=1e-13
    )

  def test_what_vmap_returns_where_it_cannot_be_told(self):
    graph = chain("abc")
    params = jnp.asarray([[1.5, 0.5], [0.25, 1.0]])

    def make(params):
      return distributions.PhaseType.from_graph(graph, params)

    with self.assertRaisesRegex(ValueError, "sources .*traced.*Return arrays"):
      jax.jit(lambda p: jax.vmap(make)(p).mean())(params)
    with self.assertRaisesRegex(ValueError, "out_axes is not 0"):
      jax.vmap(make, out_axes=1)(params).mean()

    def scaled(c):
      leaves, structure = jax.tree.flatten(graph)
      return jax.tree.unflatten(structure, [*leaves[:2], c, *leaves[3:]])

    several = jax.vmap(scaled)(jnp.stack([graph.constants] * 2) + params[:, :1])
    with self.assertRaisesRegex(ValueError, "different graphs"):
      several.edge_values(params)

  def test_checks_under_jit(self):
    graph = chain("abc")

    @jax.jit
    def log_prob(params):
      dist = distributions.PhaseType.from_graph(
        graph, params, validate_args=True
      )
      return dist.log_prob(1.0)

    self.assertTrue(onp.isnan(log_prob(jnp.asarray([-1.0, 3.0]))))
    self.assertTrue(onp.isfinite(log_prob(jnp.asarray([1.0, 3.0]))))

  def test_nothing_traced_is_kept(self):
    params = jnp.asarray([1.5, 0.5])
    made = distributions.PhaseType.from_graph(chain("abc"), params)
    want = jax.grad(lambda x: dense_log_prob(x, TIMES).sum())(params)

    def log_prob(x):
      inner = distributions.PhaseType.from_graph(chain("abc"), x)
      # The second call would meet what the first one keeps.
      return inner.log_prob(TIMES).sum() + 0.0 * inner.mean() * inner.mean()

    def sums(_):
      # A distribution of known parameters, first used in a traced function.
      return made.mean() + made.variance() + made.log_prob(TIMES).sum()

    with jax.checking_leaks():
      onp.testing.assert_allclose(jax.grad(log_prob)(params), want, rtol=1e-12)
      onp.testing.assert_allclose(
        jax.jit(jax.grad(log_prob))(params), want, rtol=1e-12
      )
      traced = jax.jit(sums)(0.0)
      onp.testing.assert_allclose(sums(0.0), traced, rtol=1e-12)
      onp.testing.assert_allclose(jax.jit(sums)(0.0), traced, rtol=1e-12)

  def test_results_that_are_given_away(self):
    params = jnp.asarray([1.5, 0.5])
    dist = distributions.PhaseType.from_graph(chain("abc"), params)
    double = jax.jit(lambda x: 2.0 * x, donate_argnums=0)
    twice = double(dist.mean())
    double(dist.initial_probs)
    self.assertEqual(2.0 * dist.mean(), twice)

  def test_other_leaves_after_a_call(self):
    params = jnp.asarray([1.5, 0.5])
    dist = distributions.PhaseType.from_graph(chain("abc"), params)
    mean = dist.mean()
    doubled = jax.tree.map(lambda x: 2.0 * x if x is dist.params else x, dist)
    onp.testing.assert_allclose(doubled.mean(), mean / 2.0, rtol=1e-15)
    slope = jax.grad(lambda d: d.mean(), allow_int=True)
    slopes = slope(dist)
    for own, want in zip(
      jax.tree.leaves(slopes),
      jax.tree.leaves(jax.jit(slope)(dist)),
      strict=True,
    ):
      if own.dtype == onp.float64:
        onp.testing.assert_allclose(own, want, rtol=1e-12, atol=1e-300)
    self.assertGreater(jnp.abs(slopes.graph.initial_constants).sum(), 0.0)
    onp.testing.assert_allclose(slopes.params @ params, -mean, rtol=1e-12)


if __name__ == "__main__":
  absltest.main()
