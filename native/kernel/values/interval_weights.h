// The weights of an interval: integrals of Poisson weights between two points,
//
//   W_k = int_l^u w_k(y) dy = C_k(l) - C_k(u) = D_k(u) - D_k(l),
//
// where C_k is the sum of w_j over j <= k and D_k the sum over j > k. All are
// accurate relative to their own size, as no case cancels:
//   - D if D_k(l) <= 3/4 D_k(u): as D_k(l) / D_k(u) falls with k, that is
//     from some k on. D is summed downwards;
//   - below that k, C if C_k(u) <= 3/4 C_k(l), summed upwards: up to some k;
//   - between the two, the interval is narrow: w_k(y) changes by less than a
//     half, and Gauss quadrature has only positive terms.

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

// One end of an interval: x, its block and the Poisson weight at the block's
// first step.
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
    // The ends are scaled first, so that the difference of tiny ends does not
    // underflow.
    const int64_t e = ExponentOf(upper.x);
    width_ = Normalized(
        Scaled<double>{ScaleBy(upper.x, -e) - ScaleBy(lower.x, -e), e});
    relative_width_ = width_.mantissa / ScaleBy(lower.x, -width_.exponent);
    has_nodes_ = false;
    // The ratio w_k(l) / w_k(u) = exp(u - l) (l / u)^k is below 2^-64 from
    // lower_end_ on and above 2^64 before upper_begin_: there the smaller
    // weight is negligible.
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

  // Returns a bound on the sum of W_k over the blocks from `block` on, which
  // must begin above the upper end. Its mantissa is negative if memory does not
  // suffice.
  Scaled<double> TailBound(int64_t block) {
    if (!upper_.Reach(block)) return {-1.0, 0};
    return TimesWidth(upper_.TailBound(block));
  }
  // Returns a bound on the sum of W_k over the blocks before `block`, which
  // must begin below the lower end. Its mantissa is negative if memory does not
  // suffice.
  Scaled<double> HeadBound(int64_t block) {
    if (!lower_.Reach(block)) return {-1.0, 0};
    return TimesWidth(lower_.HeadBound(block));
  }

  // Calls visit(b, j, W_k) with k = 16 b + j for all k in the blocks `first` to
  // `last`, which must include those of both ends.
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

  // Returns the block from which on weights are negligible in the sums D_k, for
  // all k up to block `last`; -1 if memory does not suffice.
  int64_t EndOfSums(int64_t last) {
    int64_t end = last + 1;
    if (!upper_.Reach(end)) return -1;
    while (!IsAtMost(upper_.TailBound(end), -64, upper_.At(last + 1))) {
      if (!upper_.Reach(++end)) return -1;
    }
    return end;
  }

  // Returns the block below which weights are negligible in the sums C_k, for
  // all k from block `first` on; -1 if memory does not suffice.
  int64_t BeginOfSums(int64_t first) {
    int64_t begin = first;
    while (!IsAtMost(lower_.HeadBound(begin), -64, lower_.At(first))) {
      if (!lower_.Reach(--begin)) return -1;
    }
    return begin;
  }

  // Computes W_k from the sums D_k, downwards as far as that is accurate.
  // Returns the largest k that remains.
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

  // Computes W_k for k <= split: from the sums C_k, upwards as far as that is
  // accurate, and then by quadrature.
  template <class Visit>
  void RunUp(int64_t first, int64_t begin, int64_t split, Visit&& visit) {
    Scaled<double> below;  // C_k(u)
    Scaled<double> above;  // C_k(l)
    Scaled<double> lower[kBlock];
    Scaled<double> upper[kBlock];
    double means[kBlock];  // means of w_k(y) / w_k(l)
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

  // Exponents are equal in most blocks, which is the fast case.
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

  // Computes the means over the interval of w_k(y) / w_k(l) = (y / l)^k exp(l -
  // y), for sixteen k from `k` on, by Gauss quadrature.
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
  int64_t lower_end_ = 0;        // from there on w_k(l) is negligible
  int64_t upper_begin_ = 0;      // before it w_k(u) is negligible
  bool has_nodes_ = false;
  double shifts_[kNodes] = {};
  double ratios_[kNodes] = {};
  double logs_[kNodes] = {};
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_VALUES_INTERVAL_WEIGHTS_H_
