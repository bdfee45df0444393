// SPDX-License-Identifier: Apache-2.0
// DirectReport: this node's NodeMetric for koord-manager, and the body of the request that sends it. Values in, values
// out. [any thread]
#pragma once

#include <memory>
#include <string>

#include "core/base/result.hpp"
#include "core/report/node_metric.hpp"

namespace koord::report {

inline constexpr const char* kDirectCollection = "/apis/metrics.koordetector.sh/v1alpha1/nodemetrics";

struct DirectReport {
  NodeMetricReport report;
  DetailsOfPods details;
  Duration period{};  // time until the next report; zero: not stated
};

// A report that the manager accepted.
struct AcceptedReport {
  NodeMetricStatus status;  // status without its time
  DetailsOfPods details;
  Time sent_whole{};  // when the whole report was last sent
};
using AcceptedReportPtr = std::shared_ptr<const AcceptedReport>;

struct DirectBody {
  std::string text;
  bool is_patch = false;    // a merge patch of the report's time only
  bool is_gzipped = false;  // otherwise plain JSON
  AcceptedReportPtr after;  // the manager's report after it accepts this body
};

// While the manager has the same report, only its time is sent for this period.
inline constexpr Duration kWholeReportPeriod = std::chrono::minutes(1);

// `before`: the report that the manager has; null: unknown.
DirectBody make_direct_body(const std::string& node, const DirectReport& report, const AcceptedReportPtr& before,
                            Time now);

// Fails unless the text is an object of kind Status or NodeMetric, as the manager answers.
Result<void> check_direct_answer(std::string_view text);

}  // namespace koord::report
