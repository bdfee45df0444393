// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/usage/annotations.hpp"

#include <boost/json.hpp>

#include "core/base/quantity.hpp"

namespace koord::usage {
namespace {

namespace json = boost::json;

Result<json::object> object_of(std::string_view text) {
  json::parse_options options;
  options.max_depth = 8;
  boost::system::error_code error;
  json::value document = json::parse(json::string_view(text.data(), text.size()), error, {}, options);
  if (error) return invalid("it is no JSON: " + error.message());
  if (!document.is_object()) return invalid("it is not an object");
  return std::move(document.get_object());
}

// A text; empty where there is none or null.
Result<std::string> text_of(const json::object& object, std::string_view member) {
  const json::value* value = object.if_contains(json::string_view(member.data(), member.size()));
  if (!value || value->is_null()) return std::string();
  if (!value->is_string()) return invalid("'" + std::string(member) + "' is not a text");
  return std::string(std::string_view(value->get_string()));
}

Result<CpuSet> cpus_of(const json::object& object, std::string_view member) {
  const std::string text = TRY(text_of(object, member));
  Result<CpuSet> cpus = CpuSet::parse(text);
  if (!cpus) return std::move(cpus).error().context("'" + std::string(member) + "'");
  return cpus;
}

// An amount is a text, or a bare number.
Result<std::optional<Quantity>> quantity_of(const json::object& resources, std::string_view name) {
  const json::value* value = resources.if_contains(json::string_view(name.data(), name.size()));
  if (!value || value->is_null()) return std::optional<Quantity>();
  const std::string text = value->is_string() ? std::string(std::string_view(value->get_string())) : json::serialize(*value);
  Result<Quantity> quantity = Quantity::parse(text);
  if (!quantity) return std::move(quantity).error().context("'resources." + std::string(name) + "'");
  return std::optional<Quantity>(*quantity);
}

Result<void> read_resources(const json::object& object, Reservation& reservation) {
  const json::value* resources = object.if_contains("resources");
  if (!resources || resources->is_null()) return {};
  if (!resources->is_object()) return invalid("'resources' is not an object");
  const std::optional<Quantity> cpu = TRY(quantity_of(resources->get_object(), "cpu"));
  const std::optional<Quantity> memory = TRY(quantity_of(resources->get_object(), "memory"));
  if (cpu) reservation.cpu_milli = cpu->milli();
  if (memory) reservation.memory_bytes = memory->value();
  return {};
}

bool is_best_effort(const json::object& application) {
  const json::value* qos = application.if_contains("qos");
  const json::value* path = application.if_contains("cgroupPath");
  if (!qos || !qos->is_string() || qos->get_string() != "BE" || !path || !path->is_object()) return false;
  const json::value* base = path->get_object().if_contains("base");
  return base && base->is_string() && base->get_string() == "KubepodsBesteffort";
}

}  // namespace

Result<Reservation> parse_reservation(std::string_view annotation) {
  const json::object object = TRY(object_of(annotation));
  Reservation reservation;
  TRY(read_resources(object, reservation));
  reservation.cpus = TRY(cpus_of(object, "reservedCPUs"));
  if (!reservation.cpus.empty()) reservation.cpu_milli = 1000 * static_cast<std::int64_t>(reservation.cpus.size());
  return reservation;
}

Result<SystemCpus> parse_system_cpus(std::string_view annotation) {
  const json::object object = TRY(object_of(annotation));
  SystemCpus system;
  system.cpus = TRY(cpus_of(object, "cpuset"));
  const json::value* exclusive = object.if_contains("cpusetExclusive");
  if (!exclusive || exclusive->is_null()) return system;
  if (!exclusive->is_bool()) return invalid("'cpusetExclusive' is neither true nor false");
  system.exclusive = exclusive->get_bool();
  return system;
}

Result<CpuSet> parse_pod_cpus(std::string_view annotation) {
  const json::object object = TRY(object_of(annotation));
  return cpus_of(object, "cpuset");
}

Result<std::set<std::string>> parse_best_effort_applications(std::string_view node_slo) {
  std::set<std::string> names;
  if (node_slo.empty()) return names;
  json::parse_options options;
  options.max_depth = 64;
  boost::system::error_code error;
  const json::value document = json::parse(json::string_view(node_slo.data(), node_slo.size()), error, {}, options);
  if (error) return invalid("the NodeSLO's spec is no JSON: " + error.message());
  const json::object* spec = document.if_object();
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
