// Solves Kepler's equation E - e sin E = M for the eccentric anomaly E, where M
// is the mean anomaly and e < 1 the eccentricity. For the processor and for
// CUDA.

#ifndef KEPLER_H_
#define KEPLER_H_

#include <cmath>

#if defined(__CUDACC__)
#define KEPLER_HOST_DEVICE __host__ __device__
#else
#define KEPLER_HOST_DEVICE
#endif

namespace kepler {

constexpr double kPi = 3.14159265358979323846;
constexpr double kRounding = 0x1p-52;
constexpr double kLastChange = 1e-6;

// Computes E - sin E, by its series if the difference would cancel digits.
KEPLER_HOST_DEVICE inline double MinusSine(double x, double sin_x) {
  if (std::fabs(x) > 0.5) return x - sin_x;
  const double square = x * x;
  double term = x * square / 6;
  double sum = term;
  for (int k = 4; k < 20; k += 2) {
    term *= -square / (k * (k + 1));
    sum += term;
  }
  return sum;
}

// F. L. Markley's cubic for E in [0, pi]: Kepler equation solver. Celestial
// Mechanics and Dynamical Astronomy 63 (1995), 101-111.
KEPLER_HOST_DEVICE inline double FirstGuess(double mean, double e) {
  const double pi_squared = kPi * kPi;
  const double alpha =
      (3 * pi_squared + 1.6 * kPi * (kPi - mean) / (1 + e)) / (pi_squared - 6);
  const double d = 3 * (1 - e) + alpha * e;
  const double q = 2 * alpha * d * (1 - e) - mean * mean;
  const double r = 3 * alpha * d * (d - 1 + e) * mean + mean * mean * mean;
  const double root = std::cbrt(r + std::sqrt(q * q * q + r * r));
  const double w = root * root;
  const double divisor = w * w + w * q + q * q;
  if (!(divisor > 0)) return mean;
  return (2 * r * w / divisor + mean) / d;
}

// Returns the solution for a mean anomaly in [0, pi], or NaN.
KEPLER_HOST_DEVICE inline double Solve(double mean, double e) {
  if (mean == 0) return 0;
  double x = FirstGuess(mean, e);
  for (int step = 0; step < 16; ++step) {
    // x - e sin x - M and its slope, without cancellation for e near 1.
    const double half_sine = std::sin(x / 2);
    const double sine = 2 * half_sine * std::cos(x / 2);
    const double f = (1 - e) * x + e * MinusSine(x, sine) - mean;
    const double slope = (1 - e) + 2 * e * half_sine * half_sine;
    const double newton = f / slope;
    // A step of Halley, or of Newton unless the correction is small.
    double divisor = 1 - newton * e * sine / (2 * slope);
    if (!(divisor > 0.5)) divisor = 1;
    const double next = std::fmin(std::fmax(x - newton / divisor, 0.0), kPi);
    const double change = std::fabs(next - x);
    x = next;
    // Each step triples the digits: the next one would be below rounding.
    if (change <= kLastChange * x || std::fabs(f) <= kRounding * mean) return x;
  }
  return std::nan("");
}

// Computes sin E and cos E; NaN if e < 0, e >= 1, or an argument is not finite.
template <class T>
KEPLER_HOST_DEVICE inline void SineAndCosine(T mean_anomaly, T eccentricity,
                                             T* sin_E, T* cos_E) {
  const double e = static_cast<double>(eccentricity);
  double mean = static_cast<double>(mean_anomaly);
  if (!(e >= 0 && e < 1) || !std::isfinite(mean)) {
    *sin_E = *cos_E = static_cast<T>(std::nan(""));
    return;
  }
  // The library's sine reduces arguments of any size without loss.
  if (std::fabs(mean) > kPi) mean = std::atan2(std::sin(mean), std::cos(mean));
  const double x = Solve(std::fabs(mean), e);
  *sin_E = static_cast<T>(std::copysign(1.0, mean) * std::sin(x));
  *cos_E = static_cast<T>(std::cos(x));
}

}  // namespace kepler

#endif  // KEPLER_H_
