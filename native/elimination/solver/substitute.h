// Forward and back substitution with the factors of an elimination, for several
// right-hand sides.

#ifndef PHASIC_NATIVE_ELIMINATION_SOLVER_SUBSTITUTE_H_
#define PHASIC_NATIVE_ELIMINATION_SOLVER_SUBSTITUTE_H_

#include <cstdint>

#include "native/elimination/solver/values.h"

namespace phasic {
namespace PHASIC_ISA {

// Solves for `kColumns` right-hand sides, or for a number given at run time if
// kColumns is 0. If `kTraps` is true (for doubles only), factors may be
// infinite.
//
// If a component leads to components that are left slowly, the solutions at its
// phases agree in most digits. So each of these solutions is computed as the
// sum of two numbers: a base, the smallest of the solutions at the targets of
// the component's edges, and the difference `above` from the base. This
// difference is accurate, whereas subtraction of solutions would cancel its
// digits.
template <class V, int kColumns, bool kTraps>
class Substitution {
 public:
  Substitution(const Topology& topology, const FactorArrays& factors,
               int64_t columns, const Scratch& scratch)
      : t_(topology),
        outer_(reinterpret_cast<const V*>(factors.outer)),
        pivots_(reinterpret_cast<const V*>(factors.pivots)),
        fronts_(reinterpret_cast<const V*>(factors.fronts)),
        columns_(kColumns == 0 ? columns : kColumns),
        local_(reinterpret_cast<V*>(scratch.local)),
        rest_(reinterpret_cast<V*>(scratch.rest)),
        solution_(reinterpret_cast<V*>(scratch.solution)),
        above_(reinterpret_cast<V*>(scratch.above)),
        bases_(reinterpret_cast<V*>(scratch.bases)) {}

  // Solves for the right-hand sides in `rest`, and writes `solution`.
  // Afterwards row n of `rest` has the right-hand side that phase n had at its
  // elimination.
  void Solve() {
    for (int64_t c = 0; c < Columns(); ++c) {
      At(solution_, t_.num_phases)[c] = V(0.0);
    }
    for (int64_t k = t_.num_components; k-- > 0;) {
      const int64_t first = t_.front_starts[k];
      const int64_t last = t_.front_starts[k + 1];
      if (first == last) {
        SolveSingle(t_.starts[k]);
        continue;
      }
      const V* base = FindBase(k);
      for (int64_t n = t_.starts[k]; n < t_.starts[k + 1]; ++n) {
        TakeOuter(n, base);
      }
      for (int64_t f = first; f < last; ++f) PassOnRest(t_.fronts[f]);
      for (int64_t f = last; f-- > first;) FindSolution(t_.fronts[f]);
      for (int64_t n = t_.starts[k]; n < t_.starts[k + 1]; ++n) {
        for (int64_t c = 0; c < Columns(); ++c) {
          At(solution_, n)[c] = At(above_, n)[c] + base[c];
        }
      }
    }
  }

  // Solves the transposed system for the right-hand sides in `solution`, which
  // it overwrites with the solutions.
  void SolveTransposed() {
    for (int64_t k = 0; k < t_.num_components; ++k) {
      const int64_t first = t_.front_starts[k];
      const int64_t last = t_.front_starts[k + 1];
      if (first == last) {
        Divide(t_.starts[k], At(solution_, t_.starts[k]), solution_);
      }
      for (int64_t f = first; f < last; ++f) PassOnSolution(t_.fronts[f]);
      for (int64_t f = last; f-- > first;) TakeShares(t_.fronts[f]);
      for (int64_t n = t_.starts[k]; n < t_.starts[k + 1]; ++n) {
        const V* mine = At(solution_, n);
        for (int64_t s = t_.outer_offsets[n]; s < t_.outer_offsets[n + 1];
             ++s) {
          Add(outer_[s], mine, At(solution_, t_.outer_targets[s]));
        }
      }
    }
  }

 private:
  int64_t Columns() const { return kColumns == 0 ? columns_ : kColumns; }
  V* At(V* array, int64_t n) const { return array + n * Columns(); }
  const V* Own(const Front& front) const { return fronts_ + front.factors; }
  const V* Shares(const Front& front) const {
    return Own(front) + int64_t{front.num_own} * front.size;
  }
  const int32_t* Later(const Front& front) const {
    return t_.later.data() + front.later;
  }

  // Computes to += factor * from. Infinite factors belong to traps: there,
  // infinity times zero is zero.
  void Add(const V& factor, const V* from, V* to) const {
    for (int64_t c = 0; c < Columns(); ++c) {
      if constexpr (kTraps) {
        if (factor == 0.0 || from[c] == 0.0) continue;
      }
      to[c] = to[c] + factor * from[c];
    }
  }

  // Computes the solution of a component whose only phase is n.
  void SolveSingle(int64_t n) const {
    V* mine = At(rest_, n);
    for (int64_t s = t_.outer_offsets[n]; s < t_.outer_offsets[n + 1]; ++s) {
      Add(outer_[s], At(solution_, t_.outer_targets[s]), mine);
    }
    Divide(n, mine, solution_);
  }

