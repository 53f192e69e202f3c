// Poisson weights of a short step: with w_k(r) = exp(-r) r^k / k!,
//   exp(S r / q) = sum_k w_k(r) P^k,
// and sum_k W_k(r) P^k s / q, where W_k = w_{k+1} + w_{k+2} + .., are the
// probabilities of absorption within the step.

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_STEP_WEIGHTS_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_STEP_WEIGHTS_H_

#include <cmath>

#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// The longest step, and the powers of P that it has: more than fifteen jumps
// within one step do not occur. Of K jumps in N steps the times are uniform,
// independently of what jumps where, so that whatever value the series stands
// for, leaving them out loses at most a share N (K/N)^16 / 16! of its terms
// with K jumps: for K = 2 x below 2^-64 even where N = 2^60. Many more than x
// jumps play no part where x is far above the number of phases.
constexpr int kLog2LongestStep = -6;
constexpr double kLongestStep = 0x1p-6;
constexpr int kStepTerms = 16;

struct StepWeights {
  double at[kStepTerms];
  double above[kStepTerms];

  // For 0 <= r <= kLongestStep.
  explicit StepWeights(double r) {
    double weight = std::exp(-r);
    for (int k = 0; k < kStepTerms; ++k) {
      at[k] = weight;
      weight *= r / (k + 1);
    }
    double sum = weight;  // the first that is left out
    for (int k = kStepTerms - 1; k >= 0; --k) {
      above[k] = sum;
      sum += at[k];
    }
  }
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_STEP_WEIGHTS_H_
