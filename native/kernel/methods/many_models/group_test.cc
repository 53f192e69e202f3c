// Tests that models with the same edges have the same results together and in
// single calls, up to rounding, and the same bits with any number of threads.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/runtime/parallel.h"
#include "native/kernel/runtime/thread_pool.h"

namespace phasic {
namespace {

constexpr int64_t kTimes = 9;

// A batch of models with common random edges, where each model has different
// rates, initial probabilities and times.
struct Batch {
  int64_t phases;
  int64_t num_edges;
  bool shares_starts;
  std::vector<int32_t> indices;
  std::vector<double> starts;
  std::vector<double> rates;
  std::vector<double> times;
  std::vector<double> cotangents;
  std::vector<int32_t> kinds;  // of each time; empty: one for all
};

// The property in which the models of a batch differ strongly.
enum class Unlike { kLittle, kTimes, kRates, kValidity };

Batch MakeBatch(int64_t phases, double edges_per_phase, int64_t count,
                Unlike unlike, int seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  Batch b;
  b.phases = phases;
  b.shares_starts = seed % 2 == 0;
  std::vector<int32_t> sources;
  std::vector<int32_t> targets;
  for (int32_t i = 0; i < phases; ++i) {
    // In some structures no edge leaves the last phase.
    if (i + 1 < phases || seed % 3 != 0) {
      sources.push_back(i);
      targets.push_back(i + 1);  // absorption at the end
    }
    while (uniform(random) > 1.0 / edges_per_phase) {
      sources.push_back(i);
      targets.push_back(static_cast<int32_t>(uniform(random) *
                                             static_cast<double>(phases + 1)));
    }
  }
  b.num_edges = static_cast<int64_t>(sources.size());
  b.indices = sources;
  b.indices.insert(b.indices.end(), targets.begin(), targets.end());
  for (int64_t m = 0; m < count; ++m) {
    for (int64_t i = 0; i < phases && (m == 0 || !b.shares_starts); ++i) {
      const double share = 4.0 / static_cast<double>(phases + 3);
      b.starts.push_back(i % 4 == 0 ? share * uniform(random) : 0.0);
    }
    double speed = 1.0;
    if (unlike == Unlike::kRates) speed = std::pow(2.0, 1.0 * (m % 5));
    for (int64_t e = 0; e < b.num_edges; ++e) {
      double rate = speed * (0.1 + uniform(random));
      if (unlike == Unlike::kRates && uniform(random) < 0.3) rate = 0.0;
      if (unlike == Unlike::kRates && m % 4 == 3) rate *= rate * rate * rate;
      if (unlike == Unlike::kValidity && m % 6 == 2 && e == 3) rate = NAN;
      if (unlike == Unlike::kValidity && m % 6 == 3) rate = 0.0;
      if (unlike == Unlike::kValidity && m % 6 == 4 && e == 5) rate = -1.0;
      if (unlike == Unlike::kValidity && m % 6 == 5) rate *= 1e-200;
      b.rates.push_back(rate);
    }
    double longest = 10.0;
    if (unlike == Unlike::kTimes) longest = std::pow(5.0, 1.0 * (m % 4));
    for (int64_t i = 0; i < kTimes; ++i) {
      double time = longest * uniform(random);
      if (unlike == Unlike::kValidity && i == 4) {
        const double odd[] = {0.0, NAN, HUGE_VAL, -1.0, 1e-300};
        time = odd[m % 5];
      }
      b.times.push_back(time);
      b.cotangents.push_back(uniform(random) - 0.3 * (m % 3 == 0));
    }
  }
  return b;
}

// Turns pairs of times into observations of every kind, mostly different from
// those of neighboring models. The last time of a model remains single.
void MakeObservations(int64_t count, Batch* b) {
  for (int64_t m = 0; m < count; ++m) {
    for (int64_t i = 0; i + 1 < kTimes; i += 2) {
      double* ends = b->times.data() + m * kTimes + i;
      ends[1] += ends[0];
      const int64_t which = (i / 2 + m / 4) % 4;
      if (which == 1) ends[1] = ends[0];
      if (which == 2) ends[0] = -1.0;  // left-censored
      if (which == 3) ends[1] = HUGE_VAL;
      b->kinds.insert(b->kinds.end(), {8, 7});
    }
    b->kinds.push_back(m % 3 == 0 ? 0 : 4);
  }
}

struct Results {
  std::vector<double> values;
  std::vector<int32_t> status;
  std::vector<double> bars[kNumOperands];
};

// Evaluates the models `first` to first + count - 1 of a batch in one call.
Results ResultsOf(const Batch& b, int64_t first, int64_t count, int kind,
                  Executor* executor) {
  const int64_t size = count * kTimes;
  const int64_t num_starts = b.shares_starts ? 1 : count;
  const int64_t dims[][3] = {{num_starts, b.phases},
                             {count, b.num_edges},
                             {1, 0},
                             {1, 0},
                             {count, kTimes},
                             {count, kTimes},
                             {1, 2, b.num_edges},
                             {1, 0},
                             {1, b.num_edges, 0}};
  const double* starts =
      b.starts.data() + (b.shares_starts ? 0 : first * b.phases);
  const Input inputs[] = {
      {starts, {dims[0], 2}},
      {b.rates.data() + first * b.num_edges, {dims[1], 2}},
      {nullptr, {dims[2], 2}},
      {nullptr, {dims[3], 2}},
      {b.times.data() + first * kTimes, {dims[4], 2}},
      {b.cotangents.data() + first * kTimes, {dims[5], 2}},
  };
  const Edges edges = {{b.indices.data(), {dims[6], 3}},
                       {nullptr, {dims[7], 2}},
                       {nullptr, {dims[8], 3}}};
  Call call = {kind, 0, 1, Precision::kFloat64};
  call.edges = &edges;
  Input kinds = {nullptr, {dims[4], 2}};
  if (!b.kinds.empty()) {
    kinds.data = b.kinds.data() + first * kTimes;
    call.kinds = &kinds;
  }
  Results results;
  results.values.resize(size);
  results.status.resize(size);
  EXPECT_EQ(Forward(call, inputs, kNumOperands,
                    {results.values.data(), {dims[4], 2}}, executor),
            nullptr);
  EXPECT_EQ(Status(call, inputs, kNumOperands,
                   {results.status.data(), {dims[4], 2}}, executor),
            nullptr);
  call.order = 1;
  Output outputs[kNumOperands];
  const int64_t bar_dims[][2] = {{count, b.phases},
                                 {count, b.num_edges},
                                 {count, 0},
                                 {count, 0},
                                 {count, kTimes}};
  for (int32_t i = 0; i < kNumOperands; ++i) {
    results.bars[i].resize(count * bar_dims[i][1]);
    outputs[i] = {results.bars[i].data(), {bar_dims[i], 2}};
  }
  EXPECT_EQ(
      Adjoint(call, inputs, kNumOperands + 1, outputs, kNumOperands, executor),
      nullptr);
  return results;
}

template <class T>
void ExpectSameBits(const std::vector<T>& a, const std::vector<T>& b) {
  ASSERT_EQ(a.size(), b.size());
  if (a.empty()) return;
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(T)), 0);
}

