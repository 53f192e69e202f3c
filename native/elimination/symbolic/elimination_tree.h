// Which nodes of a graph become connected as others are eliminated.

#ifndef PHASIC_NATIVE_ELIMINATION_SYMBOLIC_ELIMINATION_TREE_H_
#define PHASIC_NATIVE_ELIMINATION_SYMBOLIC_ELIMINATION_TREE_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace phasic {

constexpr int32_t kNone = -1;  // no node

// Lists of nodes: that of n begins at offsets[n].
struct Lists {
  std::vector<int64_t> offsets;
  std::vector<int32_t> nodes;
};

// Neighbours in the graph where node n is called names[n].
Lists ListNeighbours(const std::vector<std::pair<int32_t, int32_t>>& edges,
                     const std::vector<int32_t>& names);

// Of nodes that are eliminated in their order: the first later one that each is
// connected with by then, and with how many it is.
struct EliminationTree {
  std::vector<int32_t> parents;
  std::vector<int32_t> counts;
  int64_t total = 0;
};

// J. W. H. Liu, The role of elimination trees in sparse factorization, SIAM J.
// Matrix Anal. Appl. 11, 1990. Stops where the total is above the limit.
EliminationTree MakeTree(const Lists& neighbours, int64_t max_total);

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_SYMBOLIC_ELIMINATION_TREE_H_
