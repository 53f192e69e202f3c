// Many times of one model in groups that share a node: a positive power series
// of F (node_series.h) instead of a sum over Poisson weights for each time.

#ifndef PHASIC_NATIVE_KERNEL_NODE_GROUPS_H_
#define PHASIC_NATIVE_KERNEL_NODE_GROUPS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "native/kernel/channels.h"
#include "native/kernel/isa.h"
#include "native/kernel/ladder_choice.h"
#include "native/kernel/node_series.h"
#include "native/kernel/points.h"
#include "native/kernel/sequence.h"

namespace phasic {
namespace PHASIC_ISA {

// Whether the times of a model are taken in groups. A node costs as much as
// some ten times do by themselves, so groups must be large; the times of
// smaller ones are taken one by one. Results differ in the last bits between
// the two ways, so the choice depends on nothing but what belongs to the model:
// how many times it has, and how many of them lie within one node's reach; not
// on their order, the batch, or threads.
constexpr int64_t kManyTimes = 512;
constexpr int64_t kLeastGroup = 24;
inline bool TakesGroups(const SweepInput& in) {
  return in.num_times >= kManyTimes && !in.discrete;
}

// Times of one kind with start <= x < start + 4. They may be moved about; the
// array lives until the workspace is reset.
struct NodeGroup {
  Kind kind;
  double start;
  int64_t count;
  int64_t* times;
};

class NodeGroups {
 public:
  // Sorted groups have their times ascending, those of equal time by cotangent.
  NodeGroups(const SweepInput& in, const Sequence<double>& sequence,
             bool sorted, Workspace* workspace)
      : in_(in),
        q_(sequence.model().q),
        sorted_(sorted),
        workspace_(workspace) {
    // Far from where work is refused, and below what goes by the ladder.
    const double steps = static_cast<double>(sequence.max_blocks() * kBlock);
    limit_ = kLeastLadderX;
    while (limit_ < 0.5 * steps &&
           !UsesLadder(sequence.model(), 1.25 * limit_, steps)) {
      limit_ *= 1.25;
    }
    limit_ = std::min(limit_, 0.5 * steps);
    for (int32_t code = 0; code < kNumKinds; ++code) {
      const auto kind = static_cast<Kind>(code);
      const bool is_there = in.kinds != nullptr ? IsLog(kind) : in.kind == kind;
      if (!is_there ||
          Classify(sequence.model(), BaseOf(kind), 1.0) != TimeCase::kRegular) {
        continue;
      }
      places_[code] = num_kinds_;
      kinds_[num_kinds_++] = kind;
    }
  }

  // Of the times for which `wants` is true: calls visit(group), and rest(time)
  // for each one that is in no group or for whose group visit returns false.
  template <class Wants, class Rest, class Visit>
  StatusCode ForEach(const Wants& wants, const Rest& rest, const Visit& visit) {
    listed_ = Allocate(in_.num_times);
    if (listed_ == nullptr) return kMemoryLimit;
    List(wants, rest);
    if (num_kinds_ == 1 && ascending_) {
      ForEachRun(rest, visit);
      return kOk;
    }
    return SortAndVisit(rest, visit);
  }

 private:
  int64_t* Allocate(int64_t count) const {
    return static_cast<int64_t*>(
        workspace_->Allocate(static_cast<size_t>(count), sizeof(int64_t)));
  }

  double X(int64_t i) const { return in_.times.value[i] * q_; }

  // A kind's place among those that can be grouped, or -1.
  int PlaceOf(int64_t i) const {
    const auto code = static_cast<uint32_t>(in_.KindOf(i));
    return code < kNumKinds ? places_[code] : -1;
  }

