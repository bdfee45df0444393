// SPDX-License-Identifier: Apache-2.0
#include "core/state/slo.hpp"

#include "core/base/parse.hpp"
#include "core/state/document.hpp"
#include "core/state/objects.hpp"
#include "core/state/slo_merge.hpp"

namespace koord::state {

std::string text_of(const SloProblem& problem) {
  return problem.path + ": found " + problem.found + ", expected " + problem.expected;
}

Result<EffectiveSlo> effective_slo(std::string_view spec) {
  boost::json::value received = boost::json::object();
  if (!trim(spec).empty()) received = TRY(parse_document(spec));
  if (!received.is_object()) return invalid("the NodeSLO's spec is not a mapping");
  EffectiveSlo effective;
  effective.spec = boost::json::serialize(merge_slo(received, effective.problems));
  return effective;
}

Result<Update> slo_update(std::string_view object) {
  std::string received = TRY(parse_node_slo(object));
  EffectiveSlo effective = TRY(effective_slo(received));
  Update update;
  update.node_slo = std::move(effective.spec);
  update.received_slo = std::make_shared<const std::string>(std::move(received));
  return update;
}

}  // namespace koord::state
