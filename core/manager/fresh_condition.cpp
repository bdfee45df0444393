// SPDX-License-Identifier: Apache-2.0
#include "core/manager/fresh_condition.hpp"

#include <boost/json.hpp>
#include <utility>

#include "core/json/members.hpp"
#include "core/json/reader.hpp"

namespace koord::manager {
namespace {

namespace json = boost::json;

constexpr std::string_view kEndOfStatus = "}]}";

// The condition Fresh, which with_fresh_condition() puts at the end of a status; empty: it is missing. Inside of a text
// its quotes would be escaped, so it is found without reading the whole status.
std::string_view fresh_at_end(std::string_view status) {
  constexpr std::string_view kBegin = R"({"type":"Fresh",)";
  const std::size_t begin = status.ends_with(kEndOfStatus) ? status.rfind(kBegin) : status.npos;
  return begin == status.npos ? std::string_view() : status.substr(begin, status.size() - begin - 2);
}

// Moves the conditions out of the status, without Fresh.
json::array take_conditions(json::object& status) {
  json::array others;
  for (const json::value& condition : json_list(status, "conditions"))
    if (json_text(condition, "type") != "Fresh") others.push_back(condition);
  status.erase("conditions");
  return others;
}

}  // namespace

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
  const Result<std::string> complete =
      with_fresh_condition(json::serialize(own), {.node = {}, .is_fresh = true, .since_last_seconds = 0}, now_seconds);
  if (!complete) return sent;
  sent.pop_back();
  if (sent != "{") sent += ',';
  return sent + complete->substr(1);
}

std::string with_report_missing(std::string_view status, std::int64_t since_last_seconds, std::int64_t now_seconds) {
  return with_fresh_condition(status, {.node = {}, .is_fresh = false, .since_last_seconds = since_last_seconds},
                              now_seconds)
      .value_or("");
}

bool lacks_report(std::string_view status) {
  return fresh_at_end(status).find(R"("status":"False")") != std::string_view::npos;
}

}  // namespace koord::manager
