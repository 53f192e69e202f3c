"""The rows of the table: what is measured, and against what.

A section is a generator of rows that are measured together. A new row is a
line in a section; a new section is added to a group in run.py.
"""

from collections.abc import Iterator
import itertools

import jax.numpy as jnp
import numpy as onp

from benchmarks import alternatives
from benchmarks import comparison
from benchmarks import coxian
from benchmarks import jax_scan
from benchmarks import models
from benchmarks import per_time_method
from benchmarks import subject
from benchmarks import timing
from benchmarks.results import Row

BATCH = 96


def per_time(repeats: int) -> Iterator[Row]:
  """Against uniformization per time and central differences."""
  for lineages in (10, 20):
    model = models.kingman(lineages)
    times = model.times()
    methods = {
      "phasic": subject.phasic_jax(model, times),
      "per time": per_time_method.PerTimeMethod(model, times),
    }
    seconds = comparison.compare(methods, comparison.GRADIENT, repeats)
    yield Row(
      f"{model.name}, 100 times: {comparison.NAMES[comparison.GRADIENT]}",
      seconds["phasic"],
      seconds["per time"],
      per_time_method.DIFFERENCES,
    )
  # One time: the per-time method takes as many steps.
  model = models.birth_death()
  times = model.times(1, left=0.5)
  methods = {
    "phasic": subject.phasic_jax(model, times),
    "per time": per_time_method.PerTimeMethod(model, times),
  }
  seconds = comparison.compare(methods, comparison.FORWARD, repeats)
  yield Row(
    f"{model.name}, stiff, one time: {comparison.NAMES[comparison.FORWARD]}",
    seconds["phasic"],
    seconds["per time"],
    per_time_method.NAME,
  )


def sparse_batches(repeats: int) -> Iterator[Row]:
  """Batches of parameters, against scans over edges.

  Which form is fastest is found on the smaller model.
  """
  groups = {
    jax_scan.VMAPPED: (jax_scan.at_times, jax_scan.SPARSE_VMAPPED),
    f"{jax_scan.VMAPPED}, own rates": (jax_scan.at_own_rates, jax_scan.SPARSE),
    jax_scan.BY_HAND: (jax_scan.at_times, jax_scan.SPARSE),
  }
  chosen = {}
  for lineages, what in itertools.product((10, 20), comparison.NAMES):
    model = models.kingman(lineages)
    times, thetas = model.times(), models.thetas(model, BATCH)
    for group, (at, forms) in groups.items():
      if (group, what) not in chosen:
        tried = {
          name: alternatives.scan(form, model, times, thetas, at)
          for name, form in forms.items()
        }
        chosen[group, what] = comparison.fastest(tried, what)
    methods = {"phasic": subject.phasic_batch(model, times, thetas)}
    for group, (at, forms) in groups.items():
      form = forms[chosen[group, what]]
      methods[group] = alternatives.scan(form, model, times, thetas, at)
    seconds = comparison.compare(methods, what, repeats)
    for group in groups:
      yield Row(
        f"{model.name}, batch of {BATCH}: {comparison.NAMES[what]}",
        seconds["phasic"] / BATCH,
        seconds[group] / BATCH,
        f"{group}: {chosen[group, what]}",
      )


def many_times(repeats: int) -> Iterator[Row]:
  """100,000 times of one model."""
  model, count = models.kingman(), 100_000
  times = jnp.asarray(model.times(count))
  theta, last = model.theta[None], float(times[-1])
  form = jax_scan.segments
  from_table, table = jax_scan.with_table(form, model, last)
  for what in comparison.NAMES:
    scans = {
      name: alternatives.JaxMethod(
        theta, jax_scan.many_times(form, model, last, chunk), times
      )
      for name, chunk in (("all at once", count), ("in chunks", 1000))
    }
    best = comparison.fastest(scans, what)
    methods = {
      "phasic": subject.phasic_jax(model, times),
      f"JAX scan: {best}": scans[best],
      "JAX scan: weights given": alternatives.JaxMethod(
        theta, from_table, table(times)
      ),
    }
    seconds = comparison.compare(methods, what, repeats)
    ours = seconds.pop("phasic")
    for name, reference in seconds.items():
      yield Row(
        f"{model.name}, {count:,} times: {comparison.NAMES[what]}",
        ours,
        reference,
        name,
      )


