"""The block-counting process of Kingman's coalescent; needs Python alone."""


def initial(lineages):
  """Returns the state at the start: all lineages have one descendant."""
  return (lineages,) + (0,) * (lineages - 1)


def transitions(counts):
  """Yields the states after a state, and how many pairs of blocks lead there.

  Entry i of a state counts the blocks of i + 1 lineages; one block of all
  lineages is absorption.
  """
  sizes = [size for size, count in enumerate(counts) if count]
  for place, i in enumerate(sizes):
    for j in sizes[place:]:
      pairs = counts[i] * (counts[j] if j > i else (counts[i] - 1) / 2)
      if pairs:
        merged = list(counts)
        merged[i] -= 1
        merged[j] -= 1
        merged[i + j + 1] += 1
        yield tuple(merged), pairs