// Expects that the results of a model are those of a single call, up to 1e-12
// of their size, and 1e-13 of `largest` or of the largest one.
void ExpectNear(const std::vector<double>& together,
                const std::vector<double>& alone, int64_t model, double largest,
                const std::string& what) {
  const double* results = together.data() + model * alone.size();
  for (const double x : alone) {
    if (largest > 0.0 && std::isfinite(x)) {
      largest = std::max(largest, std::fabs(x));
    }
  }
  for (size_t i = 0; i < alone.size(); ++i) {
    if (!std::isfinite(alone[i])) {
      EXPECT_TRUE(std::isnan(alone[i]) ? std::isnan(results[i])
                                       : results[i] == alone[i])
          << what << " of model " << model << ": " << results[i];
      continue;
    }
    EXPECT_NEAR(results[i], alone[i],
                1e-12 * std::fabs(alone[i]) + 1e-13 * largest)
        << what << " of model " << model;
  }
}

// Compares a batch with single calls; returns the number of values whose status
// is kOk.
int64_t Compare(const Batch& b, int64_t count, int kind, Executor* executor) {
  const Results together = ResultsOf(b, 0, count, kind, executor);
  for (int64_t m = 0; m < count; ++m) {
    const Results alone = ResultsOf(b, m, 1, kind, executor);
    ExpectNear(together.values, alone.values, m, 0.0, "values");
    const auto status = together.status.begin() + m * kTimes;
    ExpectSameBits(std::vector<int32_t>(status, status + kTimes), alone.status);
    for (int32_t i = 0; i < kNumOperands; ++i) {
      // Cotangents are sums of terms near one, which may cancel.
      ExpectNear(together.bars[i], alone.bars[i], m, 1.0,
                 "cotangents " + std::to_string(i));
    }
  }
  return std::count(together.status.begin(), together.status.end(), 0);
}

