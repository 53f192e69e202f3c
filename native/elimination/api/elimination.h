// Linear systems of Markov chains, solved by elimination without subtraction.
//
// A chain on p phases has edges e from phase i_e to phase j_e, or to absorption
// (j_e = p), with weights w_e >= 0: rates in continuous time, one-step
// probabilities in discrete time. An edge from a phase to itself has no effect.
// Let
//
//   S = sum_e w_e (E[i_e, j_e] - E[i_e, i_e]),   U = (-S)^-1 >= 0,
//
// where E[i, j] has a one in row i and column j, and is zero for j = p. Pivots
// are sums of the remaining weights, so that for nonnegative data every entry
// of a result is accurate relative to its own size, however ill-conditioned S
// is.
//
// The following two maps are linear in the right-hand sides b and c, and
// transposes of each other; unit(i) is a unit vector, or zero for i = p. The
// elimination computes the differences d along edges itself, since subtraction
// of solutions could cancel all digits:
//
//   Solve:            x = U (b + sum_e c_e unit(i_e)),
//                     d_e = x[i_e] - x[j_e], with x = 0 at absorption;
//   SolveTransposed:  y = U^T (b + sum_e c_e (unit(i_e) - unit(j_e))),
//                     z_e = y[i_e].
//
// Derivatives are instances of these maps, too. If the weights change in
// direction dw, the derivative of Solve is Solve with c = -dw d, b = 0, and the
// derivative of SolveTransposed is SolveTransposed with c = -dw z, b = 0.
//
// Phases from which absorption cannot be reached are traps: the time in them is
// infinite, and infinity times a mass of zero is zero.
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

// The operands of a batch of linear systems, as row-major arrays. All arrays
// have the same number of batch dimensions, each of size 1 (broadcast) or of
// the full batch size. All arrays except `indices` have the same floating-point
// type.
struct LinearSystem {
  Input indices;    // [batch..., 2, m], int32: i_e, then j_e
  Input weights;    // [batch..., m]
  Input per_phase;  // b, [batch..., p, r]
  Input per_edge;   // c, [batch..., m, r], or [batch..., 0, r]: zeros
  Precision precision = Precision::kFloat64;
};

enum class Direction { kSolve, kSolveTransposed };

// Solves every system of a batch in the given direction. Writes the solutions x
// or y, [full batch..., p, r], to `per_phase`, and the edge results d or z,
// [full batch..., m, r], to `per_edge`; if the last two dimensions of
// `per_edge` are zero, edge results are not computed. A negative, infinite or
// NaN weight makes all results of its model NaN, unless it belongs to an edge
// from a phase to itself.
//
// Returns nullptr, kOutOfMemory, or an error message that is valid until the
// thread's next call. It is an error if shapes do not fit, if an index is out
// of range, or if the elimination would store more than kMaxFill numbers, use
// working memory for more than kMaxFill numbers, or take more than
// kMaxOperations multiply-adds.
const char* Eliminate(Direction direction, const LinearSystem& system,
                      const Output& per_phase, const Output& per_edge,
                      Executor* executor = OwnThreads());

constexpr int64_t kMaxFill = int64_t{1} << 27;
constexpr double kMaxOperations = 1e13;

// The memory and the number of operations that an elimination needs.
struct EliminationSize {
  int64_t num_components;     // strongly connected
  int64_t largest_component;  // phases
  int64_t fill;               // numbers that are stored
  int64_t working;            // numbers of working memory
  double operations;          // multiply-adds
};

// Computes the cost of the elimination for the given edge `indices`, [2, m],
// even if Eliminate would refuse it as too large. Returns nullptr or an error
// message.
const char* MeasureElimination(int64_t num_phases, const Input& indices,
                               EliminationSize* size);

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_API_ELIMINATION_H_
