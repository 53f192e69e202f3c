// The cotangents cbar_j of the sums c_j about an expansion point, for a group
// of times, and their products with Poisson weights.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_COTANGENTS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_COTANGENTS_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/cotangents/term_sums.h"
#include "native/kernel/methods/many_times/node_lanes.h"
#include "native/kernel/methods/many_times/node_rests.h"
#include "native/kernel/methods/many_times/node_seeds.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"

namespace phasic {
namespace PHASIC_ISA {

class NodeCotangents {
 public:
  // Computes cbar_j, a sum over the group's times, for j < size. `size` must be
  // a multiple of eight.
  void Sum(const NodeSeed& seed, int size) {
    size_ = size;
    Lanes sums[kMaxNodeSums];
    for (int j = 0; j < size; ++j) sums[j] = Lanes(0.0);
    for (int64_t n = 0; n < seed.count; n += kNodeLanes) {
      Lanes distances[NodePack::kParts];
      Lanes powers[NodePack::kParts];
      Lanes squares[NodePack::kParts];
      for (int i = 0; i < NodePack::kParts; ++i) {
        distances[i] = Load(seed.distances, n + 8 * i, seed.count);
        powers[i] = Load(seed.bars, n + 8 * i, seed.count);
        squares[i] = distances[i] * distances[i];
      }
      for (int j = 0; j < size; j += 2) {
        Lanes even = sums[j];
        Lanes odd = sums[j + 1];
        for (int i = 0; i < NodePack::kParts; ++i) {
          even = even + powers[i];
          odd.AddProduct(powers[i], distances[i]);
          powers[i] = powers[i] * squares[i];
        }
        sums[j] = even;
        sums[j + 1] = odd;
      }
    }
    double bars[kNumShifted] = {};
    for (int j = 0; j < size; ++j) {
      bars[kBlock + j] =
          NodeRests::Get().inverse_factorials[j] * sums[j].Total();
    }
    for (int s = 0; s < 8; ++s) {
      for (int j = 8; j < size + 2 * kBlock + 8; j += 8) {
        Lanes::Load(bars + j - s).Store(shifted_[s] + j);
      }
    }
  }

  int64_t LastBlock(int64_t b) const {
    return b + (size_ + kBlock - 1) / kBlock;
  }

  // Computes abar_{16 b + k + j} += weights[k] cbar_j, relative to 2^exponent.
  void AddProducts(int64_t b, const double* weights, int64_t exponent,
                   TermSums<double>* sums) const {
    for (int m = 0; m < size_ + kBlock; m += kBlock) {
      double scale = 1.0;
      double* bars = sums->blocks()->Whole(b + m / kBlock, exponent, &scale);
      Lanes low(0.0);
      Lanes high(0.0);
      for (int s = 0; s < 8; ++s) {
        const double* source = shifted_[s] + m;
        const Lanes middle = Lanes::Load(source + kBlock);
        low.AddProduct(weights[s], middle);
        low.AddProduct(weights[s + 8], Lanes::Load(source + 8));
        high.AddProduct(weights[s], Lanes::Load(source + kBlock + 8));
        high.AddProduct(weights[s + 8], middle);
      }
      (Lanes::Load(bars) + scale * low).Store(bars);
      (Lanes::Load(bars + 8) + scale * high).Store(bars + 8);
    }
  }

 private:
  using Lanes = Pack<8>;
  static constexpr int kNumShifted = kMaxNodeSums + 3 * kBlock;

  // Loads eight numbers from index n on; those beyond `count` are zero.
  static Lanes Load(const double* numbers, int64_t n, int64_t count) {
    if (n + 8 <= count) return Lanes::Load(numbers + n);
    double some[8] = {};
    for (int64_t l = n; l < count; ++l) some[l - n] = numbers[l];
    return Lanes::Load(some);
  }

  int size_ = 0;
  // Eight copies of cbar, shifted so that all loads are aligned: entry [s][16 +
  // s + j] is cbar_j.
  alignas(64) double shifted_[8][kNumShifted];
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_COTANGENTS_H_
