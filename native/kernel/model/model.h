// One phase-type model in the form that the sweeps use: the transition matrix P
// = I + S/q of the uniformized chain, the exit rates and the atom at zero, with
// all tangents.
//
// q is a power of two, so that division by it is exact. A rounding error in P
// would have the same sign in each of up to millions of steps, and so would
// accumulate.

#ifndef PHASIC_NATIVE_KERNEL_MODEL_MODEL_H_
#define PHASIC_NATIVE_KERNEL_MODEL_MODEL_H_

#include <cmath>
#include <cstdint>
#include <new>
#include <type_traits>

#include "native/kernel/api/sweep.h"
#include "native/kernel/matrix/operator.h"
#include "native/kernel/matrix/structure.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/matrix/weight_planes.h"
#include "native/kernel/model/rates.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// The results whose costs decide at which times scaling and squaring is used:
// values, cotangents of all operands, or tangents in one direction. See
// choice.h.
enum class Derivatives { kAsValues, kCotangents, kTangents };

template <class T>
struct Model {
  int64_t size = 0;
  int64_t stride = 0;
  bool discrete = false;  // P is given and q is one
  int64_t log2_q = 0;
  double q = 1.0;
  Operator<T> forward;   // v -> v P
  Operator<T> backward;  // y -> P y
  // The pattern of those entries of P whose cotangents are computed: all
  // entries of a dense model, or the entries that belong to edges of a sparse
  // one.
  TilePattern products;
  const int64_t* cells = nullptr;  // the cell of each edge in `products`
  T* initial = nullptr;
  T* exits = nullptr;
  // Of several models together, the phases with exits.
  const int32_t* exiting_phases = nullptr;
  int64_t num_exiting = 0;
  // The rates of absorption, which are the exits unless these are weights of
  // phases.
  T* absorbing = nullptr;
  T prob_zero = T(0.0);
  // The columns that steps reach; nullptr unless the model is large and sparse.
  const ReachedColumns* columns = nullptr;
  uint8_t* reached = nullptr;  // reachable from a phase where alpha is not zero
  uint8_t* exiting = nullptr;  // absorption can be reached from the phase
  bool starts = false;         // some phase is reached
  bool absorbs = false;        // a reached phase is exiting
  bool value_starts = false;   // `starts` and `absorbs` if tangents are ignored
  bool value_absorbs = false;
  bool defective = false;  // a reached phase is not exiting
  Derivatives derivatives = Derivatives::kAsValues;
  // The number of nonzero rates between phases, and whether all of these rates
  // lead to later phases, or all to earlier ones. Rates that are zero are not
  // counted, even if they have tangents.
  int64_t num_rates = 0;
  bool is_triangular = false;
  double max_exit = 0.0;
  // Used in bounds on truncation errors. initial_size and exit_size are the
  // sums of the absolute values of alpha and of the exits, and of their
  // tangents. growth[order] bounds the row sums of the absolute values of the
  // tangents of P in direction `order`.
  T initial_size = T(0.0);
  T exit_size = T(0.0);
  double growth[kMaxOrder + 1] = {};
};

template <class T>
class ModelBuilder {
 public:
  // Models with the same edges may share their structure: the first model that
  // is built fills `shared`, and the others use it.
  ModelBuilder(const SweepInput& in, Workspace* workspace, Model<T>* model,
               Structure* shared = nullptr)
      : in_(in),
        workspace_(workspace),
        model_(*model),
        structure_(shared != nullptr ? *shared : own_structure_) {}

  // Omits edges whose rate is zero. Only for sweeps that do not compute the
  // cotangents of rates.
  void SkipZeros() { skips_zeros_ = true; }

