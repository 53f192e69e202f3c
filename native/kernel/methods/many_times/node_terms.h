// The terms a_k of a sequence for sums sum_k weights[k] a_{k+j}: each block in
// eight shifted copies, so that all loads are aligned.

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

class NodeTerms {
 public:
  using Lanes = Pack<8>;
  static constexpr int kPacks = kNodeTerms / 8;

  NodeTerms(Sequence<double>* sequence, Workspace* workspace)
      : sequence_(*sequence), blocks_(workspace) {}

  // Makes the blocks up to this one; whether there are so many.
  bool Reserve(int64_t block) {
    if (block < blocks_.size()) return true;
    StatusCode status = kOk;
    if (sequence_.Get(block + 1, &status) == nullptr) return false;
    while (blocks_.size() <= block) {
      const int64_t b = blocks_.size();
      ShiftedBlock* target = blocks_.Append();
      if (target == nullptr) return false;
      const Block<double>& source = *sequence_.Find(b);
      const Block<double>& next = *sequence_.Find(b + 1);
      double terms[kBlock + 8];
      for (int j = 0; j < kBlock; ++j) terms[j] = source.a[j];
      for (int j = 0; j < 8; ++j) {
        terms[kBlock + j] = ScaleBy(next.a[j], next.exponent - source.exponent);
      }
      for (int s = 0; s < 8; ++s) {
        for (int j = 0; j < kBlock; ++j) target->terms[s][j] = terms[s + j];
      }
    }
    return true;
  }

  // sums[j] += sum_k weights[k] a_{16 b + k + j}, those of block b + i times
  // scales[i].
  void Add(int64_t b, const double* weights, const double* scales,
           Lanes* sums) const {
    Lanes results[kPacks];
    for (int i = 0; i < kPacks; ++i) results[i] = sums[i];
    bool is_plain = true;
    for (int i = 0; i <= kNodeBlocks; ++i) is_plain &= scales[i] == 1.0;
    if (is_plain) {
      AddShifted(b, weights, [](int, const Lanes& x) { return x; }, results);
    } else {
      AddShifted(
          b, weights, [&](int i, const Lanes& x) { return scales[i] * x; },
          results);
    }
    for (int i = 0; i < kPacks; ++i) sums[i] = results[i];
  }

 private:
  struct ShiftedBlock {
    double terms[8][kBlock];  // [s][j]: a_{s + j} of the block
  };

  template <class Scale>
  void AddShifted(int64_t b, const double* weights, const Scale& scale,
                  Lanes* sums) const {
    const ShiftedBlock* blocks[kNodeBlocks + 1];
    for (int i = 0; i <= kNodeBlocks; ++i) blocks[i] = &blocks_[b + i];
    for (int s = 0; s < 8; ++s) {
      for (int i = 0; i <= kPacks; ++i) {
        const Lanes x =
            scale(i / 2, Lanes::Load(blocks[i / 2]->terms[s] + 8 * (i % 2)));
        if (i < kPacks) sums[i].AddProduct(weights[s], x);
        if (i > 0) sums[i - 1].AddProduct(weights[s + 8], x);
      }
    }
  }

  Sequence<double>& sequence_;
  BlockList<ShiftedBlock> blocks_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_TERMS_H_
