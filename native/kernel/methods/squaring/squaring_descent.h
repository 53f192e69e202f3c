// Propagates the cotangents of the squared powers from each power to the
// previous one, down to G = dF/dP:
//   Ebar_j += Ebar_{j+1} E_j^T + E_j^T Ebar_{j+1} + abar_{j+1} a_j^T,
//   abar_j += abar_{j+1} + E_j^T abar_{j+1}.
// A power is regarded as a function of all entries of P and of the exits, as in
// adjoint.h: nothing is subtracted.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_DESCENT_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_DESCENT_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/matrix/dense_product.h"
#include "native/kernel/matrix/tangent_product.h"
#include "native/kernel/methods/squaring/first_power.h"
#include "native/kernel/methods/squaring/jump_sums.h"
#include "native/kernel/methods/squaring/squared_powers.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/step_weights.h"

namespace phasic {
namespace PHASIC_ISA {

// The cotangents of a squared power's matrix and absorption probabilities,
// which are scaled by powers of two as in SquaredPower.
template <class T>
struct PowerCotangent {
  T* matrix;
  T* absorbed;
  Scaled<double> lost;  // loss by flushing to zero in a column's sum
};

template <class T>
class SquaringDescent {
 public:
  SquaringDescent(const SquaredPowers<T>& squared_powers, Workspace* workspace)
      : squared_powers_(squared_powers),
        workspace_(workspace),
        stride_(squared_powers.stride()) {}

  // Allocates the cotangents of the squared powers with numbers below `count`.
  // Returns false if memory does not suffice.
  bool Reach(int64_t count) {
    if (bars_ == nullptr) {
      bars_ = static_cast<PowerCotangent<T>*>(
          workspace_->Allocate(kMaxPowers, sizeof(PowerCotangent<T>)));
    }
    if (bars_ == nullptr) return false;
    for (; num_bars_ < count; ++num_bars_) {
      PowerCotangent<T>* bar = &bars_[num_bars_];
      bar->matrix = AllocateMatrix();
      bar->absorbed = AllocateZeros<T>(workspace_, stride_);
      bar->lost = Scaled<double>{};
      if (bar->matrix == nullptr || bar->absorbed == nullptr) return false;
    }
    return true;
  }
  PowerCotangent<T>* bar(int64_t j) { return &bars_[j]; }

  // Propagates all cotangents down and adds their contributions to `sums`.
  // `has_absorbed` tells whether absorption probabilities have cotangents.
  StatusCode Run(bool has_absorbed, JumpSums<T>* sums, Scaled<double>* lost) {
    if (!Allocate()) return kMemoryLimit;
    for (int64_t j = num_bars_ - 1; j > 0; --j) Descend(j, has_absorbed);
    FloatEnvironment::ClearUnderflow();
    if (squared_powers_.model().discrete) {
      AddFirst(sums);
    } else {
      FirstPower<T> first(squared_powers_.model().size, stride_, &products_);
      if (!first.Run(squared_powers_.transitions(), workspace_) ||
          !first.AddCotangent(bars_[0].matrix, workspace_, sums->jumps())) {
        return kMemoryLimit;
      }
      if (has_absorbed) SweepFirstAbsorbed(sums);
    }
    Add(lost, bars_[0].lost);
    Add(lost, Scaled<double>{NewLoss(), kLossExponent});
    return kOk;
  }

 private:
  bool Allocate() {
    product_ = AllocateMatrix();
    turned_ = AllocateMatrix();
    vector_ = AllocateZeros<T>(workspace_, stride_);
    return product_ && turned_ && vector_ &&
           products_.Allocate(stride_, workspace_);
  }
  T* AllocateMatrix() {
    return AllocateZeros<T>(workspace_, stride_ * stride_);
  }
  void Clear(T* matrix) const {
    std::fill(matrix, matrix + stride_ * stride_, T(0.0));
  }

