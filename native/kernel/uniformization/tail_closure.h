// The far part of a power sequence v_k = alpha P^k without its steps.
//
// P is non-negative, so that bounds on states hold for all later ones: from
//   v_{k+n} <= M v_k  follows  v_{k+n+j} <= M v_{k+j}  for all j >= 0,
// and the same for lower bounds (Collatz and Wielandt). A span of n steps from
// k0 to k1 gives M, the largest ratio of entries of v_{k1} and v_{k0}. Entries
// that die out faster than others have smaller ratios: for the lower bound they
// are left out of v_{k0}. What is left, u, is stepped as well, and m is the
// smallest ratio of its entries. Then
//   m^j u_k . s  <=  v_{k+jn} . s  <=  M^j v_k . s  for k0 <= k < k1,
// for the sums v_k . 1 too, so that periods of terms, each the one before times
// (m + M) / 2, are as accurate as (M / m)^(j/2), and how near u_k . s is to
// v_k . s, tell. Nothing is assumed about the chain: one that has not settled,
// or a rare state that will rule the tail, shows in M / m.

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

// The most by which closed terms differ from stepped ones, relative to them.
constexpr double kClosureBound = 1e-13;
// What rounding does to a period's factor: the ratios are of rounded states.
constexpr double kClosureRounding = 3 * 0x1p-52;
// Spans from this block on: 16 blocks twice, then each twice the one before.
constexpr int64_t kFirstSpan = 48;
constexpr int64_t kLeastSpan = 16;
// Where the span ends that begins at a boundary.
inline int64_t NextBoundary(int64_t boundary) {
  return boundary + std::max(kLeastSpan, boundary - kFirstSpan);
}

// Bounds are on values: sequences with tangents are not closed.
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

  // Whether a block's terms follow from those of earlier ones, as far as is
  // known.
  bool Covers(int64_t block) const { return begin_ <= block && block < end_; }

  // The terms of a block that is covered; to be called in ascending order.
  void Fill(int64_t block, Terms<double>* terms) {
    const int64_t period = (block - begin_) / length_ + 1;
    for (; num_factors_ < period; ++num_factors_) {
      power_ = Normalized(Scaled<double>{power_.mantissa * factor_.mantissa,
                                         power_.exponent + factor_.exponent});
    }
    const Terms<double>& first =
        spans_[1 - current_][(block - begin_) % length_];
    // Exponents change rarely, as those of stepped blocks.
    const int64_t rest = power_.exponent & 63;
    const double scale = power_.mantissa * PowerOfTwo(rest);
    for (int j = 0; j < kBlock; ++j) {
      terms->a[j] = scale * first.a[j];
      if (wants_b_) terms->b[j] = scale * first.b[j];
    }
    terms->exponent = first.exponent + (power_.exponent - rest);
    terms->mass = scale * first.mass;
  }

  // Where a span ends and the next one begins.
  bool IsBoundary(int64_t block) const { return block == boundary_; }
  int64_t boundary() const { return boundary_; }  // the next one

  // To be called at each boundary, with the state there. False: no memory.
  bool Cross(const PowerWalk<double>& walk) {
    const bool underflowed = FloatEnvironment::Underflowed();
    if (is_open_) CloseSpan(walk);
    // Early steps are rounded plainly: no digit is to be extrapolated there.
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

  // To be called with each block that was stepped. False: no memory.
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
  // Entries whose ratio is smaller than the largest by more die out.
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

  // The largest ratio of entries to those at the last boundary, but for powers
  // of two; infinite where there were none. Tiny entries are left out: those
  // that die out stay where their losses are flushed to zero.
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

  // Whether a span is worth watching: all but a negligible part of the state
  // has changed by nearly one factor in the last one.
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

  // The smallest of the blocks' terms, relative to what a state of size one at
  // the span's start can have.
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

  // So long tiny entries that were left out, those of each period, are next to
  // nothing: no entry can become more in sum than it is.
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

  // The span that is watched.
  int64_t boundary_ = kFirstSpan;  // where it ends
  int64_t start_block_ = 0;
  double* start_ = nullptr;  // the state there
  int64_t start_exponent_ = 0;
  // Without what was left out, where anything was: u, at the same exponent.
  double* lower_start_ = nullptr;
  PowerWalk<double> lower_walk_;
  double difference_ = 0.0;  // of terms of v and u
  double least_terms_ = 0.0;

  // The terms of that span and of the one that is repeated.
  BlockList<Terms<double>> spans_[2];

  // Blocks that are covered.
  int64_t begin_ = 0;
  int64_t end_ = 0;
  int64_t length_ = 1;     // of a period
  Scaled<double> factor_;  // from period to period
  Scaled<double> power_;
  int64_t num_factors_ = 0;

  int current_ = 0;  // of the spans' terms: the one that is watched
  const bool wants_b_;
  bool is_open_ = false;   // a span is watched
  bool has_rest_ = false;  // something was left out of u
  bool has_tiny_ = false;  // entries were left out at either end
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_TAIL_CLOSURE_H_
