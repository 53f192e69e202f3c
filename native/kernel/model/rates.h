// Reads the rates of one model from a dense subgenerator or from edges: the
// off-diagonal entries with their positions, the exit rates, and the total rate
// of leaving each phase. In a discrete chain the rates are one-step
// probabilities, and the total rate is one minus the probability of staying.

#ifndef PHASIC_NATIVE_KERNEL_MODEL_RATES_H_
#define PHASIC_NATIVE_KERNEL_MODEL_RATES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/api/sweep.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/model/value_checks.h"
#include "native/kernel/numbers/compensated_sum.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

template <class T>
T Element(const OperandView& view, int64_t index) {
  return Seed<T>::Make(view.value[index], view.tangents, index);
}

// The type of the rounding error of a sum's value.
template <class T>
using LowOf = decltype(CompensatedSum<T>().Low());

template <class T>
struct Rates {
  EntryList entries;                // positions of the off-diagonal rates
  T* values = nullptr;              // [entries.count]
  T* exits = nullptr;               // [stride]
  T* absorbing = nullptr;           // [stride], exits unless these are weights
  T* leaving = nullptr;             // [stride]
  LowOf<T>* leaving_low = nullptr;  // rounding error of leaving
};

// Returns the tangent of the rate of edge e in the direction with number
// `order`.
inline double EdgeTangent(const SweepInput& in, int64_t e, int order) {
  const double* tangent = in.subgenerator.tangents[order];
  if (in.edges.coefficients == nullptr) return tangent[e];
  double sum = 0.0;
  for (int64_t c = 0; c < in.edges.num_parameters; ++c) {
    sum += in.edges.coefficients[e * in.edges.num_parameters + c] * tangent[c];
  }
  return sum;
}

template <class T>
T EdgeRate(const SweepInput& in, int64_t e) {
  const EdgeView& edges = in.edges;
  T rate = T(edges.constants != nullptr ? edges.constants[e] : 0.0);
  if (edges.coefficients == nullptr) {
    rate += Element<T>(in.subgenerator, e);
    return rate;
  }
  for (int64_t c = 0; c < edges.num_parameters; ++c) {
    const double factor = edges.coefficients[e * edges.num_parameters + c];
    if (HasBits(factor)) {
      AddProduct(factor, Element<T>(in.subgenerator, c), &rate);
    }
  }
  return rate;
}

// Returns the largest row sum of the absolute tangents of S or T, or NaN if a
// tangent is NaN. If exits are given in continuous time, the diagonal is not
// read, but derived from the other rates. For edges returns an upper bound, the
// sum over all phases.
[[gnu::noinline]] inline double TangentSize(const SweepInput& in, int order) {
  double largest = 0.0;
  if (in.has_edges()) {
    for (int64_t e = 0; e < in.edges.count; ++e) {
      largest += 2.0 * std::fabs(EdgeTangent(in, e, order));
    }
    return largest;
  }
  const int64_t p = in.num_phases;
  for (int64_t i = 0; i < p; ++i) {
    double row = 0.0;
    for (int64_t j = 0; j < p; ++j) {
      if (j == i && in.has_exit_rates && !in.discrete) continue;
      row += std::fabs(in.subgenerator.tangents[order][i * p + j]);
    }
    if (in.has_exit_rates) {
      row = 2.0 * row + std::fabs(in.exit_rates.tangents[order][i]);
    }
    if (!(row <= largest)) largest = row;
    if (largest != largest) break;
  }
  return largest;
}

// Returns whether a rate that is computed as zero is a sum of nonzero terms,
// all of which underflow.
[[gnu::noinline]] inline bool IsFlushed(const SweepInput& in, int64_t e) {
  const EdgeView& edges = in.edges;
  const double constant = edges.constants != nullptr ? edges.constants[e] : 0.0;
  bool has_terms = HasBits(constant);
  double size = std::fabs(constant);
  if (edges.coefficients == nullptr) {
    const double rate = in.subgenerator.value[e];
    return (has_terms || HasBits(rate)) && size + std::fabs(rate) < 0x1p-1022;
  }
  for (int64_t c = 0; c < edges.num_parameters; ++c) {
    const double factor = edges.coefficients[e * edges.num_parameters + c];
    const double parameter = in.subgenerator.value[c];
    has_terms = has_terms || (HasBits(factor) && HasBits(parameter));
    size += std::fabs(factor * parameter);
  }
  return has_terms && size < 0x1p-1022;
}

