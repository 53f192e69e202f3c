// The phase-type kernel: values and exact derivatives of the density, survival
// function and distribution function of phase-type distributions, in
// continuous time or in steps.
//
// Nothing here knows a framework. Every caller (XLA, TensorFlow, NumPy) passes
// the same five operands as dense, row-major arrays of one floating type:
//
//   initial_probs [batch..., p]
//   subgenerator  [batch..., p, p]
//   exit_rates    [batch..., p]  or [batch..., 0]: derived as -S 1
//   prob_zero     [batch..., 1]  or [batch..., 0]: derived as 1 - sum(alpha)
//   times         [batch..., n]
//
// In place of the subgenerator a call may have the rates of edges, linear in
// parameters: operand `subgenerator` is then theta [batch..., d], exit_rates
// must be empty, and the call's `edges` say what theta means; see Edges.
//
// In a discrete call `subgenerator` is T, the probabilities of going from phase
// to phase in a step, `exit_rates` are those of absorption and `times` are
// counts k of steps:
//   density prob_zero at k = 0, else alpha T^(k-1) t; survival alpha T^k 1;
//   cdf prob_zero + sum_{j<k} alpha T^j t.
// T is data, its diagonal too. Absent exits are derived as 1 - T 1, given ones
// must make every row's sum one. A density is zero between counts; survival
// and cdf are those of the count below. At counts nothing has a derivative in
// k: that is NaN.
//
// Derivatives in time, too, are those of the formula. With x = q t, q near the
// largest rate, those of the density alone, and of the r-th order of the others
// r - 1, are differences of what hardly changes from jump to jump: errors of
// t^r d^r/dt^r grow with x^r. Where they may exceed 1e-3, relative to F or to
// the derivative itself, it is NaN. First derivatives of the density are far
// below that for all x that have values, second ones in time alone up to 1e12
// or, for few phases, 1e13; derivatives both in time and in other operands are
// NaN above 1e12, those of second order in time above 7e5. NaN does not touch
// what has a tangent or a cotangent of zero.
//
// All operands have the same number of batch dimensions, each of size 1
// (broadcast) or of the common size. The first `mapped_dims` batch dimensions
// are mapped: derivatives are never summed over them.

#ifndef PHASIC_NATIVE_KERNEL_API_PHASE_TYPE_H_
#define PHASIC_NATIVE_KERNEL_API_PHASE_TYPE_H_

#include <cstdint>

#include "native/kernel/runtime/thread_pool.h"

