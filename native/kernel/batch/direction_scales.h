// Scales the tangents and the cotangents of one model by powers of two, so that
// their products with states and adjoints neither underflow nor overflow.
//
// Derivatives are linear in each direction, and a power of two rounds nothing.
// So a direction far from the size of the operands themselves is divided by its
// size, and the sweep multiplies its results by it (SweepInput::exponent).
// Directions of moderate size are not touched.

#ifndef PHASIC_NATIVE_KERNEL_BATCH_DIRECTION_SCALES_H_
#define PHASIC_NATIVE_KERNEL_BATCH_DIRECTION_SCALES_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "native/kernel/api/sweep.h"
#include "native/kernel/batch/batch_plan.h"
#include "native/kernel/runtime/workspace.h"

namespace phasic {

class DirectionScales {
 public:
  explicit DirectionScales(const BatchPlan& plan)
      : plan_(plan), orders_(plan.call().order - (plan.adjoint() ? 1 : 0)) {}

  void SetMemory(Workspace* workspace) { workspace_ = workspace; }

  // Replaces the directions of a model that are far from the size of its
  // operands by scaled copies, which are valid until the next call. Returns
  // false if memory does not suffice.
  bool Apply(SweepInput* in) {
    in->exponent = 0;
    for (int order = 0; order < orders_; ++order) {
      const int64_t exponent = TangentExponent(in, order);
      in->exponent += exponent;
      for (int32_t i = 0; exponent != 0 && i < kNumOperands; ++i) {
        if (!Scale(SizeOf(i), exponent, &tangents_[order][i],
                   &OperandOf(in, i)->tangents[order])) {
          return false;
        }
      }
    }
    if (!plan_.adjoint()) return true;
    Range range;
    range.Add(in->cotangent, SizeOf(kTimes), 1.0);
    const int64_t exponent = range.Exponent(kModerateCotangent);
    in->exponent += exponent;
    return exponent == 0 ||
           Scale(SizeOf(kTimes), exponent, &cotangent_, &in->cotangent);
  }

 private:
  // Tangents of sizes between 2^-64 and 2^64, relative to the operands, and
  // cotangents between 2^-150 and 2^150 are not scaled.
  static constexpr int64_t kModerateTangent = 64;
  static constexpr int64_t kModerateCotangent = 150;
  // Nothing is scaled down below this, so that nothing is flushed to zero.
  static constexpr int64_t kLeastExponent = -1000;

  // Collects the exponents of the largest number, relative to its unit, and of
  // the smallest one that is not zero.
  class Range {
   public:
    void Add(const double* x, int64_t count, double unit) {
      double largest = 0.0;
      double smallest = HUGE_VAL;
      for (int64_t i = 0; i < count; ++i) {
        const double size = std::fabs(x[i]);
        // NaN stays, as comparisons with it are false.
        if (!(size <= largest)) largest = size;
        if (size > 0.0 && size < smallest) smallest = size;
      }
      if (largest == 0.0) return;
      is_finite_ = is_finite_ && largest < HUGE_VAL;
      if (!is_finite_) return;
      largest_ =
          std::max<int64_t>(largest_, std::ilogb(largest) - std::ilogb(unit));
      smallest_ = std::min<int64_t>(smallest_, std::ilogb(smallest));
    }

    // Returns the exponent by which the numbers are divided, so that the
    // largest is near one: 0 if it is moderate, zero or not finite.
    int64_t Exponent(int64_t moderate) const {
      if (!is_finite_ || largest_ == kNone) return 0;
      const int64_t most = std::max<int64_t>(smallest_ - kLeastExponent, 0);
      const int64_t exponent = std::min(largest_, most);
      return std::abs(exponent) > moderate ? exponent : 0;
    }

   private:
    static constexpr int64_t kNone = INT64_MIN;
    int64_t largest_ = kNone;
    int64_t smallest_ = INT64_MAX;
    bool is_finite_ = true;
  };

  static OperandView* OperandOf(SweepInput* in, int32_t operand) {
    OperandView* const views[kNumOperands] = {
        &in->initial_probs, &in->subgenerator, &in->exit_rates, &in->prob_zero,
        &in->times};
    return views[operand];
  }
  int64_t SizeOf(int32_t operand) const {
    const Layout& layout = plan_.layout();
    if (operand == kExitRates && !layout.has_exit_rates) return 0;
    if (operand == kProbZero && !layout.has_prob_zero) return 0;
    return plan_.ModelSize(operand);
  }

  // Calls visit(numbers, count) for the entries of an operand, or of its
  // tangent, that are read: not for the diagonal of a subgenerator if exits are
  // given.
  template <class Visit>
  void ForEachPart(int32_t operand, const double* numbers,
                   const Visit& visit) const {
    const Layout& layout = plan_.layout();
    if (operand != kSubgenerator || layout.has_edges ||
        !layout.has_exit_rates || plan_.call().discrete) {
      return visit(numbers, SizeOf(operand));
    }
    const int64_t p = layout.num_phases;
    for (int64_t i = 0; i < p; ++i, numbers += p) {
      visit(numbers, i);
      visit(numbers + i + 1, p - i - 1);
    }
  }

  // Returns the largest finite value of an operand.
  double LargestOf(SweepInput* in, int32_t operand) const {
    double largest = 0.0;
    ForEachPart(operand, OperandOf(in, operand)->value,
                [&largest](const double* x, int64_t count) {
                  for (int64_t i = 0; i < count; ++i) {
                    const double size = std::fabs(x[i]);
                    if (size > largest && size < HUGE_VAL) largest = size;
                  }
                });
    return largest;
  }

  // Returns the exponent of a direction's size. Tangents of masses are compared
  // with the largest mass, those of rates (or of the parameters of edges) with
  // the largest rate, and those of times with its inverse.
  int64_t TangentExponent(SweepInput* in, int order) const {
    double mass =
        std::max(LargestOf(in, kInitialProbs), LargestOf(in, kProbZero));
    double rate = in->discrete ? 1.0
                               : std::max(LargestOf(in, kSubgenerator),
                                          LargestOf(in, kExitRates));
    if (!(mass > 0.0)) mass = 1.0;
    if (!(rate > 0.0)) rate = 1.0;
    const double units[kNumOperands] = {mass, rate, rate, mass, 1.0 / rate};
    Range range;
    for (int32_t i = 0; i < kNumOperands; ++i) {
      ForEachPart(i, OperandOf(in, i)->tangents[order],
                  [&](const double* x, int64_t count) {
                    range.Add(x, count, units[i]);
                  });
    }
    return range.Exponent(kModerateTangent);
  }

  // Points `numbers` to a copy of them divided by 2^exponent, in `buffer`.
  bool Scale(int64_t count, int64_t exponent, double** buffer,
             const double** numbers) {
    if (*buffer == nullptr) {
      *buffer = static_cast<double*>(
          workspace_->Allocate(static_cast<size_t>(count), sizeof(double)));
      if (*buffer == nullptr) return false;
    }
    for (int64_t i = 0; i < count; ++i) {
      (*buffer)[i] = std::ldexp((*numbers)[i], static_cast<int>(-exponent));
    }
    *numbers = *buffer;
    return true;
  }

  const BatchPlan& plan_;
  const int orders_;
  Workspace* workspace_ = nullptr;
  double* tangents_[kMaxOrder][kNumOperands] = {};
  double* cotangent_ = nullptr;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_BATCH_DIRECTION_SCALES_H_
