// Extrapolates the later terms of a power sequence v_k = alpha P^k from earlier
// ones.
//
// As P is nonnegative, an inequality between two states holds for all later
// ones, too: from
//   v_{k+n} <= M v_k  follows  v_{k+n+j} <= M v_{k+j}  for all j >= 0,
// and the same for lower bounds (Collatz and Wielandt). For a span of n steps
// from k0 to k1, M is the largest ratio of an entry of v_{k1} to the same entry
// of v_{k0}. For the lower bound, entries that decay faster than others would
// give too small a ratio. So they are set to zero in v_{k0}. The resulting
// vector, u_{k0}, is stepped as well, u_{k+1} = u_k P, and m is the smallest
// ratio of an entry of u_{k1} to the same positive entry of u_{k0}. Then
//   m^j u_k . s  <=  v_{k+jn} . s  <=  M^j v_k . s  for k0 <= k < k1,
// and the same holds for the sums v_k . 1. So each period of n terms is
// extrapolated as the previous one times (m + M) / 2. The relative error after
// j periods is at most about (M / m)^(j/2) - 1, plus the relative difference
// between u_k . s and v_k . s. The bounds hold for every chain. If a chain has
// not reached its asymptotic decay, or if a rare state will dominate later, M /
// m is large, and nothing is extrapolated.

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_TAIL_CLOSURE_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_TAIL_CLOSURE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/model/model.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/block_list.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/power_walk.h"
#include "native/kernel/uniformization/terms.h"

namespace phasic {
namespace PHASIC_ISA {

// The largest relative error that extrapolated terms may have.
constexpr double kClosureBound = 1e-13;
// The relative rounding error of the factor by which each period is
// extrapolated from the previous one. The factor is a ratio of rounded states.
constexpr double kClosureRounding = 3 * 0x1p-52;
// Spans follow each other. The first one begins at block kFirstSpan. The first
// two have kLeastSpan blocks each, and every later one is twice as long as the
// previous one.
constexpr int64_t kFirstSpan = 48;
constexpr int64_t kLeastSpan = 16;
// Returns the block at which the span that begins at `boundary` ends.
inline int64_t NextBoundary(int64_t boundary) {
  return boundary + std::max(kLeastSpan, boundary - kFirstSpan);
}

// The inequalities hold for values but not for tangents, so that sequences with
// tangents are not extrapolated.
template <class T>
class TailClosure {
 public:
  TailClosure(const Model<T>&, bool, Workspace*) {}
};

template <>
class TailClosure<double> {
 public:
  TailClosure(const Model<double>& model, bool wants_b, Workspace* workspace)
      : model_(model),
        workspace_(workspace),
        lower_walk_(workspace),
        spans_{BlockList<Terms<double>>(workspace),
               BlockList<Terms<double>>(workspace)},
        wants_b_(wants_b) {}

  // Returns whether a block's terms can be extrapolated from earlier ones.
  bool Covers(int64_t block) const { return begin_ <= block && block < end_; }

  // Extrapolates the terms of a block for which Covers returns true. Must be
  // called in ascending order of blocks.
  void Fill(int64_t block, Terms<double>* terms) {
    const int64_t period = (block - begin_) / length_ + 1;
    for (; num_factors_ < period; ++num_factors_) {
      power_ = Normalized(Scaled<double>{power_.mantissa * factor_.mantissa,
                                         power_.exponent + factor_.exponent});
    }
    const Terms<double>& first =
        spans_[1 - current_][(block - begin_) % length_];
    // The exponent changes in multiples of 64, and so as rarely as in blocks
    // that are computed by steps.
    const int64_t rest = power_.exponent & 63;
    const double scale = power_.mantissa * PowerOfTwo(rest);
    for (int j = 0; j < kBlock; ++j) {
      terms->a[j] = scale * first.a[j];
      if (wants_b_) terms->b[j] = scale * first.b[j];
    }
    terms->exponent = first.exponent + (power_.exponent - rest);
    terms->mass = scale * first.mass;
  }

  // Returns whether one span ends and the next one begins at this block.
  bool IsBoundary(int64_t block) const { return block == boundary_; }
  int64_t boundary() const { return boundary_; }  // returns the next boundary

