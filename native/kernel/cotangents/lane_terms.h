// The transpose of LaneMixer (lane_mixture.h): adds the contributions of eight
// times at once, in SIMD lanes, to the cotangents of the coefficients of
// Poisson mixtures. Weights and values must be far from overflow and underflow.

#ifndef PHASIC_NATIVE_KERNEL_COTANGENTS_LANE_TERMS_H_
#define PHASIC_NATIVE_KERNEL_COTANGENTS_LANE_TERMS_H_

#include <cstdint>

#include "native/kernel/cotangents/term_blocks.h"
#include "native/kernel/numbers/pack_math.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"
#include "native/kernel/uniformization/lane_window.h"
#include "native/kernel/uniformization/poisson.h"

namespace phasic {
namespace PHASIC_ISA {

// The powers (x / c)^j of eight times x, for the indices j of a block whose
// Poisson table has the center c. AddTo sums them over the times, with a factor
// for each time.
class LanePowers {
 public:
  // The factors of lanes from `count` on must be zero.
  explicit LanePowers(int64_t count) : count_(count) {
    // AddTo processes lanes in pairs. If the count is odd, the last pair needs
    // a lane of zeros.
    if (count % 2 == 0) return;
    for (double& power : powers_[count]) power = 0.0;
  }

  void Center(const Lanes& ratio) {
    Lanes power(1.0);
    for (int j = 0; j < kBlock; ++j) {
      double column[kLanes];
      power.Store(column);
      for (int64_t l = 0; l < count_; ++l) powers_[l][j] = column[l];
      power = power * ratio;
    }
  }

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
  const int64_t count_;
  double powers_[kLanes][kBlock];
};

// Times, and for each the factor by which its Poisson weights are multiplied
// when they are added to the cotangents of the coefficients.
struct LaneSeeds {
  LaneTimes times;
  int64_t count = 0;
  double factors[kLanes] = {};  // cotangents, relative to 2^exponent
  // The Poisson weights from index k on may be dropped if (k + 1) times their
  // sum is less than this.
  double thresholds[kLanes] = {};
};

// Adds the Poisson weights of eight times to the cotangents of the
// coefficients, block by block. The weights of each time are multiplied by its
// factor.
class LaneTerms {
 public:
  LaneTerms(TermBlocks<double>* blocks, const LaneSeeds& seeds,
            int64_t exponent)
      : blocks_(*blocks),
        exponent_(exponent),
        window_(seeds.times, 0x1p-40),
        powers_(seeds.count),
        factors_(Lanes::Load(seeds.factors)),
        thresholds_(Lanes::Load(seeds.thresholds)) {}

  // Adds all weights. A lane stops on its way to lower blocks when its weights
  // become too small; see `pending`.
  StatusCode Run() {
    window_.Walk(this);
    return status_;
  }

  // Returns a bound on the truncation error: the sum over the lanes of |factor|
  // times a bound on the sum of the lane's dropped weights.
  double tail() const {
    return (Lanes::LargerSize(Lanes(0.0), factors_) * tails_).Total();
  }
  // Returns the block at which lane l stopped: the weights of all blocks before
  // it were not added. Returns 0 if all weights were added. pending_weight
  // returns the weight of the first index of that block.
  int64_t pending(int l) const { return pending_[l]; }
  double pending_weight(int l) const { return pending_weights_[l]; }

  // The functions that LaneWindow calls.
  const PoissonTable* Reserve(int64_t b) {
    return blocks_.Reserve(b, &status_) ? &blocks_.Table(b) : nullptr;
  }
  void Center(const Lanes& ratio) { powers_.Center(ratio); }
  void Include(int64_t b, const Lanes& weights, const LaneMask&) {
    double scale = 1.0;
    double* sums = blocks_.Sums(b, exponent_, &scale);
    powers_.AddTo(scale * (weights * factors_), sums);
  }
  bool EndsAt(int64_t b, const Lanes& weights, const Lanes& gap,
              const LaneMask& lanes, LaneMask* stop) {
    const double k = static_cast<double>(b * kBlock);
    *stop = lanes & ((k + 1.0) * weights <= thresholds_ * gap);
    tails_ = Select(*stop, Quotient(weights, gap), tails_);
    return true;
  }
  LaneMask EndsBefore(int64_t, const Lanes&, const LaneMask&) const {
    return Lanes(1.0) < Lanes(0.0);
  }
  void Leave(int64_t b, const Lanes& weights, const LaneMask& lanes) {
    for (int l = 0; l < kLanes; ++l) {
      if (!lanes[l]) continue;
      pending_[l] = b;
      pending_weights_[l] = weights[l];
    }
  }

 private:
  TermBlocks<double>& blocks_;
  const int64_t exponent_;
  LaneWindow window_;
  LanePowers powers_;
  const Lanes factors_;
  const Lanes thresholds_;
  Lanes tails_ = Lanes(0.0);
  StatusCode status_ = kOk;
  int64_t pending_[kLanes] = {};
  double pending_weights_[kLanes] = {};
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_COTANGENTS_LANE_TERMS_H_