namespace phasic {

enum class Kind : int32_t {
  kLogDensity = 0,
  kDensity = 1,
  kLogSurvival = 2,
  kSurvival = 3,
  kLogCdf = 4,
  kCdf = 5,
  // Only in a call's `kinds`.
  kLogInterval = 6,
  kNothing = 7,
  kLogObservation = 8,
};
constexpr int32_t kNumKinds = 6;  // that a call may have for all its times

enum class Precision : int32_t { kFloat32, kFloat64 };

constexpr int32_t kNumOperands = 5;
constexpr int32_t kMaxOrder = 3;
constexpr int32_t kMaxRank = 24;

// What calls return where memory does not suffice. This very pointer, so that
// callers can tell it from messages about arguments.
inline constexpr char kOutOfMemory[] =
    "memory does not suffice: call with fewer or smaller arrays";

struct Shape {
  const int64_t* dims;
  int32_t rank;
};

struct Input {
  const void* data;
  Shape shape;
};

struct Output {
  void* data;
  Shape shape;
};

// The structure of a sparse model. Edge e leads from indices[0, e] to
// indices[1, e], where p is absorption, at rate
//   constants[e] + sum_c coefficients[e, c] theta[c].
// Parallel edges add up; an edge from a phase to itself changes nothing. In a
// discrete call rates are probabilities, and a phase is kept with what its
// edges to other phases and to absorption leave of one: mass that a row lacks
// adds to its edges to itself. Derivatives are those of 1 - (what leaves).
constexpr int32_t kNumEdgeArrays = 3;
struct Edges {
  Input indices;       // [batch..., 2, m], int32
  Input constants;     // [batch..., m], or [batch..., 0]: zeros
  Input coefficients;  // [batch..., m, d], or [batch..., m, 0]: theta is rates
};

// Of all operands; bit i stands for operand i.
constexpr int32_t kAllOperands = (1 << kNumOperands) - 1;

struct Call {
  int32_t kind;         // a Kind; not used where there are `kinds`
  int32_t order;        // k of J_k or V_k
  int32_t mapped_dims;  // leading batch dimensions that are mapped
  Precision precision;
  const Edges* edges = nullptr;  // nullptr: a subgenerator
  // [batch..., n], int32: a kind for each time; nullptr: `kind` for all. One of
  //   0, 2, 4  log density, log survival function, log distribution function;
  //   6        log P(t_i < T <= t_{i+1}), 0 <= t_i <= t_{i+1} < inf, where the
  //            next time in the row is t_{i+1} and its kind is 7;
  //   7        nothing: the value is 0 and has no derivatives;
  //   8        what is known of T from l = t_i and u = t_{i+1}, where the next
  //            time in the row is u and its kind is 7. The first that holds of
  //            l = u, the log density there; l < u = inf, log P(T > l);
  //            l < 0, l < u, log P(T <= u); else as for 6.
  // All else is NaN. Of a discrete call T is the number of steps N.
  const Input* kinds = nullptr;
  bool discrete = false;          // steps of a chain in place of rates
  int32_t wanted = kAllOperands;  // whose cotangents Adjoint is to compute
};

// J_k: inputs are the operands and k groups of five tangents; output
// [full batch..., n] is D^k F(x)[v1, ..., vk]; J_0 is the value. Tangents have
// the shape of their operand, with full mapped dimensions.
//
// Models of a batch are shared out among the calling thread and `executor`'s.
// Results do not depend on that, to the last bit.
//
// Returns nullptr, or a message that says what is wrong with the structure of
// the call, or kOutOfMemory. The message lives until the thread's next call.
// Bad values give NaN; see Status.
const char* Forward(const Call& call, const Input* inputs, int32_t num_inputs,
                    const Output& output, Executor* executor = OwnThreads());

// V_k: inputs are the operands, k - 1 groups of five tangents and a cotangent
// [full batch..., n]; the five outputs are (D^k F(x)[v1, ..., v_{k-1}, .])^T c,
// each with the shape of its operand and full mapped dimensions. An output that
// the call's `wanted` leaves out has zeros for its event's dimensions instead.
// Work for it is not done, and the others' bits do not depend on it.
const char* Adjoint(const Call& call, const Input* inputs, int32_t num_inputs,
                    const Output* outputs, int32_t num_outputs,
                    Executor* executor = OwnThreads());

// Expected statistics of the chain's path, given what V_1's values say of it,
// summed over the times of each row with a weight each: an EM algorithm's
// E-step. Inputs are those of V_1, with weights in the place of the cotangent;
// the order must be 1, and time continuous. The outputs have the full batch
// dimensions:
//
//   starts   [full batch..., p]     how often the path starts in a phase
//   sojourns [full batch..., p]     time spent there
//   jumps    [full batch..., p, p]  jumps from i to j, zero on the diagonal;
//            [full batch..., m]     of a model of edges: passages of each
//   exits    [full batch..., p]     absorptions from a phase
//   atom     [full batch..., 1]     values that are zero
//
// Given log density or log cdf they are those of the whole path, as the value
// is the time of absorption or comes after it; given log survival those up to
// the time. The kinds that are not logarithms give them times the probability
// (density) of what is known. cdf at infinity leaves sojourns, jumps and exits
// unknown: NaN.
constexpr int32_t kNumStatistics = 5;
const char* Statistics(const Call& call, const Input* inputs,
                       int32_t num_inputs, const Output* outputs,
                       int32_t num_outputs, Executor* executor = OwnThreads());

// Why a value is NaN: int32 codes [full batch..., n] for J_0 of the operands.
const char* Status(const Call& call, const Input* inputs, int32_t num_inputs,
                   const Output& output, Executor* executor = OwnThreads());

// The meaning of a code that Status wrote; "ok" for 0.
const char* StatusMessage(int32_t code);

// The shape of Forward's output. `dims` must hold kMaxRank entries.
const char* ForwardShape(const Call& call, const Shape* inputs,
                         int32_t num_inputs, int64_t* dims, int32_t* rank);

// The shape of the Adjoint output that belongs to operand `index`.
const char* AdjointShape(const Call& call, const Shape* inputs,
                         int32_t num_inputs, int32_t index, int64_t* dims,
                         int32_t* rank);

// The shape of Statistics' output number `index`.
const char* StatisticsShape(const Call& call, const Shape* inputs,
                            int32_t num_inputs, int32_t index, int64_t* dims,
                            int32_t* rank);

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_API_PHASE_TYPE_H_
