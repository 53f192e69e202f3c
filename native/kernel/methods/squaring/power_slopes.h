// Derivatives of the density by scaling and squaring: computes the vectors E_j
// L^r s, where L = S / q is the scaled generator. The r-th derivative in x of
// alpha E s is the state at an earlier time, times such a vector. The vectors
// are differences, which are computed in twice the working precision because of
// cancellation; the product itself has no cancellation.
//
// L is computed as the logarithm of the first power. It commutes with all
// powers to their last digit, whereas rates that were rounded once more would
// not.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SQUARING_POWER_SLOPES_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SQUARING_POWER_SLOPES_H_

#include <algorithm>
#include <cstdint>
#include <utility>

#include "native/kernel/api/sweep.h"
#include "native/kernel/matrix/accurate_product.h"
#include "native/kernel/matrix/operator.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/step_weights.h"

namespace phasic {
namespace PHASIC_ISA {

// The unit of flushing errors. The error of one number is only 2^-722 units: a
// bound may grow from power to power by more than the ratio of one to the
// smallest normal number, and must not overflow.
constexpr int64_t kLossExponent = -300;
constexpr double kLossUnit = 0x1p-300;
constexpr double kFlushed = 0x1p-722;  // the loss of one number, in units

// The vector E_j L^r s = entries * 2^exponent, whose largest entry is in [1,
// 2). The loss is a bound on the flushing error of any entry, in multiples of
// kLossUnit.
struct PowerSlope {
  const double* entries;
  int64_t exponent;
  double loss;
};

class PowerSlopes {
 public:
  // Allocates the vectors for derivatives up to `order` and `num_squared`
  // powers. Returns false if memory does not suffice.
  bool Allocate(int order, int64_t size, int64_t stride, int64_t num_squared,
                Workspace* workspace) {
    workspace_ = workspace;
    order_ = order;
    size_ = size;
    stride_ = stride;
    slopes_ = static_cast<PowerSlope*>(workspace->Allocate(
        static_cast<size_t>(order * num_squared), sizeof(PowerSlope)));
    bool fits = slopes_ && next_.Allocate(stride, workspace) &&
                sum_.Allocate(stride, workspace);
    for (int r = 0; fits && r < order; ++r) {
      fits = numbers_[r].Allocate(stride, workspace);
    }
    return fits;
  }

  // Returns the vector E_j L^r s for r > 0.
  const PowerSlope& at(int64_t j, int r) const {
    return slopes_[j * order_ + r - 1];
  }

  // Computes the vectors of the first power, given the exits s. Returns false
  // if memory does not suffice.
  bool Start(const AccurateNumbers& squared, const double* exits) {
    for (int r = 0; r < order_; ++r) {
      AccurateNumbers& y = numbers_[r];
      PowerSlope slope = {nullptr, 0, 0.0};
      if (r == 0) {
        std::copy(exits, exits + stride_, y.high);
      } else {
        std::copy(numbers_[r - 1].high, numbers_[r - 1].high + stride_, y.high);
        std::copy(numbers_[r - 1].low, numbers_[r - 1].low + stride_, y.low);
        slope = slopes_[r - 1];
      }
      Normalize(&y, &slope);
      Derive(squared, &y);
      slope.loss += kTerms * NewLoss();
      Normalize(&y, &slope);
      slopes_[r] = slope;
    }
    for (int r = 0; r < order_; ++r) {
      if (!Climb(squared, 0, 0.0, &numbers_[r], &slopes_[r])) return false;
    }
    return true;
  }

  // Computes the vectors of power j + 1 from the vectors of power j; `squared`
  // is the matrix of power j. Returns false if memory does not suffice.
  bool Advance(int64_t j, const AccurateNumbers& squared, int64_t exponent,
               double row_loss) {
    for (int r = 0; r < order_; ++r) {
      PowerSlope* slope = &slopes_[(j + 1) * order_ + r];
      *slope = slopes_[j * order_ + r];
      if (!Climb(squared, exponent, row_loss, &numbers_[r], slope)) {
        return false;
      }
    }
    return true;
  }

 private:
  // The number of terms of the logarithm's series, which converges as |E - I| <
  // 1/32.
  static constexpr int kTerms = 24;

  AccurateNumbers Row(const AccurateNumbers& matrix, int64_t i) const {
    return {matrix.high + i * stride_, matrix.low + i * stride_};
  }

  // Computes next_ = E y - shift * y.
  void Multiply(const AccurateNumbers& squared, double shift,
                const AccurateNumbers& y) {
    for (int64_t i = 0; i < size_; ++i) {
      CompensatedSum<double> sum = AccurateDot(Row(squared, i), y, stride_);
      sum.Add(-shift * y.high[i]);
      sum.Add(-shift * y.low[i]);
      next_.high[i] = sum.Result();
      next_.low[i] = sum.Low();
    }
  }

  // Replaces y by L y, with L x_0 = D - D^2 / 2 + D^3 / 3 - ... for D = E - I.
  void Derive(const AccurateNumbers& squared, AccurateNumbers* y) {
    std::fill(sum_.high, sum_.high + stride_, 0.0);
    std::fill(sum_.low, sum_.low + stride_, 0.0);
    for (int n = kTerms; n > 0; --n) {
      const double factor = (n % 2 == 0 ? -1.0 : 1.0) / n;
      AddMultiples(&factor, y, 1, stride_, sum_);
      Multiply(squared, 1.0, sum_);
      std::swap(sum_, next_);
    }
    for (int64_t i = 0; i < stride_; ++i) {
      y->high[i] = ScaleBy(sum_.high[i], -kLog2LongestStep);
      y->low[i] = ScaleBy(sum_.low[i], -kLog2LongestStep);
    }
  }

  // Replaces y by E y, normalizes it and stores it in `slope`. Returns false if
  // memory does not suffice.
  bool Climb(const AccurateNumbers& squared, int64_t exponent, double row_loss,
             AccurateNumbers* y, PowerSlope* slope) {
    Multiply(squared, 0.0, *y);
    std::swap(*y, next_);
    slope->loss += 2.0 * row_loss + NewLoss();
    slope->exponent += exponent;
    Normalize(y, slope);
    auto* entries = AllocateZeros<double>(workspace_, stride_);
    if (entries == nullptr) return false;
    std::copy(y->high, y->high + stride_, entries);
    slope->entries = entries;
    return true;
  }

  void Normalize(AccurateNumbers* y, PowerSlope* slope) const {
    const double size = LargestSize(y->high, stride_);
    const int64_t e = size > 0.0 ? ExponentOf(size) : 0;
    for (int64_t i = 0; e != 0 && i < stride_; ++i) {
      y->high[i] = ScaleBy(y->high[i], -e);
      y->low[i] = ScaleBy(y->low[i], -e);
    }
    slope->exponent += e;
    slope->loss = ScaleBy(slope->loss, -e) + NewLoss();
  }

  double NewLoss() const {
    const double p = static_cast<double>(size_) + 2.0;
    return FloatEnvironment::Underflowed() ? 8.0 * p * kFlushed : 0.0;
  }

  Workspace* workspace_ = nullptr;
  int order_ = 0;
  int64_t size_ = 0;
  int64_t stride_ = 0;
  PowerSlope* slopes_ = nullptr;
  AccurateNumbers numbers_[kMaxOrder];  // vectors of the last power
  AccurateNumbers next_;
  AccurateNumbers sum_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SQUARING_POWER_SLOPES_H_
