// Computes the terms of the power sequences of eight models with the same edges
// together, on demand, with one SIMD lane per model. Each model's numbers have
// the same bits as in a sequence of its own. Underflow, however, is recorded
// for all models together.

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_LANE_WALK_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_LANE_WALK_H_

#include <algorithm>
#include <cstdint>
#include <utility>

#include "native/kernel/matrix/lane_operator.h"
#include "native/kernel/model/model.h"
#include "native/kernel/simd/block_list.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/poisson.h"
#include "native/kernel/uniformization/power_walk.h"
#include "native/kernel/uniformization/tail_closure.h"
#include "native/kernel/uniformization/terms.h"

namespace phasic {
namespace PHASIC_ISA {

class LaneWalk {
 public:
  // Entries of `models` are nullptr for unused lanes. If `keeps_all`, the first
  // states of all blocks are kept, and MakeStates may be called.
  LaneWalk(const Model<double>* const* models, bool wants_b, bool keeps_all,
           Workspace* workspace)
      : wants_b_(wants_b),
        keeps_all_(keeps_all),
        workspace_(workspace),
        blocks_(workspace),
        kept_(workspace) {
    for (int l = 0; l < kModels; ++l) models_[l] = models[l];
  }

  // Prepares to compute blocks. Blocks from `end` on cannot be computed.
  // Returns false if memory does not suffice.
  bool Start(int64_t end) {
    end_ = end;
    const Operator<double>* forward[kModels] = {};
    const double* initial[kModels] = {};
    const double* exits[kModels] = {};
    for (int l = 0; l < kModels; ++l) {
      if (models_[l] == nullptr) continue;
      size_ = models_[l]->size;
      forward[l] = &models_[l]->forward;
      initial[l] = models_[l]->initial;
      exits[l] = models_[l]->exits;
    }
    low_ = Allocate();
    past_low_ = Allocate();
    next_ = Allocate();
    state_ = AllSideBySide(initial, size_, workspace_);
    if (!low_ || !past_low_ || !next_ || !state_) return false;
    for (int64_t i = 0; i < size_; ++i) low_[i] = PerModel(0.0);
    return exits_.Build(exits, size_, workspace_) &&
           LaneOperatorBuilder(forward, workspace_).Build(&forward_);
  }

  // Computes the blocks up to this one, and returns whether that was possible.
  // If it was not, each model must continue on its own, from the first block
  // that was not computed.
  bool Makes(int64_t block) {
    while (blocks_.size() <= block) {
      if (blocks_.size() >= end_ || !AppendBlock()) {
        end_ = blocks_.size();
        return false;
      }
    }
    return true;
  }

  // Copies a block's terms of the model in `lane`. Returns whether numbers of
  // any model were flushed to zero in the block.
  bool Take(int64_t block, int lane, bool wants_b, Terms<double>* terms) const {
    const LaneBlock& from = blocks_[block];
    for (int j = 0; j < kBlock; ++j) {
      terms->a[j] = from.a[j][lane];
      if (wants_b) terms->b[j] = from.b[j][lane];
    }
    terms->exponent = from.exponents[lane];
    terms->mass = from.mass[lane];
    return from.underflowed;
  }

  // Copies the first terms of a block of the model in `lane`. Returns false if
  // numbers of any model were flushed to zero in the block.
  bool Peek(int64_t block, int lane, Front<double>* front) const {
    const LaneBlock& from = blocks_[block];
    *front = {from.a[0][lane], from.exponents[lane], from.mass[lane]};
    return !from.underflowed;
  }

  // Sets the PowerWalk of the model in `lane` to the start of a block. The
  // block is the first one that was not computed, or one at which a span of
  // tail_closure.h ends.
  void Restore(int64_t block, int lane, PowerWalk<double>* walk) const {
    Kept kept = {block, state_, low_, exponents_};
    for (int64_t n = 0; block < blocks_.size() && n < kept_.size(); ++n) {
      if (kept_[n].block == block) kept = kept_[n];
    }
    for (int64_t i = 0; i < size_; ++i) {
      walk->state()[i] = kept.state[i][lane];
      walk->low()[i] = kept.low[i][lane];
    }
    walk->set_exponent(kept.exponents[lane]);
  }

  // Recomputes the sixteen states of a block for all models. State j is stored
  // from rows + j * stride on.
  void MakeStates(int64_t block, int64_t stride, PerModel* rows) {
    const Kept& kept = kept_[block];
    std::copy(kept.state, kept.state + size_, rows);
    std::copy(kept.low, kept.low + size_, past_low_);
    for (int j = 0; j + 1 < kBlock; ++j) {
      Apply(forward_, block, rows + j * stride, past_low_,
            rows + (j + 1) * stride);
    }
  }
  int64_t Exponent(int64_t block, int lane) const {
    return kept_[block].exponents[lane];
  }

