"""Phases in series: Erlang, hypoexponential and Coxian distributions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self, Unpack

import numpy as np
import numpy as onp

from phasic.distributions.base import declared
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.distributions.families import named_family
from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal import user_warnings
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.m_step import rate_updates
from phasic.math.model import edge_rates
from phasic.math.model.model_types import Model
from phasic.math.model.value_rules import check
from phasic.math.numeric import array_utils
from phasic.math.quadrature import modes


@structures.register
class Erlang(named_family.NamedFamily):
  """The sum of k independent exponential times with the same rate.

  It is the gamma distribution with an integer concentration k,

      f(t) = r^k t^(k-1) exp(-r t) / (k - 1)!, t > 0.

  The mode is (k - 1) / r. The concentration is structure: distributions that
  share it share a compilation.

  Example:

    >>> from phasic.distributions import Erlang
    >>> dist = Erlang(3, 2.0)
    >>> print(f"{float(dist.mean()):.6f}, {float(dist.prob(1.0)):.6f}")
    1.500000, 0.541341

  References:
    W. Feller, An introduction to probability theory and its applications,
      vol. 2, 1971, sec. I.3.
  """

  _TIME_POWERS: ClassVar[Mapping[str, float]] = {"rate": -1}

  concentration: declared.Count = declared.count(
    "k, a Python int > 0, for all of the batch."
  )
  rate: declared.Required = declared.array(
    0,
    "positive",
    "r, (...), > 0, per unit of time. Zero, which `validate_args` refuses, "
    "means a phase that is never left.",
  )

  def _chain_of(self, rate: Array) -> Model:
    k = self.concentration
    stages = onp.arange(k)
    edges = edge_rates.EdgeRates(
      stages, stages + 1, rate[..., None], np.zeros((k, 1), self.dtype) + 1.0
    )
    start = named_family.first_of(k, self.dtype)
    return start, edges, None, np.zeros((), dtype=self.dtype)

  def _mode(self) -> Array:
    count, rate = self._erlang_parts()
    return (count - 1.0) / rate

  def _erlang_parts(self) -> tuple[int, Array]:
    rate = self._own()["rate"]
    return self.concentration, named_family.positive(rate)

  def _m_step(self, statistics: rate_updates.SufficientStatistics) -> Self:
    return self.copy(rate=self._m_step_rates(statistics)[..., 0])


@structures.register
class Hypoexponential(named_family.NamedFamily):
  """The sum of independent exponential times, with a rate for each.

  With rates r_i the Laplace transform is prod_i r_i / (r_i + u), the mean
  sum_i 1 / r_i. No partial fractions are made: rates may be equal, or near.

  The density is log-concave, so it has one maximum; `mode` is found by
  iteration, to 1e-12 (float32: 1e-5) of itself for up to 1000 stages.

  Example:

    >>> from phasic.distributions import Hypoexponential
    >>> dist = Hypoexponential([1.0, 2.0, 2.0])
    >>> print(f"{float(dist.mean()):.6f}, {float(dist.prob(1.0)):.6f}")
    2.000000, 0.388835

  References:
    S. M. Ross, Introduction to probability models, 2019, sec. 5.2.4.
  """

  _TIME_POWERS: ClassVar[Mapping[str, float]] = {"rates": -1}

  rates: declared.Required = declared.array(
    1,
    "positive",
    "r_i, (..., p), > 0, per unit of time, in any order. Zero, which "
    "`validate_args` refuses, means a phase that is never left.",
  )

  def _check_shapes(self) -> None:
    self._last_size("rates")

  def _chain_of(self, rates: Array) -> Model:
    p = self._last_size("rates")
    phases = onp.arange(p)
    edges = edge_rates.EdgeRates(phases, phases + 1, rates)
    start = named_family.first_of(p, self.dtype)
    return start, edges, None, np.zeros((), dtype=self.dtype)

  def _mode(self) -> Array:
    return modes.stages_mode(self._own()["rates"])

  def _erlang_parts(self) -> tuple[int, Array] | None:
    if self._last_size("rates") > 1:
      return None
    return 1, named_family.positive(self._own()["rates"][..., 0])

  def _m_step(self, statistics: rate_updates.SufficientStatistics) -> Self:
    return self.copy(rates=self._m_step_rates(statistics))


@structures.register
class Coxian(named_family.NamedFamily):
  """Phases in series; the chain may be absorbed from each of them.

  Phase i goes on to phase i + 1 at rate a_i and is absorbed at rate e_i: all
  positive values are valid, so that these are the parameters to fit. The time
  starts in the first phase. Every acyclic phase-type distribution without an
  atom has such a form.

  Example: a hospital stay of up to three phases.

    >>> from phasic.distributions import Coxian
    >>> dist = Coxian([2.0, 1.0], [1.0, 0.5, 0.25])
    >>> print(f"{float(dist.mean()):.6f}, {float(dist.prob(1.0)):.6f}")
    2.555556, 0.225163

  References:
    D. R. Cox, A use of complex probabilities in the theory of stochastic
      processes, Proc. Camb. Phil. Soc. 51, 1955.
    A. Cumani, On the canonical representation of homogeneous Markov processes
      modelling failure-time distributions, Microelectron. Reliab. 22, 1982.
  """

  _TIME_POWERS: ClassVar[Mapping[str, float]] = {
    "progression_rates": -1,
    "exit_rates": -1,
  }

  progression_rates: declared.Required = declared.array(
    1, "nonnegative", "a_i, (..., p - 1), >= 0, per unit of time."
  )
  exit_rates: declared.Required = declared.array(
    1,
    "nonnegative",
    "e_i, (..., p), >= 0, the last one > 0, per unit of time. If that is "
    "zero, which `validate_args` refuses, the last phase is never left.",
  )

  @classmethod
  def from_probs(
    cls,
    rates: ArrayLike,
    continuation_probs: ArrayLike,
    **options: Unpack[declared.Options],
  ) -> Self:
    """Makes the distribution from total rates and continuation probabilities.

    Phase i is left at rate r_i, then with probability c_i to phase i + 1:
    a_i = r_i c_i and e_i = r_i (1 - c_i), the last one r_p.

    Args:
      rates: r_i, (..., p), > 0.
      continuation_probs: c_i, (..., p - 1), in [0, 1].
      **options: `validate_args`, `allow_nan_stats` and `name`.

    Raises:
      TypeError: as the constructor.
      ValueError: as the constructor.

    Example:

      >>> from phasic.distributions import Coxian
      >>> dist = Coxian.from_probs([2.0, 1.0], [0.5])
      >>> print(f"{float(dist.mean()):.6f}")
      1.000000
    """
    given = {"rates": rates, "continuation_probs": continuation_probs}
    dtype = dtypes.common_dtype(given)
    leaving, probs = (
      structures.as_array(x, dtype, name) for name, x in given.items()
    )
    shapes = static.shape(leaving), static.shape(probs)
    if not all(shapes) or shapes[0][-1] - 1 != shapes[1][-1]:
      raise ValueError(
        f"rates have shape {shapes[0]} and continuation_probs {shapes[1]}: "
        "they must be (..., p) and (..., p - 1)"
      )
    exits = array_utils.joined(
      leaving[..., :-1] * (1.0 - probs), leaving[..., -1:]
    )
    return cls(leaving[..., :-1] * probs, exits, **options)

  @property
  def subgenerator(self) -> Array:
    """The rates between the phases, S, an array (..., p, p) for p <= 4096."""
    with user_warnings.derived():
      matrix = self.as_phase_type().subgenerator
    assert not isinstance(matrix, edge_rates.EdgeRates)
    return matrix

  def _check_shapes(self) -> None:
    p = self._last_size("exit_rates")
    shape = static.shape(self.progression_rates)
    if shape[-1:] != (p - 1,):
      raise ValueError(
        f"progression_rates have shape {shape} and exit_rates "
        f"{static.shape(self.exit_rates)}: they must be (..., p - 1) and "
        "(..., p)"
      )

  def _checked_parameters(
    self, arrays: Mapping[str, Array]
  ) -> dict[str, Array]:
    arrays = super()._checked_parameters(arrays)
    exits = arrays["exit_rates"]
    early = onp.arange(static.shape(exits)[-1]) < static.shape(exits)[-1] - 1
    good = (exits > 0) | early
    rule = "the exit rate of the last phase must be > 0"
    return {**arrays, "exit_rates": check("exit_rates", exits, good, rule)}

  def _is_plausible(self, known: Mapping[str, ParameterValue]) -> bool:
    last = known["exit_rates"][..., -1:]
    return bool(onp.all(last > 0)) and super()._is_plausible(known)

  def _chain_of(self, progression_rates: Array, exit_rates: Array) -> Model:
    p = self._last_size("exit_rates")
    phases = onp.arange(p)
    edges = edge_rates.EdgeRates(
      onp.concatenate([phases[:-1], phases]),
      onp.concatenate([phases[1:], onp.full(p, p)]),
      array_utils.joined(progression_rates, exit_rates),
    )
    start = named_family.first_of(p, self.dtype)
    return start, edges, None, np.zeros((), dtype=self.dtype)

  def _m_step(self, statistics: rate_updates.SufficientStatistics) -> Self:
    rates, p = self._m_step_rates(statistics), self.num_phases
    return self.copy(
      progression_rates=rates[..., : p - 1], exit_rates=rates[..., p - 1 :]
    )
