// SPDX-License-Identifier: Apache-2.0
#include "core/api/interference_request.hpp"

#include <algorithm>

#include "core/api/request_parts.hpp"

namespace koord::api {
namespace {

// Returns the names as a list: "cpu, blkio, memory, cache".
template <class Values>
std::string names_of(const Values& values) {
  std::string names;
  for (const auto value : values) names += (names.empty() ? "" : ", ") + std::string(verdict::name_of(value));
  return names;
}

Result<verdict::Resource> parse_resource(std::string_view text) {
  if (const auto resource = verdict::resource_named(text)) return *resource;
  return invalid("resource '" + std::string(text) + "' is not one of " + names_of(verdict::kResources));
}

Result<verdict::Kind> parse_kind(std::string_view text) {
  if (const auto kind = verdict::kind_named(text)) return *kind;
  return invalid("kind '" + std::string(text) + "' is not one of " + names_of(verdict::kKinds));
}

Result<InterferenceRequest::State> parse_state(std::string_view text) {
  using State = InterferenceRequest::State;
  if (text == "standing") return State::standing;
  if (text == "ended") return State::ended;
  if (text == "any") return State::any;
  return invalid("state '" + std::string(text) + "' is not one of standing, ended, any");
}

Result<Time> parse_host_time(std::string_view name, std::string_view text, const Clock& clock) {
  const std::int64_t wall_ns = TRY(parse_moment(name, text, clock));
  return clock.now() + Duration(wall_ns - clock.wall_ns());
}

VictimFilter victim_of(const http::Query& parameters) {
  const auto text = [&](std::string_view name) { return std::string(parameters.get(name).value_or("")); };
  return {text("pod"), text("namespace"), text("container")};
}

}  // namespace

bool VictimFilter::accepts(const metric::Labels& labels, std::string_view name) const {
  const std::string_view of_namespace = verdict::label_of(labels, "pod_namespace"),
                         of_pod = verdict::label_of(labels, "pod_name");
  if (!name_space.empty() && of_namespace != name_space) return false;
  if (!container.empty() && verdict::label_of(labels, "container_name") != container) return false;
  if (pod.empty() || name == pod) return true;
  if (of_pod.empty()) return false;
  return verdict::label_of(labels, "pod_uid") == pod || of_pod == pod ||
         std::string(of_namespace) + "/" + std::string(of_pod) == pod;
}

bool InterferenceRequest::accepts(const verdict::Record& record) const {
  if (state != State::any && record.ended.has_value() != (state == State::ended)) return false;
  return victim.accepts(record.victim.labels, record.victim_name);
}

Result<InterferenceRequest> parse_interference_request(const http::Query& parameters, const Clock& clock) {
  TRY(check_names(parameters,
                  {"pod", "namespace", "container", "since", "until", "resource", "kind", "state", "limit"}));
  InterferenceRequest request;
  request.victim = victim_of(parameters);
  if (auto text = parameters.get("since")) request.since = TRY(parse_host_time("since", *text, clock));
  if (auto text = parameters.get("until")) request.until = TRY(parse_host_time("until", *text, clock));
  if (request.since && request.until && *request.since > *request.until) return invalid("since is later than until");
  if (auto text = parameters.get("resource")) request.resource = TRY(parse_resource(*text));
  if (auto text = parameters.get("kind")) request.kind = TRY(parse_kind(*text));
  if (request.since || request.until) request.state = InterferenceRequest::State::any;
  if (auto text = parameters.get("state")) request.state = TRY(parse_state(*text));
  if (auto text = parameters.get("limit"))
    request.limit = TRY(parse_count("limit", *text, InterferenceRequest::kMostVerdicts));
  return request;
}

Result<MatrixRequest> parse_matrix_request(const http::Query& parameters) {
  TRY(check_names(parameters, {"pod", "namespace", "container", "resource", "limit"}));
  MatrixRequest request;
  request.victim = victim_of(parameters);
  if (auto text = parameters.get("resource")) request.resource = TRY(parse_resource(*text));
  if (auto text = parameters.get("limit")) request.limit = TRY(parse_count("limit", *text, MatrixRequest::kMostPairs));
  return request;
}

}  // namespace koord::api
