#include "native/elimination/ordering/fill_order.h"

#define EIGEN_NO_DEBUG
#include <eigen3/Eigen/OrderingMethods>
#include <eigen3/Eigen/SparseCore>
#include <numeric>

namespace phasic {

std::vector<int32_t> MinimumDegreeOrder(
    int32_t size, const std::vector<std::pair<int32_t, int32_t>>& edges) {
  std::vector<int32_t> order(size);
  if (size <= 2) {
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  std::vector<Eigen::Triplet<char, int32_t>> entries;
  entries.reserve(edges.size() + size);
  // Eigen treats a node without a diagonal entry as a dense row.
  for (int32_t n = 0; n < size; ++n) entries.emplace_back(n, n, 1);
  for (const auto& [i, j] : edges) entries.emplace_back(i, j, 1);
  Eigen::SparseMatrix<char, Eigen::ColMajor, int32_t> graph(size, size);
  graph.setFromTriplets(entries.begin(), entries.end(),
                        [](char a, char) { return a; });
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int32_t> found;
  Eigen::AMDOrdering<int32_t>()(graph, found);
  for (int32_t n = 0; n < size; ++n) order[n] = found.indices()[n];
  return order;
}

}  // namespace phasic
