#include "native/elimination/api/moments.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>

#include "native/elimination/batch/model_runs.h"
#include "native/elimination/factors/factors.h"
#include "native/elimination/moments/moment_sums.h"
#include "native/elimination/moments/moment_systems.h"
#include "native/elimination/moments/moments_layout.h"
#include "native/elimination/solver/solver.h"
#include "native/elimination/symbolic/topology.h"
#include "native/kernel/simd/float_environment.h"

namespace phasic {
namespace {

using PHASIC_ISA::Denormals;
using PHASIC_ISA::FloatEnvironment;

// The models of a call, see ModelRuns.
template <class F>
class MomentsWork {
 public:
  MomentsWork(const MomentsCall& call, const MomentsLayout& layout,
              const MomentResults& mean, const MomentResults& variance)
      : call_(call), layout_(layout), mean_(mean), variance_(variance) {}

  int64_t Numbers(const Topology& t) const {
    return 4 * t.num_edges + t.num_factors + t.num_working + 17 * t.num_phases;
  }

  void Alone(int64_t model,
             const std::shared_ptr<const Topology>& topology) const {
    Together(model, 1, 1, topology);
  }
  uint32_t SideBySide(int64_t first, int64_t last,
                      const std::shared_ptr<const Topology>& topology) const {
    return Together(first, static_cast<int>(last - first), kLanes, topology);
  }

 private:
  // Of `count` models, in so many lanes. Returns those that must be alone.
  uint32_t Together(int64_t first, int count, int lanes,
                    const std::shared_ptr<const Topology>& topology) const {
    const FloatEnvironment environment(Denormals::kKeep);
    MomentSums models[kLanes];
    DivideMemory(*topology,
                 {call_.is_discrete, needs_expected(), needs_slopes(),
                  call_.wants_gradients ? layout_.num_parameters() : 0},
                 count, models);
    uint32_t open = 0;  // models that are not done
    for (int l = 0; l < count; ++l) {
      if (Prepare(first + l, &models[l])) {
        open |= 1U << l;
      } else {
        Fill(first + l, std::numeric_limits<F>::quiet_NaN());
      }
    }
    if (open == 0) return 0;
    Weights weights = {{}, lanes, Precision::kFloat64};
    for (int l = 0; l < lanes; ++l) {
      weights.arrays[l] = models[std::min(l, count - 1)].arrays.weights;
    }
    const ThreadScratch scratch(*topology, lanes, 1, needs_expected());
    const auto factors = FindFactors(topology, weights, lanes,
                                     Solvers().for_double, scratch.arrays());
    const uint32_t apart = open & factors->apart;
    open &= ~factors->apart;
    const MomentSystems systems = {*topology, *factors, scratch.arrays(),
                                   models,    count,    lanes};
    systems.SolveTransposed(&MomentArrays::initial, nullptr,
                            &MomentArrays::sojourns);
    for (int l = 0; l < count; ++l) {
      if ((open >> l & 1U) == 0) continue;
      const bool is_invalid = lanes == 1 && factors->findings.is_invalid;
      if (is_invalid || models[l].IsInfinite()) {
        Fill(first + l, is_invalid ? std::numeric_limits<F>::quiet_NaN()
                                   : std::numeric_limits<F>::infinity());
        open &= ~(1U << l);
      }
    }
    if (open == 0) return apart;
    if (needs_expected()) FindExpected(systems);
    if (needs_slopes()) FindSlopes(systems, open);
    for (int l = 0; l < count; ++l) {
      if ((open >> l & 1U) != 0) Write(first + l, models[l]);
    }
    return apart;
  }

  bool needs_expected() const {
    return call_.wants_variance || call_.wants_gradients;
  }
  bool needs_slopes() const {
    return call_.wants_variance && call_.wants_gradients;
  }

  const F* At(const Input& input, int operand, int64_t model) const {
    return static_cast<const F*>(input.data) + layout_.Offset(operand, model);
  }

