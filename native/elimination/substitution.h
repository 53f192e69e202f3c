// Solutions from recorded factors, for `columns` right-hand sides side by side.

#ifndef PHASIC_NATIVE_ELIMINATION_SUBSTITUTION_H_
#define PHASIC_NATIVE_ELIMINATION_SUBSTITUTION_H_

#include <cstdint>

#include "native/elimination/factors.h"

namespace phasic {

// All arrays by position, [p, columns]. `rest` holds the right-hand sides and
// is left with what they have become when their phase was eliminated.
void Substitute(const Factors& factors, int64_t columns, double* rest,
                double* solution);

// `solution` holds the right-hand sides, and then what solves the transposed
// system.
void SubstituteTransposed(const Factors& factors, int64_t columns,
                          double* solution);

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_SUBSTITUTION_H_
