// Log odds of targets, the scale in which starting points are interpolated.

#ifndef PHASIC_NATIVE_QUANTILES_LOG_ODDS_H_
#define PHASIC_NATIVE_QUANTILES_LOG_ODDS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/quantiles/targets.h"

namespace phasic {

// Returns log F - log(1 - F) of a target, NaN of one that is invalid.
inline double LogOdds(const Target& target) {
  if (target.is_bad) return kNaN;
  const double size = std::log1p(-target.value) - target.log_value;
  return target.is_upper ? size : -size;
}

// The range of log odds that are finite.
struct OddsRange {
  double low = kInfinity;
  double high = -kInfinity;

  OddsRange(const double* odds, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      if (!std::isfinite(odds[i])) continue;
      low = std::min(low, odds[i]);
      high = std::max(high, odds[i]);
    }
  }
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_QUANTILES_LOG_ODDS_H_