struct Size {
  int64_t phases;
  double edges_per_phase;
};

class GroupTest : public testing::TestWithParam<Unlike> {};

TEST_P(GroupTest, EachIsAsAlone) {
  for (const Size& shape : {Size{5, 1.2}, {12, 2.0}, {41, 2.5}, {130, 3.0}}) {
    for (const int64_t count : {1, 2, 3, 6, 8, 9, 13, 20}) {
      // Some models need extended doubles, which take long, so that fewer are
      // tested.
      const int64_t most = GetParam() == Unlike::kValidity ? 200
                           : GetParam() == Unlike::kRates  ? 360
                                                           : 1200;
      if (count * shape.phases > most) continue;
      const int seed = static_cast<int>(7 * count + shape.phases);
      const Batch batch = MakeBatch(shape.phases, shape.edges_per_phase, count,
                                    GetParam(), seed);
      const int kind = static_cast<int>(count % kNumKinds);
      SCOPED_TRACE("phases " + std::to_string(shape.phases) + ", models " +
                   std::to_string(count));
      ASSERT_TRUE(SetMaxThreads(count % 7 == 6 ? 3 : 1));
      const int64_t known = Compare(batch, count, kind, OwnThreads());
      if (GetParam() != Unlike::kValidity) {
        EXPECT_EQ(known, count * kTimes);
      }
    }
  }
}

TEST(ObservationsTest, EachIsAsAlone) {
  for (const Size& shape : {Size{6, 1.5}, {30, 2.5}}) {
    for (const Unlike unlike : {Unlike::kLittle, Unlike::kTimes}) {
      Batch batch = MakeBatch(shape.phases, shape.edges_per_phase, 20, unlike,
                              static_cast<int>(shape.phases));
      MakeObservations(20, &batch);
      EXPECT_EQ(Compare(batch, 20, 0, OwnThreads()), 20 * kTimes);
    }
  }
}

TEST(ThreadsTest, SameBits) {
  constexpr int64_t kCount = 83;
  const Batch batch = MakeBatch(24, 2.5, kCount, Unlike::kTimes, 10);
  ASSERT_TRUE(SetMaxThreads(1));
  const Results one = ResultsOf(batch, 0, kCount, 0, OwnThreads());
  for (const int threads : {2, 3, 16}) {
    ASSERT_TRUE(SetMaxThreads(threads));
    const Results more = ResultsOf(batch, 0, kCount, 0, OwnThreads());
    ExpectSameBits(more.values, one.values);
    for (int32_t i = 0; i < kNumOperands; ++i) {
      ExpectSameBits(more.bars[i], one.bars[i]);
    }
  }
  ASSERT_TRUE(SetMaxThreads(1));
}

// Tests models that are so large and sparse that they have tiles of width one.
TEST(LargeGroupTest, EachIsAsAlone) {
  Batch batch = MakeBatch(9000, 3.0, 4, Unlike::kLittle, 11);
  for (double& time : batch.times) time *= 0.1;
  EXPECT_EQ(Compare(batch, 4, 0, OwnThreads()), 4 * kTimes);
}

INSTANTIATE_TEST_SUITE_P(, GroupTest,
                         testing::Values(Unlike::kLittle, Unlike::kTimes,
                                         Unlike::kRates, Unlike::kValidity));

}  // namespace
}  // namespace phasic
