// The adjoint sweep down the power sequences of eight models together. Every
// sum is computed in the order of adjoint_sweeper.h.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_MODELS_LANE_ADJOINT_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_MODELS_LANE_ADJOINT_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/matrix/lane_operator.h"
#include "native/kernel/matrix/products.h"
#include "native/kernel/methods/many_models/lane_products.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/sweeps/adjoint.h"
#include "native/kernel/sweeps/adjoint_sweeper.h"
#include "native/kernel/uniformization/lane_walk.h"

namespace phasic {
namespace PHASIC_ISA {

using LaneRun = AdjointRun<double, BarsWriter>;

class LaneAdjoint {
 public:
  // Entries of `runs` are nullptr for missing models. Either all models have
  // survival terms, or none has.
  LaneAdjoint(LaneRun* const* runs, LaneWalk* walk, Workspace* workspace)
      : walk_(*walk), workspace_(workspace) {
    for (int l = 0; l < kModels; ++l) {
      runs_[l] = runs[l];
      exponents_[l] = INT64_MIN / 4;
      if (runs[l] == nullptr) continue;
      last_ = std::max(last_, runs[l]->terms()->last_block());
      first_ = runs[l];
    }
  }

  // Sweeps from the last block to the first. Returns whether memory sufficed.
  bool Run(const SweepInput& in) {
    if (!Allocate(in)) return false;
    for (int64_t b = last_; b >= 0; --b) {
      SweepBlock(b);
      if (b % kBlocksPerSum != 0 || !first_->needs().states()) continue;
      if (!products_.Flush(last_ < kBlocksPerSum)) return false;
    }
    return true;
  }

  // Computes the sums of model l; returns false if memory does not suffice.
  bool SumsOf(int l, AdjointSums<double>* sums) const {
    const LaneRun& run = *runs_[l];
    *sums = PHASIC_ISA::SumsOf(run.seeds(), run.terms());
    double* starts = AllocateZeros<double>(workspace_, size_);
    if (starts == nullptr) return false;
    for (int64_t i = 0; i < size_; ++i) starts[i] = y_[i][l];
    sums->starts = starts;
    sums->exponent = exponents_[l];
    sums->start_loss = losses_[l].adjoint;
    sums->row_loss = losses_[l].product;
    sums->weight_loss = losses_[l].weight;
    return !run.needs().states() || products_.StoreLane(l, workspace_, sums);
  }

 private:
  bool Allocate(const SweepInput& in) {
    const Operator<double>* backward[kModels] = {};
    const double* exits[kModels] = {};
    for (int l = 0; l < kModels; ++l) {
      if (runs_[l] == nullptr) continue;
      backward[l] = &runs_[l]->model().backward;
      exits[l] = runs_[l]->model().exits;
    }
    size_ = first_->model().size;
    stride_ = size_ | 1;  // odd, to spread rows over the cache
    exits_ = AllSideBySide(exits, size_, workspace_);
    states_ = AllocateZeros<PerModel>(workspace_, kBlock * stride_);
    adjoints_ = AllocateZeros<PerModel>(workspace_, kBlock * stride_);
    y_ = AllocateZeros<PerModel>(workspace_, size_);
    y_low_ = AllocateZeros<PerModel>(workspace_, size_);
    return exits_ && states_ && adjoints_ && y_ && y_low_ &&
           LaneOperatorBuilder(backward, workspace_).Build(&backward_) &&
           products_.Allocate(in, first_->model(), workspace_);
  }

  bool HasBlock(int l, int64_t b) const {
    return runs_[l] != nullptr && b <= runs_[l]->terms()->last_block();
  }

  void SweepBlock(int64_t b) {
    PerModel a_bar[kBlock];
    PerModel b_bar[kBlock];
    FloatEnvironment::ClearUnderflow();
    GetTerms(b, a_bar, b_bar);
    // Row k of the adjoints holds y_{k+1}.
    std::copy(y_, y_ + size_, adjoints_ + (kBlock - 1) * stride_);
    for (int k = kBlock - 1; k >= 0; --k) {
      PerModel* next = k > 0 ? adjoints_ + (k - 1) * stride_ : y_;
      Apply(backward_, b, Source<PerModel>{a_bar[k], exits_},
            adjoints_ + k * stride_, y_low_, next);
      if (first_->terms()->has_survival()) {
        for (int64_t i = 0; i < size_; ++i) next[i] = next[i] + b_bar[k];
      }
    }
    NoteLosses(b);
    if (!first_->needs().states()) return;
    walk_.MakeStates(b, stride_, states_);
    const PerModel scales = Scale(b);
    for (PerModel& bar : a_bar) bar = scales * bar;
    products_.Add(a_bar, states_, adjoints_, stride_, scales);
  }

