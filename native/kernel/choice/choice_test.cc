// Tests which method computes a time, by a table: cases that are far from where
// two methods cost the same.

#include "native/kernel/choice/choice.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "native/kernel/model/model.h"
#include "native/kernel/numbers/extended_double.h"
#include "native/kernel/runtime/workspace.h"

namespace phasic {
namespace PHASIC_ISA {
namespace {

enum class Shape { kChain, kDense };

struct Case {
  const char* what;
  Shape shape;
  int64_t num_phases;
  Derivatives derivatives;
  int64_t num_times;
  double x;
  Method expected;
};

constexpr double kMaxSteps = 0x1p22;

// Returns the method for a model whose rates are one.
template <class T>
Method MethodFor(const Case& row) {
  const int64_t p = row.num_phases;
  std::vector<double> initial(static_cast<size_t>(p), 0.0);
  std::vector<double> rates(static_cast<size_t>(p * p), 0.0);
  std::vector<double> exits(static_cast<size_t>(p), 0.0);
  initial[0] = exits.back() = 1.0;
  for (int64_t i = 0; i < p; ++i) {
    for (int64_t j = 0; j < p; ++j) {
      const bool has = row.shape == Shape::kDense ? i != j : j == i + 1;
      if (has) rates[static_cast<size_t>(i * p + j)] = 1.0;
    }
  }
  const double zero = 0.0;
  SweepInput in = {};
  in.num_phases = p;
  in.epsilon = 0x1p-52;
  in.has_exit_rates = true;
  in.initial_probs.value = initial.data();
  in.subgenerator.value = rates.data();
  in.exit_rates.value = exits.data();
  in.prob_zero.value = &zero;
  Workspace workspace(size_t{1} << 30);
  Model<T> model;
  model.derivatives = row.derivatives;
  EXPECT_EQ(ModelBuilder<T>(in, &workspace, &model).Build(), kOk);
  return MethodOf(model, row.x, row.num_times, kMaxSteps);
}

const Case kCases[] = {
    {"few jumps", Shape::kDense, 10, Derivatives::kAsValues, 1, 100.0,
     Method::kSteps},
    {"many jumps", Shape::kDense, 10, Derivatives::kAsValues, 1, 0x1p20,
     Method::kSquaring},
    {"products that cost more than steps", Shape::kDense, 200,
     Derivatives::kAsValues, 1, 600.0, Method::kSteps},
    {"a chain, whose steps are short", Shape::kChain, 100,
     Derivatives::kAsValues, 1, 1e4, Method::kSteps},
    {"its cotangents, whose steps cost more", Shape::kChain, 100,
     Derivatives::kCotangents, 1, 1e5, Method::kSquaringEarly},
    {"its values at the same time", Shape::kChain, 100, Derivatives::kAsValues,
     1, 1e5, Method::kSteps},
    {"cotangents of few jumps", Shape::kChain, 100, Derivatives::kCotangents, 1,
     100.0, Method::kSteps},
    {"cotangents at times that share steps", Shape::kChain, 100,
     Derivatives::kCotangents, 100000, 1e5, Method::kSteps},
    {"more steps than the limit allows", Shape::kChain, 100,
     Derivatives::kAsValues, 1, 0x1p23, Method::kSquaring},
    {"more jumps than squared powers reach", Shape::kDense, 10,
     Derivatives::kAsValues, 1, 0x1p61, Method::kSteps},
};

TEST(MethodOf, Table) {
  for (const Case& row : kCases) {
    EXPECT_EQ(MethodFor<double>(row), row.expected) << row.what;
  }
}

// Squared powers have no exponents of their own.
TEST(MethodOf, ExtendedDoublesTakeSteps) {
  for (const Case& row : kCases) {
    EXPECT_EQ(MethodFor<ExtendedDouble>(row), Method::kSteps) << row.what;
  }
}

TEST(TakesGroups, ManyTimesOfContinuousChains) {
  SweepInput in = {};
  in.num_times = kManyTimes;
  EXPECT_TRUE(TakesGroups(in));
  in.discrete = true;
  EXPECT_FALSE(TakesGroups(in));
  in.discrete = false;
  --in.num_times;
  EXPECT_FALSE(TakesGroups(in));
}

}  // namespace
}  // namespace PHASIC_ISA
}  // namespace phasic
