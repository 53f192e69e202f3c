// The adjoint of short polynomials in P: computes G = dF/dP for all entries,
// and dF/ds, as sums over several polynomials.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SQUARING_JUMP_SUMS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SQUARING_JUMP_SUMS_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/matrix/dense_product.h"
#include "native/kernel/matrix/operator.h"
#include "native/kernel/model/model.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/step_weights.h"

namespace phasic {
namespace PHASIC_ISA {

// Computes matrix += 2^shift v^T y. Vectors and matrices are padded to
// `stride`.
template <class T>
inline void AddOuter(const T* v, const T* y, int64_t shift, int64_t stride,
                     T* matrix) {
  for (int64_t i = 0; i < stride; ++i) {
    const T factor = ScaleBy(v[i], shift);
    if (!IsZero(factor)) AddMultiple(factor, y, stride, matrix + i * stride);
  }
}

template <class T>
class JumpSums {
 public:
  explicit JumpSums(const Model<T>& model)
      : model_(model), stride_(MatrixStride(model.size)) {}

  bool Allocate(Workspace* workspace) {
    jumps_ = AllocateZeros<T>(workspace, stride_ * stride_);
    exits_ = AllocateZeros<T>(workspace, stride_);
    powers_ = AllocateZeros<T>(workspace, (kStepTerms + 2) * stride_);
    return jumps_ && exits_ && powers_;
  }

  bool is_allocated() const { return powers_ != nullptr; }
  T* jumps() { return jumps_; }  // [stride, stride], G
  const T* jumps() const { return jumps_; }
  T* exits() { return exits_; }  // [stride], dF/ds
  const T* exits() const { return exits_; }

  // Propagates back through F = sum_{k < count} v P^k (y_weights[k] y +
  // exit_weights[k] s), where v and y are relative to 2^v_exponent and
  // 2^y_exponent. Adds dF/dP and dF/ds to the sums, and replaces y by dF/dv.
  void Sweep(const T* v, int64_t v_exponent, int count, const T* y_weights,
             const T* exit_weights, T* y, int64_t y_exponent) {
    std::copy(v, v + model_.stride, powers_);
    for (int k = 1; k < count; ++k) {
      Apply(model_.forward, 0, powers_ + (k - 1) * stride_,
            static_cast<T*>(nullptr), powers_ + k * stride_);
    }
    const int64_t shift = v_exponent + y_exponent;
    T* sum = powers_ + kStepTerms * stride_;
    T* after = sum + stride_;
    std::fill(after, after + stride_, T(0.0));
    for (int k = count - 1; k >= 0; --k) {
      const T* power = powers_ + k * stride_;
      if (k + 1 < count) AddOuter(power, after, shift, stride_, jumps_);
      for (int64_t i = 0; i < model_.size; ++i) {
        exits_[i] += ScaleBy(exit_weights[k] * power[i], shift);
      }
      const Source<T> exits = {exit_weights[k], model_.exits};
      Apply(model_.backward, 0, exits, after, static_cast<T*>(nullptr), sum);
      AddMultiple(y_weights[k], y, stride_, sum);
      std::swap(sum, after);
    }
    std::copy(after, after + stride_, y);
  }

 private:
  const Model<T>& model_;
  const int64_t stride_;
  T* jumps_ = nullptr;
  T* exits_ = nullptr;
  T* powers_ = nullptr;  // v P^k, and two more vectors
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SQUARING_JUMP_SUMS_H_
