// Sweeps over several models with the same edges. Their structure is computed
// once. If registers hold one number of each of eight models, the models' power
// sequences are computed together. Every result has the same bits as in a sweep
// over one model; exceptional models are swept alone.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_MODELS_GROUP_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_MODELS_GROUP_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "native/kernel/methods/many_models/lane_adjoint.h"
#include "native/kernel/methods/many_times/node_groups.h"
#include "native/kernel/model/model.h"
#include "native/kernel/model/rate_scales.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/sweeps/forward.h"
#include "native/kernel/uniformization/lane_walk.h"
#include "native/kernel/uniformization/sequence.h"

namespace phasic {
namespace PHASIC_ISA {

static_assert(kModels == kMaxGroup, "a lane for each model of a group");

// Several models with the same edges, in the order of their inputs.
class Group {
 public:
  Group(const SweepInput* inputs, int count, Workspace* workspace)
      : inputs_(inputs), count_(count), workspace_(workspace) {}

  // Returns whether these models may be evaluated together.
  bool IsOne() const {
    for (int l = 0; l < count_; ++l) {
      const SweepInput& in = inputs_[l];
      if (!in.has_edges() || in.discrete || TakesGroups(in) ||
          in.edges.sources != inputs_[0].edges.sources) {
        return false;
      }
    }
    return count_ > 1;
  }

  void Build(Derivatives derivatives) {
    Structure structure;
    for (int l = 0; l < count_; ++l) {
      models_[l].derivatives = derivatives;
      is_built_[l] =
          ModelBuilder<double>(inputs_[l], workspace_, &models_[l], &structure)
              .Build() == kOk;
    }
  }
  bool WantsB() const {
    return std::any_of(inputs_, inputs_ + count_, [](const SweepInput& in) {
      return HasBase(in, Base::kSurvival);
    });
  }
  bool is_built(int l) const { return is_built_[l]; }
  const Model<double>& model(int l) const { return models_[l]; }

  // Starts computing the models' power sequences together. Returns false if
  // that is not worthwhile or memory does not suffice.
  bool StartWalk(LaneWalk* walk) const {
    return kRegisterWidth == kModels && End() > 0 && walk->Start(End());
  }
  // Starts computing the power sequences together and keeps all states;
  // excludes models that need more blocks than the others, or scaled rates, and
  // large sparse ones.
  // Returns whether it was started.
  bool StartKeptWalk(LaneWalk* walk) {
    for (int l = 0; l < count_; ++l) {
      // The sweep over one large sparse model begins with another margin, so
      // that its results have other bits.
      if (!HasModerateRates(models_[l].log2_q) ||
          models_[l].columns != nullptr) {
        is_built_[l] = false;
      }
    }
    const int64_t end = End();
    for (int l = 0; l < count_; ++l) {
      if (LastBlock(l) > static_cast<double>(end)) is_built_[l] = false;
    }
    return kRegisterWidth == kModels && end > 0 &&
           end * inputs_[0].num_phases <= kMaxKept && walk->Start(end + 1);
  }
  // Sets lanes[l] to the model of lane l, or nullptr if it was not built.
  const Model<double>* const* LanesOf(const Model<double>** lanes) const {
    for (int l = 0; l < kModels; ++l) {
      lanes[l] = l < count_ && is_built_[l] ? &models_[l] : nullptr;
    }
    return lanes;
  }

 private:
  // With fewer models than this, one by one is faster.
  static constexpr int kLeastLanes = 3;
  static constexpr double kMaxWalkBlocks = 4096;
  static constexpr int64_t kMaxWalkCells = int64_t{1} << 20;
  static constexpr int64_t kMaxKept = int64_t{1} << 19;

  // Returns an estimate of the first block that fewer than kLeastLanes models
  // need.
  int64_t End() const {
    double ends[kModels] = {};
    for (int l = 0; l < count_; ++l) {
      if (is_built_[l] && models_[l].forward.pattern.width < 8 &&
          models_[l].forward.pattern.num_cells() <= kMaxWalkCells) {
        ends[l] = std::min(kMaxWalkBlocks, LastBlock(l));
      }
    }
    std::sort(ends, ends + kModels);
    return static_cast<int64_t>(ends[kModels - kLeastLanes]);
  }
  double LastBlock(int l) const {
    double x = 0.0;
    for (int64_t i = 0; i < inputs_[l].num_times; ++i) {
      const double time = inputs_[l].times.value[i];
      if (time < HUGE_VAL) x = std::max(x, models_[l].q * time);
    }
    return std::ceil((x + 24.0 * std::sqrt(x)) / kBlock) + 8.0;
  }