  // Processes the state at a boundary: ends the current span and begins the
  // next one. Must be called at each boundary. Returns false if memory does not
  // suffice.
  bool Cross(const PowerWalk<double>& walk) {
    const bool underflowed = FloatEnvironment::Underflowed();
    if (is_open_) CloseSpan(walk);
    // Early steps have uncompensated rounding errors, and are too inaccurate to
    // extrapolate from.
    is_open_ = boundary_ >= kPlainBlocks && start_ != nullptr;
    if (!Allocate()) return false;
    if (is_open_) is_open_ = OpenSpan(walk);
    for (int64_t i = 0; i < model_.stride; ++i) start_[i] = walk.state()[i];
    start_exponent_ = walk.exponent();
    start_block_ = boundary_;
    boundary_ = NextBoundary(boundary_);
    if (!underflowed) FloatEnvironment::ClearUnderflow();
    return true;
  }

  // Records the terms of a block that was computed by steps. Must be called for
  // each such block. Returns false if memory does not suffice.
  bool Note(int64_t block, const Terms<double>& terms) {
    if (!is_open_) return true;
    BlockList<Terms<double>>& list = spans_[current_];
    const int64_t n = block - start_block_;
    if (n == list.size() && list.Append() == nullptr) return false;
    list[n] = terms;
    NoteSize(terms);
    if (has_rest_) CompareWithLower(block, terms);
    FloatEnvironment::ClearUnderflow();
    return true;
  }

 private:
  // Entries whose ratio is below this fraction of the largest ratio count as
  // decaying faster.
  static constexpr double kNearLargest = 1.0 - 0x1p-10;
  static constexpr double kNegligible = 0x1p-50;
  static constexpr double kTiny = 0x1p-860;
  static constexpr double kMostPeriods = kClosureBound / kClosureRounding;

  bool Allocate() {
    if (start_ != nullptr) return true;
    start_ = AllocateZeros<double>(workspace_, model_.stride);
    lower_start_ = AllocateZeros<double>(workspace_, model_.stride);
    return start_ != nullptr && lower_start_ != nullptr &&
           lower_walk_.Allocate(model_.size, model_.stride);
  }

  // Returns the largest ratio of an entry of `state` to the same entry at the
  // start of the span, regardless of the exponents. Returns infinity if that
  // entry was zero. Tiny entries are ignored, because an entry stops decaying
  // when its change in a step is flushed to zero.
  double LargestRatio(const double* state) {
    double largest = 0.0;
    for (int64_t i = 0; i < model_.size; ++i) {
      if (state[i] <= kTiny) {
        has_tiny_ = has_tiny_ || state[i] > 0.0;
        continue;
      }
      if (!(start_[i] > 0.0)) return HUGE_VAL;
      largest = std::max(largest, state[i] / start_[i]);
    }
    return largest;
  }

  // Begins to record a span if extrapolation from it may be possible. For this,
  // all but a negligible part of the state must have changed by nearly the same
  // factor in the previous span. Returns whether recording began.
  bool OpenSpan(const PowerWalk<double>& walk) {
    const double* state = walk.state();
    has_tiny_ = false;
    const double least = kNearLargest * LargestRatio(state);
    double total = 0.0;
    double rest = 0.0;
    for (int64_t i = 0; i < model_.size; ++i) {
      const bool dies_out =
          state[i] <= kTiny || !(state[i] >= least * start_[i]);
      lower_start_[i] = dies_out ? 0.0 : state[i];
      total += state[i];
      if (dies_out) rest += state[i];
    }
    if (!(rest <= kClosureBound * total) || !(least < HUGE_VAL)) return false;
    has_rest_ = rest > 0.0;
    difference_ = 0.0;
    least_terms_ = HUGE_VAL;
    if (!has_rest_) return true;
    for (int64_t i = 0; i < model_.size; ++i) {
      lower_walk_.state()[i] = lower_start_[i];
      lower_walk_.low()[i] = lower_start_[i] > 0.0 ? walk.low()[i] : 0.0;
    }
    lower_walk_.set_exponent(walk.exponent());
    return true;
  }

  // Updates least_terms_, the least size of the terms of a block in the span.
  // The size of a block's terms is the mass at the start of the block or, if
  // that is smaller, the largest a_k of the block divided by the largest exit
  // rate. Its unit is 2^start_exponent_.
  void NoteSize(const Terms<double>& terms) {
    const double largest_a = *std::max_element(terms.a, terms.a + kBlock);
    const double largest =
        model_.max_exit > 0.0 ? largest_a / model_.max_exit : HUGE_VAL;
    least_terms_ =
        std::min(least_terms_, ScaleBy(std::min(largest, terms.mass),
                                       terms.exponent - start_exponent_));
  }

