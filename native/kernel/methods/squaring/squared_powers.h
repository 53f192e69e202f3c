// Scaling and squaring for very large x = q t. Squared power j is the
// transition matrix E_j = exp(S x_j / q) over a time of x_j = 2^j x_0, with the
// probabilities a_j of absorption within it,
//   E_{j+1} = E_j^2,   a_{j+1} = a_j + E_j a_j.
// All are sums of products of nonnegative numbers. A row of E_j and its
// absorption must sum to one, else an error of the sum would double with each
// squaring. So the row is normalized in each squaring as long as it keeps at
// least half of its mass. Once half is lost, the logarithm of the remaining
// mass doubles as well, so that the relative error of that logarithm does not
// grow. (The idea is that of the elimination of W. K. Grassmann, M. I. Taksar
// and D. P. Heyman, 1985; for exponentials see J. Xue and Q. Ye, Computing
// exponentials of essentially non-negative matrices entrywise to high relative
// accuracy, Math. Comp. 82, 2013.)
//
// In a discrete chain the first power is a step, E_j = T^(2^j). A row and its
// absorption are normalized in values only: as operands they are independent.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARED_POWERS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARED_POWERS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "native/kernel/matrix/dense_product.h"
#include "native/kernel/matrix/tangent_product.h"
#include "native/kernel/methods/squaring/first_power.h"
#include "native/kernel/methods/squaring/power_slopes.h"
#include "native/kernel/methods/squaring/power_values.h"
#include "native/kernel/model/model.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/runtime/work_limit.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/step_weights.h"
#include "native/kernel/values/methods.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr int64_t kMaxPowers = 66;

// The squared power E_j = matrix * 2^exponent, where row sums of the matrix are
// at most one and the largest is at least one half. Losses are bounds on
// flushing errors, in multiples of kLossUnit, of a row sum of the matrix and of
// an absorption probability.
template <class T>
struct SquaredPower {
  T* matrix;          // [stride, stride]
  T* absorbed;        // [stride], a_j
  int64_t exponent;   // of E_j
  int64_t increment;  // see PowerValues
  double row_loss;
  double absorbed_loss;
};

template <class T>
inline void SetPrimal(double value, T* x) {
  *x = value;
}
template <class T>
inline void SetPrimal(double value, Dual<T>* x) {
  SetPrimal(value, &x->value);
}

// Computes the squared powers. PowerValues computes their values in twice the
// working precision; tangents are computed in working precision.
template <class T>
class SquaredPowers {
 public:
  SquaredPowers(const Model<T>& model, Phases phases, Workspace* workspace)
      : model_(model),
        phases_(phases),
        workspace_(workspace),
        stride_(MatrixStride(model.size)) {}

  const Model<T>& model() const { return model_; }
  int64_t stride() const { return stride_; }
  const SquaredPower<T>& squared(int64_t j) const { return squared_[j]; }
  int64_t num_squared() const { return num_squared_; }  // computed so far
  // Returns the matrix P = I + S/q; available after the first squared power.
  const T* transitions() const { return transitions_; }

  // Requests derivatives of the density up to this order. Must be called before
  // any power is computed.
  void AddSlopes(int order) {
    num_slopes_ = model_.discrete || HasOwnExponent<T>::kValue ? 0 : order;
  }
  const PowerSlope& slope(int64_t j, int r) const { return slopes_.at(j, r); }

  // Computes the squared powers with numbers below `count`, unless that was
  // done before.
  StatusCode Reach(int64_t count) {
    if (count > kMaxPowers) return kWorkLimit;
    for (int64_t j = 0; j < count; ++j) {
      if (j < num_squared_) continue;
      if (model_.size >= kLeastStopped && IsStopped()) return kWorkLimit;
      FloatEnvironment::ClearUnderflow();
      SquaredPower<T>* squared = &squared_[j];
      squared->matrix = AllocateZeros<T>(workspace_, stride_ * stride_);
      squared->absorbed = AllocateZeros<T>(workspace_, stride_);
      if (squared->matrix == nullptr || squared->absorbed == nullptr ||
          (j == 0 && !Prepare())) {
        return kMemoryLimit;
      }
      if (j > 0) {
        if (!AddSlope(j)) return kMemoryLimit;
        FloatEnvironment::ClearUnderflow();
        Square(squared_[j - 1], squared);
      } else if (model_.discrete) {
        StartWithStep(squared);
      } else {
        if (!Start(squared) || !AddSlope(0)) return kMemoryLimit;
      }
      num_squared_ = j + 1;
    }
    return kOk;
  }

