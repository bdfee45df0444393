// SPDX-License-Identifier: Apache-2.0
// The main function of test programs without their own.
#include "run_test_cases.hpp"

int main(int argc, char** argv) { return koord::test::run_test_cases(argc, argv); }
