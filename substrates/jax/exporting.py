"""Programs that leave the process: `jax.export` with the native kernel in them.

An exported program calls native functions by their names. Importing this module
registers ours, so that `import phasic.substrates.jax` is all that a process
needs to run what another has exported; for a user's own ops it is the module
that binds them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
from typing import Any

import jax
from jax import export as jax_export

from phasic.substrates.jax.internal import ffi_targets

# Fails for nobody: where it cannot be done, the portable path is taken.
ffi_targets.load()


def export(
  fn: Callable[..., Any],
  *,
  platforms: Sequence[str] | None = None,
  disabled_checks: Sequence[jax_export.DisabledSafetyCheck] = (),
) -> Callable[..., jax_export.Exported]:
  """Returns what exports a function of JAX arrays: `jax.export.export` for us.

  JAX refuses to export calls whose stability it cannot vouch for, unless told
  so: this does it, for our kernel and for all ops bound by `bind_native`. Their
  names and what they take stay the same within a minor version.

  The program is loaded by `jax.export.deserialize` in any process that has
  imported `phasic.substrates.jax`, and the modules that bind the ops it calls.
  Shapes may be symbolic: `jax.export.symbolic_shape("b, 3")`. Programs with
  functions of Python's, those of `bind`, cannot leave their process, and say so
  when they are called elsewhere.

  Args:
    fn: the function, jitted or not.
    platforms: as `jax.export.export` has it.
    disabled_checks: further checks to leave out.

  Example:
    >>> import jax
    >>> from phasic.substrates import jax as ph
    >>> def log_prob(rate, t):
    ...   return ph.distributions.Erlang(2, rate).log_prob(t)
    >>> exported = ph.export(jax.grad(log_prob))(1.0, 1.0)
    >>> data = exported.serialize()
    >>> print(f"{float(jax.export.deserialize(data).call(1.0, 1.0)):.3f}")
    1.000
  """
  jitted: Any = fn if hasattr(fn, "lower") else jax.jit(fn)

  @functools.wraps(fn)
  def exported(*args: Any, **kwargs: Any) -> jax_export.Exported:
    checks = [*export_disabled_checks(), *disabled_checks]
    exporter = jax_export.export(
      jitted, platforms=platforms, disabled_checks=checks
    )
    return exporter(*args, **kwargs)

  return exported


def export_disabled_checks() -> list[jax_export.DisabledSafetyCheck]:
  """Returns the checks that `jax.export.export` has to leave out.

  They are those of all native functions known so far.

  Example:
    >>> import jax
    >>> from phasic.substrates.jax.internal import exporting
    >>> exported = jax.export.export(
    ...   jax.jit(lambda x: 2 * x),
    ...   disabled_checks=exporting.export_disabled_checks(),
    ... )(1.0)
    >>> float(exported.call(3.0))
    6.0
  """
  return [
    jax_export.DisabledSafetyCheck.custom_call(name)
    for name in ffi_targets.names()
  ]