 private:
  static constexpr bool kPlain = Depth<T>::kValue == 0;
  // With this number of phases, a squaring takes some milliseconds.
  static constexpr int64_t kLeastStopped = 256;

  bool Prepare() {
    transitions_ = AllocateZeros<T>(workspace_, stride_ * stride_);
    scratch_ = AllocateZeros<T>(workspace_, stride_);
    if (transitions_ == nullptr || scratch_ == nullptr ||
        !product_.Allocate(kPlain ? 0 : stride_, workspace_) ||
        !values_.Allocate(model_.size, stride_, !model_.discrete, workspace_) ||
        !slopes_.Allocate(num_slopes_, model_.size, stride_, kMaxPowers,
                          workspace_)) {
      return false;
    }
    const TilePattern& pattern = model_.forward.pattern;
    for (int64_t group = 0; group < pattern.num_groups; ++group) {
      for (int64_t t = pattern.offsets[group]; t < pattern.offsets[group + 1];
           ++t) {
        T* row = transitions_ + pattern.rows[t] * stride_;
        for (int64_t l = 0; l < pattern.width; ++l) {
          // Padded entries are zero and skipped, as they may be outside of the
          // matrix.
          const T& weight = model_.forward.weights[t * pattern.width + l];
          if (!IsZero(weight)) row[group * pattern.width + l] += weight;
        }
      }
    }
    for (int64_t i = 0; i < model_.size; ++i) {
      T* row = transitions_ + i * stride_;
      row[i] = model_.forward.staying.share[i];
      if (!Takes(i)) std::fill(row, row + stride_, T(0.0));
    }
    return true;
  }

  // Returns whether the powers are those of the model in the row of phase i.
  // The other phases are left for absorption at the rate q, so that their rows
  // vanish as fast as any.
  bool Takes(int64_t i) const {
    if (phases_ == Phases::kPassed && !model_.exiting[i]) return false;
    if (phases_ == Phases::kUseful && model_.exiting[i]) return true;
    return phases_ == Phases::kAll || model_.reached[i];
  }

  // Computes the first power. Returns false if memory does not suffice.
  bool Start(SquaredPower<T>* squared) {
    if (!kPlain && !StartTangents(squared)) return false;
    FillValues();
    const bool underflowed = FloatEnvironment::TakeUnderflow();
    values_.Start();
    Finish(true, squared);
    squared->row_loss =
        kStepTerms * NewLoss(underflowed || values_.matrix_underflowed() ||
                             values_.absorbed_underflowed());
    squared->absorbed_loss = squared->row_loss;
    return true;
  }

  bool StartTangents(SquaredPower<T>* squared) {
    FirstPower<T> first(model_.size, stride_, &product_);
    if (!first.Run(transitions_, workspace_)) return false;
    std::copy(first.power(), first.power() + stride_ * stride_,
              squared->matrix);
    const StepWeights weights(kLongestStep);
    for (int k = kStepTerms - 1; k >= 0; --k) {
      const Source<T> exits = {T(weights.above[k] / model_.q),
                               model_.absorbing};
      Apply(model_.backward, 0, exits, squared->absorbed,
            static_cast<T*>(nullptr), scratch_);
      std::copy(scratch_, scratch_ + model_.stride, squared->absorbed);
      // As in FillValues, the other phases are absorbed in one jump.
      for (int64_t i = 0; i < model_.size; ++i) {
        if (!Takes(i)) squared->absorbed[i] = T(weights.above[k]);
      }
    }
    return true;
  }

  void StartWithStep(SquaredPower<T>* squared) {
    std::copy(transitions_, transitions_ + stride_ * stride_, squared->matrix);
    std::copy(model_.absorbing, model_.absorbing + model_.size,
              squared->absorbed);
    FillValues();
    const bool underflowed = FloatEnvironment::TakeUnderflow();
    values_.StartWithStep();
    Finish(false, squared);
    squared->row_loss = squared->absorbed_loss =
        NewLoss(underflowed || values_.matrix_underflowed());
  }

