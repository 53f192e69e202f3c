// One phase-type model in the form the sweeps use: the uniformized chain
// P = I + S/q, the exits and the atom, with every tangent.
//
// q is a power of two, so that dividing by it rounds nothing: a rounding error
// in P would act at every one of up to millions of steps, and always the same
// way.

#ifndef PHASIC_NATIVE_KERNEL_MODEL_H_
#define PHASIC_NATIVE_KERNEL_MODEL_H_

#include <cmath>
#include <cstdint>

#include "native/kernel/isa.h"
#include "native/kernel/operator.h"
#include "native/kernel/scaled.h"
#include "native/kernel/sweep.h"

namespace phasic {
namespace PHASIC_ISA {

// Sums whose value is carried in twice the working precision.
template <class T>
struct CompensatedSum {
  double high = 0.0;
  double low = 0.0;
  void Add(double x) {
    const double sum = high + x;
    const double part = sum - high;
    low += (high - (sum - part)) + (x - part);
    high = sum;
  }
  double Result() const { return high + low; }
  double Low() const { return low - (Result() - high); }
};
template <class T>
struct CompensatedSum<Dual<T>> {
  CompensatedSum<T> value;
  CompensatedSum<T> tangent;
  void Add(const Dual<T>& x) {
    value.Add(x.value);
    tangent.Add(x.tangent);
  }
  Dual<T> Result() const { return {value.Result(), tangent.Result()}; }
  double Low() const { return value.Low(); }
};

template <class T>
struct Model {
  int64_t size = 0;
  int64_t stride = 0;
  int64_t log2_q = 0;
  double q = 1.0;
  Operator<T> forward;   // v -> v P
  Operator<T> backward;  // y -> P y
  T* initial = nullptr;
  T* exits = nullptr;
  T prob_zero = T(0.0);
  uint8_t* reached = nullptr;  // from a phase where alpha is not zero
  uint8_t* exiting = nullptr;  // absorption can be reached from here
  bool starts = false;         // some phase is reached
  bool absorbs = false;        // a reached phase is exiting
  bool defective = false;      // a reached phase is not
  double max_exit = 0.0;
  // Sizes, component by component: of alpha, of the exits, and of P as
  // 1 + tangents, for bounds on what a truncated series leaves out.
  T initial_size = T(0.0);
  T exit_size = T(0.0);
  double growth[kMaxOrder + 1] = {};
};

inline bool IsSubnormal(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  bits &= ~(uint64_t{1} << 63);
  return bits != 0 && bits < (uint64_t{1} << 52);
}

template <class T>
T Element(const OperandView& view, int64_t index) {
  return Seed<T>::Make(view.value[index], view.tangents, index);
}

template <class T>
T* AllocateZeros(Workspace* workspace, int64_t count) {
  T* result = static_cast<T*>(
      workspace->Allocate(static_cast<size_t>(count), sizeof(T)));
  if (result != nullptr) {
    for (int64_t i = 0; i < count; ++i) result[i] = T(0.0);
  }
  return result;
}

// Value errors, in the order of the operands.
inline StatusCode CheckValues(const SweepInput& in) {
  const int64_t p = in.num_phases;
  constexpr double kInfinity = HUGE_VAL;
  for (int64_t i = 0; i < p; ++i) {
    const double x = in.initial_probs.value[i];
    if (!(x >= 0.0 && x < kInfinity)) return kInitialProbsInvalid;
    if (IsSubnormal(x)) return kUnderflow;
  }
  for (int64_t i = 0; i < p; ++i) {
    for (int64_t j = 0; j < p; ++j) {
      if (in.has_exit_rates && i == j) continue;  // not read
      const double x = in.subgenerator.value[i * p + j];
      // By bits, and first: subnormals compare equal to zero in a sweep.
      if (IsSubnormal(x)) return kUnderflow;
      if (x == 0.0) continue;
      if (!(std::fabs(x) < kInfinity)) return kSubgeneratorNotFinite;
      if (i != j && x < 0.0) return kOffDiagonalNegative;
    }
  }
  if (in.has_exit_rates) {
    for (int64_t i = 0; i < p; ++i) {
      const double x = in.exit_rates.value[i];
      if (!(x >= 0.0 && x < kInfinity)) return kExitRatesInvalid;
      if (IsSubnormal(x)) return kUnderflow;
    }
  }
  if (in.has_prob_zero) {
    const double x = in.prob_zero.value[0];
    if (!(x >= 0.0 && x <= 1.0)) return kProbZeroInvalid;
    if (IsSubnormal(x)) return kUnderflow;
  }
  return kOk;
}

// Marks all that can be reached along the operator's edges.
template <class T>
void Flood(const Operator<T>& m, const int64_t* offsets, const int32_t* targets,
           uint8_t* marks, int32_t* stack) {
  int64_t top = 0;
  for (int64_t i = 0; i < m.size; ++i) {
    if (marks[i]) stack[top++] = static_cast<int32_t>(i);
  }
  while (top > 0) {
    const int32_t i = stack[--top];
    for (int64_t e = offsets[i]; e < offsets[i + 1]; ++e) {
      if (!marks[targets[e]]) {
        marks[targets[e]] = 1;
        stack[top++] = targets[e];
      }
    }
  }
}

// Edge lists of W by row of `weights` or, transposed, by column.
template <class T>
bool BuildEdges(const T* weights, int64_t stride, bool transposed,
                int64_t num_edges, Operator<T>* m, Workspace* workspace) {
  const int64_t p = m->size;
  int64_t* offsets = AllocateZeros<int64_t>(workspace, p + 1);
  int32_t* sources = AllocateZeros<int32_t>(workspace, num_edges);
  T* values = AllocateZeros<T>(workspace, num_edges);
  if (!offsets || !sources || !values) return false;
  int64_t e = 0;
  for (int64_t i = 0; i < p; ++i) {
    for (int64_t j = 0; j < p; ++j) {
      const T& w =
          transposed ? weights[j * stride + i] : weights[i * stride + j];
      if (IsZero(w)) continue;
      sources[e] = static_cast<int32_t>(j);
      values[e++] = w;
    }
    offsets[i + 1] = e;
  }
  m->offsets = offsets;
  m->sources = sources;
  m->weights = values;
  return true;
}

constexpr int64_t kAlwaysDenseSize = 64;

// Exits, atom, rates and edges from the operands.
template <class T>
class ModelBuilder {
 public:
  ModelBuilder(const SweepInput& in, Workspace* workspace, Model<T>* model)
      : in_(in), workspace_(workspace), model_(*model) {}

