// The search for one quantile in discrete time.
//
// Newton's method proposes a count, as if the tail were geometric. The cdf at
// the proposal brackets the quantile, and the search ends when the bracket is
// one step wide.

#ifndef PHASIC_NATIVE_QUANTILES_COUNT_SEARCH_H_
#define PHASIC_NATIVE_QUANTILES_COUNT_SEARCH_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/quantiles/search_limits.h"
#include "native/quantiles/targets.h"

namespace phasic {

class CountSearch {
 public:
  static constexpr int kMaxIterations = 300;

  CountSearch(int64_t place, const Target& target, const Ends& ends,
              double start)
      : place_(place), target_(target), ends_(ends), count_(start) {}

  int64_t place() const { return place_; }
  bool is_upper() const { return target_.is_upper; }
  double at() const { return count_; }
  // After the search: the quantile, NaN if the search failed.
  double result() const { return is_done_ ? count_ : kNaN; }

  // Takes log F or log(1 - F) and the log probability at the current count.
  // Returns whether the search has ended.
  bool Improve(double measured, double log_prob, const FloatType& type) {
    const double k = count_;
    const bool fails = std::isnan(measured);
    const double change = measured - target_.log_value;
    const bool is_below =
        !fails && (target_.is_upper ? change > 0.0 : change < 0.0);
    const double width = high_ - low_;
    if (is_below) low_ = k;
    if (!is_below && !fails) high_ = k;
    const bool halved = high_ - low_ <= 0.5 * width;
    num_slow_ = halved || fails ? 0 : num_slow_ + 1;
    double then = Next(change, log_prob, type.epsilon);
    if (fails) {
      failures_.Add(k);
      const double shorter = low_ > 0.0 ? std::sqrt(low_ * k) : 1e-3 * k;
      then = std::max(std::floor(shorter), 1.0);
    } else if (is_below && failures_.Reaches(k, then)) {
      const double between = std::sqrt(k) * std::sqrt(failures_.first());
      then = std::max(std::floor(between), low_ + 1.0);
    }
    if (num_slow_ >= 3) num_slow_ = 0;
    if (high_ - low_ <= 1.0) return End(std::min(high_, type.max_count));
    if (failures_.IsHopeless() || low_ >= type.max_count) return End(kNaN);
    count_ = std::min(then, type.max_count);
    return false;
  }

 private:
  // Returns a count inside the bracket, or a later one if nothing is known
  // above.
  double Next(double change, double log_prob, double epsilon) const {
    const double k = count_;
    const double newton = Newton(change, log_prob, epsilon);
    if (!std::isnan(newton) && num_slow_ < 3) {
      const double inside = std::min(std::max(newton, low_ + 1.0), high_ - 1.0);
      // Evaluating a count costs time in proportion to it: grow the count
      // gradually.
      return std::min(inside, 16.0 * k);
    }
    if (high_ == kInfinity) return 16.0 * k;
    const bool is_wide = high_ > 4.0 * (low_ + 1.0);
    const double middle =
        is_wide ? std::floor(std::sqrt(low_ + 1.0) * std::sqrt(high_))
                : low_ + std::floor(0.5 * (high_ - low_));
    return std::max(middle, low_ + 1.0);
  }

  // Returns the count that Newton's method proposes; NaN if there is none.
  double Newton(double change, double log_prob, double epsilon) const {
    const double k = count_;
    const double error = MassError(ends_, change, epsilon);
    const double log_mass =
        target_.log_value - std::log(std::fabs(ends_.ratio)) + error;
    const double share = std::exp(log_prob - log_mass);
    if (!(share > 0.0 && share < kInfinity && std::isfinite(error))) {
      return kNaN;
    }
    return std::ceil(ends_.is_rising
                         ? k * std::exp(std::min(-error / (k * share), 600.0))
                         : k + error / std::log1p(share));
  }

  bool End(double count) {
    count_ = count;
    is_done_ = true;
    return true;
  }

  int64_t place_;
  Target target_;
  Ends ends_;
  double count_;
  double low_ = 0.0, high_ = kInfinity;
  int32_t num_slow_ = 0;  // steps in sequence that did not halve the bracket
  Failures failures_;
  bool is_done_ = false;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_QUANTILES_COUNT_SEARCH_H_
