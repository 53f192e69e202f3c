#include "native/kernel/runtime/workspace.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace phasic {
namespace {

TEST(WorkspaceTest, AllocationsAreAlignedAndDistinct) {
  Workspace workspace(size_t{1} << 24);
  char* first = static_cast<char*>(workspace.Allocate(100, 1));
  char* second = static_cast<char*>(workspace.Allocate(100, 1));
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0U);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(second) % 64, 0U);
  EXPECT_GE(second - first, 100);
}

TEST(WorkspaceTest, RefusesWhatIsAboveTheLimit) {
  Workspace workspace(size_t{1} << 20);
  EXPECT_EQ(workspace.Allocate(size_t{1} << 21, 1), nullptr);
  EXPECT_EQ(workspace.Allocate(SIZE_MAX / 2, 8), nullptr);
  int count = 0;
  while (workspace.Allocate(1000, 8) != nullptr) ++count;
  EXPECT_GT(count, 0);
  EXPECT_LE(count, 131);
}

TEST(WorkspaceTest, ResetMakesMemoryAvailableAgain) {
  Workspace workspace(size_t{1} << 20);
  for (int round = 0; round < 50; ++round) {
    ASSERT_NE(workspace.Allocate(100000, 1), nullptr) << round;
    ASSERT_NE(workspace.Allocate(300000, 1), nullptr) << round;
    workspace.Reset();
  }
}

constexpr size_t kMuch = Workspace::kOwnBytes + 1;
constexpr size_t kLimit = size_t{1} << 30;

TEST(WorkspaceTest, OneThreadAtATimeHasMuch) {
  std::atomic<int> having{0};
  std::atomic<int> most{0};
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        Workspace workspace(kLimit);
        ASSERT_NE(workspace.Allocate(kMuch / 2, 1), nullptr);
        ASSERT_NE(workspace.Allocate(kMuch / 2, 1), nullptr);
        const int now = ++having;
        int seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
        std::this_thread::yield();
        --having;
        workspace.Reset();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
}

// The following tests would hang if a workspace waited for a turn that it does
// not need or that no thread gives back.
TEST(WorkspaceTest, LittleMemoryWaitsForNobody) {
  Workspace much(kLimit);
  Workspace more(kLimit);
  ASSERT_NE(much.Allocate(kMuch, 1), nullptr);
  ASSERT_NE(more.Allocate(kMuch, 1), nullptr);  // The same thread holds the
                                                // turn.
  std::thread other([] {
    Workspace little(kLimit);
    EXPECT_NE(little.Allocate(kMuch / 2, 1), nullptr);
    Workspace without_turns(kLimit, false);
    EXPECT_NE(without_turns.Allocate(kMuch, 1), nullptr);
  });
  other.join();
  more.Reset();
  much.Reset();
  std::thread next([] {
    Workspace workspace(kLimit);
    EXPECT_NE(workspace.Allocate(kMuch, 1), nullptr);
  });
  next.join();
}

TEST(WorkspaceTest, AForkedChildHasTheTurn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer does not know a new mutex in a fork";
#endif
  std::atomic<bool> has_turn{false};
  std::atomic<bool> stop{false};
  std::thread other([&] {
    Workspace workspace(kLimit);
    EXPECT_NE(workspace.Allocate(kMuch, 1), nullptr);
    has_turn = true;
    while (!stop) std::this_thread::yield();
  });
  while (!has_turn) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // A hang is a failure.
    Workspace workspace(kLimit);
    _exit(workspace.Allocate(kMuch, 1) != nullptr ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  stop = true;
  other.join();
}

}  // namespace
}  // namespace phasic
