// Computes the cotangents of alpha, of the exits and of P for times that are
// evaluated by scaling and squaring.
//
// The state at such a time is alpha times the transition matrix of a short step
// (in continuous time), times some of the squared powers E_0, E_1 = E_0^2, ...
// These factors are the path of the time. AddPoint propagates the cotangent of
// the value at one time back along its path, from the last factor to alpha. On
// the way it adds to the cotangents of the squared powers in the path. At the
// end Descend propagates the cotangents of all powers: from each power to the
// previous one, and from E_0 to P.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_ADJOINT_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_ADJOINT_H_

#include <cstdint>
#include <utility>

#include "native/kernel/matrix/operator.h"
#include "native/kernel/methods/squaring/jump_sums.h"
#include "native/kernel/methods/squaring/squared_powers.h"
#include "native/kernel/methods/squaring/squaring_descent.h"
#include "native/kernel/methods/squaring/squaring_path.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/mixture.h"
#include "native/kernel/uniformization/point.h"
#include "native/kernel/uniformization/step_weights.h"
#include "native/kernel/values/interval.h"

namespace phasic {
namespace PHASIC_ISA {

template <class T>
class SquaringAdjoint {
 public:
  // Without adjoints only the cotangents of weights of phases are computed.
  SquaringAdjoint(SquaringPath<T>* path, bool has_adjoints,
                  Workspace* workspace)
      : path_(*path),
        squared_powers_(*path->squared_powers()),
        model_(squared_powers_.model()),
        workspace_(workspace),
        stride_(squared_powers_.stride()),
        has_adjoints_(has_adjoints),
        descent_(squared_powers_, workspace),
        sums_(model_) {}

  // Adds the contributions of one point: the derivatives of its value F, times
  // the cotangent of F.
  StatusCode AddPoint(const Point<T>& point) {
    const StatusCode status = path_.Follow(point.base, point.x);
    if (status != kOk) return status;
    const TaylorCoefficients<T> taylor(point.base, point.delta);
    const int offset = point.base == Base::kDensity ? 0 : 1;
    const double scale = point.base == Base::kDensity ? 1.0 : 1.0 / model_.q;
    T exit_weights[kCount];
    for (int r = 0; r < kCount; ++r) {
      exit_weights[r] = T(0.0);
      if (r + offset < kCount) {
        exit_weights[r] =
            scale * (point.seed.mantissa * taylor.value[r + offset]);
      }
    }
    return Sweep(point.base, point.seed.mantissa * taylor.value[0],
                 exit_weights, point.seed.exponent);
  }

  // Adds the contributions of the mass of an interval, and of the tangents of
  // those ends that are computed by scaling and squaring.
  StatusCode AddInterval(const Interval<T>& interval) {
    const Scaled<T>& seed = interval.seed;
    T exit_weights[kCount];
    for (T& weight : exit_weights) weight = T(0.0);
    StatusCode status = path_.FollowInterval(
        interval.lower.x, interval.upper.x - interval.lower.x);
    if (status == kOk) {
      status = Sweep(Base::kCdf, seed.mantissa, exit_weights, seed.exponent);
    }
    const Point<T>* const ends[] = {&interval.lower, &interval.upper};
    for (int i = 0; i < 2 && status == kOk; ++i) {
      if (!ends[i]->by_squaring || IsZero(ends[i]->delta)) continue;
      const TaylorCoefficients<T> taylor(Base::kCdf, ends[i]->delta);
      const double scale = (i == 0 ? -1.0 : 1.0) / model_.q;
      for (int r = 0; r < kCount; ++r) {
        exit_weights[r] = scale * (seed.mantissa * taylor.value[1 + r]);
      }
      status = path_.Follow(Base::kDensity, ends[i]->x);
      if (status != kOk) break;
      status = Sweep(Base::kDensity, T(0.0), exit_weights, seed.exponent);
    }
    return status;
  }

  bool has_sums() const { return sums_.is_allocated(); }

  // Propagates the cotangents of the squared powers down to P. Must be called
  // after all points and intervals were added.
  StatusCode Descend() {
    // Without points or adjoints there is nothing to propagate.
    if (!has_sums() || !has_adjoints_) return kOk;
    return descent_.Run(has_cdf_, &sums_, &lost_jumps_);
  }