  // Propagates the cotangents of power j to power j - 1.
  void Descend(int64_t j, bool has_absorbed) {
    FloatEnvironment::ClearUnderflow();
    const SquaredPower<T>& squared = squared_powers_.squared(j);
    const SquaredPower<T>& below = squared_powers_.squared(j - 1);
    const PowerCotangent<T>& from = bars_[j];
    PowerCotangent<T>* to = &bars_[j - 1];
    // A factor, whose entries are at most one, is scaled rather than the
    // product, so that far entries of the product are in range. Tangents have
    // no bound.
    constexpr int64_t kMostEarly = Depth<T>::kValue == 0 ? 500 : 0;
    const int64_t early = std::min(squared.increment, kMostEarly);
    Transpose(below.matrix, stride_, turned_);
    ScaleAllBy(turned_, stride_ * stride_, early);
    const bool is_late = squared.increment != early;
    if (is_late) Clear(product_);
    T* sum = is_late ? product_ : to->matrix;
    products_.Add(from.matrix, turned_, sum);
    products_.Add(turned_, from.matrix, sum);
    for (int64_t i = 0; is_late && i < stride_ * stride_; ++i) {
      to->matrix[i] += ScaleBy(product_[i], squared.increment - early);
    }
    double absorbed_size = 0.0;
    if (has_absorbed) {
      AddOuter(from.absorbed, below.absorbed, below.exponent, stride_,
               to->matrix);
      std::fill(vector_, vector_ + stride_, T(0.0));
      AddRowTimes(from.absorbed, below.matrix, stride_, vector_);
      for (int64_t i = 0; i < stride_; ++i) {
        absorbed_size += MaxAbs(from.absorbed[i]);
        to->absorbed[i] +=
            from.absorbed[i] + ScaleBy(vector_[i], below.exponent);
      }
    }
    const double loss = below.row_loss > 0.0
                            ? 2.0 * below.row_loss * LargestColumn(from.matrix)
                            : 0.0;
    Add(&to->lost, Scaled<double>{2.0 * from.lost.mantissa,
                                  from.lost.exponent + squared.increment});
    Add(&to->lost,
        Scaled<double>{loss + NewLoss(), squared.increment + kLossExponent});
    Add(&to->lost,
        Scaled<double>{absorbed_size * below.absorbed_loss, kLossExponent});
  }

  // Propagates the cotangent of the first power's absorption probabilities,
  // sum_k W_k P^k s / q, to P and s.
  void SweepFirstAbsorbed(JumpSums<T>* sums) {
    const StepWeights weights(kLongestStep);
    T none[kStepTerms];
    T exit_weights[kStepTerms];
    for (int k = 0; k < kStepTerms; ++k) {
      none[k] = T(0.0);
      exit_weights[k] = T(weights.above[k] / squared_powers_.model().q);
    }
    std::fill(vector_, vector_ + stride_, T(0.0));
    sums->Sweep(bars_[0].absorbed, 0, kStepTerms, none, exit_weights, vector_,
                0);
  }

  // Adds the cotangents of the first power in discrete time, where it is P
  // itself.
  void AddFirst(JumpSums<T>* sums) const {
    const int64_t increment = squared_powers_.squared(0).increment;
    for (int64_t i = 0; i < stride_ * stride_; ++i) {
      sums->jumps()[i] += ScaleBy(bars_[0].matrix[i], increment);
    }
    for (int64_t i = 0; i < stride_; ++i) {
      sums->exits()[i] += bars_[0].absorbed[i];
    }
  }

  double LargestColumn(const T* matrix) const {
    double largest = 0.0;
    for (int64_t j = 0; j < stride_; ++j) {
      double sum = 0.0;
      for (int64_t i = 0; i < stride_; ++i) {
        sum += MaxAbs(matrix[i * stride_ + j]);
      }
      largest = std::max(largest, sum);
    }
    return largest;
  }

  double NewLoss() const {
    const double p = static_cast<double>(squared_powers_.model().size) + 2.0;
    return FloatEnvironment::Underflowed() ? 8.0 * kStepTerms * p * p * kFlushed
                                           : 0.0;
  }

  const SquaredPowers<T>& squared_powers_;
  Workspace* workspace_;
  const int64_t stride_;
  PowerCotangent<T>* bars_ = nullptr;  // [kMaxPowers]
  int64_t num_bars_ = 0;
  DenseProduct<T> products_;
  T* product_ = nullptr;
  T* turned_ = nullptr;  // for a transpose
  T* vector_ = nullptr;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_DESCENT_H_
