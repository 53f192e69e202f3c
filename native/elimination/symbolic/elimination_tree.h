// The connections that arise between nodes of a graph as others are eliminated.

#ifndef PHASIC_NATIVE_ELIMINATION_SYMBOLIC_ELIMINATION_TREE_H_
#define PHASIC_NATIVE_ELIMINATION_SYMBOLIC_ELIMINATION_TREE_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace phasic {

constexpr int32_t kNone = -1;  // no node

// Lists of nodes: the list of n begins at offsets[n].
struct Lists {
  std::vector<int64_t> offsets;
  std::vector<int32_t> nodes;
};

// Returns the neighbors in the graph where node n is renamed to names[n].
Lists ListNeighbours(const std::vector<std::pair<int32_t, int32_t>>& edges,
                     const std::vector<int32_t>& names);

// For nodes that are eliminated in order: the first later node that each is
// connected with at its elimination, and the number of such nodes.
struct EliminationTree {
  std::vector<int32_t> parents;
  std::vector<int32_t> counts;
  int64_t total = 0;
};

// J. W. H. Liu, The role of elimination trees in sparse factorization, SIAM J.
// Matrix Anal. Appl. 11, 1990. Stops if the total exceeds the limit.
EliminationTree MakeTree(const Lists& neighbours, int64_t max_total);

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_SYMBOLIC_ELIMINATION_TREE_H_
