// Computes the numeric factors of -S by elimination without subtraction.

#ifndef PHASIC_NATIVE_ELIMINATION_SOLVER_FACTORIZE_H_
#define PHASIC_NATIVE_ELIMINATION_SOLVER_FACTORIZE_H_

#include <cstdint>
#include <type_traits>

#include "native/elimination/solver/values.h"
#include "native/kernel/runtime/work_limit.h"

namespace phasic {
namespace PHASIC_ISA {

// Factorizes one model (V is double) or one model per lane (V is Lanes). `F` is
// the type of the given weights.
template <class V, class F>
class Factorization {
 public:
  Factorization(const Topology& topology, const F* const* weights,
                const FactorArrays& factors, const Scratch& scratch)
      : t_(topology),
        weights_(weights),
        outer_(reinterpret_cast<V*>(factors.outer)),
        leaving_(reinterpret_cast<V*>(factors.leaving)),
        pivots_(reinterpret_cast<V*>(factors.pivots)),
        fronts_(reinterpret_cast<V*>(factors.fronts)),
        matrices_(reinterpret_cast<V*>(scratch.matrices)),
        local_(reinterpret_cast<V*>(scratch.local)) {}

  Checks<V> Run() {
    int64_t s = 0;
    for (int64_t n = 0; n < t_.num_phases; ++n) {
      V leaving(0.0);
      for (; s < t_.outer_offsets[n + 1]; ++s) {
        outer_[s] = Weight(t_.outer_numbers[s]);
        leaving = leaving + outer_[s];
      }
      leaving_[n] = leaving;
      pivots_[n] = leaving;  // the pivot of a component of one phase
    }
    for (size_t f = 0; f < t_.fronts.size() && !MustEnd(f); ++f) Eliminate(f);
    for (int64_t n = 0; n < t_.num_phases; ++n) checks_.AddPivot(pivots_[n]);
    return checks_;
  }

 private:
  static constexpr int64_t kBlock = 4;

  // Returns whether the call has to end early, at some of the fronts. Then the
  // factors are meaningless.
  static bool MustEnd(size_t front) {
    constexpr size_t kBetweenQuestions = 1024;
    return front % kBetweenQuestions == 0 && IsStopped();
  }

  V Weight(int64_t number) {
    V weight;
    Read(weights_, number, &weight);
    checks_.AddWeight(weight);
    return weight + V(0.0);  // turns -0 into 0
  }

  void Eliminate(size_t number) {
    const Front& front = t_.fronts[number];
    const int64_t size = front.size;
    const int64_t num_own = front.num_own;
    V* matrix = matrices_ + front.matrix;
    if (front.is_leaf) Clear(size * size, matrix);
    for (int64_t s = t_.inner_offsets[number]; s < t_.inner_offsets[number + 1];
         ++s) {
      V& place = matrix[t_.inner_places[s]];
      place = place + Weight(t_.inner_numbers[s]);
    }
    const int32_t* later = t_.later.data() + front.later;
    V* leaving = local_;
    for (int64_t r = 0; r < size; ++r) {
      leaving[r] = leaving_[r < num_own ? front.first + r : later[r - num_own]];
    }
    for (int64_t first = 0; first < num_own; first += kBlock) {
      if (size >= kLeastStopped && IsStopped()) return;
      const int64_t last = first + kBlock < num_own ? first + kBlock : num_own;
      EliminateBlock(front, first, last, matrix, leaving);
    }
    for (int64_t r = 0; r < num_own; ++r) {
      leaving_[front.first + r] = leaving[r];
    }
    for (int64_t r = num_own; r < size; ++r) {
      leaving_[later[r - num_own]] = leaving[r];
    }
    Keep(front, matrix);
    if (front.parent != kNoFront) PassOn(front, matrix);
  }

  // Eliminates the phases `first` to `last` - 1 of the front: updates the later
  // rows of `matrix` and of `leaving`, the weights out of the component.
  void EliminateBlock(const Front& front, int64_t first, int64_t last,
                      V* matrix, V* leaving) {
    const int64_t size = front.size;
    V* pivots = pivots_ + front.first;
    V shares[kBlock];
    for (int64_t r = first; r < size; ++r) {
      V* row = matrix + r * size;
      const int64_t end = r < last ? r : last;
      for (int64_t k = first; k < end; ++k) {
        const V share = Share(pivots[k], &row[k], &leaving[r]);
        shares[k - first] = share;
        const V* above = matrix + k * size;
        for (int64_t j = k + 1; j < end; ++j) {
          row[j] = row[j] + share * above[j];
        }
        leaving[r] = leaving[r] + share * leaving[k];
      }
      AddRows(end - first, shares, matrix + first * size, size, end, size, row);
      if (r >= last) continue;
      V pivot = leaving[r];
      for (int64_t j = r + 1; j < size; ++j) pivot = pivot + row[j];
      pivots[r] = pivot;
    }
  }

  // Replaces the weight from a later phase to the eliminated phase by weight /
  // pivot, an entry of L, and returns this entry. If the pivot is zero, the
  // eliminated phase is a trap. Then a positive weight is added to `leaving`
  // and replaced by infinity, and the function returns zero.
  static V Share(const V& pivot, V* weight, V* leaving) {
    if constexpr (!std::is_same_v<V, Lanes>) {
      if (pivot == 0.0) {  // the eliminated phase is a trap
        if (*weight == 0.0) return 0.0;
        *leaving += *weight;
        *weight = kInfinity;
        return 0.0;
      }
    }
    *weight = *weight / pivot;
    return *weight;
  }

  void Keep(const Front& front, const V* matrix) {
    const int64_t size = front.size;
    const int64_t num_own = front.num_own;
    V* kept = fronts_ + front.factors;
    for (int64_t s = 0; s < num_own * size; ++s) kept[s] = matrix[s];
    kept += num_own * size;
    for (int64_t k = 0; k < num_own; ++k) {
      for (int64_t r = num_own; r < size; ++r) *kept++ = matrix[r * size + k];
    }
  }

  // Adds the front's update, the remaining weights between its later phases, to
  // the matrix of the parent front.
  void PassOn(const Front& front, const V* matrix) {
    const Front& parent = t_.fronts[front.parent];
    const int64_t num_later = front.num_later();
    const int32_t* places = t_.places.data() + front.later;
    V* above = matrices_ + parent.matrix;
    const int64_t stride = parent.size;
    if (front.opens_parent) Clear(stride * stride, above);
    for (int64_t r = 0; r < num_later; ++r) {
      const V* row = matrix + (front.num_own + r) * front.size + front.num_own;
      V* to = above + places[r] * stride;
      for (int64_t j = 0; j < num_later; ++j) {
        to[places[j]] = to[places[j]] + row[j];
      }
    }
  }

  static void Clear(int64_t count, V* values) {
    for (int64_t s = 0; s < count; ++s) values[s] = V(0.0);
  }

  const Topology& t_;
  const F* const* const weights_;
  V* const outer_;
  V* const leaving_;
  V* const pivots_;
  V* const fronts_;
  V* const matrices_;
  V* const local_;
  Checks<V> checks_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_SOLVER_FACTORIZE_H_
