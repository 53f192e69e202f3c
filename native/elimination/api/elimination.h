// Linear systems of Markov chains, solved by elimination that never subtracts.
//
// A chain on p phases has edges e from phase i_e to phase j_e, or to absorption
// (j_e = p), with weights w_e >= 0: rates in continuous time, probabilities of
// a step in discrete time. An edge from a phase to itself changes nothing. With
//
//   S = sum_e w_e (E[i_e, j_e] - E[i_e, i_e]),   U = (-S)^-1 >= 0,
//
// pivots are sums of what remains, so that for data without minus signs every
// entry of a result is accurate to its own size, however ill-conditioned S is.
//
// Two maps are linear in what they are applied to, and each the other's
// transpose; differences along edges are made by the elimination itself, where
// subtracting solutions would leave nothing of them:
//
//   Solve:            x = U (b + sum_e c_e unit(i_e)),
//                     d_e = x[i_e] - x[j_e], with x = 0 at absorption;
//   SolveTransposed:  y = U^T (b + sum_e c_e (unit(i_e) - unit(j_e))),
//                     z_e = y[i_e].
//
// All derivatives are again these maps: Solve's along dw is Solve of
// c = -dw d, b = 0; SolveTransposed's is that of c = -dw z, b = 0.
//
// Phases from which absorption cannot be reached trap the chain: what
// accumulates there forever is infinite, and nothing is zero.
//
// References:
//   W. Grassmann, M. Taksar, D. Heyman, Regenerative analysis and steady state
//     distributions for Markov chains, Oper. Res. 33, 1985.
//   C. O'Cinneide, Entrywise perturbation theory and error analysis for Markov
//     chains, Numer. Math. 65, 1993.

#ifndef PHASIC_NATIVE_ELIMINATION_API_ELIMINATION_H_
#define PHASIC_NATIVE_ELIMINATION_API_ELIMINATION_H_

#include <cstdint>

#include "native/kernel/api/phase_type.h"

namespace phasic {

// Row-major arrays with the same number of batch dimensions, each of size 1
// (broadcast) or of the common size; all but the indices of one floating type.
struct LinearSystem {
  Input indices;    // [batch..., 2, m], int32: i_e, then j_e
  Input weights;    // [batch..., m]
  Input per_phase;  // b, [batch..., p, r]
  Input per_edge;   // c, [batch..., m, r], or [batch..., 0, r]: zeros
  Precision precision = Precision::kFloat64;
};

enum class Direction { kSolve, kSolveTransposed };

// Writes x or y [full batch..., p, r] and d or z [full batch..., m, r]; the
// latter has zeros for its last dimensions where it is not wanted, and is then
// not made. Weights that are negative, infinite or NaN make all of a model's
// results NaN, but those of edges from a phase to itself.
//
// Returns nullptr, or kOutOfMemory, or a message that lives until the thread's
// next call: shapes do not fit, an index is out of range, or the elimination
// would keep or need at once more than kMaxFill numbers, or take more than
// kMaxOperations.
const char* Eliminate(Direction direction, const LinearSystem& system,
                      const Output& per_phase, const Output& per_edge,
                      Executor* executor = OwnThreads());

constexpr int64_t kMaxFill = int64_t{1} << 27;
constexpr double kMaxOperations = 1e13;

// What an elimination takes.
struct EliminationSize {
  int64_t num_components;     // strongly connected
  int64_t largest_component;  // phases
  int64_t fill;               // numbers that are kept
  int64_t working;            // numbers that are needed beside them
  double operations;          // multiply-adds
};

// The size of the elimination for `indices`, [2, m], even if it is beyond the
// limits. Returns nullptr or a message.
const char* MeasureElimination(int64_t num_phases, const Input& indices,
                               EliminationSize* size);

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_API_ELIMINATION_H_
