// The power sequence v_k = alpha P^k of a model with the initial probabilities
// alpha and the transition matrix P, and its terms a_k = v_k . s and b_k = v_k
// . 1, where s are the exit rates. It is computed on demand in blocks of
// sixteen k.

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_SEQUENCE_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_SEQUENCE_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "native/kernel/model/model.h"
#include "native/kernel/runtime/work_limit.h"
#include "native/kernel/simd/block_list.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/checkpoints.h"
#include "native/kernel/uniformization/poisson.h"
#include "native/kernel/uniformization/power_walk.h"
#include "native/kernel/uniformization/shared_sequence.h"
#include "native/kernel/uniformization/tail_closure.h"
#include "native/kernel/uniformization/terms.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr int64_t kMaxBlocks = int64_t{1} << 18;  // 4 million steps
// The memory for all states of the first blocks. Those of several models are
// computed again faster than they are loaded from outside of the caches.
template <class T>
constexpr int64_t kMaxKeptBytes = int64_t{1} << 24;
template <>
inline constexpr int64_t kMaxKeptBytes<PerModel> = int64_t{1} << 20;
// The costs of a multiply-add of extended doubles, and of one in a sequence
// that keeps its states for the way back, relative to one of doubles.
constexpr double kExtendedCost = 16.0;
constexpr double kKeptCost = 6.0;
// The limits on work are lower for models of up to kFewPhases phases: 600
// phases, plus 16 that other functions may add to a model. With the default of
// MaxWork every function takes less than two seconds. A multiply-add of
// extended doubles takes up to ten nanoseconds, so that a sequence takes less
// than half a second. A comparison of two models needs two sequences. The
// backward pass takes four times as long as the forward pass, and may run three
// times with ever smaller truncation errors.
constexpr int64_t kFewPhases = 616;
constexpr double kShareOfFew = 0.1;  // of MaxWork
constexpr double kExtendedShareOfFew = 5e-4;
constexpr double kWayBackCost = 8.0;
// Multiply-adds between questions whether a call has to stop: some 50 ms.
constexpr double kWorkBetweenStops = 5e7;

