// Groups many times of one model by shared expansion points (nodes). At the
// times of a group, a power series of F with nonnegative terms (node_series.h)
// replaces a sum over Poisson weights for each time.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_GROUPS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_GROUPS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "native/kernel/choice/choice.h"
#include "native/kernel/methods/many_times/node_polynomial.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/runtime/work_limit.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/sequence.h"
#include "native/kernel/values/points.h"

namespace phasic {
namespace PHASIC_ISA {

// The times of one kind with start <= x < start + 4, where start is the
// expansion point. Callers may permute them; the array is valid until the
// workspace is reset.
struct NodeGroup {
  Kind kind;
  double start;
  int64_t count;
  int64_t* times;
};

template <class T>
class NodeGroups {
 public:
  // With `sorted`, the times of each group are ascending, and equal times are
  // ordered by cotangent.
  NodeGroups(const SweepInput& in, Sequence<T>* sequence, bool sorted,
             Workspace* workspace)
      : in_(in),
        q_(sequence->model().q),
        sorted_(sorted),
        workspace_(workspace) {
    double last = 0.0;
    for (int64_t i = 0; i < in.num_times; ++i) {
      if (X(i) < HUGE_VAL) last = std::max(last, X(i));
    }
    limit_ = EndOfGroups(last, in.num_times, sequence);
    for (int32_t code = 0; code < kNumKinds; ++code) {
      const auto kind = static_cast<Kind>(code);
      const bool is_there = in.kinds != nullptr ? IsLog(kind) : in.kind == kind;
      if (!is_there || Classify(sequence->model(), BaseOf(kind), 1.0) !=
                           TimeCase::kRegular) {
        continue;
      }
      places_[code] = num_kinds_;
      kinds_[num_kinds_++] = kind;
    }
  }

  // Calls visit(group) for groups of the times for which `wants` is true; the
  // groups of one expansion point come one after the other. Calls rest(time)
  // for each of these times that has no group, or for whose group visit
  // returned false.
  template <class Wants, class Rest, class Visit>
  StatusCode ForEach(const Wants& wants, const Rest& rest, const Visit& visit) {
    for (int k = 0; k < num_kinds_; ++k) {
      lists_[k].times = Allocate(in_.num_times);
      if (lists_[k].times == nullptr) return kMemoryLimit;
    }
    List(wants, rest);
    for (int k = 0; k < num_kinds_; ++k) {
      if (lists_[k].ascending) continue;
      const StatusCode status = SortList(&lists_[k]);
      if (status != kOk) return status;
    }
    return ForEachNode(rest, visit);
  }

 private:
  int64_t* Allocate(int64_t count) const {
    return static_cast<int64_t*>(
        workspace_->Allocate(static_cast<size_t>(count), sizeof(int64_t)));
  }

  double X(int64_t i) const { return in_.times.value[i] * q_; }

  // Returns the index of time i's kind among those that can be grouped, or -1.
  int PlaceOf(int64_t i) const {
    const auto code = static_cast<uint32_t>(in_.KindOf(i));
    return code < kNumKinds ? places_[code] : -1;
  }

  bool CanBeGrouped(int64_t i) const {
    const double x = X(i);
    return x >= 0x1p-1000 && x < limit_ && q_ >= kLeastQ &&
           in_.times.value[i] >= std::numeric_limits<double>::min() &&
           PlaceOf(i) >= 0;
  }

  // The indices of all times of one kind that can be grouped.
  struct TimesOfKind {
    int64_t* times = nullptr;
    int64_t count = 0;
    int64_t first = 0;  // first time that was not visited yet
    bool ascending = true;
  };

  bool IsLess(int64_t i, int64_t j) const {
    const double a = in_.times.value[i];
    const double b = in_.times.value[j];
    return a < b || (sorted_ && a == b && in_.cotangent[i] < in_.cotangent[j]);
  }

  template <class Wants, class Rest>
  void List(const Wants& wants, const Rest& rest) {
    for (int64_t i = 0; i < in_.num_times; ++i) {
      if (!wants(i)) continue;
      if (!CanBeGrouped(i)) {
        rest(i);
        continue;
      }
      TimesOfKind& list = lists_[PlaceOf(i)];
      if (list.count > 0 && IsLess(i, list.times[list.count - 1])) {
        list.ascending = false;
      }
      list.times[list.count++] = i;
    }
  }

