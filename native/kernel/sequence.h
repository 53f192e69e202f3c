// The power sequence v_k = alpha P^k, made on demand in blocks of sixteen, and
// the terms that the series over Poisson weights need:
//   density:   a_k = v_k . s
//   survival:  b_k = v_k . 1
//   cdf:       A_k = prob_zero + sum_{j<k} a_j / q
// Channels are what is mixed: a_k, a_{k+1}, ... for the density; b_k or A_k
// and then a_k / q, a_{k+1} / q, ... for the other two. Shifted terms give
// the derivatives in time.

#ifndef PHASIC_NATIVE_KERNEL_SEQUENCE_H_
#define PHASIC_NATIVE_KERNEL_SEQUENCE_H_

#include <cstdint>

#include "native/kernel/float_environment.h"
#include "native/kernel/isa.h"
#include "native/kernel/model.h"
#include "native/kernel/poisson.h"

namespace phasic {
namespace PHASIC_ISA {

enum class Base { kDensity, kSurvival, kCdf };

inline Base BaseOf(Kind kind) {
  switch (kind) {
    case Kind::kLogDensity:
    case Kind::kDensity:
      return Base::kDensity;
    case Kind::kLogSurvival:
    case Kind::kSurvival:
      return Base::kSurvival;
    default:
      return Base::kCdf;
  }
}

inline bool IsLog(Kind kind) { return static_cast<int32_t>(kind) % 2 == 0; }

constexpr int kMaxChannels = kMaxOrder + 2;
constexpr int64_t kMaxBlocks = int64_t{1} << 18;     // 4 million steps
constexpr int64_t kMaxKeptItems = int64_t{1} << 20;  // of states
constexpr double kMaxWork = 1.6e10;  // multiply-adds of one sequence

// One block, all entries relative to a power of two of its own.
template <class T>
struct Block {
  T a[kBlock];
  T b[kBlock];
  T channels[kMaxChannels][kBlock];  // times the Poisson table
  T* states;  // v at the block's first index, or at all sixteen
  T* low;     // what rounding left out of the first, or nullptr: nothing
  bool has_all_states;
  PoissonTable poisson;
  int64_t exponent;  // of a, b and state
  int64_t channel_exponent;
  double mass;  // sum of the state's values
  // Bounds on the channels from here on, relative to channel_exponent.
  double tail_caps[2];
  Scaled<double> largest;      // channel entry up to here, all channels
  int64_t underflow_exponent;  // largest at which something was flushed
};

template <class T>
class Sequence {
 public:
  Sequence(const Model<T>& model, Base base, int num_channels,
           bool keeps_states, Workspace* workspace)
      : model_(model),
        base_(base),
        num_channels_(num_channels),
        keeps_states_(keeps_states),
        workspace_(workspace) {}

  StatusCode Start() {
    state_ = AllocateZeros<T>(workspace_, model_.stride);
    low_ = AllocateZeros<T>(workspace_, model_.stride);
    next_ = AllocateZeros<T>(workspace_, model_.stride);
    if (!state_ || !low_ || !next_) return kMemoryLimit;
    for (int64_t i = 0; i < model_.size; ++i) state_[i] = model_.initial[i];
    cumulative_ = Normalized(Scaled<T>{model_.prob_zero, 0});
    const double operations =
        static_cast<double>(model_.forward.pattern.num_cells()) +
        3.0 * static_cast<double>(model_.size);
    const double limit =
        kMaxWork / (kBlock * operations * (1 << (2 * Depth<T>::kValue)));
    max_blocks_ = limit < kMaxBlocks ? static_cast<int64_t>(limit) : kMaxBlocks;
    return kOk;
  }

  int64_t max_blocks() const { return max_blocks_; }
  int num_channels() const { return num_channels_; }
  Base base() const { return base_; }
  const Model<T>& model() const { return model_; }

  // The block with its channels, or nullptr and a status.
  const Block<T>* Get(int64_t block, StatusCode* status) {
    // Shifted terms reach into the next block.
    const int64_t needed = block + (num_shifts() > 0 ? 2 : 1);
    while (num_blocks_ < needed) {
      *status = AppendBlock();
      if (*status != kOk) return nullptr;
    }
    for (int64_t b = num_ready_; b <= block; ++b) MakeChannels(b);
    if (num_ready_ <= block) num_ready_ = block + 1;
    return blocks_[block];
  }

