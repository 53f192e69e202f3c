"""Rules of bound functions: their structure, their order, and bad arguments."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import binding
from phasic.math.calls import gradients
from tests.helpers import test_case


def _cube_jvp(args, tangents):
  return 3.0 * args[0] ** 2 * tangents[0]


def _cube_vjp(args, cotangent):
  return (3.0 * args[0] ** 2 * cotangent,)


class RulesTest(test_case.TestCase):
  def test_forward_mode(self):
    cube = binding.bind(lambda x: x**3, jvp=_cube_jvp, vjp=_cube_vjp)
    x, along = np.asarray([0.5, 2.0]), np.asarray([1.0, -3.0])
    value, moved = gradients.jvp(lambda x: 2.0 * cube(x), (x,), (along,))
    self.assert_close(value, [0.25, 16.0])
    self.assert_close(moved, [1.5, -72.0])

  def test_forward_mode_of_structures(self):
    product = binding.bind(
      lambda pair: {"value": pair[0] * pair[1], "count": onp.asarray(2)},
      jvp=lambda args, ts: {
        "value": ts[0][0] * args[0][1] + args[0][0] * ts[0][1],
        "count": None,
      },
      vjp=lambda args, ct: (
        (ct["value"] * args[0][1], ct["value"] * args[0][0]),
      ),
    )
    x, y = np.asarray(3.0), np.asarray(5.0)
    value, moved = gradients.jvp(
      lambda x: product((x, y))["value"], (x,), (np.asarray(2.0),)
    )
    self.assert_close([float(value), float(moved)], [15.0, 10.0])
    _, slopes = gradients.value_and_gradient(
      lambda x, y: product((x, y))["value"], x, y
    )
    self.assert_close([float(slope) for slope in slopes], [5.0, 3.0])

  def test_rules_that_are_bound_have_rules(self):
    # With f = x^3 the rules are 3 x^2 t, linear in t; their rules make f''.
    cube = binding.bind(
      lambda x: x**3,
      jvp=binding.bind(
        _cube_jvp,
        jvp=lambda at, ts: (
          6.0 * at[0][0] * at[1][0] * ts[0][0] + 3.0 * at[0][0] ** 2 * ts[1][0]
        ),
        vjp=lambda at, ct: (
          (6.0 * at[0][0] * at[1][0] * ct,),
          (3.0 * at[0][0] ** 2 * ct,),
        ),
      ),
      vjp=binding.bind(
        _cube_vjp,
        jvp=lambda at, ts: (
          6.0 * at[0][0] * at[1] * ts[0][0] + 3.0 * at[0][0] ** 2 * ts[1],
        ),
        vjp=lambda at, ct: (
          (6.0 * at[0][0] * at[1] * ct[0],),
          3.0 * at[0][0] ** 2 * ct[0],
        ),
      ),
    )

    def slope(x):
      return gradients.value_and_gradient(cube, x)[1]

    x = np.asarray(2.0)
    self.assert_close(gradients.jvp(cube, (x,), (np.asarray(5.0),))[1], 60.0)
    value, second = gradients.value_and_gradient(slope, x)
    self.assert_close([float(value), float(second)], [12.0, 12.0])
    product = gradients.hessian_vector_product(cube, (x,), (np.asarray(2.0),))
    self.assert_close(product, 24.0)

  def test_results_of_rules_have_the_structure_of_arguments(self):
    x = np.asarray([0.5, 1.5])

    def pair(rule):
      return binding.bind(
        lambda d: d["a"] * d["b"], vjp=binding.bind(rule), name="pair"
      )

    good = pair(lambda args, ct: ({"a": args[0]["b"] * ct, "b": 2.0 * ct},))
    (found,) = good.vjp(({"a": x, "b": x},), x)
    self.assert_close(found["a"], onp.asarray([0.25, 2.25]))
    for rule, message in (
      (
        lambda args, ct: ct,
        "vjp of pair must return a tuple with an entry for",
      ),
      (lambda args, ct: (ct, ct), "an entry for each of the 1 arguments"),
      (
        lambda args, ct: ({"a": ct},),
        "returned a dict for argument 0: .* a dict of length 2",
      ),
      (
        lambda args, ct: ({"a": ct, "c": ct},),
        "returned a dict for argument 0: .* a dict of length 2",
      ),
      (
        lambda args, ct: ({"a": ct, "b": ct[:1][None]},),
        r"returned shape \(1, 1\) .* for argument 0\['b'\]: they must be \(2,\)",
      ),
    ):
      with self.assertRaisesRegex(TypeError, message):
        pair(rule).vjp(({"a": x, "b": x},), x)

  def test_a_rule_beside_one_in_array_code(self):
    x, along = np.asarray([0.5, 2.0]), np.asarray([1.0, -3.0])
    expected = onp.asarray([0.75, -36.0])
    code = binding.array_code
    for rules in (
      {"jvp": _cube_jvp, "vjp": code(_cube_vjp)},
      {"jvp": code(_cube_jvp), "vjp": _cube_vjp},
    ):
      cube = binding.bind(lambda x: x**3, **rules)
      self.assert_close(cube.jvp((x,), (along,)), expected)
      self.assert_close(cube.vjp((x,), along)[0], expected)


class ArgumentsTest(test_case.TestCase):
  @parameterized.parameters(
    ({"batching": "all"}, ValueError, "batching is 'all': .* 'sequential' or"),
    ({"batching": 1}, ValueError, "batching is 1: it must be 'sequential' or"),
    ({"name": 3}, TypeError, "name is int: it must be a string"),
    ({"jvp": 3}, TypeError, "jvp is 3: it must be"),
    ({"nondifferentiable": 1}, TypeError, "nondifferentiable is 1: it must be"),
    (
      {"nondifferentiable": [0, 0.5]},
      TypeError,
      r"nondifferentiable\[1\] is 0.5: it must be an integer",
    ),
    (
      {"nondifferentiable": [True]},
      TypeError,
      r"nondifferentiable\[0\] is True: it must be an integer",
    ),
    (
      {"nondifferentiable": [-1]},
      ValueError,
      r"nondifferentiable\[0\] is -1: it must be >= 0",
    ),
    (
      {"nondifferentiable": [2**31]},
      ValueError,
      r"nondifferentiable\[0\] is 2147483648: it must be below 2\*\*31",
    ),
  )
  def test_bind(self, options, error, message):
    with self.assertRaisesRegex(error, message):
      binding.bind(lambda x: x, **options)

  def test_bind_multilinear(self):
    def transpose(y, c):
      return y * c

    with self.assertRaisesRegex(TypeError, "abstract is 3: it must be"):
      binding.bind_multilinear(
        lambda x, y: x * y, transposes=[transpose] * 2, abstract=3
      )
    product = binding.bind_multilinear(
      lambda x, y: x * y, transposes=[transpose] * 2, name="product"
    )
    x = np.asarray(2.0)
    for args in ((x,), (x, x, x)):
      with self.assertRaisesRegex(
        TypeError,
        f"product is called with {len(args)} arguments: it needs 0 fixed and 2",
      ):
        product(*args)


if __name__ == "__main__":
  absltest.main()
