// Checks the values of one model's operands.

#ifndef PHASIC_NATIVE_KERNEL_MODEL_VALUE_CHECKS_H_
#define PHASIC_NATIVE_KERNEL_MODEL_VALUE_CHECKS_H_

#include <cmath>
#include <cstdint>

#include "native/kernel/api/sweep.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// Returns the status of a subnormal number, which sweeps over doubles treat as
// zero. Negative ones are invalid as others are.
inline StatusCode CheckSubnormal(double x, bool are_taken, StatusCode error) {
  if (std::signbit(x)) return error;
  return are_taken ? kOk : kUnderflow;
}

// Returns kOk if all numbers are finite and nonnegative and, unless they are
// taken, not subnormal. Otherwise the first invalid number determines the
// status: kUnderflow if it is subnormal, and `error` if it is negative or not
// finite.
inline StatusCode CheckMagnitudes(const double* x, int64_t count,
                                  bool takes_subnormals, StatusCode error) {
  for (int64_t i = 0; i < count; ++i) {
    if (!(x[i] >= 0.0 && x[i] < HUGE_VAL)) return error;
    if (!IsSubnormal(x[i])) continue;
    const StatusCode status = CheckSubnormal(x[i], takes_subnormals, error);
    if (status != kOk) return status;
  }
  return kOk;
}

inline StatusCode CheckSubgenerator(const SweepInput& in,
                                    bool takes_subnormals) {
  const int64_t p = in.num_phases;
  for (int64_t i = 0; i < p; ++i) {
    for (int64_t j = 0; j < p; ++j) {
      const double x = in.subgenerator.value[i * p + j];
      if (!HasBits(x)) continue;
      if (in.has_exit_rates && i == j) continue;  // not read
      if (IsSubnormal(x)) {
        const StatusCode status = CheckSubnormal(
            i == j ? std::fabs(x) : x, takes_subnormals, kOffDiagonalNegative);
        if (status != kOk) return status;
      }
      if (!(std::fabs(x) < HUGE_VAL)) return kSubgeneratorNotFinite;
      if (i != j && x < 0.0) return kOffDiagonalNegative;
    }
  }
  return kOk;
}

// Checks initial probabilities as CheckMagnitudes does, and that they are small
// enough for their sums and reciprocals to stay in range.
inline StatusCode CheckMasses(const double* x, int64_t count,
                              bool takes_subnormals) {
  for (int64_t i = 0; i < count; ++i) {
    if (x[i] > 0x1p500) return kInitialProbsInvalid;
  }
  return CheckMagnitudes(x, count, takes_subnormals, kInitialProbsInvalid);
}

// Checks the values of one operand after the other. Returns the status of the
// first invalid one, or kOk. Sweeps over extended doubles take subnormal
// numbers.
inline StatusCode CheckValues(const SweepInput& in, bool takes_subnormals) {
  const int64_t p = in.num_phases;
  StatusCode status = CheckMasses(in.initial_probs.value, p, takes_subnormals);
  if (status == kOk && !in.has_edges()) {
    status = in.discrete ? CheckMagnitudes(in.subgenerator.value, p * p,
                                           takes_subnormals, kTransitionInvalid)
                         : CheckSubgenerator(in, takes_subnormals);
  }
  if (status == kOk && in.has_exit_rates) {
    status = CheckMagnitudes(in.exit_rates.value, p, takes_subnormals,
                             kExitRatesInvalid);
  }
  if (status == kOk && in.has_prob_zero) {
    const double x = in.prob_zero.value[0];
    if (!(x >= 0.0 && x <= 1.0)) return kProbZeroInvalid;
    if (IsSubnormal(x)) {
      status = CheckSubnormal(x, takes_subnormals, kProbZeroInvalid);
    }
  }
  return status;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MODEL_VALUE_CHECKS_H_
