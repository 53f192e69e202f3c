// Targets of the search for quantiles, and the error of a step.
//
// The target is F(q) or 1 - F(q), whichever is at most one half, so that both
// tails keep their digits. Newton's method works on the mass between the target
// and the nearer limit of F: F - F(0) or F(inf) - F.

#ifndef PHASIC_NATIVE_QUANTILES_TARGETS_H_
#define PHASIC_NATIVE_QUANTILES_TARGETS_H_

#include <algorithm>
#include <cmath>
#include <limits>

#include "native/quantiles/quantiles.h"

namespace phasic {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLogHalf = -0.6931471805599453;

// The properties of the caller's floating-point type.
struct FloatType {
  bool is_single;
  double epsilon;
  double tiny;       // the least normal number
  double max_count;  // above it, not every integer is a number of the type
  // Newton's method converges quadratically: after a relative step of at most
  // this size the remaining error is below rounding.
  double shortest_step;

  double Round(double x) const {
    return is_single ? static_cast<double>(static_cast<float>(x)) : x;
  }
};

template <class F>
FloatType FloatTypeOf() {
  constexpr bool kIsSingle = sizeof(F) == sizeof(float);
  constexpr double kEpsilon = std::numeric_limits<F>::epsilon();
  return {kIsSingle, kEpsilon, std::numeric_limits<F>::min(),
          kIsSingle ? 0x1p24 : 0x1p52, std::pow(kEpsilon, 0.6)};
}

// Limits of F at zero and infinity, and a time scale.
struct Limits {
  bool is_valid;    // whether the model is valid
  double atom;      // F(0)
  double positive;  // 1 - F(0)
  double absorbed;  // F(inf)
  double caught;    // 1 - F(inf), zero if absorption is certain
  double time;      // the mean time to absorption or a trap
  double work;      // multiply-adds for each unit of time; see WorkOf
};

// The value that F or 1 - F must reach.
struct Target {
  bool is_upper;  // whether it is a value of 1 - F
  bool is_bad;    // whether the given number is invalid
  double value;   // zero if only its logarithm can be represented
  double log_value;
};

inline Target ReadTarget(Form form, double x) {
  Target target = {false, std::isnan(x), 0.5, kLogHalf};
  if (form == Form::kCdf) {
    target.is_bad |= x < 0.0 || x > 1.0;
    if (target.is_bad) return target;
    target.is_upper = x > 0.5;
    target.value = target.is_upper ? 1.0 - x : x;
    target.log_value = std::log(target.value);
    return target;
  }
  if (form == Form::kFolded) {
    if (target.is_bad) return target;
    target.is_upper = x > 0.0;
    target.log_value = -std::fabs(x);
    target.value = std::exp(target.log_value);
    return target;
  }
  target.is_bad |= x > 0.0;
  if (target.is_bad) return target;
  const bool is_near = x > kLogHalf;
  target.is_upper = (form == Form::kLogCdf) == is_near;
  target.value = is_near ? -std::expm1(x) : std::exp(x);
  target.log_value = is_near ? std::log(target.value) : x;
  return target;
}

// The limit of F, at zero or infinity, from which a target is measured.
struct Ends {
  bool is_rising;  // whether the mass is F - F(0), else F(inf) - F
  bool is_plain;   // whether the limit is zero
  bool is_first;   // whether the quantile is zero
  bool is_never;   // whether the quantile is infinite
  // c with (M' - r) / (M - r) = 1 + c (M' / M - 1), where M is the target and r
  // the limit.
  double ratio;
  double bound;  // an upper bound of the quantile, by Markov's inequality
};

// Chooses a limit of F for a target, and finds quantiles that are zero or inf.
inline Ends FindEnds(const Target& target, const Limits& limits, double tiny) {
  const double value = target.value;
  const bool is_nothing = target.log_value == -kInfinity;
  const bool is_upper = target.is_upper;
  Ends ends;
  ends.is_first =
      is_upper ? value >= limits.positive
               : (value <= limits.atom && limits.atom > 0.0) || is_nothing;
  ends.is_never =
      is_upper ? (value <= limits.caught && limits.caught > 0.0) || is_nothing
               : value >= limits.absorbed;
  ends.is_never &= !ends.is_first;
  const double start = is_upper ? limits.positive : limits.atom;
  const double end = is_upper ? limits.caught : limits.absorbed;
  const double range = std::fabs(end - start);
  ends.is_rising = std::fabs(value - start) <= 0.5 * range;
  const double reference = ends.is_rising ? start : end;
  ends.is_plain = reference == 0.0;
  const bool is_usable = !(ends.is_plain || ends.is_first || ends.is_never);
  ends.ratio = is_usable ? value / (value - reference) : 1.0;
  const double ahead = ends.is_rising ? 0.5 * range : std::fabs(value - end);
  ends.bound = 4.0 * limits.time / std::max(ahead, tiny);
  return ends;
}

// Returns whether a target lies strictly inside the atom at zero.
inline bool IsInsideAtom(const Target& target, const Limits& limits) {
  return target.is_upper ? target.value > limits.positive
                         : target.value < limits.atom;
}

// Computes the log of the ratio of the current mass to the target's mass, (M' -
// r) / (M - r), for change = log(M' / M), where M' is the value at the current
// time. Returns NaN if the difference of M' and r has no digits.
inline double MassError(const Ends& ends, double change, double epsilon) {
  if (ends.is_plain || std::isnan(change)) return change;
  const double few = std::min(std::max(change, -40.0), 40.0);
  const double shift = ends.ratio * std::expm1(few);
  if (std::fabs(shift) < 0.5) return std::log1p(shift);
  const bool is_known = 1.0 + shift > 8.0 * epsilon * std::fabs(ends.ratio);
  return is_known ? std::log(1.0 + shift) : kNaN;
}

}  // namespace phasic

#endif  // PHASIC_NATIVE_QUANTILES_TARGETS_H_