  // Computes the cotangents a_bar and b_bar of a block's terms, and scales y to
  // the same exponents.
  void GetTerms(int64_t b, PerModel* a_bar, PerModel* b_bar) {
    double a_bars[kBlock][kModels] = {};
    double b_bars[kBlock][kModels] = {};
    const PerModel sizes = LargestSizes(y_, size_);
    for (int l = 0; l < kModels; ++l) {
      if (!HasBlock(l, b)) continue;
      double a[kBlock];
      double c[kBlock];
      const int64_t exponent = runs_[l]->terms()->Get(b, a, c);
      int64_t target = exponent;
      if (AlignTarget({sizes[l], exponents_[l]}, exponents_[l], &target)) {
        ScaleLane(l, exponents_[l] - target, size_, y_);
        ScaleLane(l, exponents_[l] - target, size_, y_low_);
      }
      exponents_[l] = target;
      NoteLostWeights(b, l, LargestSize(a, kBlock), exponent);
      for (int k = 0; k < kBlock; ++k) {
        a_bars[k][l] = ScaleBy(a[k], exponent - target);
        b_bars[k][l] = ScaleBy(c[k], exponent - target);
      }
    }
    for (int k = 0; k < kBlock; ++k) {
      a_bar[k] = PerModel::Load(a_bars[k]);
      b_bar[k] = PerModel::Load(b_bars[k]);
    }
  }

  // Records the losses of a block by underflow; a possible loss in one model
  // counts for all, as they share the underflow flag.
  void NoteLosses(int64_t b) {
    const bool flushed = FloatEnvironment::Underflowed();
    for (int l = 0; l < kModels; ++l) {
      if (!HasBlock(l, b)) continue;
      if (flushed || runs_[l]->terms()->HasLosses(b)) {
        losses_[l].AddFlushed(size_, exponents_[l], b);
      }
      if (runs_[l]->sequence().UnderflowedBefore(b + 1)) {
        const PerModel sizes = LargestSizes(adjoints_, kBlock * stride_);
        losses_[l].AddFlushedStates(size_, sizes[l],
                                    exponents_[l] + walk_.Exponent(b, l));
      }
    }
  }

  void NoteLostWeights(int64_t b, int l, double size, int64_t exponent) {
    const int64_t shift =
        exponent + walk_.Exponent(b, l) + runs_[l]->model().log2_q;
    if (runs_[l]->sequence().UnderflowedBefore(b + 1)) {
      losses_[l].AddFlushedWeights(size_, size, shift);
    }
    if (runs_[l]->terms()->HasLosses(b)) {
      losses_[l].AddFlushedWeights(size_, 1.0, shift);
    }
  }

  // Returns the factor for products of the states and adjoints of block b.
  // States are scaled before multiplying, so that products of small numbers do
  // not underflow.
  PerModel Scale(int64_t b) {
    return SideBySide([&](int l) {
      if (!HasBlock(l, b)) return 0.0;
      const int64_t shift = walk_.Exponent(b, l) + exponents_[l];
      if (shift >= -1000 && shift <= 64) return PowerOfTwo(shift);
      ScaleLane(l, shift, kBlock * stride_, states_);
      return 1.0;
    });
  }

  LaneRun* runs_[kModels];
  LaneRun* first_ = nullptr;
  LaneWalk& walk_;
  Workspace* workspace_;
  int64_t last_ = -1;
  int64_t size_ = 0;
  int64_t stride_ = 0;
  LaneOperator backward_;
  PerModel* exits_ = nullptr;
  PerModel* states_ = nullptr;
  PerModel* adjoints_ = nullptr;
  PerModel* y_ = nullptr;
  PerModel* y_low_ = nullptr;
  int64_t exponents_[kModels];  // exponents of y
  LaneProducts products_;
  SweepLosses losses_[kModels];
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_MODELS_LANE_ADJOINT_H_
