// The interface between the batch loop (phase_type.cc) and the sweeps. A sweep
// evaluates one model; it is compiled once per instruction set.

#ifndef PHASIC_NATIVE_KERNEL_API_SWEEP_H_
#define PHASIC_NATIVE_KERNEL_API_SWEEP_H_

#include <cstdint>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/runtime/workspace.h"

namespace phasic {

enum StatusCode : int32_t {
  kOk = 0,
  kInitialProbsInvalid,
  kInitialProbsSum,
  kSubgeneratorNotFinite,
  kOffDiagonalNegative,
  kRowSumPositive,
  kExitRatesInvalid,
  kProbZeroInvalid,
  kTimeNaN,
  kWorkLimit,
  kMemoryLimit,
  kUnderflow,
  kNeverAbsorbed,
  kLogOfZero,
  kEdgeOutOfRange,
  kEdgeRateInvalid,
  kNotFinite,
  kKindInvalid,
  kIntervalOpen,
  kIntervalInvalid,
  kTransitionInvalid,
  kRowAboveOne,
  kRowBelowOne,
  kNumStatusCodes,
  // The status of times that are still to be evaluated; outputs never have it.
  kNotEvaluated,
};

// One operand of one model: its value and its tangents v1, v2, v3.
struct OperandView {
  const double* value;
  const double* tangents[kMaxOrder];
};

// The rates of a sparse model, linear in parameters: edge e has rate
// constants[e] + sum_c coefficients[e, c] theta[c], or theta[e] if there are no
// coefficients. Target num_phases stands for absorption.
struct EdgeView {
  int64_t count;
  const int32_t* sources;      // [count]; nullptr: a dense model
  const int32_t* targets;      // [count]
  const double* constants;     // [count] or nullptr: zero
  const double* coefficients;  // [count, num_parameters] or nullptr
  int64_t num_parameters;
};

struct SweepInput {
  int64_t num_phases;
  int64_t num_times;
  const int32_t* kinds;  // [n]: a Kind for each time, or nullptr: `kind`
  int64_t row_length;    // times come in rows; an interval lies within a row
  double epsilon;        // unit in the last place of the caller's floating type
  Kind kind;
  bool discrete;  // transition probabilities and numbers of steps
  bool has_exit_rates;
  bool has_prob_zero;
  OperandView initial_probs;  // [p]
  OperandView subgenerator;   // [p, p]: S or T; theta of a sparse model
  EdgeView edges;
  OperandView exit_rates;   // [p] or unused
  OperandView prob_zero;    // [1] or unused
  OperandView times;        // [n]
  const double* cotangent;  // [n], adjoint only

  bool has_edges() const { return edges.sources != nullptr; }
  Kind KindOf(int64_t time) const {
    return kinds != nullptr ? static_cast<Kind>(kinds[time]) : kind;
  }
};

// Forward sweeps write values and, if not nullptr, status; adjoint sweeps write
// those cotangents that are not nullptr; statistics sweeps write the rest.
struct SweepOutput {
  double* values;         // [n]
  int32_t* status;        // [n] or nullptr
  double* initial_probs;  // [p]
  double* subgenerator;   // [p, p]
  double* exit_rates;     // [p]
  double* prob_zero;      // [1]
  double* times;          // [n]
  double* starts;         // [p]
  double* sojourns;       // [p]
  double* jumps;          // [p, p], or [count] for edges
  double* exits;          // [p]
  double* atom;           // [1]
};

using Sweep = void (*)(const SweepInput& input, const SweepOutput& output,
                       Workspace* workspace);

// Computes J_1 in `count` directions at once: inputs differ only in their
// tangents. Outputs must have status.
using DirectionsSweep = void (*)(const SweepInput* inputs,
                                 const SweepOutput* outputs, int64_t count,
                                 Workspace* workspace);
constexpr int kMaxDirections = 8;

// Sweeps over `count` <= kMaxGroup models, with the same results as separate
// calls. This is faster for models that have the same edges or are small. The
// workspace is empty.
constexpr int kMaxGroup = 8;
using GroupSweep = void (*)(const SweepInput* inputs,
                            const SweepOutput* outputs, int count,
                            Workspace* workspace);

// Models with at least so many times share expansion points; see node_groups.h.
constexpr int64_t kManyTimes = 512;

// Models with at most so many phases, edges and parameters are small; see
// small_models.h.
constexpr int64_t kSmallPhases = 8;
constexpr int64_t kSmallEdges = kSmallPhases * kSmallPhases;
constexpr int64_t kSmallParameters = 64;

struct SweepTable {
  Sweep forward[kMaxOrder + 1];  // J_0 .. J_3
  Sweep adjoint[kMaxOrder + 1];  // V_1 .. V_3; entry 0 is unused
  Sweep statistics;
  DirectionsSweep directions;  // nullptr: one direction at a time
  int num_directions;          // directions at once
  GroupSweep forward_group;    // J_0
  GroupSweep adjoint_group;    // V_1
  GroupSweep forward_small;    // J_0 of small models, one or more
  GroupSweep adjoint_small;    // V_1 of small models at one time
};

// Returns the sweeps over extended doubles, which have unbounded range but are
// far slower. They recompute what underflowed in the other sweeps: forward
// sweeps evaluate the times whose status, which must be given, is kUnderflow;
// adjoint sweeps keep outputs that they cannot improve.
const SweepTable& ExtendedSweeps();

// Returns the sweeps for the chosen instruction set; see instruction_sets.h.
const SweepTable& Sweeps();

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_API_SWEEP_H_
