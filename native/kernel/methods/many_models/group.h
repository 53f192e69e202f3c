// Sweeps over several models with the same edges, if registers hold one number
// of each of eight models: their power sequences are computed together, as one
// sequence of such numbers. Exceptional models are swept alone.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_MODELS_GROUP_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_MODELS_GROUP_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "native/kernel/choice/choice.h"
#include "native/kernel/methods/many_models/packed_model.h"
#include "native/kernel/methods/many_models/packed_terms.h"
#include "native/kernel/methods/many_times/node_sums.h"
#include "native/kernel/methods/many_times/node_values.h"
#include "native/kernel/methods/squaring/squaring_adjoint.h"
#include "native/kernel/methods/squaring/squaring_points.h"
#include "native/kernel/methods/squaring/squaring_starts.h"
#include "native/kernel/model/model.h"
#include "native/kernel/model/rate_scales.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/sweeps/adjoint.h"
#include "native/kernel/sweeps/forward.h"
#include "native/kernel/uniformization/sequence.h"
#include "native/kernel/uniformization/shared_sequence.h"

namespace phasic {
namespace PHASIC_ISA {

// Several models with the same edges, in the order of their inputs.
class Group {
 public:
  Group(const SweepInput* inputs, int count, Workspace* workspace)
      : inputs_(inputs), count_(count), workspace_(workspace) {}
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  // Builds the models and prepares their common sequence, which keeps its
  // states if `keeps_states`. Returns whether that is worthwhile.
  bool Start(Derivatives derivatives, bool keeps_states) {
    if (!AreAlike()) return false;
    Structure structure;
    structure.is_narrow = true;
    for (int l = 0; l < count_; ++l) {
      models_[l].derivatives = derivatives;
      if (ModelBuilder<double>(inputs_[l], workspace_, &models_[l], &structure)
              .Build() == kOk) {
        used_[l] = &models_[l];
      }
    }
    // The margins of a backward sweep may need more blocks than the values.
    const int64_t blocks = KeepOrdinaryModels();
    end_ = keeps_states ? 2 * blocks + 32 : blocks + 8;
    if (blocks == 0 || !starts_.Allocate(inputs_[0].num_times, workspace_) ||
        !ModelPacker(used_, workspace_).Pack(keeps_states, &packed_)) {
      return false;
    }
    const bool wants_b = std::any_of(
        inputs_, inputs_ + count_,
        [](const SweepInput& in) { return HasBase(in, Base::kSurvival); });
    sequence_ = &room_.emplace(packed_, wants_b, keeps_states, workspace_);
    return sequence_->Start() == kOk;
  }

  // Returns model l if it takes part, and otherwise nullptr.
  const Model<double>* model(int l) const { return used_[l]; }
  SharedSequence shared(int l) { return {sequence_, l, end_, &starts_}; }
  Sequence<PerModel>* sequence() { return sequence_; }

 private:
  // With fewer models than this, one by one is faster.
  static constexpr int kLeastLanes = 3;
  static constexpr double kMaxBlocks = 4096;
  static constexpr int64_t kMaxCells = int64_t{1} << 20;

  bool AreAlike() const {
    const int64_t p = inputs_[0].num_phases;
    for (int l = 0; l < count_; ++l) {
      const SweepInput& in = inputs_[l];
      if (!in.has_edges() || in.discrete || TakesGroups(in) ||
          in.edges.sources != inputs_[0].edges.sources ||
          4 * in.edges.count >= p * p || in.edges.count > kMaxCells) {
        return false;
      }
    }
    return count_ >= kLeastLanes;
  }