  StatusCode Build() {
    model_.discrete = in_.discrete;
    StatusCode status = CheckValues(in_, HasOwnExponent<T>::kValue);
    if (status != kOk) return status;
    model_.size = in_.num_phases;
    model_.stride = PaddedSize(model_.size);
    model_.initial = AllocateZeros<T>(workspace_, model_.stride);
    if (model_.initial == nullptr) return kMemoryLimit;
    status = DeriveAtom();
    if (status == kOk) {
      status = RatesReader<T>(in_, workspace_, skips_zeros_, &rates_).Read();
    }
    if (status == kOk && !in_.discrete) status = ChooseScale();
    if (status != kOk) return status;
    model_.exits = rates_.exits;
    model_.absorbing = rates_.absorbing;
    if (!BuildStaying() || !BuildOperators() || !MarkPhases()) {
      return kMemoryLimit;
    }
    Measure();
    return kOk;
  }

 private:
  StatusCode DeriveAtom() {
    const int64_t p = in_.num_phases;
    for (int64_t i = 0; i < p; ++i) {
      model_.initial[i] = Element<T>(in_.initial_probs, i);
    }
    if (in_.has_prob_zero) {
      model_.prob_zero = Element<T>(in_.prob_zero, 0);
      return kOk;
    }
    CompensatedSum<T> rest;
    rest.Add(T(1.0));
    for (int64_t i = 0; i < p; ++i) rest.Add(-model_.initial[i]);
    model_.prob_zero = rest.Result();
    const double tolerance = 4.0 * static_cast<double>(p) * in_.epsilon;
    const double atom = Primal(model_.prob_zero);
    if (atom < -tolerance) return kInitialProbsSum;
    if (atom <= tolerance) ClearPrimal(&model_.prob_zero);
    return kOk;
  }

  // Chooses q, the smallest power of two that is at least the largest rate of
  // leaving a phase, and divides the rates by it.
  StatusCode ChooseScale() {
    double largest = 0.0;
    for (int64_t i = 0; i < model_.size; ++i) {
      double leaving = Primal(rates_.leaving[i]);
      if (!(leaving < HUGE_VAL)) return kWorkLimit;
      if (leaving == 0.0 && !PrimalIsZero(rates_.leaving[i])) {
        leaving = 0x1p-1022;
      }
      if (leaving > largest) largest = leaving;
    }
    // If no rate is positive, derivatives may still need a series. This q is so
    // small that x = q t needs few steps, but so large that x does not
    // underflow.
    model_.log2_q = -40;
    if (largest > 0.0) {
      model_.log2_q = ExponentOf(largest);
      if (PowerOfTwo(model_.log2_q) < largest) ++model_.log2_q;
    }
    if (model_.log2_q > 1000) return kWorkLimit;
    if (model_.log2_q < -1000) model_.log2_q = -1000;
    // Exits are not divided by q. For larger q, dot products of states and
    // exits would overflow.
    if (model_.log2_q > 960 && !HasOwnExponent<T>::kValue) return kUnderflow;
    model_.q = PowerOfTwo(model_.log2_q);
    const double scale = PowerOfTwo(-model_.log2_q);
    for (int64_t e = 0; e < rates_.entries.count; ++e) {
      const bool positive = Primal(rates_.values[e]) > 0.0;
      rates_.values[e] = rates_.values[e] * scale;
      if (positive && PrimalIsZero(rates_.values[e])) return kUnderflow;
    }
    for (int64_t i = 0; i < model_.size; ++i) {
      rates_.leaving[i] = rates_.leaving[i] * scale;
      rates_.leaving_low[i] = rates_.leaving_low[i] * scale;
    }
    return kOk;
  }

