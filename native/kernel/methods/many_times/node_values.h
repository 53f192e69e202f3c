// Values at many times of one model, group by group.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_VALUES_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_VALUES_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/methods/many_times/node_groups.h"
#include "native/kernel/methods/many_times/node_lanes.h"
#include "native/kernel/methods/many_times/node_series.h"
#include "native/kernel/numbers/pack_math.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"

namespace phasic {
namespace PHASIC_ISA {

class NodeValues {
 public:
  NodeValues(const SweepInput& in, const SweepOutput& out,
             ChannelSets<double>* sets, Workspace* workspace)
      : in_(in), out_(out), sets_(*sets), workspace_(workspace) {}

  // Writes the values that nodes give, and lists the other times.
  StatusCode Run() {
    rest_ = static_cast<int64_t*>(workspace_->Allocate(
        static_cast<size_t>(in_.num_times), sizeof(int64_t)));
    if (rest_ == nullptr) return kMemoryLimit;
    NodeBuilders builders(in_, &sets_, workspace_);
    return NodeGroups(in_, &sets_.sequence(), false, workspace_)
        .ForEach(
            [&](int64_t i) { return !WriteNothing(i); },
            [&](int64_t i) { rest_[num_rest_++] = i; },
            [&](const NodeGroup& group) {
              NodeSeries node;
              if (!builders.Build(BaseOf(group.kind), group.start, &node)) {
                return false;
              }
              for (int64_t n = 0; n < group.count; n += kNodeLanes) {
                Evaluate(node, group.kind, group.times + n,
                         std::min<int64_t>(kNodeLanes, group.count - n));
              }
              return true;
            });
  }

  const int64_t* rest() const { return rest_; }
  int64_t num_rest() const { return num_rest_; }

 private:
  using Lanes = Pack<8>;

  // Whether nothing is asked for at a time.
  bool WriteNothing(int64_t i) const {
    if (in_.KindOf(i) != Kind::kNothing) return false;
    out_.values[i] = 0.0;
    if (out_.status != nullptr) out_.status[i] = kOk;
    return true;
  }

  void Evaluate(const NodeSeries& node, Kind kind, const int64_t* times,
                int64_t count) {
    const NodeLanes lanes(in_.times.value, times, count,
                          sets_.sequence().model().q, node.start);
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

  void Write(const int64_t* times, int64_t count, const Lanes& lanes,
             const Lanes::Mask& ordinary) {
    double values[8];
    lanes.Store(values);
    const bool all = !Any(~ordinary);
    for (int64_t l = 0; l < count; ++l) {
      if (!all && !ordinary[static_cast<int>(l)]) {
        rest_[num_rest_++] = times[l];
        continue;
      }
      out_.values[times[l]] = values[l];
      if (out_.status != nullptr) out_.status[times[l]] = kOk;
    }
  }

  // A probability that rounding has pushed above one is one.
  Lanes Limited(Kind kind, const Lanes& values) const {
    const Model<double>& model = sets_.sequence().model();
    if (BaseOf(kind) == Base::kDensity ||
        !(model.prob_zero + model.initial_size <= 1.0 + 1e-6)) {
      return values;
    }
    const Lanes limit(IsLog(kind) ? 0.0 : 1.0);
    return Select(limit < values, limit, values);
  }

  const SweepInput& in_;
  const SweepOutput& out_;
  ChannelSets<double>& sets_;
  Workspace* workspace_;
  int64_t* rest_ = nullptr;
  int64_t num_rest_ = 0;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_VALUES_H_
