// The transpose of mixture.h: adds the contributions of the points of one
// function (density, survival or cdf) to the cotangents of its coefficients.

#ifndef PHASIC_NATIVE_KERNEL_COTANGENTS_TERM_SUMS_H_
#define PHASIC_NATIVE_KERNEL_COTANGENTS_TERM_SUMS_H_

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "native/kernel/cotangents/lane_terms.h"
#include "native/kernel/cotangents/term_blocks.h"
#include "native/kernel/runtime/work_limit.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/mixture.h"
#include "native/kernel/uniformization/point.h"
#include "native/kernel/uniformization/sequence.h"
#include "native/kernel/uniformization/window.h"

namespace phasic {
namespace PHASIC_ISA {

// With this margin, Poisson weights are dropped only if their contributions
// underflow. See TermSums::Start for margins.
constexpr int64_t kFinalMargin = 1200;

template <class T>
class TermSums {
 public:
  TermSums(Sequence<T>* sequence, Base base, Workspace* workspace)
      : sequence_(*sequence), base_(base), blocks_(sequence, base, workspace) {}

  TermBlocks<T>* blocks() { return &blocks_; }
  const TermBlocks<T>& blocks() const { return blocks_; }

  // Clears the sums. From now on the truncation error of each point is kept
  // below 2^-margin times the size of its cotangent times its value.
  void Start(int64_t margin) {
    margin_ = margin;
    blocks_.Start();
    tail_ = Scaled<double>{};
  }

  StatusCode AddPoints(Point<T>* const* points, int64_t num_points) {
    points_ = points;
    num_points_ = num_points;
    for (int64_t n = 0; n < num_points;) {
      StatusCode status = IsStopped() ? kWorkLimit : kOk;
      if (status != kOk) return status;
      const bool discrete = sequence_.model().discrete;
      const int64_t num_lanes = discrete ? 0 : MixLanes(n, &status);
      if (num_lanes == 0) {
        status = discrete ? PickPoint(*points[n]) : MixPoint(*points[n]);
      }
      if (status != kOk) return status;
      n += num_lanes > 0 ? num_lanes : 1;
    }
    return kOk;
  }

  // Returns a bound on the truncation error: the sum over all points of
  // |cotangent| times the sum of the dropped Poisson weights. For a density it
  // is multiplied by q.
  Scaled<double> tail() const {
    Scaled<double> result = tail_;
    if (base_ != Base::kDensity) return result;
    const Model<T>& model = sequence_.model();
    result.exponent += model.log2_q;
    if (model.max_exit > model.q) {  // weights of phases
      result.exponent += ExponentOf(model.max_exit) + 1 - model.log2_q;
    }
    return result;
  }

  // Adds the truncation error of cotangents that other classes added.
  void AddTail(const Scaled<double>& tail) { Add(&tail_, tail); }

  // Adds coefficients[r] times the Poisson weight w_k of one point to the
  // cotangent of coefficient k of series r (see TermBlocks), for all r and k.
  // `coefficients` are relative to 2^seed.exponent. Weights are dropped if the
  // truncation error is small relative to `own`, the size of the point's
  // cotangent times its value.
  StatusCode MixSeries(const Point<T>& point, const Scaled<T>& seed,
                       const T* coefficients, const Scaled<double>& own) {
    if (!IsWithinWork(point)) return kWorkLimit;
    PoissonWalk walk(point.x);
    Series series(this, seed, coefficients, own, point.start_weight);
    return WalkWindow(point.start, point.start_weight, &walk, &series);
  }

  // Returns whether the weights from index k on may be dropped. Their sum is
  // `weights`. If they may, adds the truncation error to tail_.
  bool CanDrop(const Scaled<double>& weights, const Scaled<T>& seed, double k,
               const Scaled<double>& own) {
    const Scaled<double> share = ShareOf(weights, seed, k);
    const bool is_negligible = margin_ == kFinalMargin
                                   ? share.exponent < -kFinalMargin
                                   : IsAtMost(share, -margin_, own);
    if (is_negligible) {
      const Scaled<double> size = SizeOfSeed(seed);
      Add(&tail_, Scaled<double>{weights.mantissa * size.mantissa,
                                 weights.exponent + size.exponent});
    }
    return is_negligible;
  }

