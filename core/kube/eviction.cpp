// SPDX-License-Identifier: Apache-2.0
#include "core/kube/eviction.hpp"

#include <utility>

#include "core/base/url.hpp"
#include "core/base/utf8.hpp"
#include "core/json/scanner.hpp"
#include "core/json/writer.hpp"
#include "core/kube/refusal.hpp"

namespace koord::kube {
namespace {

using EvictionOutcome = EvictionAnswer::Outcome;

constexpr std::string_view kVersions[] = {"policy/v1", "policy/v1beta1"};  // the supported versions, preferred first
constexpr std::size_t kMaxAnswerBytes = 1 << 20;                           // a Status has a few hundred bytes
// The only 500 that the API server returns before it deletes anything (registry/core/pod/storage/eviction.go).
constexpr std::string_view kSeveralBudgets = "more than one PodDisruptionBudget";

// Reads the text members of an object. Other members are skipped.
Result<void> read_texts(JsonScanner& text, const std::function<std::string*(std::string_view)>& where) {
  return text.object([&](std::string_view key) -> Result<void> {
    std::string_view value = TRY(text.value());
    std::string* target = value.starts_with('"') ? where(key) : nullptr;
    if (target) *target = TRY(JsonScanner(value).string());
    return {};
  });
}

struct SubResource {
  std::string name, kind, group, version;
};

// Finds pods/eviction in the list of resources. The result has no version if the list has none.
Result<std::optional<SubResource>> find_sub_resource(std::string_view resources) {
  std::optional<SubResource> found;
  JsonScanner text(resources);
  auto read_item = [&]() -> Result<void> {
    SubResource item;
    TRY(read_texts(text, [&](std::string_view key) -> std::string* {
      if (key == "name") return &item.name;
      if (key == "kind") return &item.kind;
      if (key == "group") return &item.group;
      return key == "version" ? &item.version : nullptr;
    }));
    if (item.name == "pods/eviction" && item.kind == "Eviction") found = std::move(item);
    return {};
  };
  auto read = [&](std::string_view key) -> Result<void> {
    if (key == "resources") return text.array(read_item);
    TRY(text.value());
    return {};
  };
  TRY(text.object(read));
  return found;
}

Result<bool> serves(std::string_view group, std::string_view group_version) {
  bool found = false;
  JsonScanner text(group);
  auto read_item = [&]() -> Result<void> {
    std::string name;
    TRY(read_texts(text, [&](std::string_view key) { return key == "groupVersion" ? &name : nullptr; }));
    found = found || name == group_version;
    return {};
  };
  auto read = [&](std::string_view key) -> Result<void> {
    if (key == "versions") return text.array(read_item);
    TRY(text.value());
    return {};
  };
  TRY(text.object(read));
  return found;
}

// Returns whether an admission webhook (with any code) or a policy refused this pod, or its namespace is being deleted.
// A missing right has other messages ("User … cannot create resource …").
bool is_refused_by_admission(const Status& status) {
  const auto says = [&](const char* words) { return status.message.find(words) != std::string::npos; };
  return says("denied the request") || says("denied request") || says("because it is being terminated") ||
         status.has_cause("NamespaceTerminating");
}

// Returns the outcome of a failed eviction. `is_of_server`: the answer is an object of kind Status, so it is not from a
// proxy.
EvictionOutcome outcome_of(const Status& status, bool is_of_server) {
  if (is_of_server && status.code >= 400 && is_refused_by_admission(status)) return EvictionOutcome::refused;
  if (status.code >= 300 && status.code < 400) return EvictionOutcome::redirected;
  switch (status.code) {
    case 401:
      return EvictionOutcome::unauthorized;
    case 404:
      return EvictionOutcome::gone;
    case 409:
      // "Precondition failed: UID in precondition: a, UID in object meta: b"
      return status.message.find("UID in precondition") != std::string::npos ? EvictionOutcome::gone
                                                                             : EvictionOutcome::conflict;
    case 403:
      return EvictionOutcome::forbidden;
    case 429:
      return status.has_cause(Status::kDisruptionBudget) ? EvictionOutcome::over_budget : EvictionOutcome::busy;
    case 500:
      return status.message.find(kSeveralBudgets) != std::string::npos ? EvictionOutcome::refused
                                                                       : EvictionOutcome::unanswered;
    case 503:
      return is_of_server ? EvictionOutcome::busy : EvictionOutcome::unanswered;
    default:
      return status.code > 500 ? EvictionOutcome::unanswered : EvictionOutcome::refused;
  }
}

std::string quoted_start(std::string text) {
  constexpr std::size_t kMostShown = 64;
  cut_utf8(text, kMostShown);
  return "'" + text + "'";
}

// Returns the expected condition in brackets; empty: the answer does not concern the agent's access.
std::string expectation_of(EvictionOutcome outcome, std::string_view right) {
  switch (outcome) {
    case EvictionOutcome::unauthorized:
      return " (expected credentials that the API server accepts)";
    case EvictionOutcome::forbidden:
      return " (expected the right to " + std::string(right) + ")";
    case EvictionOutcome::redirected:
      return " (redirects are not followed, expected the address of the API server)";
    default:
      return {};
  }
}

// Returns why an answer with status 2xx does not confirm the deletion of the pod; empty: it does. A login page or a
// cache may also answer with 2xx.
std::string doubt_about(const Result<Status>& parsed, std::string_view pod) {
  if (!parsed) return "expected an object of kind Status";
  if (parsed->status != "Success") return "expected status 'Success', found " + quoted_start(parsed->status);
  if (pod.empty() || parsed->name.empty() || parsed->name == pod) return {};
  return "expected an answer about pod '" + std::string(pod) + "', found one about " + quoted_start(parsed->name);
}

}  // namespace

Result<std::optional<std::string>> find_eviction_version(std::string_view group, std::string_view resources) {
  std::optional<SubResource> sub_resource = TRY(find_sub_resource(resources));
  if (!sub_resource) return std::optional<std::string>();
  const std::string named = sub_resource->group + '/' + sub_resource->version;
  for (std::string_view version : kVersions) {
    if (named == version) return std::optional(named);
  }
  // The list names no version or an unsupported version, so this returns the preferred one of the group's versions.
  for (std::string_view version : kVersions) {
    const bool has = TRY(serves(group, version));
    if (has) return std::optional(std::string(version));
  }
  return std::optional<std::string>();
}

Call eviction_call(const std::string& version, const PodToEvict& pod) {
  std::string options = "\"preconditions\":{\"uid\":" + json_quote(pod.uid) + '}';
  if (pod.grace_seconds) options += ",\"gracePeriodSeconds\":" + std::to_string(*pod.grace_seconds);
  if (pod.dry_run) options += ",\"dryRun\":[\"All\"]";
  Call call;
  call.verb = Verb::create;
  call.max_body = kMaxAnswerBytes;
  call.target = "/api/v1/namespaces/" + percent_encode(pod.name_space) + "/pods/" + percent_encode(pod.name) +
                "/eviction" + (pod.dry_run ? "?dryRun=All" : "");
  call.body = "{\"apiVersion\":" + json_quote(version) +
              ",\"kind\":\"Eviction\",\"metadata\":{\"name\":" + json_quote(pod.name) +
              ",\"namespace\":" + json_quote(pod.name_space) + "},\"deleteOptions\":{" + options + "}}";
  return call;
}

std::string_view name_of(EvictionOutcome outcome) {
  switch (outcome) {
    case EvictionOutcome::evicted:
      return "evicted";
    case EvictionOutcome::over_budget:
      return "over budget";
    case EvictionOutcome::busy:
      return "busy";
    case EvictionOutcome::gone:
      return "gone";
    case EvictionOutcome::conflict:
      return "conflict";
    case EvictionOutcome::unauthorized:
      return "unauthorized";
    case EvictionOutcome::forbidden:
      return "forbidden";
    case EvictionOutcome::redirected:
      return "redirected";
    case EvictionOutcome::unsupported:
      return "unsupported";
    case EvictionOutcome::unanswered:
      return "unanswered";
    case EvictionOutcome::refused:
      return "refused";
  }
  return "?";
}

bool concerns_agent(EvictionOutcome outcome) {
  return outcome == EvictionOutcome::unauthorized || outcome == EvictionOutcome::forbidden ||
         outcome == EvictionOutcome::redirected || outcome == EvictionOutcome::unsupported;
}

EvictionAnswer classify_eviction(const Reply& reply, std::string_view pod, std::string_view right) {
  const Result<Status> parsed = parse_status(reply.body);
  const std::string doubt = reply.ok() ? doubt_about(parsed, pod) : std::string();
  if (reply.ok() && doubt.empty()) return {EvictionOutcome::evicted, {}};
  Status status = status_of(reply);
  if (!doubt.empty()) return {EvictionOutcome::unanswered, describe(status) + " (" + doubt + ")", status.retry_after};
  const EvictionOutcome outcome = outcome_of(status, parsed.has_value());
  // The message about all budgets does not name the budget. The cause names it.
  if (const Status::Cause* budget = status.find_cause(Status::kDisruptionBudget);
      budget != nullptr && !budget->message.empty())
    status.message = std::string(budget->message);
  return {outcome, describe(status) + expectation_of(outcome, right), status.retry_after};
}

}  // namespace koord::kube
