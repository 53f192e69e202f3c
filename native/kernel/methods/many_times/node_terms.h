// The terms f_k of a function (see channels.h), stored for fast sums sum_k
// weights[k] f_{k+j}: each block is stored in eight shifted copies, so that all
// loads are aligned. Of dual numbers one part is stored.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_TERMS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_TERMS_H_

#include <cmath>
#include <cstdint>

#include "native/kernel/numbers/dual.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/block_list.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"
#include "native/kernel/uniformization/channels.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr int kNodeBlocks = 3;
constexpr int kNodeTerms = kNodeBlocks * kBlock;

constexpr int kNodePacks = kNodeTerms / 8;

enum class TermPart { kValue, kTangent, kTangentSize };

template <class T>
class NodeTerms {
 public:
  using Lanes = Pack<8>;

  NodeTerms(Channels<T>* channels, TermPart part, Workspace* workspace)
      : channels_(*channels), part_(part), blocks_(workspace) {}

  int64_t ExponentOf(int64_t block) const {
    return channels_.Find(block)->exponent;
  }

  // Computes and stores the blocks up to this one; returns whether they are
  // available.
  bool Reserve(int64_t block) {
    if (block < blocks_.size()) return true;
    StatusCode status = kOk;
    if (channels_.Get(block + 1, &status) == nullptr) return false;
    while (blocks_.size() <= block) {
      const int64_t b = blocks_.size();
      ShiftedBlock* target = blocks_.Append();
      if (target == nullptr) return false;
      const int64_t shift =
          channels_.Find(b + 1)->exponent - channels_.Find(b)->exponent;
      double terms[kBlock + 8];
      for (int j = 0; j < kBlock; ++j) terms[j] = Term(b, j);
      for (int j = 0; j < 8; ++j) {
        terms[kBlock + j] = ScaleBy(Term(b + 1, j), shift);
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

  double Term(int64_t block, int j) const {
    const ChannelBlock<T>& source = *channels_.Find(block);
    const T& term = source.channels[0][j];
    const double part = part_ == TermPart::kValue ? Primal(term) : Top(term);
    const double plain = part / source.poisson->table[j];
    return part_ == TermPart::kTangentSize ? std::fabs(plain) : plain;
  }

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

  Channels<T>& channels_;
  const TermPart part_;
  BlockList<ShiftedBlock> blocks_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_TERMS_H_
