"""What `jax.export` needs to know of the native kernel."""

from __future__ import annotations

from jax import export

from phasic.substrates.jax.internal import ffi_targets


def export_disabled_checks() -> list[export.DisabledSafetyCheck]:
  """Returns the checks that `jax.export.export` has to leave out.

  An exported program calls the kernel by its name. JAX refuses to export calls
  whose stability it cannot vouch for, unless told so. The process that loads
  the program has to have the kernel registered: there, call
  `kernel_ops.path()` first.

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
    export.DisabledSafetyCheck.custom_call(name) for name in ffi_targets.names()
  ]
