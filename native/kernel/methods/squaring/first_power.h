// The first squared power in working precision, for tangents and cotangents: E
// = sum_k w_k P^k with Poisson weights w. The series is a polynomial in P^4
// whose coefficients are B_i = w_{4i} I + w_{4i+1} P + w_{4i+2} P^2 + w_{4i+3}
// P^3. Horner's scheme,
//   H_3 = B_3,  H_i = B_i + P^4 H_{i+1},  E = H_0,
// takes six products of matrices; see power_values.h. Nothing is subtracted.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SQUARING_FIRST_POWER_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SQUARING_FIRST_POWER_H_

#include <algorithm>
#include <cstdint>
#include <utility>

#include "native/kernel/matrix/dense_product.h"
#include "native/kernel/matrix/tangent_product.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/step_weights.h"

namespace phasic {
namespace PHASIC_ISA {

template <class T>
class FirstPower {
 public:
  // `product` multiplies matrices of this stride.
  FirstPower(int64_t size, int64_t stride, DenseProduct<T>* product)
      : size_(size),
        stride_(stride),
        count_(stride * stride),
        product_(*product) {}

  // Allocates memory and computes E. `transitions` is P. Returns false if
  // memory does not suffice.
  bool Run(const T* transitions, Workspace* workspace) {
    transitions_ = transitions;
    for (T*& power : powers_) {
      power = AllocateZeros<T>(workspace, count_);
      if (power == nullptr) return false;
    }
    for (T*& sum : sums_) {
      sum = AllocateZeros<T>(workspace, count_);
      if (sum == nullptr) return false;
    }
    product_.Add(transitions_, transitions_, powers_[0]);
    product_.Add(transitions_, powers_[0], powers_[1]);
    product_.Add(powers_[0], powers_[0], powers_[2]);
    for (int i = kParts - 1; i >= 0; --i) {
      if (i + 1 < kParts) product_.Add(powers_[2], sums_[i + 1], sums_[i]);
      const double* w = weights_.at + 4 * i;
      for (int64_t n = 0; n < count_; ++n) {
        sums_[i][n] += w[1] * transitions_[n] + w[2] * powers_[0][n] +
                       w[3] * powers_[1][n];
      }
      for (int64_t n = 0; n < size_; ++n) {
        sums_[i][n * stride_ + n] += T(w[0]);
      }
    }
    return true;
  }

  // Returns E.
  const T* power() const { return sums_[0]; }

  // Adds to `jumps` the cotangent of P, given that of E, after Run. Returns
  // false if memory does not suffice.
  bool AddCotangent(const T* bar, Workspace* workspace, T* jumps) {
    T* turned = AllocateZeros<T>(workspace, count_);
    T* of_sum = AllocateZeros<T>(workspace, count_);
    T* of_next = AllocateZeros<T>(workspace, count_);
    if (turned == nullptr || of_sum == nullptr || of_next == nullptr) {
      return false;
    }
    // bars[k] is the cotangent of P^(k + 1).
    T* bars[4] = {jumps};
    for (int k = 1; k < 4; ++k) {
      bars[k] = AllocateZeros<T>(workspace, count_);
      if (bars[k] == nullptr) return false;
    }
    std::copy(bar, bar + count_, of_sum);  // the cotangent of H_i
    for (int i = 0; i < kParts; ++i) {
      for (int k = 0; k < 3; ++k) {
        AddMultiple(T(weights_.at[4 * i + k + 1]), of_sum, count_, bars[k]);
      }
      if (i + 1 == kParts) break;
      Transpose(sums_[i + 1], stride_, turned);
      product_.Add(of_sum, turned, bars[3]);
      Transpose(powers_[2], stride_, turned);
      std::fill(of_next, of_next + count_, T(0.0));
      product_.Add(turned, of_sum, of_next);
      std::swap(of_sum, of_next);
    }
    // P^4 = P^2 P^2, P^3 = P P^2 and P^2 = P P.
    Transpose(powers_[0], stride_, turned);
    product_.Add(bars[3], turned, bars[1]);
    product_.Add(turned, bars[3], bars[1]);
    product_.Add(bars[2], turned, bars[0]);
    Transpose(transitions_, stride_, turned);
    product_.Add(turned, bars[2], bars[1]);
    product_.Add(bars[1], turned, bars[0]);
    product_.Add(turned, bars[1], bars[0]);
    return true;
  }

 private:
  static constexpr int kParts = kStepTerms / 4;

  const int64_t size_;
  const int64_t stride_;
  const int64_t count_;
  DenseProduct<T>& product_;
  const StepWeights weights_{kLongestStep};
  const T* transitions_ = nullptr;
  T* powers_[3] = {};     // P^2, P^3 and P^4
  T* sums_[kParts] = {};  // H_0 to H_3
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SQUARING_FIRST_POWER_H_
