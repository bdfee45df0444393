// SPDX-License-Identifier: Apache-2.0
// The main of tests that need none of their own.
#include <doctest/doctest.h>

#include <cstdio>

namespace {

bool nothing_ran = false;

// Notices a run in which no case was to run.
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

}  // namespace

int main(int argc, char** argv) {
  int result = doctest::Context(argc, argv).run();
  if (!nothing_ran) return result;
  std::fputs("no test case passes the filters: was a file renamed?\n", stderr);
  return 1;
}
