// Computes and writes the expected sufficient statistics of the path, given the
// observations (the E-step of an EM algorithm). They are products of parameters
// and derivatives of the log probability,
//   starts_i = alpha_i alphabar_i,   sojourns_i = G_ii / q,
//   jumps_ij = P_ij G_ij,            exits_i = s_i sbar_i,
// where alphabar, G and sbar are the derivatives with respect to alpha, P and
// the exits s. As in AdjointSums, all entries are regarded as independent.

#ifndef PHASIC_NATIVE_KERNEL_COTANGENTS_STATISTICS_WRITER_H_
#define PHASIC_NATIVE_KERNEL_COTANGENTS_STATISTICS_WRITER_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/cotangents/cotangent_writer.h"
#include "native/kernel/model/model.h"
#include "native/kernel/model/rates.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/point.h"

namespace phasic {
namespace PHASIC_ISA {

template <class T>
class StatisticsWriter {
 public:
  StatisticsWriter(const SweepInput& in, const Model<T>& model,
                   const SweepOutput& out)
      : in_(in), model_(model), out_(out) {}

  static AdjointNeeds NeedsOf(const SweepInput&, const SweepOutput&) {
    return {true, true, true, false};
  }
  // All statistics are written in each pass.
  static AdjointNeeds left() { return {true, true, true, false}; }

  // Does nothing: Write writes the statistic of the atom with the others.
  void WriteAtom(const T&) const {}

  // Writes all statistics. Returns whether they are accurate or this is the
  // last pass; see CotangentWriter::Write.
  bool Write(const AdjointSums<T>& sums, bool is_last) {
    sums_ = sums;
    is_accurate_ = true;
    has_losses_ = false;
    is_open_ = !IsZero(sums.total);
    out_.atom[0] = Shown(sums.zeros + model_.prob_zero * sums.certain);
    for (int64_t i = 0; i < model_.size; ++i) WritePhase(i);
    if (in_.has_edges()) {
      WriteEdges();
    } else {
      WriteJumps();
    }
    return is_accurate_ || is_last;
  }

  // Returns whether flushing to zero lost significant digits of any statistic;
  // see CotangentWriter::Loses.
  bool Loses(const AdjointSums<T>& sums) {
    Write(sums, true);
    return has_losses_;
  }

  // Returns whether flushing to zero lost significant digits of the statistic
  // of any initial phase.
  bool LosesStarts(const AdjointSums<T>& sums) {
    sums_ = sums;
    has_losses_ = false;
    for (int64_t i = 0; i < model_.size; ++i) Start(i);
    return has_losses_;
  }

  // Returns whether flushing to zero lost significant digits of any statistic
  // that was written; see CotangentWriter::has_losses.
  bool has_losses() const { return has_losses_; }

 private:
  void WritePhase(int64_t i) {
    out_.starts[i] = Start(i);
    const bool is_passed = model_.reached[i] && sums_.Matters(model_, i);
    // 1 / q for the rates as the caller gave them.
    const double unit = ScaleBy(1.0 / model_.q, -in_.rates_exponent);
    out_.sojourns[i] =
        is_passed ? Shown(1.0 / model_.q * InRow(i, sums_.stays[i], 0, unit),
                          -in_.rates_exponent)
                  : 0.0;
    out_.exits[i] = Exits(i, model_.exits[i]);
  }

  // Returns a statistic times 2^exponent, for the rates as the caller gave
  // them.
  double Shown(const T& statistic, int64_t exponent = 0) const {
    return Top(ScaleBy(statistic, exponent + in_.DensityExponent()));
  }

