"""Batches of functions written for JAXbind, where not all is in the batch."""

import functools

from absl.testing import absltest
from absl.testing import parameterized
import jax
from jax.test_util import check_grads
import numpy as onp

from phasic.substrates.jax.binding import jaxbind_compat as jaxbind

jax.config.update("jax_enable_x64", True)


def _newest(axes):
  return axes[-1] if axes else None


def _powers(out, args, kwargs_dump):
  """x^2 and y^3: each result has the batch of its own argument."""
  out[0][()] = args[0] ** 2
  out[1][()] = args[1] ** 3


def _powers_product(out, args, kwargs_dump):
  """The Jacobian is diagonal: this is jvp and vjp."""
  out[0][()] = 2.0 * args[0] * args[2]
  out[1][()] = 3.0 * args[1] ** 2 * args[3]


def _as_first_two(*args, batch_axes):
  axes = batch_axes or ((),) * len(args)
  return tuple(
    (x.shape, x.dtype, _newest(own))
    for x, own in zip(args[:2], axes[:2], strict=True)
  )


def _scaled(out, args, kwargs_dump):
  """Linear in the second argument; the first result is the first one."""
  scale, x = args
  out[0][()] = scale
  out[1][()] = 2.0 * x


def _call_powers():
  return jaxbind.get_nonlinear_call(
    _powers,
    (_powers_product, _powers_product),
    _as_first_two,
    _as_first_two,
    func_can_batch=True,
  )


def _plain_powers(x, y):
  return [x**2, y**3]


_X = onp.array([[0.5, -1.0, 2.0], [3.0, 0.25, -0.75]])
_Y = onp.array([1.5, -0.5, 1.0])


class PartialBatchTest(parameterized.TestCase):
  """Results in which there is no batch: their axis is None."""

  def _assert_same(self, f, plain, *args):
    for wrap in (lambda g: g, jax.jit):
      jax.tree.map(
        functools.partial(onp.testing.assert_allclose, rtol=1e-14),
        wrap(f)(*args),
        plain(*args),
      )

  @parameterized.parameters(False, True)
  def test_one_argument(self, is_second):
    in_axes, args = (
      ((None, 0), (_Y, _X)) if is_second else ((0, None), (_X, _Y))
    )
    f = jax.vmap(_call_powers(), in_axes)
    plain = jax.vmap(_plain_powers, in_axes)
    self._assert_same(f, plain, *args)
    check_grads(f, args, order=1, modes=("fwd", "rev"), eps=1e-5)

  @parameterized.parameters(
    ((0, None), (None, 0)), ((None, 0), (0, None)), ((0, None), (0, 0))
  )
  def test_levels_with_different_arguments(self, inner, outer):
    # Twice the same size: an axis in the wrong place would go unseen.
    rng = onp.random.default_rng(5)
    args = [
      rng.normal(size=(3,) * (1 + (i is not None) + (o is not None)))
      for i, o in zip(inner, outer, strict=True)
    ]
    f = jax.vmap(jax.vmap(_call_powers(), inner), outer)
    plain = jax.vmap(jax.vmap(_plain_powers, inner), outer)
    self._assert_same(f, plain, *args)

  def test_jacobians(self):
    """One of them has tangents in a batch, whose arguments are in none."""
    call, at = _call_powers(), (_X[0], _Y)
    expected = jax.jacfwd(_plain_powers, (0, 1))(*at)
    for jacobian in (jax.jacfwd, jax.jacrev):
      actual = jacobian(call, (0, 1))(*at)
      jax.tree.map(
        functools.partial(onp.testing.assert_allclose, rtol=1e-14),
        actual,
        expected,
      )

  @parameterized.parameters((0, None), (None, 0))
  def test_fixed_argument(self, *in_axes):
    call = jaxbind.get_linear_call(
      _scaled,
      None,
      _as_first_two,
      None,
      first_n_args_fixed=1,
      func_can_batch=True,
    )
    args = (_X, _Y) if in_axes[0] == 0 else (_Y, _X)
    plain = jax.vmap(lambda scale, x: [scale, 2.0 * x], in_axes)
    self._assert_same(jax.vmap(call, in_axes), plain, *args)

  def test_empty_batch(self):
    f = jax.vmap(jax.vmap(_call_powers(), (None, 0)), (0, None))
    result = f(onp.ones((0, 3)), onp.ones((4, 3)))
    self.assertEqual([x.shape for x in result], [(0, 4, 3)] * 2)

  def test_axis_from_the_end(self):
    """An axis of -1 is the last one at each level."""

    def negate(out, args, kwargs_dump):
      axes = jaxbind.load_kwargs(kwargs_dump)["batch_axes"] or ((),)
      out[0][()] = -onp.moveaxis(args[0], sorted(axes[0]), _at_end(axes[0]))

    def abstract(x, *, batch_axes):
      axes = sorted(batch_axes[0]) if batch_axes else []
      sizes = [x.shape[axis] for axis in axes]
      example = [n for i, n in enumerate(x.shape) if i not in axes]
      # The outermost one is the last.
      shape = (*example, *reversed(sizes))
      return ((shape, x.dtype, -1 if axes else None),)

    def _at_end(axes):
      return [-1 - i for i in range(len(axes))]

    call = jaxbind.get_linear_call(
      negate, negate, abstract, abstract, func_can_batch=True
    )
    x = onp.arange(8.0).reshape(2, 2, 2)
    f = jax.vmap(jax.vmap(call))
    onp.testing.assert_array_equal(f(x)[0], -x)


class BatchErrorsTest(parameterized.TestCase):
  @parameterized.parameters(((),), ("first",), (0.5,))
  def test_wrong_axis(self, *item):
    def abstract(x, *, batch_axes):
      return ((x.shape, x.dtype, *item),)

    def same(out, args, kwargs_dump):
      out[0][()] = args[0]

    call = jaxbind.get_linear_call(
      same, None, abstract, None, func_can_batch=True
    )
    message = r"`abstract` of .*same returned .* for result 0 of a batch"
    with self.assertRaisesRegex(TypeError, message):
      jax.vmap(call)(_X)

  def test_no_axis(self):
    def abstract(x, *, batch_axes):
      return ((x.shape, x.dtype),)

    call = jaxbind.get_linear_call(
      lambda *args: None, None, abstract, None, func_can_batch=True
    )
    with self.assertRaisesRegex(TypeError, "it must be .shape, dtype, batch"):
      jax.vmap(call)(_X)

  def test_keyword_is_the_batch_s(self):
    with self.assertRaisesRegex(
      TypeError, "batch_axes is not a keyword argument"
    ):
      _call_powers()(_Y, _Y, batch_axes=None)

  def test_keyword_is_any_other_without_batches(self):
    def scale(out, args, kwargs_dump):
      out[0][()] = jaxbind.load_kwargs(kwargs_dump)["batch_axes"] * args[0]

    def abstract(x, *, batch_axes):
      return ((x.shape, x.dtype),)

    call = jaxbind.get_linear_call(scale, scale, abstract, abstract)
    f = jax.vmap(lambda x: call(x, batch_axes=3.0)[0])
    onp.testing.assert_array_equal(f(_X), 3.0 * _X)


if __name__ == "__main__":
  absltest.main()