  double StartOf(int64_t i) const {
    return kNodeSpacing * std::floor(X(i) * (1.0 / kNodeSpacing));
  }

  template <class Rest, class Visit>
  StatusCode ForEachNode(const Rest& rest, const Visit& visit) {
    while (!IsStopped()) {
      double start = HUGE_VAL;
      for (int k = 0; k < num_kinds_; ++k) {
        const TimesOfKind& list = lists_[k];
        if (list.first < list.count) {
          start = std::min(start, StartOf(list.times[list.first]));
        }
      }
      if (start == HUGE_VAL) return kOk;
      for (int k = 0; k < num_kinds_; ++k) {
        TimesOfKind& list = lists_[k];
        int64_t* first = list.times + list.first;
        int64_t* last = std::partition_point(
            first, list.times + list.count,
            [&](int64_t i) { return X(i) < start + kNodeSpacing; });
        list.first = last - list.times;
        VisitGroup({kinds_[k], start, last - first, first}, rest, visit);
      }
    }
    return kWorkLimit;
  }

  template <class Rest, class Visit>
  static void VisitGroup(const NodeGroup& group, const Rest& rest,
                         const Visit& visit) {
    if (group.count >= kLeastGroup && visit(group)) return;
    for (int64_t n = 0; n < group.count; ++n) rest(group.times[n]);
  }

  // Sorts the times of one kind into cells in ascending order. There is one
  // cell per expansion point or, with sorted_, so many that each has a few
  // times.
  StatusCode SortList(TimesOfKind* list) {
    double last = 0.0;
    for (int64_t n = 0; n < list->count; ++n) {
      last = std::max(last, X(list->times[n]));
    }
    const int64_t num_nodes =
        static_cast<int64_t>(last * (1.0 / kNodeSpacing)) + 1;
    int64_t cells_per_node = 1;
    while (sorted_ && 4 * cells_per_node * num_nodes < list->count) {
      cells_per_node *= 2;
    }
    const double cells_per_unit =
        static_cast<double>(cells_per_node) / kNodeSpacing;
    const int64_t num_cells = num_nodes * cells_per_node;
    const auto cell_of = [&](int64_t i) {
      return static_cast<int64_t>(X(i) * cells_per_unit);
    };
    int64_t* times = Allocate(list->count);
    int64_t* ends = Allocate(num_cells + 1);
    if (times == nullptr || ends == nullptr) return kMemoryLimit;
    std::fill(ends, ends + num_cells + 1, 0);
    for (int64_t n = 0; n < list->count; ++n) {
      ++ends[cell_of(list->times[n]) + 1];
    }
    for (int64_t c = 0; c < num_cells; ++c) ends[c + 1] += ends[c];
    // At first ends[c] is the index of cell c's first time; after the loop it
    // is the end of the cell.
    for (int64_t n = 0; n < list->count; ++n) {
      times[ends[cell_of(list->times[n])]++] = list->times[n];
    }
    int64_t first = 0;
    for (int64_t c = 0; sorted_ && c < num_cells; ++c) {
      Sort(times + first, times + ends[c]);
      first = ends[c];
    }
    list->times = times;
    return kOk;
  }

  void Sort(int64_t* first, int64_t* last) const {
    const auto is_less = [&](int64_t i, int64_t j) { return IsLess(i, j); };
    if (!std::is_sorted(first, last, is_less)) std::sort(first, last, is_less);
  }

  // With lower rates, terms of the density that matter underflow.
  static constexpr double kLeastQ = 0x1p-700;
  static constexpr int64_t kLeastGroup = Depth<T>::kValue == 0 ? 24 : 4;

  const SweepInput& in_;
  const double q_;
  const bool sorted_;
  Workspace* workspace_;
  double limit_;
  int places_[kNumKinds] = {-1, -1, -1, -1, -1, -1};
  Kind kinds_[kNumKinds];
  int num_kinds_ = 0;
  TimesOfKind lists_[kNumKinds];
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_GROUPS_H_
