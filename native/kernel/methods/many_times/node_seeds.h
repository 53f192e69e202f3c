// Groups of many times in an adjoint sweep over one model. Computes the
// cotangents of the times, and the data from which node_sums.h computes the
// cotangents of the terms.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_SEEDS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_SEEDS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/methods/many_times/node_groups.h"
#include "native/kernel/methods/many_times/node_lanes.h"
#include "native/kernel/methods/many_times/node_series.h"
#include "native/kernel/numbers/pack_math.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/block_list.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"

namespace phasic {
namespace PHASIC_ISA {

// A group of times with the sums of their series about the expansion point; no
// sum is near overflow or underflow. The cotangents are those of F; for
// logarithms they are relative to 2^-exponent.
struct NodeSeed {
  Kind kind;
  double start;
  int64_t exponent;  // exponent of the series
  int num_terms;
  double first;  // F at the expansion point
  double last;   // F exp(4) at the end, relative to 2^exponent
  int64_t count;
  const int64_t* times;     // ascending
  const double* distances;  // from the expansion point
  const double* sums;       // F exp(distance) at the times
  const double* bars;       // cotangents times exp(-distance)
  double bar_size;          // sum of |bars|
  double share_size;        // sum of |bars| times `sums`
};

// With dual numbers, all times are evaluated one by one.
template <class T>
class NodeSeeds {
 public:
  NodeSeeds(const SweepInput& in, ChannelSets<T>*, Workspace*) : in_(in) {}

  template <class Rest>
  StatusCode Run(const Rest& rest, double*) {
    for (int64_t i = 0; i < in_.num_times; ++i) {
      if (in_.cotangent[i] != 0.0) rest(i);
    }
    return kOk;
  }
  int64_t size() const { return 0; }
  bool Has(Base) const { return false; }
  Scaled<double> atom_bar() const { return {}; }

 private:
  const SweepInput& in_;
};

template <>
class NodeSeeds<double> {
 public:
  NodeSeeds(const SweepInput& in, ChannelSets<double>* sets,
            Workspace* workspace)
      : in_(in), sets_(*sets), workspace_(workspace), seeds_(workspace) {}

  // Evaluates the groups and writes the cotangents of their times to
  // `time_bars`. Calls rest(time) for each time that is to be evaluated alone;
  // times without a cotangent are omitted.
  template <class Rest>
  StatusCode Run(const Rest& rest, double* time_bars) {
    const bool many = TakesGroups(in_) && in_.ResultExponent() == 0;
    for (int64_t i = 0; i < in_.num_times; ++i) {
      if (in_.cotangent[i] != 0.0 && !(many && IsModerate(in_.cotangent[i]))) {
        rest(i);
      }
    }
    if (!many) return kOk;
    for (double** numbers : {&distances_, &sums_, &bars_}) {
      *numbers = static_cast<double*>(workspace_->Allocate(
          static_cast<size_t>(in_.num_times), sizeof(double)));
      if (*numbers == nullptr) return kMemoryLimit;
    }
    SeriesBuilders<double> builders(in_, &sets_, true, workspace_);
    StatusCode status = kOk;
    const StatusCode grouping =
        NodeGroups<double>(in_, &sets_.sequence(), true, workspace_)
            .ForEach(
                [&](int64_t i) {
                  return in_.KindOf(i) != Kind::kNothing &&
                         IsModerate(in_.cotangent[i]);
                },
                rest,
                [&](const NodeGroup& group) {
                  NodeSeries node;
                  const Base base = BaseOf(group.kind);
                  if (!builders.Of(base).Build(base, group.start, &node)) {
                    return false;
                  }
                  if (!Append(group, node, rest, time_bars)) {
                    status = kMemoryLimit;
                  }
                  return true;
                });
    return status != kOk ? status : grouping;
  }

  int64_t size() const { return seeds_.size(); }
  const NodeSeed& operator[](int64_t n) const { return seeds_[n]; }
  bool Has(Base base) const { return has_[static_cast<int>(base)]; }
  const SweepInput& in() const { return in_; }

  // Returns the cotangent of prob_zero that these times contribute.
  const Scaled<double>& atom_bar() const { return atom_bar_; }

 private:
  using Lanes = Pack<8>;

  static bool IsModerate(double cotangent) {
    const double size = std::fabs(cotangent);
    return size > 0x1p-200 && size < 0x1p200;
  }

