"""Bound Python functions in JAX: what programs do with them."""

import gc
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized
import jax
from jax import export
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import binding
from phasic.substrates.jax import math
from phasic.substrates.jax.internal import exporting
from phasic.substrates.jax.internal.native import host_map
from phasic.substrates.numpy import math as numpy_math

jax.config.update("jax_enable_x64", True)

_DTYPES = (
  *("bool", "int8", "int16", "int32", "int64"),
  *("uint8", "uint16", "uint32", "uint64"),
  *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)


def _environment():
  """For another process."""
  return {
    **os.environ,
    "JAX_ENABLE_X64": "1",
    "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
  }


class OperationTest(parameterized.TestCase):
  @parameterized.parameters(*_DTYPES)
  def test_dtypes(self, dtype):
    seen = []

    def first_twice(x):
      seen.append(x.dtype)
      return onp.stack([x[0], x[0], x[1]])

    op = binding.bind(first_twice)
    x = jnp.asarray([1, 0, 1]).astype(dtype)
    for result in (op(x), jax.jit(op)(x), jax.jit(jax.vmap(op))(x[None])[0]):
      self.assertEqual(result.dtype, dtype)
      onp.testing.assert_array_equal(result, x[jnp.array([0, 0, 1])])
    self.assertEqual({str(s) for s in seen}, {dtype})

  def test_trees_and_options(self):
    def f(model, *, power, name):
      self.assertEqual(name, "a")
      scale, parts = model["scale"], model["parts"]
      return {"sum": scale * (parts[0] + parts[1]) ** power, "none": None}

    op = binding.bind(
      f,
      jvp=lambda args, tangents, power, name: {
        "sum": tangents[0]["scale"]
        * (args[0]["parts"][0] + args[0]["parts"][1]) ** power,
        "none": None,
      },
    )
    model = {"scale": jnp.asarray(2.0), "parts": (jnp.ones(3), jnp.arange(3.0))}
    call = lambda model: op(model, power=2, name="a")
    expected = 2.0 * onp.arange(1.0, 4.0) ** 2
    for result in (call(model), jax.jit(call)(model)):
      onp.testing.assert_array_equal(result["sum"], expected)
      self.assertIsNone(result["none"])
    zeros = jax.tree.map(jnp.zeros_like, model)
    along = {**zeros, "scale": jnp.asarray(1.0)}
    _, tangent = jax.jit(lambda m, d: jax.jvp(call, (m,), (d,)))(model, along)
    onp.testing.assert_array_equal(tangent["sum"], expected / 2.0)
    with self.assertRaisesRegex(TypeError, "keyword argument name is list"):
      op(model, power=2, name=["a"])

  def test_options_of_equal_values_are_not_one(self):
    op = binding.bind(lambda x, *, n: x + (1 if n is True else 2))
    call = jax.jit(lambda x: (op(x, n=1), op(x, n=True), op(x, n=1.0)))
    onp.testing.assert_array_equal(call(0.0), [2.0, 1.0, 2.0])

  def test_programs_tell_zeros_apart(self):
    op = binding.bind_linear(lambda x, *, k: onp.copysign(x, k[0]))
    for k, expected in ((0.0, 1.0), (-0.0, -1.0)):
      program = jax.jit(lambda x, k=k: op(x, k=(k,)))
      self.assertEqual(program(1.0), expected)

  def test_rules_are_traced_alike(self):
    calls = []

    def square(x):
      calls.append(x)
      return x**2

    op = binding.bind(
      square,
      jvp=lambda args, d: 2 * args[0] * d[0],
      vjp=lambda args, c: (2 * args[0] * c,),
    )
    spec = jax.ShapeDtypeStruct((), "float64")

    def trace():
      jax.eval_shape(lambda x: op.jvp((x,), (x,)), spec)
      jax.eval_shape(lambda x: op.vjp((x,), x), spec)
      return len(calls)

    # With zeros, to see its result: once for all programs.
    self.assertEqual(trace(), 1)
    self.assertEqual(trace(), 1)

  def test_integers_and_nondifferentiable_arguments(self):
    op = binding.bind(
      lambda x, n, y: (x**n * y, n + 1),
      jvp=lambda args, d: (args[1] * args[0] ** (args[1] - 1) * d[0], None),
      vjp=lambda args, c: (
        args[1] * args[0] ** (args[1] - 1) * c[0],
        None,
        None,
      ),
      nondifferentiable=(2,),
    )
    n, y = jnp.asarray(3), jnp.asarray(1.0)
    for wrap in (lambda f: f, jax.jit):
      self.assertEqual(wrap(jax.grad(lambda x: op(x, n, y)[0]))(2.0), 12.0)
      self.assertEqual(wrap(jax.jacfwd(lambda x: op(x, n, y)[0]))(2.0), 12.0)
      value, shift = wrap(op)(2.0, n, y)
      self.assertEqual((value, shift), (8.0, 4))
    with self.assertRaisesRegex(NotImplementedError, "nondifferentiable.* 2"):
      jax.grad(lambda y: op(2.0, n, y)[0])(y)

  def test_missing_rules_are_named(self):
    op = binding.bind(lambda x: x, name="mine")
    for derivative, rule in ((jax.jacfwd, "jvp"), (jax.jacrev, "vjp")):
      for wrap in (lambda f: f, jax.jit):
        with self.assertRaisesRegex(NotImplementedError, f"mine.*rule {rule}"):
          wrap(derivative(op))(1.0)
    linear = binding.bind_linear(lambda x: x, name="mine")
    with self.assertRaisesRegex(NotImplementedError, "mine .*transpose"):
      jax.grad(linear)(1.0)
    first = binding.bind(
      lambda x: x, vjp=lambda args, c: (c,), jvp=lambda args, d: d[0], name="f"
    )
    for order in (jax.jacfwd, jax.jacrev):
      with self.assertRaisesRegex(NotImplementedError, "(jvp|vjp) of f"):
        order(jax.grad(lambda x: jnp.sin(first(x))))(1.0)

  def test_batch_in_one_call(self):
    shapes = []

    def outer(x, y):
      shapes.append((x.shape, y.shape))
      return x[..., :, None] * y[..., None, :]

    op = binding.bind(outer, batching="expand")
    x, y = jnp.arange(6.0).reshape(2, 3), jnp.arange(20.0).reshape(5, 4)
    nested = jax.vmap(jax.vmap(op, (None, 0)), (0, None))
    expected = x[:, None, :, None] * y[None, :, None, :]
    onp.testing.assert_array_equal(jax.jit(nested)(x, y), expected)
    self.assertEqual(shapes[-1], ((2, 1, 3), (1, 5, 4)))
    one_by_one = jax.vmap(jax.vmap(binding.bind(outer), (None, 0)), (0, None))
    onp.testing.assert_array_equal(jax.jit(one_by_one)(x, y), expected)

  def test_empty_batch(self):
    op = binding.bind(lambda x: (onp.sum(x), x > 0))
    for wrap in (lambda f: f, jax.jit):
      total, above = wrap(jax.vmap(op))(jnp.ones((0, 3)))
      self.assertEqual((total.shape, above.shape), ((0,), (0, 3)))

  def test_function_has_arrays_of_its_own(self):
    kept = []

    def keep(x):
      kept.append(x)
      x += 1.0  # Not the caller's.
      return x

    op = binding.bind(keep, abstract=lambda x: x)
    x = onp.zeros(1000)
    for call in (op, jax.jit(op)):
      onp.testing.assert_array_equal(call(x), onp.ones(1000))
      result = call(x)
      kept[-1][:] = 7.0
      onp.testing.assert_array_equal(result, onp.ones(1000))
    onp.testing.assert_array_equal(x, 0.0)

  def test_kernel_through_its_numpy_entry_gives_the_same_bits(self):
    chain = onp.array([[-3.0, 2.0, 0.5], [0.0, -1.0, 0.25], [0.5, 0.0, -2.0]])
    start = onp.array([0.25, 0.5, 0.25])
    times = onp.linspace(0.0, 30.0, 41)
    op = binding.bind(numpy_math.phase_type.log_prob)
    chains = onp.stack([chain, 2.0 * chain, 0.125 * chain])
    for wrap in (lambda f: f, jax.jit):
      expected = wrap(math.phase_type.log_prob)(times, start, chain)
      actual = wrap(op)(times, start, chain)
      self.assertEqual(
        onp.asarray(actual).tobytes(), onp.asarray(expected).tobytes()
      )
      expected, actual = (
        wrap(jax.vmap(f, (None, None, 0)))(times, start, chains)
        for f in (math.phase_type.log_prob, op)
      )
      self.assertEqual(
        onp.asarray(actual).tobytes(), onp.asarray(expected).tobytes()
      )