  void CompareWithLower(int64_t block, const Terms<double>& terms) {
    Terms<double> lower;
    lower_walk_.Rescale();
    MakeTerms(model_, wants_b_, block, &lower_walk_,
              static_cast<double*>(nullptr), &lower);
    const int64_t shift = lower.exponent - terms.exponent;
    for (int j = 0; j < kBlock; ++j) {
      Compare(terms.a[j], ScaleBy(lower.a[j], shift));
      if (wants_b_) Compare(terms.b[j], ScaleBy(lower.b[j], shift));
    }
  }
  void Compare(double upper, double lower) {
    if (upper == lower) return;
    const double difference = std::fabs(upper - lower) / lower;
    difference_ =
        difference < HUGE_VAL ? std::max(difference_, difference) : HUGE_VAL;
  }

  void CloseSpan(const PowerWalk<double>& walk) {
    const PowerWalk<double>& lower = has_rest_ ? lower_walk_ : walk;
    const double largest = LargestRatio(walk.state());
    double smallest = HUGE_VAL;
    for (int64_t i = 0; i < model_.size; ++i) {
      if (lower_start_[i] == 0.0) continue;
      smallest = std::min(smallest, lower.state()[i] / lower_start_[i]);
    }
    smallest = ScaleBy(smallest, lower.exponent() - walk.exponent());
    if (!(smallest > 0.0 && smallest < HUGE_VAL && largest < HUGE_VAL)) return;
    const double spread = std::fabs(largest - smallest) / smallest;
    factor_ = Normalized(Scaled<double>{0.5 * (smallest + largest),
                                        walk.exponent() - start_exponent_});
    const double num_periods = std::min(
        (kClosureBound - difference_) / (0.5 * spread + kClosureRounding),
        PeriodsAboveTiny());
    if (!(num_periods >= 1.0)) return;
    begin_ = boundary_;
    length_ = boundary_ - start_block_;
    end_ = begin_ + static_cast<int64_t>(num_periods) * length_;
    power_ = Scaled<double>{1.0, 0};
    num_factors_ = 0;
    current_ = 1 - current_;
  }

  // Returns for how many periods the tiny entries that were ignored are
  // negligible. In each period such an entry contributes at most its own size
  // to all later sums.
  double PeriodsAboveTiny() const {
    if (!has_tiny_) return kMostPeriods;
    const double lost = kMostPeriods * static_cast<double>(model_.size) * kTiny;
    const double room = std::log(kNegligible * least_terms_ / lost);
    const double decay = -std::log(factor_.mantissa) -
                         kLn2 * static_cast<double>(factor_.exponent);
    return decay > 0.0 ? std::min(kMostPeriods, room / decay) : room;
  }

  const Model<double>& model_;
  Workspace* workspace_;

  // The data of the span that is being recorded.
  int64_t boundary_ = kFirstSpan;  // block at which the span ends
  int64_t start_block_ = 0;
  double* start_ = nullptr;  // the state at its start
  int64_t start_exponent_ = 0;
  // The vector u of the bounds above, at the start of the span. It is used if
  // entries were set to zero, and has the same exponent as `start_`.
  double* lower_start_ = nullptr;
  PowerWalk<double> lower_walk_;
  double difference_ = 0.0;  // largest relative one of terms of v and u
  double least_terms_ = 0.0;

  // The terms of the span that is being recorded, and of the span from which
  // blocks are extrapolated.
  BlockList<Terms<double>> spans_[2];

  // The range of blocks that are extrapolated.
  int64_t begin_ = 0;
  int64_t end_ = 0;
  int64_t length_ = 1;     // blocks in a period
  Scaled<double> factor_;  // ratio of a period to the previous one
  Scaled<double> power_;
  int64_t num_factors_ = 0;

  int current_ = 0;  // index in spans_ of the recorded span
  const bool wants_b_;
  bool is_open_ = false;   // a span is being recorded
  bool has_rest_ = false;  // entries of u were set to zero
  bool has_tiny_ = false;  // tiny entries were ignored at either end
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_TAIL_CLOSURE_H_