  // Returns whether the weights of the first indices, whose sum is `weights`,
  // may be dropped. They may only if their contributions underflow.
  bool CanDropHead(const Scaled<double>& weights, const Scaled<T>& seed) const {
    return ShareOf(weights, seed, 0.0).exponent < -kFinalMargin;
  }

 private:
  // One series of weights; WalkWindow calls its functions.
  class Series {
   public:
    Series(TermSums* sums, const Scaled<T>& seed, const T* coefficients,
           const Scaled<double>& own, const Scaled<double>& start)
        : sums_(*sums),
          seed_(seed),
          coefficients_(coefficients),
          own_(own),
          start_(start) {}

    StatusCode Reserve(int64_t b) {
      StatusCode status = kOk;
      sums_.blocks_.Reserve(b, &status);
      return status;
    }
    const PoissonTable& Table(int64_t b) const {
      return sums_.blocks_.Table(b);
    }
    Scaled<double> Include(int64_t b, const Scaled<double>& weight,
                           PoissonWalk* walk) {
      return sums_.blocks_.AddWeights(b, weight, seed_.exponent, coefficients_,
                                      walk);
    }
    // While weights are near their maximum, they cannot be dropped.
    StatusCode EndsAt(int64_t b, const Scaled<double>& weight,
                      const PoissonWalk& walk, bool* ends) {
      if (SizeOf(weight) >= SizeOf(start_) - 40) return kOk;
      const Scaled<double> tail = walk.TailBound(b, weight);
      const auto k = static_cast<double>(b * kBlock);
      *ends = tail.mantissa > 0.0 && sums_.CanDrop(tail, seed_, k, own_);
      return kOk;
    }
    // Before they are very small, the first weights cannot be dropped.
    bool EndsBefore(int64_t b, const Scaled<double>& weight,
                    const PoissonWalk& walk) const {
      return SizeOf(weight) + seed_.exponent < -kFinalMargin / 2 &&
             sums_.CanDropHead(walk.HeadBound(b, weight), seed_);
    }

   private:
    static int64_t SizeOf(const Scaled<double>& weight) {
      return weight.exponent + ExponentOf(weight.mantissa);
    }

    TermSums& sums_;
    const Scaled<T>& seed_;
    const T* coefficients_;
    const Scaled<double> own_;
    const Scaled<double> start_;
  };

  // Adds up to eight points from index n on in SIMD lanes. Returns their
  // number, which is 0 if lanes cannot be used.
  int64_t MixLanes(int64_t n, StatusCode* status) {
    int64_t count = 0;
    if constexpr (std::is_same<T, double>::value) {
      LaneSeeds lanes;
      const int64_t exponent = points_[n]->seed.exponent;
      while (lanes.count < kLanes && n + lanes.count < num_points_ &&
             AddLane(*points_[n + lanes.count], exponent, &lanes)) {
        ++lanes.count;
      }
      count = lanes.count;
      if (count == 0) return 0;
      LaneTerms terms(&blocks_, lanes, exponent);
      *status = terms.Run();
      if (*status != kOk) return count;
      Add(&tail_, Scaled<double>{terms.tail(), exponent});
      for (int64_t l = 0; l < count; ++l) {
        if (terms.pending(l) == 0) continue;
        const Point<double>& point = *points_[n + l];
        const Scaled<double>& seed = point.seed;
        PoissonWalk walk(point.x);
        Series series(this, seed, &seed.mantissa, {}, point.start_weight);
        WalkDown(terms.pending(l), {terms.pending_weight(l), 0}, &walk,
                 &series);
      }
    }
    return count;
  }

