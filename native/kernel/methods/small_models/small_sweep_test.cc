// Tests derivatives J_1 of small models with one time: against closed forms and
// the usual sweeps, which take models with more times. Each has the same bits
// as in a single call, and in calls with more directions.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/methods/small_models/test_batch.h"
#include "native/kernel/runtime/memory_guard.h"
#include "native/kernel/runtime/thread_pool.h"

namespace phasic {
namespace {

// With more than this number of times per model, the usual sweeps compute
// derivatives.
constexpr int64_t kUsualTimes = 3;
// Models with an atom have even sizes, those without have odd ones: each form
// and oddity is tested in every size.
constexpr int64_t kStride = kGuardsMemory ? 6 : 2;

// Returns one tangent for each number of the batch.
Batch MakeTangents(const Batch& b, Odd odd, int seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  Batch v = b;
  const double odd_tangents[] = {0.0,    NAN,    HUGE_VAL, 1e-200, 1e200, 1.0,
                                 1e-310, 1e-100, 1e100,    -0.0,   1e-30, 1e30};
  size_t place = 0;
  for (std::vector<double>* all :
       {&v.starts, &v.rates, &v.exits, &v.atoms, &v.times}) {
    for (size_t i = 0; i < all->size(); ++i, ++place) {
      const size_t m = i * kModels / all->size();
      // The tangents of a model are about as large as its numbers.
      const double size = std::isfinite((*all)[i]) ? (*all)[i] : 1.0;
      (*all)[i] = uniform(random) * size;
      if (odd == Odd::kCotangents && m % 2 == 0) {
        (*all)[i] = m % 4 == 0 ? odd_tangents[m / 2 % 12] * uniform(random)
                               : odd_tangents[place % 6 == 0 ? m / 2 % 12 : 0];
      }
    }
  }
  return v;
}

std::vector<double> Call1(const Batch& b, const Batch& v, int64_t first,
                          int64_t count, int kind, int64_t row) {
  const int64_t p = b.phases;
  const bool has_edges = b.num_edges() > 0;
  const int64_t num_atoms = b.has_atom ? 1 : 0;
  const int64_t dims[][3] = {
      {count, p},
      {count, has_edges ? b.num_rates() : p, p},
      {count, b.num_exits()},
      {count, num_atoms},
      {count, row},
      {1, 2, b.num_edges()},
      {1, 0},
      {1, b.num_edges(), b.form == Form::kParameters ? 3 : 0},
      {1, row}};
  std::vector<double> times;
  std::vector<double> slopes;
  for (int64_t m = first; m < first + count; ++m) {
    for (int64_t i = 0; i < row; ++i) {
      times.push_back(b.times[m * b.row + std::min(i, b.row - 1)]);
      slopes.push_back(v.times[m * b.row + std::min(i, b.row - 1)]);
    }
  }
  std::vector<Input> inputs;
  for (const Batch* x : {&b, &v}) {
    inputs.push_back({x->starts.data() + first * p, {dims[0], 2}});
    inputs.push_back({x->rates.data() + first * b.num_rates(),
                      {dims[1], has_edges ? 2 : 3}});
    inputs.push_back({x->exits.data() + first * b.num_exits(), {dims[2], 2}});
    inputs.push_back({x->atoms.data() + first * num_atoms, {dims[3], 2}});
    inputs.push_back({x == &b ? times.data() : slopes.data(), {dims[4], 2}});
  }
  const Edges edges = {{b.indices.data(), {dims[5], 3}},
                       {nullptr, {dims[6], 2}},
                       {b.coefficients.data(), {dims[7], 3}}};
  Call call = {kind, 1, 1, Precision::kFloat64};
  if (has_edges) call.edges = &edges;
  std::vector<int32_t> filled = b.kinds;
  filled.resize(row, 7);
  const Input kinds = {filled.data(), {dims[8], 2}};
  if (!b.kinds.empty()) call.kinds = &kinds;
  std::vector<double> result(count * row);
  EXPECT_EQ(Forward(call, inputs.data(), static_cast<int32_t>(inputs.size()),
                    {result.data(), {dims[4], 2}}, OwnThreads()),
            nullptr);
  return result;
}

// Returns the sum of the sizes of the terms of the derivative: the usual
// derivatives along each tangent alone, and terms that cancel in these.
double SumOfSizes(const Batch& b, const Batch& v, int64_t m, int kind) {
  Batch none = v;
  for (std::vector<double>* all :
       {&none.starts, &none.rates, &none.exits, &none.atoms, &none.times}) {
    std::fill(all->begin(), all->end(), 0.0);
  }
  double sum = 0.0;
  const auto add = [&](std::vector<double> Batch::* operand, bool is_rate) {
    const std::vector<double>& all = v.*operand;
    const int64_t size = static_cast<int64_t>(all.size()) / kModels;
    for (int64_t i = m * size; i < (m + 1) * size; ++i) {
      (none.*operand)[i] = all[i];
      const double along = Call1(b, none, m, 1, kind, kUsualTimes)[0];
      (none.*operand)[i] = 0.0;
      if (std::isfinite(along)) sum += std::fabs(along);
      // Paths with and without the jump, or the atom, cancel.
      const double scale = is_rate ? std::fabs(b.times[m * b.row]) : 1.0;
      const double most = std::fabs(all[i]) * scale;
      if (most < HUGE_VAL) sum += most * (kind % 2 == 0 ? 1.0 : 1e-2);
    }
  };
  add(&Batch::starts, false);
  add(&Batch::rates, true);
  add(&Batch::exits, true);
  add(&Batch::atoms, false);
  add(&Batch::times, false);
  return sum;
}

void Compare(const Batch& b, const Batch& v, int kind) {
  const std::vector<double> together = Call1(b, v, 0, kModels, kind, b.row);
  // Sanitizers look at memory; the optimized build compares the numbers.
  std::vector<double> usual;
  if (!kGuardsMemory) usual = Call1(b, v, 0, kModels, kind, kUsualTimes);
  for (int64_t m = 0; m < kModels; ++m) {
    const std::string label = "model " + std::to_string(m);
    const std::vector<double> alone = Call1(b, v, m, 1, kind, b.row);
    EXPECT_EQ(std::memcmp(alone.data(), together.data() + m * b.row,
                          b.row * sizeof(double)),
              0)
        << label;
    for (int64_t i = 0; i < b.row && !kGuardsMemory; ++i) {
      const double expected = usual[m * kUsualTimes + i];
      const double actual = alone[i];
      if (expected == actual || (std::isnan(expected) && std::isnan(actual))) {
        continue;
      }
      EXPECT_LE(
          std::fabs(expected - actual),
          1e-12 * std::max(std::fabs(expected), SumOfSizes(b, v, m, kind)))
          << label << ": " << expected << ", " << actual;
    }
  }
}

class SmallSweepTest
    : public testing::TestWithParam<std::tuple<Form, Odd, bool>> {};

TEST_P(SmallSweepTest, BitsOfEachAloneAndNearThoseOfMoreTimes) {
  const auto [form, odd, has_atom] = GetParam();
  ASSERT_TRUE(SetMaxThreads(1));
  for (int64_t p = has_atom ? 2 : 1; p <= 8; p += kStride) {
    const int seed = static_cast<int>(10 * p);
    const Batch batch = MakeBatch(form, p, odd, has_atom, seed);
    const Batch tangents = MakeTangents(batch, odd, seed);
    for (int kind = 0; kind < kNumKinds; ++kind) {
      SCOPED_TRACE("phases " + std::to_string(p) + ", kind " +
                   std::to_string(kind));
      Compare(batch, tangents, kind);
      if (testing::Test::HasFailure()) return;
    }
    for (const std::vector<int32_t>& kinds :
         {std::vector<int32_t>{8, 7}, {0, 7}, {7, 2}, {4}, {7, 7}}) {
      SCOPED_TRACE("phases " + std::to_string(p) + ", kinds " +
                   std::to_string(kinds[0]));
      const Batch observed = WithKinds(batch, kinds);
      Compare(observed, MakeTangents(observed, odd, seed), 0);
      if (testing::Test::HasFailure()) return;
    }
  }
}

// Tests that the lanes of small models are used: otherwise the other tests
// would compare the usual sweeps with themselves.
TEST(SmallSweep, AreNotTakenTheUsualWay) {
  const Batch b = MakeBatch(Form::kExitsGiven, 4, Odd::kNothing, false, 1);
  const Batch v = MakeTangents(b, Odd::kNothing, 1);
  const std::vector<double> results = Call1(b, v, 0, kModels, 0, 1);
  const std::vector<double> usual = Call1(b, v, 0, kModels, 0, kUsualTimes);
  int64_t num_unlike = 0;
  for (int64_t m = 0; m < kModels; ++m) {
    num_unlike += results[m] != usual[m * kUsualTimes];
  }
  EXPECT_GT(num_unlike, kModels / 4);
}

INSTANTIATE_TEST_SUITE_P(, SmallSweepTest, EveryKindOfBatch());

// Returns a batch of models of two stages with rates r and 2 r, at time t.
Batch TwoStages(double rate, double time) {
  Batch b = {
      Form::kExitsGiven, 2, 1, false, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  for (int64_t m = 0; m < kModels; ++m) {
    b.starts.insert(b.starts.end(), {1.0, 0.0});
    b.rates.insert(b.rates.end(), {-rate, rate, 0.0, -2.0 * rate});
    b.exits.insert(b.exits.end(), {0.0, 2.0 * rate});
    b.times.push_back(time);
  }
  return b;
}

// The density is 2 r (exp(-r t) - exp(-2 r t)).
TEST(SmallSweep, OfTwoStages) {
  for (const double t : {1e-3, 0.5, 3.0, 40.0, 100.0, 300.0, 700.0}) {
    const double rate = 1.5;
    const Batch b = TwoStages(rate, t);
    for (const double size : {1.0, 1e-50, 1e50, 1e-200, 1e200}) {
      // Along all rates, and along the time.
      Batch v = TwoStages(size, 0.0);
      std::fill(v.starts.begin(), v.starts.end(), 0.0);
      const double rest = t * std::exp(-rate * t) / -std::expm1(-rate * t);
      double truth = size * (1.0 / rate - t + rest);
      double terms = size * (2.0 / rate + t);
      EXPECT_NEAR(Call1(b, v, 0, kModels, 0, 1)[3], truth, 1e-12 * terms)
          << t << ", " << size;
      std::fill(v.rates.begin(), v.rates.end(), 0.0);
      std::fill(v.exits.begin(), v.exits.end(), 0.0);
      std::fill(v.times.begin(), v.times.end(), size);
      truth = size * rate * (rest / t - 1.0);
      terms = size * rate * (rest / t + 1.0);
      EXPECT_NEAR(Call1(b, v, 0, kModels, 0, 1)[3], truth, 1e-11 * terms)
          << t << ", " << size;
    }
  }
}

// Returns a batch of one model, repeated, whose exits or edges are given by
// `form`, without an atom of its own.
Batch Repeated(Form form, int64_t phases, const std::vector<double>& starts,
               const std::vector<double>& rates, double time) {
  Batch b = {form, phases, 1, false, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  for (int64_t m = 0; m < kModels; ++m) {
    b.starts.insert(b.starts.end(), starts.begin(), starts.end());
    b.rates.insert(b.rates.end(), rates.begin(), rates.end());
    b.times.push_back(time);
  }
  return b;
}

// Where exits follow from the matrix, a rate that grows at the expense of its
// diagonal entry changes no exit. At small times log f is then log(rate) - t /
// n and constants, while the derivatives in the two entries are far larger.
TEST(SmallSweep, OfARateAndItsDiagonal) {
  for (const int64_t n : {3, 8}) {
    std::vector<double> starts(n, 0.0);
    std::vector<double> rates(n * n, 0.0);
    std::vector<double> slopes(n * n, 0.0);
    starts[0] = 1.0;
    for (int64_t i = 0; i < n; ++i) {
      rates[i * n + i] = -1.0;
      if (i + 1 < n) rates[i * n + i + 1] = 1.0;
    }
    slopes[0] = -1.0;
    slopes[1] = 1.0;
    for (const double t : {1e-8, 1e-2, 0.1, 1.0, 10.0}) {
      const Batch b = Repeated(Form::kExitsDerived, n, starts, rates, t);
      const Batch v = Repeated(Form::kExitsDerived, n,
                               std::vector<double>(n, 0.0), slopes, 0.0);
      const double truth = 1.0 - t / static_cast<double>(n);
      EXPECT_NEAR(Call1(b, v, 0, kModels, 0, 1)[3], truth, 1e-12 * (1.0 + t))
          << n << ", " << t;
    }
  }
}

// Mass that moves from one phase to another leaves the atom, which is derived,
// as it is: at small times F is t alpha s.
TEST(SmallSweep, OfStartsWhoseSumStays) {
  for (const double t : {1e-17, 1e-14, 1e-10}) {
    Batch b =
        Repeated(Form::kExitsGiven, 2, {0.5, 0.5}, {-1.0, 0.5, 0.0, -2.0}, t);
    Batch v = Repeated(Form::kExitsGiven, 2, {1.0, -1.0},
                       std::vector<double>(4, 0.0), 0.0);
    for (int64_t m = 0; m < kModels; ++m) {
      b.exits.insert(b.exits.end(), {0.5, 2.0});
      v.exits.insert(v.exits.end(), {0.0, 0.0});
    }
    EXPECT_NEAR(Call1(b, v, 0, kModels, static_cast<int>(Kind::kLogCdf), 1)[3],
                -1.2, 1e-12 + 10.0 * t)
        << t;
  }
}

// Coefficients may be tiny if their parameters are large. S(t) is exp(-2 s t)
// (1 + s t) where s scales all rates.
TEST(SmallSweep, OfTinyCoefficients) {
  const double t = 1e-4;
  for (const double size : {1.0, 1e-150, 1e-300, 1e-305}) {
    const std::vector<double> theta(3, 1.0 / size);
    Batch b = Repeated(Form::kParameters, 2, {1.0, 0.0}, theta, t);
    b.indices = {0, 0, 1, 1, 2, 2};
    b.coefficients = {size, 0.0, 0.0, 0.0, size, 0.0, 0.0, 0.0, 2.0 * size};
    Batch v = b;
    std::fill(v.starts.begin(), v.starts.end(), 0.0);
    std::fill(v.times.begin(), v.times.end(), 0.0);
    const double truth = -2.0 * t + t / (1.0 + t);
    EXPECT_NEAR(
        Call1(b, v, 0, kModels, static_cast<int>(Kind::kLogSurvival), 1)[3],
        truth, 1e-12 * t)
        << size;
  }
}

}  // namespace
}  // namespace phasic
