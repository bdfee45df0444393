// SPDX-License-Identifier: Apache-2.0
#include "plugins/hook-group-identity/group_identity.hpp"

#include <boost/json.hpp>
#include <utility>

#include "core/json/field.hpp"
#include "core/json/members.hpp"
#include "core/json/reader.hpp"
#include "plugins/shared/slo/node_slo.hpp"

namespace koord::group_identity {
namespace {

constexpr std::string_view kPolicy = "groupIdentity";

bool is_identity(std::int64_t value) { return value >= kLeastIdentity && value <= kMostIdentity; }

std::optional<std::int64_t> identity_in(const std::optional<slo::ClassQos>& section) {
  if (!section || !section->cpu || !section->cpu->enable.value_or(false)) return std::nullopt;
  const slo::Number& identity = section->cpu->group_identity;
  return identity && is_identity(*identity) ? identity : std::nullopt;
}

Result<std::optional<std::int64_t>> read_identity(std::string_view annotation) {
  const boost::json::value document = TRY(read_json(annotation));
  const JsonField object(document);
  TRY(object.check_mapping());
  const bool is_enabled = object.any_case("enable").empty() ? false : TRY(object.any_case("enable").boolean());
  const std::int64_t identity = TRY(object.any_case("groupIdentity").integer(0));
  if (!is_identity(identity)) return object.any_case("groupIdentity").wrong("expected a number from -1 to 2");
  return std::optional(is_enabled ? identity : 0);
}

std::optional<std::int64_t> without_label(KubeQos qos, const Identities& identities) {
  switch (qos) {
    case KubeQos::best_effort:
      return identities.be;
    case KubeQos::guaranteed:
      return identities.lsr ? identities.lsr : identities.ls;
    case KubeQos::burstable:
      break;
  }
  return identities.ls;
}

}  // namespace

Result<Identities> parse_identities(std::string_view node_slo) {
  if (node_slo.empty()) return Identities{};
  const boost::json::value document = TRY(read_json(node_slo));
  const boost::json::value& strategy = json_mapping(document, "resourceQOSStrategy");
  const std::string policy = json_text(json_mapping(strategy, "policies"), "cpuPolicy");
  const slo::ParsedSlo parsed = TRY(slo::parse_node_slo(node_slo));
  if ((!policy.empty() && policy != kPolicy) || !parsed.slo.resource_qos) return Identities{};
  const slo::ResourceQos& classes = *parsed.slo.resource_qos;
  return Identities{identity_in(classes.lsr), identity_in(classes.ls), identity_in(classes.be),
                    identity_in(classes.system)};
}

Result<std::optional<std::int64_t>> parse_identity(std::string_view annotation) {
  if (annotation.empty()) return std::optional<std::int64_t>();
  auto identity = read_identity(annotation);
  if (!identity) return std::move(identity).error().context(kAnnotation);
  return identity;
}

std::optional<std::int64_t> identity_of(const PodFacts& pod, const Identities& identities) {
  const bool is_off = !identities.lsr && !identities.ls && !identities.be && !identities.system;
  if (is_off) return std::nullopt;
  if (pod.label == "LSE" || pod.label == "LSR") return identities.lsr;
  if (pod.label == "LS") return pod.own ? pod.own : identities.ls;
  if (pod.label == "BE") return identities.be;
  if (pod.label == "SYSTEM") return identities.system;
  return without_label(pod.kube_qos, identities);
}

Adjustment adjust(const PodFacts& pod, const Identities& identities, const Kernel& kernel) {
  const std::optional<std::int64_t> identity = identity_of(pod, identities);
  if (!identity) return {};
  Adjustment adjustment;
  if (kernel.has_identities) {
    adjustment.bvt_warp = identity;
    return adjustment;
  }
  // The kernel compares a pod with other pods of its Kubernetes class. The BestEffort class as a whole, and shares from
  // batch resources, are set by other plugins.
  if (*identity >= 0 || pod.kube_qos == KubeQos::best_effort || pod.has_batch_resources) return {};
  if (kernel.has_idle)
    adjustment.idle = 1;
  else
    adjustment.shares = kFewestShares;
  return adjustment;
}

}  // namespace koord::group_identity
