// The transposed mixture for groups of times that share an expansion point. The
// cotangent cbar_j of c_j(x_0) is the sum over the times of the cotangent of F
// times exp(-d) d^j / j!. The cotangents of the terms are abar_{k+j} +=
// w_k(x_0) cbar_j. All functions at an expansion point share its weights.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_SUMS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_SUMS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/cotangents/term_sums.h"
#include "native/kernel/methods/many_times/node_cotangents.h"
#include "native/kernel/methods/many_times/node_rests.h"
#include "native/kernel/methods/many_times/node_seeds.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/poisson.h"
#include "native/kernel/uniformization/window.h"
#include "native/kernel/values/points.h"

namespace phasic {
namespace PHASIC_ISA {

// One group of times at an expansion point, and the sums to which its
// contribution is added.
struct NodePart {
  const NodeSeed* seed;
  TermSums<double>* sums;
  int64_t log2_bound = 0;  // log2 of a bound on the terms
  int64_t exponent = 0;    // the cotangents of c_j are relative to 2^this
  int size = 0;            // the number J of cotangents cbar_j
  double log2_value = 0;   // log2 of F at the end
  double log2_rest = 0;    // see NodeRests
  Scaled<double> rest;     // bound on the truncated weights
  NodeCotangents bars;

  // Returns a bound on the sum of the absolute cotangents.
  double seed_size() const { return 0x1p6 * seed->bar_size; }
};

// Adds the cotangents of all groups at one expansion point to the sums of their
// functions (density, survival or cdf).
class NodeSums {
 public:
  NodeSums(const SweepInput& in, const Sequence<double>& sequence,
           int64_t margin, TermSums<double>* sums)
      : in_(in), sequence_(sequence), margin_(margin), sums_(sums) {}

  // Adds `count` groups. All must have the same expansion point and different
  // functions.
  StatusCode Add(const NodeSeed* const* seeds, int count) {
    num_parts_ = 0;
    for (int i = 0; i < count; ++i) {
      NodePart& part = parts_[num_parts_];
      part.seed = seeds[i];
      const Base base = BaseOf(seeds[i]->kind);
      part.sums = &sums_[static_cast<int>(base)];
      part.log2_bound = base == Base::kDensity ? sequence_.model().log2_q : 0;
      part.exponent = IsLog(seeds[i]->kind) ? -seeds[i]->exponent : 0;
      if (margin_ != kFinalMargin && ChooseSize(&part)) {
        ++num_parts_;
        continue;
      }
      const StatusCode status = AddOneByOne(part);
      if (status != kOk) return status;
    }
    if (num_parts_ == 0) return kOk;
    PoissonWalk walk(parts_[0].seed->start);
    const Scaled<double> weight =
        StartWeight(parts_[0].seed->start, &first_block_);
    if (FindEnd(&walk, weight)) {
      for (int i = 0; i < num_parts_; ++i) {
        parts_[i].bars.Sum(*parts_[i].seed, parts_[i].size);
      }
      const StatusCode status = WalkWindow(first_block_, weight, &walk, this);
      for (int i = 0; i < num_parts_; ++i) AddTails(parts_[i]);
      return status;
    }
    for (int i = 0; i < num_parts_; ++i) {
      const StatusCode status = AddOneByOne(parts_[i]);
      if (status != kOk) return status;
    }
    return kOk;
  }

  // The functions that WalkWindow calls.
  StatusCode Reserve(int64_t b) {
    StatusCode status = kOk;
    for (int i = 0; i < num_parts_; ++i) {
      const NodePart& part = parts_[i];
      if (!part.sums->blocks()->Reserve(part.bars.LastBlock(b), &status)) {
        return status;
      }
    }
    return kOk;
  }
  const PoissonTable& Table(int64_t b) const {
    return parts_[0].sums->blocks()->Table(b);
  }
  StatusCode EndsAt(int64_t b, const Scaled<double>&, const PoissonWalk&,
                    bool* ends) {
    *ends = b == end_block_;
    return kOk;
  }
  bool EndsBefore(int64_t b, const Scaled<double>& weight,
                  const PoissonWalk& walk) const {
    return IsInvisible(walk.HeadBound(b, weight));
  }
  // Adds the contributions of the weights in block b.
  Scaled<double> Include(int64_t b, const Scaled<double>& weight,
                         PoissonWalk* walk) {
    const PoissonTable& poisson = Table(b);
    return walk->Up(
        b, poisson, weight,
        [&](int first, int end, const Scaled<double>& scale,
            const double* powers) {
          double weights[kBlock] = {};
          for (int j = first; j < end; ++j) {
            weights[j] = scale.mantissa * (powers[j] * poisson.table[j]);
          }
          for (int i = 0; i < num_parts_; ++i) {
            const NodePart& part = parts_[i];
            part.bars.AddProducts(b, weights, scale.exponent + part.exponent,
                                  part.sums);
          }
        });
  }

 private:
  // Chooses J, the number of cotangents cbar_j; returns whether some J is
  // accurate enough. J is at least the number of terms of F: then the
  // truncation error grows faster with d than F does.
  bool ChooseSize(NodePart* part) const {
    const NodeSeed& seed = *part->seed;
    const double end = seed.start + kNodeSpacing;
    part->log2_value = std::log2(seed.last) - kNodeSpacing * kLog2E +
                       static_cast<double>(seed.exponent);
    const double most =
        part->log2_value - static_cast<double>(margin_ + part->log2_bound);
    for (part->size = (seed.num_terms + 7) / 8 * 8; part->size <= kMaxNodeSums;
         part->size += 8) {
      part->log2_rest = NodeRests::Get().Log2(part->size, end);
      if (part->log2_rest + std::log2(end + part->size + 1.0) <= most) {
        return true;
      }
    }
    return false;
  }

