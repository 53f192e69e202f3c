"""Bound Python functions, the same in all substrates."""

import copy
import dataclasses
import decimal
import math

from absl.testing import absltest
import numpy as np
import numpy as onp

from phasic import binding
from phasic.internal.native import host_functions
from phasic.internal.native import host_results
from phasic.internal.native import static_options
from phasic.math.calls import gradients
from tests.helpers import test_case


def _model(scale, parts, *, power=1):
  total = parts["a"] + parts["b"][0]
  return {"value": scale * total**power, "both": (total, None)}


def _model_jvp(args, tangents, *, power=1):
  scale, parts = args
  d_scale, d_parts = tangents
  total = parts["a"] + parts["b"][0]
  change = d_parts["a"] + d_parts["b"][0]
  slope = power * total ** (power - 1)
  return {
    "value": d_scale * total**power + scale * slope * change,
    "both": (change, None),
  }


def _model_vjp(args, cotangent, *, power=1):
  scale, parts = args
  total = parts["a"] + parts["b"][0]
  slope = power * total ** (power - 1)
  c = cotangent["value"]
  change = scale * slope * c + cotangent["both"][0]
  return onp.sum(c * total**power), {"a": change, "b": [change]}


class BindingTest(test_case.TestCase):
  def test_rules_in_array_code(self):
    op = binding.bind(
      onp.exp,
      jvp=binding.array_code(lambda args, ts: np.exp(args[0]) * ts[0]),
      vjp=binding.array_code(lambda args, ct: np.exp(args[0]) * ct),
    )
    x, along = np.asarray([0.5, 2.0]), np.asarray([1.0, -3.0])
    expected = onp.exp([0.5, 2.0]) * onp.asarray([1.0, -3.0])
    self.assert_close(op(x), onp.exp([0.5, 2.0]))
    self.assert_close(op.jvp((x,), (along,)), expected)
    self.assert_close(op.vjp((x,), along)[0], expected)

  def test_trees_and_keywords(self):
    op = binding.bind(_model, jvp=_model_jvp, vjp=_model_vjp, name="model")
    a, b = np.asarray([1.0, 2.0]), np.asarray([0.5, -1.0])
    args = (np.asarray(3.0), {"a": a, "b": [b]})
    result = op(*args, power=2)
    self.assert_close(result["value"], [6.75, 3.0])
    self.assert_close(result["both"][0], [1.5, 1.0])
    self.assertIsNone(result["both"][1])
    tangent = op.jvp(args, (np.asarray(1.0), {"a": b, "b": [a]}), power=2)
    self.assert_close(tangent["value"], [15.75, 7.0])
    cotangent = {"value": a, "both": (b, None)}
    d_scale, d_parts = op.vjp(args, cotangent, power=2)
    self.assert_close(d_scale, 4.25)
    self.assert_close(d_parts["a"], [9.5, 11.0])
    self.assert_close(d_parts["b"][0], [9.5, 11.0])
    self.assertEqual(repr(op), "<BoundFunction model>")

  def test_gradient(self):
    op = binding.bind(
      lambda x, y: x * onp.sin(y),
      vjp=lambda args, c: (
        c * onp.sin(args[1]),
        c * args[0] * onp.cos(args[1]),
      ),
      jvp=lambda args, d: (
        d[0] * onp.sin(args[1]) + args[0] * onp.cos(args[1]) * d[1]
      ),
    )
    x, y = np.asarray([1.0, 2.0]), np.asarray([0.5, 0.25])
    value, pullback = op(x, y), op.vjp((x, y), np.asarray([1.0, -1.0]))
    self.assert_close(value, onp.asarray([1.0, 2.0]) * onp.sin([0.5, 0.25]))
    self.assert_close(pullback[0], onp.sin([0.5, 0.25]) * [1.0, -1.0])
    self.assert_close(pullback[1], onp.cos([0.5, 0.25]) * [1.0, -2.0])

  def test_linear_with_fixed_argument(self):
    op = binding.bind_linear(
      lambda matrix, x, y: matrix @ x + 2.0 * y,
      transpose=lambda matrix, c: (matrix.T @ c, 2.0 * c),
      num_fixed=1,
      name="product",
    )
    matrix = np.asarray([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]])
    result = op(matrix, np.asarray([1.0, 1.0, 2.0]), np.asarray([0.5, 0.5]))
    self.assert_close(result, [4.0, 0.0])
    self.assertEqual(repr(op), "<MultilinearFunction product>")
    self.assertEqual(op.name, "product")

  def test_eager_exceptions_are_the_function_s_own(self):
    def fails(x):
      raise ZeroDivisionError("of its own")

    ops = (
      binding.bind(fails),
      binding.bind_linear(fails, transpose=fails),
      binding.bind_multilinear(fails, transposes=[fails]),
    )
    for op in ops[:1]:
      with self.assertRaisesRegex(ZeroDivisionError, "of its own"):
        op(np.asarray(1.0))

  def test_missing_rules(self):
    op = binding.bind(lambda x: x, name="mine")
    x = np.asarray(1.0)
    with self.assertRaisesRegex(NotImplementedError, "mine.*rule jvp"):
      op.jvp((x,), (x,))
    with self.assertRaisesRegex(NotImplementedError, "mine.*rule vjp"):
      op.vjp((x,), x)

  def test_keywords_may_have_any_name(self):
    op = binding.bind(
      lambda x, *, self, args: self * x + args,
      jvp=lambda primals, along, *, self, args: self * along[0] + 0.0 * args,
      vjp=lambda primals, along, *, self, args: (self * along + 0.0 * args,),
    )
    x = np.asarray([1.0, 2.0])
    self.assert_close(op(x, self=3.0, args=1.0), [4.0, 7.0], 0.0)
    found = op.jvp((x,), (x,), self=3.0, args=1.0)
    self.assert_close(found, [3.0, 6.0], 0.0)
    (found,) = op.vjp((x,), x, self=3.0, args=1.0)
    self.assert_close(found, [3.0, 6.0], 0.0)

  def test_cotangents_that_are_no_such(self):
    x = np.asarray([1.0, 2.0])
    for rule in (
      lambda args, c: (onp.ones(7),),
      lambda args, c: (onp.ones(2, onp.float32),),
    ):
      op = binding.bind(onp.sin, vjp=rule, name="mine")
      with self.assertRaisesRegex(Exception, "vjp of mine returned float"):
        self.host(op.vjp((x,), x)[0])

  def test_keywords_must_be_hashable(self):
    op = binding.bind(lambda x, *, k: x, name="mine")
    with self.assertRaisesRegex(TypeError, "mine: keyword argument k is list"):
      op(np.asarray(1.0), k=[1])

  def test_keywords_are_told_apart(self):
    op = binding.bind(lambda x, *, k: onp.copysign(x, k))
    one = np.asarray(1.0)
    for k in (0.0, -0.0, onp.float64(0.0), onp.float64(-0.0)):
      self.assert_close(op(one, k=k), onp.copysign(1.0, k))

    def kind(x, *, k):
      return x + ["bool", "int", "float"].index(type(k[0][0]).__name__)

    op = binding.bind(kind)
    for i, k in enumerate((True, 1, 1.0)):
      self.assert_close(op(one, k=((k,),)), 1.0 + i)

  def test_keys_of_keywords(self):
    @dataclasses.dataclass(frozen=True)
    class Config:
      rate: float

    alike = (
      *(math.nan, onp.float32(0.5), (1, "a"), decimal.Decimal("1.0")),
      *(frozenset([0.0]), Config(0.5), -0.0, 1j, None, len),
    )
    for value in alike:
      key = static_options.freeze({"k": value})
      again = static_options.freeze({"k": copy.copy(value)})
      self.assertEqual(key, again)
      self.assertEqual(hash(key), hash(again))
      self.assertIs(static_options.thaw(key)["k"], value)
    for one, other in (
      *((0.0, -0.0), (1, True), (1, 1.0), (1.0, onp.float64(1.0))),
      *(((0.0,), (-0.0,)), (frozenset([1]), frozenset([True]))),
      *((complex(0, 0.0), complex(0, -0.0)), (Config(0.0), Config(-0.0))),
      (decimal.Decimal("1.0"), decimal.Decimal("1.00")),
    ):
      self.assertNotEqual(
        static_options.freeze({"k": one}), static_options.freeze({"k": other})
      )

  def test_sizes_of_numpy_s_are_checked(self):
    def abstract(x):
      return binding.ArraySpec([onp.int64(3), onp.array(2)], x.dtype)

    spec = abstract(onp.ones(2))
    self.assertEqual([type(size) for size in spec.shape], [int, int])
    self.assertFalse(spec.fits((3, 4)))
    self.assertEqual((spec.ndim, spec.size), (2, 6))
    self.assertIsNone(binding.ArraySpec((None, 2), "float64").size)
    with self.assertRaisesRegex(
      TypeError, "shape has the size 3.0: sizes must be"
    ):
      binding.ArraySpec((3.0,), "float64")

  def test_positions_that_there_are_not(self):
    x = np.asarray(1.0)
    op = binding.bind(lambda x: x, nondifferentiable=[5], name="mine")
    message = (
      r"nondifferentiable\[0\] is 5: it must be below 1, the number of "
      "arguments of this call of mine"
    )
    with self.assertRaisesRegex(ValueError, message):
      op(x)
    with self.assertRaisesRegex(TypeError, "nondifferentiable is 1: it must"):
      binding.bind(lambda x: x, nondifferentiable=1)
    with self.assertRaisesRegex(
      TypeError, "transposes is .*: it must be a tup"
    ):
      binding.bind_multilinear(lambda x: x, transposes=lambda x: x)
    op = binding.bind(lambda x: x, nondifferentiable=[onp.int64(0)])
    self.assert_close(op(gradients.stop_gradient(x)), 1.0)

  def test_gradient_of_stopped_argument(self):
    op = binding.bind(lambda x, n: x * n, nondifferentiable=(1,))
    x = gradients.stop_gradient(np.asarray(3.0))
    self.assert_close(op(x, x), 9.0)

  def test_bound_rules_return_what_fits(self):
    x, cotangent = np.asarray([0.5, 1.5]), np.asarray([1.0, 2.0])

    def sine(rule):
      return binding.bind(onp.sin, vjp=binding.bind(rule), name="sine")

    good = sine(lambda args, ct: (onp.cos(args[0]) * ct,))
    (found,) = good.vjp((x,), cotangent)
    self.assert_close(found, onp.cos([0.5, 1.5]) * [1.0, 2.0])
    for what, rule in {
      r"shape \(\)": lambda args, ct: (onp.sum(args[0] * ct),),
      r"shape \(1, 2\)": lambda args, ct: ((args[0] * ct)[None],),
      "float32": lambda args, ct: (onp.asarray(ct, onp.float32),),
    }.items():
      with self.assertRaisesRegex(TypeError, f"vjp of sine.*{what}"):
        sine(rule).vjp((x,), cotangent)
    with self.assertRaisesRegex(TypeError, "structure, a tuple of length 2"):
      pair = binding.bind(
        lambda pair: pair[0] * pair[1],
        vjp=binding.bind(lambda args, ct: (ct,)),
      )
      pair.vjp(((x, x),), cotangent)

  def test_rows_of_a_batch_have_one_shape(self):
    """Tests symbolic sizes, which match any size, too."""
    function = host_functions.HostFunction("mine", lambda x: x)
    specs = [host_results.ArraySpec(("n",), "float64")]
    for ndim in (1, 2):
      levels = [host_functions.BatchLevel((True,))] * ndim
      x = onp.reshape([1.0, 3.0], (2, 1)[:ndim])
      with self.assertRaisesRegex(TypeError, r"mine.*\[3\].*must be.*\[1\]"):
        host_functions.run(
          function, lambda row: [onp.ones(int(row[0]))], [x], specs, levels
        )

  def test_masks_would_be_lost(self):
    masked = onp.ma.array([1.0, 2.0], mask=[True, False])
    x = np.asarray([1.0, 2.0])
    op = binding.bind(
      lambda x, y: x,
      jvp=lambda args, d: d[0],
      vjp=lambda args, c: (c, c),
      name="mine",
    )
    linear = binding.bind_linear(lambda x, y: x + y["a"], name="mine")
    for f, what in (
      (lambda: op(x, [masked]), "argument 1"),
      (lambda: linear(x, {"a": masked}), "argument 1"),
      (lambda: op.jvp((x, masked), (x, x)), "argument 1"),
      (lambda: op.jvp((x, x), (masked, x)), "tangent 0"),
      (lambda: op.vjp((x, x), masked), "cotangent 0"),
    ):
      with self.assertRaisesRegex(TypeError, f"mine: {what} is a masked array"):
        f()
    for bind in (binding.bind, binding.bind_linear):
      for abstract in (None, lambda x: x):
        op = bind(lambda x: masked, abstract=abstract, name="mine")
        with self.assertRaisesRegex(TypeError, "mine: .*result.* is a masked"):
          op(x)


if __name__ == "__main__":
  absltest.main()
