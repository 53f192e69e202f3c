// The dense matrices of a sparse elimination, and where each is kept.
//
// Phases that are eliminated one after the other and are connected with the
// same later phases make up a front: a dense matrix of those phases and of the
// later ones. What it leaves to the later ones is added to its parent's matrix,
// the front of the first of them.
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

// A square matrix of `size` positions: its own, which are consecutive and which
// it eliminates, and later ones.
struct Front {
  int32_t first;  // own position
  int32_t num_own;
  int32_t size;
  int32_t parent;     // or kNoFront
  bool is_leaf;       // no front has this one as its parent
  bool opens_parent;  // the first that is added to its parent's matrix
  int64_t later;      // where its later positions begin
  int64_t factors;    // where what is kept of it begins
  int64_t matrix;     // where its matrix begins in the working memory
  int64_t num_later() const { return size - num_own; }
  int64_t num_factors() const {
    return static_cast<int64_t>(num_own) * (size + num_later());
  }
};

// The fronts of a connected graph, each after those it is the parent of.
struct FrontTree {
  std::vector<int32_t> order;  // the nodes as they are eliminated
  std::vector<Front> fronts;
  std::vector<int32_t> later;   // positions, ascending, front by front
  std::vector<int32_t> places;  // of those in the parent's matrix
  int64_t num_connections = 0;  // of each position with later ones
  double operations = 0.0;
  int64_t num_factors = 0;
  int64_t num_working = 0;  // numbers in all matrices that are there at once
};

// The fronts of the graph on nodes 0 to size - 1 with these edges, whose
// directions do not matter. Above `max_connections` there are no fronts, and
// only some connections may have been counted.
FrontTree MakeFronts(int32_t size,
                     const std::vector<std::pair<int32_t, int32_t>>& edges,
                     int64_t max_connections);

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_SYMBOLIC_FRONTS_H_
