// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cpu-suppress/best_effort_applications.hpp"

#include <boost/json.hpp>

#include "core/json/members.hpp"
#include "core/json/reader.hpp"

namespace koord::usage {
namespace {

namespace json = boost::json;

bool is_best_effort(const json::value& application) {
  return json_text(application, "qos") == "BE" &&
         json_text(json_mapping(application, "cgroupPath"), "base") == "KubepodsBesteffort";
}

}  // namespace

Result<std::set<std::string>> parse_best_effort_applications(std::string_view node_slo) {
  std::set<std::string> names;
  if (node_slo.empty()) return names;
  Result<json::value> document = read_json(node_slo);
  if (!document) return std::move(document).error().context("the NodeSLO's spec");
  for (const json::value& application : json_list(*document, "hostApplications")) {
    if (!is_best_effort(application)) continue;
    if (const json::value* name = json_member(application, "name"); name != nullptr && name->is_string())
      names.emplace(text_view(name->get_string()));
  }
  return names;
}

}  // namespace koord::usage
