#include "native/elimination/api/elimination.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace phasic {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A linear system of one model with one right-hand side.
struct Chain {
  int64_t num_phases;
  std::vector<std::pair<int32_t, int32_t>> edges;
  std::vector<double> weights;
};

struct Results {
  std::string error;
  std::vector<double> per_phase;
  std::vector<double> per_edge;
};

Results Solve(Direction direction, const Chain& chain,
              const std::vector<double>& b, const std::vector<double>& c) {
  const auto m = static_cast<int64_t>(chain.edges.size());
  const int64_t p = chain.num_phases;
  std::vector<int32_t> indices;
  for (const auto& edge : chain.edges) indices.push_back(edge.first);
  for (const auto& edge : chain.edges) indices.push_back(edge.second);
  const int64_t index_dims[] = {2, m};
  const int64_t phase_dims[] = {p, 1};
  const int64_t edge_dims[] = {m, 1};
  const int64_t given_dims[] = {static_cast<int64_t>(c.size()), 1};
  LinearSystem system;
  system.indices = {indices.data(), {index_dims, 2}};
  system.weights = {chain.weights.data(), {edge_dims, 1}};
  system.per_phase = {b.data(), {phase_dims, 2}};
  system.per_edge = {c.data(), {given_dims, 2}};
  Results results;
  results.per_phase.resize(static_cast<size_t>(p));
  results.per_edge.resize(static_cast<size_t>(m));
  const char* error =
      Eliminate(direction, system, {results.per_phase.data(), {phase_dims, 2}},
                {results.per_edge.data(), {edge_dims, 2}});
  if (error != nullptr) results.error = error;
  return results;
}

Chain RandomChain(std::mt19937* random, int64_t p) {
  Chain chain;
  chain.num_phases = p;
  std::normal_distribution<double> normal;
  const auto pick = [&](int64_t n) {
    return static_cast<int32_t>((*random)() % static_cast<uint64_t>(n));
  };
  for (int64_t e = 0; e < 4 * p; ++e) {
    chain.edges.emplace_back(pick(p), pick(p + 1));
    chain.weights.push_back(std::exp(2.0 * normal(*random)));
  }
  for (int64_t i = 0; i < p; ++i) {
    chain.edges.emplace_back(static_cast<int32_t>(i), static_cast<int32_t>(p));
    chain.weights.push_back(std::exp(normal(*random)));
  }
  return chain;
}

// Checks the residuals of (-S) x = b and y (-S) = b, relative to the sum of the
// absolute values of their terms.
TEST(EliminationTest, SolvesBothSystems) {
  std::mt19937 random(1);
  for (int64_t p = 1; p <= 40; ++p) {
    const Chain chain = RandomChain(&random, p);
    const std::vector<double> b(static_cast<size_t>(p), 1.0);
    const Results x = Solve(Direction::kSolve, chain, b, {});
    const Results y = Solve(Direction::kSolveTransposed, chain, b, {});
    ASSERT_EQ(x.error + y.error, "");
    std::vector<double> left(b);
    std::vector<double> right(b);
    std::vector<double> size(b);
    for (size_t e = 0; e < chain.edges.size(); ++e) {
      const auto [i, j] = chain.edges[e];
      const double next = j < p ? x.per_phase[j] : 0.0;
      if (i != j) {
        left[i] -= chain.weights[e] * (x.per_phase[i] - next);
        right[i] -= chain.weights[e] * y.per_phase[i];
        if (j < p) right[j] += chain.weights[e] * y.per_phase[i];
      }
      size[i] += chain.weights[e] * (x.per_phase[i] + y.per_phase[i]);
      if (j < p) size[j] += chain.weights[e] * y.per_phase[i];
      EXPECT_NEAR(x.per_edge[e], x.per_phase[i] - next,
                  1e-13 * (x.per_phase[i] + next));
      EXPECT_EQ(y.per_edge[e], y.per_phase[i]);
    }
    for (int64_t i = 0; i < p; ++i) {
      EXPECT_NEAR(left[i], 0.0, 1e-13 * size[i]);
      EXPECT_NEAR(right[i], 0.0, 1e-13 * size[i]);
    }
  }
}

// Checks that <u, x> + <v, d> = <b, y> + <c, z>, where Solve gives x and d for
// b and c, and SolveTransposed gives y and z for u and v.
TEST(EliminationTest, DirectionsAreTransposed) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  const Chain chain = RandomChain(&random, 17);
  const auto draw = [&](size_t n) {
    std::vector<double> x(n);
    for (double& v : x) v = normal(random);
    return x;
  };
  const std::vector<double> b = draw(17);
  const std::vector<double> c = draw(chain.edges.size());
  const std::vector<double> u = draw(17);
  const std::vector<double> v = draw(chain.edges.size());
  const Results x = Solve(Direction::kSolve, chain, b, c);
  const Results y = Solve(Direction::kSolveTransposed, chain, u, v);
  double one = 0.0;
  double other = 0.0;
  double size = 0.0;
  for (size_t i = 0; i < b.size(); ++i) {
    one += u[i] * x.per_phase[i];
    other += b[i] * y.per_phase[i];
    size += std::fabs(u[i] * x.per_phase[i]) + std::fabs(b[i] * y.per_phase[i]);
  }
  for (size_t e = 0; e < c.size(); ++e) {
    one += v[e] * x.per_edge[e];
    other += c[e] * y.per_edge[e];
    size += std::fabs(v[e] * x.per_edge[e]) + std::fabs(c[e] * y.per_edge[e]);
  }
  EXPECT_NEAR(one, other, 1e-13 * size);
}