  const V* FindBase(int64_t component) const {
    V* base = At(bases_, t_.starts[component]);
    for (int64_t c = 0; c < Columns(); ++c) {
      base[c] = V(kTraps ? 0.0 : kInfinity);
    }
    if (kTraps) return base;
    const int64_t begin = t_.outer_offsets[t_.starts[component]];
    const int64_t end = t_.outer_offsets[t_.starts[component + 1]];
    for (int64_t s = begin; s < end; ++s) {
      const V* there = At(solution_, t_.outer_targets[s]);
      for (int64_t c = 0; c < Columns(); ++c) {
        TakeSmaller(outer_[s], there[c], &base[c]);
      }
    }
    for (int64_t c = 0; c < Columns(); ++c) base[c] = FiniteOrZero(base[c]);
    return base;
  }

  // Adds w (x - base) to row n of `rest` for each edge of phase n out of the
  // component, where w is the edge's weight and x the solution at its target.
  void TakeOuter(int64_t n, const V* base) const {
    V* mine = At(rest_, n);
    for (int64_t s = t_.outer_offsets[n]; s < t_.outer_offsets[n + 1]; ++s) {
      const V* there = At(solution_, t_.outer_targets[s]);
      for (int64_t c = 0; c < Columns(); ++c) {
        const V more = there[c] - base[c];
        if constexpr (kTraps) {
          if (outer_[s] == 0.0 || more == 0.0) continue;
        }
        mine[c] = mine[c] + outer_[s] * more;
      }
    }
  }

  // Writes x divided by the pivot of phase n to row n of `results`.
  void Divide(int64_t n, const V* x, V* results) const {
    V* solution = At(results, n);
    for (int64_t c = 0; c < Columns(); ++c) {
      if constexpr (kTraps) {
        if (x[c] == 0.0) {
          solution[c] = x[c];
          continue;
        }
      }
      solution[c] = x[c] / pivots_[n];
    }
  }

  void GatherLater(const Front& front, V* array) const {
    const int32_t* later = Later(front);
    for (int64_t i = 0; i < front.num_later(); ++i) {
      for (int64_t c = 0; c < Columns(); ++c) {
        At(local_, i)[c] = At(array, later[i])[c];
      }
    }
  }
  void ScatterLater(const Front& front, V* array) const {
    const int32_t* later = Later(front);
    for (int64_t i = 0; i < front.num_later(); ++i) {
      for (int64_t c = 0; c < Columns(); ++c) {
        At(array, later[i])[c] = At(local_, i)[c];
      }
    }
  }

  void PassOnRest(const Front& front) const {
    const int64_t num_later = front.num_later();
    const V* own = Own(front);
    for (int64_t r = 1; r < front.num_own; ++r) {
      for (int64_t k = 0; k < r; ++k) {
        Add(own[r * front.size + k], At(rest_, front.first + k),
            At(rest_, front.first + r));
      }
    }
    const V* shares = Shares(front);
    GatherLater(front, rest_);
    for (int64_t k = 0; k < front.num_own; ++k, shares += num_later) {
      const V* mine = At(rest_, front.first + k);
      for (int64_t i = 0; i < num_later; ++i) {
        Add(shares[i], mine, At(local_, i));
      }
    }
    ScatterLater(front, rest_);
  }

  void FindSolution(const Front& front) const {
    GatherLater(front, above_);
    for (int64_t r = front.num_own; r-- > 0;) {
      const V* weights = Own(front) + r * front.size;
      V* mine = At(above_, front.first + r);
      for (int64_t c = 0; c < Columns(); ++c) {
        mine[c] = At(rest_, front.first + r)[c];
      }
      for (int64_t j = r + 1; j < front.num_own; ++j) {
        Add(weights[j], At(above_, front.first + j), mine);
      }
      weights += front.num_own;
      for (int64_t i = 0; i < front.num_later(); ++i) {
        Add(weights[i], At(local_, i), mine);
      }
      Divide(front.first + r, mine, above_);
    }
  }

  void PassOnSolution(const Front& front) const {
    GatherLater(front, solution_);
    for (int64_t r = 0; r < front.num_own; ++r) {
      const V* weights = Own(front) + r * front.size;
      V* mine = At(solution_, front.first + r);
      Divide(front.first + r, mine, solution_);
      for (int64_t j = r + 1; j < front.num_own; ++j) {
        Add(weights[j], mine, At(solution_, front.first + j));
      }
      weights += front.num_own;
      for (int64_t i = 0; i < front.num_later(); ++i) {
        Add(weights[i], mine, At(local_, i));
      }
    }
    ScatterLater(front, solution_);
  }

  void TakeShares(const Front& front) const {
    const int64_t num_later = front.num_later();
    const V* shares = Shares(front) + front.num_own * num_later;
    const V* own = Own(front);
    GatherLater(front, solution_);
    for (int64_t k = front.num_own; k-- > 0;) {
      shares -= num_later;
      V* mine = At(solution_, front.first + k);
      for (int64_t i = 0; i < num_later; ++i) {
        Add(shares[i], At(local_, i), mine);
      }
      for (int64_t r = k + 1; r < front.num_own; ++r) {
        Add(own[r * front.size + k], At(solution_, front.first + r), mine);
      }
    }
  }

  const Topology& t_;
  const V* const outer_;
  const V* const pivots_;
  const V* const fronts_;
  const int64_t columns_;
  V* const local_;
  V* const rest_;
  V* const solution_;
  V* const above_;
  V* const bases_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_SOLVER_SUBSTITUTE_H_
