# The native tests of the kernel and the elimination, as two programs: native_tests,
# and counted_work_test, which links a build of the sweeps of its own.
# tools/test_wheels.sh adds them to a build of tools/wheels.sh, whose objects they
# link, so that they run on the processor of the wheel.
#
#   -DCMAKE_PROJECT_phasic_INCLUDE=<this file>
#   -DPHASIC_TESTS=<a clone>: the tests, and what only they include
#   -DGOOGLETEST=<the sources of GoogleTest>

# After the targets of CMakeLists.txt.
cmake_language(DEFER CALL add_native_tests)

function(test_program name)
  add_executable(${name} EXCLUDE_FROM_ALL)
  foreach(part googletest ${ARGN})
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${part}>)
  endforeach()
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${name} PRIVATE Threads::Threads)
endfunction()

function(test_objects name)
  objects(${name} OPTIONS ${COPTS}
    INCLUDES ${GOOGLETEST}/googletest/include ${EIGEN_INCLUDE} ${ARGN})
  target_include_directories(${name} PRIVATE ${PHASIC_TESTS})
endfunction()

function(add_native_tests)
  set(native ${PHASIC_TESTS}/native)
  set(counted ${native}/kernel/sweeps/counted_work_test.cc)
  file(GLOB_RECURSE tests ${native}/*_test.cc)
  list(REMOVE_ITEM tests ${counted})
  if(NOT LEVELS)  # there is one instruction set, and nothing to compare
    list(FILTER tests EXCLUDE REGEX "/instruction_sets_test")
  endif()
  file(GLOB fuzzing ${native}/kernel/fuzz/*.cc ${native}/elimination/fuzz/*.cc)
  list(FILTER fuzzing EXCLUDE REGEX "_(test|fuzzer)\\.cc$")

  objects(googletest OPTIONS -w
    SOURCES ${GOOGLETEST}/googletest/src/gtest-all.cc
      ${GOOGLETEST}/googletest/src/gtest_main.cc
    INCLUDES ${GOOGLETEST}/googletest/include ${GOOGLETEST}/googletest)
  test_objects(native_test_files SOURCES ${tests} ${fuzzing})
  test_program(native_tests native_test_files ${CORE})

  test_objects(counted_work_files SOURCES ${counted} DEFINES PHASIC_COUNTS_WORK)
  objects(sweep_counted SOURCES native/kernel/builds/sweep_extended.cc
    OPTIONS ${COPTS} DEFINES PHASIC_ISA=extended PHASIC_COUNTS_WORK)
  list(REMOVE_ITEM CORE sweep_extended)
  test_program(counted_work_test counted_work_files sweep_counted ${CORE})
endfunction()
