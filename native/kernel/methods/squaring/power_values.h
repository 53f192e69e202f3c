// Computes the squared powers in twice the working precision. In working
// precision the error of a small rate would count once per jump, and again in
// each power.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SQUARING_POWER_VALUES_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SQUARING_POWER_VALUES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "native/kernel/matrix/accurate_product.h"
#include "native/kernel/matrix/operator.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/step_weights.h"

namespace phasic {
namespace PHASIC_ISA {

// The last squared power that was computed, E = matrix * 2^exponent, and its
// absorption probabilities; see squared_powers.h.
class PowerValues {
 public:
  // The first power is a series if `is_series`, else one step.
  bool Allocate(int64_t size, int64_t stride, bool is_series,
                Workspace* workspace) {
    size_ = size;
    stride_ = stride;
    for (AccurateNumbers& power : powers_) {
      if (is_series && !power.Allocate(stride * stride, workspace)) {
        return false;
      }
    }
    return matrix_.Allocate(stride * stride, workspace) &&
           next_.Allocate(stride * stride, workspace) &&
           transitions_.Allocate(stride * stride, workspace) &&
           absorbed_.Allocate(stride, workspace) &&
           next_absorbed_.Allocate(stride, workspace) &&
           jump_exits_.Allocate(stride, workspace) &&
           product_.Allocate(stride, workspace);
  }

  // The arrays that the caller fills with P and s/q before Start.
  double* transitions() { return transitions_.high; }
  double* jump_exits() { return jump_exits_.high; }
  const double* jump_exits() const { return jump_exits_.high; }
  const AccurateNumbers& numbers() const { return matrix_; }
  const double* matrix() const { return matrix_.high; }
  const double* absorbed() const { return absorbed_.high; }
  int64_t exponent() const { return exponent_; }
  // Returns the exponent i such that the matrix is 2^i times the square of the
  // previous one, or 2^i times the step itself.
  int64_t increment() const { return increment_; }
  // Returns the part of that exponent by which the product was scaled after it
  // was computed; its factors were scaled by half of the rest.
  int64_t late_increment() const { return late_increment_; }
  // Return whether the last power flushed numbers to zero in the matrix, or in
  // the absorption probabilities, which have no exponent.
  bool matrix_underflowed() const { return matrix_underflowed_; }
  bool absorbed_underflowed() const { return absorbed_underflowed_; }

  // Computes the first power, a series in P with Poisson weights, by Horner's
  // scheme: for the matrix a scheme in P^4, which takes six products in place
  // of fifteen (M. S. Paterson, L. J. Stockmeyer, On the number of nonscalar
  // multiplications necessary to evaluate polynomials, SIAM J. Comput. 2,
  // 1973).
  void Start() {
    const StepWeights weights(kLongestStep);
    StartUnderflow();
    CompleteDiagonal();
    // Both sums need all digits. Otherwise phases that are left at equal rates,
    // for absorption or for another phase, would differ by a rounding error in
    // each of the many steps.
    for (int k = kStepTerms - 1; k >= 0; --k) {
      AbsorbNext(transitions_, false);
      for (const double above : {weights.above[k], weights.above_low[k]}) {
        AddMultiples(&above, &jump_exits_, 1, stride_, absorbed_);
      }
    }
    absorbed_underflowed_ |= FloatEnvironment::TakeUnderflow();
    product_.Multiply(transitions_, transitions_, powers_[0]);
    product_.Multiply(transitions_, powers_[0], powers_[1]);
    product_.Multiply(powers_[0], powers_[0], powers_[2]);
    const AccurateNumbers terms[] = {transitions_, powers_[0], powers_[1]};
    for (int k = kStepTerms - 4; k >= 0; k -= 4) {
      if (k + 4 < kStepTerms) {
        product_.Multiply(powers_[2], matrix_, next_);
        std::swap(matrix_, next_);
      }
      AddMultiples(weights.at + k + 1, terms, 3, stride_ * stride_, matrix_);
      for (int64_t i = 0; i < size_; ++i) {
        Add(weights.at[k], i * stride_ + i, &matrix_);
      }
    }
    Balance();
    matrix_underflowed_ |= FloatEnvironment::TakeUnderflow();
  }

  // Sets the first power to one step of a discrete chain.
  void StartWithStep() {
    std::copy(transitions_.high, transitions_.high + stride_ * stride_,
              matrix_.high);
    std::copy(jump_exits_.high, jump_exits_.high + stride_, absorbed_.high);
    StartUnderflow();
    Balance();
    Normalize(0);
    matrix_underflowed_ = FloatEnvironment::TakeUnderflow();
  }

  // Computes the square of the last power. Its factors are scaled by half of
  // the last increment, which is close to the next one, so that far entries of
  // the product are in range before it is scaled itself.
  void Square() {
    StartUnderflow();
    AbsorbNext(matrix_, true);
    const int64_t half = std::min(increment_ / 2, kMostHalf);
    ScaleMatrix(half);
    product_.Multiply(matrix_, matrix_, next_);
    std::swap(matrix_, next_);
    exponent_ *= 2;
    if (exponent_ == 0) Balance();
    Normalize(2 * half);
    matrix_underflowed_ |= FloatEnvironment::TakeUnderflow();
  }

