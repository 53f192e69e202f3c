// The weights of an interval: the integrals of Poisson weights from l to u,
//
//   W_k = int_l^u w_k(y) dy = C_k(l) - C_k(u) = D_k(u) - D_k(l),
//
// where C_k is the sum of w_j over j <= k and D_k the sum over j > k. Each W_k
// is accurate relative to its own size, as nothing cancels in the method that
// is used for its k:
//   - D_k(u) - D_k(l) where D_k(l) <= 3/4 D_k(u). The ratio D_k(l) / D_k(u)
//     falls with k, so that this holds from some k on. The sums D_k are
//     computed downwards.
//   - For smaller k, C_k(l) - C_k(u) where C_k(u) <= 3/4 C_k(l), which holds up
//     to some k. The sums C_k are computed upwards.
//   - For all k between these, Gauss quadrature, whose terms are positive. The
//     interval is then so narrow that w_k(y) changes by less than a half.

#ifndef PHASIC_NATIVE_KERNEL_VALUES_INTERVAL_WEIGHTS_H_
#define PHASIC_NATIVE_KERNEL_VALUES_INTERVAL_WEIGHTS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/api/sweep.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/runtime/workspace.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/poisson.h"
#include "native/kernel/uniformization/poisson_starts.h"

namespace phasic {
namespace PHASIC_ISA {

// One end of an interval: x, the block that contains floor(x), and the Poisson
// weight of the first index of that block.
struct IntervalEnd {
  double x;
  int64_t start;
  Scaled<double> start_weight;
};

class IntervalWeights {
 public:
  explicit IntervalWeights(Workspace* workspace)
      : lower_(&tables_, workspace), upper_(&tables_, workspace) {}

  // Sets the ends of the interval, where 0 <= lower < upper. Returns
  // kMemoryLimit if memory does not suffice.
  StatusCode Begin(const IntervalEnd& lower, const IntervalEnd& upper) {
    // Scales the ends before subtracting them, so that the difference of tiny
    // ends does not underflow.
    const int64_t e = ExponentOf(upper.x);
    width_ = Normalized(
        Scaled<double>{ScaleBy(upper.x, -e) - ScaleBy(lower.x, -e), e});
    relative_width_ = width_.mantissa / ScaleBy(lower.x, -width_.exponent);
    has_nodes_ = false;
    // The ratio w_k(l) / w_k(u) = exp(u - l) (l / u)^k falls with k. It is
    // below 2^-64 from block lower_end_ on, and above 2^64 before block
    // upper_begin_. There the smaller of the two weights is negligible.
    const double width = ToPlain(width_);
    const double slope = std::log1p(relative_width_);
    lower_end_ = BlockAfter((width + kFar) / slope);
    upper_begin_ = BlockAfter((width - kFar) / slope - kBlock);
    const bool fits = lower_.Begin(lower.x, lower.start, lower.start_weight) &&
                      upper_.Begin(upper.x, upper.start, upper.start_weight);
    return fits ? kOk : kMemoryLimit;
  }

  // Returns the width u - l in units of x.
  const Scaled<double>& width() const { return width_; }

  // Returns a bound on the sum of W_k over `block` and all later blocks. The
  // block must begin above u. The result is negative if memory does not
  // suffice.
  Scaled<double> TailBound(int64_t block) {
    if (!upper_.Reach(block)) return {-1.0, 0};
    return TimesWidth(upper_.TailBound(block));
  }
  // Returns a bound on the sum of W_k over all blocks before `block`. The block
  // must begin below l. The result is negative if memory does not suffice.
  Scaled<double> HeadBound(int64_t block) {
    if (!lower_.Reach(block)) return {-1.0, 0};
    return TimesWidth(lower_.HeadBound(block));
  }

  // Calls visit(b, j, W_k) with k = 16 b + j for all k in the blocks `first` to
  // `last`. They must include the blocks of both ends.
  template <class Visit>
  StatusCode Run(int64_t first, int64_t last, Visit&& visit) {
    const int64_t end = EndOfSums(last);
    if (end < 0 || !lower_.Reach(std::min(end, lower_end_) - 1) ||
        !lower_.Reach(first) || !upper_.Reach(std::max(first, upper_begin_))) {
      return kMemoryLimit;
    }
    const int64_t split = RunDown(first, last, end, visit);
    if (split < first * kBlock) return kOk;
    const int64_t begin = BeginOfSums(first);
    if (begin < 0 || !upper_.Reach(std::max(begin, upper_begin_))) {
      return kMemoryLimit;
    }
    RunUp(first, begin, split, visit);
    return kOk;
  }

 private:
  static constexpr double kFar = 45.0;  // exp(-45) is below 2^-64
  static constexpr int kNodes = 6;

  static int64_t BlockAfter(double k) {
    if (!(k >= 0.0)) return 0;
    return k < 1e15 ? static_cast<int64_t>(k) / kBlock + 1 : INT64_MAX / 2;
  }

  Scaled<double> TimesWidth(const Scaled<double>& x) const {
    return {x.mantissa * width_.mantissa, x.exponent + width_.exponent};
  }

  // Returns a block `end` after block `last`. The weights of block `end` and
  // all later blocks are negligible in the sums D_k for all k in blocks up to
  // `last`. Returns -1 if memory does not suffice.
  int64_t EndOfSums(int64_t last) {
    int64_t end = last + 1;
    if (!upper_.Reach(end)) return -1;
    while (!IsAtMost(upper_.TailBound(end), -64, upper_.At(last + 1))) {
      if (!upper_.Reach(++end)) return -1;
    }
    return end;
  }

