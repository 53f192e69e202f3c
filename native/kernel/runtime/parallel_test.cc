#include "native/kernel/runtime/parallel.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "native/kernel/runtime/thread_pool.h"
#include "native/kernel/runtime/work_limit.h"

namespace phasic {
namespace {

// An executor that promises helpers, but keeps the offered jobs for later.
class LateThreads final : public Executor {
 public:
  int64_t num_helpers() override { return 7; }
  void Offer(const std::shared_ptr<Job>& job, int64_t count) override {
    for (; count > 0; --count) offers_.push_back(job);
  }
  size_t num_offers() const { return offers_.size(); }
  void ComeAtLast() {
    for (const auto& job : offers_) Help(job.get());
  }

 private:
  std::vector<std::shared_ptr<Job>> offers_;
};

class WithThreads : public testing::Test {
 protected:
  explicit WithThreads(int count = 4) : before_(MaxThreads()) {
    EXPECT_TRUE(SetMaxThreads(count));
  }
  ~WithThreads() override { SetMaxThreads(before_); }

 private:
  const int before_;
};

class ParallelForTest : public WithThreads {};

// Returns the sum of the numbers of the chunks that ran, which is n (n - 1) / 2
// if every chunk ran once.
int64_t SumOfChunks(Executor* executor, int64_t n) {
  std::atomic<int64_t> sum{0};
  const char* error = ParallelFor(executor, n, [&](int64_t chunk) {
    sum += chunk;
    return nullptr;
  });
  EXPECT_EQ(error, nullptr);
  return sum;
}

TEST_F(ParallelForTest, RunsEveryChunkOnce) {
  for (const int64_t n : {0, 1, 2, 3, 100, 10000}) {
    std::vector<std::atomic<int>> counts(n);
    ParallelFor(OwnThreads(), n, [&](int64_t chunk) {
      ++counts[chunk];
      return nullptr;
    });
    for (const auto& count : counts) EXPECT_EQ(count, 1);
  }
  EXPECT_EQ(SumOfChunks(OwnThreads(), -1), 0);
}

TEST_F(ParallelForTest, HelpersTakePart) {
  // Each of the two chunks waits until the other one has begun.
  std::atomic<int> begun{0};
  ParallelFor(OwnThreads(), 2, [&](int64_t) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
    return nullptr;
  });
  EXPECT_EQ(begun, 2);
}

TEST_F(ParallelForTest, NobodyWaitsForHelpersThatNeverCome) {
  LateThreads late;
  EXPECT_EQ(SumOfChunks(&late, 1000), 999 * 500);
  EXPECT_EQ(late.num_offers(), 3U);
}

TEST_F(ParallelForTest, LateHelpersFindNothingToDo) {
  LateThreads late;
  {
    auto calls = std::make_unique<int>(0);
    ParallelFor(&late, 5, [&](int64_t) {
      ++*calls;
      return nullptr;
    });
    EXPECT_EQ(*calls, 5);
  }
  late.ComeAtLast();  // The memory of the chunks is gone.
}

TEST_F(ParallelForTest, ReportsTheFirstErrorByNumber) {
  const char* const kErrors[] = {"two", "five"};
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> calls{0};
    const char* error = ParallelFor(OwnThreads(), 8, [&](int64_t chunk) {
      ++calls;
      return chunk == 2 ? kErrors[0] : chunk == 5 ? kErrors[1] : nullptr;
    });
    EXPECT_EQ(error, kErrors[0]);
    EXPECT_EQ(calls, 8);
  }
}

TEST_F(ParallelForTest, RethrowsWhatAChunkThrew) {
  for (int round = 0; round < 100; ++round) {
    try {
      ParallelFor(OwnThreads(), 8, [&](int64_t chunk) -> const char* {
        if (chunk >= 3) throw std::runtime_error(std::to_string(chunk));
        return nullptr;
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "3");
    }
  }
}

TEST_F(ParallelForTest, NestedCalls) {
  std::atomic<int64_t> sum{0};
  ParallelFor(OwnThreads(), 8, [&](int64_t) {
    ParallelFor(OwnThreads(), 8, [&](int64_t) {
      sum += SumOfChunks(OwnThreads(), 10);
      return nullptr;
    });
    return nullptr;
  });
  EXPECT_EQ(sum, 8 * 8 * 45);
}

TEST_F(ParallelForTest, ManyCallersAtOnce) {
  std::vector<std::thread> callers;
  callers.reserve(16);
  std::atomic<int> right{0};
  for (int c = 0; c < 16; ++c) {
    callers.emplace_back([&right] {
      for (int round = 0; round < 200; ++round) {
        if (SumOfChunks(OwnThreads(), 50) == 49 * 25) ++right;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(right, 16 * 200);
}

TEST_F(ParallelForTest, MaxThreadsBoundsACall) {
  for (const int limit : {1, 2, 4}) {
    ASSERT_TRUE(SetMaxThreads(limit));
    EXPECT_EQ(NumThreads(OwnThreads()), limit);
    std::atomic<int> running{0};
    std::atomic<int> most{0};
    ParallelFor(OwnThreads(), 200, [&](int64_t) {
      const int now = ++running;
      int seen = most;
      while (now > seen && !most.compare_exchange_weak(seen, now)) {
      }
      std::this_thread::yield();
      --running;
      return nullptr;
    });
    EXPECT_LE(most, limit);
  }
}

TEST(MaxThreadsTest, RefusesCountsOutOfRange) {
  const int before = MaxThreads();
  EXPECT_GE(before, 1);
  EXPECT_FALSE(SetMaxThreads(0));
  EXPECT_FALSE(SetMaxThreads(-3));
  EXPECT_FALSE(SetMaxThreads(kMaxThreadsLimit + 1));
  EXPECT_EQ(MaxThreads(), before);
}

TEST_F(ParallelForTest, ThreadsThatHelpStopWithTheCall) {
  const StoppableCall call([] { return true; });
  std::atomic<int> begun{0};
  ParallelFor(OwnThreads(), 2, [&](int64_t) {
    ++begun;
    while (!IsStopped()) std::this_thread::yield();
    return nullptr;
  });
  EXPECT_GE(begun, 1);
  // Chunks that have not begun are left out.
  ParallelFor(OwnThreads(), 100, [&](int64_t) {
    ++begun;
    return nullptr;
  });
  EXPECT_LE(begun, 2);
}

TEST_F(ParallelForTest, AForkedChildHasThreadsOfItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer cannot start threads after a fork";
#endif
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer's allocator may be locked during a fork";
#endif
  SumOfChunks(OwnThreads(), 100);  // Starts the parent's threads.
  // Another thread keeps the pool busy while the process forks.
  std::atomic<bool> stop{false};
  std::thread other([&stop] {
    while (!stop) SumOfChunks(OwnThreads(), 20);
  });
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(20);  // A hang is a failure.
      std::atomic<int> begun{0};
      ParallelFor(OwnThreads(), 2, [&](int64_t) {
        ++begun;
        while (begun < 2) std::this_thread::yield();
        return nullptr;
      });
      _exit(SumOfChunks(OwnThreads(), 100) == 99 * 50 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  stop = true;
  other.join();
}

}  // namespace
}  // namespace phasic
