// Poisson weights w_k(x) = exp(-x) x^k / k! in blocks of sixteen.
//
// In the block whose first index is k, w_{k+j} = w_k (x/c)^j table[j], where
// table[j] = c^j k! / (k+j)! and c is a power of two near k. The table does not
// depend on x. So the sum of a block's terms is w_k times a polynomial in x/c
// whose coefficients are the same for all times.

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_POISSON_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_POISSON_H_

#include <cmath>
#include <cstdint>

#include "native/kernel/matrix/power_block.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

struct PoissonTable {
  double table[kBlock + 1];
  double last_inverse;      // 1 / table[16]
  int64_t center_exponent;  // log2 of c
  double log_at_mean;       // log w_k(k) for the block's first index k
};

// Returns log w_k(k), by Stirling's series, for k = 0 or k >= 16.
inline double LogWeightAtMean(double k) {
  if (k == 0.0) return 0.0;
  const double r = 1.0 / (k * k);
  const double stirling_error =
      (1.0 / 12 -
       r * (1.0 / 360 -
            r * (1.0 / 1260 -
                 r * (1.0 / 1680 - r * (1.0 / 1188 - r * (691.0 / 360360)))))) /
      k;
  constexpr double kTwoPi = 6.283185307179586476925286766559;
  return -stirling_error - 0.5 * std::log(kTwoPi * k);
}

inline PoissonTable MakePoissonTable(int64_t block) {
  PoissonTable result;
  const double start = static_cast<double>(block * kBlock);
  result.center_exponent = ExponentOf(start + 0.5 * kBlock);
  const double center = PowerOfTwo(result.center_exponent);
  result.table[0] = 1.0;
  for (int j = 1; j <= kBlock; ++j) {
    result.table[j] = result.table[j - 1] * (center / (start + j));
  }
  result.last_inverse = 1.0 / result.table[kBlock];
  result.log_at_mean = LogWeightAtMean(start);
  return result;
}

// The Poisson tables of the first 128 blocks, which are computed once per
// process.
class FirstPoissonTables {
 public:
  static constexpr int64_t kCount = 128;

  static const PoissonTable& Get(int64_t block) {
    static const FirstPoissonTables tables;
    return tables.tables_[block];
  }

 private:
  FirstPoissonTables() {
    for (int64_t b = 0; b < kCount; ++b) tables_[b] = MakePoissonTable(b);
  }
  PoissonTable tables_[kCount];
};

inline PoissonTable PoissonTableOf(int64_t block) {
  return block < FirstPoissonTables::kCount ? FirstPoissonTables::Get(block)
                                            : MakePoissonTable(block);
}

// Returns a table of ones. Discrete chains use it, as their values are single
// terms without Poisson weights.
inline PoissonTable TableOfOnes() {
  PoissonTable result = {};
  for (double& entry : result.table) entry = 1.0;
  return result;
}

// The numbers 1 / (2 j + 1).
constexpr double kOddInverses[] = {1.0,      1.0 / 3,  1.0 / 5,
                                   1.0 / 7,  1.0 / 9,  1.0 / 11,
                                   1.0 / 13, 1.0 / 15, 1.0 / 17};

// Returns the deviance k log(k / x) + x - k for k > 0, computed without
// cancellation as by C. Loader, Fast and accurate computation of binomial
// probabilities, 2000.
inline double PoissonDeviance(double k, double x) {
  const double difference = k - x;
  const double ratio = difference / (k + x);
  if (!(std::fabs(ratio) < 0.1)) return k * std::log(k / x) - difference;
  // Sums the series 2 k (ratio^3 / 3 + ratio^5 / 5 + ...), of which nine terms
  // suffice for ratios below one tenth.
  const double square = ratio * ratio;
  double sum = 1.0 / 19;
  for (int j = 17; j >= 3; j -= 2) sum = sum * square + kOddInverses[j / 2];
  return difference * ratio + 2.0 * k * ratio * square * sum;
}

// Sets *block to the block that contains the index floor(x), and returns the
// Poisson weight of the first index of that block. Not inlined, so that all
// callers get the same bits; see PowerWalk::Step.
[[gnu::noinline]] inline Scaled<double> StartWeight(double x, int64_t* block) {
  *block = static_cast<int64_t>(x) / kBlock;
  const double k = static_cast<double>(*block * kBlock);
  const double log_weight =
      k == 0.0 ? -x
               : (*block < FirstPoissonTables::kCount
                      ? FirstPoissonTables::Get(*block).log_at_mean
                      : LogWeightAtMean(k)) -
                     PoissonDeviance(k, x);
  return Normalized(Scaled<double>{std::exp(log_weight), 0});
}

