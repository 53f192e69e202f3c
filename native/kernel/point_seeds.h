// The points of a reverse sweep: values at all times, the cotangents of the
// functions there, and from them those of the times and of the atom.

#ifndef PHASIC_NATIVE_KERNEL_POINT_SEEDS_H_
#define PHASIC_NATIVE_KERNEL_POINT_SEEDS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/channels.h"
#include "native/kernel/isa.h"
#include "native/kernel/ladder_points.h"
#include "native/kernel/points.h"

namespace phasic {
namespace PHASIC_ISA {

template <class T>
class PointSeeds {
 public:
  PointSeeds(const SweepInput& in, ChannelSets<T>* sets,
             LadderPath<T>* ladder_path, Workspace* workspace)
      : in_(in),
        sets_(*sets),
        ladder_path_(*ladder_path),
        workspace_(workspace) {}

  // The cotangents of times are left out if `time_bars` is nullptr.
  StatusCode Evaluate(double* time_bars) {
    const int64_t n = in_.num_times;
    points_ = static_cast<Point<T>*>(
        workspace_->Allocate(static_cast<size_t>(n), sizeof(Point<T>)));
    by_time_ = static_cast<int64_t*>(
        workspace_->Allocate(static_cast<size_t>(n), sizeof(int64_t)));
    if (!points_ || !by_time_ || !AllocateLists()) return kMemoryLimit;
    SortTimes();
    EvaluatePoints(time_bars != nullptr);
    StatusCode first_error = kOk;
    for (List& list : lists_) list.size = 0;
    for (int64_t k = 0; k < n; ++k) {
      const int64_t i = by_time_[k];
      double time_bar = 0.0;
      const StatusCode status =
          in_.cotangent[i] == 0.0 ? kOk : SeedPoint(i, &time_bar);
      if (time_bars != nullptr) time_bars[i] = time_bar;
      if (first_error == kOk) first_error = status;
    }
    return first_error;
  }

  // The points of one kind whose terms are to be mixed, times ascending.
  Point<T>* const* of(Base base) const { return ListOf(base).points; }
  int64_t count(Base base) const { return ListOf(base).size; }

  // The points that go by the ladder, times ascending.
  Point<T>* const* on_ladder() const { return on_ladder_.points; }
  int64_t num_on_ladder() const { return on_ladder_.size; }

  // Whether any point is of this kind.
  bool has(Base base) const {
    bool found = count(base) > 0;
    for (int64_t n = 0; n < on_ladder_.size; ++n) {
      found = found || on_ladder_.points[n]->base == base;
    }
    return found;
  }

  bool mixed_signs() const { return mixed_signs_; }
  // Of prob_zero, and of prob_zero + sum(alpha).
  const T& atom_bar() const { return atom_bar_; }
  const T& total_bar() const { return total_bar_; }
  // Of survival before zero, which is one.
  const T& certain_bar() const { return certain_bar_; }

 private:
  struct List {
    Point<T>** points = nullptr;
    int64_t size = 0;
  };
  List& ListOf(Base base) { return lists_[static_cast<int>(base)]; }
  const List& ListOf(Base base) const { return lists_[static_cast<int>(base)]; }

  bool AllocateLists() {
    for (int64_t i = 0; i < in_.num_times; ++i) {
      ++ListOf(BaseOf(in_.KindOf(i))).size;
    }
    for (List& list : lists_) {
      if (!AllocateList(&list)) return false;
    }
    on_ladder_.size = in_.num_times;
    return AllocateList(&on_ladder_);
  }
  bool AllocateList(List* list) {
    list->points = static_cast<Point<T>**>(workspace_->Allocate(
        static_cast<size_t>(list->size), sizeof(Point<T>*)));
    list->size = 0;
    return list->points != nullptr;
  }

  // Sums over times must not depend on their order. NaN is put last.
  void SortTimes() {
    const auto key = [](double x) { return x != x ? HUGE_VAL : x; };
    const auto is_less = [&](int64_t i, int64_t j) {
      const double a = key(in_.times.value[i]);
      const double b = key(in_.times.value[j]);
      return a != b ? a < b : key(in_.cotangent[i]) < key(in_.cotangent[j]);
    };
    int64_t* end = by_time_ + in_.num_times;
    for (int64_t i = 0; i < in_.num_times; ++i) by_time_[i] = i;
    if (!std::is_sorted(by_time_, end, is_less)) {
      std::sort(by_time_, end, is_less);
    }
  }

  void EvaluatePoints(bool slope) {
    bool positive = false;
    bool negative = false;
    for (int64_t k = 0; k < in_.num_times; ++k) {
      const int64_t i = by_time_[k];
      const double cotangent = in_.cotangent[i];
      if (cotangent == 0.0) continue;
      (cotangent > 0.0 ? positive : negative) = true;
      Point<T>& point = points_[i];
      if (PreparePoint(in_, i, sets_.sequence(), &point) &&
          !MixOnLadder(&ladder_path_, &point)) {
        List& list = ListOf(point.base);
        list.points[list.size++] = &point;
      }
    }
    mixed_signs_ = positive && negative;
    for (int base = 0; base < kNumBases; ++base) {
      MixPoints(sets_.Of(static_cast<Base>(base)), lists_[base].points,
                lists_[base].size, slope);
    }
  }

  // The cotangent of F at time i, and from it those of the time and the atom.
  StatusCode SeedPoint(int64_t i, double* time_bar) {
    const double cotangent = in_.cotangent[i];
    Point<T>& point = points_[i];
    Scaled<T>& seed = point.seed;
    seed = Scaled<T>{T(cotangent), 0};
    if (point.status == kOk && point.is_log) {
      if (Primal(point.value.mantissa) == 0.0) point.status = kLogOfZero;
      seed = {cotangent * Reciprocal(point.value.mantissa),
              -point.value.exponent};
    }
    if (point.status == kOk && !IsFinite(seed.mantissa)) {
      point.status = kNotFinite;
    }
    if (point.status != kOk) {
      *time_bar = kNaN;
      return point.status;
    }
    const T bar = seed.mantissa * point.slope;
    *time_bar = Top(ScaleBy(bar, seed.exponent + point.value.exponent +
                                     sets_.sequence().model().log2_q));
    if (point.base == Base::kCdf || point.time_case == TimeCase::kAtom) {
      if (point.time_case != TimeCase::kBefore) atom_bar_ += ToPlain(seed);
      if (point.time_case == TimeCase::kInfinite) total_bar_ += ToPlain(seed);
    }
    if (point.base == Base::kSurvival && point.time_case == TimeCase::kBefore) {
      certain_bar_ += ToPlain(seed);
    }
    if (point.time_case == TimeCase::kRegular ||
        point.time_case == TimeCase::kZero) {
      List& list = point.on_ladder ? on_ladder_ : ListOf(point.base);
      list.points[list.size++] = &point;
    }
    return kOk;
  }

  const SweepInput& in_;
  ChannelSets<T>& sets_;
  LadderPath<T>& ladder_path_;
  Workspace* workspace_;
  Point<T>* points_ = nullptr;
  int64_t* by_time_ = nullptr;
  List lists_[kNumBases];
  List on_ladder_;
  bool mixed_signs_ = false;
  T atom_bar_ = T(0.0);
  T total_bar_ = T(0.0);
  T certain_bar_ = T(0.0);
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_POINT_SEEDS_H_