  // Computes the derivative vectors (power_slopes.h) of power j from the
  // values of power j - 1; for j = 0 from the first power itself. Returns false
  // if memory does not suffice.
  bool AddSlope(int64_t j) {
    if (num_slopes_ == 0) return true;
    if (j > 0) {
      return slopes_.Advance(j - 1, values_.numbers(), values_.exponent(),
                             squared_[j - 1].row_loss);
    }
    double* ends = AllocateZeros<double>(workspace_, stride_);
    if (ends == nullptr) return false;
    for (int64_t i = 0; i < model_.size; ++i) {
      ends[i] = Takes(i) ? Primal(model_.exits[i]) / model_.q : 0.0;
    }
    return slopes_.Start(values_.numbers(), ends);
  }

  void FillValues() {
    for (int64_t i = 0; i < stride_ * stride_; ++i) {
      values_.transitions()[i] = Primal(transitions_[i]);
    }
    for (int64_t i = 0; i < model_.size; ++i) {
      values_.jump_exits()[i] =
          Takes(i) ? Primal(model_.absorbing[i]) / model_.q : 1.0;
    }
  }

  void Square(const SquaredPower<T>& last, SquaredPower<T>* squared) {
    if (!kPlain) product_.Add(last.matrix, last.matrix, squared->matrix);
    const bool matrix_underflowed = FloatEnvironment::TakeUnderflow();
    for (int64_t i = 0; i < model_.size && !kPlain; ++i) {
      const T later = Dot(last.matrix + i * stride_, last.absorbed, stride_);
      squared->absorbed[i] = last.absorbed[i] + ScaleBy(later, last.exponent);
    }
    const bool absorbed_underflowed = FloatEnvironment::TakeUnderflow();
    values_.Square();
    Finish(last.exponent == 0 && !model_.discrete, squared);
    const bool underflowed = matrix_underflowed || values_.matrix_underflowed();
    // Tangents are scaled after the product alone.
    const int64_t late = kPlain ? std::max<int64_t>(values_.late_increment(), 0)
                                : squared->increment;
    squared->row_loss = ScaleBy(2.0 * last.row_loss, squared->increment) +
                        ScaleBy(NewLoss(underflowed), late);
    squared->absorbed_loss =
        2.0 * last.absorbed_loss + ScaleBy(last.row_loss, last.exponent) +
        NewLoss(absorbed_underflowed || values_.absorbed_underflowed());
  }

  // Copies the values from PowerValues, and normalizes the tangents as
  // PowerValues normalized the values.
  void Finish(bool balance, SquaredPower<T>* squared) const {
    squared->exponent = values_.exponent();
    squared->increment = values_.increment();
    for (int64_t i = 0; i < model_.size; ++i) {
      T* row = squared->matrix + i * stride_;
      SetPrimal(values_.absorbed()[i], &squared->absorbed[i]);
      if (balance && !kPlain) BalanceRow(squared->absorbed[i], i, row);
      for (int64_t j = 0; j < model_.size; ++j) {
        if (!kPlain) row[j] = ScaleBy(row[j], squared->increment);
        SetPrimal(values_.matrix()[i * stride_ + j], &row[j]);
      }
    }
  }
  void BalanceRow(const T& absorbed, int64_t i, T* row) const {
    const T diagonal = row[i];
    row[i] = T(0.0);
    T sum = absorbed;
    for (int64_t j = 0; j < model_.size; ++j) sum += row[j];
    row[i] = diagonal;
    if (Primal(diagonal) > 0.5) {
      row[i] = T(1.0) - sum;
    } else if (Primal(absorbed) <= 0.5) {
      const T excess =
          (sum + diagonal - T(1.0)) * Reciprocal(T(1.0) - absorbed);
      for (int64_t j = 0; j < model_.size; ++j) row[j] -= excess * row[j];
    }
  }

  // Returns a bound on the flushing error of one row. Underflow after the flag
  // was read counts, too.
  double NewLoss(bool underflowed) const {
    const double p = static_cast<double>(model_.size) + 2.0;
    return underflowed || FloatEnvironment::Underflowed()
               ? 8.0 * p * p * kFlushed
               : 0.0;
  }

  const Model<T>& model_;
  const Phases phases_;
  Workspace* workspace_;
  const int64_t stride_;
  T* transitions_ = nullptr;
  T* scratch_ = nullptr;
  DenseProduct<T> product_;  // products of matrices with tangents
  PowerValues values_;
  PowerSlopes slopes_;
  int num_slopes_ = 0;
  SquaredPower<T> squared_[kMaxPowers];
  int64_t num_squared_ = 0;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARED_POWERS_H_
