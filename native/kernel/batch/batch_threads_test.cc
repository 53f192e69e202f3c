// Tests that results have the same bits for any number of threads, and that a
// model's results do not depend on the other models of the batch.

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/runtime/parallel.h"
#include "native/kernel/runtime/thread_pool.h"
#include "native/kernel/simd/float_environment.h"

namespace phasic {
namespace {

using generic::Denormals;
using generic::FloatEnvironment;

using Dims = std::vector<int64_t>;

int64_t Count(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1},
                         std::multiplies<int64_t>());
}

template <class F>
struct Array {
  Dims dims;
  std::vector<F> data;

  Shape shape() const {
    return {dims.data(), static_cast<int32_t>(dims.size())};
  }
};

template <class F>
using Arrays = std::vector<Array<F>>;

// The batch dimensions of the five operands, and the number of mapped
// dimensions.
struct Case {
  std::string name;
  Dims batch[kNumOperands];
  int64_t num_times;
  int32_t mapped_dims = 0;
};

const Case kCases[] = {
    {"own models", {{40}, {40}, {40}, {40}, {40}}, 2},
    {"shared model, own starts", {{40}, {1}, {1}, {1}, {1}}, 3},
    {"shared starts, own rates", {{1}, {40}, {1}, {1}, {40}}, 3},
    {"outer product", {{5, 1}, {1, 7}, {1, 1}, {5, 1}, {1, 1}}, 3},
    {"times along a second axis", {{6, 1}, {1, 1}, {6, 1}, {1, 1}, {6, 10}}, 2},
    {"mapped", {{1, 1}, {1, 9}, {1, 1}, {4, 1}, {1, 9}}, 2, 1},
};

constexpr int64_t kPhases = 3;

template <class F>
Arrays<F> MakeOperands(const Case& shapes, bool has_exits, bool has_atom) {
  std::mt19937 random(17);
  std::uniform_real_distribution<double> uniform(0.1, 1.0);
  Arrays<F> operands(kNumOperands);
  for (int32_t i = 0; i < kNumOperands; ++i) {
    Dims dims = shapes.batch[i];
    if (i == 1) dims.push_back(kPhases);
    const bool is_absent = (i == 2 && !has_exits) || (i == 3 && !has_atom);
    dims.push_back(is_absent ? 0
                   : i == 3  ? 1
                   : i == 4  ? shapes.num_times
                             : kPhases);
    operands[i] = {dims, std::vector<F>(Count(dims))};
    for (F& x : operands[i].data) {
      const double scale = i == 0 ? 0.3 : i == 3 ? 0.1 : i == 4 ? 20.0 : 1.0;
      x = static_cast<F>(scale * uniform(random));
    }
  }
  // Makes row sums negative, as derived exits must be positive.
  std::vector<F>& rates = operands[1].data;
  for (size_t row = 0; row < rates.size() / kPhases; ++row) {
    rates[row * kPhases + row % kPhases] = F{-4};
  }
  return operands;
}

template <class F>
Array<F> Random(const Dims& dims, int seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Array<F> array = {dims, std::vector<F>(Count(dims))};
  for (F& x : array.data) x = static_cast<F>(normal(random));
  return array;
}

template <class F>
Call MakeCall(int kind, int order, int mapped_dims) {
  return {kind, order, mapped_dims,
          sizeof(F) == 4 ? Precision::kFloat32 : Precision::kFloat64};
}

template <class F>
std::vector<Input> AsInputs(const Arrays<F>& arrays) {
  std::vector<Input> inputs;
  for (const Array<F>& array : arrays) {
    inputs.push_back({array.data.data(), array.shape()});
  }
  return inputs;
}

