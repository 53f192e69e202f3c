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

// What the ladder takes to x, and a step of the power sequence, in half
// nanoseconds: one product for each bit of x / x_0 and each term of the first
// rung, which for counts is one step. The factors are measured.
template <class T>
double LadderCost(const Model<T>& model, double x) {
  const double p = static_cast<double>(model.size);
  return 2.0 * p * p * p * (std::log2(x) + (model.discrete ? 0.0 : 20.0));
}
template <class T>
double StepCost(const Model<T>& model) {
  return static_cast<double>(model.forward.pattern.num_cells()) / 3.0 +
         4.5 * static_cast<double>(model.size);
}

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
  const double cost = LadderCost(model, x);
  if (cost * (1 << (2 * Depth<T>::kValue)) > kMaxWork) return false;
  // The sequence goes on a little beyond x.
  return cost < x * StepCost(model) || x > 0.98 * max_steps;
}

// Whether the power sequence reaches x after all, of which few steps are made
// and the others follow from them, see tail_closure.h: that costs half of the
// ladder at most, which is what it costs to find out. By the model and x alone,
// too. Steps round, see the guide: what the ladder does soon goes by it.
template <class T>
bool FollowsFromFewSteps(double x, Sequence<T>* sequence) {
  if (!sequence->may_close()) return false;
  constexpr double kStepThatFollows = 200.0;
  constexpr double kDear = 2e8;
  const double room = 0.5 * LadderCost(sequence->model(), x);
  if (2.0 * room < kDear || x * kStepThatFollows > room) return false;
  const double steps = room / StepCost(sequence->model());
  const double last = x + 24.0 * std::sqrt(x);
  return sequence->Follows(static_cast<int64_t>(last) / kBlock + 8,
                           static_cast<int64_t>(steps) / kBlock);
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SQUARING_LADDER_CHOICE_H_
