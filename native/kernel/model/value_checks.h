// Checks the values of one model's operands.

#ifndef PHASIC_NATIVE_KERNEL_MODEL_VALUE_CHECKS_H_
#define PHASIC_NATIVE_KERNEL_MODEL_VALUE_CHECKS_H_

#include <cmath>
#include <cstdint>
#include <cstring>

#include "native/kernel/api/sweep.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

inline bool IsSubnormal(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  bits &= ~(uint64_t{1} << 63);
  return bits != 0 && bits < (uint64_t{1} << 52);
}

// Returns whether x is nonzero. Compares bits, because sweeps treat subnormal
// numbers as zero.
inline bool HasBits(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits << 1 != 0;
}

// Returns kOk if all numbers are finite, nonnegative and not subnormal.
// Otherwise the first invalid number determines the status: kUnderflow if it is
// subnormal, and `error` if it is negative or not finite.
inline StatusCode CheckMagnitudes(const double* x, int64_t count,
                                  StatusCode error) {
  for (int64_t i = 0; i < count; ++i) {
    if (!(x[i] >= 0.0 && x[i] < HUGE_VAL)) return error;
    if (IsSubnormal(x[i])) return kUnderflow;
  }
  return kOk;
}

inline StatusCode CheckSubgenerator(const SweepInput& in) {
  const int64_t p = in.num_phases;
  for (int64_t i = 0; i < p; ++i) {
    for (int64_t j = 0; j < p; ++j) {
      const double x = in.subgenerator.value[i * p + j];
      if (!HasBits(x)) continue;
      if (in.has_exit_rates && i == j) continue;  // not read
      if (IsSubnormal(x)) return kUnderflow;
      if (!(std::fabs(x) < HUGE_VAL)) return kSubgeneratorNotFinite;
      if (i != j && x < 0.0) return kOffDiagonalNegative;
    }
  }
  return kOk;
}

// Checks initial probabilities as CheckMagnitudes does, and that they are small
// enough for their sums and reciprocals to stay in range.
inline StatusCode CheckMasses(const double* x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (x[i] > 0x1p500) return kInitialProbsInvalid;
  }
  return CheckMagnitudes(x, count, kInitialProbsInvalid);
}

// Checks the values of one operand after the other. Returns the status of the
// first invalid one, or kOk.
inline StatusCode CheckValues(const SweepInput& in) {
  const int64_t p = in.num_phases;
  StatusCode status = CheckMasses(in.initial_probs.value, p);
  if (status == kOk && !in.has_edges()) {
    status = in.discrete ? CheckMagnitudes(in.subgenerator.value, p * p,
                                           kTransitionInvalid)
                         : CheckSubgenerator(in);
  }
  if (status == kOk && in.has_exit_rates) {
    status = CheckMagnitudes(in.exit_rates.value, p, kExitRatesInvalid);
  }
  if (status == kOk && in.has_prob_zero) {
    const double x = in.prob_zero.value[0];
    if (!(x >= 0.0 && x <= 1.0)) return kProbZeroInvalid;
    if (IsSubnormal(x)) return kUnderflow;
  }
  return status;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MODEL_VALUE_CHECKS_H_
