// Products of square matrices whose entries have tangents: values and tangents
// are multiplied as matrices of doubles,
//   (A B)' = A B' + A' B,
// which is several times as fast as products of dual numbers.

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
    bool are_finite = true;
    for (int64_t i = 0; i < count_; ++i) {
      are_finite = are_finite && IsFinite(a[i]) && IsFinite(b[i]);
      a_[i] = a[i].value;
      b_[i] = b[i].value;
      a_tangents_[i] = a[i].tangent;
      b_tangents_[i] = b[i].tangent;
      sums_[i] = c[i].value;
    }
    // Four rows are multiplied at once, and zeros of one would make NaN of what
    // is not finite for another.
    if (!are_finite) return AddByRows(a, b, c);
    product_.Add(a_, b_, sums_);
    for (int64_t i = 0; i < count_; ++i) {
      c[i].value = sums_[i];
      sums_[i] = c[i].tangent;
    }
    product_.Add(a_, b_tangents_, sums_);
    product_.Add(a_tangents_, b_, sums_);
    for (int64_t i = 0; i < count_; ++i) c[i].tangent = sums_[i];
  }

 private:
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
