// Squared powers of unbounded range, for results that SquaredPowers loses to
// underflow:
//   E_j[i][k] = 2^(rows[i] + columns[k]) matrix[i][k],
// with an exponent for each row and each column. In a chain of many stages the
// probabilities of many and of few jumps differ by far more than the range of
// doubles, and so do those of leaving slow and fast phases. Each row and each
// column is scaled so that its largest entry is in [1, 2).
//
// Numbers are in twice the working precision. The error of a power at most
// doubles with each squaring, so that rows need not be balanced as in
// SquaredPowers.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SCALED_POWERS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SCALED_POWERS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "native/kernel/matrix/accurate_product.h"
#include "native/kernel/matrix/operator.h"
#include "native/kernel/methods/squaring/power_slopes.h"
#include "native/kernel/methods/squaring/power_values.h"
#include "native/kernel/methods/squaring/squared_powers.h"
#include "native/kernel/model/model.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/numbers/work_count.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/step_weights.h"

namespace phasic {
namespace PHASIC_ISA {

// A vector of nonnegative numbers, each with an exponent of its own.
struct ScaledVector {
  double* mantissas = nullptr;  // [stride], zero or in [1, 2)
  int64_t* exponents = nullptr;

  bool Allocate(int64_t stride, Workspace* workspace) {
    mantissas = AllocateZeros<double>(workspace, stride);
    exponents = AllocateZeros<int64_t>(workspace, stride);
    return mantissas != nullptr && exponents != nullptr;
  }
  void Set(int64_t i, double x, int64_t exponent) const {
    const int64_t e = x > 0.0 ? ExponentOf(x) : 0;
    mantissas[i] = ScaleBy(x, -e);
    exponents[i] = exponent + e;
  }
  // Returns the exponent of an entry that is not zero.
  int64_t Log2(int64_t i) const {
    return mantissas[i] > 0.0 ? exponents[i] : kExponentOfZero;
  }
};

class ScaledPowers {
 public:
  // The largest number of powers. Rounding errors double with each of them.
  static constexpr int64_t kMost = 40;

  // Takes the matrix P from `squared_powers`, which must have its first power.
  ScaledPowers(const SquaredPowers<double>& squared_powers,
               Workspace* workspace)
      : squared_powers_(squared_powers),
        model_(squared_powers.model()),
        workspace_(workspace),
        stride_(squared_powers.stride()) {}

  // Computes the powers with numbers below `count`, unless that was done
  // before. Returns false if there are too many, or if memory does not suffice.
  bool Reach(int64_t count) {
    if (count > kMost) return false;
    for (; num_powers_ < count; ++num_powers_) {
      if (num_powers_ == 0 && !Start()) return false;
      if (num_powers_ > 0 && !Square()) return false;
      if (!Store(&powers_[num_powers_])) return false;
    }
    return true;
  }

  // Replaces y by E_j y. Returns false if the relative flushing error of an
  // entry may not be negligible.
  bool Apply(int64_t j, ScaledVector* y) {
    const Power& power = powers_[j];
    Multiply(power.matrix, power.rows, power.columns, *y);
    for (int64_t i = 0; i < model_.size; ++i) {
      if (power.row_losses[i] == 0.0) continue;
      if (!(RelativeLoss(power, i, *y) < kMostRelative)) return false;
    }
    std::swap(*y, next_);
    return true;
  }

  // Replaces y by the matrix of a shorter step times y.
  void ApplyStep(double step, ScaledVector* y) {
    const StepWeights weights(step);
    for (int64_t i = 0; i < model_.size; ++i) sum_.Set(i, 0.0, 0);
    for (int k = kStepTerms - 1; k >= 0; --k) {
      Multiply(squared_powers_.transitions(), nullptr, nullptr, sum_);
      for (int64_t i = 0; i < model_.size; ++i) {
        Scaled<double> entry = {next_.mantissas[i], next_.exponents[i]};
        Add(&entry,
            Scaled<double>{weights.at[k] * y->mantissas[i], y->exponents[i]});
        sum_.Set(i, entry.mantissa, entry.exponent);
      }
    }
    std::swap(*y, sum_);
  }

