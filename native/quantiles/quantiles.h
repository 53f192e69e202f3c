// Quantiles of phase-type distributions, by a search with the kernel's
// functions: Newton's method in continuous time, an exact search in discrete
// time.
//
// A call is one of order 0 without kinds; see native/kernel/api/phase_type.h.
// Its operand `times` has numbers x that stand for probabilities u, and its
// `kind` is one of these forms of x.

#ifndef PHASIC_NATIVE_QUANTILES_QUANTILES_H_
#define PHASIC_NATIVE_QUANTILES_QUANTILES_H_

#include <cstdint>

#include "native/kernel/api/phase_type.h"

namespace phasic {

enum class Form : int32_t {
  kCdf = 0,          // u in [0, 1]
  kLogCdf = 1,       // log u
  kLogSurvival = 2,  // log(1 - u)
  // -log(1 - u) if positive, else log u; of size log 2 or more, as smaller
  // ones do not determine the quantile to all digits.
  kFolded = 3,
};
constexpr int32_t kNumForms = 4;

// Computes the quantiles inf{t: F(t) >= u}, [full batch..., n]: inf where F
// stays below u, and NaN for invalid models and forms, and where the search
// fails.
//
// The second output, of the same shape, says where the derivatives of the
// quantiles are evaluated: at a time t with the function log(1 - F) it has t,
// with the function log F it has -t. Where there is no derivative, as the
// quantile is inf or at an end of an atom, t is the mean time to absorption or
// a trap. It has zero where the quantile is zero inside an atom, as derivatives
// are zero there, and NaN where the quantile is NaN.
//
// Returns nullptr, a message that describes the error in the call's structure,
// or kOutOfMemory, as Forward does.
constexpr int32_t kNumQuantileOutputs = 2;
const char* Quantiles(const Call& call, const Input* inputs, int32_t num_inputs,
                      const Output* outputs, int32_t num_outputs,
                      Executor* executor = OwnThreads());

// Computes the shape of each output of Quantiles. Returns nullptr or an error
// message.
const char* QuantilesShape(const Call& call, const Shape* inputs,
                           int32_t num_inputs, int32_t index, int64_t* dims,
                           int32_t* rank);

}  // namespace phasic

#endif  // PHASIC_NATIVE_QUANTILES_QUANTILES_H_