 private:
  struct LaneBlock {
    PerModel a[kBlock];
    PerModel b[kBlock];
    PerModel mass;
    int64_t exponents[kModels];
    bool underflowed;
  };
  struct Kept {
    int64_t block;
    const PerModel* state;
    const PerModel* low;
    const int64_t* exponents;
  };

  PerModel* Allocate() {
    return static_cast<PerModel*>(
        workspace_->Allocate(static_cast<size_t>(size_), sizeof(PerModel)));
  }

  bool AppendBlock() {
    const int64_t number = blocks_.size();
    FloatEnvironment::ClearUnderflow();
    Rescale();
    const bool keeps = keeps_all_ || number == boundary_;
    if (keeps && !Keep(number)) return false;
    LaneBlock* block = blocks_.Append();
    if (block == nullptr) return false;
    for (int l = 0; l < kModels; ++l) block->exponents[l] = exponents_[l];
    block->mass = Sum(state_, size_);
    for (int j = 0; j < kBlock; ++j) {
      block->a[j] = exits_.Dot(state_);
      if (wants_b_) block->b[j] = Sum(state_, size_);
      Apply(forward_, number, state_, low_, next_);
      std::swap(state_, next_);
    }
    block->underflowed = FloatEnvironment::Underflowed();
    FloatEnvironment::ClearUnderflow();
    return true;
  }

  bool Keep(int64_t block) {
    PerModel* state = Allocate();
    PerModel* low = Allocate();
    int64_t* exponents = AllocateZeros<int64_t>(workspace_, kModels);
    Kept* kept = kept_.Append();
    if (!state || !low || !exponents || !kept) return false;
    std::copy(state_, state_ + size_, state);
    std::copy(low_, low_ + size_, low);
    std::copy(exponents_, exponents_ + kModels, exponents);
    *kept = {block, state, low, exponents};
    if (block == boundary_) boundary_ = NextBoundary(boundary_);
    return true;
  }

  // Rescales each model's state as PowerWalk::Rescale does.
  void Rescale() {
    const PerModel sizes = LargestSizes(state_, size_);
    for (int l = 0; l < kModels; ++l) {
      const int64_t e = RescaleExponent({sizes[l], 0});
      if (e == 0) continue;
      ScaleLane(l, -e, size_, state_);
      ScaleLane(l, -e, size_, low_);
      exponents_[l] += e;
    }
  }

  const Model<double>* models_[kModels];
  const bool wants_b_;
  const bool keeps_all_;
  Workspace* workspace_;
  int64_t size_ = 0;
  int64_t end_ = 0;
  LaneOperator forward_;
  LaneVector exits_;
  BlockList<LaneBlock> blocks_;
  BlockList<Kept> kept_;
  int64_t boundary_ = kFirstSpan;
  PerModel* state_ = nullptr;
  PerModel* low_ = nullptr;
  PerModel* next_ = nullptr;
  PerModel* past_low_ = nullptr;
  int64_t exponents_[kModels] = {};
};

// A cache of the results of StartWeight for each time. Models with the same q
// and the same times share it.
class SharedStarts {
 public:
  // Allocates memory for `num_times` times. Returns false if memory does not
  // suffice.
  bool Allocate(int64_t num_times, Workspace* workspace) {
    starts_ = static_cast<Start*>(
        workspace->Allocate(static_cast<size_t>(num_times), sizeof(Start)));
    for (int64_t i = 0; starts_ != nullptr && i < num_times; ++i) {
      starts_[i].x = -1.0;
    }
    return starts_ != nullptr;
  }

  // Returns StartWeight(x, block) for the time with this index. Computes it
  // only if x differs from the x of the previous model at this time.
  const Scaled<double>& Weight(int64_t index, double x, int64_t* block) {
    Start& start = starts_[index];
    if (start.x != x) {
      start.x = x;
      start.weight = StartWeight(x, &start.block);
    }
    *block = start.block;
    return start.weight;
  }

 private:
  struct Start {
    double x;
    int64_t block;
    Scaled<double> weight;
  };
  Start* starts_ = nullptr;
};

// The lane of a LaneWalk that computes a model's sequence. `walk` is nullptr if
// the model does not use a LaneWalk.
struct Lane {
  LaneWalk* walk = nullptr;
  int number = 0;
  SharedStarts* starts = nullptr;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_LANE_WALK_H_
