// SPDX-License-Identifier: Apache-2.0
#include "core/report/direct_report.hpp"

#include <utility>

#include "core/base/timestamp.hpp"
#include "core/http/gzip.hpp"
#include "core/json/writer.hpp"
#include "core/report/json_text.hpp"

namespace koord::report {
namespace {

std::string whole_object(const std::string& node, const DirectReport& report) {
  return R"({"apiVersion":"metrics.koordetector.sh/v1alpha1","kind":"NodeMetric","metadata":{"name":)" +
         json_quote(node) + R"(},"status":)" + to_json(report.report.status, report.details, report.period) + "}";
}

std::string time_patch(std::int64_t seconds) {
  return R"({"status":{"updateTime":)" + json_quote(format_timestamp(seconds)) + "}}";
}

}  // namespace

DirectBody make_direct_body(const std::string& node, const DirectReport& report, const AcceptedReportPtr& before,
                            Time now) {
  auto after = std::make_shared<AcceptedReport>(AcceptedReport{report.report.status, report.details, now});
  after->status.update_seconds = 0;
  const bool is_unchanged = before && before->status == after->status && before->details == after->details;
  DirectBody body;
  if (is_unchanged && now - before->sent_whole < kWholeReportPeriod) {
    body.text = time_patch(report.report.status.update_seconds);
    body.is_patch = true;
    after->sent_whole = before->sent_whole;
  } else {
    body.text = whole_object(node, report);
    if (Result<std::string> packed = http::gzip(body.text)) {
      body.text = *std::move(packed);
      body.is_gzipped = true;
    }
  }
  body.after = std::move(after);
  return body;
}

Result<void> check_direct_answer(std::string_view text) {
  const boost::json::value answer = TRY(parse_root(text, "the answer"));
  const std::string kind = json_text(answer, "kind");
  if (kind == "Status" || kind == "NodeMetric") return {};
  return invalid("the answer is of kind '" + kind + "', expected 'Status' or 'NodeMetric'");
}

}  // namespace koord::report