  bool BuildStaying() {
    double* base = AllocateZeros<double>(workspace_, 2 * model_.stride);
    T* share = AllocateZeros<T>(workspace_, model_.stride);
    if (base == nullptr || share == nullptr) return false;
    double* low = base + model_.stride;
    for (int64_t i = 0; i < model_.size; ++i) {
      low[i] = Primal(rates_.leaving_low[i]);
      share[i] = T(1.0) - rates_.leaving[i];
      share[i] -= T(low[i]);
      if (Primal(rates_.leaving[i]) < 0.5) {
        base[i] = 1.0;
        continue;
      }
      rates_.leaving[i] -= T(1.0);  // exact
      rates_.leaving[i] += T(low[i]);
      low[i] = 0.0;
    }
    const Staying<T> staying = {share, base, rates_.leaving, low};
    for (Operator<T>* m : {&model_.forward, &model_.backward}) {
      m->size = model_.size;
      m->stride = model_.stride;
      m->staying = staying;
    }
    return true;
  }

  bool BuildOperators() {
    CountRates();
    if (!MakeStructure<T>(rates_.entries, workspace_, &structure_) ||
        !FillTiles(structure_.forward, structure_.forward_cells,
                   &model_.forward) ||
        !FillTiles(structure_.backward, structure_.backward_cells,
                   &model_.backward)) {
      return false;
    }
    model_.cells = structure_.forward_cells;
    model_.products = model_.forward.pattern;
    if (in_.has_edges() || IsFull(model_.forward.pattern)) return true;
    model_.cells = nullptr;
    return FullPattern(model_.size, std::is_same<T, double>::value ? 8 : 1,
                       workspace_, &model_.products);
  }

  void CountRates() {
    int64_t num_later = 0;
    for (int64_t e = 0; e < rates_.entries.count; ++e) {
      if (PrimalIsZero(rates_.values[e])) continue;
      ++model_.num_rates;
      num_later += rates_.entries.rows[e] < rates_.entries.columns[e];
    }
    model_.is_triangular = num_later == 0 || num_later == model_.num_rates;
  }

  bool IsFull(const TilePattern& pattern) const {
    return pattern.width == 8 &&
           pattern.num_tiles() ==
               pattern.num_groups * PaddedTiles(model_.size, 8);
  }

  bool FillTiles(const TilePattern& pattern, const int64_t* cells,
                 Operator<T>* m) {
    m->pattern = pattern;
    T* weights = AllocateZeros<T>(workspace_, m->pattern.num_cells());
    if (weights == nullptr) return false;
    for (int64_t e = 0; e < rates_.entries.count; ++e) {
      weights[cells[e]] += rates_.values[e];
    }
    m->weights = weights;
    return FillPlanes(m);
  }

  // Copies the weights of a dense matrix with one tangent.
  bool FillPlanes(Operator<T>* m) {
    if constexpr (std::is_same<T, Dual<double>>::value) {
      const int64_t size = model_.size;
      if (size <= 8 || 4 * rates_.entries.count < size * size) return true;
      double* planes =
          AllocateZeros<double>(workspace_, WeightPlanes::Count(size));
      if (planes == nullptr) return false;
      for (int64_t j = 0; j < size; ++j) {
        for (int64_t t = m->pattern.offsets[j]; t < m->pattern.offsets[j + 1];
             ++t) {
          double* place =
              planes + WeightPlanes::Place(size, m->pattern.rows[t], j);
          place[0] = m->weights[t].value;
          place[8] = m->weights[t].tangent;
        }
      }
      m->planes = planes;
    }
    return true;
  }

  // Marks all phases that can be reached from marked ones. The entries of phase
  // i are order[n] for offsets[i] <= n < offsets[i + 1]; entry e leads to phase
  // targets[e]. Entries for which is_nothing returns true are ignored.
  template <class IsNothing>
  void Flood(const int64_t* offsets, const int32_t* order,
             const int32_t* targets, const IsNothing& is_nothing,
             uint8_t* marks, int32_t* stack) const {
    int64_t top = 0;
    for (int64_t i = 0; i < model_.size; ++i) {
      if (marks[i]) stack[top++] = static_cast<int32_t>(i);
    }
    while (top > 0) {
      const int32_t i = stack[--top];
      for (int64_t n = offsets[i]; n < offsets[i + 1]; ++n) {
        const int32_t e = order[n];
        const int32_t target = targets[e];
        if (marks[target] || is_nothing(rates_.values[e])) continue;
        marks[target] = 1;
        stack[top++] = target;
      }
    }
  }

