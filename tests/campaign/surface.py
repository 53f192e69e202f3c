"""Calls of every public name, with arguments that may be anything.

A parameter's name says what kind of argument it takes. `unknown` returns names
that nothing here can draw: a test holds that there are none.
"""

from __future__ import annotations

from collections.abc import Iterator
import inspect
from typing import Any

from tests.campaign import kinds
from tests.cross import public_names

# Names that are not called, and why.
LEFT_OUT = {
  "config.set_num_threads": "changes the process; its rules have a test",
  "config.set_work_limit": "changes the process; its rules have a test",
  "config.use_path": "changes the process; its rules have a test",
  "distributions.register_kl": "changes the process; it has a test",
  "distributions.Distribution": "a base class",
  "distributions.TransformedPhaseType": "a base class",
  "inference.LikelihoodModel": "a base class",
}
# Their random cases are in tests/shared/multistate and tests/accuracy.
_WITH_OWN_CASES = (
  "multistate.",
  *("math.phase_type.absorption_probs", "math.phase_type.log_absorption_probs"),
  *("math.phase_type.expm_multiply", "math.phase_type.phase_expectation"),
  "math.phase_type.log_phase_expectation",
  "math.discrete_phase_type.phase_expectation",
  "math.discrete_phase_type.log_phase_expectation",
)
# Classes that the library makes, and users read.
_RESULTS = (
  *("Choice", "EmStep", "LikelihoodRatio", "Maximum", "Record", "Lumped"),
  *("SurvivalEstimate", "Unconstrained", "Uncertainty", "EventChain", "Edge"),
  *("Bootstrap", "ConfidenceInterval", "Dataset", "ModelFit", "Summary"),
  *("RegressionData", "Standardized", "Survivors"),
  *("ExpectedStatistics", "PiecewiseConstantLimit", "JumpChain", "Absorbed"),
  *("ParameterProperties", "ReparameterizationType", "Event", "ArraySpec"),
  *("BoundFunction", "MultilinearFunction", "NativeOp", "ArrayCode"),
  *("EdgeRates", "EdgeProbs", "Support", "Design"),
)


def entries(substrate: str) -> Iterator[kinds.Entry]:
  """Yields the public names of a substrate that can be called or read."""
  seen = set()
  for dotted, value in public_names.documented(substrate):
    name = dotted.lstrip(".")
    owner, _, last = name.rpartition(".")
    cls = owner.rpartition(".")[2]
    if name in seen or _is_left_out(name) or inspect.ismodule(value):
      continue
    seen.add(name)
    if last == "Fit":
      continue  # Users read it.
    if inspect.isclass(value) or inspect.isroutine(value):
      parameters = _parameters(value)
      if parameters is None:
        continue
      if not inspect.isclass(value) and cls in kinds.INSTANCES:
        target = f"({kinds.INSTANCES[cls]}).{last}"
        parameters = tuple(p for p in parameters if p[0] not in ("self", "cls"))
      else:
        target = f"ph.{name}"
      yield kinds.Entry(name, target, parameters, True)
    elif cls in kinds.INSTANCES:
      yield kinds.Entry(name, f"({kinds.INSTANCES[cls]}).{last}", (), False)


def unknown(substrate: str) -> list[str]:
  """Returns parameters that no kind of argument is known for, with names."""
  return sorted(
    {
      f"{entry.name}: {name}"
      for entry in entries(substrate)
      for name, _ in entry.parameters
      if name not in kinds.KINDS
    }
  )


def _is_left_out(name: str) -> bool:
  parts = name.split(".")
  return (
    any(part in _RESULTS for part in parts)
    or any(name == x or name.startswith(f"{x}.") for x in LEFT_OUT)
    or "interop" in parts
    or name.startswith(_WITH_OWN_CASES)
  )


def _parameters(value: Any) -> tuple[tuple[str, bool], ...] | None:
  try:
    signature = inspect.signature(value)
  except (TypeError, ValueError):
    return None
  found = []
  for p in signature.parameters.values():
    if p.kind is p.VAR_KEYWORD:
      continue
    needed = p.default is p.empty and p.kind is not p.VAR_POSITIONAL
    found.append((p.name, needed))
  return tuple(found)