class PlatformTest(parameterized.TestCase):
  """Where there is no native library, as on other devices than CPUs."""

  def test_without_the_library(self):
    op = binding.bind(
      lambda x, y: x * onp.sin(y),
      vjp=lambda args, c: (
        c * onp.sin(args[1]),
        onp.sum(c * args[0] * onp.cos(args[1])),
      ),
    )
    bad = binding.bind(lambda x: 1 // 0, abstract=lambda x: x, name="bad")
    x, y = jnp.arange(6.0).reshape(2, 3), jnp.asarray(0.5)
    plain = lambda x, y: x * jnp.sin(y)
    with mock.patch.object(host_map, "_has_callbacks", return_value=False):
      for transform in (
        lambda f: jax.vmap(f, (0, None)),
        lambda f: jax.grad(lambda x, y: jnp.sum(f(x, y) ** 2), (0, 1)),
      ):
        expected = transform(plain)(x, y)
        actual = jax.jit(transform(op))(x, y)
        jax.tree.map(onp.testing.assert_allclose, actual, expected)
      with self.assertRaisesRegex(
        jax.errors.JaxRuntimeError, "bad raised ZeroDivisionError"
      ):
        jax.jit(bad)(x)


class LifetimeTest(parameterized.TestCase):
  def test_program_outlives_the_function(self):
    def make():
      offset = onp.full(1000, 2.0)
      op = binding.bind(lambda x: x + offset)
      return jax.jit(lambda x: op(x))

    run = make()
    run(jnp.zeros(1000))
    gc.collect()
    for _ in range(3):
      onp.testing.assert_array_equal(run(jnp.ones(1000)), 3.0)

  def test_exported_derivatives(self):
    x = jnp.asarray([0.25, 0.5, 1.0])
    rule = binding.array_code(lambda args, ct: (jnp.cos(args[0]) * ct,))
    for vjp, order in ((rule, 2), (lambda args, ct: (ct,), 1)):
      op = binding.bind(onp.sin, vjp=vjp)
      program = exporting.export(lambda y, op=op: jnp.sum(op(y) ** 2))(x)
      call = export.deserialize(program.serialize(vjp_order=order)).call
      slope = jax.grad(call)(x)
      factor = jnp.cos(x) if order == 2 else 1.0
      onp.testing.assert_allclose(slope, 2 * jnp.sin(x) * factor, rtol=1e-12)
      if order == 2:
        _, moved = jax.vjp(jax.grad(call), x)
        expected = 2 * jnp.cos(2 * x)
        onp.testing.assert_allclose(moved(jnp.ones_like(x))[0], expected)
      else:
        # A derivative of a rule on the host would be another one of it.
        with self.assertRaisesRegex(NotImplementedError, "array_code"):
          program.serialize(vjp_order=2)

  def test_exported_program_runs_here(self):
    op = binding.bind(lambda x: 3.0 * x)
    program = export.export(
      jax.jit(op), disabled_checks=exporting.export_disabled_checks()
    )(jnp.ones(2))
    call = export.deserialize(program.serialize()).call
    onp.testing.assert_array_equal(call(jnp.ones(2)), [3.0, 3.0])

  def test_results_of_other_dtype_objects(self):
    """Equal to NumPy's own, but others: those of unpickled arrays."""

    def f(x):
      return onp.ndarray(x.shape, pickle.loads(pickle.dumps(x.dtype)), x)

    op = binding.bind(f, abstract=lambda x: x)
    onp.testing.assert_array_equal(jax.jit(op)(jnp.ones(2)), jnp.ones(2))

  def test_exit_while_a_program_runs(self):
    source = """
import threading, time, jax, jax.numpy as jnp
from phasic.substrates.jax import binding

def slow(x):
  started.set()
  time.sleep(0.02)
  return x

started = threading.Event()
op = binding.bind(slow, abstract=lambda x: x)
loop = jax.jit(lambda x: jax.lax.fori_loop(0, 100000, lambda i, y: op(y), x))
threading.Thread(target=loop, args=(jnp.ones(2),), daemon=True).start()
started.wait()
print("exits")
"""
    result = subprocess.run(
      [sys.executable, "-c", source],
      env=_environment(),
      capture_output=True,
      text=True,
      check=False,
    )
    self.assertEqual(result.returncode, 0, result.stderr[-2000:])
    self.assertEqual(result.stdout, "exits\n")

  def test_program_for_all_sizes(self):
    op = binding.bind(
      onp.sin,
      abstract=lambda x: x,
      vjp=lambda args, c: (onp.cos(args[0]) * c,),
    )
    (size,) = export.symbolic_shape("n")
    program = export.export(
      jax.jit(lambda x: (op(x), jax.grad(lambda y: jnp.sum(op(y)))(x))),
      disabled_checks=exporting.export_disabled_checks(),
    )(jax.ShapeDtypeStruct((size,), jnp.float64))
    call = export.deserialize(program.serialize()).call
    for n in (2, 5):
      x = jnp.arange(float(n))
      value, slope = call(x)
      onp.testing.assert_array_equal(value, onp.sin(x))
      onp.testing.assert_array_equal(slope, onp.cos(x))
    inferred = binding.bind(onp.sin, name="mine")
    with self.assertRaisesRegex(TypeError, "mine.*rule `abstract`"):
      export.export(jax.jit(inferred))(
        jax.ShapeDtypeStruct((size,), jnp.float64)
      )

  def test_without_double_precision(self):
    op = binding.bind(lambda x, n: onp.float64(2.0) * x * n)
    with jax.enable_x64(False):
      x, n = jnp.arange(3.0), jnp.arange(3)
      for call in (op, jax.jit(op), jax.jit(jax.vmap(op))):
        result = call(x, n)
        self.assertEqual(result.dtype, "float32")
        onp.testing.assert_array_equal(result, [0.0, 2.0, 8.0])

  def test_exported_program_says_so_elsewhere(self):
    op = binding.bind(lambda x: 3.0 * x, name="triple")
    program = export.export(
      jax.jit(op), disabled_checks=exporting.export_disabled_checks()
    )(jnp.ones(2))
    directory = self.enter_context(tempfile.TemporaryDirectory())
    path = pathlib.Path(directory) / "program"
    path.write_bytes(program.serialize())
    source = f"""
import pathlib, jax
from phasic.substrates.jax import binding
import jax.numpy as jnp
if {{other}}:
  other = binding.bind(lambda x: x)
  print(jax.jit(other)(jnp.ones(2)))
data = pathlib.Path({str(path)!r}).read_bytes()
call = jax.export.deserialize(bytearray(data)).call
try:
  call(jnp.ones(2, {str(jnp.ones(2).dtype)!r}))
except Exception as error:
  print(type(error).__name__, error)
print("lives on", jax.jit(lambda x: x + 1)(1.0))
"""
    for other, message in (
      (False, "phasic_call_python|another process"),
      (True, "triple.*another process"),
    ):
      result = subprocess.run(
        [sys.executable, "-c", source.format(other=other)],
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
      )
      self.assertEqual(result.returncode, 0, result.stderr[-2000:])
      self.assertRegex(result.stdout, message)
      self.assertIn("lives on 2.0", result.stdout)


if __name__ == "__main__":
  absltest.main()
