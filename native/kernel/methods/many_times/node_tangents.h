// Derivatives in one direction at many times of one model, where groups of
// times share an expansion point.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_TANGENTS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_TANGENTS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/methods/many_times/node_lanes.h"
#include "native/kernel/methods/many_times/node_run.h"
#include "native/kernel/methods/many_times/tangent_series.h"
#include "native/kernel/numbers/pack_math.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"

namespace phasic {
namespace PHASIC_ISA {

class NodeTangents {
 public:
  NodeTangents(const SweepInput& in, const SweepOutput& out,
               ChannelSets<Dual<double>>* sets, Workspace* workspace)
      : in_(in),
        sets_(*sets),
        moves_(HasTangents(in)),
        builders_{{sets->Of(Base::kDensity), moves_, workspace},
                  {sets->Of(Base::kSurvival), moves_, workspace},
                  {sets->Of(Base::kCdf), moves_, workspace}},
        run_(in, out, workspace) {}

  // Evaluates the times that are in groups, writes the results, and lists the
  // other times.
  StatusCode Run() {
    return run_.Run(&sets_.sequence(), [&](const NodeGroup& group) {
      TangentBuilder& builder = builders_[static_cast<int>(BaseOf(group.kind))];
      TangentSeries node;
      if (!builder.Build(group.start, &node)) return false;
      for (int64_t n = 0; n < group.count; n += kNodeLanes) {
        Evaluate(node, builder.is_still(), group.kind, group.times + n,
                 std::min<int64_t>(kNodeLanes, group.count - n));
      }
      return true;
    });
  }

  const int64_t* rest() const { return run_.rest(); }
  int64_t num_rest() const { return run_.num_rest(); }

 private:
  using Lanes = Pack<8>;

  static bool HasTangents(const SweepInput& in) {
    const double* tangents = in.times.tangents[0];
    return std::any_of(tangents, tangents + in.num_times,
                       [](double x) { return x != 0.0; });
  }

  void Evaluate(const TangentSeries& node, bool is_still, Kind kind,
                const int64_t* times, int64_t count) {
    const NodeSeries& values = node.values;
    const double q = sets_.sequence().model().q;
    const NodeLanes lanes(in_.times.value, times, count, q, values.start);
    const NodePack sums = lanes.Sum(values.terms[0], values.num_terms);
    NodePack changes = {};
    if (!is_still) changes = lanes.Sum(node.tangents, values.num_terms);
    NodePack next = {};
    if (moves_) next = lanes.Sum(values.terms[1], values.num_terms);
    // At other expansion points sizes are known to be far from underflow.
    const bool may_vanish = values.start == 0.0 && !is_still;
    NodePack sizes = {};
    if (may_vanish) sizes = lanes.Sum(node.sizes, values.num_terms);
    for (int i = 0; 8 * i < count; ++i) {
      const int64_t* some = times + 8 * i;
      const int64_t size = std::min<int64_t>(8, count - 8 * i);
      Lanes change = is_still ? Lanes(0.0) : changes.parts[i];
      Lanes::Mask ordinary = NodeLanes::IsOrdinary(sums.parts[i]);
      if (may_vanish) {
        ordinary = ordinary & NodeLanes::IsOrdinary(sizes.parts[i]);
      }
      if (moves_) {
        const Lanes moved = q * Gather(in_.times.tangents[0], some, size, 0.0);
        ordinary = ordinary & MovesAreOrdinary(kind, next.parts[i], moved);
        change = change + Slope(kind, next.parts[i]) * moved;
      }
      const Lanes results =
          IsLog(kind) ? Quotients(change, sums.parts[i])
                      : ScaleBy(ExpOfMinus(lanes.distance(i)) * change,
                                values.exponent);
      Write(some, size, results, ordinary);
    }
  }

  static Lanes Quotients(const Lanes& x, const Lanes& y) {
    double numerators[8];
    double denominators[8];
    x.Store(numerators);
    y.Store(denominators);
    for (int l = 0; l < 8; ++l) numerators[l] /= denominators[l];
    return Lanes::Load(numerators);
  }

  // Returns the derivative of F in x = q t, up to the factor exp(-d).
  static Lanes Slope(Kind kind, const Lanes& next) {
    return BaseOf(kind) == Base::kSurvival ? -1.0 * next : next;
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
    const int64_t exponent = in_.ResultExponent();
    (exponent == 0 ? lanes : ScaleBy(lanes, exponent)).Store(values);
    for (int64_t l = 0; l < count; ++l) {
      if (ordinary[static_cast<int>(l)] && std::isfinite(values[l])) {
        run_.Write(times[l], values[l]);
      } else {
        run_.Leave(times[l]);
      }
    }
  }

  const SweepInput& in_;
  ChannelSets<Dual<double>>& sets_;
  const bool moves_;
  TangentBuilder builders_[kNumBases];
  NodeRun run_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_TANGENTS_H_