 private:
  void StartUnderflow() {
    FloatEnvironment::ClearUnderflow();
    matrix_underflowed_ = absorbed_underflowed_ = false;
  }

  // Scales the matrix, which was scaled by 2^early already, so that its largest
  // row sum is at least one half.
  void Normalize(int64_t early) {
    double norm = 0.0;
    for (int64_t i = 0; i < size_; ++i) {
      norm = std::max(norm, Sum(matrix_.high + i * stride_, stride_));
    }
    const int64_t e = norm > 0.0 ? ExponentOf(norm) - early : 0;
    increment_ = e < -1 ? -1 - e : 0;
    late_increment_ = increment_ - early;
    exponent_ -= increment_;
    ScaleMatrix(late_increment_);
  }

  void ScaleMatrix(int64_t e) {
    ScaleAllBy(matrix_.high, stride_ * stride_, e);
    ScaleAllBy(matrix_.low, stride_ * stride_, e);
  }

  // Replaces a by left * a or, if left is E itself (squaring), a + left * a.
  void AbsorbNext(const AccurateNumbers& left, bool is_squared) {
    for (int64_t i = 0; i < size_; ++i) {
      const AccurateNumbers row = Row(left, i);
      const CompensatedSum<double> later = AccurateDot(row, absorbed_, stride_);
      const double scale = PowerOfTwo(is_squared ? exponent_ : 0);
      CompensatedSum<double> sum;
      if (is_squared) sum.Add(absorbed_.high[i]);
      sum.Add(scale * later.high);
      if (is_squared) sum.Add(absorbed_.low[i]);
      sum.Add(scale * later.low);
      next_absorbed_.high[i] = sum.Result();
      next_absorbed_.low[i] = sum.Low();
    }
    absorbed_underflowed_ |= FloatEnvironment::TakeUnderflow();
    std::swap(absorbed_, next_absorbed_);
  }

  // Sets the lower parts of the diagonal of P, such that each row and its jump
  // to absorption sum to one. The error of a rounded diagonal would be one of
  // rates, and grow with x in ratios of values.
  void CompleteDiagonal() {
    for (int64_t i = 0; i < size_; ++i) {
      const AccurateNumbers row = Row(transitions_, i);
      const double diagonal = row.high[i];
      row.high[i] = row.low[i] = 0.0;
      CompensatedSum<double> sum = AccurateTotal(row, stride_);
      sum.Add(jump_exits_.high[i]);
      sum.Add(-1.0);
      sum.Add(diagonal);
      row.high[i] = diagonal;
      const double rest = -(sum.Result() + sum.Low());
      if (std::fabs(rest) < 0x1p-50 * diagonal) row.low[i] = rest;
    }
  }

  static void Add(double x, int64_t i, AccurateNumbers* numbers) {
    CompensatedSum<double> sum;
    sum.Add(numbers->high[i]);
    sum.Add(x);
    sum.Add(numbers->low[i]);
    numbers->high[i] = sum.Result();
    numbers->low[i] = sum.Low();
  }

  AccurateNumbers Row(const AccurateNumbers& matrix, int64_t i) const {
    return {matrix.high + i * stride_, matrix.low + i * stride_};
  }

  // Scales each row together with its absorption probability to sum to one, if
  // at least half of its mass is left.
  void Balance() {
    for (int64_t i = 0; i < size_; ++i) {
      const AccurateNumbers row = Row(matrix_, i);
      const double high = row.high[i];
      const double low = row.low[i];
      row.high[i] = row.low[i] = 0.0;
      CompensatedSum<double> sum = AccurateTotal(row, stride_);
      sum.Add(absorbed_.high[i]);
      sum.Add(absorbed_.low[i]);
      sum.Add(-1.0);
      if (high > 0.5) {
        row.high[i] = -sum.Result();
        row.low[i] = -sum.Low();
        continue;
      }
      row.high[i] = high;
      row.low[i] = low;
      if (absorbed_.high[i] > 0.5) continue;
      sum.Add(high);
      sum.Add(low);
      const double excess = sum.Result() / (1.0 - absorbed_.high[i]);
      for (int64_t j = 0; j < stride_; ++j) {
        const double part = row.low[j] - excess * row.high[j];
        const double entry = row.high[j] + part;
        row.low[j] = part - (entry - row.high[j]);
        row.high[j] = entry;
      }
    }
  }

  // Products of factors that are scaled by so much are in range.
  static constexpr int64_t kMostHalf = 450;

  int64_t size_ = 0;
  int64_t stride_ = 0;
  AccurateProduct product_;
  AccurateNumbers transitions_;
  AccurateNumbers powers_[3];  // P^2, P^3 and P^4
  AccurateNumbers jump_exits_;
  AccurateNumbers matrix_;
  AccurateNumbers next_;
  AccurateNumbers absorbed_;
  AccurateNumbers next_absorbed_;
  int64_t exponent_ = 0;
  int64_t increment_ = 0;
  int64_t late_increment_ = 0;
  bool matrix_underflowed_ = false;
  bool absorbed_underflowed_ = false;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SQUARING_POWER_VALUES_H_
