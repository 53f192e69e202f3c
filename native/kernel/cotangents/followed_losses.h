// Bounds on the flushing errors of a cotangent that is propagated back through
// the squared powers, with one bound for each phase. A single bound for all
// phases would be too coarse: derivatives in the initial probability of a phase
// that is left at once are far below the largest one.

#ifndef PHASIC_NATIVE_KERNEL_COTANGENTS_FOLLOWED_LOSSES_H_
#define PHASIC_NATIVE_KERNEL_COTANGENTS_FOLLOWED_LOSSES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "native/kernel/matrix/dense_product.h"
#include "native/kernel/matrix/operator.h"
#include "native/kernel/methods/squaring/ladder.h"
#include "native/kernel/methods/squaring/ladder_slopes.h"
#include "native/kernel/model/model.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/step_weights.h"

namespace phasic {
namespace PHASIC_ISA {

// Extended doubles have no losses, and for duals none are computed: starts() is
// nullptr.
template <class T>
class FollowedLosses {
 public:
  explicit FollowedLosses(const Model<T>&) {}
  bool Allocate(int64_t, Workspace*) { return true; }
  void Start() {}
  void Add(double) {}
  void AddRung(const Rung<T>&, const T*, int64_t) {}
  void Scale(int64_t) {}
  void Carry(const T*) {}
  void Carry(const StepWeights&) {}
  bool AddToStarts(int64_t) { return false; }
  const double* starts() const { return nullptr; }
  int64_t exponent() const { return 0; }
};

template <>
class FollowedLosses<double> {
 public:
  explicit FollowedLosses(const Model<double>& model) : model_(model) {}

  bool Allocate(int64_t stride, Workspace* workspace) {
    stride_ = stride;
    for (double** vector : {&losses_, &next_, &scratch_, &starts_}) {
      *vector = AllocateZeros<double>(workspace, stride);
      if (*vector == nullptr) return false;
    }
    return true;
  }

  // Sets all losses to zero; called at the end of a path.
  void Start() {
    std::fill(losses_, losses_ + stride_, 0.0);
    largest_ = 0.0;
  }

  // Adds a loss, in multiples of kLossUnit, to the bound of every phase.
  void Add(double loss) {
    if (loss == 0.0) return;
    largest_ += loss;
    for (int64_t i = 0; i < model_.size; ++i) losses_[i] += loss;
  }

  // Adds the losses of the product y of a squared power with a cotangent whose
  // largest entry is at most two; y is scaled by 2^headroom. As the terms of
  // the product have one sign, relative errors of the power are those of the
  // product.
  void AddRung(const Rung<double>& rung, const double* y, int64_t headroom) {
    if (!(rung.relative_loss < kMostRelative)) return Add(2.0 * rung.row_loss);
    if (rung.relative_loss == 0.0) return;
    const double loss = ScaleBy(rung.relative_loss / kLossUnit, -headroom);
    for (int64_t i = 0; i < model_.size; ++i) {
      losses_[i] += loss * std::fabs(y[i]);
    }
    largest_ += loss * LargestSize(y, stride_);
  }

  void Scale(int64_t e) {
    ScaleAllBy(losses_, model_.size, e);
    largest_ = ScaleBy(largest_, e);
  }

  // Propagates the bounds back through a squared power E: computes E losses.
  void Carry(const double* matrix) {
    if (!HasAny()) return;
    const bool underflowed = FloatEnvironment::Underflowed();
    for (int64_t i = 0; i < model_.size; ++i) {
      next_[i] = Dot(matrix + i * stride_, losses_, stride_);
    }
    Arrive(underflowed);
  }

  // Propagates the bounds back through a step, sum_k weights[k] P^k losses, by
  // Horner's scheme.
  void Carry(const StepWeights& weights) {
    if (!HasAny()) return;
    const bool underflowed = FloatEnvironment::Underflowed();
    std::fill(next_, next_ + stride_, 0.0);
    for (int k = kStepTerms - 1; k >= 0; --k) {
      Apply(model_.backward, 0, next_, static_cast<double*>(nullptr), scratch_);
      std::swap(next_, scratch_);
      AddMultiple(weights.at[k], losses_, stride_, next_);
    }
    Arrive(underflowed);
  }

  // Adds the bounds at the beginning of a path, whose cotangent is relative to
  // 2^exponent, to `starts`. Returns false if they are infinite.
  bool AddToStarts(int64_t exponent) {
    if (!(largest_ < HUGE_VAL)) return false;
    AddScaled(losses_, exponent + kLossExponent, model_.size, starts_,
              &exponent_);
    return true;
  }

  // Returns the sum of the bounds over all paths, relative to 2^exponent.
  const double* starts() const { return starts_; }
  int64_t exponent() const { return exponent_; }

 private:
  bool HasAny() const { return largest_ > 0.0 && largest_ < HUGE_VAL; }

  // Replaces the bounds by the propagated ones. These do not grow, as row sums
  // are at most one. Underflow in these products is less than the smallest loss
  // that is added.
  void Arrive(bool underflowed) {
    std::swap(losses_, next_);
    Add(0x1p-1000);
    if (!underflowed) FloatEnvironment::ClearUnderflow();
  }

  // Larger errors may matter.
  static constexpr double kMostRelative = 0x1p-60;

  const Model<double>& model_;
  int64_t stride_ = 0;
  double* losses_ = nullptr;
  double* next_ = nullptr;
  double* scratch_ = nullptr;
  double* starts_ = nullptr;
  int64_t exponent_ = kExponentOfZero;
  double largest_ = 0.0;  // a bound on all losses
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_COTANGENTS_FOLLOWED_LOSSES_H_
