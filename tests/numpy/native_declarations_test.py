"""What native functions declare: operands, options, rules, and refusals."""

import enum

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic.substrates.numpy import binding
from phasic.substrates.numpy.internal import autodiff
from phasic.substrates.numpy.internal.native import native_declarations
from phasic.substrates.numpy.internal.native import native_shapes
from tests.native_ops import libraries


class _Kind(enum.IntEnum):
  FIRST = 1
  SECOND = 2


class _Method(enum.StrEnum):
  FAST = "of"


def bind(name, **arguments):
  return binding.bind_native(libraries.ops(), name, **arguments)


def gather():
  return bind("test_gather", sizes={"k": lambda m, n: 2 * m})


class DeclarationsTest(parameterized.TestCase):
  @parameterized.parameters(
    (
      {"name": "nothing"},
      ValueError,
      "op nothing: library is .*libops.so, which has no such op",
    ),
    ({"name": "test_unreadable"}, ValueError, "cannot be read at"),
    (
      {"name": "test_scale", "sizes": {"n": len}},
      ValueError,
      "sizes are given",
    ),
    ({"name": "test_gather"}, ValueError, r"they must be for \['k'\]"),
    ({"name": "test_scale", "jvp": 3}, TypeError, "jvp is 3"),
    ({"name": 3}, TypeError, "name is 3"),
    ({"name": "a b"}, ValueError, "op a b: .* no such op"),
    (
      {"name": "test_cube", "forward": "test_cube_jvp"},
      TypeError,
      "op test_cube: forward is 'test_cube_jvp': it must be a tuple",
    ),
    (
      {"name": "test_cube", "adjoint": [None]},
      TypeError,
      "op test_cube: adjoint is .None.: it must be a tuple",
    ),
    (
      {"name": "test_cube", "adjoint": ["nothing"]},
      ValueError,
      "op nothing: library is .*, which has no such op",
    ),
    (
      {"name": "test_cube", "forward": ["test_scale"]},
      ValueError,
      "J_1 is op test_scale",
    ),
    (
      {"name": "test_cube", "adjoint": ["test_cube_jvp2"]},
      ValueError,
      "V_1 is op test_cube_jvp2",
    ),
    (
      {"name": "test_takes_double", "forward": ["test_reads_options"]},
      ValueError,
      "J_1 is op test_reads_options, .* its options must be options of",
    ),
    (
      {"name": "test_cube", "forward": ["test_cube_jvp"], "jvp": len},
      ValueError,
      "derivatives are given twice",
    ),
    ({"name": "test_scale", "handler": "X"}, ValueError, "together"),
  )
  def test_declarations_refused(self, arguments, error, message):
    with self.assertRaisesRegex(error, message):
      binding.bind_native(libraries.ops(), **arguments)

  @parameterized.parameters(
    (
      "n: int32() -> y()",
      "an output has no type, but all inputs have one: give",
    ),
    ("x(), x() -> y()", "there are two operands x"),
    ("x() -> y(), z(), y()", "there are two operands y"),
    (", ".join(f"x{i}()" for i in range(25)) + " -> y()", "more than 24 inp"),
    (
      f"x({', '.join(f'n{i}' for i in range(25))}) -> y()",
      "more than 24 names",
    ),
    ("x() -> y();", "'' is not a valid name of an option"),
    ("x() -> y(); a,", "'' is not a valid name of an option"),
    ("x() -> y(); a; b", "'a; b' is not a valid name of an option"),
    ("x() -> y(); a, b, a", "there are two options a"),
    ("x(); a -> y()", "there must be one `->`"),
  )
  def test_declarations_that_cannot_be(self, declaration, message):
    with self.assertRaisesRegex(ValueError, f"op mine: '.*': .*{message}"):
      binding.bind_native(
        libraries.ops(), "mine", declaration=declaration, handler="mine"
      )


