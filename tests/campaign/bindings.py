"""Judges of functions that users bind, with both Jacobian products."""

from __future__ import annotations

import numpy as np

from tests.campaign import scene as scene_lib
from tests.campaign import ways
from tests.campaign.agreement import agree

# Functions of an array x, and their slopes.
_FUNCTIONS = (
  ("np.exp(x)", "np.exp(x)"),
  ("1.0 + x * x", "2.0 * x"),
  ("np.logaddexp(0.0, x)", "1.0 / (1.0 + np.exp(-x))"),
)
_LINEAR = (
  ("np.cumsum(x, axis=-1)", "np.cumsum(c[..., ::-1], axis=-1)[..., ::-1]"),
  ("x[..., ::-1] * w", "(c * w)[..., ::-1]"),
  ("x @ np.outer(w, w * w)", "c @ np.outer(w * w, w)"),
)


def bound(scene: scene_lib.Scene) -> None:
  """A law of rates by a function with rules has the slopes of the chain rule."""
  draw = scene.draw
  batching = draw.one_of(("expand", "sequential"))
  scene.let("w", "np.asarray([0.5, 1.25, 2.0])")
  if draw.is_likely(0.7):
    f, slope = draw.one_of(_FUNCTIONS)
    scene.let("s", f"lambda x, v: ({slope}) * v")
    scene.let("back", "s")
    rules = (
      "jvp=lambda args, tangents: s(args[0], tangents[0]), "
      "vjp=lambda args, c: (back(args[0], c),)"
    )
    make = "bind"
  else:
    f, transpose = draw.one_of(_LINEAR)
    scene.let("s", f"lambda _, x: {f}")
    scene.let("back", f"lambda _, c: {transpose}")
    rules = "transpose=lambda c: back(None, c)"
    make = "bind_linear"
  own = f"binding.{make}(lambda x: {f}, {rules}, batching={batching!r})"
  scene.let("h", own)
  rows = [[float(draw.number(0.2, 1.5)) for _ in range(3)] for _ in range(2)]
  scene.let("rows", f"np.asarray({rows})")
  scene.let("x", "rows[0]")
  scene.let("dx", f"np.asarray({draw.random.normals((3,)).tolist()})")
  scene.let("t", f"np.asarray({draw.number(0.15, 4.0)}, 'float64')")
  law, call = draw.one_of(ways.OF_RATES), draw.one_of(ways.OF_LAW)
  scene.let("law", f"lambda r: {law}.{call}")
  scene.let("own", "lambda x: law(h(x))")
  scene.let("r", f.join(("(lambda x: ", ")(x)")))
  agree("value", scene.value("own(x)"), scene.value("law(r)"), 1e-12)
  there = scene.value("pm.jvp(law, (r,), (s(x, dx),))[1]")
  size = scene.value("pm.value_and_gradient(law, r)[1]")
  within = 1e-11 * (1.0 + float(np.max(np.abs(size))))
  found = scene.value("pm.jvp(own, (x,), (dx,))[1]")
  agree("forward", found, there, 1e-10, within)
  scene.let("c", "np.asarray(pm.value_and_gradient(law, r)[1])")
  there = scene.value("np.asarray(back(x, c))")
  found = scene.value("pm.value_and_gradient(own, x)[1]")
  agree("reverse", found, there, 1e-10, within)
  alone = np.stack([scene.value(f"own(rows[{i}])") for i in range(2)])
  way = draw.one_of(("mapped", "scanned"))
  found = scene.value(f"objects.{way}({scene.substrate!r}, own, rows)")
  agree(way, found, alone, 1e-12)


JUDGES = (bound,)
