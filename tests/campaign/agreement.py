"""What judges share: comparisons of arrays, and times that suit a law."""

from __future__ import annotations

import numpy as np

from tests.campaign import scene as scene_lib

Scene = scene_lib.Scene
Fault = scene_lib.Fault

_ORDINARY = 1e-9  # Identities of rounded values.


def agree(
  what: str,
  found: np.ndarray,
  expected: np.ndarray,
  rtol: float = _ORDINARY,
  atol: float | np.ndarray = 0.0,
) -> None:
  """Raises a fault where two arrays differ; entries with NaN are left out."""
  found, expected = np.asarray(found, float), np.asarray(expected, float)
  if found.shape != expected.shape:
    raise Fault(f"{what}: shapes {found.shape} and {expected.shape}")
  known = np.isfinite(found) & np.isfinite(expected)
  same = (found == expected) | np.isnan(found) | np.isnan(expected)
  with np.errstate(all="ignore"):
    bound = rtol * np.abs(expected) + atol
    near = known & (np.abs(found - expected) <= bound)
  wrong = np.logical_not(same | near)
  if np.any(wrong):
    i = tuple(int(k) for k in np.argwhere(wrong)[0])
    raise Fault(f"{what}: {found[i]!r} and {expected[i]!r}, at {i}")


def times(scene: Scene, law: object) -> str:
  """Draws times that suit the batch shape of a law."""
  discrete = "iscrete" in type(law).__name__ or type(law).__name__[:3] in (
    "Geo",
    "Neg",
  )
  if len(law.batch_shape):  # type: ignore[attr-defined]
    return "2.0" if discrete else scene.draw.number(0.01, 5.0)
  text = scene.draw.times(discrete)
  return f"np.asarray({text})" if text.startswith("[") else text
