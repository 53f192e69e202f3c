// Computes the differences x[i_e] - x[j_e] of a solution along the edges.

#ifndef PHASIC_NATIVE_ELIMINATION_SOLVER_DIFFERENCES_H_
#define PHASIC_NATIVE_ELIMINATION_SOLVER_DIFFERENCES_H_

#include <cstdint>
#include <type_traits>

#include "native/elimination/solver/values.h"
#include "native/kernel/runtime/work_limit.h"

namespace phasic {
namespace PHASIC_ISA {

// Writes the difference x[i_e] - x[j_e] along every edge.
//
// If x is large everywhere (in a chain that is rarely absorbed), subtracting
// its entries would leave only rounding errors. So for a phase k and any phase
// j that is eliminated later in the same front, the difference x_k - x_j is
// computed from differences between later phases:
//   (x_k - x_j) D_k = r_k - e_k x_j + sum_i W_ki (x_i - x_j).
// Here D_k is the pivot of phase k when it is eliminated, W_ki is its weight to
// the later phase i, e_k is its weight out of the component, and r_k is its
// right-hand side after forward substitution. x and r are relative to the
// component's base (see Substitution). The differences on the right are already
// known: phases are processed in reverse order of elimination, and differences
// between phases of this front that it does not eliminate are in the matrix of
// its parent.
//
// If `kTraps` is true (for doubles only), values may be infinite; zero weights
// times such values are zero.
template <class V, class F, bool kTraps>
class Differences {
 public:
  Differences(const Topology& topology, const FactorArrays& factors,
              const Task& task, const Scratch& scratch)
      : t_(topology),
        outer_(reinterpret_cast<const V*>(factors.outer)),
        leaving_(reinterpret_cast<const V*>(factors.leaving)),
        pivots_(reinterpret_cast<const V*>(factors.pivots)),
        fronts_(reinterpret_cast<const V*>(factors.fronts)),
        columns_(task.columns),
        count_(task.count),
        results_(reinterpret_cast<F* const*>(task.edge_results)),
        matrices_(reinterpret_cast<V*>(scratch.matrices)),
        local_(reinterpret_cast<V*>(scratch.local)),
        given_(reinterpret_cast<const V*>(scratch.given)),
        rest_(reinterpret_cast<const V*>(scratch.rest)),
        solution_(reinterpret_cast<const V*>(scratch.solution)),
        above_(reinterpret_cast<const V*>(scratch.above)),
        bases_(reinterpret_cast<const V*>(scratch.bases)) {}

  void Run() {
    for (int64_t c = 0; c < columns_; ++c) {
      for (size_t f = t_.fronts.size(); f-- > 0;) SubtractInFront(f, c);
      for (const int32_t e : t_.own_numbers) Store(V(0.0), e, c);
      for (int64_t k = 0; k < t_.num_components; ++k) {
        const int64_t n = t_.starts[k];
        if (t_.front_starts[k] != t_.front_starts[k + 1]) {
          for (int64_t i = n; i < t_.starts[k + 1]; ++i) {
            SubtractEdges(i, c, above_[i * columns_ + c],
                          bases_[n * columns_ + c]);
          }
        } else if (t_.outer_offsets[n + 1] - t_.outer_offsets[n] <=
                   kMaxSummedEdges) {
          SumEdges(n, c);
        } else {
          SubtractEdges(n, c, Solution(n, c), V(0.0));
        }
      }
    }
  }

 private:
  // The number of sums that are accumulated at a time, so that they fit into
  // registers.
  static constexpr int kSums =
      !std::is_same_v<V, Lanes> ? 4 : (kRegisterWidth > 2 ? 4 : 2);

  static V Product(const V& weight, const V& x) {
    if constexpr (kTraps) {
      if (weight == 0.0) return 0.0;
    }
    return weight * x;
  }
  // Returns sum / pivot, which is the difference x - y. If the pivot is zero
  // (the phase cannot be left), returns x - y itself.
  static V Divided(const V& sum, const V& pivot, const V& x, const V& y) {
    if constexpr (kTraps) {
      if (pivot == 0.0) return x - y;
    }
    return sum / pivot;
  }
  // Computes row[j] += sum_k weights[k] rows[k, j] for the entries j from
  // `begin` on.
  static void AddRowsTo(int64_t begin, int64_t size, const V* weights,
                        const V* rows, V* row) {
    if constexpr (kTraps) {
      for (int64_t k = 0; k < size - begin; ++k) {
        for (int64_t j = begin; j < size; ++j) {
          row[j] = row[j] + Product(weights[k], rows[k * size + j]);
        }
      }
    } else {
      AddRows(size - begin, weights, rows, size, begin, size, row);
    }
  }