  void MakeWeights(int64_t model, double* weights) const {
    const int64_t m = layout_.num_edges();
    const int64_t d = layout_.num_parameters();
    const F* parameters =
        At(call_.parameters, MomentsLayout::kParameters, model);
    if (!layout_.has_coefficients()) {
      std::copy_n(parameters, m, weights);
    } else {
      const F* row =
          At(call_.coefficients, MomentsLayout::kCoefficients, model);
      for (int64_t e = 0; e < m; ++e, row += d) {
        double weight = 0.0;
        for (int64_t c = 0; c < d; ++c) {
          weight +=
              static_cast<double>(row[c]) * static_cast<double>(parameters[c]);
        }
        weights[e] = weight;
      }
    }
    if (!layout_.has_constants()) return;
    const F* constants = At(call_.constants, MomentsLayout::kConstants, model);
    for (int64_t e = 0; e < m; ++e) {
      weights[e] += static_cast<double>(constants[e]);
    }
  }

  // Reads a model; returns whether its values keep the rules.
  bool Prepare(int64_t model, MomentSums* sums) const {
    const MomentArrays& arrays = sums->arrays;
    const int64_t p = layout_.num_phases();
    const double tolerance = 4.0 * static_cast<double>(p) * call_.epsilon;
    MakeWeights(model, arrays.weights);
    std::copy_n(At(call_.initial, MomentsLayout::kInitial, model), p,
                arrays.initial);
    double atom = 0.0;
    if (layout_.has_atom()) {
      atom = *At(call_.atom, MomentsLayout::kAtom, model);
    }
    bool is_good =
        sums->CheckMasses(layout_.has_atom() ? &atom : nullptr, tolerance);
    if (!call_.is_discrete) {
      if (is_good) sums->ScaleWeights();
    } else if (layout_.has_stay()) {
      std::copy_n(At(call_.stay, MomentsLayout::kStay, model), p, arrays.stay);
    } else {
      is_good &= sums->FindStay(tolerance);
    }
    return is_good;
  }

  void FindExpected(const MomentSystems& systems) const {
    const int64_t p = systems.topology.num_phases;
    for (int l = 0; l < systems.count; ++l) {
      std::fill_n(systems.models[l].arrays.rewards, p, 1.0);
    }
    if (systems.lanes == 1 && systems.factors.findings.has_traps) {
      // What starts everywhere is for ever in traps.
      systems.SolveTransposed(&MomentArrays::rewards, nullptr,
                              &MomentArrays::expected);
      const MomentArrays& arrays = systems.models[0].arrays;
      for (int64_t i = 0; i < p; ++i) {
        const bool is_trap =
            arrays.expected[i] == std::numeric_limits<double>::infinity();
        if (is_trap && arrays.sojourns[i] == 0.0) arrays.rewards[i] = 0.0;
      }
    }
    systems.Solve(&MomentArrays::rewards, &MomentArrays::expected,
                  &MomentArrays::differences);
    for (int l = 0; l < systems.count; ++l) systems.models[l].TakeExpected();
  }

  void FindSlopes(const MomentSystems& systems, uint32_t open) const {
    for (int l = 0; l < systems.count; ++l) {
      if ((open >> l & 1U) != 0) systems.models[l].FindSlopes();
    }
    systems.Solve(&MomentArrays::spread, &MomentArrays::spread_ahead,
                  &MomentArrays::spread_differences);
    systems.SolveTransposed(&MomentArrays::slopes, &MomentArrays::edge_slopes,
                            &MomentArrays::weighted);
  }

  // Where a model's part of a result begins.
  static F* Part(const Output& output, int64_t model, int64_t size) {
    return static_cast<F*>(output.data) + model * size;
  }

