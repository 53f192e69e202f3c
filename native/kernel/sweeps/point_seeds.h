// Computes the points of an adjoint sweep: the value of F at each time (see
// point.h), and the cotangent of F there. Then computes from the points the
// cotangents of the times and of the atom.

#ifndef PHASIC_NATIVE_KERNEL_SWEEPS_POINT_SEEDS_H_
#define PHASIC_NATIVE_KERNEL_SWEEPS_POINT_SEEDS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/choice/work_of_times.h"
#include "native/kernel/cotangents/lost_times.h"
#include "native/kernel/runtime/work_limit.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/time_losses.h"
#include "native/kernel/values/interval.h"
#include "native/kernel/values/interval_weights.h"
#include "native/kernel/values/methods.h"
#include "native/kernel/values/points.h"

namespace phasic {
namespace PHASIC_ISA {

template <class T>
class PointSeeds {
 public:
  PointSeeds(const SweepInput& in, ChannelSets<T>* sets,
             SquaringPath<T>* squaring_path, Workspace* workspace)
      : in_(in),
        sets_(*sets),
        squaring_path_(*squaring_path),
        workspace_(workspace),
        groups_(in, sets, workspace),
        interval_weights_(workspace) {}

  // Computes the values and cotangents. If `time_bars` is nullptr, does not
  // compute the cotangents of times.
  StatusCode Evaluate(double* time_bars) {
    if (!AreTimesWithinWork(in_, sets_.sequence())) return kWorkLimit;
    by_time_ = static_cast<int64_t*>(workspace_->Allocate(
        static_cast<size_t>(in_.num_times), sizeof(int64_t)));
    if (by_time_ == nullptr) return kMemoryLimit;
    NoteSigns(time_bars);
    const auto take_alone = [&](int64_t i) {
      if (in_.KindOf(i) != Kind::kNothing) by_time_[num_points_++] = i;
    };
    const StatusCode status = groups_.Run(take_alone, time_bars);
    if (status != kOk) return status;
    AddToAtom({T(groups_.atom_bar().mantissa), groups_.atom_bar().exponent});
    points_ = static_cast<Point<T>*>(workspace_->Allocate(
        static_cast<size_t>(num_points_), sizeof(Point<T>)));
    if (points_ == nullptr || !AllocateLists()) return kMemoryLimit;
    SortTimes();
    if (!EvaluatePoints(time_bars != nullptr)) return kWorkLimit;
    StatusCode worst = kOk;
    // If some times underflowed and others cannot be evaluated at all, the
    // status is kUnderflow, because a sweep over extended doubles may evaluate
    // the times that underflowed.
    const auto note = [&worst](StatusCode status) {
      if (worst == kOk || status == kUnderflow) worst = status;
    };
    for (List& list : lists_) list.size = 0;
    for (int64_t k = 0; k < num_points_; ++k) {
      if (IsMixedInterval(points_[k])) continue;
      double time_bar = 0.0;
      note(SeedPoint(k, &time_bar));
      if (time_bars != nullptr) time_bars[by_time_[k]] = time_bar;
    }
    for (int64_t i = 0; i < num_intervals_; ++i) {
      note(SeedInterval(&intervals_[i], time_bars));
    }
    return worst;
  }

  // Returns the times that are evaluated in groups.
  const NodeSeeds<T>& groups() const { return groups_; }

  // `of` returns the points at which the function `base` is computed from terms
  // of the power sequence, with times ascending. `count` returns their number.
  Point<T>* const* of(Base base) const { return ListOf(base).points; }
  int64_t count(Base base) const { return ListOf(base).size; }

  // Return the points that are computed by scaling and squaring, with times
  // ascending, and the number of these points.
  Point<T>* const* by_squaring() const { return by_squaring_.points; }
  int64_t num_by_squaring() const { return by_squaring_.size; }

