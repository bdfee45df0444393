// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/usage/annotations.hpp"

#include <boost/json.hpp>

#include "core/json/reader.hpp"

namespace koord::usage {
namespace {

namespace json = boost::json;

bool is_best_effort(const json::object& application) {
  const json::value* qos = application.if_contains("qos");
  const json::value* path = application.if_contains("cgroupPath");
  if (!qos || !qos->is_string() || qos->get_string() != "BE" || !path || !path->is_object()) return false;
  const json::value* base = path->get_object().if_contains("base");
  return base && base->is_string() && base->get_string() == "KubepodsBesteffort";
}

}  // namespace

Result<std::set<std::string>> parse_best_effort_applications(std::string_view node_slo) {
  std::set<std::string> names;
  if (node_slo.empty()) return names;
  Result<json::value> document = read_json(node_slo);
  if (!document) return std::move(document).error().context("the NodeSLO's spec");
  const json::object* spec = document->if_object();
  const json::value* list = spec ? spec->if_contains("hostApplications") : nullptr;
  if (!list || !list->is_array()) return names;
  for (const json::value& entry : list->get_array()) {
    if (!entry.is_object() || !is_best_effort(entry.get_object())) continue;
    const json::value* name = entry.get_object().if_contains("name");
    if (name && name->is_string()) names.emplace(std::string_view(name->get_string()));
  }
  return names;
}

}  // namespace koord::usage
