// Differences of a solution along the edges.

#ifndef PHASIC_NATIVE_ELIMINATION_DIFFERENCES_H_
#define PHASIC_NATIVE_ELIMINATION_DIFFERENCES_H_

#include <cstdint>

#include "native/elimination/factors.h"

namespace phasic {

// Writes x[i_e] - x[j_e] for every edge, [m, columns] in the order in which
// edges came. All else by position, [p, columns]: the right-hand sides as they
// were given, and what Substitute made of them.
//
// Where x is large everywhere (a chain that rarely leaves), subtracting its
// entries would leave rounding errors alone. What is eliminated first has, with
// W the weights, e the weight out of the component and r the rest,
//   (x_k - x_j) D_k = r_k - e_k x_j + sum_i W_ki (x_i - x_j),
// of differences among phases that are eliminated later and are all connected.
void SubtractAlongEdges(const Factors& factors, int64_t columns,
                        const double* given, const double* rest,
                        const double* solution, double* differences);

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_DIFFERENCES_H_