  // Of a model without finite moments; gradients are NaN.
  void Fill(int64_t model, F value) const {
    const auto fill = [&](const MomentResults& results) {
      *Part(results.value, model, 1) = value;
      if (!call_.wants_gradients) return;
      const F nan = std::numeric_limits<F>::quiet_NaN();
      const int64_t d = layout_.num_parameters();
      const int64_t p = layout_.num_phases();
      std::fill_n(Part(results.of_parameters, model, d), d, nan);
      std::fill_n(Part(results.of_initial, model, p), p, nan);
    };
    fill(mean_);
    if (call_.wants_variance) fill(variance_);
  }

  void Write(int64_t model, const MomentSums& sums) const {
    const int n = -sums.exponent;
    *Part(mean_.value, model, 1) = static_cast<F>(ToDouble(sums.Mean()));
    if (call_.wants_gradients) {
      WriteSlopes(
          model, sums, mean_, {1.0, n},
          [&](int64_t e) { return sums.MeanSlope(e); },
          [&](int64_t i) { return sums.arrays.expected[i]; });
    }
    if (!call_.wants_variance) return;
    ScaledNumber variance = sums.Variance();
    ScaledNumber unit = {1.0, 2 * n};
    if (call_.wants_root) {
      variance = SquareRoot(variance);
      unit = {0.5 / std::ldexp(variance.value, variance.exponent - n), n};
    }
    *Part(variance_.value, model, 1) = static_cast<F>(ToDouble(variance));
    if (!call_.wants_gradients) return;
    WriteSlopes(
        model, sums, variance_, unit,
        [&](int64_t e) { return sums.VarianceSlope(e); },
        [&](int64_t i) { return sums.VarianceSlopeOfMass(i); });
  }

  // A gradient, of a moment in such units.
  template <class OfEdge, class OfPhase>
  void WriteSlopes(int64_t model, const MomentSums& sums,
                   const MomentResults& results, ScaledNumber unit,
                   const OfEdge& of_edge, const OfPhase& of_phase) const {
    const int64_t p = layout_.num_phases();
    const int64_t m = layout_.num_edges();
    const int64_t d = layout_.num_parameters();
    WriteScaled(p, unit, Part(results.of_initial, model, p), of_phase);
    unit.exponent -= sums.exponent;
    F* to = Part(results.of_parameters, model, d);
    if (!layout_.has_coefficients()) {
      WriteScaled(m, unit, to, of_edge);
      return;
    }
    const F* row = At(call_.coefficients, MomentsLayout::kCoefficients, model);
    double* totals = sums.arrays.totals;
    std::fill_n(totals, d, 0.0);
    for (int64_t e = 0; e < m; ++e, row += d) {
      const double slope = of_edge(e);
      for (int64_t c = 0; c < d; ++c) {
        totals[c] += slope * static_cast<double>(row[c]);
      }
    }
    WriteScaled(d, unit, to, [&](int64_t c) { return totals[c]; });
  }

  template <class Slope>
  static void WriteScaled(int64_t count, const ScaledNumber& unit, F* to,
                          const Slope& slope) {
    // A power of two in two factors, which are in range.
    const int exponent = std::clamp(unit.exponent, -2000, 2000);
    const double first = std::ldexp(unit.value, exponent / 2);
    const double last = std::ldexp(1.0, exponent - exponent / 2);
    for (int64_t i = 0; i < count; ++i) {
      to[i] = static_cast<F>(slope(i) * first * last);
    }
  }

  const MomentsCall& call_;
  const MomentsLayout& layout_;
  const MomentResults& mean_;
  const MomentResults& variance_;
};

}  // namespace

const char* ComputeMoments(const MomentsCall& call, const MomentResults& mean,
                           const MomentResults& variance, Executor* executor) {
  MomentsLayout layout;
  const char* error = layout.Check(call, mean, variance);
  if (error != nullptr) return error;
  const auto run = [&](const auto& work) {
    return RunModels(layout, call.indices, work, executor);
  };
  if (call.precision == Precision::kFloat32) {
    return run(MomentsWork<float>(call, layout, mean, variance));
  }
  return run(MomentsWork<double>(call, layout, mean, variance));
}

}  // namespace phasic
