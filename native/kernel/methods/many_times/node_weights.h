// The Poisson weights of the sums about an expansion point, sum_k w_k(x_0)
// f_{k+j} for all j.
//
// F(x_0 + d) exp(d) is at least the sum for j = 0. So the windows over k may
// omit 2^-66 of that from each sum: this changes F by at most exp(4) < 2^6
// times as much.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_WEIGHTS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_WEIGHTS_H_

#include <cstdint>

#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"
#include "native/kernel/uniformization/poisson.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr int64_t kNodeWindow = -66;       // see above
constexpr int64_t kNodeRange = 400;        // largest difference of exponents
constexpr int64_t kSmallestWeight = -900;  // exponent of the smallest weight

// Calls add(weights) with the Poisson weights of a block, given the weight at
// its first step. Returns the weight at the first step of the next block.
// Clears `is_ordinary` if weights are near underflow.
template <class Add>
Scaled<double> IncludeWeights(int64_t block, const PoissonTable& poisson,
                              const Scaled<double>& weight, PoissonWalk* walk,
                              bool* is_ordinary, const Add& add) {
  using Lanes = Pack<8>;
  return walk->Up(
      block, poisson, weight,
      [&](int first, int last, const Scaled<double>& scale,
          const double* powers) {
        if (scale.exponent < kSmallestWeight) *is_ordinary = false;
        const double factor = ScaleBy(scale.mantissa, scale.exponent);
        double weights[kBlock] = {};
        if (last - first == kBlock) {
          for (int j = 0; j < kBlock; j += 8) {
            (factor *
             (Lanes::Load(powers + j) * Lanes::Load(poisson.table + j)))
                .Store(weights + j);
          }
        } else {
          for (int j = first; j < last; ++j) {
            weights[j] = factor * (powers[j] * poisson.table[j]);
          }
        }
        add(weights);
      });
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_WEIGHTS_H_
