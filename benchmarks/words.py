"""The words of the pages of figures, which no run changes."""

from typing import NamedTuple


class Page(NamedTuple):
  """The words of a page.

  Attributes:
    name: of the page and of its picture, without suffixes.
    introduction: the title, and what the page is about.
    method: how it is measured.
  """

  name: str
  introduction: str
  method: str


BENCHMARKS = Page(
  "benchmarks",
  """\
# Benchmarks

How fast phasic is next to other code for the same numbers, in JAX, C++, SciPy
and TensorFlow Probability. "Times faster" is the other's time divided by phasic's: above one phasic
is faster, below one it is slower, and a sentence says why. "Overheads" compares
with less work: a gradient with a value, a call with an empty one.

[Other libraries](benchmarks_peers.md) that users may take instead have a page
of their own, and so has [how cost grows](benchmarks_cost.md).
""",
  """\
## Method

- `make bench-page` measures all this and writes the page.
- One process, one thread, pinned to one core, phasic and others alike. What is
  compared takes turns; times are medians of CPU time over all rounds, or fewer
  where a call takes seconds.
- Before they are timed, methods must agree: on values and on gradients.
- Each call has parameters of its own, which differ by some 1e-15 from those of the
  call before: phasic would go on from what it has kept of a large model.
- Models are linear in two parameters. "Kingman-n" is the block-counting
  process of n lineages; "dense-p" has all p (p - 1) transitions; stiff
  "birth-death-100" has rates from 1e3 to 1e-2. Times go to where 1e-3 of the
  mass is left. Times of a batch are per model.
- "C++, each time by itself" is uniformization, compiled with phasic's flags; its
  gradients are central differences.
- "JAX scan" is uniformization in JAX, one scan over the sequence for all
  times, and its gradient by reverse mode. Several ways to write the step are
  tried in the run (dense: a matrix per model, or one product for all models;
  sparse: edges with a segment sum, or edges by rank into each phase), and the
  fastest is shown. "By jax.vmap" is code for one model under `jax.vmap`. With
  "models laid out by hand" the code is written for a batch, models innermost or
  all in one product, which `jax.vmap` does not do.
- A scan has Poisson weights that are made beforehand, for a rate above all that
  the parameters may have. With "own rates" each model has its rate and its
  weights, as in phasic, and nothing has to be known of the parameters
  beforehand; the weights are not differentiated. Of 100,000 times the weights
  are made in each call, as by phasic, or with "weights given" beforehand.
- The machine's limit: a multiply-add takes at least one factor from a cache, so
  that a step's least time is the larger of multiply-adds over their peak and of
  eight bytes each over the load rate of the cache that holds the model (eight
  models side by side where they are sparse). Peaks are measured in turns with
  the step.
- A call in a loop: what an iteration takes, less an empty loop's.
- An import: in a process of its own, with compiled bytecode in a cache.
""",
)

PEERS = Page(
  "benchmarks_peers",
  """\
# Against other libraries

How fast phasic is next to libraries that users may take instead: the package
that is called phasic on PyPI, which is another project, PhaseGen, SciPy,
TensorFlow Probability, JAX and JAXbind. "Times faster" is the other's time
divided by phasic's: above one phasic is faster, below one it is slower, and a
sentence says why. "Overheads" compares phasic with less work of its own.

[What each package can do](about/comparison.md) is another page.
""",
  """\
## Method

- `make bench-peers` measures all this and writes the page.
- Each library has a process of its own, with one thread, and all are pinned to
  one core. The processes of phasic and of the other take turns. Times are
  medians of wall times; each is of at least 20 ms of calls, with Python's
  garbage collector off.
- Values are compared before times. If they differ the run ends with an error.
- PyPI's phasic approximates densities with a step that it chooses: they may
  differ by 1 % of the largest density, and the gradient of its log likelihood by
  3 %. Means and deviations of 20,000 samples may differ by 3 %. All other values
  agree to 1e-7 or better.
- Models with 41 and 626 states are the block-counting process of Kingman's
  coalescent, of 10 and 20 lineages. Each call has a new rate, as in a fit, except
  in rows of samples and quantiles and where the row says "same rate": there
  phasic goes on from what it has kept of the model. phasic's graph is made
  beforehand, except where the row says "graph built". PhaseGen makes its states
  again for each rate.
- Mean spectra are those of `kingman_spectrum`, which needs the numbers of
  lineages alone; PhaseGen takes such a shortcut, too. "By block counts" neither
  does, as other models have none. A population of three epochs changes its size
  at two times. A fit is of the time of one change and of the size before it to a
  spectrum, with both sides' exact gradients and SciPy's L-BFGS-B; the losses are
  what is compared. "One start" is the fastest way that PhaseGen has, "ten starts"
  its default.
- Rows that begin with NumPy, TensorFlow or JAX have a general model of three
  phases. The gamma distribution beside it is the same distribution. The loops
  call NumPy's sine of four numbers.
- Docstrings in `benchmarks/peers/rows_*.py` say how each side is written.
""",
)

PANEL = Page(
  "benchmarks_panel",
  """\
# Multi-state models of panel data

How fast phasic is next to R's msm, and next to matrix exponentials in JAX.
"Times faster" is the other's time divided by phasic's.

[Other libraries](benchmarks_peers.md) have a page of their own.
""",
  """\
## Method

- `make bench-panel` measures all this and writes the page; R with msm must be
  installed.
- The data are simulated: 622 subjects with 2,861 rows, four states with seven
  transitions, visits about once a year, exact times of death; much like the
  heart transplants that msm has as an example. The covariate is each subject's
  age, which differs in all rows, with an effect on each transition.
- R has a process of its own, with one thread, and so has phasic; both are pinned
  to one core and take turns. Times are medians of wall times, each of at least
  20 ms of calls. Each call has new rates.
- Values are compared before times: log likelihoods and gradients agree to 1e-8,
  the log likelihoods of fits to 1e-5, as msm stops early.
- "Model made, and its likelihood" is msm with fixed parameters, and
  `MultiState.with_data` with the log likelihood. msm computes a gradient and an
  information matrix, too.
- "Value and gradient": what msm gives to its optimizer, BFGS, each called once. A
  step of BFGS takes about two values for each gradient.
- A fit starts from crude rates and ends with standard errors. msm's
  `control=list(fnscale=4000, maxit=1000)` is what its manual advises. phasic's
  errors are by exact second derivatives, msm's by differences of gradients.
- By `expm` each interval has its own transition probabilities, by `jax.vmap` of
  `jax.scipy.linalg.expm`, with automatic differentiation, compiled.
""",
)

COST = Page(
  "benchmarks_cost",
  """\
# Growth and cost

What log densities and their derivatives cost, as models grow and as times grow.
The picture has the cost of a value and gradient against each size, both
relative to the smallest one.
""",
  """\
## Method

- `make bench-cost` measures all this and writes the page.
- One process, one thread, pinned to one core. Times are medians of CPU time of
  calls that take turns. Each call has new parameters, as in a fit: repeated calls
  of one model would reuse its powers.
- Growth: a value and gradient by JAX, with one size doubled four times. The
  exponent is the slope over the last two doublings, both axes logarithmic.
- Cost by q t: all in NumPy. "Gradient" is `value_and_gradient`, value and
  cotangents of every argument, "jvp" is `jvp`, value and derivative along all
  rates. Up to 100 phases models are matrices, whose gradient has an entry for
  each pair of phases; above they are edges. q t is doubled from one on, until a
  call takes a quarter of a second or is beyond the work limit.
""",
)
