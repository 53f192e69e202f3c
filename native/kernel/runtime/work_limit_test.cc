#include "native/kernel/runtime/work_limit.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

namespace phasic {
namespace {

TEST(WorkLimitTest, IsPositive) {
  EXPECT_EQ(MaxWork(), kDefaultMaxWork);
  for (const double bad :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_FALSE(SetMaxWork(bad)) << bad;
    EXPECT_EQ(MaxWork(), kDefaultMaxWork);
  }
  EXPECT_TRUE(SetMaxWork(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(MaxWork(), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(SetMaxWork(kDefaultMaxWork));
}

TEST(WorkLimitTest, OfSquarings) {
  // Twice 1000^3 multiply-adds for each.
  EXPECT_TRUE(MaySquare(1000, 50.0, 1.0, 1.0));
  EXPECT_FALSE(MaySquare(1000, 51.0, 1.0, 1.0));
  EXPECT_FALSE(MaySquare(1000, 50.0, 4.0, 1.0));
  EXPECT_TRUE(SetMaxWork(1e9));
  EXPECT_FALSE(MaySquare(1000, 50.0, 1.0, 1.0));
  // A gigabyte has room for some 130 matrices of 8 megabytes.
  EXPECT_TRUE(SetMaxWork(std::numeric_limits<double>::infinity()));
  EXPECT_TRUE(MaySquare(1000, 80.0, 4.0, 1.0));
  EXPECT_FALSE(MaySquare(1000, 80.0, 4.0, 2.0));
  EXPECT_FALSE(MaySquare(4000, 40.0, 1.0, 1.0));
  EXPECT_TRUE(SetMaxWork(kDefaultMaxWork));
}

int num_questions = 0;

TEST(StoppableCallTest, StaysStoppedAndAsksNoMore) {
  num_questions = 0;
  EXPECT_FALSE(IsStopped());
  {
    const StoppableCall call([] { return ++num_questions == 2; });
    EXPECT_FALSE(IsStopped());
    EXPECT_TRUE(IsStopped());
    EXPECT_TRUE(IsStopped());
    EXPECT_EQ(num_questions, 2);
    {
      const StoppableCall inner([] { return false; });
      EXPECT_FALSE(IsStopped());
    }
    EXPECT_TRUE(IsStopped());
  }
  EXPECT_FALSE(IsStopped());
}

TEST(StoppableCallTest, IsOfOneThread) {
  const StoppableCall call([] { return true; });
  bool is_stopped = true;
  std::thread([&] { is_stopped = IsStopped(); }).join();
  EXPECT_FALSE(is_stopped);
  EXPECT_TRUE(IsStopped());
}

}  // namespace
}  // namespace phasic
