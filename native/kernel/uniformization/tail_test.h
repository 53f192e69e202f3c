// Tests whether the rest of a series with tangents is negligible.

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_TAIL_TEST_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_TAIL_TEST_H_

#include <cstdint>

#include "native/kernel/model/model.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr int64_t kNoExponent = INT64_MIN / 4;  // no terms yet

// Multiplies x by 1 + eps_i for all tangent units eps_i. For nonnegative x, the
// result is in every component at least as large as x times any single eps_i.
template <class U>
void SpreadTangents(U*) {}
template <class U>
void SpreadTangents(Dual<U>* x) {
  SpreadTangents(&x->value);
  SpreadTangents(&x->tangent);
  x->tangent += x->value;
}
template <class T>
T AllTangents(const T& x) {
  T result = x;
  SpreadTangents(&result);
  return result;
}

// Returns whether the terms of a block and all later blocks are negligible in
// the sums of all channels. `sizes` are the sums of the absolute values of the
// terms before the block, by component. `tail` is a bound on the sum of the
// remaining weights.
template <class T>
bool TailIsNegligible(const Model<T>& model, Base base, int num_channels,
                      int64_t block, const Scaled<double>& tail,
                      int64_t exponent, const T* sums, const T* sizes) {
  const double k = static_cast<double>(block * kBlock);
  T cap = model.initial_size;
  for (int order = 0; order < Depth<T>::kValue; ++order) {
    cap = cap + (k * model.growth[order]) * AllTangents(cap);
  }
  // Within the tail the bound grows at most as k^depth, where depth is the
  // number of nested dual numbers. The factor allows for this growth.
  cap = cap * (4.0 * (1 << (2 * Depth<T>::kValue)) * tail.mantissa);
  const T exit_cap = cap * model.exit_size;
  T first_cap = cap;
  if (base == Base::kDensity) first_cap = exit_cap;
  if (base == Base::kCdf) {
    first_cap =
        tail.mantissa * Abs(model.prob_zero) + cap + (k / model.q) * exit_cap;
  }
  const Scaled<double> size = SizeOf(sums[0], exponent);
  if (IsAtMost(SizeOf(first_cap, tail.exponent), -1200, size)) return true;
  if (k < static_cast<double>((Depth<T>::kValue + 1) * (model.size + 1))) {
    return false;
  }
  // All terms so far are zero. They obey a linear recurrence whose order is at
  // most their number. So all later terms are zero, too.
  if (exponent == kNoExponent) return true;
  const int64_t shift = tail.exponent - exponent;
  if (shift > 1000) return false;
  for (int r = 0; r < num_channels; ++r) {
    const T channel_cap = r == 0 || base == Base::kDensity
                              ? first_cap
                              : exit_cap * (1.0 / model.q);
    if (!IsWithin(ScaleBy(channel_cap, shift < -1000 ? -1000 : shift), 0x1p-60,
                  sizes[r])) {
      return false;
    }
  }
  return true;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_TAIL_TEST_H_
