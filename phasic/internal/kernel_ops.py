"""The native kernel's functions as differentiable array functions.

Where the kernel cannot run, the portable path computes them.

Operands are always five arrays of one dtype, float32 or float64:
initial_probs (..., p), subgenerator (..., p, p), exit_rates (..., p) or
(..., 0) if absent, prob_zero (..., 1) or (..., 0) if absent, times (..., n).
All have the same number of batch dimensions, each 1 or the common size.

With `discrete` the subgenerator is a matrix of transition probabilities,
exit_rates are probabilities of absorption and times are counts of steps.

A sparse model has the parameters of its edges (..., d) in place of the
subgenerator, and three more arrays, `edges`: indices int32 (..., 2, m), of
sources and targets, constants (..., m) or (..., 0) if absent, coefficients
(..., m, d) or (..., m, 0) if absent. If it has exit_rates e, they are weights of
phases, and the only functions are the density alpha exp(S t) e, in steps
alpha T^(k-1) e, and its logarithm. The derivatives in e are the probabilities of
the phases.

If different functions are needed at different times, one more array, `kinds`,
int32 (..., n), replaces the single kind: see native/kernel/api/phase_type.h.

The kernel runs on the CPU. If JAX's default device is another one, JAX takes the
portable path. TensorFlow copies; on a TPU its users must choose the portable
path. The path is chosen when a call is traced: programs that `jax.jit` or
`tf.function` has compiled keep it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from phasic.internal import kernel_common
from phasic.internal import phase_type_calls
from phasic.internal.arrays import Array

KINDS = kernel_common.KINDS
EDGES_ARE_FIXED = kernel_common.EDGES_ARE_FIXED

_kernel = phase_type_calls.KERNEL
set_path = _kernel.set_path
warn_if_missing = _kernel.warn_if_missing
status = _kernel.status
status_message = _kernel.status_message
measure_elimination = _kernel.measure_elimination
meets_constraint = _kernel.meets_constraint
model_meets_constraints = _kernel.model_meets_constraints
edges_meet_constraints = _kernel.edges_meet_constraints
# `forward` and `adjoint` always run on the kernel, and `portable` always takes
# the portable path. For their argument `fixed`, pass the result of the function
# `fixed` below.
forward = phase_type_calls.forward
adjoint = phase_type_calls.adjoint
portable = phase_type_calls.portable


def path_of_call() -> str:
  """Returns "kernel" or "portable", the code path that a call takes now."""
  if _kernel.can_run and _kernel.is_suitable():
    return "kernel"
  return _kernel.path_of_call()


def path() -> str:
  """Returns the current code path, "kernel" or "portable".

  Example: the portable path is always there.

    >>> from phasic import config
    >>> with config.use_path("portable"):
    ...   config.path()
    'portable'
  """
  return _kernel.path()


def precision() -> str:
  """Returns the dtype in which the current code path computes.

  It is "float64", for float32 arguments too. JAX's portable path with 64-bit
  numbers switched off has "float32".

  Example:

    >>> from phasic import config
    >>> with config.use_path("kernel"):
    ...   config.precision()
    'float64'
  """
  return _kernel.precision()


def unavailable_reason() -> str:
  """Returns why the native kernel cannot run and what to do; "" if it can.

  Example:

    >>> from phasic import config
    >>> config.unavailable_reason() or "the kernel runs"
    'the kernel runs'
  """
  return _kernel.unavailable_reason()


def use_path(choice: str) -> kernel_common.PathChoice:
  """Chooses the code path, from now on or for a `with` block.

  The choice holds in all threads. Programs that `jax.jit` or `tf.function` has
  compiled keep the path that they were traced with.

  Args:
    choice: "kernel", "portable", or "auto", which is the kernel if it can run.

  Returns:
    A context manager that restores the earlier choice at the end of its block.

  Raises:
    ValueError: `choice` is not one of these.
    RuntimeError: `choice` is "kernel" and it cannot run; the message has the
      reason.

  Example: a choice for a block; a call without `with` chooses from now on.

    >>> from phasic import config
    >>> before = config.path()
    >>> with config.use_path("portable"):
    ...   config.path()
    'portable'
    >>> config.path() == before
    True
  """
  return kernel_common.PathChoice(_kernel, choice)


def num_threads() -> int:
  """Returns the largest number of threads that a kernel call may use.

  Raises:
    RuntimeError: the kernel cannot run.

  Example:

    >>> from phasic import config
    >>> 1 <= config.num_threads() <= 256
    True
  """
  return _kernel.num_threads()


def set_num_threads(count: int) -> None:
  """Sets the largest number of threads per call, including the caller's.

  Threads share the models of a batch; the number does not change any bit of the
  results. The default is the environment variable PHASIC_NUM_THREADS, or the
  number of processors up to eight. The process has one setting, and a second
  one for TensorFlow's ops. JAX uses XLA's threads, which may be fewer.

  Args:
    count: from 1 to 256; 1 runs all work on the calling thread.

  Raises:
    TypeError: `count` is not an integer.
    ValueError: `count` is out of range.
    RuntimeError: the kernel cannot run.

  Example: one thread for a while.

    >>> from phasic import config
    >>> before = config.num_threads()
    >>> config.set_num_threads(1)
    >>> config.num_threads()
    1
    >>> config.set_num_threads(before)
  """
  _kernel.set_num_threads(count)


def work_limit() -> float | None:
  """Returns the limit on the work of one model, in seconds; None for no limit.

  Raises:
    RuntimeError: the kernel cannot run.

  Example:

    >>> from phasic import config
    >>> print(config.work_limit())
    60.0
  """
  return _kernel.work_limit()


def set_work_limit(seconds: float | None) -> None:
  """Sets the limit on the work that the values of one model may take.

  A value whose steps would take more is NaN at once, without being computed,
  and an eager call warns of it. So are all values of a model whose times would
  take more together; each model of a batch has the limit for itself. The
  estimate is the number of multiply-adds times 0.6 ns, or 1.2 ns in models of
  millions of transitions. In models of more than 616 phases gradients count six
  times and tangents four times; smaller models have a tenth of the limit. The
  process has one setting, and a second one for TensorFlow's ops, which a
  program of JAX or TensorFlow reads when it runs.

  Args:
    seconds: > 0, at first 60; None for no limit. A call in NumPy can be
      interrupted by a signal, e.g. by Ctrl-C.

  Raises:
    TypeError: `seconds` is not a number.
    ValueError: `seconds` is not positive, or not finite.
    RuntimeError: the kernel cannot run.

  Example: no limit for a while.

    >>> from phasic import config
    >>> before = config.work_limit()
    >>> config.set_work_limit(None)
    >>> print(config.work_limit())
    None
    >>> config.set_work_limit(before)
  """
  _kernel.set_work_limit(seconds)


def phase_type(
  kind: str,
  operands: Sequence[Array],
  fallback: Callable[..., Array],
  edges: Sequence[Array] = (),
  kinds: Array | None = None,
  discrete: bool = False,
) -> Array:
  """Computes a phase-type function, one of `KINDS`, at the given times.

  Args:
    kind: one of `KINDS`.
    operands: the five operands.
    fallback: the portable function, called as
      `fallback(kind, *operands, *edges)`, with `kinds` as the last one if
      there are any.
    edges: the three arrays of a sparse model.
    kinds: the kind of function for each time, in place of `kind`; or None.
    discrete: whether time is discrete; `fallback` must match.

  Returns:
    An array (batch..., n).

  Raises:
    ValueError: shapes of the operands do not fit.
    TypeError: dtypes of the operands do not fit. If only TensorFlow's running
      op can detect either, it raises InvalidArgumentError.
    NotImplementedError: a derivative of an order above three is computed on the
      kernel's path, in JAX or NumPy.
  """
  more = fixed(edges, kinds)
  if path_of_call() == "portable":
    return portable(kind, operands, fallback, more)
  return forward(kind, [operands], fallback, more, discrete)


def quantiles(
  form: str,
  operands: Sequence[Array],
  fallback: Callable[..., tuple[Array, ...]],
  edges: Sequence[Array] = (),
  discrete: bool = False,
) -> tuple[Array, ...]:
  """Computes quantiles inf{t: F(t) >= u}; they have no derivatives.

  Args:
    form: the form of the numbers x in place of times: "cdf" for u in [0, 1],
      "log_cdf" for log u, "log_survival" for log(1 - u), or "folded" for
      -log(1 - u) where it is positive, else log u.
    operands: the five operands, with x as the times.
    fallback: the portable function, called as
      `fallback(form, discrete, *operands, *edges)`.
    edges: the three arrays of a sparse model.
    discrete: whether time is discrete.

  Returns:
    The quantiles, (batch..., n), and with which times and kinds (int32) their
    derivatives are evaluated: log(1 - F) or log F at the quantile. Where no
    derivative exists, at inf and at the end of an atom, it is a typical time.
    Inside an atom, where derivatives are zero, it is one, and the kind nothing.

  Raises:
    ValueError: shapes of the operands do not fit.
  """
  if path_of_call() == "portable":
    return fallback(form, discrete, *operands, *fixed(edges, None))
  return phase_type_calls.quantiles(form, operands, fallback, edges, discrete)


def statistics(
  kind: str,
  operands: Sequence[Array],
  weights: Array,
  fallback: Callable[..., tuple[Array, ...]],
  edges: Sequence[Array] = (),
  kinds: Array | None = None,
) -> tuple[Array, ...]:
  """Computes expected path statistics given observed times.

  Args:
    kind: one of `KINDS`.
    operands: the five operands.
    weights: weights of the times, (batch..., n).
    fallback: the portable function, called as
      `fallback(kind, *operands, weights, *edges)`, with `kinds` as the last
      one if there are any.
    edges: the three arrays of a sparse model.
    kinds: as in `phase_type`.

  Returns:
    starts and sojourns (batch..., p), jumps (batch..., p, p), or (batch..., m)
    for a sparse model, exits (batch..., p) and atom (batch..., 1).

  Raises:
    NotImplementedError: a derivative is computed; in a graph of TensorFlow the
      derivative is NaN instead.
    ValueError: as in `phase_type`.
    TypeError: as in `phase_type`.
  """
  more = fixed(edges, kinds)
  if path_of_call() == "portable":
    return fallback(kind, *operands, weights, *more)
  return tuple(
    phase_type_calls.statistics(kind, operands, weights, fallback, more)
  )


def fixed(edges: Sequence[Array], kinds: Array | None) -> tuple[Array, ...]:
  """Collects the non-differentiable arrays of a call: edges, then kinds."""
  return tuple(edges) if kinds is None else (*edges, kinds)