template <class F>
Array<F> RunForward(const Call& call, const Arrays<F>& arrays,
                    Executor* executor) {
  const std::vector<Input> inputs = AsInputs(arrays);
  std::vector<Shape> shapes;
  shapes.reserve(inputs.size());
  for (const Input& input : inputs) shapes.push_back(input.shape);
  Array<F> result = {Dims(kMaxRank), {}};
  int32_t rank = 0;
  const int32_t count = static_cast<int32_t>(inputs.size());
  EXPECT_STREQ(
      ForwardShape(call, shapes.data(), count, result.dims.data(), &rank),
      nullptr);
  result.dims.resize(rank);
  result.data.resize(Count(result.dims));
  EXPECT_STREQ(Forward(call, inputs.data(), count,
                       {result.data.data(), result.shape()}, executor),
               nullptr);
  return result;
}

template <class F>
Arrays<F> RunAdjoint(const Call& call, const Arrays<F>& arrays,
                     Executor* executor) {
  const std::vector<Input> inputs = AsInputs(arrays);
  std::vector<Shape> shapes;
  shapes.reserve(inputs.size());
  for (const Input& input : inputs) shapes.push_back(input.shape);
  const int32_t count = static_cast<int32_t>(inputs.size());
  Arrays<F> results(kNumOperands);
  std::vector<Output> outputs;
  for (int32_t i = 0; i < kNumOperands; ++i) {
    results[i].dims.resize(kMaxRank);
    int32_t rank = 0;
    EXPECT_STREQ(AdjointShape(call, shapes.data(), count, i,
                              results[i].dims.data(), &rank),
                 nullptr);
    results[i].dims.resize(rank);
    results[i].data.resize(Count(results[i].dims));
    outputs.push_back({results[i].data.data(), results[i].shape()});
  }
  EXPECT_STREQ(Adjoint(call, inputs.data(), count, outputs.data(), kNumOperands,
                       executor),
               nullptr);
  return results;
}

template <class F>
void ExpectSameBits(const Array<F>& expected, const Array<F>& actual,
                    const std::string& label) {
  ASSERT_EQ(expected.dims, actual.dims) << label;
  if (expected.data.empty()) return;
  EXPECT_EQ(std::memcmp(expected.data.data(), actual.data.data(),
                        expected.data.size() * sizeof(F)),
            0)
      << label;
}

// An executor that starts a new thread for each offer, with a different
// floating-point mode.
class FlushingThreads final : public Executor {
 public:
  ~FlushingThreads() override {
    for (std::thread& thread : threads_) thread.join();
  }
  int64_t num_helpers() override { return 3; }
  void Offer(const std::shared_ptr<Job>& job, int64_t count) override {
    num_offers_ += count;
    for (; count > 0; --count) {
      threads_.emplace_back([job] {
        const FloatEnvironment environment(Denormals::kFlush);
        Help(job.get());
      });
    }
  }
  int64_t num_offers() const { return num_offers_; }

 private:
  int64_t num_offers_ = 0;
  std::vector<std::thread> threads_;
};

class BatchThreadsTest : public testing::Test {
 protected:
  ~BatchThreadsTest() override { SetMaxThreads(before_); }

