"""Functions written for JAXbind work when only an import is changed."""

import functools

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
from jax.test_util import check_grads
import numpy as onp

from phasic.substrates.jax.binding import jaxbind_compat as jaxbind

jax.config.update("jax_enable_x64", True)


def _other_axes(x, batch_axes):
  return [i for i in range(x.ndim) if i not in batch_axes]


def _hartley(out, args, kwargs_dump):
  """The Hartley transform of a real array: its matrix is symmetric."""
  axes = jaxbind.load_kwargs(kwargs_dump)["axes"]
  transform = onp.fft.fftn(args[0], axes=axes)
  out[0][()] = transform.real - transform.imag


def _fourier(out, args, kwargs_dump):
  """The Fourier transform, unnormalized: its matrix is symmetric too."""
  options = jaxbind.load_kwargs(kwargs_dump)
  norm = "backward" if options["forward"] else "forward"
  transform = onp.fft.fftn if options["forward"] else onp.fft.ifftn
  out[0][()] = transform(args[0], axes=options["axes"], norm=norm)


def _same(*args, **kwargs):
  del kwargs
  return ((args[0].shape, args[0].dtype),)


def _pair(*args, **kwargs):
  del kwargs
  assert args[0].shape == args[1].shape
  return ((args[0].shape, args[0].dtype, None),) * 2


_AXES = [((60,), (0,)), ((6, 10), (0, 1)), ((4, 9, 2), (1,))]


class LinearTest(parameterized.TestCase):
  @parameterized.product(shape_axes=_AXES, dtype=("float32", "float64"))
  def test_real(self, shape_axes, dtype):
    shape, axes = shape_axes
    hartley = jaxbind.get_linear_call(_hartley, _hartley, _same, _same)
    call = functools.partial(hartley, axes=axes)
    x = onp.random.default_rng(1).normal(size=shape).astype(dtype)
    result = jax.jit(call)(x)
    self.assertIsInstance(result, list)
    expected = onp.fft.fftn(x.astype("float64"), axes=axes)
    expected = expected.real - expected.imag
    rtol = 1e-5 if dtype == "float32" else 1e-13
    onp.testing.assert_allclose(result[0], expected, rtol=rtol, atol=30 * rtol)
    self.assertEqual(result[0].dtype, dtype)
    check_grads(call, (x,), order=2, modes=("fwd", "rev"), eps=1.0)

  @parameterized.product(
    shape_axes=_AXES,
    forward=(False, True),
    dtype=("complex64", "complex128"),
  )
  def test_complex(self, shape_axes, forward, dtype):
    shape, axes = shape_axes
    fourier = jaxbind.get_linear_call(_fourier, _fourier, _same, _same)
    call = functools.partial(fourier, axes=axes, forward=forward)
    rng = onp.random.default_rng(2)
    x = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    if forward:
      expected = onp.fft.fftn(x, axes=axes)
    else:
      expected = onp.fft.ifftn(x, axes=axes, norm="forward")
    rtol = 1e-5 if dtype == "complex64" else 1e-13
    onp.testing.assert_allclose(call(x)[0], expected, rtol=rtol, atol=30 * rtol)
    check_grads(call, (x,), order=2, modes=("fwd", "rev"), eps=1.0)

  def test_transpose_is_used(self):
    def double(out, args, kwargs_dump):
      out[0][()] = 2.0 * args[0]

    def triple(out, args, kwargs_dump):
      out[0][()] = 3.0 * args[0]

    call = jaxbind.get_linear_call(double, triple, _same, _same)
    x = jnp.arange(3.0)
    transpose = jax.linear_transpose(lambda y: call(y)[0], x)
    onp.testing.assert_array_equal(transpose(x)[0], 3.0 * x)
    twice = jax.linear_transpose(lambda c: transpose(c)[0], x)
    onp.testing.assert_array_equal(twice(x)[0], 2.0 * x)

  def test_missing_transpose(self):
    call = jaxbind.get_linear_call(_hartley, None, _same, None)
    x = onp.ones(3)
    along = jax.jvp(lambda y: call(y, axes=(0,))[0], (x,), (x,))
    onp.testing.assert_allclose(along[0], along[1])
    message = "_hartley has no transpose f_T"
    with self.assertRaisesRegex(NotImplementedError, message):
      jax.grad(lambda y: jnp.sum(call(y, axes=(0,))[0]))(x)

  def test_abstract_is_told_of_dimensions(self):
    def repeat(out, args, kwargs_dump):
      out[0][()] = onp.tile(args[0].ravel(), args[0].ndim)

    def abstract(x):
      return (((x.ndim * x.size,), x.dtype),)

    call = jaxbind.get_linear_call(repeat, None, abstract, None)
    x = onp.arange(6.0).reshape(2, 3)
    for f in (call, jax.jit(call)):
      onp.testing.assert_array_equal(f(x)[0], onp.tile(x.ravel(), 2))

  @parameterized.parameters(None, [[1.0, 2.0]], ((1.0, 2.0),), ({"x": 1.0},))
  def test_what_is_no_array(self, what):
    # Were it a tree, its leaves would be taken for the arguments.
    linear = jaxbind.get_linear_call(_hartley, _hartley, _same, _same)
    nonlinear = jaxbind.get_nonlinear_call(
      _nonlinear, (_nonlinear_jvp, _nonlinear_vjp), _pair, _pair
    )
    for f in (linear, nonlinear):
      with self.assertRaisesRegex(TypeError, "argument 0 is .* an array"):
        f(what, onp.ones(2))

  def test_what_is_not_written_is_nan(self):
    call = jaxbind.get_linear_call(lambda *a: None, None, _same, None)
    self.assertTrue(onp.isnan(jax.jit(call)(onp.ones(2))[0]).all())


