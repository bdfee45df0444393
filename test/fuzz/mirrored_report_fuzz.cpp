// SPDX-License-Identifier: Apache-2.0
// A report of any content: its mirrored status has no field that Koordinator's definition lacks, and a condition that
// is written once is found there the next time. A stated period is at least a second.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "core/manager/fresh_condition.hpp"
#include "core/manager/mirror_plan.hpp"
#include "core/manager/report_freshness.hpp"

using namespace koord;
using namespace koord::manager;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
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
  check(again && *again == *mirrored);
  const Result<std::string> later = with_fresh_condition(*stale, 16, 2);
  check(later && *later == *stale);
  const std::string fresh = with_report_fresh(*stale, "", 1);
  check(!lacks_report(fresh) && with_report_fresh(*stale, fresh, 2) == fresh);
  check(lacks_report(with_report_missing(fresh, 16, 3)));
  return 0;
}
