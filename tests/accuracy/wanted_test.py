"""Cotangents that are not wanted are left out; the others' bits stay."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from tests.accuracy import cases
from tests.accuracy import kernel_calls
from tests.oracle import models
from tests.oracle import phase_type_oracle as oracle

_ALL = 31
_EVENT_NDIMS = (1, 2, 1, 1, 1)


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class WantedTest(parameterized.TestCase):
  def _check_all_masks(self, event_ndims, *arguments):
    adjoint = kernel_calls.module().adjoint
    full = adjoint(*arguments)
    for mask in range(_ALL + 1):
      part = adjoint(*arguments, wanted=mask)
      for i in range(5):
        label = f"operand {i} of mask {mask}"
        if mask >> i & 1:
          self.assertEqual(part[i].tobytes(), full[i].tobytes(), label)
          self.assertEqual(part[i].shape, full[i].shape, label)
        else:
          batch = full[i].shape[: full[i].ndim - event_ndims[i]]
          shape = (*batch, *[0] * event_ndims[i])
          self.assertEqual(part[i].shape, shape, label)
    return full

  def _check_model(self, kind, model, options, order):
    rng = onp.random.default_rng(5)
    operands = cases.operands(model, options, cases.DERIVATIVE_TIMES[model])
    move = models.direction(operands, rng)
    arrays = kernel_calls.inputs(operands)
    arrays += kernel_calls.inputs(move) * (order - 1)
    arrays.append(rng.standard_normal(4))
    code = kernel_calls.kind_code(kind)
    self._check_all_masks(_EVENT_NDIMS, code, order, arrays)

  @parameterized.product(
    kind=oracle.KINDS,
    model=("erlang", "cyclic"),
    options=tuple(cases.OPTIONS),
  )
  def test_bits(self, kind, model, options):
    self._check_model(kind, model, options, 1)

  @parameterized.product(kind=oracle.KINDS, options=tuple(cases.OPTIONS))
  def test_bits_of_second_derivatives(self, kind, options):
    self._check_model(kind, "cyclic", options, 2)

  @parameterized.product(kind=oracle.KINDS, dtype=("float32", "float64"))
  def test_bits_where_models_share_operands(self, kind, dtype):
    rng = onp.random.default_rng(6)
    model = models.cyclic()
    arrays = [
      onp.stack([model.initial_probs, model.initial_probs[::-1]])[:, None],
      onp.stack([k * model.subgenerator for k in (0.5, 1.0, 2.0)])[None],
      onp.stack([k * model.exit_rates for k in (0.5, 1.0, 2.0)])[None],
      onp.zeros((1, 1, 0)),
      rng.gamma(1.0, size=(1, 1, 40)),
      rng.standard_normal((2, 3, 40)),
    ]
    arrays = [onp.asarray(x, dtype) for x in arrays]
    code = kernel_calls.kind_code(kind)
    self._check_all_masks(_EVENT_NDIMS, code, 1, arrays)

  @parameterized.parameters(*oracle.KINDS)
  def test_bits_of_edges(self, kind):
    rng = onp.random.default_rng(7)
    p, m = 12, 30
    edges = [
      rng.integers(0, [[p], [p + 1]], (2, m)).astype(onp.int32),
      rng.uniform(size=m),
      rng.uniform(size=(m, 3)),
    ]
    arrays = [
      rng.dirichlet(onp.ones(p + 1))[:p],
      onp.asarray([1.0, 0.5, 2.0]),
      onp.zeros(0),
      onp.zeros(0),
      rng.gamma(1.0, size=20),
      rng.standard_normal(20),
    ]
    code = kernel_calls.kind_code(kind)
    self._check_all_masks((1, 1, 1, 1, 1), code, 1, arrays, edges)

  @parameterized.parameters(*oracle.KINDS)
  def test_bits_where_some_are_swept_again(self, kind):
    rates = onp.append(onp.full(12, 1e-30), 1.0)
    operands = models.hypoexponential(rates)._replace(
      time=onp.array([1e-3, 2.0])
    )
    arrays = [*kernel_calls.inputs(operands), onp.array([1.0, 0.5])]
    full = self._check_all_masks(
      _EVENT_NDIMS, kernel_calls.kind_code(kind), 1, arrays
    )
    for bars in full:
      self.assertFalse(onp.any(onp.isnan(bars)))

  def test_what_is_not_a_number_stays_so(self):
    arrays = kernel_calls.inputs(cases.small_model())
    arrays[0] = -arrays[0]
    full = self._check_all_masks(
      _EVENT_NDIMS, 0, 1, [*arrays, onp.ones_like(arrays[4])]
    )
    self.assertTrue(onp.all(onp.isnan(full[0])))

  @parameterized.parameters(-1, 32, 2**31 - 1)
  def test_sets_that_are_none_are_refused(self, wanted):
    arrays = kernel_calls.inputs(cases.small_model())
    with self.assertRaisesRegex(ValueError, "wanted"):
      kernel_calls.module().adjoint(
        0, 1, [*arrays, onp.ones_like(arrays[4])], wanted=wanted
      )


if __name__ == "__main__":
  absltest.main()