def _products(out, args, kwargs_dump):
  x, y = args
  out[0][()] = x * y
  out[1][()] = 2.0 * x * y


def _products_transpose(out, args, kwargs_dump):
  other, c0, c1 = args
  out[0][()] = other * (c0 + 2.0 * c1)


def _squares(out, args, kwargs_dump):
  """Linear in the second argument only."""
  x, y = args
  out[0][()] = x * x * y
  out[1][()] = x * y


def _squares_transpose(out, args, kwargs_dump):
  x, c0, c1 = args
  out[0][()] = x * x * c0 + x * c1


class MultilinearTest(parameterized.TestCase):
  x = onp.array([[4.0, -1.0], [0.5, 2.0]])
  y = onp.array([[1.0, 3.0], [-2.0, 0.25]])

  def _assert_same(self, call, plain, at, along):
    check_grads(call, at, order=2, modes=("fwd", "rev"), eps=1e-3)
    value, pullback = jax.vjp(call, *at)
    expected, pull_expected = jax.vjp(plain, *at)
    pairs = [
      (value, expected),
      (pullback(value), pull_expected(expected)),
      (jax.jvp(call, at, along), jax.jvp(plain, at, along)),
    ]
    for actual, expected in pairs:
      jax.tree.map(onp.testing.assert_allclose, actual, expected)

  def test_both_arguments(self):
    call = jaxbind.get_linear_call(
      _products, (_products_transpose,) * 2, _pair, (_same,) * 2
    )
    self._assert_same(
      functools.partial(call, unused=(3, 4)),
      lambda x, y: [x * y, 2.0 * x * y],
      (self.x, self.y),
      (self.y, self.x),
    )

  def test_fixed_argument(self):
    call = jaxbind.get_linear_call(
      _squares,
      (None, _squares_transpose),
      _pair,
      (None, _same),
      first_n_args_fixed=1,
    )
    self._assert_same(
      functools.partial(call, self.x),
      lambda y: [self.x * self.x * y, self.x * y],
      (self.y,),
      (self.x,),
    )
    with self.assertRaises(NotImplementedError):
      jax.jvp(lambda x: call(x, self.y), (self.x,), (self.x,))


def _nonlinear(out, args, kwargs_dump):
  x, y = args
  out[0][()] = x * y
  out[1][()] = y * y


def _nonlinear_jvp(out, args, kwargs_dump):
  x, y, *along = args
  dy = along[-1]
  out[0][()] = x * dy
  if len(along) == 2:
    out[0][()] += y * along[0]
  out[1][()] = 2.0 * y * dy


def _nonlinear_vjp(out, args, kwargs_dump):
  x, y, c0, c1 = args
  out[-1][()] = x * c0 + 2.0 * y * c1
  if len(out) == 2:
    out[0][()] = y * c0


class NonlinearTest(parameterized.TestCase):
  @parameterized.product(
    num_fixed=(0, 1),
    dtype=("float64", "complex64", "complex128"),
    shape=((2,), (3, 4)),
  )
  def test_derivatives(self, num_fixed, dtype, shape):
    call = jaxbind.get_nonlinear_call(
      _nonlinear,
      (_nonlinear_jvp, _nonlinear_vjp),
      _pair,
      _same if num_fixed else _pair,
      first_n_args_fixed=num_fixed,
    )
    x, y = jnp.full(shape, 3.0, dtype), jnp.full(shape, 5.0, dtype)
    at = (x, y)[num_fixed:]
    partial = functools.partial(call, *(x, y)[:num_fixed])
    check_grads(partial, at, order=1, modes=("fwd", "rev"), eps=1e-3)
    self.assertIsInstance(partial(*at), list)


