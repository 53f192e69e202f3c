// Scales the rates and the times of a model of very slow or very fast phases by
// a power of two, so that products of rates, states and weights stay in range.
//
// If rates are divided by 2^k and times are multiplied by 2^k, densities are
// divided by 2^k. Probabilities do not change, nor do derivatives of log
// densities with respect to initial probabilities. Scaling is exact. It is used
// only for derivatives, since values have separate exponents.

#ifndef PHASIC_NATIVE_KERNEL_MODEL_RATE_SCALES_H_
#define PHASIC_NATIVE_KERNEL_MODEL_RATE_SCALES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "native/kernel/api/sweep.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/model/value_checks.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// Models with 2^-400 <= q <= 2^400 are not scaled.
constexpr int64_t kModerateRate = 400;

inline bool HasModerateRates(int64_t log2_q) {
  return std::abs(log2_q) <= kModerateRate;
}

// Returns whether the derivatives of a model must be computed from scaled
// rates, given the status of building the model and log2(q).
inline bool NeedsScaledRates(const SweepInput& in, StatusCode status,
                             int64_t log2_q) {
  return !in.discrete && in.rates_exponent == 0 && !HasModerateRates(log2_q) &&
         (status == kOk || status == kUnderflow);
}

// Scales the rates and the times of one model.
class RateScales {
 public:
  RateScales(const SweepInput& in, Workspace* workspace)
      : in_(in), workspace_(workspace), num_rates_(NumRates(in)) {}

  // Sets `scaled` to a copy of the input in which q is near one, given log2(q).
  // The copy is in the workspace. Returns false if memory does not suffice.
  bool Apply(int64_t log2_q, SweepInput* scaled) const {
    const FloatEnvironment environment(Denormals::kKeep);
    *scaled = in_;
    const int64_t exponent = Limited(log2_q);
    if (exponent == 0) return true;
    scaled->rates_exponent = exponent;
    if (in_.has_edges() && in_.edges.constants != nullptr) {
      scaled->edges.constants =
          Copy(in_.edges.constants, in_.edges.count, -exponent);
      if (scaled->edges.constants == nullptr) return false;
    }
    return Scale(num_rates_, -exponent, &scaled->subgenerator) &&
           (!in_.has_exit_rates ||
            Scale(in_.num_phases, -exponent, &scaled->exit_rates)) &&
           ScaleTimes(exponent, &scaled->times);
  }

 private:
  // Scaled rates are between 2^-1000 and 2^1000. So are scaled times, except
  // for times that the kernel refuses.
  static constexpr int64_t kRange = 1000;

  static int64_t NumRates(const SweepInput& in) {
    if (!in.has_edges()) return in.num_phases * in.num_phases;
    return in.edges.coefficients != nullptr ? in.edges.num_parameters
                                            : in.edges.count;
  }

  // Returns the exponent k of the factor 2^-k for rates: the number between
  // zero and log2_q that is nearest to log2_q and keeps all scaled rates,
  // parameters and constants of edges in range.
  int64_t Limited(int64_t log2_q) const {
    int64_t least = INT64_MAX;
    int64_t most = INT64_MIN;
    const auto note = [&](const double* x, int64_t count, int64_t skipped) {
      for (int64_t i = 0; i < count; ++i) {
        if (i == skipped || !HasBits(x[i]) || !std::isfinite(x[i])) continue;
        const int64_t exponent = std::ilogb(x[i]);
        least = std::min(least, exponent);
        most = std::max(most, exponent);
      }
    };
    const int64_t p = in_.num_phases;
    if (in_.has_edges()) {
      note(in_.subgenerator.value, num_rates_, -1);
      if (in_.edges.constants != nullptr) {
        note(in_.edges.constants, in_.edges.count, -1);
      }
    } else {
      for (int64_t i = 0; i < p; ++i) {
        // If exits are given, the kernel does not read the diagonal.
        note(in_.subgenerator.value + i * p, p, in_.has_exit_rates ? i : -1);
      }
    }
    if (in_.has_exit_rates) note(in_.exit_rates.value, p, -1);
    if (least > most) return 0;
    return log2_q > 0 ? std::max<int64_t>(0, std::min(log2_q, least + kRange))
                      : std::min<int64_t>(0, std::max(log2_q, most - kRange));
  }

  // Returns a copy of the numbers, times 2^exponent.
  double* Copy(const double* x, int64_t count, int64_t exponent) const {
    double* copy = AllocateRoom<double>(workspace_, count);
    for (int64_t i = 0; copy != nullptr && i < count; ++i) {
      copy[i] = std::ldexp(x[i], static_cast<int>(exponent));
    }
    return copy;
  }
  bool ScaleTangents(int64_t count, int64_t exponent, OperandView* view) const {
    for (const double*& tangents : view->tangents) {
      if (tangents == nullptr) continue;
      tangents = Copy(tangents, count, exponent);
      if (tangents == nullptr) return false;
    }
    return true;
  }
  bool Scale(int64_t count, int64_t exponent, OperandView* view) const {
    view->value = Copy(view->value, count, exponent);
    return view->value != nullptr && ScaleTangents(count, exponent, view);
  }

  // Copies the times and multiplies them by 2^exponent. A time whose product
  // with q is out of range must remain so: instead of infinite or zero, it
  // becomes a very large or a subnormal number. Negative times are not scaled,
  // as their results do not depend on their size.
  bool ScaleTimes(int64_t exponent, OperandView* times) const {
    const double* const given = in_.times.value;
    double* scaled = Copy(given, in_.num_times, exponent);
    if (scaled == nullptr) return false;
    for (int64_t i = 0; i < in_.num_times; ++i) {
      if (!(given[i] > 0.0) || IsSubnormal(given[i])) {
        scaled[i] = given[i];
      } else if (given[i] < HUGE_VAL) {
        scaled[i] = std::min(std::max(scaled[i], 0x1p-1074), 0x1.fp1023);
      }
    }
    times->value = scaled;
    return ScaleTangents(in_.num_times, exponent, times);
  }

  const SweepInput& in_;
  Workspace* workspace_;
  const int64_t num_rates_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MODEL_RATE_SCALES_H_