  const SweepInput* inputs_;
  const int count_;
  Workspace* workspace_;
  Model<double> models_[kModels];
  bool is_built_[kModels] = {};
};

// Evaluates one model of the group; returns whether its values are final.
inline bool EvaluateInGroup(const SweepInput& in, SweepOutput out,
                            const Model<double>& model, const Lane& lane,
                            Workspace* workspace) {
  if (!StartTimes(in, &out, workspace)) return false;
  Evaluation<double> evaluation(in, model, lane, workspace);
  const Evaluated all = EvaluateTimes(in, out, &evaluation, workspace);
  return !all.underflowed && !all.is_doubtful &&
         std::find(out.status, out.status + in.num_times, kMemoryLimit) ==
             out.status + in.num_times;
}

inline void EvaluateGroup(const SweepInput* inputs, const SweepOutput* outputs,
                          int count, Workspace* workspace, bool* done) {
  Group group(inputs, count, workspace);
  if (!group.IsOne()) return;
  group.Build(Derivatives::kAsValues);
  const Model<double>* lanes[kModels];
  LaneWalk walk(group.LanesOf(lanes), group.WantsB(), false, workspace);
  const bool has_walk = group.StartWalk(&walk);
  SharedStarts starts;
  if (!starts.Allocate(inputs[0].num_times, workspace)) return;
  for (int l = 0; l < count; ++l) {
    if (!group.is_built(l)) continue;
    done[l] =
        EvaluateInGroup(inputs[l], outputs[l], group.model(l),
                        {has_walk ? &walk : nullptr, l, &starts}, workspace);
  }
}

inline void ForwardGroup(const SweepInput* inputs, const SweepOutput* outputs,
                         int count, Workspace* workspace) {
  const FloatEnvironment environment(Denormals::kFlush);
  bool done[kModels] = {};
  EvaluateGroup(inputs, outputs, count, workspace, done);
  for (int l = 0; l < count; ++l) {
    if (done[l]) continue;
    workspace->Reset();
    ForwardSweep<double>(inputs[l], outputs[l], workspace);
  }
}

inline bool UsesLadder(const PointSeeds<double>& seeds) {
  bool found = seeds.num_on_ladder() > 0;
  for (int64_t n = 0; n < seeds.num_intervals(); ++n) {
    found = found || seeds.interval(n).on_ladder;
  }
  return found;
}

// Prepares the adjoint sweep of one model: values and cotangents of the terms.
// Returns whether its sweep may be made together with the sweeps of other
// models.
inline bool EvaluateRun(LaneRun* run) {
  return run->Evaluate() == kOk && run->needs().any() &&
         !UsesLadder(run->seeds()) &&
         run->terms()->Mix(run->Margin(0)) == kOk &&
         run->sequence().is_in_lane() && !run->sequence().has_losses();
}

// Writes the cotangents of model l; returns whether all are written without
// losses.
inline bool WriteSums(const LaneAdjoint& adjoint, int l, int margin,
                      LaneRun* run) {
  AdjointSums<double> sums;
  return adjoint.SumsOf(l, &sums) &&
         run->writer()->Write(sums, margin == kNumMargins - 1) &&
         !run->writer()->has_losses();
}
// Recomputes the cotangents of the terms with the next margin. Returns false if
// the model cannot stay in the group.
inline bool MixAgain(int margin, LaneRun* run) {
  return margin < kNumMargins && !run->writer()->has_losses() &&
         run->terms()->Mix(run->Margin(margin)) == kOk &&
         run->sequence().is_in_lane() && !run->sequence().has_losses();
}

inline void SweepGroup(const SweepInput* inputs, const SweepOutput* outputs,
                       int count, Workspace* workspace, bool* done) {
  Group group(inputs, count, workspace);
  if (kRegisterWidth != kModels || !group.IsOne()) return;
  group.Build(Derivatives::kCotangents);
  const Model<double>* lanes[kModels];
  LaneWalk walk(group.LanesOf(lanes), group.WantsB(), true, workspace);
  if (!group.StartKeptWalk(&walk)) return;
  SharedStarts starts;
  if (!starts.Allocate(inputs[0].num_times, workspace)) return;
  std::optional<LaneRun> all[kModels];
  LaneRun* runs[kModels] = {};
  const LaneRun* first = nullptr;
  for (int l = 0; l < count; ++l) {
    if (!group.is_built(l)) continue;
    FillWithNaN(inputs[l], outputs[l]);
    LaneRun* run = &all[l].emplace(inputs[l], outputs[l], group.model(l),
                                   Lane{&walk, l, &starts}, workspace);
    if (!EvaluateRun(run)) continue;
    if (first == nullptr) first = run;
    if (run->terms()->has_survival() == first->terms().has_survival()) {
      runs[l] = run;
    }
  }
  for (int margin = 0; margin < kNumMargins; ++margin) {
    if (std::count(runs, runs + kModels, nullptr) == kModels) return;
    LaneAdjoint adjoint(runs, &walk, workspace);
    if (!adjoint.Run(inputs[0])) return;
    for (int l = 0; l < count; ++l) {
      if (runs[l] == nullptr) continue;
      done[l] = WriteSums(adjoint, l, margin, runs[l]);
      if (done[l] || !MixAgain(margin + 1, runs[l])) runs[l] = nullptr;
    }
  }
}

inline void AdjointGroup(const SweepInput* inputs, const SweepOutput* outputs,
                         int count, Workspace* workspace) {
  const FloatEnvironment environment(Denormals::kFlush);
  bool done[kModels] = {};
  SweepGroup(inputs, outputs, count, workspace, done);
  for (int l = 0; l < count; ++l) {
    if (done[l]) continue;
    workspace->Reset();
    AdjointSweep<double>(inputs[l], outputs[l], workspace);
  }
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_MODELS_GROUP_H_
