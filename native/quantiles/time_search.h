// Newton's method for one quantile in continuous time.
//
// Let D(t) be the mass between F(t) and the nearer limit of F; see targets.h.
// For small t, D(t) is about c t^k, so log D is nearly linear in log t. For
// large t, D(t) is about c exp(-d t), so log D is nearly linear in t. Newton's
// method on log D in this scale of time converges quadratically. Times below
// and above the quantile bracket it. If a step leaves the bracket, or steps do
// not get shorter, the bracket is halved in the scale of log t.

#ifndef PHASIC_NATIVE_QUANTILES_TIME_SEARCH_H_
#define PHASIC_NATIVE_QUANTILES_TIME_SEARCH_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/quantiles/search_limits.h"
#include "native/quantiles/targets.h"

namespace phasic {

// Returns the ratio of the next time to the current one. `error` is the error
// of log D over its slope in log t.
inline double StepFactor(bool is_rising, double error) {
  if (std::isnan(error)) return error;
  if (std::fabs(error) < 1e-5) {
    return is_rising ? 1.0 - error * (1.0 - 0.5 * error) : 1.0 + error;
  }
  if (is_rising) return std::exp(std::min(-error, 600.0));
  if (error > -0.5) return 1.0 + std::min(error, 15.0);
  return std::exp(std::max(error, -3.0));
}

class TimeSearch {
 public:
  static constexpr int kMaxIterations = 200;

  // Starts a search from time `start` for entry `place` of a batch.
  TimeSearch(int64_t place, const Target& target, const Ends& ends,
             double start)
      : place_(place),
        target_(target),
        ends_(ends),
        time_(start),
        log_mass_(target.log_value - std::log(std::fabs(ends.ratio))) {
    // Markov's bound serves only for a mass F - F(0): for a mass F(inf) - F it
    // is far above the quantile.
    if (ends.is_rising && ends.bound > 0.0) high_ = ends.bound;
  }

  int64_t place() const { return place_; }
  bool is_upper() const { return target_.is_upper; }
  double at() const { return time_; }

  // After the search: the quantile, NaN if the search failed.
  double result() const { return is_done_ ? time_ : kNaN; }

  // Returns whether rounding of the logarithm dominates the error of the
  // result, and F or 1 - F itself is more accurate.
  bool IsRough(const FloatType& type) const {
    const double t = result();
    return t > 0.0 && t < kInfinity && target_.value >= 16.0 * type.tiny &&
           std::fabs(target_.log_value) > 8.0 * (1.0 + slope_);
  }

  // Returns the result after one more step, with the value of F or 1 - F there.
  double Refined(double value, const FloatType& type) const {
    // Takes the log of the quotient: the difference of value and target may be
    // below the least normal number.
    const double change = std::log(value / target_.value);
    const double error = MassError(ends_, change, type.epsilon);
    if (!(std::fabs(error) < 0.1)) return time_;
    return time_ * StepFactor(ends_.is_rising, error / slope_);
  }

  // Takes log F or log(1 - F) and the log density at the current time. Returns
  // whether the search has ended.
  bool Improve(double measured, double log_density, const FloatType& type) {
    const double t = time_;
    const double change = measured - target_.log_value;
    const bool is_known = !std::isnan(measured);
    const bool is_below = (change < 0.0) != target_.is_upper;
    if (is_below && is_known) low_ = t;
    if (!is_below && is_known) high_ = t;
    const double error = MassError(ends_, change, type.epsilon);
    const double log_slope = log_density - log_mass_ - error;
    slope_ = std::fabs(log_slope) < 300.0 ? t * std::exp(log_slope)
                                          : std::exp(std::log(t) + log_slope);
    const double factor = StepFactor(ends_.is_rising, error / slope_);
    const double step = std::fabs(factor - 1.0);
    const double newton = std::max(t * factor, type.tiny);
    const double then =
        Next(newton, step, is_known && is_below, is_known, type.tiny);
    const bool ends_here =
        step <= type.shortest_step && std::fabs(error) < 0.01;
    // Smaller changes are rounding errors of the evaluated logarithm.
    const double exact =
        type.epsilon * (1.0 + 0.5 * std::fabs(target_.log_value));
    const bool stays = std::fabs(change) <= exact ||
                       high_ <= low_ * (1.0 + 4.0 * type.epsilon);
    if (is_known && !is_below && t <= type.tiny) {
      // Quantiles below the least normal number are returned as zero.
      return End(0.0);
    }
    if (is_known && ends_here) return End(newton);
    if (is_known && stays) return End(t);
    if (failures_.IsHopeless()) return End(kNaN);
    time_ = type.Round(then);
    return false;
  }

 private:
  // Returns the time to try next, within the bracket.
  double Next(double newton, double step, bool is_known_below, bool is_known,
              double tiny) {
    const double t = time_;
    num_slow_ = step > 0.5 * last_step_ ? num_slow_ + 1 : 0;
    const bool halves = num_slow_ >= 3 && low_ > 0.0 && high_ < kInfinity;
    last_step_ = halves ? kInfinity : step;
    if (halves) num_slow_ = 0;
    const double root = std::sqrt(t);
    if (!is_known) {
      // If a later time has succeeded, this time is too early; else it is too
      // late.
      if (has_above_) {
        failures_.Add(kInfinity);
        return root * std::sqrt(high_);
      }
      failures_.Add(t);
      return low_ > 0.0 ? std::sqrt(low_) * root : failures_.Retreat(t, tiny);
    }
    double then = newton;
    if (!(newton > low_ && newton < high_) || halves) {
      then = high_ < kInfinity
                 ? std::sqrt(std::max(low_, tiny)) * std::sqrt(high_)
                 : 16.0 * t;
    }
    if (!is_known_below) {
      has_above_ = true;
    } else if (failures_.Reaches(t, then)) {
      then = root * std::sqrt(failures_.first());
    }
    return then;
  }

  bool End(double time) {
    time_ = time;
    is_done_ = true;
    return true;
  }

  int64_t place_;
  Target target_;
  Ends ends_;
  double time_;
  double log_mass_;  // of the target
  double low_ = 0.0, high_ = kInfinity;
  double slope_ = 1.0;
  double last_step_ = kInfinity;
  int32_t num_slow_ = 0;  // steps that are not much shorter than the one before
  Failures failures_;
  bool has_above_ = false;  // whether a time above the quantile was evaluated
  bool is_done_ = false;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_QUANTILES_TIME_SEARCH_H_