  // Fills the next lane for one point. Returns false if its numbers are too
  // close to overflow or underflow.
  bool AddLane(const Point<double>& point, int64_t exponent,
               LaneSeeds* lanes) const {
    const Scaled<double>& seed = point.seed;
    const double steps = static_cast<double>(sequence_.max_blocks()) * kBlock;
    const int64_t shift = seed.exponent - exponent;
    const int64_t value_log2 =
        ExponentOf(point.value.mantissa) + point.value.exponent;
    const int64_t bound =
        base_ == Base::kDensity ? sequence_.model().log2_q : 0;
    const int64_t threshold_log2 = value_log2 - margin_ - bound;
    if (!(point.x >= 0x1p-10 && point.x < steps) || shift < -200 ||
        shift > 200 || point.value.mantissa == 0.0 || margin_ == kFinalMargin ||
        threshold_log2 < -800 || threshold_log2 > 800 ||
        !(std::fabs(seed.mantissa) > 0x1p-200 &&
          std::fabs(seed.mantissa) < 0x1p200)) {
      return false;
    }
    const int64_t l = lanes->count;
    lanes->times.Set(l, point.x, point.start_weight, point.start);
    lanes->factors[l] = ScaleBy(seed.mantissa, shift);
    lanes->thresholds[l] = PowerOfTwo(threshold_log2);
    return true;
  }

  // Returns whether x is within the work limit. A point whose value needed no
  // series may be beyond the limit.
  bool IsWithinWork(const Point<T>& point) const {
    return point.x < static_cast<double>(sequence_.max_blocks()) * kBlock;
  }

  // Adds the contribution of a point of a discrete chain, whose value is a
  // single term.
  StatusCode PickPoint(const Point<T>& point) {
    if (!IsWithinWork(point)) return kWorkLimit;
    StatusCode status = kOk;
    if (!blocks_.Reserve(point.start, &status)) return status;
    blocks_.AddTo(point.start, StepInBlock(point), point.seed);
    return kOk;
  }

  StatusCode MixPoint(const Point<T>& point) {
    const Scaled<T>& seed = point.seed;
    const TaylorCoefficients<T> taylor(base_, point.delta);
    T coefficients[kMaxOrder];
    for (int r = 0; r <= Depth<T>::kValue; ++r) {
      coefficients[r] = seed.mantissa * taylor.value[r];
    }
    // The size of the point's cotangent times its value.
    const Scaled<double> seed_size = SizeOfSeed(seed);
    const Scaled<double> value_size =
        SizeOf(point.value.mantissa, point.value.exponent);
    const Scaled<double> own =
        value_size.mantissa > 0.0
            ? Scaled<double>{seed_size.mantissa * value_size.mantissa,
                             seed_size.exponent + value_size.exponent}
            : seed_size;
    return MixSeries(point, seed, coefficients, own);
  }

  // Returns the normalized size of a cotangent. Without normalization, products
  // with very small numbers would underflow to zero, and no weight would be
  // negligible relative to them.
  static Scaled<double> SizeOfSeed(const Scaled<T>& seed) {
    return Normalized(SizeOf(seed.mantissa, seed.exponent));
  }

  // Returns a bound on the contribution of the weights from index k on to a
  // derivative, given the sum of these weights.
  Scaled<double> ShareOf(const Scaled<double>& weights, const Scaled<T>& seed,
                         double k) const {
    const Scaled<double> size = SizeOfSeed(seed);
    Scaled<double> share = {weights.mantissa * size.mantissa * (k + 1.0),
                            weights.exponent + size.exponent};
    if (base_ == Base::kDensity) {
      share.exponent += sequence_.model().log2_q;
    }
    return Normalized(share);
  }

  Sequence<T>& sequence_;
  const Base base_;
  TermBlocks<T> blocks_;
  Point<T>* const* points_ = nullptr;
  int64_t num_points_ = 0;
  int64_t margin_ = 0;
  Scaled<double> tail_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_COTANGENTS_TERM_SUMS_H_
