// Values of F at many times of one model, where groups of times share an
// expansion point. With dual numbers, derivatives in one direction.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_VALUES_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_VALUES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/methods/many_times/node_groups.h"
#include "native/kernel/methods/many_times/node_lanes.h"
#include "native/kernel/methods/many_times/node_series.h"
#include "native/kernel/numbers/pack_math.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"

namespace phasic {
namespace PHASIC_ISA {

template <class T>
class NodeValues {
 public:
  NodeValues(const SweepInput& in, const SweepOutput& out, ChannelSets<T>* sets,
             Workspace* workspace)
      : in_(in),
        out_(out),
        sequence_(sets->sequence()),
        moves_(HasTangents(in)),
        builders_(in, sets, moves_, workspace),
        workspace_(workspace) {}

  // Evaluates the times that are in groups, writes the results, and lists the
  // other times.
  StatusCode Run() {
    rest_ = static_cast<int64_t*>(workspace_->Allocate(
        static_cast<size_t>(in_.num_times), sizeof(int64_t)));
    if (rest_ == nullptr) return kMemoryLimit;
    return NodeGroups<T>(in_, &sequence_, false, workspace_)
        .ForEach([&](int64_t i) { return !WriteNothing(i); },
                 [&](int64_t i) { Leave(i); },
                 [&](const NodeGroup& group) { return EvaluateGroup(group); });
  }

  const int64_t* rest() const { return rest_; }
  int64_t num_rest() const { return num_rest_; }

 private:
  using Lanes = Pack<8>;
  static constexpr bool kPlain = Depth<T>::kValue == 0;

  static bool HasTangents(const SweepInput& in) {
    if (kPlain) return false;
    const double* tangents = in.times.tangents[0];
    return std::any_of(tangents, tangents + in.num_times,
                       [](double x) { return x != 0.0; });
  }

  bool EvaluateGroup(const NodeGroup& group) {
    const Base base = BaseOf(group.kind);
    SeriesBuilder<T>& builder = builders_.Of(base);
    NodeSeries node;
    if (!builder.Build(base, group.start, &node)) return false;
    for (int64_t n = 0; n < group.count; n += kNodeLanes) {
      const int64_t count = std::min<int64_t>(kNodeLanes, group.count - n);
      if constexpr (kPlain) {
        Evaluate(node, group.kind, group.times + n, count);
      } else {
        Derive(node, builder.is_still(), group.kind, group.times + n, count);
      }
    }
    return true;
  }

  NodeLanes LanesAt(const NodeSeries& node, const int64_t* times,
                    int64_t count) const {
    return NodeLanes(in_.times.value, times, count, sequence_.model().q,
                     node.start);
  }

  void Evaluate(const NodeSeries& node, Kind kind, const int64_t* times,
                int64_t count) {
    const NodeLanes lanes = LanesAt(node, times, count);
    const NodePack sums = lanes.Sum(node.terms[0], node.num_terms);
    for (int i = 0; 8 * i < count; ++i) {
      const Lanes& sum = sums.parts[i];
      const Lanes& distance = lanes.distance(i);
      const Lanes values =
          IsLog(kind) ? LogOf(sum, node.exponent) - distance
                      : ScaleBy(ExpOfMinus(distance) * sum, node.exponent);
      Write(times + 8 * i, std::min<int64_t>(8, count - 8 * i),
            Limited(kind, values), NodeLanes::IsOrdinary(sum));
    }
  }

  // Returns the values, with probabilities limited to at most one, which
  // rounding may exceed.
  Lanes Limited(Kind kind, const Lanes& values) const {
    const Model<T>& model = sequence_.model();
    if (BaseOf(kind) == Base::kDensity ||
        !(model.prob_zero + model.initial_size <= 1.0 + 1e-6)) {
      return values;
    }
    const Lanes limit(IsLog(kind) ? 0.0 : 1.0);
    return Select(limit < values, limit, values);
  }