  bool CanBeGrouped(int64_t i) const {
    const double x = X(i);
    return x >= 0x1p-1000 && x < limit_ &&
           in_.times.value[i] >= std::numeric_limits<double>::min() &&
           PlaceOf(i) >= 0;
  }

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
      const double x = X(i);
      if (count_ > 0 && IsLess(i, listed_[count_ - 1])) ascending_ = false;
      last_ = x > last_ ? x : last_;
      listed_[count_++] = i;
    }
  }

  template <class Rest, class Visit>
  static void VisitGroup(const NodeGroup& group, const Rest& rest,
                         const Visit& visit) {
    if (group.count >= kLeastGroup && visit(group)) return;
    for (int64_t n = 0; n < group.count; ++n) rest(group.times[n]);
  }

  // Where all are in order already.
  template <class Rest, class Visit>
  void ForEachRun(const Rest& rest, const Visit& visit) const {
    int64_t* end = listed_ + count_;
    for (int64_t* first = listed_; first < end;) {
      const double start =
          kNodeSpacing * std::floor(X(*first) * (1.0 / kNodeSpacing));
      int64_t* last = std::partition_point(
          first, end, [&](int64_t i) { return X(i) < start + kNodeSpacing; });
      VisitGroup({kinds_[0], start, last - first, first}, rest, visit);
      first = last;
    }
  }

  // Sorts by cells, of which each node has one; or, where its times are to be
  // sorted too, so many that each has a few times.
  template <class Rest, class Visit>
  StatusCode SortAndVisit(const Rest& rest, const Visit& visit) {
    const int64_t num_nodes =
        static_cast<int64_t>(last_ * (1.0 / kNodeSpacing)) + 1;
    int64_t num_cells = 1;
    while (sorted_ && 4 * num_cells * num_nodes < count_) num_cells *= 2;
    const double cells_per_unit = static_cast<double>(num_cells) / kNodeSpacing;
    const int64_t kind_cells = num_nodes * num_cells;
    const auto cell_of = [&](int64_t i) {
      return PlaceOf(i) * kind_cells +
             static_cast<int64_t>(X(i) * cells_per_unit);
    };
    int64_t* times = Allocate(count_);
    int64_t* ends = Allocate(num_kinds_ * kind_cells + 1);
    if (times == nullptr || ends == nullptr) return kMemoryLimit;
    std::fill(ends, ends + num_kinds_ * kind_cells + 1, 0);
    for (int64_t n = 0; n < count_; ++n) ++ends[cell_of(listed_[n]) + 1];
    for (int64_t c = 0; c < num_kinds_ * kind_cells; ++c) {
      ends[c + 1] += ends[c];
    }
    // Where cells begin; afterwards, where they end.
    for (int64_t n = 0; n < count_; ++n) {
      times[ends[cell_of(listed_[n])]++] = listed_[n];
    }
    int64_t first = 0;
    for (int64_t g = 0; g < num_kinds_ * num_nodes; ++g) {
      const int64_t group = first;
      for (int64_t c = g * num_cells; c < (g + 1) * num_cells; ++c) {
        if (sorted_) Sort(times + first, times + ends[c]);
        first = ends[c];
      }
      VisitGroup({kinds_[g / num_nodes],
                  kNodeSpacing * static_cast<double>(g % num_nodes),
                  first - group, times + group},
                 rest, visit);
    }
    return kOk;
  }

  void Sort(int64_t* first, int64_t* last) const {
    const auto is_less = [&](int64_t i, int64_t j) { return IsLess(i, j); };
    if (!std::is_sorted(first, last, is_less)) std::sort(first, last, is_less);
  }

  const SweepInput& in_;
  const double q_;
  const bool sorted_;
  Workspace* workspace_;
  double limit_;
  int places_[kNumKinds] = {-1, -1, -1, -1, -1, -1};
  Kind kinds_[kNumKinds];
  int num_kinds_ = 0;
  int64_t* listed_ = nullptr;  // the times that can be grouped
  int64_t count_ = 0;
  bool ascending_ = true;
  double last_ = 0.0;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_NODE_GROUPS_H_