  // are_early returns whether scaling and squaring was used at some time at
  // which it is not used for values, because it is cheaper for derivatives.
  // lost_early_time returns whether the cotangent of such a time is unknown.
  bool are_early() const { return are_early_; }
  bool lost_early_time() const { return lost_early_time_; }

  int64_t num_points() const { return num_points_; }
  int64_t num_intervals() const { return num_intervals_; }
  const Interval<T>& interval(int64_t i) const { return intervals_[i]; }

  // Returns whether this function is computed from terms of the power sequence
  // for any group, point or interval.
  bool HasTerms(Base base) const {
    return groups_.Has(base) || count(base) > 0 ||
           (base == Base::kDensity && num_intervals_ > 0);
  }

  // Returns whether derivatives of this function are needed at any time, be
  // they computed from terms of the power sequence or by scaling and squaring.
  bool has(Base base) const {
    bool found = HasTerms(base);
    for (int64_t n = 0; n < by_squaring_.size; ++n) {
      found = found || by_squaring_.points[n]->base == base;
    }
    return found;
  }

  bool mixed_signs() const { return mixed_signs_; }
  const SweepInput& in() const { return in_; }
  // Return the cotangents of prob_zero, and of prob_zero + sum(alpha).
  const T& atom_bar() const { return atom_bar_; }
  const T& total_bar() const { return total_bar_; }
  // Returns prob_zero times its cotangent. This product is in range even if the
  // cotangent is not.
  const T& zeros() const { return zeros_; }
  // Returns the sum of the cotangents of survival values at negative times,
  // where survival functions are one.
  const T& certain_bar() const { return certain_bar_; }

 private:
  struct List {
    Point<T>** points = nullptr;
    int64_t size = 0;
  };
  List& ListOf(Base base) { return lists_[static_cast<int>(base)]; }
  const List& ListOf(Base base) const { return lists_[static_cast<int>(base)]; }

  bool AllocateLists() {
    int64_t num_intervals = 0;
    for (int64_t k = 0; k < num_points_; ++k) {
      const Kind kind = in_.KindOf(by_time_[k]);
      if (HasSeries(kind)) ++ListOf(BaseOf(kind)).size;
      if (kind == Kind::kLogInterval) ++num_intervals;
    }
    intervals_ = static_cast<Interval<T>*>(workspace_->Allocate(
        static_cast<size_t>(num_intervals), sizeof(Interval<T>)));
    if (intervals_ == nullptr) return false;
    for (List& list : lists_) {
      if (!AllocateList(&list)) return false;
    }
    by_squaring_.size = num_points_;
    return AllocateList(&by_squaring_);
  }
  bool AllocateList(List* list) {
    list->points = static_cast<Point<T>**>(workspace_->Allocate(
        static_cast<size_t>(list->size), sizeof(Point<T>*)));
    list->size = 0;
    return list->points != nullptr;
  }

  // Sorts the times, since sums over times must not depend on the order in
  // which they are given. NaN comes last.
  void SortTimes() {
    const auto key = [](double x) { return x != x ? HUGE_VAL : x; };
    const auto is_less = [&](int64_t i, int64_t j) {
      const double a = key(in_.times.value[i]);
      const double b = key(in_.times.value[j]);
      if (a != b) return a < b;
      const double c = key(in_.cotangent[i]);
      const double d = key(in_.cotangent[j]);
      if (c != d || in_.kinds == nullptr) return c < d;
      if (in_.kinds[i] != in_.kinds[j]) return in_.kinds[i] < in_.kinds[j];
      return CheckKind(in_, i) == kOk && CheckKind(in_, j) == kOk &&
             in_.KindOf(i) == Kind::kLogInterval &&
             key(in_.times.value[i + 1]) < key(in_.times.value[j + 1]);
    };
    int64_t* end = by_time_ + num_points_;
    if (!std::is_sorted(by_time_, end, is_less)) {
      std::sort(by_time_, end, is_less);
    }
  }

