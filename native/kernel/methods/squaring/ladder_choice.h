// Which times go by the doubling ladder.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SQUARING_LADDER_CHOICE_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SQUARING_LADDER_CHOICE_H_

#include <cmath>
#include <cstdint>

#include "native/kernel/model/model.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/sequence.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr int64_t kMaxLadderPhases = 512;
constexpr double kLeastLadderX = 0x1p9;
constexpr double kLargestLadderX = 0x1p52;  // 2^58 first steps

// Whether x = q t, or the count x, goes by the ladder: where its matrix
// products cost less than the steps of the power sequence, or where those are
// more than may be done, and the products are not. That depends on the model
// and on x alone, so that a value does not depend on what else is in the call.
// Rungs are made of plain doubles.
template <class T>
bool UsesLadder(const Model<T>& model, double x, double max_steps) {
  if (HasOwnExponent<T>::kValue || model.size > kMaxLadderPhases ||
      !(x >= kLeastLadderX) || !(x < kLargestLadderX)) {
    return false;
  }
  const double p = static_cast<double>(model.size);
  // One product for each bit of x / x_0 and each term of the first rung, which
  // for counts is one step. The factors are measured: they make both sides
  // times alike, in half nanoseconds.
  const double squarings = std::log2(x) + (model.discrete ? 0.0 : 20.0);
  const double products = 2.0 * p * p * p * squarings;
  if (products * (1 << (2 * Depth<T>::kValue)) > kMaxWork) return false;
  const double step =
      static_cast<double>(model.forward.pattern.num_cells()) / 3.0 + 4.5 * p;
  // The sequence goes on a little beyond x.
  return products < x * step || x > 0.98 * max_steps;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SQUARING_LADDER_CHOICE_H_
