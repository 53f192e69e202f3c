// Starting points for the search of many quantiles of one model.
//
// F and the density are known at times on a grid. Between these log t is
// interpolated as a function of the log odds of F, by polynomials that have the
// values and slopes of the four nearest points. From there one step of Newton's
// method is enough for most quantiles, where six to ten are needed from the
// mean.
//
// Reference: G. Derflinger, W. Hoermann, J. Leydold, Random variate generation
//   by numerical inversion when only the density is known, ACM TOMACS 20, 2010.

#ifndef PHASIC_NATIVE_QUANTILES_START_GRID_H_
#define PHASIC_NATIVE_QUANTILES_START_GRID_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "native/quantiles/targets.h"

namespace phasic {

// The grid of one model.
class StartGrid {
 public:
  // Adds what was measured at a time: log F, or log(1 - F) if `is_upper`, and
  // the log density. Points whose log odds do not rise, or that have no
  // density, are left out.
  void Add(double time, bool is_upper, double measured, double log_density) {
    const double other = std::log(-std::expm1(measured));
    const double odds = is_upper ? other - measured : measured - other;
    const double log_time = std::log(time);
    // The derivative of the odds in t is f / (F (1 - F)).
    const double slope = std::exp(measured + other - log_density - log_time);
    const bool is_usable = std::isfinite(odds) && std::isfinite(slope) &&
                           (odds_.empty() || odds > odds_.back());
    if (!is_usable) return;
    odds_.push_back(odds);
    logs_.push_back(log_time);
    slopes_.push_back(slope);
  }

  // Makes the polynomials of all intervals, after the last point.
  void Finish() {
    if (odds_.size() < 2) return;
    polynomials_.reserve(odds_.size() - 1);
    for (size_t left = 0; left + 1 < odds_.size(); ++left) {
      polynomials_.push_back(Interpolate(left));
    }
  }

  // Returns a time near the quantile of log odds, NaN if none is known.
  double Start(double odds) const {
    if (odds_.empty() || std::isnan(odds)) return kNaN;
    const size_t right = Above(odds);
    // Near zero log t is nearly linear in the odds, far out t is.
    if (right == 0) {
      return std::exp(logs_[0] + slopes_[0] * (odds - odds_[0]));
    }
    const size_t left = right - 1;
    if (right == odds_.size()) {
      const double step = odds - odds_[left];
      const double change = std::min(slopes_[left] * step, kMostChange);
      return std::exp(logs_[left]) * (1.0 + change);
    }
    const double log_time = Value(polynomials_[left], odds);
    return std::exp(std::min(std::max(log_time, logs_[left]), logs_[right]));
  }

 private:
  // Of the last time, where times beyond it are extrapolated.
  static constexpr double kMostChange = 15.0;
  static constexpr size_t kNodes = 4;

  // A polynomial in Newton's form. Each node has two coefficients.
  struct Polynomial {
    size_t first;  // of the nodes, consecutive points
    double coefficients[2 * kNodes];
  };

  // Returns the polynomial for the interval from point `left` to the next one.
  Polynomial Interpolate(size_t left) const {
    const size_t count = std::min(kNodes, odds_.size());
    Polynomial found = {};
    found.first = std::min(left > 0 ? left - 1 : 0, odds_.size() - count);
    // Divided differences of increasing order, each node twice.
    double* const table = found.coefficients;
    const auto node = [&](size_t i) { return found.first + i / 2; };
    for (size_t i = 0; i < 2 * count; ++i) table[i] = logs_[node(i)];
    for (size_t order = 1; order < 2 * count; ++order) {
      for (size_t i = 2 * count - 1; i >= order; --i) {
        const size_t low = node(i - order);
        const size_t high = node(i);
        table[i] = low == high
                       ? slopes_[low]
                       : (table[i] - table[i - 1]) / (odds_[high] - odds_[low]);
      }
    }
    return found;
  }

  double Value(const Polynomial& polynomial, double odds) const {
    const size_t count = std::min(kNodes, odds_.size());
    double value = 0.0;
    for (size_t i = count; i-- > 0;) {
      const double step = odds - odds_[polynomial.first + i];
      value = polynomial.coefficients[2 * i] +
              step * (polynomial.coefficients[2 * i + 1] + step * value);
    }
    return value;
  }

  // Returns the first point above the log odds. Tries the point that it is if
  // the points are equally spaced.
  size_t Above(double odds) const {
    const double last = static_cast<double>(odds_.size() - 1);
    const double place =
        last * (odds - odds_.front()) / (odds_.back() - odds_.front());
    if (place >= 0.0 && place < last) {
      const auto guess = static_cast<size_t>(place);
      if (odds_[guess] <= odds && odds < odds_[guess + 1]) return guess + 1;
    }
    const auto above = std::upper_bound(odds_.begin(), odds_.end(), odds);
    return static_cast<size_t>(above - odds_.begin());
  }

  // Of the points, by rising odds: log odds, log t, and the derivative of log t
  // in the log odds.
  std::vector<double> odds_, logs_, slopes_;
  std::vector<Polynomial> polynomials_;  // of the intervals between points
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_QUANTILES_START_GRID_H_