  void NoteSigns(double* time_bars) {
    bool positive = false;
    bool negative = false;
    for (int64_t i = 0; i < in_.num_times; ++i) {
      const double cotangent = in_.cotangent[i];
      if (time_bars != nullptr) time_bars[i] = 0.0;
      if (cotangent == 0.0 || in_.KindOf(i) == Kind::kNothing) continue;
      (cotangent > 0.0 ? positive : negative) = true;
    }
    mixed_signs_ = positive && negative;
  }

  // Returns false if the call has to end early.
  bool EvaluatePoints(bool slope) {
    constexpr int64_t kBetweenQuestions = 256;
    IntervalMixer<T> mixer(in_, sets_.Of(Base::kDensity), &interval_weights_,
                           &squaring_path_);
    for (int64_t k = 0; k < num_points_; ++k) {
      Point<T>& point = points_[k];
      if (k % kBetweenQuestions == 0 && IsStopped()) return false;
      if (PreparePoint(in_, by_time_[k], sets_.sequence(), &point) &&
          (LeavesSquaring(by_time_[k], in_.num_times, &sets_.sequence(),
                          &point) ||
           !MixBySquaring(&squaring_path_, slope, &point))) {
        List& list = ListOf(point.base);
        list.points[list.size++] = &point;
      } else if (point.by_squaring) {
        are_early_ = are_early_ || point.is_early;
      } else if (IsMixedInterval(point)) {
        intervals_[num_intervals_++] = mixer.Evaluate(by_time_[k]);
      }
    }
    for (int base = 0; base < kNumBases; ++base) {
      const List& list = lists_[base];
      for (int64_t n = 0; n < list.size; n += kBetweenQuestions) {
        if (n > 0 && IsStopped()) return false;
        MixPoints(sets_.Of(static_cast<Base>(base)), list.points + n,
                  std::min(kBetweenQuestions, list.size - n), slope);
      }
    }
    for (int64_t k = 0; k < num_points_; ++k) {
      Point<T>& point = points_[k];
      if (point.by_squaring || point.is_interval) continue;
      RetryBySquaring(in_, by_time_[k], sets_.sequence(), &squaring_path_,
                      slope, &point);
    }
    return true;
  }

  // Returns whether the point is an interval whose lower and upper end have
  // valid kinds. Such a point has an entry in intervals_.
  static bool IsMixedInterval(const Point<T>& point) {
    return point.is_interval && point.status == kOk;
  }

  // Returns the cotangent of a point's x, given the cotangent of its value. It
  // is NaN if the derivative with respect to time is too inaccurate.
  T TimeBar(const T& seed, const Point<T>& point) const {
    const bool may_be_lost =
        point.by_squaring && !sets_.sequence().model().discrete;
    return may_be_lost ? SafeProduct(seed, point.slope) : seed * point.slope;
  }

  // Returns the exponent of the power of two that turns cotangents of x = q t
  // into cotangents of times.
  int64_t TimeExponent() const {
    return sets_.sequence().model().log2_q + in_.TimeBarExponent();
  }