template <class T>
class RatesReader {
 public:
  // If `skips_zeros`, edges whose rate and tangents are zero are not listed.
  // The cotangents of their rates can then not be computed.
  RatesReader(const SweepInput& in, Workspace* workspace, bool skips_zeros,
              Rates<T>* rates)
      : in_(in),
        workspace_(workspace),
        skips_zeros_(skips_zeros),
        rates_(*rates) {}

  StatusCode Read() {
    const int64_t stride = PaddedSize(in_.num_phases);
    rates_.entries.size = in_.num_phases;
    rates_.exits = AllocateZeros<T>(workspace_, 2 * stride);
    rates_.leaving_low = AllocateZeros<LowOf<T>>(workspace_, stride);
    if (!rates_.exits || !rates_.leaving_low || !AllocateEntries()) {
      return kMemoryLimit;
    }
    rates_.leaving = rates_.exits + stride;
    rates_.absorbing = rates_.exits;
    if (in_.has_weights()) {
      rates_.absorbing = AllocateZeros<T>(workspace_, stride);
      if (rates_.absorbing == nullptr) return kMemoryLimit;
    }
    if (in_.has_edges()) return ReadEdges();
    return in_.discrete ? ReadTransitions() : ReadSubgenerator();
  }

 private:
  static constexpr bool kTakesAll = HasOwnExponent<T>::kValue;
  static constexpr int64_t kShiftOfSmall = 512;

  bool AllocateEntries() {
    const int64_t p = in_.num_phases;
    int64_t count = 0;
    if (in_.has_edges()) {
      count = in_.edges.count;
    } else {
      for (int64_t i = 0; i < p * p; ++i) {
        count += !IsZero(Element<T>(in_.subgenerator, i));
      }
    }
    rows_ = AllocateRoom<int32_t>(workspace_, count);
    columns_ = AllocateRoom<int32_t>(workspace_, count);
    rates_.values = AllocateRoom<T>(workspace_, count);
    rates_.entries.rows = rows_;
    rates_.entries.columns = columns_;
    return rows_ && columns_ && rates_.values;
  }

  void List(int64_t i, int64_t j, const T& rate) {
    const int64_t e = rates_.entries.count++;
    rows_[e] = static_cast<int32_t>(i);
    columns_[e] = static_cast<int32_t>(j);
    rates_.values[e] = rate;
  }

  StatusCode ReadSubgenerator() {
    const int64_t p = in_.num_phases;
    for (int64_t i = 0; i < p; ++i) {
      CompensatedSum<T> sum;
      double scale = 0.0;
      double scale_of_small = 0.0;  // times 2^kShiftOfSmall
      for (int64_t j = 0; j < p; ++j) {
        const T rate = Element<T>(in_.subgenerator, i * p + j);
        if (IsZero(rate)) continue;
        if (in_.has_exit_rates && i == j) continue;  // not read
        scale = std::max(scale, std::fabs(Primal(rate)));
        if constexpr (kTakesAll) {
          const double large = Primal(ScaleBy(rate, kShiftOfSmall));
          scale_of_small = std::max(scale_of_small, std::fabs(large));
        }
        sum.Add(rate);
        if (i != j) List(i, j, rate);
      }
      if (in_.has_exit_rates) {
        rates_.exits[i] = Element<T>(in_.exit_rates, i);
        sum.Add(rates_.exits[i]);
        rates_.leaving[i] = sum.Result();
        rates_.leaving_low[i] = sum.Low();
        continue;
      }
      rates_.leaving[i] = -Element<T>(in_.subgenerator, i * p + i);
      // The test is one of doubles, in which subnormal rates are zero.
      const bool is_small = kTakesAll && scale < 0x1p-512;
      const int64_t shift = is_small ? kShiftOfSmall : 0;
      T exit = ScaleBy(-sum.Result(), shift);
      const double value = Primal(exit);
      const double tolerance =
          Tolerance() * (is_small ? scale_of_small : scale);
      // Also rejects a sum that overflowed to -inf.
      if (!(value >= -tolerance)) return kRowSumPositive;
      if (value <= tolerance) ClearPrimal(&exit);
      rates_.exits[i] = ScaleBy(exit, -shift);
    }
    return kOk;
  }

  double Tolerance() const {
    return 4.0 * static_cast<double>(in_.num_phases) * in_.epsilon;
  }

