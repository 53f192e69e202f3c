// Reads the weights of one model that is given by a matrix.

#ifndef PHASIC_NATIVE_ELIMINATION_MOMENTS_MATRIX_WEIGHTS_H_
#define PHASIC_NATIVE_ELIMINATION_MOMENTS_MATRIX_WEIGHTS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "native/kernel/numbers/compensated_sum.h"

namespace phasic {

// Returns the edges of a matrix of p phases, sources, then targets: between
// every two phases, row by row, and then from each phase to absorption.
inline std::vector<int32_t> MatrixEdges(int64_t p) {
  const auto count = static_cast<size_t>(p);
  std::vector<int32_t> indices(2 * count * (count + 1));
  int32_t* sources = indices.data();
  int32_t* targets = sources + count * (count + 1);
  const auto add = [&](int64_t i, int64_t j) {
    *sources++ = static_cast<int32_t>(i);
    *targets++ = static_cast<int32_t>(j);
  };
  for (int64_t k = 0; k < p * p; ++k) add(k / p, k % p);
  for (int64_t i = 0; i < p; ++i) add(i, p);
  return indices;
}

// A matrix of one model, and what its rows must satisfy.
template <class F>
struct MatrixRows {
  const F* matrix;  // [p, p]
  const F* exits;   // [p], or nullptr: derived
  int64_t num_phases;
  bool is_discrete;
  // Differences of at most this size, in continuous time times the row's
  // largest entry, count as zero.
  double tolerance;
};

// Computes the weights of `MatrixEdges`, [p (p + 1)], and in discrete time the
// probabilities of staying, [p]. Returns whether exits and row sums are valid;
// negative or infinite weights are left to the caller.
template <class F, class T>
bool ReadMatrix(const MatrixRows<F>& rows, T* weights, T* stay) {
  const int64_t p = rows.num_phases;
  bool is_good = true;
  for (int64_t i = 0; i < p; ++i) {
    // Sums, in twice the precision, the row in continuous time, and what it
    // lacks of one in discrete time.
    PHASIC_ISA::CompensatedSum<double> sum;
    const auto own = static_cast<double>(rows.matrix[i * p + i]);
    double largest = 0.0;
    if (rows.is_discrete) {
      sum.Add(1.0);
      sum.Add(-own);
    } else if (rows.exits == nullptr) {
      // As the diagonal comes first, sums of valid rows stay in range.
      sum.Add(own);
      largest = std::fabs(own);
    }
    for (int64_t j = 0; j < p; ++j) {
      weights[i * p + j] = 0.0;
      if (i == j) continue;
      const auto x = static_cast<double>(rows.matrix[i * p + j]);
      weights[i * p + j] = x;
      largest = std::max(largest, std::fabs(x));
      sum.Add(rows.is_discrete ? -x : x);
    }
    double exit = 0.0;
    if (rows.exits != nullptr) {
      exit = static_cast<double>(rows.exits[i]);
      sum.Add(rows.is_discrete ? -exit : exit);
    } else {
      exit = rows.is_discrete ? sum.Result() : -sum.Result();
      // Small rates are scaled, since a product that underflows would count as
      // a number that left the range of doubles.
      const double unit = largest < 0x1p-900 ? 0x1p100 : 1.0;
      const double least = rows.is_discrete ? 1.0 : largest * unit;
      const double size =
          rows.is_discrete ? std::fabs(exit) : std::fabs(exit) * unit;
      if (size <= rows.tolerance * least) exit = 0.0;
    }
    weights[p * p + i] = exit;
    is_good &= exit >= 0.0;
    if (rows.is_discrete) {
      stay[i] = own;
      is_good &= own >= 0.0;
      if (rows.exits != nullptr) {
        is_good &= std::fabs(sum.Result()) <= rows.tolerance;
      }
    } else if (rows.exits != nullptr) {
      is_good &= sum.Result() < std::numeric_limits<double>::infinity();
    } else {
      is_good &= own <= 0.0 && own > -std::numeric_limits<double>::infinity();
    }
  }
  return is_good;
}

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_MOMENTS_MATRIX_WEIGHTS_H_
