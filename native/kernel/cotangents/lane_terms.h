// The transpose of LaneMixer (lane_mixture.h): adds the contributions of eight
// times at once, in SIMD lanes, to the cotangents of the coefficients of
// Poisson mixtures. Weights and values must be far from overflow and underflow.

#ifndef PHASIC_NATIVE_KERNEL_COTANGENTS_LANE_TERMS_H_
#define PHASIC_NATIVE_KERNEL_COTANGENTS_LANE_TERMS_H_

#include <cstdint>

#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"
#include "native/kernel/uniformization/lane_mixture.h"
#include "native/kernel/uniformization/point.h"
#include "native/kernel/uniformization/poisson.h"

namespace phasic {
namespace PHASIC_ISA {

// The powers (x / c)^j of eight times x, for the indices j of a block whose
// Poisson table has the center c. AddTo sums them over the times, with a factor
// for each time.
class LanePowers {
 public:
  using Lanes = Pack<kLanes>;

  // The factors of lanes from `count` on must be zero.
  LanePowers(const Lanes& x, int64_t count) : x_(x), count_(count) {
    // AddTo processes lanes in pairs. If the count is odd, the last pair needs
    // a lane of zeros.
    if (count % 2 == 0) return;
    for (double& power : powers_[count]) power = 0.0;
  }

  void Center(int64_t center_exponent) {
    if (center_exponent == center_exponent_) return;
    center_exponent_ = center_exponent;
    const Lanes ratio = PowerOfTwo(-center_exponent) * x_;
    Lanes power(1.0);
    for (int j = 0; j < kBlock; ++j) {
      double column[kLanes];
      power.Store(column);
      for (int64_t l = 0; l < count_; ++l) powers_[l][j] = column[l];
      power = power * ratio;
    }
    power_ = power;
    for (int l = 0; l < Lanes::kParts; ++l) {
      inverse_power_.parts[l] = 1.0 / power_.parts[l];
    }
  }
  const Lanes& power() const { return power_; }
  const Lanes& inverse_power() const { return inverse_power_; }

  // Computes sums[j] += sum_l factors[l] * powers[l][j].
  void AddTo(const Lanes& factors, double* sums) const {
    double factor[kLanes];
    factors.Store(factor);
    for (int j = 0; j < kBlock; j += 8) {
      Pack<8> even = Pack<8>::Load(sums + j);
      Pack<8> odd(0.0);
      for (int64_t l = 0; l < count_; l += 2) {
        even.AddProduct(factor[l], Pack<8>::Load(powers_[l] + j));
        odd.AddProduct(factor[l + 1], Pack<8>::Load(powers_[l + 1] + j));
      }
      (even + odd).Store(sums + j);
    }
  }

 private:
  Lanes x_;
  const int64_t count_;
  Lanes power_;
  Lanes inverse_power_;
  int64_t center_exponent_ = -1;
  double powers_[kLanes][kBlock];
};

// One time, and the factor by which its Poisson weights are multiplied when
// they are added to the cotangents of the coefficients.
struct LaneSeed {
  double x;
  double start_weight;
  int64_t start;
  double factor;  // its cotangent, relative to 2^exponent
  // The Poisson weights from index k on may be dropped if (k + 1) times their
  // sum is less than this.
  double threshold;
};

// Adds the Poisson weights of eight times to the cotangents of the
// coefficients, block by block. The weights of each time are multiplied by its
// factor. `Blocks` has the functions
//   const PoissonTable* Reserve(b): returns the Poisson table of block b, or
//     nullptr if the block is not available;
//   double* Sums(b, exponent, &scale): see TermBlocks::Sums.
template <class Blocks>
class LaneTerms {
 public:
  using Lanes = Pack<kLanes>;
  using Mask = Lanes::Mask;
  static constexpr double kSmallestWeight = 0x1p-900;

  // The entries of `seeds` from `count` on must be copies of others, with the
  // factor zero.
  LaneTerms(Blocks* blocks, const LaneSeed* seeds, int64_t count,
            int64_t exponent)
      : blocks_(*blocks), exponent_(exponent), powers_(Xs(seeds), count) {
    double fields[4][kLanes];
    for (int l = 0; l < kLanes; ++l) {
      fields[0][l] = seeds[l].start_weight;
      fields[1][l] = static_cast<double>(seeds[l].start);
      fields[2][l] = seeds[l].factor;
      fields[3][l] = seeds[l].threshold;
      first_ = seeds[l].start < first_ ? seeds[l].start : first_;
      last_ = seeds[l].start > last_ ? seeds[l].start : last_;
    }
    x_ = Xs(seeds);
    start_weights_ = Lanes::Load(fields[0]);
    start_blocks_ = Lanes::Load(fields[1]);
    factors_ = Lanes::Load(fields[2]);
    thresholds_ = Lanes::Load(fields[3]);
  }

