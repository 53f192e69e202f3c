// Tests models of few phases with one time. Each has the same bits as in a
// single call, and nearly the same values as with more times, whether or not
// SIMD lanes are used.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/methods/small_models/test_batch.h"
#include "native/kernel/runtime/memory_guard.h"
#include "native/kernel/runtime/parallel.h"
#include "native/kernel/runtime/thread_pool.h"

namespace phasic {
namespace {

// With more than kFewTimes times per model, the usual sweeps compute
// derivatives; with kManyTimes they compute values, too.
constexpr int64_t kFewTimes = 3;
constexpr int64_t kManyTimes = 512;
// Models with an atom have even sizes, those without have odd ones: each form
// and oddity is tested in every size. If calls take long, only some of the
// sizes and kinds are tested, and numbers are not compared with those of the
// usual sweeps: the optimized build does that.
constexpr int64_t kStride = kGuardsMemory ? 6 : 2;
constexpr int kKindStride = kGuardsMemory ? 2 : 1;

struct Results {
  std::vector<double> values;
  std::vector<int32_t> status;
  std::vector<double> bars[kNumOperands];
};

// Evaluates the models `first` to first + count - 1 of a batch in one call.
Results Evaluate(const Batch& b, int64_t first, int64_t count, int kind,
                 int32_t wanted = kAllOperands, bool has_bars = true) {
  const int64_t p = b.phases;
  const bool has_edges = b.num_edges() > 0;
  const int64_t num_atoms = b.has_atom ? 1 : 0;
  const int64_t dims[][3] = {
      {count, p},
      {count, has_edges ? b.num_rates() : p, p},
      {count, b.num_exits()},
      {count, num_atoms},
      {count, b.row},
      {1, 2, b.num_edges()},
      {1, 0},
      {1, b.num_edges(), b.form == Form::kParameters ? 3 : 0},
      {1, b.row}};
  const Input inputs[] = {
      {b.starts.data() + first * p, {dims[0], 2}},
      {b.rates.data() + first * b.num_rates(), {dims[1], has_edges ? 2 : 3}},
      {b.exits.data() + first * b.num_exits(), {dims[2], 2}},
      {b.atoms.data() + first * num_atoms, {dims[3], 2}},
      {b.times.data() + first * b.row, {dims[4], 2}},
      {b.cotangents.data() + first * b.row, {dims[4], 2}},
  };
  const Edges edges = {{b.indices.data(), {dims[5], 3}},
                       {nullptr, {dims[6], 2}},
                       {b.coefficients.data(), {dims[7], 3}}};
  Call call = {kind, 0, 1, Precision::kFloat64};
  call.wanted = wanted;
  if (has_edges) call.edges = &edges;
  const Input kinds = {b.kinds.data(), {dims[8], 2}};
  if (!b.kinds.empty()) call.kinds = &kinds;
  Results results;
  results.values.resize(count * b.row);
  results.status.resize(count * b.row);
  EXPECT_EQ(Forward(call, inputs, kNumOperands,
                    {results.values.data(), {dims[4], 2}}, OwnThreads()),
            nullptr);
  EXPECT_EQ(Status(call, inputs, kNumOperands,
                   {results.status.data(), {dims[4], 2}}, OwnThreads()),
            nullptr);
  if (!has_bars) return results;
  call.order = 1;
  Output outputs[kNumOperands];
  int64_t bar_dims[kNumOperands][3];
  for (int32_t i = 0; i < kNumOperands; ++i) {
    const bool is_wanted = (wanted >> i & 1) != 0;
    int64_t size = 1;
    for (int32_t d = 0; d < inputs[i].shape.rank; ++d) {
      bar_dims[i][d] = d > 0 && !is_wanted ? 0 : inputs[i].shape.dims[d];
      size *= bar_dims[i][d];
    }
    results.bars[i].resize(size);
    outputs[i] = {results.bars[i].data(), {bar_dims[i], inputs[i].shape.rank}};
  }
  EXPECT_EQ(Adjoint(call, inputs, kNumOperands + 1, outputs, kNumOperands,
                    OwnThreads()),
            nullptr);
  return results;
}

template <class T>
void ExpectSameBits(const std::vector<T>& together, const std::vector<T>& alone,
                    int64_t model, const std::string& what) {
  const size_t size = alone.size();
  if (size == 0) return;
  EXPECT_EQ(std::memcmp(together.data() + model * size, alone.data(),
                        size * sizeof(T)),
            0)
      << what << " of model " << model;
}

Results CompareWithAlone(const Batch& b, int kind) {
  const Results together = Evaluate(b, 0, kModels, kind);
  for (int64_t m = 0; m < kModels; ++m) {
    const Results alone = Evaluate(b, m, 1, kind);
    ExpectSameBits(together.values, alone.values, m, "values");
    ExpectSameBits(together.status, alone.status, m, "status");
    for (int32_t i = 0; i < kNumOperands; ++i) {
      ExpectSameBits(together.bars[i], alone.bars[i], m,
                     "cotangents " + std::to_string(i));
    }
  }
  for (const int32_t wanted : {1, 2, 4, 8, 16, 18, 5}) {
    const Results masked = Evaluate(b, 0, kModels, kind, wanted);
    for (int32_t i = 0; i < kNumOperands; ++i) {
      if ((wanted >> i & 1) == 0) continue;
      ExpectSameBits(masked.bars[i], together.bars[i], 0,
                     "cotangents, wanted " + std::to_string(wanted));
    }
  }
  return together;
}

// Compares NaN and infinities exactly, and other numbers up to rounding errors
// of `scale`.
void ExpectNear(double expected, double actual, double scale,
                const std::string& what) {
  if (!std::isfinite(expected) || !std::isfinite(actual)) {
    EXPECT_TRUE(expected == actual ||
                (std::isnan(expected) && std::isnan(actual)))
        << what << ": " << expected << ", " << actual;
    return;
  }
  EXPECT_LE(std::fabs(expected - actual),
            1e-12 * std::max(std::fabs(expected), scale))
      << what << ": " << expected << ", " << actual;
}

// Returns the size of the terms that cancel in derivatives: terms of different
// phases, and of paths with and without absorption.
double Cancelled(const Batch& b, const Results& results, int64_t m,
                 int32_t operand, int kind) {
  double size = std::fabs(b.cotangents[m * b.row]);
  if (kind % 2 != 0) size *= std::fabs(results.values[m * b.row]);
  const bool is_rate = operand == 1 || operand == 2;
  // The lower end of an observation may be below zero; then the upper end
  // counts.
  const double* times = b.times.data() + m * b.row;
  if (is_rate) size *= times[0] < 0.0 && b.row > 1 ? times[1] : times[0];
  const bool is_difference = is_rate || kind >= 4 || !b.kinds.empty();
  return is_difference && size < HUGE_VAL ? size : 0.0;
}

// Returns the batch with `row` times per model. With `fill` the additional ones
// are of kind kNothing.
Batch WithMoreTimes(const Batch& b, int64_t row, bool fill) {
  Batch result = b;
  result.row = row;
  result.times.clear();
  result.cotangents.clear();
  for (int64_t m = 0; m < kModels; ++m) {
    for (int64_t i = 0; i < row; ++i) {
      const int64_t from = m * b.row + std::min(i, b.row - 1);
      result.times.push_back(b.times[from]);
      result.cotangents.push_back(i < b.row ? b.cotangents[from] : 0.0);
    }
  }
  if (fill) result.kinds.resize(row, 7);
  return result;
}

// Computes the results with the usual sweeps: values with many times per model,
// and derivatives with a few.
Results RunUsual(const Batch& b, int kind) {
  Batch many = b;
  const bool fill = !b.kinds.empty() || kind % 2 == 0;
  if (b.kinds.empty() && fill) many.kinds = {kind};
  const Results values = Evaluate(WithMoreTimes(many, kManyTimes, fill), 0,
                                  kModels, kind, 0, false);
  const bool has_kinds = !b.kinds.empty();
  Results usual =
      Evaluate(WithMoreTimes(b, kFewTimes, has_kinds), 0, kModels, kind);
  for (int64_t m = 0; m < kModels; ++m) {
    std::copy_n(values.values.begin() + m * kManyTimes, kFewTimes,
                usual.values.begin() + m * kFewTimes);
    std::copy_n(values.status.begin() + m * kManyTimes, kFewTimes,
                usual.status.begin() + m * kFewTimes);
  }
  return usual;
}

void ExpectNearUsual(const Batch& b, const Results& results, int kind) {
  if (kGuardsMemory) return;
  const Results usual = RunUsual(b, kind);
  const int64_t ratio = kFewTimes;
  for (int64_t m = 0; m < kModels; ++m) {
    const std::string label = "model " + std::to_string(m);
    for (int64_t i = 0; i < b.row; ++i) {
      EXPECT_EQ(results.status[m * b.row + i], usual.status[m * ratio + i])
          << label;
      // The error of a logarithm is absolute, and that of a value is relative.
      ExpectNear(usual.values[m * ratio + i], results.values[m * b.row + i],
                 kind % 2 == 0 ? 1.0 : 0.0, label + ", value");
      // The derivative of a density is a difference whose terms cancel near its
      // zeros.
      const double slope = usual.bars[4][m * ratio + i];
      ExpectNear(slope, results.bars[4][m * b.row + i], std::fabs(slope) * 1e2,
                 label + ", time");
    }
    for (const int32_t operand : {0, 1, 2, 3}) {
      const size_t size = usual.bars[operand].size() / kModels;
      const double* expected = usual.bars[operand].data() + m * size;
      const double* actual = results.bars[operand].data() + m * size;
      double scale = Cancelled(b, results, m, operand, kind);
      for (size_t j = 0; j < size; ++j) {
        if (expected[j] < HUGE_VAL) {
          scale = std::max(scale, std::fabs(expected[j]));
        }
      }
      for (size_t j = 0; j < size; ++j) {
        ExpectNear(expected[j], actual[j], scale,
                   label + ", operand " + std::to_string(operand));
      }
    }
  }
}

class SmallModelsTest
    : public testing::TestWithParam<std::tuple<Form, Odd, bool>> {};

TEST_P(SmallModelsTest, BitsOfEachAloneAndNearThoseOfMoreTimes) {
  const auto [form, odd, has_atom] = GetParam();
  ASSERT_TRUE(SetMaxThreads(1));
  for (int64_t p = has_atom ? 2 : 1; p <= 8; p += kStride) {
    const int seed = static_cast<int>(10 * p);
    const Batch batch = MakeBatch(form, p, odd, has_atom, seed);
    for (int kind = 0; kind < kNumKinds; kind += kKindStride) {
      SCOPED_TRACE("phases " + std::to_string(p) + ", kind " +
                   std::to_string(kind));
      ExpectNearUsual(batch, CompareWithAlone(batch, kind), kind);
      if (testing::Test::HasFailure()) return;
    }
    for (const std::vector<int32_t>& kinds :
         {std::vector<int32_t>{8, 7}, {0, 7}, {7, 2}, {4}, {7, 7}, {5, 7}}) {
      SCOPED_TRACE("phases " + std::to_string(p) + ", kinds " +
                   std::to_string(kinds[0]));
      const Batch observed = WithKinds(batch, kinds);
      ExpectNearUsual(observed, CompareWithAlone(observed, 0), 0);
      if (testing::Test::HasFailure()) return;
    }
  }
}

// Tests that the bits of a value do not depend on the number of times of its
// model.
TEST_P(SmallModelsTest, BitsOfEachTimeAlone) {
  const auto [form, odd, has_atom] = GetParam();
  ASSERT_TRUE(SetMaxThreads(1));
  for (int64_t p = 1; p <= 7; p += kGuardsMemory ? 7 : 3) {
    const Batch few = MakeBatch(form, p, odd, has_atom, 3);
    for (int kind = 0; kind < kNumKinds; kind += kKindStride) {
      SCOPED_TRACE("kind " + std::to_string(kind));
      // Each model gets the times of all models.
      Batch all = WithMoreTimes(few, kModels, false);
      for (int64_t m = 0; m < kModels; ++m) {
        std::copy_n(few.times.begin(), kModels,
                    all.times.begin() + m * kModels);
      }
      const Results together = Evaluate(all, 0, kModels, kind, 0, false);
      for (int64_t i = 0; i < kModels; ++i) {
        Batch one = few;
        one.times.assign(kModels, few.times[i]);
        const Results alone = Evaluate(one, 0, kModels, kind, 0, false);
        for (int64_t m = 0; m < kModels; ++m) {
          const int64_t n = m * kModels + i;
          EXPECT_EQ(together.status[n], alone.status[m]);
          EXPECT_EQ(std::memcmp(&together.values[n], &alone.values[m], 8), 0)
              << "model " << m << ", time " << few.times[i];
        }
      }
    }
  }
}

// Tests that the sweeps for small models run: otherwise the other tests would
// compare the usual sweeps with themselves.
TEST(SmallModels, AreNotTakenTheUsualWay) {
  const Batch batch = MakeBatch(Form::kExitsGiven, 4, Odd::kNothing, false, 1);
  const Results results = Evaluate(batch, 0, kModels, 0);
  const Results usual = RunUsual(batch, 0);
  int64_t num_unlike = 0;
  for (int64_t m = 0; m < kModels; ++m) {
    num_unlike += results.values[m] != usual.values[m * kFewTimes];
    num_unlike += results.bars[1][m * 16 + 1] != usual.bars[1][m * 16 + 1];
  }
  EXPECT_GT(num_unlike, kModels / 4);
}

INSTANTIATE_TEST_SUITE_P(, SmallModelsTest, EveryKindOfBatch());

}  // namespace
}  // namespace phasic
