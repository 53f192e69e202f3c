#include "native/elimination/symbolic/components.h"

#include <algorithm>

namespace phasic {

OutEdges GroupBySource(int64_t num_phases, const int32_t* sources,
                       int64_t num_edges) {
  OutEdges edges;
  edges.offsets.assign(num_phases + 1, 0);
  edges.numbers.resize(num_edges);
  for (int64_t e = 0; e < num_edges; ++e) ++edges.offsets[sources[e] + 1];
  for (int64_t i = 0; i < num_phases; ++i) {
    edges.offsets[i + 1] += edges.offsets[i];
  }
  std::vector<int64_t> next(edges.offsets.begin(), edges.offsets.end() - 1);
  for (int64_t e = 0; e < num_edges; ++e) {
    edges.numbers[next[sources[e]]++] = static_cast<int32_t>(e);
  }
  return edges;
}

// Computes the strongly connected components by Tarjan's algorithm (SIAM J.
// Comput. 1, 1972). The stack is explicit, as a chain may have millions of
// phases in series.
Components StronglyConnected(int64_t num_phases, const OutEdges& edges,
                             const int32_t* targets) {
  constexpr int32_t kNew = -1;
  std::vector<int32_t> number(num_phases, kNew);  // in the order of discovery
  std::vector<int32_t> lowest(num_phases);
  std::vector<int64_t> next_edge(num_phases);
  std::vector<char> is_open(num_phases, 0);
  std::vector<int32_t> path;  // from the root to the current phase
  std::vector<int32_t> open;  // visited, but not in a component yet
  Components found;
  found.phases.reserve(num_phases);
  found.starts.push_back(0);
  int32_t count = 0;
  const auto enter = [&](int32_t i) {
    number[i] = lowest[i] = count++;
    next_edge[i] = edges.offsets[i];
    is_open[i] = 1;
    path.push_back(i);
    open.push_back(i);
  };
  for (int64_t root = 0; root < num_phases; ++root) {
    if (number[root] != kNew) continue;
    enter(static_cast<int32_t>(root));
    while (!path.empty()) {
      const int32_t i = path.back();
      if (next_edge[i] < edges.offsets[i + 1]) {
        const int32_t j = targets[edges.numbers[next_edge[i]++]];
        if (j >= num_phases) continue;
        if (number[j] == kNew) {
          enter(j);
        } else if (is_open[j]) {
          lowest[i] = std::min(lowest[i], number[j]);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty()) {
        int32_t& above = lowest[path.back()];
        above = std::min(above, lowest[i]);
      }
      if (lowest[i] != number[i]) continue;
      int32_t j;
      do {
        j = open.back();
        open.pop_back();
        is_open[j] = 0;
        found.phases.push_back(j);
      } while (j != i);
      found.starts.push_back(static_cast<int32_t>(found.phases.size()));
    }
  }
  // Tarjan's algorithm finds a component after all components that can be
  // reached from it. So the reversed list is in topological order.
  const auto size = static_cast<int32_t>(num_phases);
  std::reverse(found.phases.begin(), found.phases.end());
  std::reverse(found.starts.begin(), found.starts.end());
  for (int32_t& start : found.starts) start = size - start;
  return found;
}

}  // namespace phasic
