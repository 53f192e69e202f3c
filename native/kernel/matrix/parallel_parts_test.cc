#include "native/kernel/matrix/parallel_parts.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "native/kernel/runtime/parallel.h"
#include "native/kernel/runtime/thread_pool.h"
#include "native/kernel/simd/float_environment.h"

namespace phasic {
namespace PHASIC_ISA {
namespace {

class ForPartsTest : public testing::Test {
 protected:
  ForPartsTest() : before_(MaxThreads()) { EXPECT_TRUE(SetMaxThreads(2)); }
  ~ForPartsTest() override { SetMaxThreads(before_); }

 private:
  const int before_;
};

TEST_F(ForPartsTest, CallerKnowsWhatUnderflowedElsewhere) {
  const FloatEnvironment environment(Denormals::kFlush);
  const std::thread::id caller = std::this_thread::get_id();
  volatile double tiny = 0x1p-600;
  for (const bool underflows : {true, false}) {
    std::atomic<int> begun{0};
    std::atomic<int> elsewhere{0};
    FloatEnvironment::ClearUnderflow();
    ForParts(OwnThreads(), 2, kWorthHelpers, [&](int64_t) {
      // Waits until both parts have begun, so that each thread gets one.
      for (++begun; begun < 2;) std::this_thread::yield();
      if (std::this_thread::get_id() == caller) return;
      ++elsewhere;
      if (underflows) tiny = tiny * 0x1p-600;
    });
    EXPECT_EQ(elsewhere, 1);
    EXPECT_EQ(FloatEnvironment::Underflowed(), underflows);
  }
  // Other threads flush denormals, as the calling thread does.
  EXPECT_EQ(tiny, 0.0);
}

TEST_F(ForPartsTest, SmallWorkIsTheCallers) {
  const std::thread::id caller = std::this_thread::get_id();
  int64_t sum = 0;
  ForParts(OwnThreads(), 100, 0.5 * kWorthHelpers, [&](int64_t part) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    sum += part;
  });
  EXPECT_EQ(sum, 4950);
}

}  // namespace
}  // namespace PHASIC_ISA
}  // namespace phasic
