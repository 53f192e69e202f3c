// Tests that calls from several threads at once have the same results as single
// calls.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "native/kernel/api/phase_type.h"

namespace phasic {
namespace {

constexpr int kNumThreads = 8;
constexpr int kCallsPerThread = 24;
constexpr int64_t kNumPhases = 3;
constexpr int64_t kNumTimes = 50;

// A call on two Coxian models whose rates depend on the thread.
struct Job {
  std::vector<double> initial_probs = {1.0, 0.0, 0.0};
  std::vector<double> subgenerator;
  std::vector<double> exit_rates;
  std::vector<double> times;
  std::vector<double> cotangent = std::vector<double>(2 * kNumTimes, 1.0);

  explicit Job(double rate) : subgenerator(2 * kNumPhases * kNumPhases, 0.0) {
    for (int64_t model = 0; model < 2; ++model) {
      double* matrix = subgenerator.data() + model * kNumPhases * kNumPhases;
      matrix[1] = rate;
      matrix[5] = rate + static_cast<double>(model);
      exit_rates.insert(exit_rates.end(), {0.5, 0.25, rate});
    }
    for (int64_t i = 0; i < kNumTimes; ++i) {
      times.push_back(0.1 * static_cast<double>(i + 1));
    }
  }

  // Computes the values, followed by the five cotangents.
  std::vector<double> Run() const {
    const int64_t probs[] = {1, kNumPhases};
    const int64_t matrix[] = {2, kNumPhases, kNumPhases};
    const int64_t exits[] = {2, kNumPhases};
    const int64_t atom[] = {1, 0};
    const int64_t grid[] = {1, kNumTimes};
    const int64_t full[] = {2, kNumTimes};
    const Input inputs[] = {
        {initial_probs.data(), {probs, 2}}, {subgenerator.data(), {matrix, 3}},
        {exit_rates.data(), {exits, 2}},    {nullptr, {atom, 2}},
        {times.data(), {grid, 2}},          {cotangent.data(), {full, 2}}};
    std::vector<double> results(2 * kNumTimes + 3 + 18 + 6 + kNumTimes);
    double* next = results.data();
    const auto take = [&next](int64_t count) {
      double* start = next;
      next += count;
      return start;
    };
    const Output value = {take(2 * kNumTimes), {full, 2}};
    const Output bars[] = {{take(3), {probs, 2}},
                           {take(18), {matrix, 3}},
                           {take(6), {exits, 2}},
                           {nullptr, {atom, 2}},
                           {take(kNumTimes), {grid, 2}}};
    const auto kind = static_cast<int32_t>(Kind::kLogDensity);
    EXPECT_EQ(Forward({kind, 0, 0, Precision::kFloat64}, inputs, 5, value),
              nullptr);
    EXPECT_EQ(Adjoint({kind, 1, 0, Precision::kFloat64}, inputs, 6, bars, 5),
              nullptr);
    return results;
  }
};

TEST(ConcurrentCallsTest, BitsAreThoseOfACallAlone) {
  std::vector<std::vector<double>> alone(kNumThreads);
  for (int i = 0; i < kNumThreads; ++i) alone[i] = Job(1.0 + i).Run();
  std::vector<int> num_equal(kNumThreads, 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < kNumThreads; ++i) {
    threads.emplace_back([&alone, &num_equal, i] {
      const Job job(1.0 + i);
      for (int call = 0; call < kCallsPerThread; ++call) {
        const std::vector<double> results = job.Run();
        num_equal[i] += std::memcmp(results.data(), alone[i].data(),
                                    results.size() * sizeof(double)) == 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kNumThreads; ++i) {
    EXPECT_EQ(num_equal[i], kCallsPerThread) << "thread " << i;
  }
}

TEST(ConcurrentCallsTest, MessagesBelongToTheirThread) {
  std::vector<std::string> messages(kNumThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kNumThreads; ++i) {
    threads.emplace_back([&messages, i] {
      const Call call = {100 + i, 0, 0, Precision::kFloat64};
      int64_t dims[kMaxRank];
      int32_t rank = 0;
      for (int repeat = 0; repeat < kCallsPerThread; ++repeat) {
        messages[i] = ForwardShape(call, nullptr, 0, dims, &rank);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kNumThreads; ++i) {
    EXPECT_NE(messages[i].find(std::to_string(100 + i)), std::string::npos);
  }
}

}  // namespace
}  // namespace phasic
