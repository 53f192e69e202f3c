// Values of F at many times of one model, where groups of times share an
// expansion point.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_VALUES_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_VALUES_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/methods/many_times/node_lanes.h"
#include "native/kernel/methods/many_times/node_run.h"
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
      : in_(in),
        sets_(*sets),
        workspace_(workspace),
        run_(in, out, workspace) {}

  // Evaluates the times that are in groups, writes the values, and lists the
  // other times.
  StatusCode Run() {
    NodeBuilders builders(in_, &sets_, workspace_);
    return run_.Run(&sets_.sequence(), [&](const NodeGroup& group) {
      NodeSeries node;
      if (!builders.Build(BaseOf(group.kind), group.start, &node)) return false;
      for (int64_t n = 0; n < group.count; n += kNodeLanes) {
        Evaluate(node, group.kind, group.times + n,
                 std::min<int64_t>(kNodeLanes, group.count - n));
      }
      return true;
    });
  }

  const int64_t* rest() const { return run_.rest(); }
  int64_t num_rest() const { return run_.num_rest(); }

 private:
  using Lanes = Pack<8>;

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
        run_.Leave(times[l]);
      } else {
        run_.Write(times[l], values[l]);
      }
    }
  }

  // Returns the values, with probabilities limited to at most one, which
  // rounding may exceed.
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
  ChannelSets<double>& sets_;
  Workspace* workspace_;
  NodeRun run_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_VALUES_H_
