// Multiplies square matrices whose entries have tangents. Values and tangents
// are multiplied as separate matrices of doubles,
//   (A B)' = A B' + A' B,
// which is several times as fast as multiplying dual numbers.

#ifndef PHASIC_NATIVE_KERNEL_MATRIX_TANGENT_PRODUCT_H_
#define PHASIC_NATIVE_KERNEL_MATRIX_TANGENT_PRODUCT_H_

#include <cstdint>

#include "native/kernel/matrix/dense_product.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

template <>
class DenseProduct<Dual<double>> {
 public:
  bool Allocate(int64_t stride, Workspace* workspace) {
    stride_ = stride;
    count_ = stride * stride;
    if (!product_.Allocate(stride, workspace)) return false;
    for (double** part : {&a_, &b_, &a_tangents_, &b_tangents_, &sums_}) {
      *part = AllocateZeros<double>(workspace, count_);
      if (*part == nullptr) return false;
    }
    return true;
  }

  // Computes C += A B.
  void Add(const Dual<double>* a, const Dual<double>* b, Dual<double>* c) {
    const bool is_square = a == b;
    const double* y = is_square ? a_ : b_;
    const double* dy = is_square ? a_tangents_ : b_tangents_;
    // DenseProduct<double> multiplies four rows at once, and skips zeros only
    // where all four rows are zero. So it may compute zero times infinity,
    // which is NaN. AddByRows skips every zero.
    if (!Split(a, a_, a_tangents_) ||
        (!is_square && !Split(b, b_, b_tangents_))) {
      return AddByRows(a, b, c);
    }
    for (int64_t i = 0; i < count_; ++i) sums_[i] = c[i].value;
    product_.Add(a_, y, sums_);
    for (int64_t i = 0; i < count_; ++i) {
      c[i].value = sums_[i];
      sums_[i] = c[i].tangent;
    }
    product_.Add(a_, dy, sums_);
    product_.Add(a_tangents_, y, sums_);
    for (int64_t i = 0; i < count_; ++i) c[i].tangent = sums_[i];
  }

 private:
  // Copies values and tangents. Returns whether all are finite.
  bool Split(const Dual<double>* x, double* values, double* tangents) const {
    bool is_other = false;  // for all numbers, without branches
    for (int64_t i = 0; i < count_; ++i) {
      values[i] = x[i].value;
      tangents[i] = x[i].tangent;
      is_other |= !IsFinite(x[i].value);
      is_other |= !IsFinite(x[i].tangent);
    }
    return !is_other;
  }

  void AddByRows(const Dual<double>* a, const Dual<double>* b,
                 Dual<double>* c) const {
    for (int64_t i = 0; i < stride_; ++i) {
      AddRowTimes(a + i * stride_, b, stride_, c + i * stride_);
    }
  }

  int64_t stride_ = 0;
  int64_t count_ = 0;
  DenseProduct<double> product_;
  double* a_ = nullptr;
  double* b_ = nullptr;
  double* a_tangents_ = nullptr;
  double* b_tangents_ = nullptr;
  double* sums_ = nullptr;  // values, then tangents, of the result
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MATRIX_TANGENT_PRODUCT_H_
