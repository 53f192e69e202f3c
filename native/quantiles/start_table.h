// Starting points for the search of many quantiles of one model.
//
// Quantiles of equally spaced log odds are computed first. Between them log t
// is interpolated by cubic polynomials, with the slopes from the search. From
// there one step of Newton's method is enough for nearly all quantiles.
//
// Reference: G. Derflinger, W. Hoermann, J. Leydold, Random variate generation
//   by numerical inversion when only the density is known, ACM TOMACS 20, 2010.

#ifndef PHASIC_NATIVE_QUANTILES_START_TABLE_H_
#define PHASIC_NATIVE_QUANTILES_START_TABLE_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/quantiles/targets.h"

namespace phasic {

// Returns log F - log(1 - F) of a target.
inline double LogOdds(const Target& target) {
  const double size = std::log1p(-target.value) - target.log_value;
  return target.is_upper ? size : -size;
}

inline Target TargetOfLogOdds(double odds) {
  const double size = std::fabs(odds);
  const double log_value = -size - std::log1p(std::exp(-size));
  return {odds > 0.0, std::isnan(odds), std::exp(log_value), log_value};
}

// The table of one model.
class StartTable {
 public:
  // A table is worthwhile for at least kLeast quantiles of a model. It has one
  // point for every kShare quantiles, and at most kMostPoints points.
  static constexpr int64_t kLeast = 1024;

  static int64_t NumPoints(int64_t num_quantiles) {
    return std::min(num_quantiles / kShare, kMostPoints);
  }

  // Makes a table of `num_points` points that cover all targets that are valid
  // and have finite odds.
  StartTable(int64_t num_points, const Target* targets, int64_t count)
      : num_points_(num_points) {
    double low = kInfinity;
    double high = -kInfinity;
    for (int64_t i = 0; i < count; ++i) {
      const double odds = LogOdds(targets[i]);
      if (targets[i].is_bad || !std::isfinite(odds)) continue;
      low = std::min(low, odds);
      high = std::max(high, odds);
    }
    const bool is_usable = std::isfinite(low) && std::isfinite(high);
    low_ = is_usable ? low : 0.0;
    width_ = (is_usable ? std::max(high - low, 1e-6) : 1.0) /
             static_cast<double>(num_points - 1);
  }

  Target TargetOfPoint(int64_t point) const {
    return TargetOfLogOdds(low_ + width_ * static_cast<double>(point));
  }

  // Adds the quantile of the next point, and its slope: the derivative of log t
  // in the log odds.
  void Add(double time, double slope) {
    const bool is_known =
        time > 0.0 && time < kInfinity && std::isfinite(slope);
    logs_.push_back(is_known ? std::log(time) : kNaN);
    slopes_.push_back(width_ * slope);
  }

  // Returns a time near a target's quantile, NaN if none is known.
  double Start(const Target& target) const {
    const double place = (LogOdds(target) - low_) / width_;
    if (std::isnan(place)) return kNaN;
    const double cell = std::min(std::max(std::floor(place), 0.0),
                                 static_cast<double>(num_points_ - 2));
    const auto left = static_cast<size_t>(cell);
    const double share = place - cell;
    const double rest = 1.0 - share;
    // If one of the two points has no quantile (inside an atom), uses the
    // other.
    if (std::isnan(logs_[left])) return std::exp(logs_[left + 1]);
    if (std::isnan(logs_[left + 1])) return std::exp(logs_[left]);
    return std::exp(
        rest * rest *
            ((1.0 + 2.0 * share) * logs_[left] + share * slopes_[left]) +
        share * share *
            ((1.0 + 2.0 * rest) * logs_[left + 1] - rest * slopes_[left + 1]));
  }

 private:
  static constexpr int64_t kShare = 8;
  static constexpr int64_t kMostPoints = 1024;

  int64_t num_points_;
  double low_, width_;
  std::vector<double> logs_, slopes_;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_QUANTILES_START_TABLE_H_
