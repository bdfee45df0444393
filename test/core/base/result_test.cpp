// SPDX-License-Identifier: Apache-2.0
#include "core/base/result.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace koord;

namespace {

const std::string kLong(100, 'x');  // longer than the internal buffer of a std::string

Result<std::string> with_value() { return kLong; }
Result<std::string> with_error() { return invalid(kLong); }

Result<std::unique_ptr<int>> moved_on(Result<std::unique_ptr<int>> result) { return TRY(std::move(result)); }

}  // namespace

TEST_CASE("a copy of a result has its value or its error, and leaves the original as it was") {
  const Result<std::string> value = with_value(), error = with_error();
  const Result<std::string> value_copy = value, error_copy = error;
  CHECK(*value_copy == kLong);
  CHECK(error_copy.error().text == kLong);
  CHECK(*value == kLong);
  CHECK(error.error().text == kLong);
}

TEST_CASE("an assigned result replaces a value or an error by either") {
  for (const bool begins_with_value : {true, false}) {
    Result<std::string> result = begins_with_value ? with_value() : with_error();
    result = with_error();
    CHECK_FALSE(result);
    result = with_error();
    CHECK(result.error().text == kLong);
    result = with_value();
    CHECK(*result == kLong);
    const Result<std::string>& same = result;
    result = same;
    CHECK(*result == kLong);
  }
}

TEST_CASE("a value that cannot be copied is moved, also through TRY") {
  auto moved = moved_on(std::make_unique<int>(7));
  REQUIRE(moved);
  CHECK(**moved == 7);
  CHECK(moved_on(system_error(ENOENT, "file")).error().is(std::errc::no_such_file_or_directory));
}

TEST_CASE("results move when a vector of them grows") {
  std::vector<Result<std::string>> results;
  for (int i = 0; i < 100; ++i) results.push_back(i % 2 == 0 ? with_value() : with_error());
  for (int i = 0; i < 100; ++i) CHECK(results[static_cast<std::size_t>(i)].has_value() == (i % 2 == 0));
}

TEST_CASE("success without a value has no error, and an error stays an error when it is copied or moved") {
  CHECK(Result<void>());
  Result<void> failed = invalid(kLong);
  const Result<void> copy = failed;
  CHECK(copy.error().text == kLong);
  CHECK(std::move(failed).error().text == kLong);
  failed = {};
  CHECK(failed);
}

TEST_CASE("the description of a code follows an error of the system or of a library, but no error of our own") {
  CHECK(system_error(ENOENT, "cannot open 'f'").message() == "cannot open 'f': No such file or directory");
  CHECK(system_error(EINVAL, "cannot write 'f'").message() == "cannot write 'f': Invalid argument");
  CHECK(system_error(EACCES, "").message() == "Permission denied");
  CHECK(system_error(EACCES, "").context("'f'").message() == "'f': Permission denied");
  CHECK(Error{std::make_error_code(std::future_errc::no_state), "f"}.message() == "f: No associated state");
  CHECK(not_found("$A is not set").message() == "$A is not set");
  CHECK(Error{std::make_error_code(std::errc::permission_denied), "hostname mismatch"}.message() ==
        "hostname mismatch");
  CHECK(invalid("found 'x', expected a number").context("a.b").message() == "a.b: found 'x', expected a number");
}

TEST_CASE("an error of the system and one of our own have the same condition") {
  CHECK(system_error(ENOENT, "f").is(std::errc::no_such_file_or_directory));
  CHECK(system_error(EINVAL, "f").is(std::errc::invalid_argument));
  CHECK(system_error(EAGAIN, "f").is(std::errc::resource_unavailable_try_again));
  CHECK(system_error(ENOTSUP, "f").is(std::errc::not_supported));
  CHECK(not_found("f").is(std::errc::no_such_file_or_directory));
  CHECK_FALSE(system_error(EACCES, "f").is(std::errc::no_such_file_or_directory));
}
