#include "native/kernel/workspace.h"

#include <gtest/gtest.h>

#include <cstdint>

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

}  // namespace
}  // namespace phasic