  StatusCode ReadTransitions() {
    const int64_t p = in_.num_phases;
    for (int64_t i = 0; i < p; ++i) {
      CompensatedSum<T> rest;
      rest.Add(T(1.0));
      for (int64_t j = 0; j < p; ++j) {
        const T prob = Element<T>(in_.subgenerator, i * p + j);
        if (IsZero(prob)) continue;
        rest.Add(-prob);
        if (i != j) List(i, j, prob);
      }
      if (in_.has_exit_rates) {
        rates_.exits[i] = Element<T>(in_.exit_rates, i);
        rest.Add(-rates_.exits[i]);
      }
      T exit = rest.Result();
      const double value = Primal(exit);
      if (value < -Tolerance()) return kRowAboveOne;
      if (in_.has_exit_rates && value > Tolerance()) return kRowBelowOne;
      if (!in_.has_exit_rates) {
        if (value <= Tolerance()) ClearPrimal(&exit);
        rates_.exits[i] = exit;
      }
      CompensatedSum<T> leaving;  // exact in two words
      leaving.Add(T(1.0));
      leaving.Add(-Element<T>(in_.subgenerator, i * p + i));
      rates_.leaving[i] = leaving.Result();
      rates_.leaving_low[i] = leaving.Low();
    }
    return kOk;
  }

  StatusCode ReadEdges() {
    const int64_t p = in_.num_phases;
    CompensatedSum<T>* sums =
        static_cast<CompensatedSum<T>*>(workspace_->Allocate(
            static_cast<size_t>(p), sizeof(CompensatedSum<T>)));
    if (sums == nullptr) return kMemoryLimit;
    auto* loops = static_cast<CompensatedSum<double>*>(
        workspace_->Allocate(in_.discrete ? static_cast<size_t>(p) : 0,
                             sizeof(CompensatedSum<double>)));
    if (loops == nullptr) return kMemoryLimit;
    for (int64_t i = 0; i < p; ++i) {
      sums[i] = CompensatedSum<T>();
      if (in_.discrete) loops[i] = CompensatedSum<double>();
    }
    for (int64_t e = 0; e < in_.edges.count; ++e) {
      const int64_t i = in_.edges.sources[e];
      const int64_t j = in_.edges.targets[e];
      if (i < 0 || i >= p || j < 0 || j > p) return kEdgeOutOfRange;
      const T rate = EdgeRate<T>(in_, e);
      const double sign = Primal(ScaleBy(rate, kTakesAll ? kShiftOfSmall : 0));
      if (!(sign >= 0.0 && Primal(rate) < HUGE_VAL)) return kEdgeRateInvalid;
      if (!kTakesAll && (IsSubnormal(Primal(rate)) ||
                         (Primal(rate) == 0.0 && IsFlushed(in_, e)))) {
        return kUnderflow;
      }
      if (i == j) {
        if (in_.discrete) loops[i].Add(Primal(rate));
        continue;
      }
      sums[i].Add(rate);
      if (j == p) {
        rates_.absorbing[i] += rate;
      } else if (!skips_zeros_ || !IsZero(rate)) {
        List(i, j, rate);
      }
    }
    for (int64_t i = 0; i < p; ++i) {
      if (in_.has_exit_rates) {
        rates_.exits[i] = Element<T>(in_.exit_rates, i);
      }
      rates_.leaving[i] = sums[i].Result();
      rates_.leaving_low[i] = sums[i].Low();
      if (in_.discrete && !KeepTheRest(i, loops[i])) return kRowAboveOne;
    }
    return kOk;
  }

  // For a discrete chain given by edges: sets the probability of leaving phase
  // i so that the probability of staying is one minus the sum of the
  // probabilities of the edges to other phases and to absorption. This holds
  // for tangents, too. If the probability of staying is at most one half, its
  // value is computed without cancellation: it is the sum of the loops (edges
  // from the phase to itself), plus one minus the sum of all edges of the
  // phase. Returns false if the sum of all edges exceeds one.
  bool KeepTheRest(int64_t i, const CompensatedSum<double>& loops) {
    CompensatedSum<double> rest;
    rest.Add(1.0);
    for (const double x :
         {Primal(rates_.leaving[i]), Primal(rates_.leaving_low[i]),
          loops.Result(), loops.Low()}) {
      rest.Add(-x);
    }
    const double missing = rest.Result();
    if (missing < -Tolerance()) return false;
    if (Primal(rates_.leaving[i]) < 0.5) return true;
    CompensatedSum<double> leaving;
    leaving.Add(1.0);
    leaving.Add(-loops.Result());
    leaving.Add(-loops.Low());
    if (missing > Tolerance()) leaving.Add(-missing);
    ClearPrimal(&rates_.leaving[i]);
    rates_.leaving[i] += T(leaving.Result());
    rates_.leaving_low[i] = leaving.Low();
    return true;
  }

  const SweepInput& in_;
  Workspace* workspace_;
  const bool skips_zeros_;
  Rates<T>& rates_;
  int32_t* rows_ = nullptr;
  int32_t* columns_ = nullptr;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MODEL_RATES_H_