  // Computes the block where the summation over k ends. Returns whether all
  // blocks that are needed are available.
  bool FindEnd(PoissonWalk* walk, Scaled<double> weight) {
    const auto ignore = [](int, int, const Scaled<double>&, const double*) {};
    end_block_ = first_block_;
    Scaled<double> rest;
    while (weight.mantissa != 0.0) {
      if (end_block_ + kMaxNodeSums / kBlock >= sequence_.max_blocks()) {
        return false;
      }
      weight = walk->Up(end_block_, PoissonTableOf(end_block_), weight, ignore);
      rest = walk->TailBound(++end_block_, weight);
      if (IsSmall(rest)) break;
    }
    for (int i = 0; i < num_parts_; ++i) parts_[i].rest = rest;
    return true;
  }

  // Returns whether `rest`, the sum of the weights from end_block_ on, is
  // negligible for all groups.
  bool IsSmall(const Scaled<double>& rest) const {
    const auto k = static_cast<double>(end_block_ * kBlock);
    return std::all_of(parts_, parts_ + num_parts_, [&](const NodePart& part) {
      return IsAtMost({rest.mantissa * 2.0 * (k + part.size + 1.0),
                       rest.exponent + part.log2_bound},
                      -margin_,
                      {0x1p-6 * part.seed->first, part.seed->exponent});
    });
  }

  // Returns whether the contribution of the weights of the first steps, whose
  // sum is `head`, underflows for all groups.
  bool IsInvisible(const Scaled<double>& head) const {
    for (int i = 0; i < num_parts_; ++i) {
      const NodePart& part = parts_[i];
      const int64_t exponent = head.exponent + part.exponent + part.log2_bound;
      if (Normalized(Scaled<double>{head.mantissa * part.seed_size(), exponent})
              .exponent >= -kFinalMargin) {
        return false;
      }
    }
    return true;
  }

  static void AddTails(const NodePart& part) {
    const NodeSeed& seed = *part.seed;
    part.sums->AddTail({part.rest.mantissa * part.seed_size(),
                        part.rest.exponent + part.exponent});
    // The truncation error for j >= J relative to F is largest at the end of
    // the group's interval.
    const double log2_ratio =
        std::max(part.log2_rest - part.log2_value, -1000.0);
    const auto whole = static_cast<int64_t>(std::floor(log2_ratio));
    part.sums->AddTail(
        {std::exp2(log2_ratio - static_cast<double>(whole)) * seed.share_size,
         whole + seed.exponent + part.exponent});
  }

  StatusCode AddOneByOne(const NodePart& part) const {
    const NodeSeed& seed = *part.seed;
    constexpr int64_t kCount = 64;
    for (int64_t n = 0; n < seed.count; n += kCount) {
      const int64_t count = std::min(kCount, seed.count - n);
      Point<double> points[kCount];
      Point<double>* pointers[kCount];
      for (int64_t i = 0; i < count; ++i) {
        const int64_t time = seed.times[n + i];
        Point<double>& point = points[i];
        PreparePoint(in_, time, sequence_, &point);
        // A time of a group is summed by steps, even if it would be squared
        // alone.
        if (point.by_squaring && !StartSeries(sequence_, time, &point)) {
          return kWorkLimit;
        }
        const double distance = point.x - seed.start;
        point.value = {seed.sums[n + i] * std::exp(-distance), seed.exponent};
        const double cotangent = in_.cotangent[time];
        point.seed = {
            point.is_log ? cotangent / point.value.mantissa : cotangent,
            part.exponent};
        pointers[i] = &point;
      }
      const StatusCode status = part.sums->AddPoints(pointers, count);
      if (status != kOk) return status;
    }
    return kOk;
  }

  const SweepInput& in_;
  const Sequence<double>& sequence_;
  const int64_t margin_;
  TermSums<double>* sums_;  // by base
  int64_t first_block_ = 0;
  int64_t end_block_ = 0;
  int num_parts_ = 0;
  NodePart parts_[kNumBases];
};

// Adds all groups of times to the sums of their functions. With dual numbers
// there are no groups.
template <class T>
inline StatusCode AddGroups(const NodeSeeds<T>&, const Sequence<T>&, int64_t,
                            TermSums<T>*) {
  return kOk;
}
inline StatusCode AddGroups(const NodeSeeds<double>& seeds,
                            const Sequence<double>& sequence, int64_t margin,
                            TermSums<double>* sums) {
  if (seeds.size() == 0) return kOk;
  NodeSums node(seeds.in(), sequence, margin, sums);
  for (int64_t n = 0; n < seeds.size();) {
    const NodeSeed* group[kNumBases];
    int count = 0;
    const int64_t first = n;
    for (; n < seeds.size() && n - first < kNumBases &&
           seeds[n].start == seeds[first].start;
         ++n) {
      if (seeds[n].count > 0) group[count++] = &seeds[n];
    }
    const StatusCode status = node.Add(group, count);
    if (status != kOk) return status;
  }
  return kOk;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_SUMS_H_
