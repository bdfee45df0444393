// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/slo/node_slo.hpp"

#include <boost/json.hpp>

#include "plugins/shared/slo/inactive.hpp"
#include "plugins/shared/slo/read_sections.hpp"

namespace koord::slo {

Result<ParsedSlo> parse_node_slo(std::string_view spec) {
  ParsedSlo parsed;
  if (spec.empty()) return parsed;
  Result<boost::json::value> document = parse_object(spec);
  if (!document) return std::move(document).error().context("the NodeSLO's spec");
  const Members members(*document, "", parsed.problems);
  members.section("resourceUsedThresholdWithBE", parsed.slo.threshold, read_threshold);
  members.section("resourceQOSStrategy", parsed.slo.resource_qos, read_resource_qos);
  members.section("cpuBurstStrategy", parsed.slo.cpu_burst, read_cpu_burst);
  members.section("systemStrategy", parsed.slo.system, read_system);
  find_inactive(*document, parsed.problems, parsed.slo);
  return parsed;
}

}  // namespace koord::slo
