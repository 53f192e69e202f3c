// Tests calls with extreme, degenerate or malicious arguments.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "native/kernel/api/phase_type.h"

namespace phasic {
namespace {

// Returns the cotangents of the log survival function of p phases in series
// with the given rate.
std::vector<double> SurvivalCotangents(int64_t p, double rate) {
  std::vector<double> alpha(p), s(p * p), exits(p), t = {5.0}, c = {1.0};
  alpha[0] = 1.0;
  for (int64_t i = 0; i + 1 < p; ++i) s[i * p + i + 1] = rate;
  exits[p - 1] = rate;
  const double atom = 0.0;
  const int64_t dp[] = {p}, dpp[] = {p, p}, d1[] = {1};
  const Input inputs[] = {{alpha.data(), {dp, 1}}, {s.data(), {dpp, 2}},
                          {exits.data(), {dp, 1}}, {&atom, {d1, 1}},
                          {t.data(), {d1, 1}},     {c.data(), {d1, 1}}};
  std::vector<double> bars(p + p * p + p + 2);
  double* b = bars.data();
  const Output outputs[] = {{b, {dp, 1}},
                            {b + p, {dpp, 2}},
                            {b + p + p * p, {dp, 1}},
                            {b + 2 * p + p * p, {d1, 1}},
                            {b + 2 * p + p * p + 1, {d1, 1}}};
  EXPECT_EQ(Adjoint({2, 1, 0, Precision::kFloat64}, inputs, 6, outputs, 5),
            nullptr);
  return bars;
}

// Tests that every call initializes the padding of its state vectors, as sums
// include the padding.
TEST(HostileCallsTest, SparseAdjointDoesNotReadWhatEarlierCallsLeft) {
  const int64_t p = 65;
  const std::vector<double> first = SurvivalCotangents(p, 1.0);
  // Fills the workspace with other numbers, some of which are not finite.
  for (int64_t q = 2; q < 66; ++q) SurvivalCotangents(q, 3.0 + q);
  const std::vector<double> again = SurvivalCotangents(p, 1.0);
  EXPECT_EQ(
      std::memcmp(first.data(), again.data(), first.size() * sizeof(double)),
      0);
  for (size_t i = 0; i < again.size(); ++i) {
    EXPECT_TRUE(std::isfinite(again[i])) << i;
  }
}

double Derivative(const std::vector<std::vector<double>>& arrays, int32_t kind,
                  int32_t order) {
  std::vector<std::vector<int64_t>> dims;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const auto n = static_cast<int64_t>(arrays[i].size());
    const auto p = static_cast<int64_t>(arrays[0].size());
    dims.push_back(i % 5 == 1 ? std::vector<int64_t>{p, p}
                              : std::vector<int64_t>{n});
  }
  std::vector<Input> inputs;
  for (size_t i = 0; i < arrays.size(); ++i) {
    inputs.push_back({arrays[i].data(),
                      {dims[i].data(), static_cast<int32_t>(dims[i].size())}});
  }
  const int64_t d1[] = {1};
  double value = 12345.0;
  EXPECT_EQ(Forward({kind, order, 0, Precision::kFloat64}, inputs.data(),
                    static_cast<int32_t>(inputs.size()), {&value, {d1, 1}}),
            nullptr);
  return value;
}

// No phase has initial mass. The first direction changes alpha only in a phase
// without exit, and the second direction changes an exit only in a phase
// without alpha. So the second derivative, which multiplies the two changes, is
// zero.
TEST(HostileCallsTest, StructurallyZeroDerivativeIsZero) {
  const std::vector<std::vector<double>> arrays = {
      {0, 0},   {0, 0, 0, 0}, {1, 0},      {}, {1e-3},  // operands
      {0, 0.5}, {0, 0, 0, 0}, {0, 0},      {}, {0.0},   // v1
      {0, 0},   {0, 0, 0, 0}, {-0.5, 0.0}, {}, {0.0},   // v2
  };
  EXPECT_EQ(Derivative(arrays, 1, 2), 0.0);
}

// Computes the third derivative of a density whose alpha is zero, in a
// direction without effect. The result is zero, and the series must stop before
// the work limit.
TEST(HostileCallsTest, DerivativesOfNothingEndEarly) {
  std::vector<std::vector<double>> arrays = {{0}, {0}, {1}, {}, {1e3}};
  for (int i = 0; i < 3; ++i) {
    for (const std::vector<double>& x :
         std::vector<std::vector<double>>{{0}, {0}, {0.5}, {}, {0.5}}) {
      arrays.push_back(x);
    }
  }
  EXPECT_EQ(Derivative(arrays, 1, 3), 0.0);
}

// No rate is positive. So the distribution function's derivative with respect
// to the exit rate is the time t, and its second derivative is -t^2. This needs
// no steps, however large t is.
TEST(HostileCallsTest, WithoutRatesNoTimeIsTooLong) {
  for (const double time : {1e-20, 3.0, 1e7, 1e15}) {
    std::vector<std::vector<double>> arrays = {{1}, {0}, {0}, {0}, {time}};
    for (int32_t order = 1; order <= 2; ++order) {
      for (const std::vector<double>& x :
           std::vector<std::vector<double>>{{0}, {0}, {1}, {0}, {0}}) {
        arrays.push_back(x);
      }
      const double truth = order == 1 ? time : -time * time;
      EXPECT_NEAR(Derivative(arrays, 5, order) / truth, 1.0, 1e-14) << time;
    }
  }
}

// Tests a cotangent so small that its products underflow to zero. The series
// stops when its remainder is negligible relative to these products. No
// remainder is negligible relative to zero, and the series must not continue to
// the work limit for this reason.
TEST(HostileCallsTest, SmallestCotangentsEndEarly) {
  const double alpha = 1.0, rate = -131072.0, time = 6.338e-8;
  const double cotangent = 2.2e-306, survival = std::exp(rate * time);
  const int64_t d0[] = {0}, d1[] = {1}, d11[] = {1, 1};
  const Input inputs[] = {{&alpha, {d1, 1}},  {&rate, {d11, 2}},
                          {nullptr, {d0, 1}}, {nullptr, {d0, 1}},
                          {&time, {d1, 1}},   {&cotangent, {d1, 1}}};
  double bars[3];
  const Output outputs[] = {{bars, {d1, 1}},
                            {bars + 1, {d11, 2}},
                            {nullptr, {d0, 1}},
                            {nullptr, {d0, 1}},
                            {bars + 2, {d1, 1}}};
  ASSERT_EQ(Adjoint({5, 1, 0, Precision::kFloat64}, inputs, 6, outputs, 5),
            nullptr);
  // Errors below 2^-920 are ordinary underflow.
  EXPECT_NEAR(bars[0], -survival * cotangent, 0x1p-920);
  EXPECT_NEAR(bars[1], -time * survival * cotangent, 0x1p-920);
  EXPECT_NEAR(bars[2] / (-rate * survival * cotangent), 1.0, 1e-14);
}

// Tests an interval with the largest number of squared powers: the binary
// digits of its lower end and of its length are all ones, and each digit needs
// a power.
TEST(HostileCallsTest, LongestIntervalsHaveRoom) {
  const double one = 1.0, zero = 0.0, cotangents[] = {1.0, 1.0};
  const double times[] = {0x1p51 - 0x1p-2, 0x1p52 - 0x1p-1};
  const int32_t kinds[] = {6, 7};
  const int64_t d1[] = {1}, d2[] = {2}, d11[] = {1, 1};
  const Input inputs[] = {{&one, {d1, 1}},   {&zero, {d11, 2}},
                          {&one, {d1, 1}},   {&zero, {d1, 1}},
                          {&times, {d2, 1}}, {&cotangents, {d2, 1}}};
  const Input kind_input = {kinds, {d2, 1}};
  Call call = {0, 0, 0, Precision::kFloat64};
  call.kinds = &kind_input;
  double values[2];
  ASSERT_EQ(Forward(call, inputs, 5, {values, {d2, 1}}), nullptr);
  EXPECT_NEAR(values[0] / -times[0], 1.0, 1e-15);
  EXPECT_EQ(values[1], 0.0);
  call.order = 1;
  double bars[6];
  const Output outputs[] = {{bars, {d1, 1}},
                            {bars + 1, {d11, 2}},
                            {bars + 2, {d1, 1}},
                            {bars + 3, {d1, 1}},
                            {bars + 4, {d2, 1}}};
  ASSERT_EQ(Adjoint(call, inputs, 6, outputs, 5), nullptr);
  EXPECT_NEAR(bars[0], 1.0, 1e-15);
  EXPECT_NEAR(bars[2] / -times[0], 1.0, 1e-14);
  EXPECT_NEAR(bars[4], -1.0, 1e-14);
  EXPECT_EQ(bars[5], 0.0);
}

// Tests that values which are not finite give NaN without long computations.
TEST(HostileCallsTest, InfiniteTangentsGiveNaN) {
  for (const double bad : {HUGE_VAL, std::nan(""), 1e300}) {
    const std::vector<std::vector<double>> arrays = {
        {1}, {0}, {1}, {}, {1.0}, {bad}, {bad}, {bad}, {}, {bad},
    };
    EXPECT_FALSE(std::isfinite(Derivative(arrays, 0, 1)) && bad != 1e300);
  }
}

TEST(HostileCallsTest, HugeRankIsRefused) {
  const int64_t d1[] = {1};
  for (const int32_t rank : {INT32_MAX, INT32_MIN}) {
    std::vector<Shape> shapes(5, Shape{d1, rank});
    int64_t dims[kMaxRank];
    int32_t out = 0;
    EXPECT_NE(ForwardShape({0, 0, 0, Precision::kFloat64}, shapes.data(), 5,
                           dims, &out),
              nullptr);
  }
}

// The sizes of a call's arrays, without a batch.
struct Sizes {
  int64_t phases = 2;
  int64_t matrix = 2;
  int64_t exits = 2;
  int64_t atom = 1;
  int64_t times = 3;
};

// Returns the message of a call on arrays of the given sizes, "" if there is
// none. With edges, `matrix` is the number of rates.
std::string Refusal(const Sizes& sizes, const Edges* edges = nullptr,
                    Kind kind = Kind::kLogDensity) {
  const int64_t matrix[] = {sizes.matrix, sizes.matrix};
  const Shape shapes[] = {{&sizes.phases, 1},
                          {matrix, edges == nullptr ? 2 : 1},
                          {&sizes.exits, 1},
                          {&sizes.atom, 1},
                          {&sizes.times, 1}};
  int64_t dims[kMaxRank];
  int32_t rank = 0;
  const Call call = {static_cast<int32_t>(kind), 0, 0, Precision::kFloat64,
                     edges};
  const char* error = ForwardShape(call, shapes, kNumOperands, dims, &rank);
  return error == nullptr ? "" : error;
}

TEST(HostileCallsTest, SizesThatDoNotFitAreNamed) {
  const struct {
    Sizes sizes;
    const char* message;
  } cases[] = {
      {{0, 0, 0, 0, 3}, "initial_probs: the number of phases is 0"},
      {{2, 3, 2, 1, 3}, "subgenerator: shape [..., 3, 3] does not fit 2"},
      {{2, 2, 3, 1, 3}, "exit_rates: 3 entries do not fit 2 phases"},
      {{2, 2, 2, 2, 3}, "prob_zero: 2 entries, must be 0 or 1"},
      {{2, 2, 2, 1, INT64_MAX}, "times: the number of elements is too large"},
  };
  EXPECT_EQ(Refusal({}), "");
  for (const auto& wrong : cases) {
    EXPECT_EQ(Refusal(wrong.sizes).rfind(wrong.message, 0), 0)
        << Refusal(wrong.sizes);
  }
}

TEST(HostileCallsTest, SizesOfEdgesThatDoNotFitAreNamed) {
  const struct {
    int64_t ends, edges, constants, coefficients, parameters, rates;
    const char* message;
  } cases[] = {
      {3, 4, 0, 4, 0, 4, "edges: indices must be [..., 2, m]"},
      {2, 4, 3, 4, 0, 4, "edges: 3 constants do not fit 4 edges"},
      {2, 4, 4, 5, 0, 4, "edges: coefficients of 5 edges do not fit 4"},
      {2, 4, 4, 4, 0, 3, "rates: 3 numbers where the edges want 4"},
      {2, 4, 0, 4, 2, 4, "rates: 4 numbers where the edges want 2"},
      {2, 4, 0, 4, 0, 4, "exit_rates: in a model with edges these are weights"},
  };
  for (const auto& x : cases) {
    const int64_t indices[] = {x.ends, x.edges};
    const int64_t coefficients[] = {x.coefficients, x.parameters};
    Edges edges = {{nullptr, {indices, 2}},
                   {nullptr, {&x.constants, 1}},
                   {nullptr, {coefficients, 2}}};
    const Sizes sizes = {2, x.rates, 2, 1, 3};
    const std::string found = Refusal(sizes, &edges, Kind::kSurvival);
    EXPECT_EQ(found.rfind(x.message, 0), 0) << found;
    edges.coefficients.shape.rank = 1;
    EXPECT_EQ(Refusal(sizes, &edges), "edges: rank 1, must be 2");
  }
}

// Tests that StatisticsShape refuses the calls that Statistics refuses.
TEST(HostileCallsTest, ShapesOfStatisticsThatDoNotExistAreRefused) {
  const int64_t d1[] = {1}, d11[] = {1, 1};
  const Shape shapes[] = {{d1, 1}, {d11, 2}, {d1, 1},
                          {d1, 1}, {d1, 1},  {d1, 1}};
  int64_t dims[kMaxRank];
  int32_t rank = 0;
  Call call = {0, 1, 0, Precision::kFloat64};
  EXPECT_EQ(StatisticsShape(call, shapes, 6, 0, dims, &rank), nullptr);
  call.discrete = true;
  EXPECT_NE(StatisticsShape(call, shapes, 6, 0, dims, &rank), nullptr);
  call.discrete = false;
  call.order = 2;
  EXPECT_NE(StatisticsShape(call, shapes, 6, 0, dims, &rank), nullptr);
}

TEST(HostileCallsTest, AdjointShapeChecksItsIndex) {
  const int64_t d1[] = {1}, d11[] = {1, 1};
  const Shape shapes[] = {{d1, 1}, {d11, 2}, {d1, 1},
                          {d1, 1}, {d1, 1},  {d1, 1}};
  int64_t dims[kMaxRank];
  int32_t rank = 0;
  for (const int32_t index : {-1, 5, 6, 1000}) {
    EXPECT_NE(AdjointShape({0, 1, 0, Precision::kFloat64}, shapes, 6, index,
                           dims, &rank),
              nullptr)
        << index;
  }
}

}  // namespace
}  // namespace phasic
