// Computes the cotangents of the terms a_k and b_k of the power sequence,
// summed over all functions (density, survival and cdf).

#ifndef PHASIC_NATIVE_KERNEL_SWEEPS_TERM_ADJOINTS_H_
#define PHASIC_NATIVE_KERNEL_SWEEPS_TERM_ADJOINTS_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/cotangents/interval_terms.h"
#include "native/kernel/cotangents/term_sums.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/sweeps/point_seeds.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/sequence.h"
#include "native/kernel/values/interval_weights.h"

namespace phasic {
namespace PHASIC_ISA {

template <class T>
class TermAdjoints {
 public:
  TermAdjoints(const PointSeeds<T>& seeds, Sequence<T>* sequence,
               Workspace* workspace)
      : seeds_(seeds),
        sequence_(*sequence),
        interval_weights_(workspace),
        sums_{{sequence, Base::kDensity, workspace},
              {sequence, Base::kSurvival, workspace},
              {sequence, Base::kCdf, workspace}} {}

  // Computes the cotangents of all terms. The truncation error at each time is
  // below 2^-margin * |cotangent * value|.
  StatusCode Mix(int64_t margin) {
    num_blocks_ = 0;
    for (TermSums<T>& sums : sums_) sums.Start(margin);
    StatusCode status = AddGroups(seeds_.groups(), sequence_, margin, sums_);
    for (int i = 0; i < kNumBases && status == kOk; ++i) {
      const auto base = static_cast<Base>(i);
      status = sums_[i].AddPoints(seeds_.of(base), seeds_.count(base));
    }
    if (status != kOk) return status;
    status = MixIntervals();
    for (const TermSums<T>& sums : sums_) {
      num_blocks_ = std::max(num_blocks_, sums.blocks().count());
    }
    return status;
  }

  int64_t last_block() const { return num_blocks_ - 1; }
  bool has_survival() const { return seeds_.HasTerms(Base::kSurvival); }

  // Returns a bound on the truncation error, summed over all points and
  // functions; see TermSums::tail.
  Scaled<double> tail() const {
    Scaled<double> sum;
    for (const TermSums<T>& sums : sums_) Add(&sum, sums.tail());
    return sum;
  }

  // Returns whether a number was flushed to zero in the cotangents of block b.
  bool HasLosses(int64_t b) const {
    for (const TermSums<T>& sums : sums_) {
      if (sums.blocks().HasLosses(b)) return true;
    }
    return false;
  }

  // Computes the cotangents of the terms a_k and b_k of block b, relative to
  // 2^e, and returns e. Blocks must be requested in descending order.
  int64_t Get(int64_t b, T* a_bar, T* b_bar) {
    int64_t exponent = kNone;
    for (TermSums<T>& sums : sums_) {
      if (b >= sums.blocks()->count()) continue;
      if (exponent == kNone) {
        exponent = sums.blocks()->Get(b, a_bar, b_bar);
        continue;
      }
      T more_a[kBlock];
      T more_b[kBlock];
      const int64_t other = sums.blocks()->Get(b, more_a, more_b);
      const int64_t larger = std::max(exponent, other);
      for (int k = 0; k < kBlock; ++k) {
        a_bar[k] = ScaleBy(a_bar[k], exponent - larger) +
                   ScaleBy(more_a[k], other - larger);
        b_bar[k] = ScaleBy(b_bar[k], exponent - larger) +
                   ScaleBy(more_b[k], other - larger);
      }
      exponent = larger;
    }
    return exponent;
  }

 private:
  StatusCode MixIntervals() {
    IntervalTerms<T> terms(&interval_weights_,
                           &sums_[static_cast<int>(Base::kDensity)],
                           sequence_.model());
    for (int64_t i = 0; i < seeds_.num_intervals(); ++i) {
      const StatusCode status = terms.Add(seeds_.interval(i));
      if (status != kOk) return status;
    }
    return kOk;
  }

  static constexpr int64_t kNone = INT64_MIN;

  const PointSeeds<T>& seeds_;
  const Sequence<T>& sequence_;
  IntervalWeights interval_weights_;
  TermSums<T> sums_[kNumBases];
  int64_t num_blocks_ = 0;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_SWEEPS_TERM_ADJOINTS_H_
