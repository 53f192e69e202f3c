// Computes the probability of an interval, P(l < T <= u) = sum_k W_k a_k / q,
// where interval_weights.h computes the weights W_k.
//
// The sum is truncated to the blocks that the densities at the two ends need.
// In a density f(y), the fraction that the terms before a given k contribute
// falls with y, and the fraction that the terms after k contribute grows with
// y. So the fraction of the integral of f that the omitted first terms
// contribute lies between their fractions in the densities at the two ends. The
// same holds for the omitted last terms.
//
// If the upper end is assigned to scaling and squaring, this method also
// computes the interval: first the state at the lower end, and then the mass
// that is absorbed from there to the upper end. Neither method subtracts two
// values of the cdf, which could cancel digits.
//
// In a discrete chain the mass is P(l < N <= u) = sum_{l <= k < u} a_k.

#ifndef PHASIC_NATIVE_KERNEL_VALUES_INTERVAL_H_
#define PHASIC_NATIVE_KERNEL_VALUES_INTERVAL_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/choice/choice.h"
#include "native/kernel/model/value_checks.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/mixture.h"
#include "native/kernel/uniformization/point.h"
#include "native/kernel/uniformization/sequence.h"
#include "native/kernel/uniformization/time_losses.h"
#include "native/kernel/values/interval_weights.h"
#include "native/kernel/values/methods.h"
#include "native/kernel/values/points.h"

namespace phasic {
namespace PHASIC_ISA {

template <class T>
struct Interval {
  int64_t index = 0;  // index of the lower time; the upper follows
  StatusCode status = kOk;
  bool has_series = false;   // otherwise the mass is zero
  bool by_squaring = false;  // uses scaling and squaring
  // The two ends. At an end, the derivative of the cdf with respect to x = q t
  // is slope * 2^value.exponent.
  Point<T> lower;
  Point<T> upper;
  Scaled<T> mass;
  // With tangents: a bound on the error of the mass or its tangent by flushing
  // to zero.
  Scaled<double> loss;
  Scaled<T> seed;  // the cotangent of the mass, in adjoint sweeps
};

template <class T>
IntervalEnd EndOf(const Point<T>& point) {
  return {point.x, point.start, point.start_weight};
}

template <class T>
class IntervalMixer {
 public:
  IntervalMixer(const SweepInput& in, Channels<T>* density,
                IntervalWeights* weights, SquaringPath<T>* squaring_path)
      : in_(in),
        density_(*density),
        sequence_(density->sequence()),
        weights_(*weights),
        squaring_path_(*squaring_path) {}

  Interval<T> Evaluate(int64_t index) {
    Interval<T> interval;
    interval.index = index;
    interval.status = Prepare(&interval);
    if (interval.status != kOk || !interval.has_series) return interval;
    if (interval.by_squaring) {
      interval.status = Climb(&interval);
    } else {
      interval.status =
          sequence_.model().discrete ? AddSteps(&interval) : Mix(&interval);
    }
    return interval;
  }

 private:
  static constexpr bool kPlain = Depth<T>::kValue == 0;

  StatusCode Prepare(Interval<T>* interval) {
    const double lower = in_.times.value[interval->index];
    const double upper = in_.times.value[interval->index + 1];
    if (lower != lower || upper != upper) return kTimeNaN;
    // A subnormal lower end counts as zero: below it lies next to nothing of
    // the mass, unless the upper end is nearly as small.
    const bool is_early = IsSubnormal(lower) && upper < 0x1p-960;
    if (is_early || IsSubnormal(upper)) return kUnderflow;
    if (!(0.0 <= lower && lower <= upper && upper < HUGE_VAL)) {
      return kIntervalInvalid;
    }
    const Model<T>& model = sequence_.model();
    if (model.discrete) return PrepareSteps(interval);
    PlacePoint(in_, interval->index, model.q, &interval->lower);
    PlacePoint(in_, interval->index + 1, model.q, &interval->upper);
    // Compares the times and not x = q t, which may underflow.
    interval->has_series = model.absorbs && lower < upper;
    // The logarithm of the mass is -inf, and has no derivative.
    if (!interval->has_series) return kPlain ? kOk : kLogOfZero;
    const bool is_flushed = (lower > 0.0 && interval->lower.x == 0.0) ||
                            interval->upper.x == interval->lower.x;
    if (is_flushed) return kUnderflow;
    const double limit = static_cast<double>(sequence_.max_blocks()) * kBlock;
    interval->by_squaring = UsesSquaring(model, interval->upper.x, limit);
    int64_t index = interval->index;
    for (Point<T>* end : {&interval->lower, &interval->upper}) {
      end->by_squaring =
          interval->by_squaring && UsesSquaring(model, end->x, limit);
      if (!end->by_squaring && !StartSeries(sequence_, index, end)) {
        return kWorkLimit;
      }
      ++index;
    }
    return kOk;
  }