  template <class F>
  static void CompareThreadCounts(const Case& shapes, int kind, int order,
                                  bool has_exits) {
    const Call call = MakeCall<F>(kind, order, shapes.mapped_dims);
    Arrays<F> inputs = MakeOperands<F>(shapes, has_exits, !has_exits);
    // Tangents and cotangents have the full mapped dimensions.
    Arrays<F> full = inputs;
    const Call value_call = MakeCall<F>(kind, 0, 0);
    const Dims batch = RunForward(value_call, inputs, OwnThreads()).dims;
    for (int group = 1; group <= order; ++group) {
      for (int32_t i = 0; i < kNumOperands; ++i) {
        Dims dims = inputs[i].dims;
        for (int d = 0; d < shapes.mapped_dims; ++d) dims[d] = batch[d];
        full.push_back(Random<F>(dims, 10 * group + i));
      }
    }
    Arrays<F> pulled = {full.begin(), full.end() - (order > 0 ? 5 : 0)};
    pulled.push_back(Random<F>(batch, 99));
    ASSERT_TRUE(SetMaxThreads(1));
    const Array<F> value = RunForward(call, full, OwnThreads());
    Arrays<F> bars;
    if (order > 0) bars = RunAdjoint(call, pulled, OwnThreads());
    for (const int threads : {2, 3, 8}) {
      ASSERT_TRUE(SetMaxThreads(threads));
      const std::string label = shapes.name + ", kind " + std::to_string(kind) +
                                ", order " + std::to_string(order) + ", " +
                                std::to_string(threads) + " threads";
      ExpectSameBits(value, RunForward(call, full, OwnThreads()), label);
      if (order == 0) continue;
      const Arrays<F> again = RunAdjoint(call, pulled, OwnThreads());
      for (int32_t i = 0; i < kNumOperands; ++i) {
        ExpectSameBits(bars[i], again[i], label + ", " + std::to_string(i));
      }
    }
  }

 private:
  const int before_ = MaxThreads();
};

TEST_F(BatchThreadsTest, ThreadCountsGiveTheSameBits) {
  for (const Case& shapes : kCases) {
    for (int kind = 0; kind < kNumKinds; ++kind) {
      for (const int order : {0, 1, 2}) {
        CompareThreadCounts<double>(shapes, kind, order, kind % 2 == 0);
        CompareThreadCounts<float>(shapes, kind, order, kind % 2 != 0);
      }
    }
    CompareThreadCounts<double>(shapes, 0, 3, true);
  }
}

// Compares the results of a batch with those of calls on single models.
// Cotangents that are summed over models are compared with sums of the single
// results in the order of the models.
TEST_F(BatchThreadsTest, ModelsGiveWhatTheyGiveAlone) {
  const Case shapes = {"", {{1}, {40}, {1}, {40}, {40}}, 3};
  const Arrays<double> all = MakeOperands<double>(shapes, true, true);
  const Array<double> cotangent = Random<double>({40, 3}, 5);
  const Case one = {"", {{1}, {1}, {1}, {1}, {1}}, 3};
  for (int kind = 0; kind < kNumKinds; ++kind) {
    const Call value_call = MakeCall<double>(kind, 0, 0);
    const Call bar_call = MakeCall<double>(kind, 1, 0);
    std::vector<double> values;
    Arrays<double> bars(kNumOperands);
    ASSERT_TRUE(SetMaxThreads(1));
    for (int m = 0; m < 40; ++m) {
      Arrays<double> single = MakeOperands<double>(one, true, true);
      for (int32_t i = 0; i < kNumOperands; ++i) {
        const size_t size = single[i].data.size();
        const size_t start = shapes.batch[i][0] == 1 ? 0 : m * size;
        std::copy_n(all[i].data.begin() + start, size, single[i].data.begin());
      }
      const Array<double> value = RunForward(value_call, single, OwnThreads());
      values.insert(values.end(), value.data.begin(), value.data.end());
      single.push_back({{1, 3},
                        {cotangent.data.begin() + 3 * m,
                         cotangent.data.begin() + 3 * m + 3}});
      const Arrays<double> own = RunAdjoint(bar_call, single, OwnThreads());
      for (int32_t i = 0; i < kNumOperands; ++i) {
        std::vector<double>& sum = bars[i].data;
        if (m == 0 || shapes.batch[i][0] != 1) {
          sum.insert(sum.end(), own[i].data.begin(), own[i].data.end());
        } else {
          for (size_t j = 0; j < sum.size(); ++j) sum[j] += own[i].data[j];
        }
      }
    }
    for (const int threads : {1, 4}) {
      ASSERT_TRUE(SetMaxThreads(threads));
      const Array<double> value = RunForward(value_call, all, OwnThreads());
      ExpectSameBits({value.dims, values}, value, "values");
      Arrays<double> inputs = all;
      inputs.push_back(cotangent);
      const Arrays<double> together =
          RunAdjoint(bar_call, inputs, OwnThreads());
      for (int32_t i = 0; i < kNumOperands; ++i) {
        ExpectSameBits({together[i].dims, bars[i].data}, together[i],
                       "cotangent " + std::to_string(i));
      }
    }
  }
}