  StatusCode Build() {
    const StatusCode status = CheckValues(in_);
    if (status != kOk) return status;
    const int64_t p = in_.num_phases;
    model_.size = p;
    model_.stride = PaddedSize(p);
    model_.initial = AllocateZeros<T>(workspace_, model_.stride);
    model_.exits = AllocateZeros<T>(workspace_, model_.stride);
    leaving_ = AllocateZeros<T>(workspace_, model_.stride);
    low_ = AllocateZeros<double>(workspace_, model_.stride);
    weights_ = AllocateZeros<T>(workspace_, model_.stride * model_.stride);
    if (!model_.initial || !model_.exits || !leaving_ || !low_ || !weights_) {
      return kMemoryLimit;
    }
    const StatusCode atom = DeriveAtom();
    if (atom != kOk) return atom;
    const StatusCode rates = DeriveRates();
    if (rates != kOk) return rates;
    if (!BuildOperators() || !MarkPhases()) return kMemoryLimit;
    Measure();
    return kOk;
  }

 private:
  StatusCode DeriveAtom() {
    const int64_t p = in_.num_phases;
    CompensatedSum<T> rest;
    rest.Add(T(1.0));
    for (int64_t i = 0; i < p; ++i) {
      model_.initial[i] = Element<T>(in_.initial_probs, i);
      rest.Add(-model_.initial[i]);
    }
    if (in_.has_prob_zero) {
      model_.prob_zero = Element<T>(in_.prob_zero, 0);
      return kOk;
    }
    model_.prob_zero = rest.Result();
    const double tolerance = 4.0 * static_cast<double>(p) * in_.epsilon;
    const double atom = Primal(model_.prob_zero);
    if (atom < -tolerance) return kInitialProbsSum;
    if (atom <= tolerance) model_.prob_zero -= T(atom);
    return kOk;
  }

  StatusCode DeriveRates() {
    const int64_t p = in_.num_phases;
    double largest = 0.0;
    for (int64_t i = 0; i < p; ++i) {
      CompensatedSum<T> sum;
      double scale = 0.0;
      for (int64_t j = 0; j < p; ++j) {
        if (in_.has_exit_rates && i == j) continue;
        const T rate = Element<T>(in_.subgenerator, i * p + j);
        if (IsZero(rate)) continue;
        if (std::fabs(Primal(rate)) > scale) scale = std::fabs(Primal(rate));
        sum.Add(rate);
        if (i != j) weights_[i * model_.stride + j] = rate;
      }
      if (in_.has_exit_rates) {
        model_.exits[i] = Element<T>(in_.exit_rates, i);
        sum.Add(model_.exits[i]);
        leaving_[i] = sum.Result();
        low_[i] = sum.Low();
      } else {
        leaving_[i] = -Element<T>(in_.subgenerator, i * p + i);
        T exit = -sum.Result();
        const double value = Primal(exit);
        const double tolerance =
            4.0 * static_cast<double>(p) * in_.epsilon * scale;
        if (value < -tolerance) return kRowSumPositive;
        if (value <= tolerance) exit -= T(value);
        model_.exits[i] = exit;
      }
      const double leaving = Primal(leaving_[i]);
      if (!(leaving < HUGE_VAL)) return kWorkLimit;
      if (leaving > largest) largest = leaving;
    }
    if (largest > 0.0) {
      model_.log2_q = ExponentOf(largest);
      if (PowerOfTwo(model_.log2_q) < largest) ++model_.log2_q;
    }
    if (model_.log2_q > 1000 || model_.log2_q < -1000) return kWorkLimit;
    model_.q = PowerOfTwo(model_.log2_q);
    const double scale = PowerOfTwo(-model_.log2_q);
    for (int64_t i = 0; i < p * model_.stride; ++i) {
      const bool positive = Primal(weights_[i]) > 0.0;
      weights_[i] = weights_[i] * scale;
      if (positive && Primal(weights_[i]) == 0.0) return kUnderflow;
    }
    for (int64_t i = 0; i < p; ++i) {
      leaving_[i] = leaving_[i] * scale;
      low_[i] *= scale;
    }
    return kOk;
  }