  StatusCode PrepareSteps(Interval<T>* interval) {
    Point<T>* const ends[] = {&interval->lower, &interval->upper};
    for (int i = 0; i < 2; ++i) PlaceStep(interval->index + i, ends[i]);
    interval->has_series =
        sequence_.model().absorbs && interval->lower.x < interval->upper.x;
    if (!interval->has_series) return kPlain ? kOk : kLogOfZero;
    const double limit = static_cast<double>(sequence_.max_blocks()) * kBlock;
    interval->by_squaring =
        UsesSquaring(sequence_.model(), interval->upper.x, limit);
    const bool fits =
        interval->by_squaring || IsWithinWork(sequence_, &interval->upper);
    return fits ? kOk : kWorkLimit;
  }

  // Sets an end of an interval in discrete time. The mass jumps at an integer
  // end, so that its derivative is NaN there.
  void PlaceStep(int64_t index, Point<T>* end) const {
    const double count = in_.times.value[index];
    end->x = std::floor(count);
    if (end->x != count) return;
    end->slope = T(kNaN);
    end->delta = Element<T>(in_.times, index);
    end->delta -= T(count);
  }

  StatusCode AddSteps(Interval<T>* interval) {
    const auto first = static_cast<int64_t>(interval->lower.x);
    const auto end = static_cast<int64_t>(interval->upper.x);
    for (int64_t k = first; k < end;) {
      StatusCode status = kOk;
      const ChannelBlock<T>* block = density_.Get(k / kBlock, &status);
      if (block == nullptr) return status;
      T sum = T(0.0);
      const int64_t stop = std::min(end, (k / kBlock + 1) * kBlock);
      for (; k < stop; ++k) sum += block->channels[0][k % kBlock];
      Add(&interval->mass, Scaled<T>{sum, block->exponent});
    }
    Scaled<T>& mass = interval->mass;
    const Scaled<double> mean = {
        Primal(mass.mantissa) / static_cast<double>(end - first),
        mass.exponent};
    const int64_t last = (end - 1) / kBlock;
    if (density_.LostToUnderflow(last, mean)) return kUnderflow;
    if (!kPlain) {
      interval->loss = density_.Loss(last);
      interval->loss.mantissa *= static_cast<double>(end - first);
    }
    return RefuseMoves(interval);
  }

  // In discrete time, replaces the tangents of the mass by NaN if an integer
  // end has tangents.
  static StatusCode RefuseMoves(Interval<T>* interval) {
    T& mass = interval->mass.mantissa;
    if (!kPlain && PrimalIsZero(mass)) return kLogOfZero;
    for (const Point<T>* point : {&interval->lower, &interval->upper}) {
      if (!IsZero(point->delta)) mass += kNaN * point->delta;
    }
    return kOk;
  }

  // Computes the mass by scaling and squaring, as the probability of absorption
  // between the two ends.
  StatusCode Climb(Interval<T>* interval) {
    SquaringMixer<T> squared_powers(&squaring_path_);
    const Mixture<T> mass = squared_powers.RunInterval(
        interval->lower.x, interval->upper.x - interval->lower.x);
    if (mass.status != kOk) return mass.status;
    interval->mass = Normalized(Scaled<T>{mass.channels[0], mass.exponent});
    if (sequence_.model().discrete) return RefuseMoves(interval);
    // Without tangents and cotangents the derivatives at the ends are not
    // needed.
    if (kPlain && in_.cotangent == nullptr) return kOk;
    Scaled<T> moved[2];
    Point<T>* const ends[] = {&interval->lower, &interval->upper};
    for (int i = 0; i < 2; ++i) {
      const Mixture<T> mixture =
          ends[i]->by_squaring
              ? squared_powers.Run(Base::kDensity, ends[i]->x, true)
              : Mixer<T>(&density_, *ends[i]).Run();
      if (mixture.status != kOk) return mixture.status;
      moved[i] = Move(mixture, ends[i]);
      AddLoss(mixture, *ends[i], interval);
    }
    AddMoves(moved, interval);
    return kOk;
  }

  StatusCode Mix(Interval<T>* interval) {
    Point<T>* const ends[] = {&interval->lower, &interval->upper};
    int64_t first = INT64_MAX;
    int64_t last = 0;
    Scaled<T> moved[2];  // mass between x and x + delta, for each end
    for (int i = 0; i < 2; ++i) {
      Mixer<T> mixer(&density_, *ends[i]);
      const Mixture<T> mixture = mixer.Run();
      if (mixture.status != kOk) return mixture.status;
      first = std::min(first, mixer.first_block());
      last = std::max(last, mixer.last_block());
      moved[i] = Move(mixture, ends[i]);
      AddLoss(mixture, *ends[i], interval);
    }
    StatusCode status =
        weights_.Begin(EndOf(interval->lower), EndOf(interval->upper));
    if (status == kOk) status = Sum(first, last, interval);
    if (status == kOk) AddMoves(moved, interval);
    return status;
  }

