// SPDX-License-Identifier: Apache-2.0
// Runs doctest's test cases and fails if the filters select none. One source of each test program includes this file.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>

namespace koord::test {

inline bool nothing_ran = false;

// Detects a run without test cases.
struct RunCounter : doctest::IReporter {
  explicit RunCounter(const doctest::ContextOptions&) {}
  void test_run_end(const doctest::TestRunStats& run) override { nothing_ran = run.numTestCasesPassingFilters == 0; }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("run-counter", 0, RunCounter);

// Returns the exit status.
inline int run_test_cases(int argc, char** argv) {
  const int result = doctest::Context(argc, argv).run();
  if (!nothing_ran) return result;
  std::fputs("no test case passes the filters: was a test or a file renamed? A comma separates filters\n", stderr);
  return 1;
}

}  // namespace koord::test
