// Computes F at one time, and its derivatives in time, by scaling and squaring
// instead of a Poisson mixture.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_MIXER_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_MIXER_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/methods/squaring/squared_powers.h"
#include "native/kernel/methods/squaring/squaring_path.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/mixture.h"
#include "native/kernel/uniformization/time_losses.h"

namespace phasic {
namespace PHASIC_ISA {

template <class T>
class SquaringMixer {
 public:
  explicit SquaringMixer(SquaringPath<T>* path)
      : path_(*path), model_(path->squared_powers()->model()) {}

  // Computes F and, if requested, its derivatives in x, which take the places
  // of the channels in the result.
  Mixture<T> Run(Base base, double x, bool wants_derivatives) {
    const StatusCode status = path_.Follow(base, x);
    if (status == kOk) return End(base, x, wants_derivatives);
    Mixture<T> result;
    result.status = status;
    return result;
  }

  // Computes the same at the end of a path that was followed before.
  Mixture<T> End(Base base, double x, bool wants_derivatives) {
    Mixture<T> result;
    result.status = kOk;
    base_ = base;
    const int count = wants_derivatives ? path_.num_channels() : 1;
    Differentiate(count, x, &result);
    if (IsLost({Primal(result.channels[0]), result.exponent})) {
      result.status = kUnderflow;
    } else if (first_slope() < count) {
      result.status = ReplaceSlopes(count, x, &result);
    }
    return result;
  }

  // Computes the mass of an interval: the probability of absorption in the
  // second of two parts of a path. It is the only channel of the result.
  Mixture<T> RunInterval(double lower, double width) {
    Mixture<T> result;
    base_ = Base::kCdf;
    result.status = path_.FollowInterval(lower, width);
    if (result.status != kOk) return result;
    result.channels[0] = path_.absorbed().mantissa;
    result.exponent = path_.absorbed().exponent;
    if (IsLost({Primal(result.channels[0]), result.exponent})) {
      result.status = kUnderflow;
    }
    return result;
  }

 private:
  // Returns the order of the first derivative of F that is a derivative of the
  // density.
  int first_slope() const { return base_ == Base::kDensity ? 1 : 2; }

  // Computes F and its derivatives as differences of a_k = v P^k s. In the end
  // only the tangents of these differences are used; ReplaceSlopes recomputes
  // the values.
  void Differentiate(int count, double x, Mixture<T>* result) {
    const SquaringState<T>& end = path_.end();
    const bool is_density = base_ == Base::kDensity;
    result->exponent = end.exponent;
    if (is_density) result->exponent += path_.log2_exit_unit();
    if (base_ == Base::kSurvival) {
      result->channels[0] = Sum(end.entries, model_.stride);
    } else if (base_ == Base::kCdf) {
      const Scaled<T>& absorbed = path_.absorbed();
      result->exponent = std::max(end.exponent, absorbed.exponent);
      result->channels[0] =
          ScaleBy(absorbed.mantissa, absorbed.exponent - result->exponent);
    }
    const int first = is_density ? 0 : 1;
    const double sign = base_ == Base::kSurvival ? -1.0 : 1.0;
    const double scale =
        sign * (is_density ? 1.0 : path_.exit_unit() / model_.q);
    T* terms = result->channels + first;
    path_.EndTerms(count - first, terms);
    for (int r = 0; r < count - first; ++r) {
      const int64_t shift = is_density ? 0 : end.exponent - result->exponent;
      terms[r] = ScaleBy(scale * terms[r], shift);
    }
    for (int r = 1; r < count - first; ++r) {
      for (int k = count - first - 1; k >= r; --k) terms[k] -= terms[k - 1];
      if (IsTooLate(r, x)) RefuseTangents(&terms[r]);
    }
  }

  // Replaces the derivatives of the density by more accurate ones. The highest
  // squared power is applied last, to a vector: see power_slopes.h.
  StatusCode ReplaceSlopes(int count, double x, Mixture<T>* result) {
    int64_t top = 0;
    const StatusCode status = path_.FollowBelowTop(x, &top);
    if (status != kOk) return status;
    const SquaringState<T>& end = path_.end();
    const double value = std::fabs(Primal(result->channels[0]));
    const double p = static_cast<double>(model_.size);
    // A bound on the error of the derivative vectors, whose entries have errors
    // relative to E s.
    double noise = (1.0 + p / 8.0) * 0x1p-101 *
                   std::fabs(Primal(result->channels[first_slope() - 1]));
    double power = base_ == Base::kDensity ? 1.0 : x;
    for (int r = first_slope(); r < count; ++r) {
      power *= x;
      const PowerSlope& slope =
          path_.squared_powers()->slope(top, r - first_slope() + 1);
      double sum = 0.0;
      double size = 0.0;
      for (int64_t i = 0; i < model_.size; ++i) {
        const double term = Primal(end.entries[i]) * slope.entries[i];
        sum += term;
        size += std::fabs(term);
      }
      // Accounts for one rounding error for each phase and each power, and for
      // flushing errors.
      const double error =
          (p + 64.0) * 0x1p-53 * size +
          (path_.Mass() * slope.loss + 2.0 * end.loss + path_.NewLoss()) *
              kLossUnit;
      const int64_t e = end.exponent + slope.exponent - result->exponent +
                        (base_ == Base::kDensity ? model_.log2_q : 0);
      const double derivative =
          ScaleBy(base_ == Base::kSurvival ? -sum : sum, e);
      const double most =
          kMostTimeLoss * std::max(value, power * std::fabs(derivative));
      noise *= 4.0;
      const bool is_known = power * (noise + ScaleBy(error, e)) <= most;
      SetPrimal(is_known ? derivative : kNaN, &result->channels[r]);
      if (!is_known) RefuseTangents(&result->channels[r]);
    }
    return kOk;
  }

  // Returns whether flushing to zero lost significant digits of a result of
  // this size.
  bool IsLost(const Scaled<double>& size) const {
    if (size.mantissa != 0.0 || model_.discrete) {
      return !IsAtMost(Lost(), -45, size);
    }
    // A computed zero has underflowed if by the model's structure it must be
    // positive.
    return base_ == Base::kSurvival ? model_.value_starts
                                    : model_.value_absorbs;
  }

  // Returns a bound on the flushing error of the first channel.
  Scaled<double> Lost() const {
    if (base_ == Base::kCdf) return Normalized(path_.lost_absorbed());
    const SquaringState<T>& end = path_.end();
    double loss = end.loss;
    int64_t exponent = end.exponent + kLossExponent;
    if (base_ == Base::kDensity) {
      loss = loss * (model_.max_exit / path_.exit_unit()) + path_.NewLoss();
      exponent += path_.log2_exit_unit();
    }
    return Normalized(Scaled<double>{loss, exponent});
  }

  SquaringPath<T>& path_;
  const Model<T>& model_;
  Base base_ = Base::kDensity;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_MIXER_H_
