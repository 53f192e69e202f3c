// The power sequence v_k = alpha P^k, made on demand in blocks of sixteen, and
// its terms a_k = v_k . s and b_k = v_k . 1.

#ifndef PHASIC_NATIVE_KERNEL_SEQUENCE_H_
#define PHASIC_NATIVE_KERNEL_SEQUENCE_H_

#include <cstdint>

#include "native/kernel/block_list.h"
#include "native/kernel/checkpoints.h"
#include "native/kernel/float_environment.h"
#include "native/kernel/isa.h"
#include "native/kernel/model.h"
#include "native/kernel/poisson.h"
#include "native/kernel/power_walk.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr int64_t kMaxBlocks = int64_t{1} << 18;     // 4 million steps
constexpr int64_t kMaxKeptItems = int64_t{1} << 20;  // of states
constexpr double kMaxWork = 1.6e10;  // multiply-adds of one sequence

// One block, all entries relative to 2^exponent.
template <class T>
struct Block {
  T a[kBlock];
  T b[kBlock];  // where they are wanted
  T* states;    // all sixteen, or nullptr: see Sequence::States
  PoissonTable poisson;
  int64_t exponent;
  double mass;                 // sum of the state's values
  int64_t underflow_exponent;  // largest so far at which a number was flushed
};

template <class T>
class Sequence {
 public:
  Sequence(const Model<T>& model, bool wants_b, bool keeps_states,
           Workspace* workspace, int64_t checkpoint_bytes = kCheckpointBytes)
      : model_(model),
        wants_b_(wants_b),
        keeps_states_(keeps_states),
        workspace_(workspace),
        blocks_(workspace),
        walk_(workspace),
        past_walk_(workspace),
        checkpoints_(checkpoint_bytes, workspace) {}

  StatusCode Start() {
    if (!walk_.Allocate(model_.size, model_.stride)) return kMemoryLimit;
    for (int64_t i = 0; i < model_.size; ++i) {
      walk_.state()[i] = model_.initial[i];
    }
    const double operations =
        static_cast<double>(model_.forward.pattern.num_cells()) +
        3.0 * static_cast<double>(model_.size);
    const double limit =
        kMaxWork / (kBlock * operations * (1 << (2 * Depth<T>::kValue)));
    max_blocks_ = limit < kMaxBlocks ? static_cast<int64_t>(limit) : kMaxBlocks;
    return kOk;
  }

  int64_t max_blocks() const { return max_blocks_; }
  const Model<T>& model() const { return model_; }

  // The block, or nullptr and a status.
  const Block<T>* Get(int64_t block, StatusCode* status) {
    while (blocks_.size() <= block) {
      *status = AppendBlock();
      if (*status != kOk) return nullptr;
    }
    return &blocks_[block];
  }

  const Block<T>* Find(int64_t block) const { return &blocks_[block]; }

  // The sixteen states of a block, relative to 2^exponent: kept, or made again
  // in `rows` from the nearest that was kept. Blocks must be asked for from the
  // last one down; nullptr: no memory.
  const T* States(int64_t block, T* rows) {
    if (blocks_[block].states != nullptr) return blocks_[block].states;
    if (!past_walk_.is_allocated() &&
        !past_walk_.Allocate(model_.size, model_.stride)) {
      return nullptr;
    }
    const auto ignore = [](int, const T*) {};
    const auto advance = [&](int64_t b) {
      past_walk_.StepBlock(model_.forward, b, nullptr, ignore);
      past_walk_.Rescale();
    };
    if (!checkpoints_.Restore(block, &past_walk_, advance)) return nullptr;
    past_walk_.StepBlock(model_.forward, block, rows, ignore);
    return rows;
  }

  // Making blocks clears the underflow flag; callers' own underflows are kept
  // here.
  void ClearCallersUnderflow() {
    callers_underflow_ = false;
    FloatEnvironment::ClearUnderflow();
  }
  bool CallersUnderflow() const {
    return callers_underflow_ || FloatEnvironment::Underflowed();
  }
  void SetAsideUnderflow() {
    callers_underflow_ = CallersUnderflow();
    FloatEnvironment::ClearUnderflow();
  }

  bool UnderflowedBefore(int64_t block) const {
    return first_underflow_ < block;
  }

 private:
  StatusCode AppendBlock() {
    const int64_t number = blocks_.size();
    if (number >= max_blocks_) return kWorkLimit;
    Block<T>* block = blocks_.Append();
    if (block == nullptr) return kMemoryLimit;
    SetAsideUnderflow();
    walk_.Rescale();
    if (!KeepStates(number, block)) return kMemoryLimit;
    block->exponent = walk_.exponent();
    block->mass = Primal(Sum(walk_.state(), model_.stride));
    block->poisson = PoissonTableOf(number);
    walk_.StepBlock(model_.forward, number, block->states,
                    [&](int j, const T* state) {
                      block->a[j] = Dot(state, model_.exits, model_.stride);
                      if (wants_b_) block->b[j] = Sum(state, model_.stride);
                    });
    block->underflow_exponent =
        number > 0 ? blocks_[number - 1].underflow_exponent : INT64_MIN / 2;
    if (FloatEnvironment::Underflowed()) {
      if (first_underflow_ > number) first_underflow_ = number;
      if (block->underflow_exponent < block->exponent) {
        block->underflow_exponent = block->exponent;
      }
    }
    return kOk;
  }

  // Makes room for all states of the block, or shows its first one to those
  // who keep some.
  bool KeepStates(int64_t number, Block<T>* block) {
    block->states = nullptr;
    if (!keeps_states_) return true;
    const int64_t stride = model_.stride;
    if (number * kBlock * stride >= kMaxKeptItems) {
      return checkpoints_.Show(number, walk_);
    }
    block->states = static_cast<T*>(
        workspace_->Allocate(static_cast<size_t>(stride * kBlock), sizeof(T)));
    return block->states != nullptr;
  }

  const Model<T>& model_;
  const bool wants_b_;
  const bool keeps_states_;
  Workspace* workspace_;
  BlockList<Block<T>> blocks_;
  PowerWalk<T> walk_;
  PowerWalk<T> past_walk_;  // makes states again
  Checkpoints<T> checkpoints_;
  int64_t max_blocks_ = 0;
  bool callers_underflow_ = false;
  int64_t first_underflow_ = INT64_MAX;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_SEQUENCE_H_
