// Terms f_k, stored for fast sums sum_k weights[k] f_{k+j}: each block is
// stored in eight shifted copies, so that all loads are aligned.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_TERMS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_TERMS_H_

#include <cstdint>

#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/block_list.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"
#include "native/kernel/uniformization/sequence.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr int kNodeBlocks = 3;
constexpr int kNodeTerms = kNodeBlocks * kBlock;

constexpr int kNodePacks = kNodeTerms / 8;

// Provides the terms a_k = v_k s of a power sequence.
class SequenceTerms {
 public:
  explicit SequenceTerms(Sequence<double>* sequence) : sequence_(*sequence) {}

  // Computes the terms up to this block; returns whether they are available.
  bool Reserve(int64_t block) {
    StatusCode status = kOk;
    return sequence_.Get(block, &status) != nullptr;
  }
  double Term(int64_t block, int j) const {
    return sequence_.Find(block)->a[j];
  }
  int64_t Exponent(int64_t block) const {
    return sequence_.Find(block)->exponent;
  }

 private:
  Sequence<double>& sequence_;
};

template <class Source>
class NodeTerms {
 public:
  using Lanes = Pack<8>;

  NodeTerms(const Source& source, Workspace* workspace)
      : source_(source), blocks_(workspace) {}

  // Computes and stores the blocks up to this one; returns whether they are
  // available.
  bool Reserve(int64_t block) {
    if (block < blocks_.size()) return true;
    if (!source_.Reserve(block + 1)) return false;
    while (blocks_.size() <= block) {
      const int64_t b = blocks_.size();
      ShiftedBlock* target = blocks_.Append();
      if (target == nullptr) return false;
      const int64_t shift = source_.Exponent(b + 1) - source_.Exponent(b);
      double terms[kBlock + 8];
      for (int j = 0; j < kBlock; ++j) terms[j] = source_.Term(b, j);
      for (int j = 0; j < 8; ++j) {
        terms[kBlock + j] = ScaleBy(source_.Term(b + 1, j), shift);
      }
      for (int s = 0; s < 8; ++s) {
        for (int j = 0; j < kBlock; ++j) target->terms[s][j] = terms[s + j];
      }
    }
    return true;
  }

  // Computes sums[j] += sum_k weights[k] f_{16 b + k + j}, where terms of block
  // b + i are multiplied by scales[i].
  void Add(int64_t b, const double* weights, const double* scales,
           Lanes* sums) const {
    Lanes results[kNodePacks];
    for (int i = 0; i < kNodePacks; ++i) results[i] = sums[i];
    bool is_plain = true;
    for (int i = 0; i <= kNodeBlocks; ++i) is_plain &= scales[i] == 1.0;
    if (is_plain) {
      AddShifted(b, weights, [](int, const Lanes& x) { return x; }, results);
    } else {
      AddShifted(
          b, weights, [&](int i, const Lanes& x) { return scales[i] * x; },
          results);
    }
    for (int i = 0; i < kNodePacks; ++i) sums[i] = results[i];
  }

 private:
  struct ShiftedBlock {
    double terms[8][kBlock];  // [s][j]: f_{s + j} of the block
  };

  template <class Scale>
  void AddShifted(int64_t b, const double* weights, const Scale& scale,
                  Lanes* sums) const {
    const ShiftedBlock* blocks[kNodeBlocks + 1];
    for (int i = 0; i <= kNodeBlocks; ++i) blocks[i] = &blocks_[b + i];
    for (int s = 0; s < 8; ++s) {
      for (int i = 0; i <= kNodePacks; ++i) {
        const Lanes x =
            scale(i / 2, Lanes::Load(blocks[i / 2]->terms[s] + 8 * (i % 2)));
        if (i < kNodePacks) sums[i].AddProduct(weights[s], x);
        if (i > 0) sums[i - 1].AddProduct(weights[s + 8], x);
      }
    }
  }

  Source source_;
  BlockList<ShiftedBlock> blocks_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_TERMS_H_