TEST_F(BatchThreadsTest, ModesOfTheThreadsDoNotMatter) {
  // The densities are 1e-44 to 1e-38, which is subnormal in single precision.
  const Case shapes = {"", {{64}, {1}, {1}, {1}, {64}}, 2};
  Arrays<float> inputs = MakeOperands<float>(shapes, true, false);
  for (float& rate : inputs[2].data) rate = 4.0F;
  for (size_t i = 0; i < inputs[4].data.size(); ++i) {
    inputs[4].data[i] = 21.0F + 0.03F * static_cast<float>(i);
  }
  const Call call = MakeCall<float>(static_cast<int>(Kind::kDensity), 0, 0);
  ASSERT_TRUE(SetMaxThreads(1));
  const Array<float> expected = RunForward(call, inputs, OwnThreads());
  int num_subnormal = 0;
  for (const float x : expected.data) {
    num_subnormal += x > 0.0F && x < 1.1754944e-38F;
  }
  EXPECT_GT(num_subnormal, 20);
  ASSERT_TRUE(SetMaxThreads(4));
  for (int round = 0; round < 10; ++round) {
    FlushingThreads threads;
    ExpectSameBits(expected, RunForward(call, inputs, &threads), "helpers");
    const FloatEnvironment environment(Denormals::kFlush);
    ExpectSameBits(expected, RunForward(call, inputs, &threads), "all");
    EXPECT_EQ(threads.num_offers(), 6);
  }
}

// Computes the log density of `num_models` models at one time. Returns the
// number of helper threads that the call asks for.
int64_t NumOffers(int64_t num_models, double time) {
  const Case shapes = {"", {{1}, {num_models}, {1}, {1}, {1}}, 1};
  Arrays<double> inputs = MakeOperands<double>(shapes, true, false);
  inputs[4].data[0] = time;
  FlushingThreads threads;
  RunForward(MakeCall<double>(0, 0, 0), inputs, &threads);
  return threads.num_offers();
}

TEST_F(BatchThreadsTest, LittleWorkIsNotShared) {
  ASSERT_TRUE(SetMaxThreads(4));
  EXPECT_EQ(NumOffers(1, 1e4), 0);  // Nothing to share.
  EXPECT_EQ(NumOffers(2, 1.0), 0);
  EXPECT_EQ(NumOffers(2, 1e4), 1);  // Many steps for each model.
  EXPECT_EQ(NumOffers(2, HUGE_VAL), 0);
  EXPECT_EQ(NumOffers(1000, 1.0), 3);
  ASSERT_TRUE(SetMaxThreads(1));
  EXPECT_EQ(NumOffers(1000, 1.0), 0);
}

TEST_F(BatchThreadsTest, ManyCallersAtOnce) {
  ASSERT_TRUE(SetMaxThreads(3));
  const Case& shapes = kCases[2];
  const Call call = MakeCall<double>(0, 1, 0);
  Arrays<double> inputs = MakeOperands<double>(shapes, true, false);
  inputs.push_back(Random<double>({40, 3}, 3));
  const Arrays<double> expected = RunAdjoint(call, inputs, OwnThreads());
  std::vector<std::thread> callers;
  callers.reserve(8);
  for (int c = 0; c < 8; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        const Arrays<double> bars = RunAdjoint(call, inputs, OwnThreads());
        for (int32_t i = 0; i < kNumOperands; ++i) {
          ExpectSameBits(expected[i], bars[i], "caller");
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

}  // namespace
}  // namespace phasic
