"""Random models, random garbage and random shapes for the kernel."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from tests.accuracy import cases
from tests.accuracy import kernel_calls
from tests.oracle import phase_type_oracle as oracle

_GARBAGE = onp.array(
  [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    5e-324,
    1e-310,
    1e-300,
    1e-17,
    1e12,
    1e300,
    1.7e308,
    -1.7e308,
    float("inf"),
    float("-inf"),
    float("nan"),
  ]
)


def _random_model(rng: onp.random.Generator) -> oracle.Operands:
  """A valid model with a random graph and rates over many magnitudes."""
  p = int(rng.integers(1, 9))
  present = rng.random((p, p)) < rng.uniform(0.1, 0.9)
  spread = rng.choice([0.0, 1.0, 4.0])
  rates = onp.exp2(onp.round(rng.uniform(-3, 3, (p, p)) * spread))
  rates = onp.where(present & ~onp.eye(p, dtype=bool), rates, 0.0)
  exits = onp.exp2(onp.round(rng.uniform(-3, 3, p) * spread))
  exits = onp.where(rng.random(p) < 0.5, exits, 0.0)
  start = rng.random(p) * (rng.random(p) < 0.6)
  start /= max(1.0, start.sum() * rng.choice([1.0, 1.5]))
  given = rng.random() < 0.5
  matrix = rates - onp.diag(rates.sum(axis=1) + exits)
  atom = onp.float64(rng.choice([0.0, 0.125])) if rng.random() < 0.5 else None
  t = 10.0 ** rng.uniform(-12, 2)
  return oracle.Operands(start, matrix, exits if given else None, atom, t)


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class FuzzTest(parameterized.TestCase):
  @parameterized.parameters(*range(16))
  def test_random_models_are_right_or_explained(self, seed):
    rng = onp.random.default_rng([1, seed])
    for _ in range(20):
      operands = _random_model(rng)
      kind = oracle.KINDS[int(rng.integers(6))]
      value = kernel_calls.directional(kind, operands)[0]
      message = kernel_calls.status(kind, kernel_calls.inputs(operands))[0]
      self.assertEqual(bool(onp.isnan(value)), message != "ok", operands)
      if onp.isnan(value):
        continue
      if value == -onp.inf:
        base = kind.removeprefix("log_")
        truth, _ = oracle.directional(base, operands)
        self.assertEqual(float(abs(truth).upper()), 0.0, operands)
        continue
      truth, _ = oracle.directional(kind, operands)
      bound = cases.value_tolerance(kind, float(truth.mid()))
      self.assertLessEqual(oracle.error(value, truth), bound, operands)

  @parameterized.parameters(*range(4))
  def test_garbage_never_raises(self, seed):
    rng = onp.random.default_rng([2, seed])
    kernel = kernel_calls.module()
    for _ in range(40):
      p, n = int(rng.integers(1, 6)), int(rng.integers(1, 5))
      mostly = rng.uniform(0.0, 1.0)

      def draw(*shape, mostly=mostly):
        shape = tuple(int(x) for x in shape)
        garbage = rng.choice(_GARBAGE, size=shape)
        ordinary = rng.uniform(0.0, 1.0 / max(shape[-1:] + (1,)), size=shape)
        return onp.where(rng.random(shape) < mostly, ordinary, garbage)

      exits, atom = p * int(rng.integers(2)), int(rng.integers(2))

      def group(p=p, n=n, exits=exits, atom=atom, draw=draw):
        return [draw(p), draw(p, p), draw(exits), draw(atom), draw(n)]

      kind, order = int(rng.integers(6)), int(rng.integers(4))
      arrays = [x for _ in range(order + 1) for x in group()]
      value = kernel.forward(kind, order, arrays)
      self.assertEqual(value.shape, (n,))
      self.assertEqual(kernel.status(kind, arrays[:5]).shape, (n,))
      if order:
        bars = kernel.adjoint(kind, order, [*arrays[: 5 * order], draw(n)])
        self.assertEqual(
          [bar.shape for bar in bars], [x.shape for x in arrays[:5]]
        )

  @parameterized.parameters(*range(6))
  def test_random_shapes_raise_value_errors_only(self, seed):
    rng = onp.random.default_rng([3, seed])
    kernel = kernel_calls.module()
    accepted = 0
    for _ in range(300):
      sizes = rng.integers(0, 4, size=8)
      p, n = int(sizes[0]) + (rng.random() < 0.9), int(sizes[1]) + 1
      batch = [int(x) for x in sizes[2 : 2 + int(rng.integers(0, 3))]]

      def shape(*event, batch=batch):
        own = [1 if rng.random() < 0.4 else size for size in batch]
        result = own + [int(x) for x in event]
        if rng.random() < 0.08 and result:
          result[int(rng.integers(len(result)))] = int(rng.integers(0, 6))
        if rng.random() < 0.04:
          result = result[1:]
        return result

      shapes = [
        shape(p),
        shape(p, p),
        shape(p * int(rng.integers(2))),
        shape(int(rng.integers(2))),
        shape(n),
      ]
      dtype = rng.choice([onp.float32, onp.float64])
      arrays = [rng.uniform(0.0, 0.2, s).astype(dtype) for s in shapes]
      order = int(rng.integers(0, 4))
      tangents = [x for _ in range(order) for x in arrays]
      if rng.random() < 0.1:
        tangents = tangents[1:]
      kind = int(rng.integers(-1, 7))
      try:
        value = kernel.forward(kind, order, arrays + tangents)
        ranks = (1, 2, 1, 1, 1)
        full = onp.broadcast_shapes(
          *(x.shape[: x.ndim - r] for x, r in zip(arrays, ranks, strict=True))
        )
        self.assertEqual(value.shape, (*full, arrays[4].shape[-1]))
        self.assertEqual(value.dtype, dtype)
        accepted += 1
        if order:
          bars = kernel.adjoint(kind, order, [*arrays, *tangents[5:], value])
          self.assertEqual(
            [bar.shape for bar in bars], [x.shape for x in arrays]
          )
      except (ValueError, TypeError) as error:
        self.assertNotEmpty(str(error))
    self.assertGreater(accepted, 20)


if __name__ == "__main__":
  absltest.main()
