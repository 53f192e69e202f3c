#include "native/kernel/runtime/work_limit.h"

#include <gtest/gtest.h>

#include <chrono>
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

TEST(WorkLimitTest, OfStepsBeyondCaches) {
  EXPECT_EQ(WorkOfStep(200'000.0, 100'000), 500'000.0);
  EXPECT_EQ(WorkOfStep(2'000'000.0, 1'000'000), 10'000'000.0);
}

int num_questions = 0;

// Longer than the time between two questions.
void Wait() { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }

TEST(StoppableCallTest, StaysStoppedAndAsksNoMore) {
  num_questions = 0;
  EXPECT_FALSE(IsStopped());
  {
    const StoppableCall call([] { return ++num_questions == 2; });
    Wait();
    EXPECT_FALSE(IsStopped());
    EXPECT_EQ(num_questions, 1);
    Wait();
    EXPECT_TRUE(IsStopped());
    Wait();
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

TEST(StoppableCallTest, IsOfItsThreadAndThoseThatHelp) {
  const StoppableCall call([] { return true; });
  Wait();
  bool is_stopped = true;
  bool stops_before = true;
  bool stops_after = false;
  StoppableCall* const current = StoppableCall::Current();
  const auto help = [&](bool* stops) {
    const HelpedCall helped(current);
    *stops = IsStopped();
  };
  std::thread([&] { is_stopped = IsStopped(); }).join();
  EXPECT_FALSE(is_stopped);
  // Only the thread of the call asks.
  std::thread(help, &stops_before).join();
  EXPECT_FALSE(stops_before);
  EXPECT_TRUE(IsStopped());
  std::thread(help, &stops_after).join();
  EXPECT_TRUE(stops_after);
}

}  // namespace
}  // namespace phasic