TEST(EliminationTest, TrapsHoldForEver) {
  // From phase 0 the trap {1, 2} and absorption can be reached; phase 3 is a
  // trap that cannot be reached.
  const Chain chain = {
      4, {{0, 1}, {0, 4}, {1, 2}, {2, 1}, {3, 0}}, {1.0, 3.0, 1.0, 1.0, 0.0}};
  const Results time =
      Solve(Direction::kSolve, chain, {1.0, 1.0, 1.0, 1.0}, {});
  EXPECT_EQ(time.per_phase, (std::vector<double>(4, kInfinity)));
  const Results first =
      Solve(Direction::kSolve, chain, {1.0, 0.0, 0.0, 0.0}, {});
  EXPECT_EQ(first.per_phase, (std::vector<double>{0.25, 0.0, 0.0, 0.0}));
  const Results stay =
      Solve(Direction::kSolveTransposed, chain, {1.0, 0.0, 0.0, 0.0}, {});
  EXPECT_EQ(stay.per_phase,
            (std::vector<double>{0.25, kInfinity, kInfinity, 0.0}));
}

TEST(EliminationTest, BadWeightsAreNaN) {
  for (const double weight : {-1.0, kInfinity, std::nan("")}) {
    const Chain chain = {2, {{0, 1}, {1, 2}}, {weight, 1.0}};
    const Results x = Solve(Direction::kSolve, chain, {1.0, 1.0}, {});
    EXPECT_EQ(x.error, "");
    EXPECT_TRUE(std::isnan(x.per_phase[1]));
    EXPECT_TRUE(std::isnan(x.per_edge[1]));
  }
  // Weights of edges from a phase to itself are not read.
  const Chain own = {1, {{0, 0}, {0, 1}}, {-1.0, 2.0}};
  EXPECT_EQ(Solve(Direction::kSolve, own, {1.0}, {}).per_phase[0], 0.5);
}

TEST(EliminationTest, IndicesAreHostile) {
  for (const std::pair<int32_t, int32_t>& edge :
       {std::pair{-1, 0}, std::pair{2, 0}, std::pair{0, 3}, std::pair{0, -1},
        std::pair{INT32_MAX, INT32_MIN}}) {
    const Chain chain = {2, {{0, 1}, edge, {1, 2}}, {1.0, 1.0, 1.0}};
    const Results x = Solve(Direction::kSolve, chain, {1.0, 1.0}, {});
    EXPECT_NE(x.error.find("edge 1 leads from"), std::string::npos) << x.error;
  }
  const Chain chain = {2, {{0, 1}, {1, 2}}, {1.0, 1.0}};
  EXPECT_NE(Solve(Direction::kSolve, chain, {1.0, 1.0}, {1.0}).error, "");
}

TEST(EliminationTest, NoEdges) {
  const Results x = Solve(Direction::kSolve, {2, {}, {}}, {1.0, 0.0}, {});
  EXPECT_EQ(x.per_phase, (std::vector<double>{kInfinity, 0.0}));
}

TEST(EliminationTest, TooMuchFillIsRefused) {
  // Every phase has edges to twenty random others, so that no order of
  // elimination gives little fill.
  constexpr int64_t kPhases = 20'000;
  std::mt19937 random(3);
  std::vector<int32_t> indices;
  for (int64_t e = 0; e < 20 * kPhases; ++e) {
    indices.push_back(static_cast<int32_t>(e % kPhases));
  }
  for (int64_t e = 0; e < 20 * kPhases; ++e) {
    indices.push_back(static_cast<int32_t>(random() % kPhases));
  }
  const int64_t dims[] = {2, 20 * kPhases};
  EliminationSize size = {};
  ASSERT_EQ(MeasureElimination(kPhases, {indices.data(), {dims, 2}}, &size),
            nullptr);
  EXPECT_GT(size.fill, kMaxFill);
  const std::vector<double> weights(20 * kPhases, 1.0);
  const std::vector<double> b(kPhases, 1.0);
  std::vector<double> x(kPhases);
  const int64_t phase_dims[] = {kPhases, 1};
  const int64_t none[] = {0, 1};
  const int64_t nothing[] = {0, 0};
  const LinearSystem system = {{indices.data(), {dims, 2}},
                               {weights.data(), {dims + 1, 1}},
                               {b.data(), {phase_dims, 2}},
                               {nullptr, {none, 2}}};
  const char* error =
      Eliminate(Direction::kSolve, system, {x.data(), {phase_dims, 2}},
                {nullptr, {nothing, 2}});
  ASSERT_NE(error, nullptr);
  EXPECT_NE(std::string(error).find("numbers"), std::string::npos) << error;
}

}  // namespace
}  // namespace phasic
