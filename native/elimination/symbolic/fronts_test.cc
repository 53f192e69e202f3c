#include "native/elimination/symbolic/fronts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace phasic {
namespace {

using Edges = std::vector<std::pair<int32_t, int32_t>>;

Edges Grid(int32_t width, int32_t height) {
  Edges edges;
  for (int32_t i = 0; i < width * height; ++i) {
    if (i % width > 0) edges.emplace_back(i, i - 1);
    if (i >= width) edges.emplace_back(i - width, i);
  }
  return edges;
}

Edges RandomGraph(int32_t size, int32_t count, unsigned seed) {
  std::mt19937 random(seed);
  Edges edges;
  const auto range = static_cast<unsigned>(size);
  for (int32_t i = 1; i < size; ++i) {  // connected
    edges.emplace_back(i, static_cast<int32_t>(random() % i));
  }
  while (static_cast<int32_t>(edges.size()) < count) {
    const auto i = static_cast<int32_t>(random() % range);
    const auto j = static_cast<int32_t>(random() % range);
    if (i != j) edges.emplace_back(i, j);
  }
  return edges;
}

// Returns, for each position, the set of later positions that are connected
// with it when it is eliminated. Eliminates one position after the other.
std::vector<std::set<int32_t>> LaterOf(const FrontTree& tree,
                                       const Edges& edges) {
  std::vector<int32_t> position(tree.order.size());
  for (size_t n = 0; n < tree.order.size(); ++n) {
    position[tree.order[n]] = static_cast<int32_t>(n);
  }
  std::vector<std::set<int32_t>> later(tree.order.size());
  for (const auto& [i, j] : edges) {
    const auto [low, high] = std::minmax(position[i], position[j]);
    later[low].insert(high);
  }
  for (const std::set<int32_t>& mine : later) {
    for (const int32_t i : mine) {
      later[i].insert(mine.upper_bound(i), mine.end());
    }
  }
  return later;
}

void Check(int32_t size, const Edges& edges) {
  const FrontTree tree = MakeFronts(size, edges, INT64_MAX);
  std::vector<int32_t> sorted(tree.order);
  std::sort(sorted.begin(), sorted.end());
  for (int32_t n = 0; n < size; ++n) ASSERT_EQ(sorted[n], n);
  const auto later = LaterOf(tree, edges);
  int64_t connections = 0;
  for (const auto& mine : later) {
    connections += static_cast<int64_t>(mine.size());
  }
  EXPECT_EQ(tree.num_connections, connections);
  int32_t first = 0;
  int64_t num_later = 0;
  int64_t num_factors = 0;
  for (const Front& front : tree.fronts) {
    ASSERT_EQ(front.first, first);
    ASSERT_EQ(front.later, num_later);
    ASSERT_EQ(front.factors, num_factors);
    first += front.num_own;
    num_later += front.num_later();
    num_factors += front.num_factors();
    const auto begin = tree.later.begin() + front.later;
    std::vector<int32_t> mine(begin, begin + front.num_later());
    for (int32_t n = first; n-- > front.first;) {
      EXPECT_TRUE(std::equal(mine.begin(), mine.end(), later[n].begin(),
                             later[n].end()));
      mine.insert(mine.begin(), n);
    }
    if (front.parent == kNoFront) {
      EXPECT_EQ(front.num_later(), 0);
      continue;
    }
    const Front& parent = tree.fronts[front.parent];
    EXPECT_EQ(&parent > &front, true);
    for (int64_t s = 0; s < front.num_later(); ++s) {
      const int32_t place = tree.places[front.later + s];
      const int32_t there =
          place < parent.num_own
              ? parent.first + place
              : tree.later[parent.later + place - parent.num_own];
      EXPECT_EQ(there, tree.later[front.later + s]);
    }
  }
  EXPECT_EQ(first, size);
  EXPECT_EQ(tree.num_factors, num_factors);
}

// Checks that no two matrices overlap in memory while both are in use.
void CheckMatrices(int32_t size, const Edges& edges) {
  const FrontTree tree = MakeFronts(size, edges, INT64_MAX);
  std::set<const Front*> there;
  const auto open = [&](const Front& front) {
    const int64_t end = front.matrix + int64_t{front.size} * front.size;
    EXPECT_LE(end, tree.num_working);
    for (const Front* other : there) {
      EXPECT_TRUE(other->matrix >= end ||
                  front.matrix >=
                      other->matrix + int64_t{other->size} * other->size);
    }
    EXPECT_TRUE(there.insert(&front).second);
  };
  for (const Front& front : tree.fronts) {
    if (front.is_leaf) open(front);
    EXPECT_EQ(there.count(&front), 1U);
    if (front.opens_parent) open(tree.fronts[front.parent]);
    there.erase(&front);
  }
  EXPECT_TRUE(there.empty());
}

TEST(FrontsTest, FollowElimination) {
  Check(2, {{0, 1}});
  Check(2, {{1, 0}, {0, 1}, {0, 1}});
  for (int32_t n = 2; n < 12; ++n) Check(n * (n + 1), Grid(n, n + 1));
  for (unsigned seed = 0; seed < 60; ++seed) {
    const auto size = static_cast<int32_t>(3 + seed);
    Check(size,
          RandomGraph(size, size + static_cast<int32_t>(seed % 40), seed));
  }
}

TEST(FrontsTest, MatricesDoNotOverlap) {
  for (int32_t n = 2; n < 20; ++n) CheckMatrices(n * n, Grid(n, n));
  for (unsigned seed = 0; seed < 60; ++seed) {
    const auto size = static_cast<int32_t>(3 + 3 * seed);
    CheckMatrices(size, RandomGraph(size, size + size / 3, seed));
  }
}

TEST(FrontsTest, DenseGraphsAreOneFront) {
  Edges edges;
  for (int32_t i = 0; i < 20; ++i) {
    for (int32_t j = 0; j < i; ++j) edges.emplace_back(i, j);
  }
  const FrontTree tree = MakeFronts(20, edges, INT64_MAX);
  ASSERT_EQ(tree.fronts.size(), 1U);
  EXPECT_EQ(tree.num_connections, 190);
  EXPECT_EQ(tree.num_working, 400);
}

TEST(FrontsTest, CountsNoFurtherThanTheLimit) {
  const FrontTree tree = MakeFronts(400, Grid(20, 20), 100);
  EXPECT_TRUE(tree.fronts.empty());
  EXPECT_EQ(tree.num_connections, 101);
}

// Tests that phases in series need matrices of two phases only, for any length.
TEST(FrontsTest, LongChains) {
  constexpr int32_t kSize = 200'000;
  Edges edges;
  for (int32_t i = 1; i < kSize; ++i) edges.emplace_back(i - 1, i);
  const FrontTree tree = MakeFronts(kSize, edges, INT64_MAX);
  EXPECT_EQ(tree.num_connections, kSize - 1);
  EXPECT_LE(tree.num_working, 20);
}

}  // namespace
}  // namespace phasic