class OptionsTest(parameterized.TestCase):
  def test_options_refused(self):
    with self.assertRaisesRegex(TypeError, "option copies is tuple"):
      gather()(onp.array([0], onp.int32), onp.ones(3), copies=(2,))
    with self.assertRaisesRegex(ValueError, "option copies has"):
      gather()(onp.array([0], onp.int32), onp.ones(3), copies="2;x=1")
    with self.assertRaisesRegex(ValueError, "option copies is 92.*64 bits"):
      gather()(onp.array([0], onp.int32), onp.ones(3), copies=2**63)

  @parameterized.parameters("copie", "a=1;copies", "copies=2", "copies\0", "")
  def test_options_that_are_not_declared(self, name):
    args = onp.array([0], onp.int32), onp.ones(3)
    message = r"op test_gather: there is no option '.*': its options are copies"
    for f in (gather(), gather().check):
      with self.assertRaisesRegex(TypeError, message):
        f(*args, **{name: 3})
    message = "op test_scale: there is no option 'copies': it has none"
    with self.assertRaisesRegex(TypeError, message):
      bind("test_scale")(1.0, onp.ones(3), copies=2)
    with self.assertRaisesRegex(TypeError, message):
      bind("test_scale").vjp((1.0, onp.ones(3)), onp.ones(3), copies=2)

  def test_function_reads_an_option_that_is_not_declared(self):
    op = bind("test_reads_undeclared")
    message = "op test_reads_undeclared: there is no option tolerance; .*toler"
    for options in ({}, {"toleranc": 1.0}):
      with self.assertRaisesRegex(RuntimeError, message):
        op(1.0, **options)

  @parameterized.parameters(
    ({}, (0.5, 7, 4)),
    ({"number": onp.float64(1.25)}, (1.25, 7, 4)),
    ({"number": onp.float32(1.25)}, (1.25, 7, 4)),
    ({"number": 5e-324}, (5e-324, 7, 4)),
    ({"number": -onp.inf}, (-onp.inf, 7, 4)),
    ({"number": 3}, (3.0, 7, 4)),
    ({"number": "0.1"}, (0.1, 7, 4)),
    ({"integer": _Kind.SECOND}, (0.5, 2, 4)),
    ({"integer": onp.int8(-3)}, (0.5, -3, 4)),
    ({"integer": onp.bool_(True)}, (0.5, 1, 4)),
    ({"integer": -(2**63)}, (0.5, -(2**63), 4)),
    ({"text": ""}, (0.5, 7, 0)),
    ({"text": _Method.FAST}, (0.5, 7, 2)),
    ({"text": "with blanks"}, (0.5, 7, 11)),
  )
  def test_options_are_read_as_they_are(self, options, expected):
    op = bind("test_options")
    self.assertEqual(op(1.0, **options), expected)

  @parameterized.parameters(
    ({"integer": 2.5}, "option integer is '2.5': it must be an integer"),
    ({"integer": 1e22}, r"option integer is '1e\+22': it must be an integer"),
    ({"integer": "abc"}, "option integer is 'abc': it must be an integer"),
    ({"integer": "12 "}, "option integer is '12 ': it must be an integer"),
    ({"integer": ""}, "option integer is '': it must be an integer"),
    ({"number": "1,5"}, "option number is '1,5': it must be a number"),
    ({"number": "1e999"}, "option number is '1e999': it must be a number"),
  )
  def test_options_that_are_no_such_numbers(self, options, message):
    op = bind("test_options")
    with self.assertRaisesRegex(RuntimeError, f"op test_options: {message}"):
      op(1.0, **options)


def _cube_jvp(inputs, outputs, tangents):
  (x, w), (dx, dw) = inputs, tangents
  return 3 * x**2 * w * dx + x**3 * dw, dx + dw