  // Returns whether the chain can get from phase i to phase k.
  bool Leads(int64_t i, int64_t k) const {
    return leads_[i * model_.size + k] != 0;
  }

 private:
  struct Power {
    const double* matrix;
    const int64_t* rows;
    const int64_t* columns;
    // Two bounds on the flushing error of entry (i, k), in multiples of
    // kLossUnit: 2^(rows[i] + columns[k]) losses[i] and 2^rows[i]
    // row_losses[i]. The first is better for long chains, where columns differ;
    // the second if phases are left for good, so that columns vanish.
    const double* losses;
    const double* row_losses;
  };
  static constexpr double kMostRelative = 0x1p-66;

  // Returns a bound on the relative flushing error of entry i of next_, the
  // product of a power and y.
  double RelativeLoss(const Power& power, int64_t i,
                      const ScaledVector& y) const {
    int64_t top = kExponentOfZero;
    int64_t row_top = kExponentOfZero;
    for (int64_t k = 0; k < model_.size; ++k) {
      if (!Leads(i, k) || y.mantissas[k] == 0.0) continue;
      top = std::max(top, power.columns[k] + y.exponents[k]);
      row_top = std::max(row_top, y.exponents[k]);
    }
    if (top == kExponentOfZero) return 0.0;
    const int64_t shift = power.rows[i] + 2 - next_.Log2(i) + kLossExponent;
    const double p = static_cast<double>(model_.size);
    return p * std::min(Grown(power.losses[i], shift + top),
                        Grown(power.row_losses[i], shift + row_top));
  }

  bool Start() {
    const int64_t p = model_.size;
    const int64_t count = stride_ * stride_;
    leads_ = AllocateZeros<uint8_t>(workspace_, p * p);
    for (int64_t** exponents : {&rows_, &columns_, &shifts_, &sizes_}) {
      *exponents = AllocateZeros<int64_t>(workspace_, stride_);
      if (*exponents == nullptr) return false;
    }
    losses_ = AllocateZeros<double>(workspace_, stride_);
    row_losses_ = AllocateZeros<double>(workspace_, stride_);
    if (leads_ == nullptr || losses_ == nullptr || row_losses_ == nullptr ||
        !terms_.Allocate(stride_, workspace_) ||
        !left_.Allocate(count, workspace_) ||
        !matrix_.Allocate(count, workspace_) ||
        !square_.Allocate(count, workspace_) ||
        !product_.Allocate(stride_, workspace_) ||
        !next_.Allocate(stride_, workspace_) ||
        !sum_.Allocate(stride_, workspace_)) {
      return false;
    }
    PowerValues first;
    if (!first.Allocate(p, stride_, !model_.discrete, workspace_)) return false;
    std::copy(squared_powers_.transitions(),
              squared_powers_.transitions() + count, first.transitions());
    for (int64_t i = 0; i < p; ++i) {
      first.jump_exits()[i] = model_.absorbing[i] / model_.q;
    }
    FindWays();
    if (model_.discrete) {
      first.StartWithStep();
    } else {
      first.Start();
    }
    const double loss =
        first.matrix_underflowed() ? kStepTerms * NewLoss() : 0.0;
    for (int64_t i = 0; i < p; ++i) {
      rows_[i] = first.exponent();
      losses_[i] = row_losses_[i] = loss;
    }
    std::copy(first.numbers().high, first.numbers().high + count, square_.high);
    std::copy(first.numbers().low, first.numbers().low + count, square_.low);
    FloatEnvironment::ClearUnderflow();
    ScaleSquare(0.0);
    return true;
  }

  // Finds the phases that the chain can reach from each phase.
  void FindWays() {
    const int64_t p = model_.size;
    for (int64_t i = 0; i < p; ++i) {
      for (int64_t k = 0; k < p; ++k) {
        const double weight = squared_powers_.transitions()[i * stride_ + k];
        leads_[i * p + k] = i == k || weight > 0.0 ? 1 : 0;
      }
    }
    for (int64_t m = 0; m < p; ++m) {
      for (int64_t i = 0; i < p; ++i) {
        if (!Leads(i, m)) continue;
        for (int64_t k = 0; k < p; ++k) {
          leads_[i * p + k] |= leads_[m * p + k];
        }
      }
    }
  }