  // Computes the cotangent of F at point k, and adds the resulting cotangents
  // of the time and the atom.
  StatusCode SeedPoint(int64_t k, double* time_bar) {
    const double cotangent = in_.cotangent[by_time_[k]];
    Point<T>& point = points_[k];
    Scaled<T>& seed = point.seed;
    seed = Scaled<T>{T(cotangent), 0};
    // Without absorption F has a limit, but an exit rate above zero changes it
    // at once, so that it has no derivatives.
    if (point.time_case == TimeCase::kInfinite &&
        point.base != Base::kDensity && sets_.sequence().model().defective) {
      point.status = kNeverAbsorbed;
    }
    if (point.status == kOk && point.is_log) {
      if (PrimalIsZero(point.value.mantissa)) point.status = kLogOfZero;
      seed = Reciprocal(point.value);
      seed.mantissa = cotangent * seed.mantissa;
    }
    if (point.status == kOk && !IsFinite(seed.mantissa)) {
      point.status = kNotFinite;
    }
    if (point.status != kOk) {
      *time_bar = MissingBar(point.status);
      return point.status;
    }
    // Normalizes the cotangent: a tiny one might underflow in a product that is
    // scaled up later.
    const Scaled<T> factor = Normalized(seed);
    const T bar = TimeBar(factor.mantissa, point);
    const double found = Top(
        ScaleBy(bar, factor.exponent + point.value.exponent + TimeExponent()));
    *time_bar = found;
    if (found != found && point.by_squaring && point.is_early) {
      *time_bar = MissingBar(kUnderflow);
      lost_early_time_ = true;
    }
    if (LosesTooMuch(point.base, HighestPower(point.delta), point.x)) {
      return kNotFinite;  // derivatives in operands are not finite, too
    }
    if (point.base == Base::kCdf || point.time_case == TimeCase::kAtom) {
      if (point.time_case != TimeCase::kBefore) AddToAtom(seed);
      if (point.time_case == TimeCase::kInfinite) total_bar_ += ToPlain(seed);
    }
    if (point.base == Base::kSurvival && point.time_case == TimeCase::kBefore) {
      certain_bar_ += ToPlain(seed);
    }
    if (point.time_case == TimeCase::kRegular ||
        point.time_case == TimeCase::kZero) {
      List& list = point.by_squaring ? by_squaring_ : ListOf(point.base);
      list.points[list.size++] = &point;
    }
    return kOk;
  }

  void AddToAtom(const Scaled<T>& seed) {
    atom_bar_ += ToPlain(seed);
    const T& atom = sets_.sequence().model().prob_zero;
    if (!IsZero(atom)) zeros_ += PlainProduct(atom, seed);
  }

  // Computes the cotangent of an interval's mass, and from it the cotangents of
  // the two ends.
  StatusCode SeedInterval(Interval<T>* interval, double* time_bars) {
    const Scaled<T>& mass = interval->mass;
    Scaled<T>& seed = interval->seed;
    seed = Reciprocal(mass);
    seed.mantissa = in_.cotangent[interval->index] * seed.mantissa;
    if (interval->status == kOk && PrimalIsZero(mass.mantissa)) {
      interval->status = kLogOfZero;
    }
    if (interval->status == kOk && !IsFinite(seed.mantissa)) {
      interval->status = kNotFinite;
    }
    for (const Point<T>* end : {&interval->lower, &interval->upper}) {
      if (interval->status == kOk &&
          LosesTooMuch(Base::kCdf, HighestPower(end->delta), end->x)) {
        interval->status = kNotFinite;
      }
    }
    if (time_bars == nullptr) return interval->status;
    double* bars = time_bars + interval->index;
    const Point<T>* const ends[] = {&interval->lower, &interval->upper};
    for (int i = 0; i < 2; ++i) {
      const Point<T>& end = *ends[i];
      const double bar =
          Top(ScaleBy(TimeBar(seed.mantissa, end),
                      seed.exponent + end.value.exponent + TimeExponent()));
      bars[i] = i == 0 ? -bar : bar;
      if (interval->status != kOk) bars[i] = MissingBar(interval->status);
    }
    return interval->status;
  }

  const SweepInput& in_;
  ChannelSets<T>& sets_;
  SquaringPath<T>& squaring_path_;
  Workspace* workspace_;
  NodeSeeds<T> groups_;
  Point<T>* points_ = nullptr;  // the points outside of groups
  int64_t* by_time_ = nullptr;
  int64_t num_points_ = 0;
  Interval<T>* intervals_ = nullptr;
  int64_t num_intervals_ = 0;
  IntervalWeights interval_weights_;
  List lists_[kNumBases];
  List by_squaring_;
  bool mixed_signs_ = false;
  bool are_early_ = false;
  bool lost_early_time_ = false;
  T atom_bar_ = T(0.0);
  T zeros_ = T(0.0);
  T total_bar_ = T(0.0);
  T certain_bar_ = T(0.0);
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_SWEEPS_POINT_SEEDS_H_
