"""Native ops bound for JAX: integers, refusals, handlers, platforms."""

import ctypes
import pathlib
import tempfile

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import binding
from phasic.substrates.jax.internal import exporting
from phasic.substrates.jax.internal import ffi_targets
from phasic.substrates.jax.internal.native import ffi_versions
from tests.native_ops import libraries
from tests.native_ops import mistakes

jax.config.update("jax_enable_x64", True)


def gather(**rules):
  return binding.bind_native(
    libraries.ops(), "test_gather", sizes={"k": lambda m, n: 2 * m}, **rules
  )


def scale(**rules):
  return binding.bind_native(libraries.ops(), "test_scale", **rules)


def _gather_vjp(inputs, outputs, cotangents):
  indices, x = inputs
  ct = cotangents[0].reshape(2, -1).sum(0)
  return None, jnp.zeros_like(x).at[indices].add(ct)


def _gather_jvp(inputs, outputs, tangents):
  indices, _ = inputs
  return jnp.tile(tangents[1][indices], 2), None


def _scale_jvp(inputs, outputs, tangents):
  (factor, x), (d_factor, dx) = inputs, tangents
  return (d_factor[..., None] * x + factor[..., None] * dx,)


def _complex_jvp(inputs, outputs, tangents):
  (z, w), (dz, dw) = inputs, tangents
  return (2.0 * z * w * dz + z * z * dw,)


def _complex_vjp(inputs, outputs, cotangents):
  (z, w), (ct,) = inputs, cotangents
  return 2.0 * z * w * ct, z * z * ct


