// Tests calls with a kind for each time, including invalid ones.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "native/kernel/api/phase_type.h"

namespace phasic {
namespace {

using Doubles = std::vector<double>;
using Kinds = std::vector<int32_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A model of two phases with an atom, and rows of times with their kinds.
struct Observations {
  int64_t rows = 1;
  Doubles times;
  Kinds kinds;
  Doubles alpha = {0.5, 0.25};
  Doubles matrix = {0.0, 2.0, 0.5, 0.0};
  Doubles exits = {0.25, 1.0};
  double atom = 0.25;

  int64_t row_length() const {
    return static_cast<int64_t>(times.size()) / rows;
  }
};

struct Values {
  std::string error;
  Doubles values;
  Kinds status;
};

// Returns the five operands as inputs of a call, repeated `groups` times.
std::vector<Input> Operands(const Observations& o, const int64_t (*dims)[3],
                            int groups) {
  const Input operands[] = {{o.alpha.data(), {dims[0], 2}},
                            {o.matrix.data(), {dims[1], 3}},
                            {o.exits.data(), {dims[0], 2}},
                            {&o.atom, {dims[2], 2}},
                            {o.times.data(), {dims[3], 2}}};
  std::vector<Input> inputs;
  for (int g = 0; g < groups; ++g) {
    inputs.insert(inputs.end(), operands, operands + kNumOperands);
  }
  return inputs;
}

Values Evaluate(const Observations& o, int32_t order = 0) {
  const int64_t n = o.row_length();
  const int64_t dims[][3] = {{1, 2}, {1, 2, 2}, {1, 1}, {o.rows, n}};
  const std::vector<Input> inputs = Operands(o, dims, order + 1);
  const Input kinds = {o.kinds.data(), {dims[3], 2}};
  Call call = {0, order, 0, Precision::kFloat64, nullptr, &kinds};
  Values result;
  result.values.assign(o.times.size(), 12345.0);
  result.status.assign(o.times.size(), -1);
  const auto count = static_cast<int32_t>(inputs.size());
  const char* error =
      Forward(call, inputs.data(), count, {result.values.data(), {dims[3], 2}});
  if (error != nullptr) result.error = error;
  if (error != nullptr || order > 0) return result;
  error =
      Status(call, inputs.data(), count, {result.status.data(), {dims[3], 2}});
  EXPECT_EQ(error, nullptr);
  return result;
}

// Returns the cotangents of the times that V_k, k = order, computes if all
// cotangents of the values are one.
Doubles TimeCotangents(const Observations& o, int32_t order) {
  const int64_t n = o.row_length();
  const int64_t dims[][3] = {{1, 2}, {1, 2, 2}, {1, 1}, {o.rows, n}};
  std::vector<Input> inputs = Operands(o, dims, order);
  const Doubles ones(o.times.size(), 1.0);
  inputs.push_back({ones.data(), {dims[3], 2}});
  const Input kinds = {o.kinds.data(), {dims[3], 2}};
  Doubles alpha(2), matrix(4), exits(2), atom(1), times(o.times.size());
  const Output outputs[] = {{alpha.data(), {dims[0], 2}},
                            {matrix.data(), {dims[1], 3}},
                            {exits.data(), {dims[0], 2}},
                            {atom.data(), {dims[2], 2}},
                            {times.data(), {dims[3], 2}}};
  EXPECT_EQ(
      Adjoint({0, order, 0, Precision::kFloat64, nullptr, &kinds},
              inputs.data(), static_cast<int32_t>(inputs.size()), outputs, 5),
      nullptr);
  return times;
}

TEST(KindsTest, IntervalsLieInOneRow) {
  Observations o;
  o.rows = 2;
  o.times = {1.0, 2.0, 3.0, 4.0};
  o.kinds = {0, 6, 7, 2};
  const Values values = Evaluate(o);
  EXPECT_EQ(values.error, "");
  EXPECT_STREQ(StatusMessage(values.status[1]),
               "kinds: 6, an interval, must be followed by 7 in its row");
  EXPECT_TRUE(std::isnan(values.values[1]));
  EXPECT_EQ(values.values[2], 0.0);
  o.rows = 1;
  EXPECT_FALSE(std::isnan(Evaluate(o).values[1]));
}

TEST(KindsTest, ZeroHasNoSign) {
  Observations o;
  o.kinds = {6, 7};
  for (const double upper : {1e-120, 1.0, 100.0}) {
    for (const int32_t order : {0, 1, 2}) {
      o.times = {0.0, upper};
      const Doubles expected = Evaluate(o, order).values;
      o.times = {-0.0, upper};
      EXPECT_EQ(Evaluate(o, order).values, expected) << upper << " " << order;
      EXPECT_FALSE(std::isnan(expected[0])) << upper << " " << order;
    }
  }
}

TEST(KindsTest, ShapesThatDoNotFitAreRefused) {
  const Observations o;
  const int64_t dims[][3] = {{2, 2}, {2, 2, 2}, {2, 1}, {2, 3}};
  std::vector<Shape> shapes = {
      {dims[0], 2}, {dims[1], 3}, {dims[0], 2}, {dims[2], 2}, {dims[3], 2}};
  const int64_t fits[][3] = {{2, 3}, {1, 3}};
  const int64_t wrong[][3] = {{2, 2}, {3, 3}, {0, 3}, {-1, 3}, {2, -3}};
  int64_t out[kMaxRank];
  int32_t rank = 0;
  const auto check = [&](const int64_t* kinds_dims, int32_t kinds_rank) {
    const Input kinds = {nullptr, {kinds_dims, kinds_rank}};
    return ForwardShape({0, 0, 0, Precision::kFloat64, nullptr, &kinds},
                        shapes.data(), 5, out, &rank);
  };
  for (const auto& shape : fits) EXPECT_EQ(check(shape, 2), nullptr);
  for (const auto& shape : wrong) EXPECT_NE(check(shape, 2), nullptr);
  for (const int32_t bad : {0, 1, 3, -1, INT32_MAX, INT32_MIN}) {
    EXPECT_NE(check(fits[0], bad), nullptr) << bad;
  }
}

TEST(KindsTest, KindsBroadcastOverRows) {
  Observations o;
  o.rows = 2;
  o.times = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
  o.kinds = {2, 6, 7, 2, 6, 7};
  const Values full = Evaluate(o);
  const int64_t dims[][3] = {{1, 2}, {1, 2, 2}, {1, 1}, {2, 3}};
  const int64_t one_row[] = {1, 3};
  const std::vector<Input> inputs = Operands(o, dims, 1);
  const Input kinds = {o.kinds.data(), {one_row, 2}};
  Doubles values(6);
  EXPECT_EQ(Forward({0, 0, 0, Precision::kFloat64, nullptr, &kinds},
                    inputs.data(), 5, {values.data(), {dims[3], 2}}),
            nullptr);
  EXPECT_EQ(values, full.values);
}

// The two ends of an observation, and the kind that follows from them.
struct Pair {
  double lower;
  double upper;
  int32_t kind;
};

TEST(KindsTest, ObservationsAreWhatTheirEndsSay) {
  const double nan = std::nan("");
  const Pair pairs[] = {
      {0.5, 0.5, 0},  {0.0, 0.0, 0},  {2.0, kInfinity, 2}, {-1.0, kInfinity, 2},
      {-1.0, 0.5, 4}, {-2.0, -1., 4}, {-kInfinity, 3., 4}, {1.0, 2.0, 6},
      {0.0, 4.0, 6},  {3.0, 2.0, 6},  {nan, 1.0, 6},       {1.0, nan, 6},
      {1e9, 1e9, 0}};
  Observations observed;
  Observations known;
  for (const Pair& pair : pairs) {
    const bool is_left = pair.kind == 4;
    observed.times.insert(observed.times.end(), {pair.lower, pair.upper});
    observed.kinds.insert(observed.kinds.end(), {8, 7});
    known.times.insert(known.times.end(),
                       {is_left ? pair.upper : pair.lower, pair.upper});
    known.kinds.insert(known.kinds.end(), {pair.kind, 7});
  }
  const auto same = [](double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
  };
  const Values values = Evaluate(observed);
  const Values expected = Evaluate(known);
  EXPECT_EQ(values.status, expected.status);
  for (size_t i = 0; i < observed.times.size(); ++i) {
    EXPECT_TRUE(same(values.values[i], expected.values[i])) << i;
  }
  for (int32_t order = 1; order <= kMaxOrder; ++order) {
    const Doubles bars = TimeCotangents(observed, order);
    const Doubles known_bars = TimeCotangents(known, order);
    for (size_t i = 0; i < bars.size(); ++i) {
      const bool is_left = pairs[i / 2].kind == 4;
      EXPECT_TRUE(same(bars[i], known_bars[is_left ? i ^ 1 : i])) << i;
    }
  }
  // Without an upper end there is no valid observation.
  observed.kinds.back() = 0;
  const size_t last = observed.times.size() - 2;
  EXPECT_TRUE(std::isnan(Evaluate(observed).values[last]));
  EXPECT_NE(Evaluate(observed).status[last], 0);
}

TEST(KindsTest, AnyKindsAtAnyTimes) {
  std::mt19937 random(7);
  const int32_t kinds[] = {0, 2, 4, 6, 7, 8, 7, 1, -1, INT32_MAX, INT32_MIN, 9};
  const double times[] = {0.0,    1e-310, -1.0, kInfinity,   std::nan(""), 1e9,
                          1e-300, 0.5,    1.0,  1.0 + 1e-12, 40.0,         3.0};
  for (int round = 0; round < 300; ++round) {
    Observations o;
    o.rows = 1 + static_cast<int64_t>(random() % 3);
    const size_t n = static_cast<size_t>(o.rows) * (1 + random() % 6);
    // Most of the calls have consistent kinds.
    const size_t num_kinds = round % 3 == 0 ? 12 : 7;
    for (size_t i = 0; i < n; ++i) {
      o.times.push_back(times[random() % 12]);
      o.kinds.push_back(kinds[random() % num_kinds]);
    }
    const Values values = Evaluate(o);
    ASSERT_EQ(values.error, "");
    for (size_t i = 0; i < n; ++i) {
      EXPECT_EQ(std::isnan(values.values[i]), values.status[i] != 0) << i;
      const bool may_be_exact = o.kinds[i] == 0 || o.kinds[i] == 8;
      EXPECT_FALSE(!may_be_exact && values.values[i] > 0.0) << i;
      if (o.kinds[i] == 7) EXPECT_EQ(values.values[i], 0.0);
    }
    for (int32_t order = 1; order <= kMaxOrder; ++order) {
      const Doubles moved = Evaluate(o, order).values;
      const Doubles bars = TimeCotangents(o, order);
      for (size_t i = 0; i < n; ++i) {
        if (o.kinds[i] != 7) continue;
        EXPECT_EQ(moved[i], 0.0);
        const bool is_end = i % static_cast<size_t>(o.row_length()) > 0 &&
                            (o.kinds[i - 1] == 6 || o.kinds[i - 1] == 8);
        if (!is_end && !std::isnan(bars[i])) EXPECT_EQ(bars[i], 0.0);
      }
    }
  }
}

}  // namespace
}  // namespace phasic