  bool BuildOperators() {
    const int64_t p = model_.size;
    int64_t num_edges = 0;
    for (int64_t i = 0; i < p * model_.stride; ++i) {
      num_edges += !IsZero(weights_[i]);
    }
    Operator<T>* const operators[] = {&model_.forward, &model_.backward};
    for (Operator<T>* m : operators) {
      m->size = p;
      m->stride = model_.stride;
      m->leaving = leaving_;
      m->leaving_low = low_;
    }
    if (!BuildEdges(weights_, model_.stride, true, num_edges, &model_.forward,
                    workspace_) ||
        !BuildEdges(weights_, model_.stride, false, num_edges, &model_.backward,
                    workspace_)) {
      return false;
    }
    if (p > kAlwaysDenseSize && 4 * num_edges < p * p) return true;
    T* transposed = AllocateZeros<T>(workspace_, model_.stride * model_.stride);
    if (transposed == nullptr) return false;
    for (int64_t i = 0; i < p; ++i) {
      for (int64_t j = 0; j < p; ++j) {
        transposed[j * model_.stride + i] = weights_[i * model_.stride + j];
      }
    }
    model_.forward.dense = weights_;
    model_.backward.dense = transposed;
    return FindRanges(&model_.forward) && FindRanges(&model_.backward);
  }

  bool FindRanges(Operator<T>* m) {
    const int64_t groups = m->stride / 8;
    RowRange* ranges = static_cast<RowRange*>(
        workspace_->Allocate(static_cast<size_t>(groups), sizeof(RowRange)));
    if (ranges == nullptr) return false;
    for (int64_t group = 0; group < groups; ++group) {
      ranges[group] = {static_cast<int32_t>(m->stride), 0};
    }
    // The operator's edges, by destination, are the entries of its columns.
    for (int64_t j = 0; j < m->size; ++j) {
      RowRange& range = ranges[j / 8];
      for (int64_t e = m->offsets[j]; e < m->offsets[j + 1]; ++e) {
        const int32_t first = m->sources[e] / 4 * 4;
        if (first < range.first) range.first = first;
        if (first + 4 > range.last) range.last = first + 4;
      }
    }
    m->ranges = ranges;
    return true;
  }

  bool MarkPhases() {
    const int64_t p = model_.size;
    model_.reached = AllocateZeros<uint8_t>(workspace_, p);
    model_.exiting = AllocateZeros<uint8_t>(workspace_, p);
    int32_t* stack = AllocateZeros<int32_t>(workspace_, p);
    if (!model_.reached || !model_.exiting || !stack) return false;
    for (int64_t i = 0; i < p; ++i) {
      model_.reached[i] = !IsZero(model_.initial[i]);
      model_.exiting[i] = !IsZero(model_.exits[i]);
    }
    // The backward operator lists where each phase leads, the forward one
    // where it is entered from.
    Flood(model_.forward, model_.backward.offsets, model_.backward.sources,
          model_.reached, stack);
    Flood(model_.forward, model_.forward.offsets, model_.forward.sources,
          model_.exiting, stack);
    for (int64_t i = 0; i < p; ++i) {
      if (!model_.reached[i]) continue;
      model_.starts = true;
      (model_.exiting[i] ? model_.absorbs : model_.defective) = true;
    }
    return true;
  }

  void Measure() {
    const int64_t p = model_.size;
    for (int64_t i = 0; i < p; ++i) {
      model_.initial_size += Abs(model_.initial[i]);
      model_.exit_size += Abs(model_.exits[i]);
      const double exit = Primal(model_.exits[i]);
      if (exit > model_.max_exit) model_.max_exit = exit;
    }
    for (int order = 0; order < Depth<T>::kValue; ++order) {
      for (int64_t i = 0; i < p; ++i) {
        double row = 0.0;
        for (int64_t j = 0; j < p; ++j) {
          row += std::fabs(in_.subgenerator.tangents[order][i * p + j]);
        }
        if (in_.has_exit_rates) {
          row = 2.0 * row + std::fabs(in_.exit_rates.tangents[order][i]);
        }
        row /= model_.q;
        if (row > model_.growth[order]) model_.growth[order] = row;
      }
    }
  }

  const SweepInput& in_;
  Workspace* workspace_;
  Model<T>& model_;
  T* leaving_ = nullptr;
  double* low_ = nullptr;
  T* weights_ = nullptr;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MODEL_H_
