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
// Two more outputs of the same shape, times and kinds (int32), say where the
// derivatives of the quantiles are evaluated: at which time, and whether with
// kLogSurvival or kLogCdf. The time is the quantile. Where there is no
// derivative, as the quantile is inf or at an end of an atom, it is the mean
// time to absorption or a trap. Where the quantile is zero inside an atom,
// derivatives are zero, the time is one and the kind kNothing.
//
// Returns nullptr, a message that describes the error in the call's structure,
// or kOutOfMemory, as Forward does.
constexpr int32_t kNumQuantileOutputs = 3;
constexpr int32_t kQuantileKinds = 2;  // the index of the kinds
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
