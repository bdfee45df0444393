// SPDX-License-Identifier: Apache-2.0
// A report of any content: its mirrored status has only fields of Koordinator's definition, and a condition that was
// written is found at the next time. A given period is at least one second.
#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/json/reader.hpp"
#include "core/manager/fresh_condition.hpp"
#include "core/manager/mirror_plan.hpp"
#include "core/manager/report_freshness.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
using namespace koord::manager;

namespace {

// Returns whether the numbers are equal, except for rounding, because a number with many digits is rounded at each
// reading.
bool is_same_number(const boost::json::value& a, const boost::json::value& b) {
  const double one = a.to_number<double>(), other = b.to_number<double>();
  return one == other || std::abs(one - other) <= 1e-14 * std::abs(one);
}

bool is_same(const boost::json::value& a, const boost::json::value& b);

bool is_same_object(const boost::json::object& a, const boost::json::object& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.key() == other.key() && is_same(one.value(), other.value());
  });
}

bool is_same(const boost::json::value& a, const boost::json::value& b) {
  if (a.is_number() && b.is_number()) return is_same_number(a, b);
  if (a.is_object() && b.is_object()) return is_same_object(a.get_object(), b.get_object());
  if (a.is_array() && b.is_array())
    return std::equal(a.get_array().begin(), a.get_array().end(), b.get_array().begin(), b.get_array().end(), is_same);
  return a == b;
}

bool is_same(const std::string& a, const std::string& b) {
  return is_same_object(read_json_object(a).value(), read_json_object(b).value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)content_of(text);
  const Result<std::string> mirrored = mirrored_status(text);
  const Result<std::string> stale = with_fresh_condition(text, 16, 1);
  check(mirrored.has_value() == stale.has_value());
  const std::optional<Duration> period = stated_period(text);
  check(!period || *period >= std::chrono::seconds(1));
  if (!mirrored) return 0;
  check(!stated_period(*mirrored));
  const Result<std::string> again = mirrored_status(*mirrored);
  check(again && is_same(*again, *mirrored));
  const Result<std::string> later = with_fresh_condition(*stale, 16, 2);
  check(later && is_same(*later, *stale));
  const std::string fresh = with_report_fresh(*stale, "", 1);
  check(!lacks_report(fresh) && with_report_fresh(*stale, fresh, 2) == fresh);
  check(lacks_report(with_report_missing(fresh, 16, 3)));
  return 0;
}