  // Adds the cotangents of alpha, the exits and P that were computed here to
  // the sums of an AdjointSweeper.
  template <class Sums>
  void AddTo(Sums* sums) const {
    const T* jumps = sums_.jumps();
    sums->AddStarts(starts_, starts_exponent_);
    for (int64_t i = 0; i < model_.size; ++i) {
      sums->AddRow(i, sums_.exits()[i], jumps[i * stride_ + i]);
    }
    const TilePattern& pattern = model_.products;
    for (int64_t group = 0; group < pattern.num_groups; ++group) {
      for (int64_t t = pattern.offsets[group]; t < pattern.offsets[group + 1];
           ++t) {
        const T* row = jumps + pattern.rows[t] * stride_;
        for (int64_t l = 0; l < pattern.width; ++l) {
          sums->AddProduct(t * pattern.width + l,
                           row[group * pattern.width + l]);
        }
      }
    }
    sums->EndOfAdded(lost_start_, lost_jumps_, lost_weights_);
  }

 private:
  static constexpr int kCount = Depth<T>::kValue + 1;

  // Propagates the cotangents at the end of the current path back to alpha.
  // `first` is the cotangent of the survival function or of the absorbed mass.
  // exit_weights[k] is the cotangent of v P^k s, where v is the last state of
  // the path.
  StatusCode Sweep(Base base, const T& first, const T* exit_weights,
                   int64_t exponent) {
    if (!Allocate()) return kMemoryLimit;
    if (base == Base::kCdf) has_cdf_ = true;
    FloatEnvironment::ClearUnderflow();
    y_exponent_ = exponent;
    y_loss_ = 0.0;
    absorbed_bar_ = Scaled<T>{};
    SweepEnd(base, first, exit_weights);
    if (!has_adjoints_) return kOk;
    for (int64_t k = path_.num_states() - 2; k >= 0; --k) {
      if (!path_.counts_absorbed(k)) absorbed_bar_ = Scaled<T>{};
      if (path_.state(k).squared >= 0) {
        SweepPower(path_.state(k));
      } else {
        SweepStep(path_.state(k));
      }
    }
    AddScaled(y_, y_exponent_, model_.size, starts_, &starts_exponent_);
    Add(&lost_start_, Scaled<double>{y_loss_, y_exponent_ + kLossExponent});
    Add(&lost_start_,
        Scaled<double>{NewLoss(), starts_exponent_ + kLossExponent});
    return kOk;
  }

  bool Allocate() {
    if (!sums_.is_allocated()) {
      for (T** vector : {&starts_, &y_, &next_}) {
        *vector = AllocateZeros<T>(workspace_, stride_);
        if (*vector == nullptr) return false;
      }
      if (!sums_.Allocate(workspace_)) return false;
    }
    return descent_.Reach(path_.num_squared());
  }

  // Sets y_ to the cotangent of the last state of the path. The arguments are
  // those of Sweep.
  void SweepEnd(Base base, const T& first, const T* exit_weights) {
    T y_weights[kCount];
    for (T& weight : y_weights) weight = T(0.0);
    y_weights[0] = T(1.0);
    for (int64_t i = 0; i < stride_; ++i) {
      y_[i] = base == Base::kSurvival && i < model_.size ? first : T(0.0);
    }
    if (base == Base::kCdf) {
      absorbed_bar_ = Scaled<T>{first, y_exponent_};
    }
    const SquaringState<T>& end = path_.state(path_.num_states() - 1);
    sums_.Sweep(end.entries, end.exponent, kCount, y_weights, exit_weights, y_,
                y_exponent_);
    NoteLoss(end, 0, &lost_jumps_);
    NoteLostWeights(end, exit_weights);
    NormalizeY();
  }