  const Block<T>* Find(int64_t block) const { return blocks_[block]; }

  // Making blocks clears the underflow flag; callers' own underflows are kept
  // here.
  void ClearCallersUnderflow() {
    callers_underflow_ = false;
    FloatEnvironment::ClearUnderflow();
  }
  bool CallersUnderflow() const {
    return callers_underflow_ || FloatEnvironment::Underflowed();
  }

  bool UnderflowedBefore(int64_t block) const {
    return first_underflow_ < block;
  }

  // Whether flushing to zero lost more than 2^-45 of a result of this size. A
  // loss made in one block reaches later ones with at most the same weight.
  bool LostToUnderflow(int64_t last_block, const Scaled<double>& result) const {
    if (first_underflow_ > last_block) return false;
    const int64_t b = last_block < num_ready_ ? last_block : num_ready_ - 1;
    const double p = static_cast<double>(model_.size);
    const double count = static_cast<double>(last_block + 1) * kBlock *
                         (p + 2) * (p + 2) *
                         (base_ == Base::kDensity ? model_.q : 1.0);
    const Scaled<double> lost = Normalized(
        Scaled<double>{count, blocks_[b]->underflow_exponent - 1022});
    return !IsAtMost(lost, -45, result);
  }

 private:
  StatusCode AppendBlock() {
    if (num_blocks_ >= max_blocks_) return kWorkLimit;
    if (num_blocks_ == capacity_ && !Grow()) return kMemoryLimit;
    Block<T>* block =
        static_cast<Block<T>*>(workspace_->Allocate(1, sizeof(Block<T>)));
    if (block == nullptr) return kMemoryLimit;
    const int64_t stride = model_.stride;
    block->has_all_states =
        keeps_states_ && num_blocks_ * kBlock * stride < kMaxKeptItems;
    block->states = static_cast<T*>(workspace_->Allocate(
        static_cast<size_t>(stride * (block->has_all_states ? kBlock : 1)),
        sizeof(T)));
    block->low = num_blocks_ < kPlainBlocks
                     ? nullptr
                     : AllocateZeros<T>(workspace_, stride);
    if (block->states == nullptr ||
        (block->low == nullptr && num_blocks_ >= kPlainBlocks)) {
      return kMemoryLimit;
    }
    SetAsideUnderflow();
    RescaleState();
    for (int64_t i = 0; i < stride; ++i) block->states[i] = state_[i];
    if (block->low != nullptr) {
      for (int64_t i = 0; i < stride; ++i) block->low[i] = low_[i];
    }
    block->exponent = exponent_;
    block->mass = Primal(Sum(state_, stride));
    block->poisson = PoissonTableOf(num_blocks_);
    const T* state = block->states;
    for (int j = 0; j < kBlock; ++j) {
      block->a[j] = Dot(state, model_.exits, stride);
      if (base_ == Base::kSurvival) block->b[j] = Sum(state, stride);
      T* next = state == state_ ? next_ : state_;
      if (block->has_all_states && j + 1 < kBlock) {
        next = block->states + (j + 1) * stride;
      }
      Apply(model_.forward, num_blocks_, state, low_, next);
      state = next;
    }
    if (state != state_) {
      T* swap = state_;
      state_ = next_;
      next_ = swap;
    }
    block->underflow_exponent =
        num_blocks_ > 0 ? blocks_[num_blocks_ - 1]->underflow_exponent
                        : INT64_MIN / 2;
    NoteUnderflow(num_blocks_, exponent_, block);
    blocks_[num_blocks_++] = block;
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

  void SetAsideUnderflow() {
    callers_underflow_ = CallersUnderflow();
    FloatEnvironment::ClearUnderflow();
  }

  void NoteUnderflow(int64_t b, int64_t exponent, Block<T>* block) {
    if (!FloatEnvironment::Underflowed()) return;
    if (first_underflow_ > b) first_underflow_ = b;
    if (block->underflow_exponent < exponent) {
      block->underflow_exponent = exponent;
    }
  }

  bool Grow() {
    const int64_t capacity = capacity_ == 0 ? 64 : 2 * capacity_;
    Block<T>** blocks = static_cast<Block<T>**>(
        workspace_->Allocate(static_cast<size_t>(capacity), sizeof(Block<T>*)));
    if (blocks == nullptr) return false;
    for (int64_t b = 0; b < num_blocks_; ++b) blocks[b] = blocks_[b];
    blocks_ = blocks;
    capacity_ = capacity;
    return true;
  }

  int num_shifts() const { return num_channels_ - 1 - first_a(); }
  int first_a() const { return base_ == Base::kDensity ? 0 : 1; }

  void MakeChannels(int64_t b) {
    Block<T>& block = *blocks_[b];
    SetAsideUnderflow();
    const double a_scale = base_ == Base::kDensity ? 1.0 : 1.0 / model_.q;
    Scaled<T> cumulative[kBlock];
    int64_t exponent = block.exponent;
    if (base_ == Base::kCdf) {
      for (int j = 0; j < kBlock; ++j) {
        cumulative[j] = cumulative_;
        Add(&cumulative_, Scaled<T>{block.a[j] * a_scale, block.exponent});
      }
      exponent =
          cumulative_.exponent > exponent ? cumulative_.exponent : exponent;
    }
    block.channel_exponent = exponent;
    T terms[kBlock + kMaxChannels];  // a_k from the block's first on
    const int num_shifts = this->num_shifts();
    for (int j = 0; j < kBlock; ++j) {
      terms[j] = ScaleBy(block.a[j] * a_scale, block.exponent - exponent);
    }
    for (int j = 0; j < num_shifts; ++j) {
      const Block<T>& next = *blocks_[b + 1];
      terms[kBlock + j] =
          ScaleBy(next.a[j] * a_scale, next.exponent - exponent);
    }
    double largest = 0.0;
    for (int r = 0; r < num_channels_; ++r) {
      T shifted[kBlock];
      for (int j = 0; j < kBlock; ++j) {
        if (r >= first_a()) {
          shifted[j] = terms[j + r - first_a()];
        } else if (base_ == Base::kSurvival) {
          shifted[j] = block.b[j];
        } else {
          shifted[j] = ScaleBy(cumulative[j].mantissa,
                               cumulative[j].exponent - exponent);
        }
      }
      const double size = LargestSize(shifted, kBlock);
      if (size > largest) largest = size;
      for (int j = 0; j < kBlock; ++j) {
        block.channels[r][j] = block.poisson.table[j] * shifted[j];
      }
    }
    if (b > 0 &&
        block.underflow_exponent < blocks_[b - 1]->underflow_exponent) {
      block.underflow_exponent = blocks_[b - 1]->underflow_exponent;
    }
    NoteUnderflow(b, exponent, &block);
    block.largest = Normalized(Scaled<double>{largest, exponent});
    if (b > 0) {
      const Scaled<double>& before = blocks_[b - 1]->largest;
      if (!IsAtMost(before, 0, block.largest)) block.largest = before;
    }
    BoundTail(&block);
  }

  // a_k <= max(s) b_k and b_k does not increase; A_k is at most the total.
  void BoundTail(Block<T>* block) const {
    constexpr double kLeast = 0x1p-1022;  // a bound must not become zero
    const double mass =
        ScaleBy(block->mass, block->exponent - block->channel_exponent);
    const double exits = model_.max_exit * mass + kLeast;
    switch (base_) {
      case Base::kDensity:
        block->tail_caps[0] = block->tail_caps[1] = exits;
        return;
      case Base::kSurvival:
        block->tail_caps[0] = mass + kLeast;
        break;
      case Base::kCdf:
        block->tail_caps[0] =
            ScaleBy(Primal(model_.prob_zero) + Primal(model_.initial_size),
                    -block->channel_exponent) +
            kLeast;
        break;
    }
    block->tail_caps[1] = exits / model_.q + kLeast;
  }

  const Model<T>& model_;
  const Base base_;
  const int num_channels_;
  const bool keeps_states_;
  Workspace* workspace_;
  T* state_ = nullptr;
  T* low_ = nullptr;  // what rounding left out of it
  T* next_ = nullptr;
  int64_t exponent_ = 0;
  Scaled<T> cumulative_;
  Block<T>** blocks_ = nullptr;
  int64_t num_blocks_ = 0;
  int64_t num_ready_ = 0;
  int64_t capacity_ = 0;
  int64_t max_blocks_ = 0;
  bool callers_underflow_ = false;
  int64_t first_underflow_ = INT64_MAX;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_SEQUENCE_H_
