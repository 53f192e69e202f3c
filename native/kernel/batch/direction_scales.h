// Scales the tangents and the cotangents of one model by powers of two, so that
// their products with states and adjoints neither underflow nor overflow.
//
// A derivative is linear in each tangent and in the cotangent, and a product
// with a power of two is exact. So tangents or cotangents whose size is far
// from that of the operands are divided by a power of two near their size, and
// the sweep multiplies its results by this power (SweepInput::exponent). Those
// of moderate size are not scaled, unless some are subnormal numbers, which
// sweeps would take for zero.

#ifndef PHASIC_NATIVE_KERNEL_BATCH_DIRECTION_SCALES_H_
#define PHASIC_NATIVE_KERNEL_BATCH_DIRECTION_SCALES_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "native/kernel/api/sweep.h"
#include "native/kernel/batch/batch_plan.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/runtime/workspace.h"

namespace phasic {

class DirectionScales {
 public:
  explicit DirectionScales(const BatchPlan& plan)
      : plan_(plan), orders_(plan.call().order - (plan.adjoint() ? 1 : 0)) {}

  void SetMemory(Workspace* workspace) { workspace_ = workspace; }

  // Replaces tangents and cotangents whose size is far from that of the
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
    const int64_t exponent = CotangentExponent(in);
    in->exponent += exponent;
    return exponent == 0 ||
           Scale(SizeOf(kTimes), exponent, &cotangent_, &in->cotangent);
  }

 private:
  // Tangents of sizes between 2^-64 and 2^64, relative to the operands, and
  // cotangents between 2^-150 and 2^150 are not scaled.
  static constexpr double kModerateTangent = 0x1p64;
  static constexpr double kModerateCotangent = 0x1p150;
  // No number is scaled down below 2^kLeastExponent, so that none is flushed to
  // zero.
  static constexpr int64_t kLeastExponent = -1000;

  // Of some tangents or cotangents, the largest absolute value, and whether a
  // number is subnormal. NaN is ignored, since all comparisons with it are
  // false: it remains NaN at any scale.
  struct Sizes {
    double largest = 0.0;
    bool has_subnormal = false;
  };
  static Sizes SizesOf(const double* x, int64_t count, Sizes sizes) {
    for (int64_t i = 0; i < count; ++i) {
      const double size = std::fabs(x[i]);
      if (size > sizes.largest) sizes.largest = size;
      sizes.has_subnormal |= PHASIC_ISA::IsSubnormal(x[i]);
    }
    return sizes;
  }
  // Returns the smaller of `smallest` and the smallest nonzero |x[i]|.
  static double SmallestOf(const double* x, int64_t count, double smallest) {
    for (int64_t i = 0; i < count; ++i) {
      const double size = std::fabs(x[i]);
      if (size > 0.0 && size < smallest) smallest = size;
    }
    return smallest;
  }

  // Returns whether a size is between 1 / limit and `limit`.
  static bool IsModerate(double size, double limit) {
    return size > 1.0 / limit && size < limit;
  }

  // Returns the exponent e of the power 2^e by which numbers are divided. It is
  // `largest`, the exponent of the largest number, or a smaller exponent that
  // keeps the smallest number above 2^kLeastExponent. Returns 0 if 2^|e| is at
  // most `limit` and no number is subnormal. `size` is the largest number.
  static int64_t Limited(int64_t largest, double size, double smallest,
                         double limit) {
    const int64_t least = std::ilogb(smallest);
    const int64_t most = least - kLeastExponent;
    if (PHASIC_ISA::IsSubnormal(smallest)) {
      // Keeps `size` finite, unless the smallest number would be lost then.
      const int64_t finite = std::ilogb(size) - 1022;
      return std::max(std::min(largest, most), std::min(finite, least + 1022));
    }
    const int64_t exponent = std::min(largest, std::max<int64_t>(most, 0));
    return std::abs(exponent) > std::ilogb(limit) ? exponent : 0;
  }

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

  // Calls visit(entries, count) for each run of the entries that sweeps read,
  // in an operand or in its tangent. The diagonal of a subgenerator is not read
  // if exits are given.
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
  double LargestValue(SweepInput* in, int32_t operand) const {
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

  // Returns the exponent of a direction's size, or 0 if the size is moderate,
  // zero or not finite. The size is the largest tangent relative to a unit. The
  // unit is the largest probability for tangents of probabilities, the largest
  // rate for tangents of rates (or of the parameters of edges), and the inverse
  // of the largest rate for tangents of times.
  int64_t TangentExponent(SweepInput* in, int order) const {
    double mass =
        std::max(LargestValue(in, kInitialProbs), LargestValue(in, kProbZero));
    double rate = in->discrete ? 1.0
                               : std::max(LargestValue(in, kSubgenerator),
                                          LargestValue(in, kExitRates));
    if (!(mass > 0.0)) mass = 1.0;
    if (!(rate > 0.0)) rate = 1.0;
    // The inverse of a subnormal rate may be infinite.
    const double time = std::min(1.0 / rate, 0x1p1023);
    const double units[kNumOperands] = {mass, rate, rate, mass, time};
    Sizes sizes[kNumOperands];
    double largest = 0.0;
    bool has_subnormal = false;
    for (int32_t i = 0; i < kNumOperands; ++i) {
      ForEachPart(i, OperandOf(in, i)->tangents[order],
                  [&](const double* x, int64_t count) {
                    sizes[i] = SizesOf(x, count, sizes[i]);
                  });
      largest = std::max(largest, sizes[i].largest / units[i]);
      has_subnormal |= sizes[i].has_subnormal;
    }
    if (IsModerate(largest, kModerateTangent) && !has_subnormal) return 0;
    return ExtremeExponent(in, order, sizes, units);
  }

  // Computes the same exponent from the exponents of `sizes` and `units`, whose
  // ratios may overflow or underflow.
  int64_t ExtremeExponent(SweepInput* in, int order, const Sizes* sizes,
                          const double* units) const {
    int64_t largest = INT64_MIN;
    double largest_size = 0.0;
    double smallest = HUGE_VAL;
    for (int32_t i = 0; i < kNumOperands; ++i) {
      const double size = sizes[i].largest;
      if (size == 0.0) continue;
      if (!(size < HUGE_VAL)) return 0;
      largest_size = std::max(largest_size, size);
      largest =
          std::max<int64_t>(largest, std::ilogb(size) - std::ilogb(units[i]));
      ForEachPart(i, OperandOf(in, i)->tangents[order],
                  [&](const double* x, int64_t count) {
                    smallest = SmallestOf(x, count, smallest);
                  });
    }
    if (largest == INT64_MIN) return 0;
    return Limited(largest, largest_size, smallest, kModerateTangent);
  }

  int64_t CotangentExponent(SweepInput* in) const {
    const int64_t count = SizeOf(kTimes);
    const Sizes sizes = SizesOf(in->cotangent, count, {});
    const double largest = sizes.largest;
    if (largest == 0.0 || !(largest < HUGE_VAL) ||
        (IsModerate(largest, kModerateCotangent) && !sizes.has_subnormal)) {
      return 0;
    }
    return Limited(std::ilogb(largest), largest,
                   SmallestOf(in->cotangent, count, HUGE_VAL),
                   kModerateCotangent);
  }

  // Writes the numbers divided by 2^exponent to `buffer`, and points `numbers`
  // to it. Returns false if memory does not suffice.
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
