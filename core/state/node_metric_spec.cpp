// SPDX-License-Identifier: Apache-2.0
#include "core/state/node_metric_spec.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <limits>

#include "core/base/parse.hpp"
#include "core/state/document.hpp"

namespace koord::state {
namespace {

using std::chrono::seconds;

constexpr seconds kLeastAggregate{60};
constexpr seconds kLeastReport = std::chrono::duration_cast<seconds>(kLeastReportInterval);
constexpr std::int64_t kMostSeconds = std::numeric_limits<std::int64_t>::max() / 1'000'000'000;

class Reader {
 public:
  explicit Reader(std::vector<std::string>& problems) : problems_(problems) {}

  void read(const Field& policy, NodeMetricSpec& spec) {
    read_seconds(policy.any_case("aggregateDurationSeconds"), kLeastAggregate, spec.aggregate);
    read_seconds(policy.any_case("reportIntervalSeconds"), kLeastReport, spec.report);
    read_windows(policy.any_case("nodeAggregatePolicy").any_case("durations"), spec.windows);
    read_memory(policy.any_case("nodeMemoryCollectPolicy"), spec.memory);
  }

 private:
  void read_seconds(const Field& field, seconds least, Duration& value) {
    if (field.empty()) return;
    Result<std::int64_t> number = field.integer(0);
    if (!number) return report(std::move(number).error());
    if (*number > kMostSeconds) return report(field.wrong("'" + std::to_string(*number) + "' is out of range"));
    value = seconds(std::max<std::int64_t>(*number, least.count()));
    if (*number < least.count())
      report(field.wrong(std::to_string(*number) + " is less than " + std::to_string(least.count()) + ", which holds"));
  }

  void read_windows(const Field& field, std::vector<Duration>& windows) {
    if (field.empty()) return;
    Result<std::vector<Field>> items = field.list();
    if (!items) return report(std::move(items).error());
    windows.clear();
    for (const Field& item : *items) {
      Result<std::string> text = item.required_text();
      Result<Duration> window = text ? parse_duration(*text) : Result<Duration>(text.error());
      if (!text || !window)
        report(text ? item.wrong(window.error().text) : text.error());
      else if (*window <= Duration::zero())
        report(item.wrong("'" + *text + "' is not longer than nothing"));
      else
        windows.push_back(*window);
    }
  }

  void read_memory(const Field& field, MemoryPolicy& value) {
    Result<std::string> name = field.text();
    if (!name) return report(std::move(name).error());
    if (name->empty()) return;
    for (MemoryPolicy policy :
         {MemoryPolicy::without_page_cache, MemoryPolicy::with_hot_page_cache, MemoryPolicy::with_page_cache})
      if (name_of(policy) == *name) {
        value = policy;
        return;
      }
    report(field.wrong("found '" + *name +
                       "', expected usageWithoutPageCache, usageWithHotPageCache or usageWithPageCache"));
  }

  void report(const Error& error) { problems_.push_back(error.message()); }

  std::vector<std::string>& problems_;
};

}  // namespace

std::string_view name_of(MemoryPolicy policy) {
  switch (policy) {
    case MemoryPolicy::without_page_cache:
      return "usageWithoutPageCache";
    case MemoryPolicy::with_hot_page_cache:
      return "usageWithHotPageCache";
    case MemoryPolicy::with_page_cache:
      return "usageWithPageCache";
  }
  return "";
}

Result<ReadNodeMetricSpec> parse_node_metric_spec(std::string_view text) {
  ReadNodeMetricSpec result;
  if (trim(text).empty()) return result;
  boost::json::value document = TRY(parse_document(text));
  Field object(document);
  TRY(object.members());
  TRY(check_kind(object, {"NodeMetric"}));
  Reader(result.problems).read(object["spec"].any_case("metricCollectPolicy"), result.spec);
  return result;
}

}  // namespace koord::state