  // Computes the square of the last power. The terms of entry (i, k) are
  // products matrix[i][m] 2^middle[m] matrix[m][k] with middle = rows +
  // columns. So each row of the left factor is scaled by its largest term.
  bool Square() {
    const int64_t p = model_.size;
    FloatEnvironment::ClearUnderflow();
    for (int64_t i = 0; i < p; ++i) {
      int64_t largest = kExponentOfZero;
      for (int64_t m = 0; m < p; ++m) {
        const double entry = matrix_.high[i * stride_ + m];
        if (entry == 0.0) continue;
        largest = std::max(largest, ExponentOf(entry) + rows_[m] + columns_[m]);
      }
      shifts_[i] = largest == kExponentOfZero ? 0 : largest;
      for (int64_t m = 0; m < p; ++m) {
        const int64_t e = rows_[m] + columns_[m] - shifts_[i];
        const int64_t at = i * stride_ + m;
        const bool is_zero = matrix_.high[at] == 0.0;
        left_.high[at] = is_zero ? 0.0 : ScaleBy(matrix_.high[at], e);
        left_.low[at] = is_zero ? 0.0 : ScaleBy(matrix_.low[at], e);
      }
    }
    product_.Multiply(left_, matrix_, square_);
    NextLosses();
    for (int64_t i = 0; i < p; ++i) rows_[i] += shifts_[i];
    ScaleSquare(FloatEnvironment::Underflowed() ? NewLoss() : 0.0);
    return true;
  }

  // Computes the effect of flushing errors of the last power in its square,
  // whose row i is relative to 2^(rows[i] + shifts[i]).
  void NextLosses() {
    const int64_t p = model_.size;
    for (int64_t i = 0; i < p; ++i) {
      // Of the right factor, and of the left factor.
      double loss = 0.0;
      double row_loss = 0.0;
      int64_t highest = kExponentOfZero;
      int64_t highest_row = kExponentOfZero;
      for (int64_t m = 0; m < p; ++m) {
        if (!Leads(i, m)) continue;
        // With a factor of at least 2^-1000, so that infinity is kept.
        const double factor = 2.0 * left_.high[i * stride_ + m] + 0x1p-1000;
        loss += factor * losses_[m];
        row_loss += factor * row_losses_[m];
        highest = std::max(highest, rows_[m] + columns_[m]);
        highest_row = std::max(highest_row, rows_[m]);
      }
      const double count = 4.0 * static_cast<double>(p);
      terms_.high[i] = loss + ScaleBy(count * losses_[i], highest - shifts_[i]);
      terms_.low[i] =
          row_loss + ScaleBy(count * row_losses_[i], highest_row - shifts_[i]);
    }
    std::copy(terms_.high, terms_.high + p, losses_);
    std::copy(terms_.low, terms_.low + p, row_losses_);
  }

  // Scales the rows and the columns of square_, and makes it the last power.
  // Each of its entries lost at most `flushed`. Exponents of columns are never
  // positive.
  void ScaleSquare(double flushed) {
    const int64_t p = model_.size;
    std::fill(shifts_, shifts_ + p, kExponentOfZero);  // those of the columns
    for (int64_t i = 0; i < p; ++i) {
      const double* row = square_.high + i * stride_;
      const double largest = LargestSize(row, stride_);
      sizes_[i] = largest > 0.0 ? ExponentOf(largest) : 0;
      for (int64_t k = 0; k < p; ++k) {
        if (row[k] == 0.0) continue;
        shifts_[k] = std::max(shifts_[k], ExponentOf(row[k]) - sizes_[i]);
      }
    }
    int64_t least = 0;
    for (int64_t k = 0; k < p; ++k) {
      if (shifts_[k] == kExponentOfZero) shifts_[k] = 0;
      least = std::min(least, shifts_[k]);
      columns_[k] += shifts_[k];
    }
    FloatEnvironment::ClearUnderflow();
    for (int64_t i = 0; i < p; ++i) {
      for (int64_t k = 0; k < p; ++k) {
        const int64_t at = i * stride_ + k;
        const int64_t e = -sizes_[i] - shifts_[k];
        matrix_.high[at] = ScaleBy(square_.high[at], e);
        matrix_.low[at] = ScaleBy(square_.low[at], e);
      }
      rows_[i] += sizes_[i];
      losses_[i] = Grown(losses_[i] + flushed, -sizes_[i] - least);
      row_losses_[i] = Grown(row_losses_[i] + flushed, -sizes_[i]);
    }
    if (!FloatEnvironment::Underflowed()) return;
    for (int64_t i = 0; i < p; ++i) {
      losses_[i] += NewLoss();
      row_losses_[i] += NewLoss();
    }
    FloatEnvironment::ClearUnderflow();
  }

