#include "native/elimination/symbolic/elimination_tree.h"

#include <numeric>

namespace phasic {

Lists ListNeighbours(const std::vector<std::pair<int32_t, int32_t>>& edges,
                     const std::vector<int32_t>& names) {
  Lists found;
  found.offsets.assign(names.size() + 1, 0);
  for (const auto& [i, j] : edges) {
    ++found.offsets[names[i] + 1];
    ++found.offsets[names[j] + 1];
  }
  std::partial_sum(found.offsets.begin(), found.offsets.end(),
                   found.offsets.begin());
  found.nodes.resize(found.offsets.back());
  std::vector<int64_t> next(found.offsets.begin(), found.offsets.end() - 1);
  for (const auto& [i, j] : edges) {
    found.nodes[next[names[i]]++] = names[j];
    found.nodes[next[names[j]]++] = names[i];
  }
  return found;
}

EliminationTree MakeTree(const Lists& neighbours, int64_t max_total) {
  const auto size = static_cast<int32_t>(neighbours.offsets.size() - 1);
  EliminationTree tree;
  tree.parents.assign(size, kNone);
  tree.counts.assign(size, 0);
  std::vector<int32_t> seen_by(size, kNone);
  for (int32_t n = 0; n < size; ++n) {
    seen_by[n] = n;
    for (int64_t s = neighbours.offsets[n]; s < neighbours.offsets[n + 1];
         ++s) {
      if (neighbours.nodes[s] > n) continue;
      for (int32_t k = neighbours.nodes[s]; seen_by[k] != n;
           k = tree.parents[k]) {
        seen_by[k] = n;
        ++tree.counts[k];
        if (++tree.total > max_total) return tree;
        if (tree.parents[k] == kNone) tree.parents[k] = n;
      }
    }
  }
  return tree;
}

}  // namespace phasic