  // Returns a block `begin` up to block `first`. The weights of all blocks
  // before `begin` are negligible in the sums C_k for all k in block `first`
  // and later blocks. Returns -1 if memory does not suffice.
  int64_t BeginOfSums(int64_t first) {
    int64_t begin = first;
    while (!IsAtMost(lower_.HeadBound(begin), -64, lower_.At(first))) {
      if (!lower_.Reach(--begin)) return -1;
    }
    return begin;
  }

  // Visits W_k = D_k(u) - D_k(l) from the last k downwards, as long as this
  // difference is accurate. Returns the largest k that was not visited, or -1
  // if all were.
  template <class Visit>
  int64_t RunDown(int64_t first, int64_t last, int64_t end, Visit&& visit) {
    Scaled<double> below;  // D_k(l)
    Scaled<double> above;  // D_k(u)
    Scaled<double> lower[kBlock];
    Scaled<double> upper[kBlock];
    for (int64_t b = end - 1; b >= first; --b) {
      const bool has_lower = b < lower_end_;
      const bool has_upper = b >= upper_begin_;
      if (has_lower) lower_.Weights(b, lower);
      if (has_upper) upper_.Weights(b, upper);
      for (int j = kBlock - 1; j >= 0; --j) {
        if (b <= last) {
          if (!IsApart(below, above)) return b * kBlock + j;
          visit(b, j, Difference(above, below));
        }
        if (has_upper) AddTo(upper[j], &above);
        if (has_lower) AddTo(lower[j], &below);
      }
    }
    return -1;
  }

  // Visits W_k for all k <= split, upwards: W_k = C_k(l) - C_k(u) as long as
  // this difference is accurate, and then by quadrature.
  template <class Visit>
  void RunUp(int64_t first, int64_t begin, int64_t split, Visit&& visit) {
    Scaled<double> below;  // C_k(u)
    Scaled<double> above;  // C_k(l)
    Scaled<double> lower[kBlock];
    Scaled<double> upper[kBlock];
    double means[kBlock];  // means over y of w_k(y) / w_k(l)
    for (int64_t b = begin; b * kBlock <= split; ++b) {
      const bool has_upper = b >= upper_begin_;
      bool has_means = false;
      lower_.Weights(b, lower);
      if (has_upper) upper_.Weights(b, upper);
      for (int j = 0; j < kBlock && b * kBlock + j <= split; ++j) {
        AddTo(lower[j], &above);
        if (has_upper) AddTo(upper[j], &below);
        if (b < first) continue;
        if (IsApart(below, above)) {
          visit(b, j, Difference(above, below));
          continue;
        }
        if (!has_means) Average(static_cast<double>(b * kBlock), means);
        has_means = true;
        visit(b, j,
              TimesWidth({lower[j].mantissa * means[j], lower[j].exponent}));
      }
    }
  }

  static bool IsApart(const Scaled<double>& below,
                      const Scaled<double>& above) {
    return IsAtMost({below.mantissa * (4.0 / 3.0), below.exponent}, 0, above);
  }

  static Scaled<double> Difference(const Scaled<double>& above,
                                   const Scaled<double>& below) {
    const int64_t shift = below.exponent - above.exponent;
    if (below.mantissa == 0.0 || shift < -700) return above;
    return {above.mantissa - ScaleBy(below.mantissa, shift), above.exponent};
  }

  // In most blocks the exponents are equal, so that this case comes first.
  static void AddTo(const Scaled<double>& term, Scaled<double>* sum) {
    const int64_t shift = term.exponent - sum->exponent;
    if (shift == 0) {
      sum->mantissa += term.mantissa;
    } else if (sum->mantissa == 0.0) {
      *sum = term;
    } else if (shift > 0) {
      const double old = shift > 900 ? 0.0 : ScaleBy(sum->mantissa, -shift);
      *sum = {old + term.mantissa, term.exponent};
    } else if (shift > -900) {
      sum->mantissa += ScaleBy(term.mantissa, shift);
    }
  }

  // Computes the means of w_k(y) / w_k(l) = (y / l)^k exp(l - y) over l < y <
  // u, for sixteen indices from `k` on, by Gauss quadrature.
  void Average(double k, double* means) {
    static constexpr double kPlaces[kNodes] = {
        0.033765242898423986, 0.16939530676686774, 0.38069040695840155,
        0.61930959304159845,  0.83060469323313226, 0.96623475710157601};
    static constexpr double kShares[kNodes] = {
        0.085662246189585173, 0.18038078652406930, 0.23395696728634552,
        0.23395696728634552,  0.18038078652406930, 0.085662246189585173};
    if (!has_nodes_) {
      const double width = ToPlain(width_);
      for (int g = 0; g < kNodes; ++g) {
        shifts_[g] = kPlaces[g] * width;
        ratios_[g] = kPlaces[g] * relative_width_;
        logs_[g] = std::log1p(ratios_[g]);
      }
      has_nodes_ = true;
    }
    for (int j = 0; j < kBlock; ++j) means[j] = 0.0;
    for (int g = 0; g < kNodes; ++g) {
      double term = kShares[g] * std::exp(k * logs_[g] - shifts_[g]);
      for (int j = 0; j < kBlock; ++j) {
        means[j] += term;
        term += term * ratios_[g];
      }
    }
  }

  PoissonTableCache tables_;
  PoissonStarts lower_;
  PoissonStarts upper_;
  Scaled<double> width_;
  double relative_width_ = 0.0;  // relative to the lower end
  int64_t lower_end_ = 0;        // first block where w_k(l) is negligible
  int64_t upper_begin_ = 0;      // w_k(u) is negligible before this block
  bool has_nodes_ = false;
  double shifts_[kNodes] = {};
  double ratios_[kNodes] = {};
  double logs_[kNodes] = {};
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_VALUES_INTERVAL_WEIGHTS_H_
