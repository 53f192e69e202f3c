"""The derivatives of Kepler's equation, for arrays of any library.

E - e sin E = M gives dE = (dM + sin E de) / (1 - e cos E). What the rules use
of E is the op's own outputs, so that they are differentiated through the op:
there are derivatives of every order.
"""


def jvp(inputs, outputs, tangents):
  """The tangents of sin E and cos E."""
  _, eccentricity = inputs
  sin_E, cos_E = outputs
  d_mean_anomaly, d_eccentricity = tangents
  dE = (d_mean_anomaly + sin_E * d_eccentricity) / (1 - eccentricity * cos_E)
  return cos_E * dE, -sin_E * dE


def vjp(inputs, outputs, cotangents):
  """The cotangents of the mean anomaly and the eccentricity."""
  _, eccentricity = inputs
  sin_E, cos_E = outputs
  of_sin_E, of_cos_E = cotangents
  of_E = (cos_E * of_sin_E - sin_E * of_cos_E) / (1 - eccentricity * cos_E)
  return of_E, sin_E * of_E