  bool Store(Power* power) {
    double* matrix = AllocateZeros<double>(workspace_, stride_ * stride_);
    int64_t* rows = AllocateZeros<int64_t>(workspace_, stride_);
    int64_t* columns = AllocateZeros<int64_t>(workspace_, stride_);
    double* losses = AllocateZeros<double>(workspace_, stride_);
    double* row_losses = AllocateZeros<double>(workspace_, stride_);
    if (!matrix || !rows || !columns || !losses || !row_losses) return false;
    std::copy(matrix_.high, matrix_.high + stride_ * stride_, matrix);
    std::copy(rows_, rows_ + stride_, rows);
    std::copy(columns_, columns_ + stride_, columns);
    std::copy(losses_, losses_ + stride_, losses);
    std::copy(row_losses_, row_losses_ + stride_, row_losses);
    *power = {matrix, rows, columns, losses, row_losses};
    return true;
  }

  // Sets next_ to the product of a matrix and y. Each entry of the product is
  // summed relative to its largest term. Exponents of rows and columns may be
  // nullptr, for zeros.
  void Multiply(const double* matrix, const int64_t* rows,
                const int64_t* columns, const ScaledVector& y) {
    CountWork<double>(model_.size * model_.size);
    for (int64_t i = 0; i < model_.size; ++i) {
      const double* row = matrix + i * stride_;
      int64_t largest = kExponentOfZero;
      for (int64_t k = 0; k < model_.size; ++k) {
        if (row[k] == 0.0 || y.mantissas[k] == 0.0) continue;
        const int64_t column = columns != nullptr ? columns[k] : 0;
        largest =
            std::max(largest, ExponentOf(row[k]) + column + y.exponents[k]);
      }
      double sum = 0.0;
      for (int64_t k = 0; k < model_.size && largest != kExponentOfZero; ++k) {
        if (row[k] == 0.0 || y.mantissas[k] == 0.0) continue;
        const int64_t column = columns != nullptr ? columns[k] : 0;
        const int64_t e = column + y.exponents[k] - largest;
        // Smaller terms do not change the sum.
        if (e + ExponentOf(row[k]) < -120) continue;
        sum += ScaleBy(row[k], e) * y.mantissas[k];
      }
      const int64_t own = rows != nullptr ? rows[i] : 0;
      next_.Set(i, sum, sum > 0.0 ? largest + own : 0);
    }
  }

  // Returns loss * 2^e, or infinity if the loss is not small any more.
  static double Grown(double loss, int64_t e) {
    constexpr double kMost = 0x1p200;
    if (loss == 0.0) return 0.0;
    const double grown = loss < kMost ? ScaleBy(loss, e) : HUGE_VAL;
    return grown < kMost ? grown : HUGE_VAL;
  }
  // Returns a bound on the flushing error of a sum of products.
  double NewLoss() const {
    return 8.0 * (static_cast<double>(model_.size) + 2.0) * kFlushed;
  }

  const SquaredPowers<double>& squared_powers_;
  const Model<double>& model_;
  Workspace* workspace_;
  const int64_t stride_;
  AccurateProduct product_;
  AccurateNumbers matrix_;  // the last power
  AccurateNumbers left_;
  AccurateNumbers square_;
  int64_t* rows_ = nullptr;
  int64_t* columns_ = nullptr;
  int64_t* shifts_ = nullptr;
  int64_t* sizes_ = nullptr;
  double* losses_ = nullptr;
  double* row_losses_ = nullptr;
  AccurateNumbers terms_;
  uint8_t* leads_ = nullptr;
  ScaledVector next_;
  ScaledVector sum_;
  Power powers_[kMost];
  int64_t num_powers_ = 0;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SCALED_POWERS_H_
