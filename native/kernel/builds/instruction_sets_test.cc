#include "native/kernel/builds/instruction_sets.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "native/kernel/api/phase_type.h"

namespace phasic {
namespace {

// Prints the name of the chosen instruction set and exits. It runs in a child
// process, as the choice is made once per process.
[[noreturn]] void ReportChoice(const char* wanted) {
  if (wanted == nullptr) {
    unsetenv("PHASIC_ISA");
  } else {
    setenv("PHASIC_ISA", wanted, 1);
  }
  ChosenInstructionSet();
  std::fprintf(stderr, "chosen: %s\n", ChosenInstructionSet().name);
  std::exit(&Sweeps() == ChosenInstructionSet().sweeps ? 0 : 1);
}

// Prints the log density at time 1 of an exponential distribution with rate 2,
// and exits.
[[noreturn]] void ReportDensity(const char* wanted) {
  setenv("PHASIC_ISA", wanted, 1);
  const double alpha = 1.0;
  const double subgenerator = -2.0;
  const double exit = 2.0;
  const double time = 1.0;
  const int64_t one = 1;
  const int64_t none = 0;
  const int64_t square[] = {1, 1};
  const Input inputs[] = {{&alpha, {&one, 1}},
                          {&subgenerator, {square, 2}},
                          {&exit, {&one, 1}},
                          {nullptr, {&none, 1}},
                          {&time, {&one, 1}}};
  const Call call = {static_cast<int32_t>(Kind::kLogDensity), 0, 0,
                     Precision::kFloat64};
  double result = 0.0;
  const char* error = Forward(call, inputs, 5, {&result, {&one, 1}});
  std::fprintf(stderr, "%s log density %.6f", error == nullptr ? "" : error,
               result);
  std::exit(0);
}

std::string Widest() {
  std::string name;
  for (const InstructionSet& set : AllInstructionSets()) {
    if (set.is_supported) name = set.name;
  }
  return name;
}

const auto kExitsWell = ::testing::ExitedWithCode(0);

class InstructionSetsTest : public ::testing::Test {
 protected:
  InstructionSetsTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(InstructionSetsTest, StartWithOneThatRunsAnywhere) {
  EXPECT_STREQ(AllInstructionSets().begin()->name, "generic");
  EXPECT_TRUE(AllInstructionSets().begin()->is_supported);
}

TEST_F(InstructionSetsTest, LevelsContainEachOther) {
  bool narrower = true;
  for (const InstructionSet& set : AllInstructionSets()) {
    EXPECT_TRUE(narrower || !set.is_supported) << set.name;
    narrower = set.is_supported;
  }
}

TEST_F(InstructionSetsTest, TheWidestRunsUnlessOneIsNamed) {
  const std::string expected = "^chosen: " + Widest() + "\n$";
  EXPECT_EXIT(ReportChoice(nullptr), kExitsWell, expected);
  EXPECT_EXIT(ReportChoice(""), kExitsWell, expected);
}

TEST_F(InstructionSetsTest, ANameChoosesOrIsReportedOnce) {
  for (const InstructionSet& set : AllInstructionSets()) {
    const std::string name = set.name;
    const std::string expected =
        set.is_supported
            ? "^chosen: " + name + "\n$"
            : "^phasic: PHASIC_ISA is '" + name +
                  "': this processor cannot run it .*; " + Widest() +
                  " is used\nchosen: " + Widest() + "\n$";
    EXPECT_EXIT(ReportChoice(set.name), kExitsWell, expected);
  }
}

TEST_F(InstructionSetsTest, AnUnknownNameIsReportedOnce) {
  EXPECT_EXIT(ReportChoice("x86_64_v9"), kExitsWell,
              "^phasic: PHASIC_ISA is 'x86_64_v9': it is not one of those "
              "built .generic.*; " +
                  Widest() + " is used\nchosen: " + Widest() + "\n$");
}

TEST_F(InstructionSetsTest, NoNameEndsInAnIllegalInstruction) {
  for (const InstructionSet& set : AllInstructionSets()) {
    // The log density is log 2 - 2.
    EXPECT_EXIT(ReportDensity(set.name), kExitsWell, "log density -1.306853");
  }
}

}  // namespace
}  // namespace phasic
