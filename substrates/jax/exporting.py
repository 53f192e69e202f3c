"""Export of programs that call the native kernel.

An exported program calls native functions by name. Importing this module
registers phasic's, so a process can run exported programs after `import
phasic.substrates.jax`. For a user's ops it must import the module that binds
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
from typing import TypeGuard

import jax
from jax import export as jax_export

from phasic.substrates.jax.internal import ffi_targets

# Register the kernel's handlers. This never raises: if the registration fails,
# calls take the portable path.
ffi_targets.load()


def export(
  fn: Callable[..., object],
  *,
  platforms: Sequence[str] | None = None,
  disabled_checks: Sequence[jax_export.DisabledSafetyCheck] = (),
) -> Callable[..., jax_export.Exported]:
  """Returns an exporter of a function, like `jax.export.export`.

  It allows calls of the native kernel.

  JAX refuses to export native calls unless its check is disabled. This function
  disables the check for the kernel and for all ops bound by `bind_native`.
  Their names and arguments are stable within a minor version.

  `jax.export.deserialize` loads the program in any process that has imported
  `phasic.substrates.jax` and the modules that bind the ops it calls. Shapes may
  be symbolic: `jax.export.symbolic_shape("b, 3")`. Programs that call Python
  functions (of `bind`) raise in other processes.

  Args:
    fn: the function, jitted or not.
    platforms: as in `jax.export.export`.
    disabled_checks: further checks to disable.

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
  jitted: jax.stages.Wrapped = fn if _is_jitted(fn) else jax.jit(fn)

  @functools.wraps(fn)
  def exported(*args: object, **kwargs: object) -> jax_export.Exported:
    checks = [*export_disabled_checks(), *disabled_checks]
    exporter = jax_export.export(
      jitted, platforms=platforms, disabled_checks=checks
    )
    return exporter(*args, **kwargs)

  return exported


def _is_jitted(fn: object) -> TypeGuard[jax.stages.Wrapped]:
  return hasattr(fn, "lower")


def export_disabled_checks() -> list[jax_export.DisabledSafetyCheck]:
  """Returns the safety checks that `jax.export.export` must disable.

  They belong to all native functions that are registered so far.

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
