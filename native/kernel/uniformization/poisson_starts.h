// Stores the Poisson weight of the first index of each block for one x, so that
// blocks can be requested in any order.

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_POISSON_STARTS_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_POISSON_STARTS_H_

#include <cstdint>

#include "native/kernel/numbers/scaled.h"
#include "native/kernel/runtime/workspace.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/poisson.h"

namespace phasic {
namespace PHASIC_ISA {

// A cache of the Poisson table that was computed last. The tables of the first
// blocks are not cached here: the process computes them once.
class PoissonTableCache {
 public:
  const PoissonTable& Get(int64_t block) {
    if (block < FirstPoissonTables::kCount) {
      return FirstPoissonTables::Get(block);
    }
    if (block != block_) {
      table_ = MakePoissonTable(block);
      block_ = block;
    }
    return table_;
  }

 private:
  int64_t block_ = -1;
  PoissonTable table_ = {};  // of block_
};

// Calls visit(block, weight) with the weight of the first index of each block,
// from the block that contains the mode downwards. The last one is the first
// block, or one whose weight is at most `least`.
template <class Visit>
void VisitDown(double x, const Scaled<double>& least, const Visit& visit) {
  PoissonTableCache tables;
  PoissonWalk walk(x);
  int64_t block;
  Scaled<double> weight = StartWeight(x, &block);
  visit(block, weight);
  while (block > 0 && !IsAtMost(weight, 0, least)) {
    --block;
    weight = walk.Down(tables.Get(block), weight);
    visit(block, weight);
  }
}

// The weight of the first index of each block that Reach computed, for one x.
// Its memory is reused for the next x.
class PoissonStarts {
 public:
  PoissonStarts(PoissonTableCache* tables, Workspace* workspace)
      : tables_(*tables), up_(workspace), down_(workspace), walk_(0.0) {}

  // Starts with a new x. `weight` is the weight of the first index of block
  // `start`, which contains the index floor(x). Returns false if memory does
  // not suffice.
  bool Begin(double x, int64_t start, const Scaled<double>& weight) {
    walk_ = PoissonWalk(x);
    start_ = start;
    up_.size = down_.size = 0;
    return up_.Append(weight);
  }

  int64_t start() const { return start_; }

  // Computes the weights of all blocks from the start to this one; returns
  // false if memory does not suffice.
  bool Reach(int64_t block) {
    for (int64_t b = start_ + up_.size; b <= block; ++b) {
      const auto ignore = [](int, int, const Scaled<double>&, const double*) {};
      if (!up_.Append(walk_.Up(b - 1, tables_.Get(b - 1), At(b - 1), ignore))) {
        return false;
      }
    }
    for (int64_t b = start_ - down_.size - 1; b >= block; --b) {
      if (!down_.Append(walk_.Down(tables_.Get(b), At(b + 1)))) return false;
    }
    return true;
  }

  // Returns the weight at the first index of a block that Reach computed.
  const Scaled<double>& At(int64_t block) const {
    return block >= start_ ? up_.weights[block - start_]
                           : down_.weights[start_ - 1 - block];
  }

  // Computes the sixteen weights of a block that Reach computed.
  void Weights(int64_t block, Scaled<double>* weights) {
    const PoissonTable& table = tables_.Get(block);
    for (int j = 0; j < kBlock; ++j) weights[j] = Scaled<double>{};
    walk_.Up(block, table, At(block),
             [&](int first, int last, const Scaled<double>& scale,
                 const double* powers) {
               for (int j = first; j < last; ++j) {
                 weights[j] = {scale.mantissa * (powers[j] * table.table[j]),
                               scale.exponent};
               }
             });
  }

  // TailBound returns a bound on the sum of the weights of this block and all
  // later blocks. HeadBound returns a bound on the sum of the weights of all
  // earlier blocks.
  Scaled<double> TailBound(int64_t block) const {
    return walk_.TailBound(block, At(block));
  }
  Scaled<double> HeadBound(int64_t block) const {
    return walk_.HeadBound(block, At(block));
  }

 private:
  struct List {
    explicit List(Workspace* w) : workspace(w) {}
    bool Append(const Scaled<double>& weight) {
      if (size == capacity && !Grow()) return false;
      weights[size++] = weight;
      return true;
    }
    bool Grow() {
      const int64_t larger = capacity == 0 ? 64 : 2 * capacity;
      auto* moved = static_cast<Scaled<double>*>(workspace->Allocate(
          static_cast<size_t>(larger), sizeof(Scaled<double>)));
      if (moved == nullptr) return false;
      for (int64_t i = 0; i < size; ++i) moved[i] = weights[i];
      weights = moved;
      capacity = larger;
      return true;
    }

    Workspace* workspace;
    Scaled<double>* weights = nullptr;
    int64_t size = 0;
    int64_t capacity = 0;
  };

  PoissonTableCache& tables_;
  List up_;    // from block start_ upwards
  List down_;  // from block start_ - 1 downwards
  PoissonWalk walk_;
  int64_t start_ = 0;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_POISSON_STARTS_H_