  // Adds all weights. Returns whether all blocks were available. A lane stops
  // on its way to lower blocks when its weights become too small; see
  // `pending`.
  bool Run() { return WalkUp() && WalkDown(); }

  // Returns a bound on the truncation error: the sum over the lanes of |factor|
  // times a bound on the sum of the lane's dropped weights.
  double tail() const { return (Sizes(factors_) * tails_).Total(); }
  // Returns the block at which lane l stopped: the weights of all blocks before
  // it were not added. Returns 0 if all weights were added. pending_weight
  // returns the weight of the first index of that block.
  int64_t pending(int l) const { return pending_[l]; }
  double pending_weight(int l) const { return pending_weights_[l]; }

 private:
  static Lanes Xs(const LaneSeed* seeds) {
    double x[kLanes];
    for (int l = 0; l < kLanes; ++l) x[l] = seeds[l].x;
    return Lanes::Load(x);
  }

  static Lanes Sizes(const Lanes& x) {
    return Select(x < Lanes(0.0), Lanes(0.0) - x, x);
  }

  bool WalkUp() {
    Mask open = Lanes(0.0) < Lanes(1.0);
    Lanes weights = start_weights_;
    const Lanes stop_weights = 0x1p-40 * start_weights_;
    for (int64_t b = first_;; ++b) {
      const Mask started = start_blocks_ < Lanes(static_cast<double>(b) + 0.5);
      const Mask small = open & (weights < stop_weights);
      if (Any(small)) {
        const double k = static_cast<double>(b * kBlock);
        const Lanes gap = Lanes(1.0) - (1.0 / (k + 1.0)) * x_;
        const Mask stop = small & (Lanes(0.0) < gap) &
                          ((k + 1.0) * weights <= thresholds_ * gap);
        Lanes tails;
        for (int l = 0; l < Lanes::kParts; ++l) {
          tails.parts[l] = weights.parts[l] / gap.parts[l];
        }
        tails_ = Select(stop, tails, tails_);
        open = open & ~stop;
        if (!Any(open)) return true;
      }
      const PoissonTable* poisson = blocks_.Reserve(b);
      if (poisson == nullptr) return false;
      const Mask included = open & started;
      powers_.Center(poisson->center_exponent);
      AddBlock(b, Select(included, weights, Lanes(0.0)));
      weights =
          Select(included, weights * (poisson->table[kBlock] * powers_.power()),
                 weights);
    }
  }

  bool WalkDown() {
    Mask open = Lanes(0.0) < Lanes(1.0);
    Lanes weights = start_weights_;
    for (int64_t b = last_; b > 0; --b) {
      const Mask included =
          open & (Lanes(static_cast<double>(b) - 0.5) < start_blocks_);
      const PoissonTable* before = blocks_.Reserve(b - 1);
      if (before == nullptr) return false;
      powers_.Center(before->center_exponent);
      const Lanes next =
          weights * (before->last_inverse * powers_.inverse_power());
      const Mask tiny = included & (next < Lanes(kSmallestWeight));
      if (Any(tiny)) {
        for (int l = 0; l < kLanes; ++l) {
          if (!tiny[l]) continue;
          pending_[l] = b;
          pending_weights_[l] = weights[l];
        }
        open = open & ~tiny;
        if (!Any(open)) return true;
      }
      weights = Select(included, next, weights);
      AddBlock(b - 1, Select(included & ~tiny, weights, Lanes(0.0)));
    }
    return true;
  }

  void AddBlock(int64_t b, const Lanes& weights) {
    double scale = 1.0;
    double* sums = blocks_.Sums(b, exponent_, &scale);
    powers_.AddTo(scale * (weights * factors_), sums);
  }

  Blocks& blocks_;
  const int64_t exponent_;
  LanePowers powers_;
  Lanes x_;
  Lanes start_weights_;
  Lanes start_blocks_;
  Lanes factors_;
  Lanes thresholds_;
  Lanes tails_ = Lanes(0.0);
  int64_t first_ = INT64_MAX;
  int64_t last_ = 0;
  int64_t pending_[kLanes] = {};
  double pending_weights_[kLanes] = {};
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_COTANGENTS_LANE_TERMS_H_
