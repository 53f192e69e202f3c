"""Rows of the table that compare phasic with what the machine can do."""

from collections.abc import Iterator
import math

from benchmarks import loop_cost
from benchmarks import models
from benchmarks import roof
from benchmarks import subject
from benchmarks import timing
from benchmarks.results import Row

# Models of one pass over the edges, side by side in a vector's lanes.
_LANES = 8
# Of a sequence that is stepped through: later on what is left may follow from
# earlier steps, or matrices may be squared.
_MAX_STEPS = 500.0


def _steps(model: models.Model, last: float) -> float:
  """The length of the sequence for a time: nine deviations past the mean."""
  mean = subject.uniformization_rate(model) * last
  return mean + 9.0 * math.sqrt(mean)


def roofs(repeats: int) -> Iterator[Row]:
  """A step of the sequence, against the machine's limit.

  What a step takes is the difference between a time and half of it, over the
  difference in steps: reading the model and all else that is done once does
  not count. A step's multiply-adds are one for each transition, and two for
  each phase: what stays and what leaves.
  """
  machine = roof.Roof()
  for make, sparse, batch in (
    (models.kingman, True, 96),
    (lambda: models.kingman(20), True, 16),
    (models.dense, False, 96),
    (lambda: models.dense(200), False, 16),
  ):
    model = make()
    p = len(model.states)
    thetas = models.thetas(model, batch)
    # Of one q, so that all have one number of steps.
    thetas[:] = model.theta
    last = model.times(1)
    rate = subject.uniformization_rate(model)
    last *= min(1.0, _MAX_STEPS / (rate * last[0]))
    whole = subject.phasic_batch(model, last, thetas)
    half = subject.phasic_batch(model, last / 2.0, thetas)
    seconds = timing.interleaved(
      {"whole": whole.log_prob, "half": half.log_prob, **machine.functions},
      repeats,
      target=0.03,
      budget=4.0,
    )
    steps = _steps(model, last[0]) - _steps(model, last[0] / 2.0)
    step = (seconds["whole"] - seconds["half"]) / (steps * batch)
    count = int((model.rates != 0.0).any(axis=2).sum()) + 2 * p
    stored = 8 * count * (_LANES if sparse else 1)
    least, binding = roof.seconds_at_least(
      count, stored, machine.rates(seconds)
    )
    form = "sparse" if sparse else "dense"
    yield Row(
      f"{model.name}, {form}, batch of {batch}: a step",
      step,
      least,
      f"the machine's limit: {binding}",
      "A step also loads and stores its state, and an entry of a sparse model "
      "takes two loads; the limit counts one load for each multiply-add.",
    )


def roof_rates(repeats: int) -> dict[str, str]:
  """The machine's limits, in words."""
  machine = roof.Roof()
  rates = machine.rates(timing.interleaved(machine.functions, repeats))
  return {
    "vectors": f"{machine.doubles_per_vector} doubles",
    "one core's multiply-adds": f"{2e-9 * rates[roof.FMA]:.3g} GF/s",
    "loads from L1": f"{1e-9 * rates['L1']:.3g} GB/s",
    "loads from L2": f"{1e-9 * rates['L2']:.3g} GB/s",
  }


def loop_call(repeats: int) -> Iterator[Row]:
  """Calls in a jitted loop over bare ones."""
  seconds = loop_cost.marginal(timing.interleaved(loop_cost.loops(), repeats))
  yield Row(
    "one phase, one time: a call in a jitted loop",
    seconds["phasic"],
    seconds["bare"],
    "an empty ffi_call",
    "phasic reads and checks the model and computes its density; the empty call "
    "does nothing.",
  )
  yield Row(
    "a user's native op: a call in a jitted loop",
    seconds["op"],
    seconds["bare of one"],
    "an empty ffi_call",
    "Each call of an op is checked against the op's declaration.",
  )
