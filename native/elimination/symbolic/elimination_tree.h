// The elimination tree of a graph, which describes the fill of a factorization.

#ifndef PHASIC_NATIVE_ELIMINATION_SYMBOLIC_ELIMINATION_TREE_H_
#define PHASIC_NATIVE_ELIMINATION_SYMBOLIC_ELIMINATION_TREE_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace phasic {

constexpr int32_t kNone = -1;  // no node

// One list of nodes for each node. The list of node n begins at offsets[n].
struct Lists {
  std::vector<int64_t> offsets;
  std::vector<int32_t> nodes;
};

// Returns the neighbors of each node in the graph where node n is renamed to
// names[n].
Lists ListNeighbours(const std::vector<std::pair<int32_t, int32_t>>& edges,
                     const std::vector<int32_t>& names);

// The elimination tree for nodes that are eliminated in ascending order. The
// parent of node n is the first of the later nodes that are connected with n
// when n is eliminated. The count of n is the number of these later nodes.
struct EliminationTree {
  std::vector<int32_t> parents;
  std::vector<int32_t> counts;
  int64_t total = 0;
};

// Computes the elimination tree: J. W. H. Liu, The role of elimination trees in
// sparse factorization, SIAM J. Matrix Anal. Appl. 11, 1990. Stops early if the
// sum of the counts exceeds `max_total`.
EliminationTree MakeTree(const Lists& neighbours, int64_t max_total);

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_SYMBOLIC_ELIMINATION_TREE_H_
