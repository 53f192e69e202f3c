"""Rows of phasic in NumPy: a multi-state model of panel data."""

import models
import numpy as np
import subjects

from phasic.substrates import numpy as ph


def log_likelihood(with_age):
  panel, given = models.data(ph), models.given(with_age)

  def call():
    terms = models.terms(ph, np.exp, with_age, panel)
    return float(np.sum(terms(given)))

  return call


def value_and_gradient(with_age):
  terms = models.terms(ph, np.exp, with_age, models.data(ph))
  given, scales = models.given(with_age), subjects.scales()
  moved = np.arange(len(given)) < len(models.NAMES)

  def call():
    x = given + np.log(next(scales)) * moved
    return ph.math.value_and_gradient(lambda x: np.sum(terms(x)), x)

  return call


def fit(with_age):
  return models.fit(ph, with_age)
