"""Graphs of coalescent processes, see `models`."""

from __future__ import annotations

import numpy as onp

from phasic.graphs.core import graph as graph_lib
from phasic.graphs.models import block_counts
from phasic.graphs.models import model_checks
from phasic.internal.arrays import Integer


def kingman(
  num_samples: Integer, max_states: Integer = model_checks.MAX_STATES
) -> graph_lib.Graph:
  """Returns Kingman's coalescent; states are numbers of lineages.

  Each pair of n lineages merges at the rate `coalescence`, one by one, until
  the most recent common ancestor is found: n goes to n - 1 at n (n - 1) / 2
  times that rate.

  Args:
    num_samples: n, the number of lineages at the start, at least 2. There are
      n - 1 states.
    max_states: how many states there may be.

  Raises:
    TypeError, ValueError: num_samples is not an integer of at least 2, or there
      are more than max_states states.

  References:
    J. F. C. Kingman, The coalescent, Stoch. Process. Appl. 13, 1982.

  Example:

    >>> from phasic import graphs
    >>> graphs.models.kingman(4).states
    (4, 3, 2)
  """
  model_checks.at_least("num_samples", num_samples, 2)
  n = int(num_samples)
  model_checks.check_num_states(n, n - 1, n - 1, max_states)

  lineages = onp.arange(n, 1, -1)
  pairs = lineages * (lineages - 1) / 2.0
  states = onp.arange(n - 1)
  built = block_counts.merger_graph(
    states, states + 1, pairs, tuple(lineages.tolist())
  )
  return graph_lib.Graph._from_built(built)


def block_counting(
  num_samples: Integer, max_states: Integer = model_checks.MAX_STATES
) -> graph_lib.Graph:
  """Returns the block-counting coalescent; it counts lineages by descendants.

  A state is the tuple (a_1, ..., a_n): a_i lineages have i descendants in the
  sample. Each pair merges at the rate `coalescence`. With rewards a_i the
  time is the total length of the branches that i of the sample descend from,
  whose mutations make the i-th entry of the site frequency spectrum.

  Args:
    num_samples: n, at least 2. There is a state for each partition of n but
      one: 41 of 10, 626 of 20, 37337 of 40.
    max_states: how many states there may be.

  Raises:
    TypeError, ValueError: num_samples is not an integer of at least 2, or there
      are more than max_states states.

  References:
    Y.-X. Fu, Statistical properties of segregating sites, Theor. Popul. Biol.
      48, 1995.
    A. Hobolth, A. Siri-Jegousse, M. Bladt, Phase-type distributions in
      population genetics, Theor. Popul. Biol. 127, 2019.

  Example:

    >>> from phasic import graphs
    >>> graphs.models.block_counting(4).states
    ((4, 0, 0, 0), (2, 1, 0, 0), (0, 2, 0, 0), (1, 0, 1, 0))
  """
  model_checks.at_least("num_samples", num_samples, 2)
  states = model_checks.check_block_counts(num_samples, max_states)
  built = block_counts.block_counts(int(num_samples), states)
  return graph_lib.Graph._from_built(built)
