// The fronts (frontal matrices) of a multifrontal elimination, and their places
// in memory.
//
// Consecutive phases in the order of elimination that are connected with the
// same later phases form a front: a dense matrix of these phases and of the
// later ones. The front's update of the later phases is added to the matrix of
// its parent, the front that eliminates the first of these later phases.
//
// References:
//   I. S. Duff, J. K. Reid, The multifrontal solution of indefinite sparse
//     symmetric linear equations, ACM Trans. Math. Software 9, 1983.
//   J. W. H. Liu, The multifrontal method for sparse matrix solution: theory
//     and practice, SIAM Review 34, 1992.

#ifndef PHASIC_NATIVE_ELIMINATION_SYMBOLIC_FRONTS_H_
#define PHASIC_NATIVE_ELIMINATION_SYMBOLIC_FRONTS_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace phasic {

constexpr int32_t kNoFront = -1;

// A square matrix with a row for each of `size` positions. The front eliminates
// the first `num_own` of these, which are consecutive (its own positions). The
// others are later positions.
struct Front {
  int32_t first;  // first position that it eliminates
  int32_t num_own;
  int32_t size;
  int32_t parent;     // or kNoFront
  bool is_leaf;       // not the parent of any front
  bool opens_parent;  // the first to be added to its parent's matrix
  int64_t later;      // index of its first later position
  int64_t factors;    // index of its first stored number
  int64_t matrix;     // its matrix in the working memory
  int64_t num_later() const { return size - num_own; }
  int64_t num_factors() const {
    return static_cast<int64_t>(num_own) * (size + num_later());
  }
};

// The fronts of a connected graph, in postorder: children precede their
// parents.
struct FrontTree {
  std::vector<int32_t> order;  // nodes in the order of elimination
  std::vector<Front> fronts;
  std::vector<int32_t> later;   // positions, ascending, front by front
  std::vector<int32_t> places;  // their indices in the parent's matrix
  int64_t num_connections = 0;  // pairs that are connected at elimination
  double operations = 0.0;
  int64_t num_factors = 0;
  int64_t num_working = 0;  // largest total size of matrices at a time
};

// Returns the fronts of the undirected graph with nodes 0 to size - 1 and these
// edges. If there are more than `max_connections` connections (see
// num_connections), the result has no fronts, and the number of connections may
// be incomplete.
FrontTree MakeFronts(int32_t size,
                     const std::vector<std::pair<int32_t, int32_t>>& edges,
                     int64_t max_connections);

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_SYMBOLIC_FRONTS_H_