def _batched_fourier(out, args, kwargs_dump):
  """Two Fourier transforms over all axes but the batch's."""
  batch_axes = jaxbind.load_kwargs(kwargs_dump)["batch_axes"] or ((), ())
  for result, x, axes in zip(out, args, batch_axes, strict=True):
    result[()] = onp.fft.fftn(x, axes=_other_axes(x, axes))


def _fourier_pair(out, args, kwargs_dump):
  for result, x in zip(out, args, strict=True):
    result[()] = onp.fft.fftn(x)


def _batched_pair(*args, batch_axes):
  axes = [()] * 2 if batch_axes is None else [a[-1] for a in batch_axes]
  return tuple(
    (x.shape, x.dtype, axis) for x, axis in zip(args, axes, strict=True)
  )


def _last_axis(*args, batch_axes):
  """As above, for results with the newest axis at the end."""
  if batch_axes is None:
    return ((args[0].shape, args[0].dtype, ()),)
  newest = batch_axes[0][-1]
  shape = [n for i, n in enumerate(args[0].shape) if i != newest]
  shape.append(args[0].shape[newest])
  return ((tuple(shape), args[0].dtype, len(shape) - 1),)


class BatchingTest(parameterized.TestCase):
  @parameterized.product(
    inner=((0, 0), (1, 2), (2, 0)), outer=((0, 0), (1, 2), (3, 1))
  )
  def test_native_batch_as_sequential(self, inner, outer):
    one = jaxbind.get_linear_call(_fourier_pair, _fourier_pair, _pair, _pair)
    many = jaxbind.get_linear_call(
      _batched_fourier,
      _batched_fourier,
      _batched_pair,
      _batched_pair,
      func_can_batch=True,
    )
    rng = onp.random.default_rng(3)
    x = rng.normal(size=(4, 4, 4, 4)) + 1j * rng.normal(size=(4, 4, 4, 4))
    y = x[::-1]
    for wrap in (lambda f: f, jax.jit):
      actual, expected = (
        wrap(jax.vmap(jax.vmap(f, inner), outer))(x, y) for f in (many, one)
      )
      jax.tree.map(
        functools.partial(onp.testing.assert_allclose, atol=1e-12),
        actual,
        expected,
      )

  def test_one_call_for_a_batch(self):
    calls = []

    def count(out, args, kwargs_dump):
      calls.append(jaxbind.load_kwargs(kwargs_dump)["batch_axes"])
      _batched_fourier(out, args, kwargs_dump)

    call = jaxbind.get_linear_call(
      count, count, _batched_pair, _batched_pair, func_can_batch=True
    )
    x = onp.ones((2, 3, 4))
    x = x.astype("complex128")
    jax.vmap(jax.vmap(call))(x, x)
    self.assertEqual(calls, [((1, 0), (1, 0))])

  def test_gradient_of_a_batch(self):
    many = jaxbind.get_linear_call(
      _batched_fourier,
      _batched_fourier,
      _batched_pair,
      _batched_pair,
      func_can_batch=True,
    )
    x = onp.random.default_rng(4).normal(size=(3, 5)) + 0j

    def total(f):
      return lambda x: jnp.sum(jnp.abs(jax.vmap(f)(x, 2.0 * x)[1]) ** 2)

    plain = lambda x, y: [jnp.fft.fft(x), jnp.fft.fft(y)]
    onp.testing.assert_allclose(
      jax.grad(total(many))(x), jax.grad(total(plain))(x), rtol=1e-12
    )

  def test_axis_of_the_results(self):
    def negate(out, args, kwargs_dump):
      axes = jaxbind.load_kwargs(kwargs_dump)["batch_axes"]
      x = args[0] if axes is None else onp.moveaxis(args[0], axes[0][-1], -1)
      out[0][()] = -x

    call = jaxbind.get_linear_call(
      negate, negate, _last_axis, _last_axis, func_can_batch=True
    )
    x = onp.arange(6.0).reshape(2, 3)
    onp.testing.assert_array_equal(jax.vmap(call)(x)[0], -x)

  def test_version(self):
    self.assertRegex(jaxbind.__version__, r"^\d+\.\d+")


if __name__ == "__main__":
  absltest.main()
