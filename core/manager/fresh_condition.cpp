// SPDX-License-Identifier: Apache-2.0
#include "core/manager/fresh_condition.hpp"

#include <boost/json.hpp>
#include <utility>

#include "core/base/timestamp.hpp"
#include "core/json/members.hpp"
#include "core/json/reader.hpp"

namespace koord::manager {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxConditions = 16;
constexpr std::string_view kEndOfStatus = "}]}";

json::object fresh_condition(std::optional<std::int64_t> silent_seconds) {
  if (!silent_seconds)
    return {{"type", "Fresh"}, {"status", "True"}, {"reason", "Reported"}, {"message", "the report is current"}};
  return {{"type", "Fresh"},
          {"status", "False"},
          {"reason", "NoReport"},
          {"message", "no report for " + std::to_string(*silent_seconds) + " s"}};
}

// Returns the condition Fresh, which with_fresh_condition() writes at the end of a status. Returns "" if it is missing.
// Inside a string its quotes would be escaped, so searching the text is safe and avoids parsing the whole status.
std::string_view fresh_at_end(std::string_view status) {
  constexpr std::string_view kBegin = R"({"type":"Fresh",)";
  const std::size_t begin = status.ends_with(kEndOfStatus) ? status.rfind(kBegin) : status.npos;
  return begin == status.npos ? std::string_view() : status.substr(begin, status.size() - begin - 2);
}

// Removes the conditions from the status. Returns them without Fresh.
json::array take_conditions(json::object& status) {
  json::array others;
  for (const json::value& condition : json_list(status, "conditions"))
    if (json_text(condition, "type") != "Fresh") others.push_back(condition);
  status.erase("conditions");
  return others;
}

}  // namespace

Result<std::string> with_fresh_condition(std::string_view status, std::optional<std::int64_t> silent_seconds,
                                         std::int64_t now_seconds) {
  json::object object = TRY(read_json_object(status));
  json::array conditions;
  json::object wanted = fresh_condition(silent_seconds);
  wanted["lastTransitionTime"] = format_timestamp(now_seconds);
  for (const json::value& condition : json_list(object, "conditions")) {
    if (json_text(condition, "type") != "Fresh") {
      if (conditions.size() < kMaxConditions) conditions.push_back(condition);
    } else if (json_text(condition, "status") == json_text(wanted, "status")) {
      if (std::string since = json_text(condition, "lastTransitionTime"); !since.empty())
        wanted["lastTransitionTime"] = since;
    }
  }
  conditions.push_back(std::move(wanted));
  object.erase("conditions");  // they must be the last member
  object["conditions"] = std::move(conditions);
  return json::serialize(object);
}

std::string with_report_fresh(std::string sent, std::string_view before, std::int64_t now_seconds) {
  json::array conditions;
  if (sent.find(R"("conditions")") != sent.npos) {
    Result<json::object> status = read_json_object(sent);
    if (!status) return sent;
    conditions = take_conditions(*status);
    sent = json::serialize(*status);
  }
  if (!sent.ends_with('}')) return sent;
  if (auto own = read_json_object(fresh_at_end(before))) conditions.push_back(*std::move(own));
  json::object own;
  own["conditions"] = std::move(conditions);
  const Result<std::string> complete = with_fresh_condition(json::serialize(own), std::nullopt, now_seconds);
  if (!complete) return sent;
  sent.pop_back();
  if (sent != "{") sent += ',';
  return sent + complete->substr(1);
}

std::string with_report_missing(std::string_view status, std::int64_t silent_seconds, std::int64_t now_seconds) {
  return with_fresh_condition(status, silent_seconds, now_seconds).value_or("");
}

bool lacks_report(std::string_view status) {
  return fresh_at_end(status).find(R"("status":"False")") != std::string_view::npos;
}

}  // namespace koord::manager
