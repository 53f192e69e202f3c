"""Parameters at which msm_fits.R evaluates log likelihoods.

Intensities are START, with log hazard ratios EFFECTS of treated, both in the
order of `TRANSITIONS`, which has states from 0.
"""

import numpy as np

from tests.oracle.panel import tables

TRANSITIONS = tuple((i - 1, j - 1) for i, j in tables.TRANSITIONS)
START = np.array([0.3, 0.04, 0.15, 0.2, 0.06, 0.25])
EFFECTS = np.array([-0.4, -0.1, 0.2, -0.3, 0.15, -0.25])
# Of the covariate dose, of its value at the start of an interval.
DOSE_EFFECTS = np.array([0.1, -0.2, 0.05, 0.15, -0.1, 0.2])
CUTS = (2.0, 5.0)
# Log ratios to the intensities before the first cut.
PERIOD_EFFECTS = np.array(
  [[0.2, -0.1, 0.1, 0.3, 0.2, -0.2], [0.4, 0.1, -0.3, 0.2, 0.3, 0.1]]
)
# Probabilities of well, mild and severe in the first row.
FIRST = (0.65, 0.25, 0.1)
MISLABELS = ((0, 1), (1, 0), (1, 2), (2, 1))
# Probabilities of wrong labels, and of right ones in the same states.
MISLABEL_PROBS = np.array([0.12, 0.1, 0.08, 0.15])
RIGHT_PROBS = np.array([0.88, 0.82, 0.82, 0.85])
# Of treated or dose, at the label's own row, on the log odds of a wrong label.
LABEL_EFFECTS = np.array([0.3, -0.2, 0.4, 0.1])
# Of the outcome in each state; the dead have none.
MARKER = {"means": [0.1, 0.9, 2.4, 0.0], "sds": [0.55, 0.65, 0.75, 1.0]}
# Of dose, on the mean marker or the log mean count.
DOSE_MEAN_EFFECTS = np.array([-0.1, 0.2, 0.3, 0.0])
# Of the normal distribution, before it is cut off below 0.
SHARE = {"means": [0.4, 1.4, 2.4, 1.0], "sds": [0.5, 0.7, 0.8, 1.0]}
COUNT_MEANS = np.array([1.2, 3.5, 8.0, 1.0])
# Phases 0, 1 are well, 2, 3 mild, 4 severe, 5 dead.
PHASES = ((0, 1), (2, 3), (4,), (5,))
PHASE_RATES = {
  (0, 1): 0.5,
  (0, 2): 0.2,
  (0, 5): 0.03,
  (1, 2): 0.4,
  (1, 5): 0.06,
  (2, 0): 0.1,
  (2, 3): 0.3,
  (2, 4): 0.2,
  (2, 5): 0.05,
  (3, 0): 0.2,
  (3, 4): 0.25,
  (3, 5): 0.08,
  (4, 5): 0.25,
}
PHASE_EFFECTS = np.array(
  [0.1, -0.4, -0.1, -0.3, -0.2, -0.05, 0.2, -0.3, 0.15, 0.25, -0.2, 0.1, -0.25]
)
