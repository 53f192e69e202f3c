"""The specification of a regression: a distribution and its effects."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from typing import Any

import numpy as onp

from phasic import distributions
from phasic.internal import static
from phasic.internal.arrays import ArrayLike
from phasic.regression import parts
from phasic.regression import reading

# The name of the distribution among the parameters of a regression.
BASE = "distribution"


@dataclasses.dataclass(frozen=True, eq=False)
class Spec:
  """A distribution with effects, before covariates are read.

  Attributes:
    distribution: the distribution at covariates zero.
    effects: formulas, names of columns or arrays, by name of the effect; None
      for an effect on time that has only an intercept.
    links: parameter and link, by name of an effect on a parameter.
    intercept: whether the effect on time has an intercept.
    strata: the name of a column, labels, or None.
    offsets: columns or arrays, by name of the effect.
    penalizer: see `Regression`.
  """

  distribution: distributions.Distribution
  effects: Mapping[str, reading.Effect | None]
  links: Mapping[str, tuple[str, str]]
  intercept: bool
  strata: str | ArrayLike | None
  offsets: Mapping[str, Any]
  penalizer: float

  @property
  def on_chains(self) -> list[str]:
    """The names of effects for which subjects need chains of their own."""
    names = list(self.links)
    if parts.is_wrapped(self.distribution):
      names.append("intensity")
    return [x for x in names if x in self.effects or x in self.offsets]

  @property
  def others(self) -> list[int]:
    """The phases that may be the first one, without the reference."""
    probs: onp.ndarray = onp.asarray(
      static.concrete(parts.shares(self.distribution))
    )
    return [int(i) for i in onp.flatnonzero(probs > 0)[1:]]

  def check(self) -> None:
    """Raises ValueError for effects that the distribution cannot have."""
    if not self.effects:
      raise ValueError(
        "there is no effect: give time, intensity, initial_probs or params"
      )
    known = ["time", "intensity", *self.links]
    for name in self.offsets:
      if name not in known:
        raise ValueError(
          f"offsets has {name!r}: its names must be of {', '.join(known)}"
        )
    names = {*self.effects, *self.offsets}
    if names & {"time", "intensity"}:
      scaled: Any = self.distribution
      try:
        scaled * onp.ones(1, self.distribution.dtype)
      except (NotImplementedError, TypeError) as error:
        raise ValueError(
          "time or intensity is given, and "
          f"{type(self.distribution).__name__} cannot be rescaled: {error}"
        ) from None
    if "initial_probs" in names and not self.others:
      raise ValueError(
        "initial_probs is given, and only one phase may be the first: an effect "
        "needs two initial probabilities above zero"
      )


def spec_of(
  distribution: distributions.Distribution,
  effects: Mapping[str, reading.Effect | None],
  params: object,
  intercept: bool,
  strata: str | ArrayLike | None,
  offsets: object,
  penalizer: object,
) -> Spec:
  """Checks the arguments of a `Regression`."""
  distribution = reading.checked_distribution(distribution)
  on_params = reading.checked_mapping("params", params)
  links: dict[str, tuple[str, str]] = {}
  for name in on_params:
    link = parts.link_of(distribution, name)
    links |= {f"{link} {name}": (name, link)}
  given: dict[str, reading.Effect | None] = {
    name: x for name, x in effects.items() if x is not None
  }
  given |= {effect: on_params[name] for effect, (name, _) in links.items()}
  if intercept:
    given = {"time": given.get("time"), **given}
  spec = Spec(
    distribution,
    given,
    links,
    intercept,
    strata,
    reading.checked_mapping("offsets", offsets),
    reading.checked_penalizer(penalizer),
  )
  spec.check()
  return spec