  template <class IsNothing>
  bool Mark(const IsNothing& is_nothing, uint8_t** reached, uint8_t** exiting) {
    const int64_t p = model_.size;
    *reached = AllocateZeros<uint8_t>(workspace_, p);
    *exiting = AllocateZeros<uint8_t>(workspace_, p);
    int32_t* stack = AllocateRoom<int32_t>(workspace_, p);
    if (!*reached || !*exiting || !stack) return false;
    for (int64_t i = 0; i < p; ++i) {
      (*reached)[i] = !is_nothing(model_.initial[i]);
      (*exiting)[i] = !is_nothing(model_.exits[i]);
    }
    Flood(structure_.row_offsets, structure_.by_row, rates_.entries.columns,
          is_nothing, *reached, stack);
    Flood(structure_.column_offsets, structure_.by_column, rates_.entries.rows,
          is_nothing, *exiting, stack);
    return true;
  }

  // If the model is large and sparse, finds the columns that steps reach. Edges
  // with rate zero are included, since the cotangents of their rates are
  // needed.
  bool MarkColumns() {
    if (!in_.has_edges() || model_.size < ReachedColumns::kLeastSize ||
        model_.forward.pattern.width == 8) {
      return true;
    }
    void* memory = workspace_->Allocate(1, sizeof(ReachedColumns));
    if (memory == nullptr) return false;
    ReachedColumns* columns = new (memory) ReachedColumns;
    model_.columns = columns;
    return columns->Build(
        structure_, rates_.entries,
        [this](int64_t i) { return !IsZero(model_.initial[i]); },
        [this](int64_t i) { return !IsZero(model_.exits[i]); }, workspace_);
  }

  bool MarkPhases() {
    if (!Mark([](const T& x) { return IsZero(x); }, &model_.reached,
              &model_.exiting) ||
        !MarkColumns()) {
      return false;
    }
    for (int64_t i = 0; i < model_.size; ++i) {
      if (!model_.reached[i]) continue;
      model_.starts = true;
      (model_.exiting[i] ? model_.absorbs : model_.defective) = true;
    }
    model_.value_starts = model_.starts;
    model_.value_absorbs = model_.absorbs;
    if (Depth<T>::kValue == 0) return true;
    // Marks phases again, and now ignores all entries whose value is zero, even
    // if they have tangents. Where absorption is not certain, some values are
    // NaN, and their derivatives must be NaN as well.
    uint8_t* reached = nullptr;
    uint8_t* exiting = nullptr;
    if (!Mark([](const T& x) { return PrimalIsZero(x); }, &reached, &exiting)) {
      return false;
    }
    model_.value_starts = model_.value_absorbs = false;
    for (int64_t i = 0; i < model_.size; ++i) {
      if (!reached[i]) continue;
      model_.value_starts = true;
      (exiting[i] ? model_.value_absorbs : model_.defective) = true;
    }
    return true;
  }

  void Measure() {
    for (int64_t i = 0; i < model_.size; ++i) {
      model_.initial_size += Abs(model_.initial[i]);
      model_.exit_size += Abs(model_.exits[i]);
      double exit = Primal(model_.exits[i]);
      if (exit == 0.0 && !PrimalIsZero(model_.exits[i])) exit = 0x1p-1022;
      if (exit > model_.max_exit) model_.max_exit = exit;
    }
    for (int order = 0; order < Depth<T>::kValue; ++order) {
      model_.growth[order] = TangentSize(in_, order) / model_.q;
    }
  }

  const SweepInput& in_;
  Workspace* workspace_;
  Model<T>& model_;
  Rates<T> rates_;
  Structure own_structure_;
  Structure& structure_;
  bool skips_zeros_ = false;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MODEL_MODEL_H_