class DerivedRulesTest(parameterized.TestCase):
  def test_a_reverse_rule_of_a_forward_rule(self):
    # y = x^3 w and s = x + w, entry by entry, where w broadcasts.
    cube = binding.bind_native(libraries.ops(), "test_cube", jvp=_cube_jvp)
    x, w = onp.array([[1.0, 2.0, 3.0], [0.5, -1.0, 4.0]]), onp.array([2.0])
    of_y, of_s = onp.array([1.0, -2.0, 0.5]), onp.array([[4.0], [8.0]])
    of_y, of_s = onp.broadcast_arrays(of_y, of_s)
    of_x, of_w = cube.vjp((x, w), (of_y, of_s))
    onp.testing.assert_allclose(of_x, 3 * x**2 * w * of_y + of_s, rtol=1e-15)
    onp.testing.assert_allclose(of_w, [onp.sum(x**3 * of_y + of_s)], rtol=1e-15)
    self.assertEqual(of_w.shape, w.shape)

  def test_integers_have_no_tangents(self):
    # y = x[indices], and their number.
    gather = binding.bind_native(
      libraries.ops(),
      "test_gather",
      sizes={"k": lambda m, n: m},
      jvp=lambda i, o, t: (t[1][i[0]], None),
    )
    indices, x = onp.array([2, 0], onp.int32), onp.array([1.0, 2.0, 4.0])
    value, moved = autodiff.forward(
      lambda x: gather(indices, x, copies=1),
      [x],
      [onp.array([3.0, 5.0, 7.0])],
    )
    onp.testing.assert_array_equal(value[0], [4.0, 1.0])
    onp.testing.assert_array_equal(moved[0], [7.0, 3.0])
    self.assertEqual(value[1], 2)
    self.assertEqual(moved[1], 0)

  def test_no_reverse_rule_of_rows(self):
    scale = binding.bind_native(
      libraries.ops(),
      "test_scale",
      jvp=lambda i, o, t: t[0][..., None] * i[1] + i[0][..., None] * t[1],
    )
    with self.assertRaisesRegex(NotImplementedError, "without a reverse rule"):
      scale.vjp((2.0, onp.ones(2)), onp.ones(2))

  def test_text(self):
    cube = binding.bind_native(libraries.ops(), "test_cube")
    self.assertEqual(cube.name, "test_cube")
    self.assertEqual(cube.declaration, "x(), w() -> y(), sum()")
    self.assertEqual(repr(cube), "<NativeOp test_cube: x(), w() -> y(), sum()>")


class UnreadableDeclarationsTest(parameterized.TestCase):
  @parameterized.parameters(
    ("x: float12() -> y()", "there is no type float12"),
    ("x(n, , m) -> y()", "a dimension's name is missing"),
    ("x(n m) -> y()", "a dimension's name is missing"),
    ("x() w() -> y()", "a comma is missing"),
  )
  def test_declarations_that_cannot_be_read(self, text, message):
    with self.assertRaisesRegex(ValueError, f"op mine: '.*': {message}"):
      binding.bind_native(
        libraries.ops(), "mine", declaration=text, handler="mine"
      )

  def test_handlers_are_for_jax(self):
    with self.assertRaisesRegex(
      NotImplementedError, "op mine is an XLA handler, which only JAX can call"
    ):
      binding.bind_native(
        libraries.ops(), "mine", declaration="x() -> y()", handler="mine"
      )(1.0)

  def test_sizes_that_differ(self):
    both = native_declarations.parse("both", "x(n), y(m, n) -> z(n)")
    self.assertEqual(
      native_shapes.input_dims(both, [(5, 3), (2, 3)]), {"n": 3, "m": 2}
    )
    with self.assertRaisesRegex(
      ValueError,
      r"op both: y has shape \(2, 4\): dimension n must be 3; the op is decl",
    ):
      native_shapes.input_dims(both, [(3,), (2, 4)])


class ErrorsTest(parameterized.TestCase):
  def test_no_error_of_a_compiled_program(self):
    # NumPy has none: exceptions are the function's own.
    def fails(x):
      raise ZeroDivisionError("of its own")

    with self.assertRaisesRegex(ZeroDivisionError, "of its own"):
      binding.bind(fails)(1.0)
    self.assertIsNone(binding.last_error())


if __name__ == "__main__":
  absltest.main()
