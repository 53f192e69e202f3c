// Starting points for the search of many quantiles of one model.
//
// F and the density are known at times on a grid. Between these log t is
// interpolated as a function of the log odds of F, by cubic polynomials with
// the slopes that the density gives. From there one or two steps of Newton's
// method are enough for most quantiles, where six to ten are needed from the
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

  // Returns a time near the quantile of log odds, NaN if none is known.
  double Start(double odds) const {
    if (odds_.empty() || std::isnan(odds)) return kNaN;
    const size_t right = Above(odds);
    // Near zero log t is nearly linear in the odds, far out t is.
    if (right == 0) {
      return std::exp(logs_[0] + slopes_[0] * (odds - odds_[0]));
    }
    const size_t left = right - 1;
    const double step = odds - odds_[left];
    if (right == odds_.size()) {
      const double change = std::min(slopes_[left] * step, kMostChange);
      return std::exp(logs_[left]) * (1.0 + change);
    }
    const double width = odds_[right] - odds_[left];
    const double share = step / width;
    const double rest = 1.0 - share;
    const double log_time =
        rest * rest *
            ((1.0 + 2.0 * share) * logs_[left] + step * slopes_[left]) +
        share * share *
            ((1.0 + 2.0 * rest) * logs_[right] - rest * width * slopes_[right]);
    return std::exp(std::min(std::max(log_time, logs_[left]), logs_[right]));
  }

 private:
  // Of the last time, where times beyond it are extrapolated.
  static constexpr double kMostChange = 15.0;

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
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_QUANTILES_START_GRID_H_
