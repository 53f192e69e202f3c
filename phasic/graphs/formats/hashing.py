"""A hash of a graph's arrays that is equal in all processes."""

from __future__ import annotations

import hashlib
import json

import numpy as onp

from phasic.graphs.parts import contents


def content_hash(graph: contents.Contents) -> str:
  """Returns the SHA-256 hash of a graph, 64 hexadecimal digits.

  See `Graph.content_hash`.
  """
  p, d = onp.shape(graph.initial_coefficients)
  facts = {
    "format": "phasic.graph 1",
    "num_phases": p - 1,
    "num_edges": len(graph.sources),
    "num_params": d,
    "parameter_names": graph.parameter_names,
    "causes": graph.causes,
    "discrete": graph.discrete,
  }
  digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
  for indices in (graph.sources, graph.targets):
    digest.update(onp.ascontiguousarray(indices, "<i4").tobytes())
  for numbers in (
    graph.constants,
    graph.coefficients,
    graph.initial_constants,
    graph.initial_coefficients,
  ):
    # Adding zero turns -0 into 0, so that both have one hash.
    digest.update(onp.ascontiguousarray(numbers + 0.0, "<f8").tobytes())
  return digest.hexdigest()