  // Leaves out models with large rates, large sparse ones, and those that need
  // more blocks than most. Returns an estimate of the number of blocks that the
  // others need, or 0 if they are few.
  int64_t KeepOrdinaryModels() {
    double blocks[kModels] = {};
    for (int l = 0; l < count_; ++l) {
      if (used_[l] == nullptr) continue;
      if (!HasModerateRates(models_[l].log2_q) ||
          models_[l].columns != nullptr || NumBlocks(l) > kMaxBlocks) {
        used_[l] = nullptr;
        continue;
      }
      blocks[l] = NumBlocks(l);
    }
    double sorted[kModels];
    std::copy(blocks, blocks + kModels, sorted);
    std::sort(sorted, sorted + kModels);
    const double most = sorted[kModels - kLeastLanes];
    for (int l = 0; l < kModels; ++l) {
      if (blocks[l] > most) used_[l] = nullptr;
    }
    return static_cast<int64_t>(most);
  }
  double NumBlocks(int l) const {
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
  const Model<double>* used_[kModels] = {};
  Model<PerModel> packed_;
  int64_t end_ = 0;
  SharedStarts starts_;
  std::optional<Sequence<PerModel>> room_;
  Sequence<PerModel>* sequence_ = nullptr;  // in room_
};

// Evaluates one model of the group; returns whether its values are final.
inline bool EvaluateInGroup(const SweepInput& in, SweepOutput out,
                            const Model<double>& model,
                            const SharedSequence& shared,
                            Workspace* workspace) {
  if (!StartTimes(in, &out, workspace)) return false;
  Evaluation<double> evaluation(in, model, shared, workspace);
  const Evaluated all = EvaluateTimes(in, out, &evaluation, workspace);
  return !all.underflowed && !all.is_doubtful &&
         std::find(out.status, out.status + in.num_times, kMemoryLimit) ==
             out.status + in.num_times;
}

inline void EvaluateGroup(const SweepInput* inputs, const SweepOutput* outputs,
                          int count, Workspace* workspace, bool* done) {
  Group group(inputs, count, workspace);
  if (!group.Start(Derivatives::kAsValues, false)) return;
  for (int l = 0; l < count; ++l) {
    done[l] = group.model(l) != nullptr &&
              EvaluateInGroup(inputs[l], outputs[l], *group.model(l),
                              group.shared(l), workspace);
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

using LaneRun = AdjointRun<double, CotangentWriter>;

// Computes the cotangents of the terms; returns whether the model can be swept
// together with the others.
inline bool MixInGroup(int margin, LaneRun* run) {
  return run->terms()->Mix(run->Margin(margin)) == kOk &&
         !run->sequence().has_losses();
}

// Prepares the adjoint sweep of one model: values and cotangents of the terms.
// Returns whether it can be swept together with the others.
inline bool EvaluateRun(LaneRun* run) {
  if (run->Evaluate() != kOk || !run->needs().any() ||
      run->seeds().num_by_squaring() > 0) {
    return false;
  }
  for (int64_t n = 0; n < run->seeds().num_intervals(); ++n) {
    if (run->seeds().interval(n).by_squaring) return false;
  }
  return MixInGroup(0, run);
}

// Sweeps over the models whose runs are not nullptr. Sets done[l] for those
// whose cotangents are all accurate, and runs[l] to nullptr for those that do
// not need another margin, or cannot use it.
inline void SweepOnce(Group* group, int margin, LaneRun** runs,
                      Workspace* workspace, bool* done) {
  TermAdjoints<double>* terms[kModels] = {};
  const LaneRun* first = nullptr;
  for (int l = 0; l < kModels; ++l) {
    if (runs[l] == nullptr) continue;
    terms[l] = runs[l]->terms();
    first = runs[l];
  }
  if (first == nullptr) return;
  PackedTerms packed(terms);
  AdjointSweeper<PerModel, PackedTerms> sweeper(
      first->needs(), group->sequence(), &packed, workspace);
  AdjointSums<PerModel> all;
  const bool is_swept =
      sweeper.Allocate() == kOk && sweeper.Run(first->needs()) == kOk;
  sweeper.Put(&all);
  for (int l = 0; l < kModels; ++l) {
    if (runs[l] == nullptr) continue;
    LaneRun* run = runs[l];
    AdjointSums<double> sums = SumsOf(run->seeds(), *run->terms());
    done[l] = is_swept && CopyModel(all, l, run->model(), workspace, &sums) &&
              run->writer()->Write(sums, margin == kNumMargins - 1) &&
              !run->writer()->has_losses();
    if (done[l] || !is_swept || run->writer()->has_losses() ||
        margin + 1 == kNumMargins || !MixInGroup(margin + 1, run)) {
      runs[l] = nullptr;
    }
  }
}

inline void SweepGroup(const SweepInput* inputs, const SweepOutput* outputs,
                       int count, Workspace* workspace, bool* done) {
  Group group(inputs, count, workspace);
  if (!group.Start(Derivatives::kCotangents, true)) return;
  std::optional<LaneRun> all[kModels];
  LaneRun* runs[kModels] = {};
  for (int l = 0; l < count; ++l) {
    if (group.model(l) == nullptr) continue;
    FillWithNaN(inputs[l], outputs[l]);
    LaneRun* run = &all[l].emplace(inputs[l], outputs[l], *group.model(l),
                                   group.shared(l), workspace);
    if (EvaluateRun(run)) runs[l] = run;
  }
  for (int margin = 0; margin < kNumMargins; ++margin) {
    SweepOnce(&group, margin, runs, workspace, done);
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
