// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/report_view.hpp"

#include "core/ctl/format.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/table.hpp"

namespace koord::ctl {
namespace {

constexpr const char* kObjects[] = {"NodeMetric", "NodeResourceTopology", "Device"};

std::string state_of(const json::value& object) {
  if (!flag_of(object, "written")) return "off";
  if (flag_of(object, "missing"))
    return "missing, nothing is reported: Koordinator's manager creates it, or the agent with report.createNodeMetric";
  if (const json::value* exists = member(object, "exists"); exists != nullptr && !flag_of(object, "exists")) return "missing";
  for (const char* trouble : {"problem", "refusal", "unknown"}) {
    if (std::string text = text_of(object, trouble); !text.empty()) return text;
  }
  const std::size_t left_out = array_of(object, "leftOut").size();
  if (left_out > 0) return "written without " + std::to_string(left_out) + (left_out == 1 ? " part" : " parts") + " that the API server refused";
  return "ok";
}

std::string refused_parts(const char* name, const json::value& object) {
  std::string parts;
  for (const json::value& field : array_of(object, "leftOut"))
    if (field.is_string()) parts += (parts.empty() ? "" : ", ") + std::string(field.get_string());
  return parts.empty() ? "" : "\n" + std::string(name) + " without " + parts + ": " + text_of(object, "leftOutWhy");
}

std::vector<std::string> object_row(const char* name, const json::value& object) {
  const std::optional<double> accepted = number_of(object, "accepted");
  return {name, accepted ? format_wall_time(*accepted) : "-", format_number(number_of(object_of(object, "outcomes"), "written")), state_of(object)};
}

void add_usage(Table& table, const std::string& name, const json::value& usage) {
  const json::value& resources = object_of(usage, "resources");
  const auto amount = [&resources](const char* resource) {
    const std::string text = text_of(resources, resource);
    return text.empty() ? std::string("-") : text;
  };
  table.add({name, amount("cpu"), amount("memory")});
}

std::string render_usages(const json::value& status) {
  Table table({{"OF"}, {"CPU", true}, {"MEMORY", true}});
  const json::value& node = object_of(status, "nodeMetric");
  add_usage(table, "node", object_of(node, "nodeUsage"));
  add_usage(table, "system", object_of(node, "systemUsage"));
  add_usage(table, "prod, could be lent", object_of(object_of(status, "prodReclaimableMetric"), "resource"));
  for (const json::value& application : array_of(status, "hostApplicationMetric"))
    add_usage(table, text_of(application, "name"), object_of(application, "usage"));
  for (const json::value& pod : array_of(status, "podsMetric"))
    add_usage(table, text_of(pod, "namespace") + "/" + text_of(pod, "name"), object_of(pod, "podUsage"));
  return table.render();
}

}  // namespace

Result<std::string> render_report(const std::string& answer) {
  const json::value report = TRY(parse_object(answer));
  Table objects({{"OBJECT"}, {"ACCEPTED"}, {"WRITTEN", true}, {"STATE"}});
  for (const char* name : kObjects) objects.add(object_row(name, object_of(report, name)));
  std::string text = objects.render() + "\n" + render_usages(object_of(object_of(report, "NodeMetric"), "status"));
  for (const char* name : kObjects) {
    for (const char* list : {"problems", "specProblems"}) {
      for (const json::value& problem : array_of(object_of(report, name), list)) {
        if (problem.is_string()) text += "\n" + std::string(problem.get_string());
      }
    }
  }
  for (const char* name : kObjects) text += refused_parts(name, object_of(report, name));
  return text.ends_with('\n') ? text : text + "\n";
}

}  // namespace koord::ctl