def exp_and_log(repeats: int) -> Iterator[Row]:
  """A time among many of one model, against an exp and a log."""
  model, count = models.kingman(), 100_000
  times = jnp.asarray(model.times(count))
  exp_log = alternatives.JaxMethod(times, lambda x: jnp.exp(-x) + jnp.log(x))
  methods = {"phasic": subject.phasic_jax(model, times), "exp, log": exp_log}
  seconds = timing.interleaved(
    {name: m.log_prob for name, m in methods.items()}, repeats
  )
  yield Row(
    f"{model.name}, {count:,} times: log density, each time",
    seconds["phasic"] / count,
    seconds["exp, log"] / count,
    "an exp and a log",
    "A time takes an exponential, a logarithm and a polynomial.",
  )


def dense_models(repeats: int) -> Iterator[Row]:
  """A batch of dense models, and small models one at a time."""
  layouts = {"dense": jax_scan.VMAPPED, "one product": jax_scan.BY_HAND}
  for make, batch in (
    (models.dense, BATCH),
    (models.erlang, 1),
    (lambda: models.dense(10), 1),
  ):
    model = make()
    times, thetas = model.times(), models.thetas(model, batch)
    forms = dict(jax_scan.DENSE)
    if batch == 1:
      forms |= jax_scan.SPARSE
      # Without phasic's axis of length one.
      ours = subject.phasic_jax(model._replace(theta=thetas[0]), times)
    else:
      ours = subject.phasic_batch(model, times, thetas)
    scans = {
      name: alternatives.scan(form, model, times, thetas)
      for name, form in forms.items()
    }
    for what in comparison.NAMES:
      best = comparison.fastest(scans, what)
      seconds = comparison.compare(
        {"phasic": ours, "scan": scans[best]}, what, repeats
      )
      shape = f"batch of {batch}" if batch > 1 else "alone"
      yield Row(
        f"{model.name}, {shape}: {comparison.NAMES[what]}",
        seconds["phasic"] / batch,
        seconds["scan"] / batch,
        f"{layouts[best] if batch > 1 else 'JAX scan'}: {best}",
      )


def regression(repeats: int) -> Iterator[Row]:
  """Many Coxian models with one time each."""
  data = coxian.regression()
  methods = {
    "phasic": subject.phasic_coxian(data),
    "scan": alternatives.JaxMethod(
      data.rates, coxian.jax_scan(data), jnp.asarray(data.times)
    ),
  }
  seconds = comparison.compare(methods, comparison.GRADIENT, repeats)
  size = len(data.times)
  what = comparison.NAMES[comparison.GRADIENT]
  yield Row(
    f"{size:,} Coxian-4, one time each: {what}",
    seconds["phasic"] / size,
    seconds["scan"] / size,
    jax_scan.VMAPPED,
  )


def censored(repeats: int) -> Iterator[Row]:
  """Half of the observations right-censored, against log f at all times."""
  model = models.kingman()
  for count in (100, 10_000):
    times = model.times(count)
    upper = onp.where(onp.arange(count) % 2 == 0, times, onp.inf)
    mixed = subject.phasic_observations(model, times, upper)
    exact = subject.phasic_jax(model, times)
    for what in comparison.NAMES:
      seconds = timing.interleaved(
        {
          "mixed": getattr(mixed, what),
          "exact": getattr(exact, what),
        },
        repeats,
        budget=4.0,
      )
      yield Row(
        f"{model.name}, {count:,} times, half censored: "
        f"{comparison.NAMES[what]}",
        seconds["mixed"],
        seconds["exact"],
        "all exact",
        "An observation has two ends, which makes twice as many times to go "
        "through, and the survival function has sums of its own.",
      )


def adjoint(repeats: int) -> Iterator[Row]:
  """Value and gradient, against the value alone."""
  for model in (
    models.kingman(),
    models.kingman(20),
    models.dense(10),
    models.erlang(),
  ):
    method = subject.phasic_jax(model, model.times())
    seconds = timing.interleaved(
      {what: getattr(method, what) for what in comparison.NAMES},
      repeats,
      budget=4.0,
    )
    yield Row(
      f"{model.name}, 100 times: {comparison.NAMES[comparison.GRADIENT]}",
      seconds[comparison.GRADIENT],
      seconds[comparison.FORWARD],
      "log density alone",
      "A gradient goes back through all steps, and sums a product for each "
      "transition.",
    )