class NativeOpsTest(parameterized.TestCase):
  @parameterized.parameters({"jvp": _gather_jvp}, {"vjp": _gather_vjp})
  def test_integers_stay_constant(self, **rules):
    indices, x = onp.array([2, 0], onp.int32), jnp.array([1.0, 2.0, 4.0])

    def f(x):
      return jnp.sum(gather(**rules)(indices, x, copies=2)[0] ** 2)

    onp.testing.assert_array_equal(jax.grad(f)(x), [4.0, 0.0, 16.0])
    onp.testing.assert_array_equal(jax.hessian(f)(x), onp.diag([4.0, 0.0, 4.0]))
    op = gather(**rules)
    dy, none = op.jvp((indices, x), (None, jnp.ones(3)), copies=2)
    self.assertIsNone(none)
    onp.testing.assert_array_equal(dy, onp.ones(4))
    none, bar = op.vjp((indices, x), (jnp.ones(4), None), copies=2)
    self.assertIsNone(none)
    onp.testing.assert_array_equal(bar, [2.0, 0.0, 2.0])

  @parameterized.parameters(
    {
      "forward": ["test_complex_jvp", "test_complex_jvp2"],
      "adjoint": ["test_complex_vjp", "test_complex_vjp2"],
    },
    {"jvp": _complex_jvp, "vjp": _complex_vjp},
  )
  def test_complex_cotangents_are_those_of_all_substrates(self, **rules):
    op = binding.bind_native(libraries.ops(), "test_complex", **rules)
    z, w, ct = (onp.array(x) for x in (0.3 + 0.1j, 0.5 + 0.7j, 1.0 - 2.0j))
    found = op.vjp([z, w], ct)
    onp.testing.assert_allclose(found, [2 * z * w * ct, z * z * ct], rtol=1e-14)
    along = op.jvp([z, w], [ct, z])
    onp.testing.assert_allclose(along, 2 * z * w * ct + z**3, rtol=1e-14)

  def test_models_of_one_size_share_a_compilation(self):
    op, count = gather(), 0

    @jax.jit
    def f(indices, x):
      nonlocal count
      count += 1
      return op(indices, x, copies=2)[0]

    for indices in ([0, 1], [2, 2]):
      y = f(onp.array(indices, onp.int32), onp.array([1.0, 2.0, 4.0]))
      onp.testing.assert_array_equal(y, 2 * [2.0**i for i in indices])
    self.assertEqual(count, 1)

  @parameterized.parameters(*mistakes.WRONG_TANGENTS)
  def test_tangents_of_wrong_shapes_and_dtypes(self, rule, message):
    op = scale(jvp=lambda i, o, t: rule(i, t))
    args = jnp.ones(2), jnp.ones((2, 3))
    for f in (op, jax.jit(op)):
      with self.assertRaisesRegex(
        (TypeError, ValueError),
        f"op test_scale: .*the rule jvp returned {message}.*declared as",
      ):
        jax.jvp(f, args, args)

  def test_numbers_of_rules_have_no_precision(self):
    op = binding.bind_native(
      libraries.ops(), "test_cube", jvp=lambda i, o, t: (t[0], jnp.asarray(0.0))
    )
    one = jnp.float32(1.0)
    for found in jax.jit(lambda x: jax.jvp(op, (x, x), (x, x)))(one):
      self.assertEqual([x.dtype for x in found], ["float32"] * 2)

  @parameterized.parameters(*mistakes.WRONG_COTANGENTS)
  def test_cotangents_of_wrong_shapes(self, rule, message):
    op = scale(vjp=lambda i, o, c: rule(i, c[0]))
    with self.assertRaisesRegex(
      (TypeError, ValueError), f"op test_scale: the rule vjp returned {message}"
    ):
      op.vjp((2.0, jnp.ones((2, 3))), jnp.ones((2, 3)))

  @parameterized.parameters(
    (1j, TypeError, "the cotangent of y is complex128: it must be float64"),
    ([1.0] * 4, ValueError, r"cotangent of y has shape \(4,\): .*\(3,\)"),
  )
  def test_cotangents_that_do_not_fit(self, cotangent, error, message):
    op = scale(jvp=_scale_jvp)
    with self.assertRaisesRegex(error, f"op test_scale: .*{message}"):
      op.vjp((2.0, jnp.ones(3)), jnp.array(cotangent))

  def test_cotangents_that_lose_a_part(self):
    op = scale(vjp=lambda i, o, c: (jnp.sum(c[0] * i[1]), 1j * c[0]))
    with self.assertRaisesRegex(TypeError, "vjp returned complex128"):
      jax.grad(lambda x: jnp.sum(op(2.0, x)))(jnp.ones(3))

  @parameterized.parameters(*mistakes.FAILURES)
  def test_function_fails(self, name, message):
    op = binding.bind_native(libraries.ops(), name)
    for f in (op, jax.jit(op), jax.vmap(op)):
      x = jnp.ones(3) if f is not op else 1.0
      with self.assertRaisesRegex(RuntimeError, f"op {name}: .*{message}"):
        jax.block_until_ready(f(x))

  def test_function_takes_another_dtype(self):
    op = binding.bind_native(libraries.ops(), "test_takes_double")
    with self.assertRaisesRegex(RuntimeError, "was taken as float64"):
      op(onp.float32(1.5))
    self.assertEqual(op(1.5), 1.5)

  @parameterized.parameters(
    ((2,), "float64", r"has shape \[2\]: dimension n must be 3"),
    ((3, 3), "float64", r"has shape \[3, 3\]: it must have 1 dimensions"),
    ((3,), "float32", "is float32: it must be float64"),
  )
  def test_shapes_that_lie(self, shape, dtype, message):
    """Calls of the handler itself, with a wrong rule."""
    scale()  # registers
    wrong = jax.ShapeDtypeStruct(shape, dtype)
    call = jax.ffi.ffi_call("phasic_op_test_scale", wrong)
    with self.assertRaisesRegex(RuntimeError, rf"output 0 \(y\) {message}"):
      call(jnp.array(2.0), jnp.ones(3), options="")
    onp.testing.assert_array_equal(scale()(2.0, jnp.ones(3)), 2 * jnp.ones(3))

  @parameterized.parameters(*mistakes.WRONG_SIZES)
  def test_sizes_that_are_none(self, k, error, message):
    op = binding.bind_native(libraries.ops(), "test_gather", sizes={"k": k})
    with self.assertRaisesRegex(error, f"op test_gather: .*{message}"):
      op(onp.array([0, 0], onp.int32), jnp.ones(3))

  def test_no_rules(self):
    with self.assertRaisesRegex(NotImplementedError, "bound without rules"):
      jax.grad(lambda a: jnp.sum(scale()(a, jnp.ones(3))))(1.0)

  def test_library_without_the_handler(self):
    content = pathlib.Path(libraries.ops()).read_bytes()
    name = b"\0phasic_op_test_throws_xla\0"
    self.assertIn(name, content)
    with tempfile.TemporaryDirectory() as folder:
      other = pathlib.Path(folder) / "libother.so"
      other.write_bytes(content.replace(name, name.replace(b"xla", b"xlx")))
      with self.assertRaisesRegex(
        ValueError, "op test_throws: library is .*no handler .*PHASIC_WITH_XLA"
      ):
        binding.bind_native(other, "test_throws")
    with self.assertRaisesRegex(ValueError, "op mine: .* no handler nothing"):
      binding.bind_native(
        libraries.ops(), "mine", handler="nothing", declaration="x() -> y()"
      )

  def test_one_name_in_two_libraries(self):
    with tempfile.TemporaryDirectory() as folder:
      other = pathlib.Path(folder) / "libother.so"
      other.write_bytes(pathlib.Path(libraries.ops()).read_bytes())
      scale()
      with self.assertRaisesRegex(ValueError, "is already registered by"):
        binding.bind_native(other, "test_scale")

  def test_versions_of_handlers(self):
    running = ffi_versions.running()
    self.assertGreater(running, 0)
    handler = ctypes.CDLL(libraries.ops()).phasic_op_test_scale_xla
    # The build has the oldest supported headers, not those of this jaxlib.
    self.assertBetween(ffi_versions.handler_version(handler), 1, running)

  @parameterized.parameters(
    (0, 1, "was compiled for XLA's FFI .* but jaxlib .* has"),
    (1, -99, "was compiled for XLA's FFI 1"),
    (-2, 0, "is not a handler of XLA's FFI"),
  )
  def test_handlers_of_other_interfaces(self, major, minor, message):
    """They would take the whole backend down."""
    running = divmod(ffi_versions.running(), 1000)

    def answer(frame):
      version = frame.contents.extension.contents.metadata.contents.version
      version.major = running[0] + major
      version.minor = max(running[1] + minor, 0)

    handler = ffi_versions.Handler(answer)
    with self.assertRaisesRegex(ImportError, f"newer of lib.so {message}"):
      ffi_targets.register("newer", "lib.so", handler)
    self.assertNotIn("newer", ffi_targets.names())

  def test_symbols_that_are_no_handlers(self):
    with self.assertRaisesRegex(
      ImportError, "phasic_op_mine of .*libops.so is not a handler of XLA's FFI"
    ):
      binding.bind_native(
        libraries.ops(),
        "mine",
        handler="phasic_op_test_scale_declaration",
        declaration="x() -> y()",
      )

  def test_handlers_not_made_with_our_headers(self):
    op = binding.bind_native(
      libraries.ops(),
      "renamed",
      handler="phasic_op_test_scale_xla",
      declaration="factor(), x(n) -> y(n); options",
    )
    with self.assertRaisesRegex(
      TypeError, "op renamed: there is no option 'o'"
    ):
      op(2.0, jnp.ones(3), options="", o=1)
    onp.testing.assert_array_equal(op(2.0, jnp.ones(3), options=""), 2.0)

  def test_half_precision(self):
    for dtype in ("float16", "bfloat16"):
      op = binding.bind_native(libraries.ops(), f"test_{dtype}")
      x = jnp.array([1.5, -2.0], dtype)
      for y in (op(x), jax.jit(op)(x)):
        self.assertEqual(y.dtype, dtype)
        onp.testing.assert_array_equal(y, x)

  def test_other_platforms(self):
    """Programs for CUDA can be lowered, though not run, without one."""
    args = jnp.array(2.0), jnp.ones(3)
    with self.assertRaisesRegex(NotImplementedError, "no native function for"):
      exporting.export(scale(), platforms=["cuda"])(*args)
    op = scale(portable=lambda a, x: a[..., None] * x, jvp=_scale_jvp)
    exported = exporting.export(
      jax.grad(lambda a, x: jnp.sum(op(a, x))), platforms=["cuda", "cpu"]
    )(*args)
    self.assertEqual(exported.platforms, ("cuda", "cpu"))
    self.assertEqual(float(exported.call(*args)), 3.0)

  def test_results_of_portable_functions(self):
    """They have the declared shapes and dtypes, or say what is wrong."""
    args = jnp.array([2.0, 3.0]), jnp.ones((2, 3))

    def lower(portable):
      return exporting.export(scale(portable=portable), platforms=["cuda"])(
        *args
      )

    def half(a, x):
      return (a[..., None] * x).astype(jnp.float32)

    for portable, error, message in (
      (lambda a, x: a, ValueError, r"portable returned shape \(2,\) for y"),
      (lambda a, x: a[..., None] * x[..., :2], ValueError, r"shape \(2, 2\)"),
      (half, TypeError, "the rule portable returned float32 for y"),
      (lambda a, x: (a, x), TypeError, "what portable returned must be a tup"),
    ):
      with self.assertRaisesRegex(error, message):
        lower(portable)


if __name__ == "__main__":
  absltest.main()