template <class T>
struct Block : Terms<T> {
  T* states;            // all sixteen, or nullptr; see Sequence::States
  int64_t num_stepped;  // num_stepped() once this block is computed
  PoissonTable poisson;
  int64_t underflow_exponent;  // largest lost_exponent up to this block
  int64_t lost_exponent;       // scale of the numbers flushed in this block
};
constexpr int64_t kNothingLost = INT64_MIN / 2;  // if no number was flushed

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
        checkpoints_(checkpoint_bytes, workspace),
        closure_(model, wants_b, workspace) {}

  StatusCode Start() {
    if (!walk_.Allocate(model_.size, model_.stride, model_.columns)) {
      return kMemoryLimit;
    }
    for (int64_t i = 0; i < model_.size; ++i) {
      walk_.state()[i] = model_.initial[i];
    }
    const double operations = WorkOfStep(
        static_cast<double>(model_.forward.pattern.num_cells()), model_.size);
    double work = MaxWork();
    if (model_.size > kFewPhases) {
      if (HasOwnExponent<T>::kValue) work /= kExtendedCost;
      if (keeps_states_) work /= kKeptCost;
    } else if (HasOwnExponent<T>::kValue) {
      work *= kExtendedShareOfFew / (keeps_states_ ? kWayBackCost : 1.0);
    } else {
      work *= kShareOfFew;
    }
    work_of_block_ = kBlock * operations * (1 << (2 * Depth<T>::kValue));
    const double limit = work / work_of_block_;
    max_blocks_ = limit < kMaxBlocks ? static_cast<int64_t>(limit) : kMaxBlocks;
    return kOk;
  }

  // Allows later terms to be extrapolated from earlier ones; see
  // tail_closure.h. Only values can be extrapolated. Must be called before any
  // block is computed. Has no effect in discrete time: there the rounding
  // errors of a phase that is left with probability one in each step are not
  // compensated.
  void AllowClosure() {
    may_close_ = std::is_same<T, double>::value && !keeps_states_ &&
                 !model_.discrete && shared_.sequence == nullptr;
  }

  bool may_close() const { return may_close_; }

  // Tries to compute all blocks up to this one with at most `num_stepped`
  // blocks computed by steps and all others extrapolated. Returns whether that
  // is possible.
  bool Follows(int64_t block, int64_t num_stepped) {
    while (blocks_.size() <= block) {
      if (AppendBlock(num_stepped) != kOk) return false;
    }
    return blocks_[block].num_stepped <= num_stepped;
  }

  // From now on takes terms from a sequence of several models. That sequence
  // records underflow for all its models together. If it may have changed a
  // result of this model, or a block is needed that may not be taken (the
  // status is then kMemoryLimit), the model must be evaluated alone.
  void TakeFrom(const SharedSequence& shared) { shared_ = shared; }
  // Returns StartWeight(x, block) for the time with this index.
  Scaled<double> StartOf(int64_t index, double x, int64_t* block) const {
    return shared_.starts != nullptr ? shared_.starts->Weight(index, x, block)
                                     : StartWeight(x, block);
  }
  void NoteLoss() { has_losses_ = true; }
  bool has_losses() const { return has_losses_; }

  int64_t max_blocks() const { return max_blocks_; }
  const Model<T>& model() const { return model_; }
  // Returns how many blocks were computed by steps. All other blocks so far
  // were extrapolated.
  int64_t num_stepped() const { return num_stepped_; }

  // Computes the blocks up to this one where necessary, and returns this one.
  // Returns nullptr and sets the status on failure.
  const Block<T>* Get(int64_t block, StatusCode* status) {
    while (blocks_.size() <= block) {
      *status = AppendBlock();
      if (*status != kOk) return nullptr;
    }
    return &blocks_[block];
  }

  const Block<T>* Find(int64_t block) const { return &blocks_[block]; }

  // Sets `front` to the first term and the mass of a block. The rest of the
  // block may not be needed, and is computed only if the first term cannot be
  // computed alone. Returns false and sets the status on failure.
  bool Begin(int64_t block, Front<T>* front, StatusCode* status) {
    if (block > 0 && Get(block - 1, status) == nullptr) return false;
    if (block == blocks_.size() && Peek(front)) return true;
    const Block<T>* made = Get(block, status);
    if (made != nullptr) *front = {made->a[0], made->exponent, made->mass};
    return made != nullptr;
  }

  // Returns the sixteen states of a block, relative to 2^exponent of the block.
  // They were kept, or are recomputed in `rows` from the last kept state before
  // them. Blocks must be requested in descending order. Returns nullptr if
  // memory does not suffice.
  const T* States(int64_t block, T* rows) {
    if (blocks_[block].states != nullptr) return blocks_[block].states;
    if (HasToStop()) return nullptr;
    if (!past_walk_.is_allocated() &&
        !past_walk_.Allocate(model_.size, model_.stride, model_.columns)) {
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

  // These functions track whether the caller's own operations underflowed. They
  // save the processor's underflow flag, which is cleared when a block is
  // computed. The underflow of a block itself is stored in the block.
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
  // Returns whether every flush to zero is recorded in the lost_exponent of a
  // block. No block records a flush in a step beyond the last block.
  bool knows_losses() const { return !has_losses_ahead_; }

 private:
  // Computes the first term and the mass of the next block without stepping
  // through it. Returns false if that is not possible, or if something
  // underflows.
  bool Peek(Front<T>* front) {
    const int64_t number = blocks_.size();
    if (number == 0 || number >= max_blocks_ || num_stepped_ != number) {
      return false;
    }
    if constexpr (std::is_same<T, double>::value) {
      if (closure_.Covers(number) || closure_.IsBoundary(number)) return false;
    }
    SetAsideUnderflow();
    if (shared_.sequence != nullptr) return false;
    walk_.Rescale();
    *front = FrontOf(model_, walk_);
    const bool underflowed = FloatEnvironment::Underflowed();
    FloatEnvironment::ClearUnderflow();
    return !underflowed;
  }

  // Returns whether the call has to end early; to be called once for each
  // block.
  bool HasToStop() {
    work_since_stop_ += work_of_block_;
    if (work_since_stop_ < kWorkBetweenStops) return false;
    work_since_stop_ = 0.0;
    return IsStopped();
  }

  StatusCode AppendBlock() { return AppendBlock(max_blocks_); }

  // Appends a block. Returns kWorkLimit if more than `most_steps` blocks of the
  // sequence would then be computed by steps.
  StatusCode AppendBlock(int64_t most_steps) {
    const int64_t number = blocks_.size();
    if (lacks_memory_) return kMemoryLimit;
    if (number >= (may_close_ ? kMaxBlocks : max_blocks_)) return kWorkLimit;
    if (HasToStop()) return kWorkLimit;
    Block<T>* block = blocks_.Append();
    if (block == nullptr) return kMemoryLimit;
    SetAsideUnderflow();
    block->underflow_exponent =
        number > 0 ? blocks_[number - 1].underflow_exponent : kNothingLost;
    block->lost_exponent = kNothingLost;
    block->states = nullptr;
    block->poisson = model_.discrete ? TableOfOnes() : PoissonTableOf(number);
    const StatusCode status = MakeBlock(number, most_steps, block);
    block->num_stepped = num_stepped_;
    if (status == kMemoryLimit) {
      lacks_memory_ = true;  // The block is not complete, nor is a later one.
      blocks_.RemoveLast();
    }
    return status;
  }

  StatusCode MakeBlock(int64_t number, int64_t most_steps, Block<T>* block) {
    if constexpr (std::is_same<T, double>::value) {
      if (may_close_) return CloseBlock(number, most_steps, block);
    }
    if (shared_.sequence != nullptr) return Take(number, block);
    walk_.Rescale();
    if (keeps_states_ && !KeepStates(number, block)) return kMemoryLimit;
    Step(block, block);
    return kOk;
  }

  // Steps through block number num_stepped_ and computes its terms. Records
  // underflow in `last`, the block that is being appended. This is the stepped
  // block itself or, if blocks were extrapolated, a later one.
  void Step(Terms<T>* terms, Block<T>* last) {
    MakeTerms(model_, wants_b_, num_stepped_, &walk_, last->states, terms);
    ++num_stepped_;
    const bool underflowed = FloatEnvironment::Underflowed();
    FloatEnvironment::ClearUnderflow();
    if (underflowed) NoteUnderflow(*terms, last);
  }

  // Copies the terms of a block from the shared sequence.
  StatusCode Take(int64_t number, Block<T>* block) {
    if constexpr (std::is_same<T, double>::value) {
      StatusCode status = kOk;
      if (number >= shared_.end) return kMemoryLimit;
      const Block<PerModel>* from = shared_.sequence->Get(number, &status);
      if (from == nullptr) return kMemoryLimit;
      const int l = shared_.model;
      for (int j = 0; j < kBlock; ++j) {
        block->a[j] = from->a[j][l];
        if (wants_b_) block->b[j] = from->b[j][l];
      }
      block->exponent = from->exponent;
      block->mass = from->mass[l];
      ++num_stepped_;
      if (from->lost_exponent != kNothingLost) NoteUnderflow(*block, block);
    }
    return kOk;
  }

  void NoteUnderflow(const Terms<T>& terms, Block<T>* last) {
    first_underflow_ = std::min(first_underflow_, blocks_.size() - 1);
    has_losses_ahead_ = has_losses_ahead_ || num_stepped_ > blocks_.size();
    last->lost_exponent = std::max(last->lost_exponent, terms.exponent);
    last->underflow_exponent =
        std::max(last->underflow_exponent, terms.exponent);
  }

  // Computes the terms of a block by extrapolation if the error bounds allow
  // that, otherwise by steps. The steps must first go through all earlier
  // blocks that were extrapolated.
  StatusCode CloseBlock(int64_t number, int64_t most_steps, Block<T>* block) {
    block->underflow_exponent =
        std::max(block->underflow_exponent, underflow_exponent_ahead_);
    while (!closure_.Covers(number)) {
      walk_.Rescale();
      if (closure_.IsBoundary(num_stepped_)) {
        if (!closure_.Cross(walk_)) return kMemoryLimit;
        continue;
      }
      if (std::min(closure_.boundary(), number + 1) > most_steps) {
        // The next block that is appended will record the underflow of these
        // steps.
        underflow_exponent_ahead_ = block->underflow_exponent;
        blocks_.RemoveLast();
        return kWorkLimit;
      }
      Terms<T> unused;
      const int64_t stepped = num_stepped_;
      Terms<T>* terms = stepped == number ? block : &unused;
      Step(terms, block);
      if (!closure_.Note(stepped, *terms)) return kMemoryLimit;
      if (stepped == number) return kOk;
    }
    closure_.Fill(number, block);
    FloatEnvironment::ClearUnderflow();
    return kOk;
  }

  // Allocates memory for the states of the block. If the sequence is long,
  // passes only the first state to `checkpoints_`. Returns false if memory does
  // not suffice.
  bool KeepStates(int64_t number, Block<T>* block) {
    const int64_t stride = model_.stride;
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    if (number * kBlock * stride * kSize >= kMaxKeptBytes<T>) {
      return checkpoints_.Show(number, walk_);
    }
    block->states = static_cast<T*>(
        workspace_->Allocate(static_cast<size_t>(stride * kBlock), sizeof(T)));
    return block->states != nullptr;
  }

  const Model<T>& model_;
  const bool wants_b_;
  const bool keeps_states_;
  bool may_close_ = false;
  bool lacks_memory_ = false;
  SharedSequence shared_;
  bool has_losses_ = false;
  bool has_losses_ahead_ = false;
  Workspace* workspace_;
  BlockList<Block<T>> blocks_;
  PowerWalk<T> walk_;
  PowerWalk<T> past_walk_;  // recomputes states
  Checkpoints<T> checkpoints_;
  TailClosure<T> closure_;
  int64_t num_stepped_ = 0;                          // blocks that were stepped
  int64_t underflow_exponent_ahead_ = kNothingLost;  // of a removed block
  int64_t max_blocks_ = 0;
  double work_of_block_ = 0.0;
  double work_since_stop_ = 0.0;
  bool callers_underflow_ = false;
  int64_t first_underflow_ = INT64_MAX;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_SEQUENCE_H_