  void Derive(const NodeSeries& node, bool is_still, Kind kind,
              const int64_t* times, int64_t count) {
    const NodeLanes lanes = LanesAt(node, times, count);
    const NodePack sums = lanes.Sum(node.terms[0], node.num_terms);
    NodePack changes = {};
    if (!is_still) changes = lanes.Sum(node.tangents, node.num_terms);
    NodePack next = {};
    if (moves_) next = lanes.Sum(node.terms[1], node.num_terms);
    // At other expansion points sizes are known to be far from underflow.
    const bool may_vanish = node.start == 0.0 && !is_still;
    NodePack sizes = {};
    if (may_vanish) sizes = lanes.Sum(node.sizes, node.num_terms);
    for (int i = 0; 8 * i < count; ++i) {
      const int64_t* some = times + 8 * i;
      const int64_t size = std::min<int64_t>(8, count - 8 * i);
      Lanes change = is_still ? Lanes(0.0) : changes.parts[i];
      Lanes::Mask ordinary = NodeLanes::IsOrdinary(sums.parts[i]);
      if (may_vanish) {
        ordinary = ordinary & NodeLanes::IsOrdinary(sizes.parts[i]);
      }
      if (moves_) {
        const Lanes moved = sequence_.model().q *
                            Gather(in_.times.tangents[0], some, size, 0.0);
        ordinary = ordinary & MovesAreOrdinary(kind, next.parts[i], moved);
        change = change + SlopeOf(kind, next.parts[i]) * moved;
      }
      const Lanes results =
          IsLog(kind)
              ? Quotient(change, sums.parts[i])
              : ScaleBy(ExpOfMinus(lanes.distance(i)) * change, node.exponent);
      const int64_t exponent = in_.ResultExponent();
      Write(some, size, exponent == 0 ? results : ScaleBy(results, exponent),
            ordinary);
    }
  }

  // Returns the lanes where the contribution of the times' tangents is zero or
  // far from overflow and underflow. A density's slope is a difference; both
  // its terms are far from them.
  static Lanes::Mask MovesAreOrdinary(Kind kind, const Lanes& next,
                                      const Lanes& moved) {
    const Lanes zero(0.0);
    const Lanes size = Lanes::LargerSize(zero, moved);
    Lanes::Mask found = (Lanes(0x1p-400) < size) & (size < Lanes(0x1p400));
    if (BaseOf(kind) != Base::kDensity) {
      found = found & NodeLanes::IsOrdinary(next);
    }
    return ~(~found & (zero < size));
  }

  void Write(const int64_t* times, int64_t count, const Lanes& lanes,
             const Lanes::Mask& ordinary) {
    double values[8];
    lanes.Store(values);
    const bool all = !Any(~ordinary);
    for (int64_t l = 0; l < count; ++l) {
      const bool is_known = all || ordinary[static_cast<int>(l)];
      if (is_known && (kPlain || std::isfinite(values[l]))) {
        Write(times[l], values[l]);
      } else {
        Leave(times[l]);
      }
    }
  }

  void Write(int64_t i, double value) {
    out_.values[i] = value;
    if (out_.status != nullptr) out_.status[i] = kOk;
  }
  // Adds a time to the list of those that are to be evaluated one by one.
  void Leave(int64_t i) { rest_[num_rest_++] = i; }

  // Returns whether time i has kind kNothing; if so, writes its value 0.
  bool WriteNothing(int64_t i) {
    if (in_.KindOf(i) != Kind::kNothing) return false;
    Write(i, 0.0);
    return true;
  }

  const SweepInput& in_;
  const SweepOutput& out_;
  Sequence<T>& sequence_;
  const bool moves_;
  SeriesBuilders<T> builders_;
  Workspace* workspace_;
  int64_t* rest_ = nullptr;
  int64_t num_rest_ = 0;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_VALUES_H_
