// When a search for a quantile gives up.

#ifndef PHASIC_NATIVE_QUANTILES_SEARCH_LIMITS_H_
#define PHASIC_NATIVE_QUANTILES_SEARCH_LIMITS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace phasic {

// The times at which the kernel returned NaN: they are too late, so that a
// shorter time is tried. Times just below a failed one are the most expensive
// to evaluate. So the search gives up not only after kMaxFailed failures, but
// also after kMaxBeyond steps that start within a factor kNear of a failed time
// and lead beyond it, or after a single step to kFar times the failed time.
class Failures {
 public:
  // Notes that the evaluation failed; `time` is the time if it was too late,
  // else infinity.
  void Add(double time) {
    ++count_;
    first_ = std::min(first_, time);
  }

  // Returns whether a step from `time` to `then` leads to or beyond a failed
  // time, and notes it.
  bool Reaches(double time, double then) {
    if (!(then >= first_)) return false;
    if (time * kNear >= first_) {
      beyond_ += then >= kFar * first_ ? kMaxBeyond : 1;
    }
    return true;
  }

  // The earliest failed time.
  double first() const { return first_; }
  // Returns a time to try after a failure where no earlier time is known: the
  // farther from it, the more failures there were, as the first time may be
  // hundreds of decades too late.
  double Retreat(double time, double tiny) const {
    const double decades = std::ldexp(6.0, std::min(count_, 7) - 1);
    return std::max(time * std::pow(10.0, -decades), tiny);
  }

  bool IsHopeless() const {
    return count_ > kMaxFailed || beyond_ >= kMaxBeyond;
  }

 private:
  static constexpr int32_t kMaxFailed = 8;
  static constexpr int32_t kMaxBeyond = 2;
  static constexpr double kNear = 64.0;
  static constexpr double kFar = 4.0;

  double first_ = std::numeric_limits<double>::infinity();
  int32_t count_ = 0;
  int32_t beyond_ = 0;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_QUANTILES_SEARCH_LIMITS_H_
