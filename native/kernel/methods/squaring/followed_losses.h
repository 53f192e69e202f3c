// Bounds on the flushing errors of a cotangent y that is propagated back
// through the squared powers, with one bound for each phase. A single bound for
// all phases would be too coarse: the derivative with respect to the initial
// probability of a phase that is left at once is far below the largest such
// derivative.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SQUARING_FOLLOWED_LOSSES_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SQUARING_FOLLOWED_LOSSES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "native/kernel/matrix/dense_product.h"
#include "native/kernel/matrix/operator.h"
#include "native/kernel/methods/squaring/power_slopes.h"
#include "native/kernel/methods/squaring/squared_powers.h"
#include "native/kernel/model/model.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/step_weights.h"

namespace phasic {
namespace PHASIC_ISA {

// Bounds for types other than double: extended doubles have no flushing errors,
// and for dual numbers no bounds are computed. starts() returns nullptr.
template <class T>
class FollowedLosses {
 public:
  explicit FollowedLosses(const Model<T>&) {}
  bool Allocate(int64_t, Workspace*) { return true; }
  void Start() {}
  void Add(double) {}
  void AddPower(const SquaredPower<T>&, const T*, int64_t) {}
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

  // Sets all bounds to zero. Must be called where propagation begins, at the
  // end of a path.
  void Start() {
    std::fill(losses_, losses_ + stride_, 0.0);
    largest_ = 0.0;
  }

  // Adds an error, in multiples of kLossUnit, to the bound of every phase.
  void Add(double loss) {
    if (loss == 0.0) return;
    largest_ += loss;
    for (int64_t i = 0; i < model_.size; ++i) losses_[i] += loss;
  }

  // Adds the errors in y that are due to flushing in a squared power. y is
  // 2^headroom times the product of the power and a cotangent whose entries are
  // at most two. The terms of this product have the same sign. So a bound on
  // the relative errors of all entries of the power is also a bound on the
  // relative errors of y.
  void AddPower(const SquaredPower<double>& squared, const double* y,
                int64_t headroom) {
    if (!(squared.relative_loss < kMostRelative)) {
      return Add(2.0 * squared.row_loss);
    }
    if (squared.relative_loss == 0.0) return;
    const double loss = ScaleBy(squared.relative_loss / kLossUnit, -headroom);
    for (int64_t i = 0; i < model_.size; ++i) {
      losses_[i] += loss * std::fabs(y[i]);
    }
    largest_ += loss * LargestSize(y, stride_);
  }

  void Scale(int64_t e) {
    ScaleAllBy(losses_, model_.size, e);
    largest_ = ScaleBy(largest_, e);
  }

  // Propagates the bounds back through a squared power E: multiplies them by E.
  void Carry(const double* matrix) {
    if (!HasAny()) return;
    const bool underflowed = FloatEnvironment::Underflowed();
    for (int64_t i = 0; i < model_.size; ++i) {
      next_[i] = Dot(matrix + i * stride_, losses_, stride_);
    }
    Arrive(underflowed);
  }

  // Propagates the bounds back through a step: multiplies them by sum_k
  // weights.at[k] P^k, by Horner's scheme.
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

  // Adds the bounds, at the beginning of a path, to the bounds for the
  // cotangents of alpha. The cotangent y is relative to 2^exponent. Returns
  // false if a bound is infinite.
  bool AddToStarts(int64_t exponent) {
    if (!(largest_ < HUGE_VAL)) return false;
    AddScaled(losses_, exponent + kLossExponent, model_.size, starts_,
              &exponent_);
    return true;
  }

  // Returns the bounds for the cotangents of alpha, summed over all paths. They
  // are relative to 2^exponent.
  const double* starts() const { return starts_; }
  int64_t exponent() const { return exponent_; }

 private:
  bool HasAny() const { return largest_ > 0.0 && largest_ < HUGE_VAL; }

  // Replaces the bounds by the propagated ones. largest_ remains a bound on
  // them, as row sums are at most one. Adds 2^-1000 for underflow in the
  // propagation itself.
  void Arrive(bool underflowed) {
    std::swap(losses_, next_);
    Add(0x1p-1000);
    if (!underflowed) FloatEnvironment::ClearUnderflow();
  }

  // A bound on the relative errors of a squared power is used only if it is
  // smaller than this.
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

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SQUARING_FOLLOWED_LOSSES_H_