// Computes the Poisson weights for one x block by block, upwards or downwards.
class PoissonWalk {
 public:
  // The weights are those of x * 2^exponent, where x must be small if the
  // exponent is negative. Bounds are those of x.
  explicit PoissonWalk(double x, int64_t exponent = 0)
      : x_(x), exponent_(exponent) {}

  // Computes the weights of a block, given the weight of its first index, and
  // returns the weight of the next block's first index. Calls visit(first,
  // last, scale, powers) for one or more ranges of indices. For first <= j <
  // last, the weight of index j of the block is scale.mantissa * powers[j] *
  // table[j] * 2^scale.exponent.
  template <class Visit>
  Scaled<double> Up(int64_t block, const PoissonTable& table,
                    Scaled<double> weight, Visit&& visit) {
    Center(table.center_exponent);
    if (ratio_ >= kSmallestRatio) {
      visit(0, kBlock, weight, powers_);
      return Tamed({weight.mantissa * (powers_[kBlock] * table.table[kBlock]),
                    weight.exponent});
    }
    // If x is far below the indices, powers of x/c would underflow. Then each
    // weight is computed from the one before it.
    const double start = static_cast<double>(block * kBlock);
    for (int j = 0; j < kBlock && weight.mantissa != 0.0; ++j) {
      visit(j, j + 1,
            Scaled<double>{weight.mantissa / table.table[j], weight.exponent},
            kOnes);
      const Scaled<double> x = Normalized(Scaled<double>{x_, exponent_});
      weight = Normalized(
          Scaled<double>{weight.mantissa * (x.mantissa / (start + j + 1)),
                         weight.exponent + x.exponent});
    }
    return weight;
  }

  // Returns the weight at the first index of the previous block, given that
  // block's table.
  Scaled<double> Down(const PoissonTable& before, Scaled<double> weight) {
    Center(before.center_exponent);
    return Tamed({weight.mantissa * (last_power_inverse_ * before.last_inverse),
                  weight.exponent});
  }

  // Returns the bound w_k / (1 - x / (k + 1)) on sum_{j >= k} w_j, where k is
  // the first index of the block and w_k is given. It is infinite for k + 1 <=
  // x.
  Scaled<double> TailBound(int64_t block, const Scaled<double>& weight) const {
    const auto k = static_cast<double>(block * kBlock);
    const double gap = 1.0 - x_ / (k + 1.0);
    if (!(gap > 0.0)) return {1.0, 1 << 30};
    return {weight.mantissa / gap, weight.exponent};
  }

  // Returns the bound w_k / (x / k - 1) on sum_{j < k} w_j, likewise. It is
  // infinite for k >= x.
  Scaled<double> HeadBound(int64_t block, const Scaled<double>& weight) const {
    if (block == 0) return {0.0, 0};
    const auto k = static_cast<double>(block * kBlock);
    const double gap = x_ / k - 1.0;
    if (!(gap > 0.0)) return {1.0, 1 << 30};
    return {weight.mantissa / gap, weight.exponent};
  }

 private:
  static constexpr double kSmallestRatio = 1.52587890625e-05;  // 2^-16
  static constexpr double kOnes[kBlock + 1] = {1, 1, 1, 1, 1, 1, 1, 1, 1,
                                               1, 1, 1, 1, 1, 1, 1, 1};

  // Returns the weight, normalized only if its mantissa is far from one. So
  // weights of different blocks mostly have the same exponent, and their sums
  // need no alignment.
  static Scaled<double> Tamed(const Scaled<double>& weight) {
    const bool moderate =
        weight.mantissa > 0x1p-100 && weight.mantissa < 0x1p100;
    return moderate ? weight : Normalized(weight);
  }

  void Center(int64_t center_exponent) {
    if (center_exponent == center_exponent_) return;
    center_exponent_ = center_exponent;
    ratio_ = 0.0;
    // Powers are not used then. The ratio might underflow.
    if (x_ < kSmallestRatio * PowerOfTwo(center_exponent)) return;
    ratio_ = x_ * PowerOfTwo(-center_exponent);
    powers_[0] = 1.0;
    powers_[1] = ratio_;
    for (int j = 2; j <= kBlock; ++j) {
      powers_[j] = powers_[j / 2] * powers_[j - j / 2];
    }
    last_power_inverse_ = 1.0 / powers_[kBlock];
  }

  double x_;
  int64_t exponent_;
  double ratio_ = 0.0;
  double last_power_inverse_ = 0.0;
  int64_t center_exponent_ = -1;
  double powers_[kBlock + 1];  // filled by Center
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_POISSON_H_
