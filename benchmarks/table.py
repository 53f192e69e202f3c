"""The rows of the table: what is measured, and against what.

A section is a generator of rows that are measured together. A new row is a
line in a section; a new section is added to SECTIONS in run.py.
"""

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as onp

from benchmarks import alternatives
from benchmarks import comparison
from benchmarks import coxian
from benchmarks import jax_scan
from benchmarks import memory
from benchmarks import models
from benchmarks import per_time_method
from benchmarks import process_memory
from benchmarks import results
from benchmarks import subject
from benchmarks import timing
from benchmarks.results import Row

BATCH = 96


def per_time(repeats: int) -> Iterator[Row]:
  """Against uniformization per time and central differences."""
  for lineages, floor, goal in ((10, 100, 200), (20, 140, 250)):
    model = models.kingman(lineages)
    times = model.times()
    methods = {
      "phasic": subject.phasic_jax(model, times),
      "per time": per_time_method.PerTimeMethod(model, times),
    }
    seconds = comparison.compare(methods, comparison.GRADIENT, repeats)
    yield comparison.speedup(
      f"{model.name}, 100 times: {comparison.NAMES[comparison.GRADIENT]}",
      *seconds.values(),
      "per time, differences",
      floor,
      goal,
    )
  # One time: the per-time method takes as many steps.
  model = models.birth_death()
  times = model.times(1, left=0.5)
  methods = {
    "phasic": subject.phasic_jax(model, times),
    "per time": per_time_method.PerTimeMethod(model, times),
  }
  seconds = comparison.compare(methods, comparison.FORWARD, repeats)
  yield comparison.speedup(
    f"{model.name}, stiff, one time: {comparison.NAMES[comparison.FORWARD]}",
    *seconds.values(),
    "per time",
  )


def sparse_batches(repeats: int) -> Iterator[Row]:
  """Batches of parameters, against scans over edges.

  Which form is fastest is found on the smaller model.
  """
  bounds = {
    (10, comparison.FORWARD): (24, 35),
    (10, comparison.GRADIENT): (26, 35),
    (20, comparison.FORWARD): (25, 35),
    (20, comparison.GRADIENT): (40, 60),
  }
  groups = {
    "JAX scan": (jax_scan.at_times, jax_scan.SPARSE),
    "JAX scan, vmapped": (jax_scan.at_times, jax_scan.SPARSE_VMAPPED),
    "JAX scan, own rates": (jax_scan.at_own_rates, jax_scan.SPARSE),
  }
  chosen = {}
  for (lineages, what), (floor, goal) in bounds.items():
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
      yield comparison.speedup(
        f"{model.name}, batch of {BATCH}: {comparison.NAMES[what]}",
        seconds["phasic"] / BATCH,
        seconds[group] / BATCH,
        f"{group}, {chosen[group, what]}",
        floor,
        goal,
      )


def many_times(repeats: int) -> Iterator[Row]:
  """100,000 times of one model."""
  model, count = models.kingman(), 100_000
  times = jnp.asarray(model.times(count))
  theta, last = model.theta[None], float(times[-1])
  form = jax_scan.segments
  from_table, table = jax_scan.with_table(form, model, last)
  ours = {}
  for what, floor, goal in (
    (comparison.FORWARD, 120, 300),
    (comparison.GRADIENT, 100, 250),
  ):
    scans = {
      name: alternatives.JaxMethod(
        theta, jax_scan.many_times(form, model, last, chunk), times
      )
      for name, chunk in (("all at once", count), ("in chunks", 1000))
    }
    best = comparison.fastest(scans, what)
    methods = {
      "phasic": subject.phasic_jax(model, times),
      f"JAX scan, {best}": scans[best],
      "JAX scan, table given": alternatives.JaxMethod(
        theta, from_table, table(times)
      ),
    }
    seconds = comparison.compare(methods, what, repeats)
    ours[what] = seconds.pop("phasic")
    for name, reference in seconds.items():
      asked = () if "table" in name else (floor, goal)
      yield comparison.speedup(
        f"{model.name}, {count} times: {comparison.NAMES[what]}",
        ours[what],
        reference,
        name,
        *asked,
      )
  exp_log = alternatives.JaxMethod(times, lambda x: jnp.exp(-x) + jnp.log(x))
  methods = {"phasic": subject.phasic_jax(model, times), "exp, log": exp_log}
  seconds = timing.interleaved(
    {name: m.log_prob for name, m in methods.items()}, repeats
  )
  yield Row(
    f"{model.name}, {count} times: cost per time",
    results.duration(seconds["phasic"] / count),
    results.duration(seconds["exp, log"] / count),
    seconds["phasic"] / seconds["exp, log"],
    floor=6,
    goal=2,
    at_most=True,
    reference_name="an exp and a log",
  )


def dense_models(repeats: int) -> Iterator[Row]:
  """A batch of dense models, and small models one at a time."""
  for make, batch, floor, goal in (
    (models.dense, BATCH, 3, 5),
    (models.erlang, 1, 1, 2),
    (lambda: models.dense(10), 1, 1, 2),
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
      yield comparison.speedup(
        f"{model.name}, {shape}: {comparison.NAMES[what]}",
        seconds["phasic"] / batch,
        seconds["scan"] / batch,
        f"JAX scan, {best}",
        floor,
        goal,
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
  yield comparison.speedup(
    f"{size} Coxian-4, one time each: {comparison.NAMES[comparison.GRADIENT]}",
    seconds["phasic"] / size,
    seconds["scan"] / size,
    "JAX scan, vmapped",
    5,
    20,
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
        f"{model.name}, {count} times, half censored: {comparison.NAMES[what]}",
        results.duration(seconds["mixed"]),
        results.duration(seconds["exact"]),
        seconds["mixed"] / seconds["exact"],
        floor=1.2,
        goal=1.05,
        at_most=True,
        reference_name="all exact",
      )


def adjoint(repeats: int) -> Iterator[Row]:
  """Value and gradient over value alone."""
  for model, floor, goal in (
    (models.kingman(), 3.8, 2.5),
    (models.kingman(20), 3.8, 2.5),
    (models.dense(10), 2.0, 1.5),
    (models.erlang(), 2.0, 1.5),
  ):
    method = subject.phasic_jax(model, model.times())
    seconds = timing.interleaved(
      {what: getattr(method, what) for what in comparison.NAMES},
      repeats,
      budget=4.0,
    )
    yield Row(
      f"{model.name}: {comparison.NAMES[comparison.GRADIENT]} over log f",
      results.duration(seconds[comparison.GRADIENT]),
      results.duration(seconds[comparison.FORWARD]),
      seconds[comparison.GRADIENT] / seconds[comparison.FORWARD],
      floor=floor,
      goal=goal,
      at_most=True,
      reference_name="log f alone",
    )


def peak_memory(repeats: int) -> Iterator[Row]:
  """Memory above the baseline, in a process of its own."""
  del repeats
  if not process_memory.available():
    return
  for name, (_, floor, goal) in memory.MODELS.items():
    megabytes = memory.peak(name) / 1e6
    yield Row(
      f"{name}, peak memory: {comparison.NAMES[comparison.GRADIENT]}",
      f"{megabytes:.3g} MB",
      "",
      megabytes,
      unit=" MB",
      floor=floor,
      goal=goal,
      at_most=True,
    )
