// The power sequence v_k = alpha P^k, made on demand in blocks of sixteen, and
// its terms a_k = v_k . s and b_k = v_k . 1.

#ifndef PHASIC_NATIVE_KERNEL_SEQUENCE_H_
#define PHASIC_NATIVE_KERNEL_SEQUENCE_H_

#include <cstdint>

#include "native/kernel/block_list.h"
#include "native/kernel/float_environment.h"
#include "native/kernel/isa.h"
#include "native/kernel/model.h"
#include "native/kernel/poisson.h"

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
  T* states;    // v at the block's first index, or at all sixteen
  T* low;       // what rounding left out of the first, or nullptr: nothing
  bool has_all_states;
  PoissonTable poisson;
  int64_t exponent;
  double mass;                 // sum of the state's values
  int64_t underflow_exponent;  // largest so far at which a number was flushed
};

template <class T>
class Sequence {
 public:
  Sequence(const Model<T>& model, bool wants_b, bool keeps_states,
           Workspace* workspace)
      : model_(model),
        wants_b_(wants_b),
        keeps_states_(keeps_states),
        workspace_(workspace),
        blocks_(workspace) {}

  StatusCode Start() {
    state_ = AllocateZeros<T>(workspace_, model_.stride);
    low_ = AllocateZeros<T>(workspace_, model_.stride);
    next_ = AllocateZeros<T>(workspace_, model_.stride);
    if (!state_ || !low_ || !next_) return kMemoryLimit;
    for (int64_t i = 0; i < model_.size; ++i) state_[i] = model_.initial[i];
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
    const int64_t stride = model_.stride;
    const bool has_all_states =
        keeps_states_ && number * kBlock * stride < kMaxKeptItems;
    T* states = static_cast<T*>(workspace_->Allocate(
        static_cast<size_t>(stride * (has_all_states ? kBlock : 1)),
        sizeof(T)));
    const bool has_low = number >= kPlainBlocks;
    T* low = has_low ? AllocateZeros<T>(workspace_, stride) : nullptr;
    if (states == nullptr || (has_low && low == nullptr)) return kMemoryLimit;
    Block<T>* block = blocks_.Append();
    if (block == nullptr) return kMemoryLimit;
    block->states = states;
    block->low = low;
    block->has_all_states = has_all_states;
    SetAsideUnderflow();
    RescaleState();
    for (int64_t i = 0; i < stride; ++i) block->states[i] = state_[i];
    if (block->low != nullptr) {
      for (int64_t i = 0; i < stride; ++i) block->low[i] = low_[i];
    }
    block->exponent = exponent_;
    block->mass = Primal(Sum(state_, stride));
    block->poisson = PoissonTableOf(number);
    const T* state = block->states;
    for (int j = 0; j < kBlock; ++j) {
      block->a[j] = Dot(state, model_.exits, stride);
      if (wants_b_) block->b[j] = Sum(state, stride);
      T* next = state == state_ ? next_ : state_;
      if (block->has_all_states && j + 1 < kBlock) {
        next = block->states + (j + 1) * stride;
      }
      Apply(model_.forward, number, state, low_, next);
      state = next;
    }
    if (state != state_) {
      T* swap = state_;
      state_ = next_;
      next_ = swap;
    }
    block->underflow_exponent =
        number > 0 ? blocks_[number - 1].underflow_exponent : INT64_MIN / 2;
    if (FloatEnvironment::Underflowed()) {
      if (first_underflow_ > number) first_underflow_ = number;
      if (block->underflow_exponent < exponent_) {
        block->underflow_exponent = exponent_;
      }
    }
    return kOk;
  }

  // Keeps the state's largest component near one.
  void RescaleState() {
    const double size = LargestSize(state_, model_.stride);
    const int64_t e = ExponentOf(size);
    if (size == 0.0 || (e > -64 && e < 64) || e > 1022) return;
    for (int64_t i = 0; i < model_.size; ++i) {
      state_[i] = ScaleBy(state_[i], -e);
      low_[i] = ScaleBy(low_[i], -e);
    }
    exponent_ += e;
  }

  const Model<T>& model_;
  const bool wants_b_;
  const bool keeps_states_;
  Workspace* workspace_;
  T* state_ = nullptr;
  T* low_ = nullptr;  // what rounding left out of it
  T* next_ = nullptr;
  int64_t exponent_ = 0;
  BlockList<Block<T>> blocks_;
  int64_t max_blocks_ = 0;
  bool callers_underflow_ = false;
  int64_t first_underflow_ = INT64_MAX;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_SEQUENCE_H_