  double Start(int64_t i) {
    const T& alpha = model_.initial[i];
    if (IsZero(alpha)) return 0.0;
    const T sure = alpha * (sums_.total + sums_.certain);
    if (!sums_.Matters(model_, i)) return Shown(sure);
    const Scaled<double> size = sums_.StartSize(i);
    if (sums_.IsShort(sums_.start_tail, size)) is_accurate_ = false;
    if (IsLost(sums_.StartLoss(i), size, Top(alpha))) {
      has_losses_ = true;
      return kNaN;
    }
    // The cotangent may be out of range if alpha is tiny or huge, although its
    // product with alpha is in range.
    Scaled<T> start = sums_.Start(i);
    if (!IsZero(sure)) return Shown(PlainProduct(alpha, start) + sure);
    start.exponent += in_.DensityExponent();
    return Top(PlainProduct(alpha, start));
  }

  // Returns whether flushing to zero lost significant digits of `factor` times
  // a sum of the given size. An error that is negligible in the sum may matter
  // after multiplication by a large factor.
  bool IsLost(const Scaled<double>& loss, const Scaled<double>& size,
              double factor) const {
    const int64_t shift = std::max<int64_t>(ExponentOf(factor) + 1, 0);
    return sums_.StartIsLost({loss.mantissa, loss.exponent + shift},
                             {size.mantissa, size.exponent + shift});
  }

  // Returns the expected number of absorptions from phase i that are due to the
  // given rate: the exit rate of the phase, or the rate of one of its edges to
  // absorption.
  double Exits(int64_t i, const T& rate) {
    const bool may_exit = sums_.has_exits || is_open_;
    if (IsZero(rate) || !model_.reached[i] || !may_exit) {
      return 0.0;
    }
    return Shown(rate * InRow(i, sums_.exits[i], model_.log2_q));
  }

  double Jumps(int64_t i, int64_t j, double rate, int64_t cell) {
    if (rate == 0.0 || !model_.reached[i] || !sums_.Matters(model_, j)) {
      return 0.0;
    }
    return Shown(rate / model_.q * InRow(i, sums_.products[cell]));
  }

  void WriteJumps() {
    const int64_t p = model_.size;
    for (int64_t i = 0; i < p; ++i) {
      for (int64_t j = 0; j < p; ++j) {
        const double rate = i == j ? 0.0 : in_.subgenerator.value[i * p + j];
        out_.jumps[i * p + j] =
            i == j
                ? 0.0
                : Jumps(i, j, rate, FullCell(p, model_.products.width, i, j));
      }
    }
  }

  void WriteEdges() {
    const EdgeView& edges = in_.edges;
    int64_t listed = 0;
    for (int64_t e = 0; e < edges.count; ++e) {
      const int64_t i = edges.sources[e];
      const int64_t j = edges.targets[e];
      if (i == j) {
        out_.jumps[e] = 0.0;
        continue;
      }
      const double rate = EdgeRate<double>(in_, e);
      out_.jumps[e] = j == model_.size
                          ? Exits(i, T(rate))
                          : Jumps(i, j, rate, model_.cells[listed++]);
    }
  }

  // Checks a sum of row i whose true value is not zero. Returns the sum, or NaN
  // if flushing to zero lost significant digits. The error bounds of
  // AdjointSums hold for the sum times 2^exponent. `factor` is the number by
  // which the caller multiplies the returned sum.
  T InRow(int64_t i, const T& sum, int64_t exponent = 0, double factor = 1.0) {
    const Scaled<double> size = SizeOf(sum, exponent);
    if (sums_.IsShort(sums_.row_tail, size)) is_accurate_ = false;
    if (is_open_ || !IsFinite(sum)) return T(kNaN);
    if (!IsLost(sums_.RowLoss(i), size, factor)) return sum;
    has_losses_ = true;
    return T(kNaN);
  }

  const SweepInput& in_;
  const Model<T>& model_;
  const SweepOutput& out_;
  AdjointSums<T> sums_;
  bool is_accurate_ = true;
  bool has_losses_ = false;
  bool is_open_ = false;  // an observed time is infinite
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_COTANGENTS_STATISTICS_WRITER_H_