  V Solution(int64_t n, int64_t c) const { return solution_[n * columns_ + c]; }
  void Store(const V& difference, int64_t number, int64_t c) const {
    Write(difference, number * columns_ + c, count_, results_);
  }

  // Computes the difference x_i - x_j for all pairs of phases in a front, and
  // stores it in row i and column j of the front's matrix.
  void SubtractInFront(size_t number, int64_t c) {
    const Front& front = t_.fronts[number];
    const int64_t size = front.size;
    const int64_t num_own = front.num_own;
    V* matrix = matrices_ + front.matrix;
    if (front.parent != kNoFront) TakeFromParent(front, matrix);
    const int32_t* later = t_.later.data() + front.later;
    V* x = local_;
    for (int64_t i = 0; i < size; ++i) {
      const int64_t n = i < num_own ? front.first + i : later[i - num_own];
      x[i] = above_[n * columns_ + c];
    }
    for (int64_t r = num_own; r-- > 0;) {
      if (size >= kLeastStopped && IsStopped()) return;
      const int64_t n = front.first + r;
      const V rest = rest_[n * columns_ + c];
      const V leaving = leaving_[n];
      V* row = matrix + r * size;
      row[r] = V(0.0);
      for (int64_t j = r + 1; j < size; ++j) {
        row[j] = rest - Product(leaving, x[j]);
      }
      const V* weights = fronts_ + front.factors + r * size;
      AddRowsTo(r + 1, size, weights + r + 1, row + size, row);
      for (int64_t j = r + 1; j < size; ++j) {
        row[j] = Divided(row[j], pivots_[n], x[r], x[j]);
        matrix[j * size + r] = V(0.0) - row[j];
      }
    }
    for (int64_t s = t_.inner_offsets[number]; s < t_.inner_offsets[number + 1];
         ++s) {
      Store(matrix[t_.inner_places[s]], t_.inner_numbers[s], c);
    }
  }

  void TakeFromParent(const Front& front, V* matrix) {
    const Front& parent = t_.fronts[front.parent];
    const int64_t num_later = front.num_later();
    const int32_t* places = t_.places.data() + front.later;
    for (int64_t i = 0; i < num_later; ++i) {
      const V* from =
          matrices_ + parent.matrix + places[i] * int64_t{parent.size};
      V* to = matrix + (front.num_own + i) * front.size + front.num_own;
      for (int64_t j = 0; j < num_later; ++j) to[j] = from[places[j]];
    }
  }

  // Computes the differences along the edges of a phase that is a component by
  // itself, by the formula in the comment of the class, with the weights of
  // these edges instead of W.
  void SumEdges(int64_t n, int64_t c) {
    const int64_t begin = t_.outer_offsets[n];
    const int64_t count = t_.outer_offsets[n + 1] - begin;
    if (count == 0) return;
    for (int64_t s = 0; s < count; ++s) {
      local_[s] = Solution(t_.outer_targets[begin + s], c);
    }
    // Computes kSums sums at a time. The last group is padded with unused sums.
    for (int64_t s = count; s < count + kSums - 1; ++s) local_[s] = local_[0];
    const V given = given_[n * columns_ + c];
    const V pivot = pivots_[n];
    for (int64_t first = 0; first < count; first += kSums) {
      V x[kSums];
      V sums[kSums];
      for (int k = 0; k < kSums; ++k) {
        x[k] = local_[first + k];
        sums[k] = given;
      }
      for (int64_t i = 0; i < count; ++i) {
        const V weight = outer_[begin + i];
        const V there = local_[i];
        for (int k = 0; k < kSums; ++k) {
          sums[k] = sums[k] + Product(weight, there - x[k]);
        }
      }
      const int64_t last = first + kSums < count ? first + kSums : count;
      for (int64_t s = first; s < last; ++s) {
        Store(Divided(sums[s - first], pivot, Solution(n, c), local_[s]),
              t_.outer_numbers[begin + s], c);
      }
    }
  }

  // Computes the differences along the edges of phase n by subtraction. `above`
  // is the solution of phase n minus `base`.
  void SubtractEdges(int64_t n, int64_t c, const V& above,
                     const V& base) const {
    for (int64_t s = t_.outer_offsets[n]; s < t_.outer_offsets[n + 1]; ++s) {
      Store(above - (Solution(t_.outer_targets[s], c) - base),
            t_.outer_numbers[s], c);
    }
  }

  const Topology& t_;
  const V* const outer_;
  const V* const leaving_;
  const V* const pivots_;
  const V* const fronts_;
  const int64_t columns_;
  const int count_;
  F* const* const results_;
  V* const matrices_;
  V* const local_;
  const V* const given_;
  const V* const rest_;
  const V* const solution_;
  const V* const above_;
  const V* const bases_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_SOLVER_DIFFERENCES_H_