  void SweepPower(const SquaringState<T>& state) {
    const SquaredPower<T>& squared = squared_powers_.squared(state.squared);
    PowerCotangent<T>* bar = descent_.bar(state.squared);
    AddOuter(state.entries, y_, state.exponent + y_exponent_ + squared.exponent,
             stride_, bar->matrix);
    NoteLoss(state, squared.exponent, &bar->lost);
    ScaleAllBy(y_, stride_, kHeadroom<T>);
    int64_t headroom = kHeadroom<T>;
    for (int64_t i = 0; i < model_.size; ++i) {
      next_[i] = Dot(squared.matrix + i * stride_, y_, stride_);
    }
    y_loss_ += 2.0 * squared.row_loss + NewLoss();
    if (!IsZero(absorbed_bar_.mantissa)) {
      const T& absorbed_bar = absorbed_bar_.mantissa;
      const int64_t shift = absorbed_bar_.exponent + state.exponent;
      const T factor = AbsorbedBar();
      for (int64_t i = 0; i < model_.size; ++i) {
        bar->absorbed[i] += ScaleBy(absorbed_bar * state.entries[i], shift);
        next_[i] = ScaleBy(next_[i], squared.exponent - headroom) +
                   factor * squared.absorbed[i];
      }
      headroom = 0;
      y_loss_ += MaxAbs(factor) * squared.absorbed_loss;
    } else {
      y_exponent_ += squared.exponent;
    }
    std::swap(y_, next_);
    NormalizeY(headroom);
  }

  void SweepStep(const SquaringState<T>& start) {
    const StepWeights weights(start.step);
    T y_weights[kStepTerms];
    T exit_weights[kStepTerms];
    const T factor = AbsorbedBar();
    for (int k = 0; k < kStepTerms; ++k) {
      y_weights[k] = T(weights.at[k]);
      exit_weights[k] = (weights.above[k] / model_.q) * factor;
    }
    sums_.Sweep(start.entries, start.exponent, kStepTerms, y_weights,
                exit_weights, y_, y_exponent_);
    y_loss_ += NewLoss();
    NoteLoss(start, 0, &lost_jumps_);
    NormalizeY();
  }

  // Returns the cotangent of the absorbed mass, relative to the exponent of y.
  T AbsorbedBar() const {
    return ScaleBy(absorbed_bar_.mantissa,
                   absorbed_bar_.exponent - y_exponent_);
  }

  // Normalizes y, which is 2^headroom times the product of a squared power and
  // the previous y.
  void NormalizeY(int64_t headroom = 0) {
    y_loss_ += NewLoss();
    const int64_t e = NormalizeVector(y_, stride_, headroom);
    y_exponent_ += e;
    y_loss_ = ScaleBy(y_loss_, -e);
  }

  // Returns a bound on the flushing error of one entry of y in a step, or zero
  // if nothing underflowed. The entry is a sum over the phases for each of the
  // kStepTerms terms of the step.
  double NewLoss() const {
    const double p = static_cast<double>(model_.size) + 2.0;
    return FloatEnvironment::Underflowed() ? 8.0 * kStepTerms * p * kFlushed
                                           : 0.0;
  }

  // Notes a bound on the flushing error of q times sbar at the end of a path.
  void NoteLostWeights(const SquaringState<T>& end, const T* exit_weights) {
    double size = 0.0;
    for (int k = 0; k < kCount; ++k) size += MaxAbs(exit_weights[k]);
    Add(&lost_weights_, Scaled<double>{(2.0 * end.loss + NewLoss()) * size,
                                       end.exponent + y_exponent_ +
                                           kLossExponent + model_.log2_q});
  }

  // Adds to `lost` a bound on the flushing error in column sums of the outer
  // product of `state` and y.
  void NoteLoss(const SquaringState<T>& state, int64_t shift,
                Scaled<double>* lost) const {
    const double p = static_cast<double>(model_.size) + 2.0;
    const double mass = 2.0 * p;
    const double loss = 2.0 * state.loss + mass * y_loss_ + p * NewLoss();
    Add(lost, Scaled<double>{
                  loss, state.exponent + y_exponent_ + shift + kLossExponent});
  }

  SquaringPath<T>& path_;
  SquaredPowers<T>& squared_powers_;
  const Model<T>& model_;
  Workspace* workspace_;
  const int64_t stride_;
  const bool has_adjoints_;
  bool has_cdf_ = false;
  SquaringDescent<T> descent_;
  JumpSums<T> sums_;
  T* starts_ = nullptr;
  int64_t starts_exponent_ = kExponentOfZero;
  // The cotangent of the current state, relative to 2^y_exponent_, and a bound
  // on its flushing errors in multiples of kLossUnit.
  T* y_ = nullptr;
  T* next_ = nullptr;
  int64_t y_exponent_ = 0;
  double y_loss_ = 0.0;
  Scaled<T> absorbed_bar_;
  Scaled<double> lost_start_;
  Scaled<double> lost_jumps_;
  Scaled<double> lost_weights_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_ADJOINT_H_
