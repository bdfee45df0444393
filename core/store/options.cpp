// SPDX-License-Identifier: Apache-2.0
#include "core/store/options.hpp"

#include "core/base/parse.hpp"

namespace koord::store {
namespace {

Result<void> check_duration(const char* name, Duration found, Duration least) {
  if (found >= least) return {};
  return invalid(std::string("store ") + name + ": '" + format_duration(found) + "' is too short, expected at least '" +
                 format_duration(least) + "'");
}

Result<void> check_number(const char* name, std::uint64_t found, std::uint64_t least, std::uint64_t most) {
  if (found >= least && found <= most) return {};
  return invalid(std::string("store ") + name + ": " + std::to_string(found) + " is out of range, expected " +
                 std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace

Result<void> check(const Options& options) {
  using namespace std::chrono_literals;
  if (Result<void> r = check_duration("retention", options.retention, 1min); !r) return r;
  if (Result<void> r = check_duration("min_span", options.min_span, 0s); !r) return r;
  if (Result<void> r = check_duration("journal_period", options.journal_period, 10ms); !r) return r;
  if (Result<void> r = check_number("max_bytes", options.max_bytes, 1u << 20, std::uint64_t{1} << 40); !r) return r;
  return check_number("ring_rows", options.ring_rows, 130, 100'000);
}

}  // namespace koord::store
