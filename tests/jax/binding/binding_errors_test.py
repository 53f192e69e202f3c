"""Wrong declarations and exceptions of bound functions in JAX; threads."""

import concurrent.futures
import faulthandler
import gc

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import binding

jax.config.update("jax_enable_x64", True)

_NUM_CALLS = 24


class _OwnError(Exception):
  """What no framework knows."""


def _raise(*args):
  raise _OwnError("the text")


def _spec(*shape, dtype="float64"):
  return binding.ArraySpec(shape, dtype)


class ErrorsTest(parameterized.TestCase):
  def tearDown(self):
    super().tearDown()
    # The process lives on.
    good = binding.bind(lambda x: 2.0 * x)
    self.assertEqual(jax.jit(good)(3.0), 6.0)

  @parameterized.named_parameters(
    ("plain", lambda f: f),
    ("vmap", jax.vmap),
    ("scan", lambda f: lambda x: jax.lax.map(f, x)),
  )
  def test_exception_in_a_program(self, transform):
    op = binding.bind(_raise, abstract=lambda x: x, name="mine")
    with self.assertRaises(jax.errors.JaxRuntimeError) as caught:
      jax.jit(transform(op))(jnp.ones(2))
    text = str(caught.exception)
    for part in ("mine", "_OwnError", "the text", "Traceback", "in _raise"):
      self.assertIn(part, text)
    self.assertIsInstance(binding.last_error(), _OwnError)

  @parameterized.named_parameters(
    ("plain", lambda f: f),
    ("vmap", jax.vmap),
    ("nested", lambda f: jax.vmap(jax.vmap(f))),
  )
  def test_eager_exception_is_the_function_s_own(self, transform):
    op = binding.bind(_raise, abstract=lambda x: x)
    with self.assertRaisesRegex(_OwnError, "the text"):
      transform(op)(jnp.ones((2, 2)))

  def test_exception_in_a_rule(self):
    op = binding.bind(onp.sin, jvp=_raise, vjp=_raise, name="mine")
    for derivative, rule in ((jax.jacfwd, "jvp"), (jax.jacrev, "vjp")):
      with self.assertRaises(_OwnError):
        derivative(op)(1.0)
      with self.assertRaisesRegex(
        jax.errors.JaxRuntimeError, f"{rule} of mine raised _OwnError"
      ):
        jax.jit(derivative(op))(1.0)
    linear = binding.bind_linear(onp.negative, transpose=_raise, name="mine")
    with self.assertRaisesRegex(
      jax.errors.JaxRuntimeError, "transpose of mine raised _OwnError"
    ):
      jax.jit(jax.grad(linear))(1.0)

  @parameterized.named_parameters(
    ("shape", lambda x: x[:1], r"float64\[1\] as result 0.*float64\[2\]"),
    ("rank", lambda x: x[None], r"float64\[1, 2\] as result 0"),
    ("dtype", lambda x: x.astype("float32"), r"float32\[2\] as result 0"),
    ("integers", lambda x: x.astype("int64"), r"int64\[2\] as result 0"),
    ("tuple", lambda x: (x, x), "structure"),
    ("list of one", lambda x: [x], "structure"),
    ("dict", lambda x: {"a": x}, "structure"),
    ("nothing", lambda x: None, "structure"),
    ("object", lambda x: object(), "object"),
    ("text", lambda x: "abc", "as result 0"),
  )
  def test_abstract_that_lies(self, f, message):
    op = binding.bind(f, abstract=lambda x: x, name="mine")
    x = jnp.ones(2)
    with self.assertRaisesRegex(TypeError, f"mine.*{message}.*abstract"):
      op(x)
    for call in (op, lambda x: jax.vmap(op)(x[None])):
      with self.assertRaisesRegex(
        jax.errors.JaxRuntimeError, f"mine.*{message}.*abstract"
      ):
        jax.jit(call)(x)
      self.assertIsInstance(binding.last_error(), TypeError)

  def test_masked_results_of_programs(self):
    op = binding.bind(
      lambda x: onp.ma.array(x, mask=x > 1), abstract=lambda x: x, name="mine"
    )
    for call in (op, lambda x: jax.vmap(op)(x[None])):
      with self.assertRaisesRegex(
        jax.errors.JaxRuntimeError, "mine: result 0 is a masked array"
      ):
        jax.jit(call)(jnp.ones(2))

  @parameterized.named_parameters(
    ("zeros", None), ("abstract", lambda x: _spec(0))
  )
  def test_results_that_are_empty_only_at_times(self, abstract):
    """XLA leaves out what has no entries, unless it is told not to."""
    op = binding.bind(lambda x: x[x > 0], abstract=abstract, name="mine")
    for call in (op, lambda x: jax.vmap(op)(x[None])):
      self.assertEqual(jax.jit(call)(-jnp.ones(2)).size, 0)
      with self.assertRaisesRegex(
        (jax.errors.JaxRuntimeError, ValueError),
        r"mine.*float64\[2\] as result 0: it must be float64\[0\].*zeros",
      ):
        jax.block_until_ready(jax.jit(call)(jnp.ones(2)))

  def test_several_results_of_wrong_shape(self):
    op = binding.bind(
      lambda x: (x, x), abstract=lambda x: (x, _spec(3)), name="mine"
    )
    with self.assertRaisesRegex(
      jax.errors.JaxRuntimeError, "mine returned.*as result 1"
    ):
      jax.jit(op)(jnp.ones(2))

  def test_second_order_without_rules_of_rules(self):
    op = binding.bind(
      onp.sin, vjp=lambda args, ct: (onp.cos(args[0]) * ct,), name="mine"
    )
    self.assertAlmostEqual(float(jax.grad(op)(0.0)), 1.0)
    with self.assertRaisesRegex(
      NotImplementedError,
      r"^vjp of mine .*vjp=array_code\(rule\), .*=bind\(rule, jvp=..., vjp=...\)",
    ):
      jax.jacrev(jax.grad(op))(0.5)

  def test_expanding_function_that_does_not(self):
    op = binding.bind(lambda x: onp.ones(2), batching="expand", name="mine")
    with self.assertRaisesRegex(
      jax.errors.JaxRuntimeError, r"mine.*float64\[2\].*float64\[5, 2\]"
    ):
      jax.jit(jax.vmap(op))(jnp.ones((5, 2)))

  def test_expanding_functions_that_mix_dimensions_up(self):
    # For three examples each returns the right shape, but wrong values.
    x, y = jnp.arange(3.0), jnp.arange(9.0).reshape(3, 3)
    cube = jnp.arange(27.0).reshape(3, 3, 3)
    for f, args in (
      (lambda x, y: x + y, (x, y)),
      (lambda x, y: (x * y, y), (x, y)),
      (lambda x, y: onp.where(x > 1.0, y, 0.0), (x, y)),
      (lambda x, y: x * y, (x, cube)),
      (lambda x, y: x + y, (y, cube)),
      (lambda x: onp.sum(x, axis=0), (y,)),
      (lambda x: onp.sum(x, axis=0), (cube,)),
      (lambda x: x.T, (cube,)),
      (lambda x: x[0], (y,)),
      (lambda x, y: onp.tensordot(x, y, (0, 0)), (y, cube)),
    ):
      op = binding.bind(f, batching="expand", name="mine")
      for wrap in (lambda f: f, jax.jit):
        with self.assertRaisesRegex(
          Exception, r"mine does not take a batch.* for 2 examples it raised"
        ):
          jax.block_until_ready(wrap(jax.vmap(op))(*args))

  def test_expanding_functions_with_equal_sizes(self):
    x, y = jnp.arange(3.0), jnp.arange(9.0).reshape(3, 3)
    calls = []

    def scaled(x, y):
      calls.append(onp.shape(y))
      return x[..., None] * y

    op = binding.bind(
      scaled,
      abstract=lambda x, y: y,
      vjp=lambda args, c: (
        onp.sum(args[1] * c, axis=-1),
        args[0][..., None] * c,
      ),
      batching="expand",
      name="mine",
    )
    for _ in range(2):
      onp.testing.assert_array_equal(jax.vmap(op)(x, y), x[:, None] * y)
    # The check has a batch of two, and is made once.
    self.assertEqual(calls, [(2, 3), (3, 3), (3, 3)])
    slopes = jax.vmap(jax.grad(lambda x, y: jnp.sum(op(x, y))))(x, y)
    onp.testing.assert_array_equal(slopes, jnp.sum(y, axis=1))
    nested = jax.vmap(jax.vmap(op, (0, None)), (None, 0))
    onp.testing.assert_array_equal(
      nested(x, y), x[None, :, None] * y[:, None, :]
    )
    wrong = binding.bind(
      scaled,
      abstract=lambda x, y: y,
      vjp=lambda args, c: (
        onp.sum(args[1] * c, axis=0),
        args[0][..., None] * c,
      ),
      batching="expand",
      name="mine",
    )
    with self.assertRaisesRegex(Exception, "vjp of mine does not take a batch"):
      jax.block_until_ready(
        jax.vmap(jax.grad(lambda x, y: jnp.sum(wrong(x, y))))(x, y)
      )

  def test_rule_of_wrong_shape(self):
    op = binding.bind(
      lambda x: x,
      jvp=lambda args, d: d[0][:1],
      vjp=lambda args, c: (c[:1],),
      name="mine",
    )
    x = jnp.ones(3)
    for wrap in (lambda f: f, jax.jit):
      for derivative, rule in ((jax.jacfwd, "jvp"), (jax.jacrev, "vjp")):
        with self.assertRaisesRegex(Exception, rf"{rule} of mine.*\[1\]"):
          wrap(derivative(op))(x)

  def test_rule_that_fits_only_the_result_for_zeros(self):
    op = binding.bind(
      lambda x: x[x > 0], jvp=lambda args, d: d[0][:0], name="mine"
    )
    with self.assertRaisesRegex(TypeError, r"jvp of mine.*\(0,\).*\(2,\)"):
      jax.jvp(op, (jnp.ones(2),), (jnp.ones(2),))

  def test_rule_of_wrong_number(self):
    op = binding.bind(lambda x, y: x * y, vjp=lambda args, c: (c,), name="mine")
    with self.assertRaisesRegex(Exception, "vjp of mine.*structure"):
      jax.jit(jax.grad(op))(1.0, 2.0)

  def test_abstract_without_shapes(self):
    op = binding.bind(lambda x: x, abstract=lambda x: 3, name="mine")
    with self.assertRaisesRegex(TypeError, "`abstract` of mine.*int"):
      jax.jit(op)(1.0)

  @parameterized.parameters(
    (_spec(-1), ValueError, r"float64\[-1\]: its sizes must be at least 0"),
    (jax.ShapeDtypeStruct((2, -1), "f4"), ValueError, r"float32\[2, -1\]: its"),
    (_spec(2**62), ValueError, r"cannot return .* fewer than 2\^63 bytes"),
    (_spec(2, dtype=object), TypeError, "dtype must be numeric"),
  )
  def test_abstract_of_what_there_cannot_be(self, spec, error, message):
    op = binding.bind(lambda x: x, abstract=lambda x: spec, name="mine")
    for call in (op, jax.jit(op)):
      with self.assertRaisesRegex(error, f"mine.*{message}"):
        call(jnp.ones(2))

  def test_batches_of_what_there_cannot_be(self):
    op = binding.bind(lambda x: x, abstract=lambda x: _spec(2**59), name="mine")
    with self.assertRaisesRegex(ValueError, "mine cannot return"):
      jax.jit(jax.vmap(op))(jnp.ones(2**2))

  @parameterized.parameters(
    (lambda x: object(), "object"),
    (lambda x: {"a": [x, "abc"]}, "str"),
    (lambda x: onp.array(["2020-01-01"], "M8[D]"), "datetime64"),
  )
  def test_results_that_are_no_numbers(self, f, message):
    x = jnp.ones(2)
    for op in (
      binding.bind(f, name="mine"),
      binding.bind_linear(f, name="mine"),
    ):
      for call in (op, jax.jit(op)):
        with self.assertRaisesRegex(
          TypeError, f"mine returned {message}.*arrays of numbers"
        ):
          call(x)

  def test_function_that_does_not_like_zeros(self):
    op = binding.bind(lambda x: [1.0][1 - int(x[0])] * x, name="mine")
    with self.assertRaisesRegex(TypeError, "mine.*zeros.*IndexError.*abstract"):
      jax.jit(op)(jnp.ones(1))

  def test_arguments_of_bind(self):
    for arguments, error, message in (
      ({"f": 3}, TypeError, "f is .*must be"),
      ({"jvp": 3}, TypeError, "jvp is .*must be"),
      ({"vjp": "x"}, TypeError, "vjp is .*must be"),
      ({"abstract": 3}, TypeError, "abstract is .*must be"),
      ({"batching": "all"}, ValueError, "'sequential' or 'expand'"),
      (
        {"batching": [1]},
        ValueError,
        r"batching is \[1\]: it must be 'sequential",
      ),
      ({"nondifferentiable": (-1,)}, ValueError, "nondifferentiable"),
      ({"nondifferentiable": (1.0,)}, TypeError, "nondifferentiable"),
      ({"name": 3}, TypeError, "name is .*must be"),
    ):
      with self.assertRaisesRegex(error, message):
        binding.bind(**{"f": onp.sin, **arguments})
    for arguments, error, message in (
      ({"transpose": 3}, TypeError, "transpose is .*must be"),
      ({"num_fixed": -1}, ValueError, "num_fixed"),
      ({"abstract": 3}, TypeError, "abstract is .*must be"),
    ):
      with self.assertRaisesRegex(error, message):
        binding.bind_linear(onp.sin, **arguments)
    with self.assertRaisesRegex(TypeError, r"transposes\[1\] is 3"):
      binding.bind_multilinear(onp.multiply, transposes=[None, 3])
    product = binding.bind_multilinear(
      onp.multiply, transposes=[None, None], name="mine"
    )
    with self.assertRaisesRegex(TypeError, "mine is called with 1 argument"):
      product(1.0)


class ThreadsTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    # A hang ends the process, with all stacks, and that is a failure.
    faulthandler.dump_traceback_later(240, exit=True)
    self.addCleanup(faulthandler.cancel_dump_traceback_later)

  @parameterized.parameters(False, True)
  def test_many_calls_from_many_threads(self, raises):
    def sine(x):
      if raises and x[0] > 1.0:
        raise _OwnError("above 1")
      gc.collect(0)
      return onp.sin(x)

    op = binding.bind(
      sine,
      abstract=lambda x: x,
      jvp=lambda args, d: onp.cos(args[0]) * d[0],
      vjp=lambda args, c: (onp.cos(args[0]) * c,),
    )

    @jax.jit
    def program(x):  # Calls that do not depend on each other.
      def total(x):
        return sum(jnp.sum(op(row)) for row in x)

      values = jnp.stack([op(row) for row in x])
      return values, jax.grad(total)(x), jax.vmap(op)(x)

    def caller(seed):
      rng = onp.random.default_rng(seed)
      for i in range(20):
        x = rng.uniform(0.0, 1.0, (_NUM_CALLS, 1000))
        if raises and i % 2:
          x[seed % _NUM_CALLS, 0] = 2.0
          # The latter where a call fails before it returns.
          with self.assertRaisesRegex(
            (jax.errors.JaxRuntimeError, ValueError), "above 1"
          ):
            jax.block_until_ready(program(x))
          continue
        values, slopes, mapped = program(x)
        onp.testing.assert_array_equal(values, onp.sin(x))
        onp.testing.assert_array_equal(slopes, onp.cos(x))
        onp.testing.assert_array_equal(mapped, onp.sin(x))
      return seed

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
      self.assertEqual(list(pool.map(caller, range(8))), list(range(8)))


if __name__ == "__main__":
  absltest.main()