  static void AddMoves(const Scaled<T>* moved, Interval<T>* interval) {
    Add(&interval->mass, moved[1]);
    Add(&interval->mass,
        Scaled<T>{-1.0 * moved[0].mantissa, moved[0].exponent});
  }

  // If the end x has tangents delta, adds a bound on the error by flushing in
  // the mass between x and x + delta. `mixture` is the density at x.
  void AddLoss(const Mixture<T>& mixture, const Point<T>& end,
               Interval<T>* interval) const {
    if (kPlain || IsZero(end.delta)) return;
    Add(&interval->loss,
        Scaled<double>{MaxAbs(end.delta) * mixture.loss.mantissa,
                       mixture.loss.exponent - sequence_.model().log2_q});
  }

  // Sets the slope of an end x with tangents delta, where `mixture` is the
  // density. Returns the cdf at x + delta minus the cdf at x.
  Scaled<T> Move(const Mixture<T>& mixture, Point<T>* end) const {
    T moved = T(0.0);
    if (end->by_squaring) {
      T power = T(1.0);  // delta^r / r!
      for (int r = 0; r <= Depth<T>::kValue; ++r) {
        end->slope += SafeProduct(power, mixture.channels[r]);
        power = (1.0 / (r + 1)) * (power * end->delta);
        moved += SafeProduct(power, mixture.channels[r]);
      }
    } else {
      const TaylorCoefficients<T> taylor(Base::kCdf, end->delta);
      for (int r = 0; r <= Depth<T>::kValue; ++r) {
        moved += taylor.value[1 + r] * mixture.channels[r];
        end->slope += taylor.slope[1 + r] * mixture.channels[r];
      }
      const int n = HighestPower(end->delta);
      if (LosesTooMuch(Base::kCdf, n, end->x)) moved = Refused(moved);
      if (LosesTooMuch(Base::kCdf, n + 1, end->x)) RefuseTangents(&end->slope);
    }
    end->value.exponent = mixture.exponent - sequence_.model().log2_q;
    return {moved, end->value.exponent};
  }

  StatusCode Sum(int64_t first, int64_t last, Interval<T>* interval) {
    T sum = T(0.0);
    int64_t exponent = INT64_MIN / 4;
    sequence_.ClearCallersUnderflow();
    const StatusCode status = weights_.Run(
        first, last, [&](int64_t b, int j, const Scaled<double>& weight) {
          const Block<T>& block = *sequence_.Find(b);
          const T term = weight.mantissa * block.a[j];
          if (IsZero(term)) return;
          const int64_t e = weight.exponent + block.exponent;
          if (e > exponent) {
            sum = ScaleBy(sum, exponent - e) + term;
            exponent = e;
          } else {
            sum += ScaleBy(term, e - exponent);
          }
        });
    if (status != kOk) return status;
    exponent -= sequence_.model().log2_q;
    interval->mass = Normalized(Scaled<T>{sum, exponent});
    if (IsLost(interval->mass, last, exponent)) return kUnderflow;
    if (!kPlain) Add(&interval->loss, Loss(last, exponent));
    return kOk;
  }

  // Returns whether flushing to zero lost significant digits of the mass. Tests
  // the mean density over the interval, mass / width, as this is the sum of the
  // terms a_k with the weights W_k / width, which are at most one.
  bool IsLost(const Scaled<T>& mass, int64_t last, int64_t exponent) const {
    // If the mass is zero, but must be positive by the model's structure, it
    // has underflowed.
    if (PrimalIsZero(mass.mantissa)) return sequence_.model().value_absorbs;
    if (HasOwnExponent<T>::kValue) return false;
    const Scaled<double> size = {Primal(mass.mantissa), mass.exponent};
    const Scaled<double>& width = weights_.width();
    const Scaled<double> density = {
        size.mantissa / width.mantissa,
        size.exponent - width.exponent + sequence_.model().log2_q};
    if (density_.LostToUnderflow(last, density)) return true;
    return sequence_.CallersUnderflow() &&
           !IsAtMost(LossOfSum(last, exponent), -45, size);
  }
  Scaled<double> Loss(int64_t last, int64_t exponent) const {
    if (HasOwnExponent<T>::kValue) return {};
    const Scaled<double>& width = weights_.width();
    Scaled<double> loss = density_.Loss(last);
    loss = {loss.mantissa * width.mantissa,
            loss.exponent + width.exponent - sequence_.model().log2_q};
    if (sequence_.CallersUnderflow()) Add(&loss, LossOfSum(last, exponent));
    return loss;
  }
  static Scaled<double> LossOfSum(int64_t last, int64_t exponent) {
    return {64.0 * static_cast<double>(last + 1), exponent - 922};
  }

  const SweepInput& in_;
  Channels<T>& density_;
  Sequence<T>& sequence_;
  IntervalWeights& weights_;
  SquaringPath<T>& squaring_path_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_VALUES_INTERVAL_H_
