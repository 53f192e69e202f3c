"""Multi-state models of panel data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import copy
import math
from typing import Any, Self

import numpy as onp

from phasic import graphs
from phasic import inference
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal import user_warnings
from phasic.internal.arrays import Array, ArrayLike
from phasic.internal.tables import TableLike
from phasic.multistate.data import effects as effects_lib
from phasic.multistate.data import panel_data
from phasic.multistate.data.panel_columns import State
from phasic.multistate.likelihood import evaluation
from phasic.multistate.likelihood import hidden as hidden_lib
from phasic.multistate.likelihood import initial_states
from phasic.multistate.likelihood import layouts
from phasic.multistate.likelihood import likelihoods
from phasic.multistate.likelihood import m_steps
from phasic.multistate.likelihood import nesting
from phasic.multistate.likelihood import outcomes as outcomes_lib
from phasic.multistate.likelihood import reading
from phasic.multistate.likelihood import starts
from phasic.multistate.states import chains
from phasic.multistate.states import intensities as intensities_lib

_REAL = (-math.inf, math.inf)
Parameters = Mapping[str, Any]


class MultiState(inference.LikelihoodModel):
  """A Markov chain of named states, for panel data and `inference.fit_mle`.

  The chain leaves state i for state j at the rate q_ij; of a subject with
  covariates x it is q_ij exp(x b). Covariates hold from one row of the data to
  the next. The likelihood of a row is that of its state, given the row before:
  (exp(Q t))_ij, with the time t between the rows; sum_k (exp(Q t))_ik q_kj where
  the time of entry is known; exp(-q_i t) q_ij where the state is known not to
  have changed until then.

  States may be hidden. Then a label has a probability for each state
  (`misclassification`), or a measurement a density (`outcomes`), and the forward
  algorithm sums over all paths. So it does for labels that stand for several
  states, for states of several phases, and for intervals with cuts.

  Parameters by name: "rates[well -> ill]" are the rates where all covariates are
  zero; "effects[age, well -> ill]" the coefficients b, whose exponentials are
  hazard ratios; "misclassification[ill | well]" the log odds of the label "ill"
  against "well" where the state is "well"; "initial_probs[ill]" log odds of the
  first state against the first state of the model that may be; "fev.ill.mean"
  parameters of outcomes.

  Example: two patients were seen now and then.

    >>> from phasic import inference, multistate
    >>> data = multistate.PanelData.from_table(
    ...   {
    ...     "patient": [1, 1, 1, 2, 2],
    ...     "years": [0.0, 1.0, 2.5, 0.0, 1.5],
    ...     "stage": ["well", "ill", "dead", "well", "dead"],
    ...   },
    ...   subject="patient",
    ...   time="years",
    ...   state="stage",
    ...   exact=["dead"],
    ... )
    >>> model = multistate.MultiState({"well": ["ill"], "ill": ["dead"]})
    >>> fit = inference.fit_mle(model, data)
    >>> print(f"{fit.log_likelihood:.4f}")
    -3.0925

  References:
    J. D. Kalbfleisch, J. F. Lawless, The analysis of panel data under a Markov
      assumption, J. Amer. Statist. Assoc. 80, 1985.
    C. H. Jackson, Multi-state models for panel data: the msm package for R,
      J. Stat. Softw. 38(8), 2011.
  """

  def __init__(
    self,
    intensities: intensities_lib.Intensities
    | graphs.Graph
    | Mapping[State, Sequence[State] | Mapping[State, str]],
    *,
    effects: effects_lib.EffectsLike | None = None,
    cuts: Sequence[float] = (),
    initial_probs: Mapping[State, float] | None = None,
    estimate_initial_probs: bool = False,
    misclassification: Mapping[State, Mapping[State, float]] | None = None,
    misclassification_effects: effects_lib.EffectsLike | None = None,
    outcomes: Mapping[str, Mapping[State, outcomes_lib.OutcomeLike]]
    | None = None,
  ):
    """Makes a model.

    Args:
      intensities: the allowed transitions: `Intensities`, what makes them, or a
        graph in continuous time whose parameters are rates.
      effects: a formula or names of columns that act on all rates, each with
        coefficients of its own; or a mapping from names of rates to formulas,
        where a tuple of names shares coefficients.
      cuts: times at which all rates change; "effects[time [5, inf), well ->
        ill]" is the log ratio to the first period.
      initial_probs: probabilities of states at the first row of each subject,
        whose observation then counts; None where the first state is known, and
        given.
      estimate_initial_probs: whether they are fitted, from these values.
      misclassification: for states that may have a wrong label, the
        probabilities of wrong labels where a fit starts.
      misclassification_effects: as `effects`, on log odds of wrong labels, whose
        names are such as "ill | well".
      outcomes: densities by column and state, see `Outcome`; a state without one
        does not have the outcome.

    Raises:
      TypeError: an argument has a wrong type.
      ValueError: a name is unknown, or a value breaks a rule.
    """
    chain = intensities_lib.chain_of(intensities)
    raw_arguments.check_flags(estimate_initial_probs=estimate_initial_probs)
    self._spec = reading.Spec(
      chain=chain,
      effects=effects_lib.terms("effects", effects, chain.rates, "rates"),
      cuts=effects_lib.checked_cuts(cuts),
      initial=initial_states.read_probs(
        initial_probs, chain.states, estimate_initial_probs
      ),
      estimates_initial=estimate_initial_probs,
      hidden=(
        hidden := hidden_lib.read(chain.states, misclassification, outcomes)
      ),
      errors=effects_lib.terms(
        "misclassification_effects",
        misclassification_effects,
        list(hidden.errors),
        "wrong labels",
      ),
    )
    self._bound: reading.Bound | None = None

  def __repr__(self) -> str:
    chain = self._spec.chain
    return f"MultiState(states={chain.states}, rates={chain.rates})"

  @property
  def states(self) -> tuple[str, ...]:
    """The names of the states."""
    return self._spec.chain.states

  @property
  def phases(self) -> tuple[str, ...]:
    """The names of the phases: the states, or "ill[1]", "ill[2]" for one."""
    return self._spec.chain.phases

  @property
  def _columns(self) -> reading.Bound:
    """The columns and starting rates that were read with the data."""
    if self._bound is None:
      raise ValueError(
        "the model has no data yet: fit_mle(model, data), or with_data(data), "
        "reads them"
      )
    return self._bound

  @property
  def parameters(self) -> Parameters:
    """Crude rates, and coefficients of zero, by name."""
    spec, bound = self._spec, self._columns
    start: dict[str, Any] = {"rates": bound.rates}
    if bound.effects.labels:
      start |= {"effects": onp.zeros(len(bound.effects.labels))}
    if spec.estimates_initial:
      start |= {"initial_probs": initial_states.start_log_odds(spec)}
    if spec.hidden.has_errors:
      start |= {"misclassification": spec.hidden.starts}
    if bound.errors.labels:
      size = len(bound.errors.labels)
      start |= {"misclassification_effects": onp.zeros(size)}
    arrays = {
      name: structures.as_array(x, static.wide_float(), name)
      for name, x in {**start, **spec.hidden.parts()}.items()
    }
    return arrays

  @property
  def bounds(self) -> Mapping[str, Sequence[float]]:  # type: ignore[override]
    """The bounds of the parameters that are not positive."""
    real = [
      *("effects", "initial_probs", "misclassification"),
      "misclassification_effects",
    ]
    named = {name: _REAL for name in real if name in self.parameters}
    return {**named, **self._spec.hidden.bounds()}

  @property
  def labels(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]
    """The names of the numbers of each array."""
    spec, bound = self._spec, self._columns
    everything = {
      "rates": spec.chain.rates,
      "effects": bound.effects.labels,
      "initial_probs": initial_states.possible_states(spec)[1:],
      "misclassification": tuple(spec.hidden.errors),
      "misclassification_effects": bound.errors.labels,
    }
    return {k: x for k, x in everything.items() if k in self.parameters}

  @property
  def scales(self) -> Mapping[str, onp.ndarray]:  # type: ignore[override]
    """Sizes of coefficients, one over the standard deviation of a column."""
    return {
      name: x
      for name, x in self._columns.scales.items()
      if name in self.parameters
    }

  def with_data(
    self, data: panel_data.PanelData, covariates: TableLike | None = None
  ) -> tuple[Self, layouts.Layout]:
    """Returns the model and its data as arrays, with covariates read.

    Args:
      data: the data, with the columns of all effects.
      covariates: None; covariates are columns of the data.

    Raises:
      TypeError: `data` are not `PanelData`, or covariates are given.
      ValueError: the model cannot make a transition of the data, a state is
        unknown, or a column is missing, constant or collinear, or has a missing
        value: the message names subject and row.
    """
    if covariates is not None:
      raise TypeError(
        "covariates are given: those of panel data are columns of its table; "
        "name them in PanelData.from_table(..., covariates=[...])"
      )
    bound, layout = reading.bind(self._spec, panel_data.check(data))
    model = copy.copy(self)
    # Functions that are compiled for other data are not kept.
    vars(model).pop("_kept", None)
    vars(model).update(_bound=bound)
    return model, layout

  def start(
    self, data: layouts.Layout, options: Mapping[str, object]
  ) -> Parameters:
    """Returns the parameters from which a fit starts.

    Those are given rates, or the crude rates of the data if these have a larger
    likelihood: far from the data it may be flat. Fixed rates are kept.

    Args:
      data: what `with_data` returned.
      options: the options of `fit_mle`.
    """
    given = dict(self.parameters)
    chain = self._spec.chain
    fixed: Any = options.get("fixed") or ()
    if not chain.starts or "rates" in fixed:
      return given
    crude = starts.crude_rates(
      chains.with_starts(chain, {}), self._columns.data
    )
    held = onp.asarray([f"rates[{x}]" in fixed for x in chain.rates])
    rates = onp.where(held, self._columns.rates, crude)
    dtype = static.wide_float()
    other = {**given, "rates": structures.as_array(rates, dtype, "rates")}
    with user_warnings.searching():
      near, far = (self._total(x, data) for x in (other, given))
    return given if far >= near else other

  def _total(self, parameters: Parameters, data: layouts.Layout) -> float:
    """Computes the log likelihood on the host."""
    terms = self.log_likelihood_terms(parameters, data)
    return float(onp.sum(onp.asarray(static.concrete(terms))))

  def log_likelihood_terms(
    self, parameters: Parameters, data: layouts.Layout
  ) -> Array:
    """Computes the log likelihood of each subject, (s,).

    It is differentiable, and can be compiled and mapped over parameters, e.g.
    for samplers of other packages.

    Args:
      parameters: arrays and distributions, in the form of `parameters`.
      data: what `with_data` returned.
    """
    known = evaluation.evaluated(self._spec, self._columns, parameters, data)
    return likelihoods.log_terms(self._spec.chain, data, *known)

  def em_step(self, parameters: Parameters, data: layouts.Layout) -> Parameters:
    """Makes a step of the EM algorithm, for `inference.fit_em`.

    The E-step computes the expected jumps along each edge and the expected time
    in each phase between the rows, given the data; the M-step rates = jumps /
    times, or with effects a Poisson regression by Newton steps; initial
    probabilities and log odds of wrong labels from expected numbers.

    Args:
      parameters: in the form of `parameters`, known values.
      data: what `with_data` returned.

    Raises:
      NotImplementedError: outcomes have parameters, or labels effects.
      TypeError: the parameters are traced.

    Example: the same model, by jumps and times.

      >>> from phasic import inference, multistate
      >>> data = multistate.PanelData.from_table(
      ...   {
      ...     "patient": [1, 1, 1, 2, 2],
      ...     "years": [0.0, 1.0, 2.5, 0.0, 1.5],
      ...     "stage": ["well", "ill", "dead", "well", "dead"],
      ...   },
      ...   subject="patient",
      ...   time="years",
      ...   state="stage",
      ...   exact=["dead"],
      ... )
      >>> model = multistate.MultiState({"well": ["ill"], "ill": ["dead"]})
      >>> fit = inference.fit_em(model, data)
      >>> print(f"{fit.log_likelihood:.4f}")
      -3.0925

    References:
      A. Hobolth, J. L. Jensen, Summary statistics for endpoint-conditioned
        continuous-time Markov chains, J. Appl. Probab. 48, 2011.
    """
    return m_steps.em_step(self._spec, self._columns, parameters, data)

  def weights(self, data: layouts.Layout) -> ArrayLike | None:
    """Returns the weights of the subjects, ones."""
    return data.weights

  def contains(self, smaller: inference.LikelihoodModel) -> bool | None:
    """Returns whether the other model is a special case, as effects of zero.

    Models have the same states and transitions, but may have fewer effects or
    cuts, or names and coefficients that rates share.

    Args:
      smaller: the other model, which has read the same data.

    Raises:
      ValueError: the models have read different data.
    """
    if not isinstance(smaller, MultiState):
      return None
    other = (spec_of(smaller), bound_of(smaller))
    return nesting.contains((self._spec, self._columns), other)


def spec_of(model: MultiState) -> reading.Spec:
  """Returns the arguments of a model."""
  return model._spec  # noqa: SLF001


def bound_of(model: MultiState) -> reading.Bound:
  """Returns what a model has read from its data."""
  return model._columns  # noqa: SLF001