  template <class Rest>
  bool Append(const NodeGroup& group, const NodeSeries& node, const Rest& rest,
              double* time_bars) {
    NodeSeed* seed = seeds_.Append();
    if (seed == nullptr) return false;
    Lanes totals[3] = {Lanes(0.0), Lanes(0.0), Lanes(0.0)};
    int64_t kept = 0;
    for (int64_t n = 0; n < group.count; n += kNodeLanes) {
      const int64_t count = std::min<int64_t>(kNodeLanes, group.count - n);
      const int64_t* times = group.times + n;
      const NodeLanes lanes(in_.times.value, times, count,
                            sets_.sequence().model().q, node.start);
      const NodePack sums = lanes.Sum(node.terms[0], node.num_terms);
      const NodePack next = lanes.Sum(node.terms[1], node.num_terms);
      for (int i = 0; 8 * i < count; ++i) {
        const int64_t size = std::min<int64_t>(8, count - 8 * i);
        Evaluation lane;
        lane.distance = lanes.distance(i);
        lane.sum = sums.parts[i];
        lane.next = next.parts[i];
        Evaluate(group.kind, node.exponent, times + 8 * i, size, &lane);
        for (int k = 0; k < 3; ++k) totals[k] = totals[k] + lane.totals[k];
        kept +=
            Keep(lane, times + 8 * i, size, kept, group.times, rest, time_bars);
      }
    }
    *seed = {group.kind,       node.start, node.exponent, node.num_terms,
             node.first,       node.last,  kept,          group.times,
             distances_,       sums_,      bars_,         totals[0].Total(),
             totals[1].Total()};
    if (kept > 0) has_[static_cast<int>(BaseOf(group.kind))] = true;
    distances_ += kept;
    sums_ += kept;
    bars_ += kept;
    if (BaseOf(group.kind) == Base::kCdf) {
      Add(&atom_bar_, Scaled<double>{totals[2].Total(),
                                     IsLog(group.kind) ? -node.exponent : 0});
    }
    return true;
  }

  struct Evaluation {
    Lanes distance;
    Lanes sum;   // value of F's series
    Lanes next;  // value of the series for its slope
    Lanes bar;   // cotangent times exp(-distance)
    Lanes time_bar;
    Lanes totals[3];  // bar|, |bar| sum, cotangents of a cdf
    Lanes::Mask ordinary;
  };

  void Evaluate(Kind kind, int64_t exponent, const int64_t* times,
                int64_t count, Evaluation* lane) const {
    const Model<double>& model = sets_.sequence().model();
    const Base base = BaseOf(kind);
    const Lanes zero(0.0);
    lane->ordinary = NodeLanes::IsOrdinary(lane->sum);
    const Lanes cotangents = Gather(in_.cotangent, times, count, 0.0);
    lane->bar = IsLog(kind) ? Quotient(cotangents, lane->sum)
                            : cotangents * ExpOfMinus(lane->distance);
    // A density's slope is a difference, and may be small.
    const Lanes least(base == Base::kDensity || !model.absorbs ? -1.0
                                                               : 0x1p-500);
    const Lanes size = Lanes::LargerSize(zero, lane->next);
    lane->ordinary = lane->ordinary & (least < size) & (size < Lanes(0x1p500));
    lane->time_bar = lane->bar * SlopeOf(kind, lane->next);
    lane->time_bar = IsLog(kind)
                         ? model.q * lane->time_bar
                         : ScaleBy(lane->time_bar, exponent + model.log2_q);
    if (in_.rates_exponent != 0) {
      lane->time_bar = ScaleBy(lane->time_bar, in_.TimeBarExponent());
    }
    lane->bar = Select(lane->ordinary, lane->bar, zero);
    lane->totals[0] = Lanes::LargerSize(zero, lane->bar);
    lane->totals[1] = Select(lane->ordinary, lane->totals[0] * lane->sum, zero);
    lane->totals[2] = zero;
    if (base == Base::kCdf) {
      lane->totals[2] = Quotient(lane->bar, ExpOfMinus(lane->distance));
    }
  }

  // Stores the times of the lanes that are far from overflow and underflow,
  // from index `kept` on, and calls rest(time) for the other times. Returns the
  // number of stored times.
  template <class Rest>
  int64_t Keep(const Evaluation& lane, const int64_t* times, int64_t count,
               int64_t kept, int64_t* kept_times, const Rest& rest,
               double* time_bars) {
    double numbers[4][8];
    lane.time_bar.Store(numbers[3]);
    if (count == 8 && !Any(~lane.ordinary)) {
      lane.distance.Store(distances_ + kept);
      lane.sum.Store(sums_ + kept);
      lane.bar.Store(bars_ + kept);
      for (int l = 0; l < 8; ++l) {
        if (time_bars != nullptr) time_bars[times[l]] = numbers[3][l];
        kept_times[kept + l] = times[l];
      }
      return 8;
    }
    lane.distance.Store(numbers[0]);
    lane.sum.Store(numbers[1]);
    lane.bar.Store(numbers[2]);
    const int64_t first = kept;
    for (int l = 0; l < count; ++l) {
      const int64_t time = times[l];
      if (!lane.ordinary[l]) {
        rest(time);
        continue;
      }
      distances_[kept] = numbers[0][l];
      sums_[kept] = numbers[1][l];
      bars_[kept] = numbers[2][l];
      if (time_bars != nullptr) time_bars[time] = numbers[3][l];
      kept_times[kept++] = time;
    }
    return kept - first;
  }

  const SweepInput& in_;
  ChannelSets<double>& sets_;
  Workspace* workspace_;
  BlockList<NodeSeed> seeds_;
  double* distances_ = nullptr;
  double* sums_ = nullptr;
  double* bars_ = nullptr;
  bool has_[kNumBases] = {};
  Scaled<double> atom_bar_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_SEEDS_H_
