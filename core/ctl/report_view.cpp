// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/report_view.hpp"

#include "core/ctl/format.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/table.hpp"

namespace koord::ctl {
namespace {

constexpr const char* kObjects[] = {"NodeMetric", "NodeResourceTopology", "Device"};

std::string state_of(const json::value& object) {
  if (!json_flag(object, "written")) return "off";
  if (json_flag(object, "replaced")) return "written by koord-manager, which has direct reports";
  if (json_flag(object, "missing"))
    return "missing, nothing is reported: Koordinator's manager or koord-manager creates it, or the agent with "
           "report.createNodeMetric";
  if (const json::value* exists = json_member(object, "exists"); exists != nullptr && !json_flag(object, "exists"))
    return "missing";
  for (const char* trouble : {"problem", "refusal", "unknown"}) {
    if (std::string text = json_text(object, trouble); !text.empty()) return text;
  }
  const std::size_t left_out = json_list(object, "leftOut").size();
  if (left_out > 0)
    return "written without " + std::to_string(left_out) + (left_out == 1 ? " part" : " parts") +
           " that the API server refused";
  return "ok";
}

std::string refused_parts(const char* name, const json::value& object) {
  std::string parts;
  for (const json::value& field : json_list(object, "leftOut"))
    if (field.is_string()) parts += (parts.empty() ? "" : ", ") + std::string(field.get_string());
  return parts.empty() ? "" : "\n" + std::string(name) + " without " + parts + ": " + json_text(object, "leftOutWhy");
}

std::vector<std::string> object_row(const char* name, const json::value& object) {
  const std::optional<double> accepted = json_number(object, "accepted");
  return {name, accepted ? format_wall_time(*accepted) : "-",
          format_number(json_number(json_mapping(object, "outcomes"), "written")), state_of(object)};
}

std::vector<std::string> direct_row(const json::value& direct) {
  std::vector<std::string> row = object_row("to koord-manager", direct);
  const std::string manager = json_text(direct, "manager");
  if (row.back() == "ok") row.back() = manager.empty() ? "looking for its Lease" : "ok, to " + manager;
  return row;
}

void add_usage(Table& table, const std::string& name, const json::value& usage) {
  const json::value& resources = json_mapping(usage, "resources");
  const auto amount = [&resources](const char* resource) {
    const std::string text = json_text(resources, resource);
    return text.empty() ? std::string("-") : text;
  };
  table.add({name, amount("cpu"), amount("memory")});
}

std::string render_usages(const json::value& status) {
  Table table({{"OF"}, {"CPU", true}, {"MEMORY", true}});
  const json::value& node = json_mapping(status, "nodeMetric");
  add_usage(table, "node", json_mapping(node, "nodeUsage"));
  add_usage(table, "system", json_mapping(node, "systemUsage"));
  add_usage(table, "prod, could be lent", json_mapping(json_mapping(status, "prodReclaimableMetric"), "resource"));
  for (const json::value& application : json_list(status, "hostApplicationMetric"))
    add_usage(table, json_text(application, "name"), json_mapping(application, "usage"));
  for (const json::value& pod : json_list(status, "podsMetric"))
    add_usage(table, json_text(pod, "namespace") + "/" + json_text(pod, "name"), json_mapping(pod, "podUsage"));
  return table.render();
}

}  // namespace

Result<std::string> render_report(const std::string& answer) {
  const json::value report = TRY(parse_object(answer));
  Table objects({{"OBJECT"}, {"ACCEPTED"}, {"WRITTEN", true}, {"STATE"}});
  for (const char* name : kObjects) objects.add(object_row(name, json_mapping(report, name)));
  const json::value& direct = json_mapping(report, "direct");
  if (json_flag(direct, "written")) objects.add(direct_row(direct));
  std::string text =
      objects.render() + "\n" + render_usages(json_mapping(json_mapping(report, "NodeMetric"), "status"));
  for (const char* name : kObjects) {
    for (const char* list : {"problems", "specProblems"}) {
      for (const json::value& problem : json_list(json_mapping(report, name), list)) {
        if (problem.is_string()) text += "\n" + std::string(problem.get_string());
      }
    }
  }
  for (const char* name : kObjects) text += refused_parts(name, json_mapping(report, name));
  return text.ends_with('\n') ? text : text + "\n";
}

}  // namespace koord::ctl
