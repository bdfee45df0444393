// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/manager_status.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/parse.hpp"
#include "core/base/timestamp.hpp"
#include "core/ctl/format.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/table.hpp"
#include "core/exposition/parser.hpp"
#include "core/kube/query.hpp"
#include "core/kube/refusal.hpp"

namespace koord::ctl {
namespace {

constexpr const char* kPodLabel = "app.kubernetes.io/name=koord-manager";
constexpr std::size_t kMaxReplicas = 16;
constexpr std::size_t kMaxPodListBytes = 4u << 20;
constexpr std::size_t kMaxProblemBytes = 300;
constexpr std::size_t kMaxSettings = 8;
constexpr const char* kFreshness[] = {"fresh", "stale", "fading", "gone", "unknown"};

std::string first_line_of(std::string_view text) {
  std::string line(trim(text.substr(0, std::min(text.find('\n'), kMaxProblemBytes))));
  replace_control_characters(line);
  return line;
}

Result<std::string> body_of(const ClusterGet& get, const std::string& target) {
  const kube::Reply reply = TRY(get(target));
  if (!reply.ok()) return invalid(first_line_of(kube::describe(kube::status_of(reply))));
  return reply.body;
}

Result<std::vector<ManagerReplica>> read_pods(const kube::LeasePlace& place, const ClusterGet& get) {
  kube::Query query;
  query.add("labelSelector", kPodLabel);
  const std::string body = TRY(body_of(get, "/api/v1/namespaces/" + place.name_space + "/pods" + query.text()));
  json::value list = TRY(read_json_object(body, kMaxPodListBytes));
  replace_control_characters_in(list);
  std::vector<ManagerReplica> replicas;
  for (const json::value& pod : json_list(list, "items")) {
    if (replicas.size() == kMaxReplicas) break;
    const json::value& status = json_mapping(pod, "status");
    ManagerReplica replica;
    replica.pod = json_text(json_mapping(pod, "metadata"), "name");
    replica.node = json_text(json_mapping(pod, "spec"), "nodeName");
    replica.address = json_text(status, "podIP");
    for (const json::value& condition : json_list(status, "conditions"))
      if (json_text(condition, "type") == "Ready") replica.is_ready = json_text(condition, "status") == "True";
    if (!replica.pod.empty()) replicas.push_back(std::move(replica));
  }
  std::sort(replicas.begin(), replicas.end(), [](const auto& a, const auto& b) { return a.pod < b.pod; });
  return replicas;
}

std::string label_in(const exposition::Parser& parser, std::string_view name) {
  for (const exposition::Label& label : parser.labels())
    if (label.name == name) return std::string(label.value);
  return {};
}

void take_sample(const exposition::Parser& parser, ManagerReplica& replica) {
  const std::string_view name = parser.name();
  if (!std::isfinite(parser.value()) || parser.value() < 0 || parser.value() > 1e15) return;
  const auto count = static_cast<std::uint64_t>(parser.value());
  if (name == "koord_manager_leader") replica.leads = count == 1;
  if (name == "koord_manager_contested") replica.contested += count;
  if (name == "koord_manager_writes_total" && label_in(parser, "result") == "failed") replica.failed += count;
  if (name == "koord_manager_batch_changes_total" && label_in(parser, "change") == "failed") replica.failed += count;
  if (name == "koord_manager_watch_current" && count == 0)
    replica.problems.push_back(first_line_of(label_in(parser, "kind")) + " is not up to date");
  if (name == "koord_manager_settings_rejected" && count > 0)
    replica.problems.push_back(std::to_string(count) + " settings rejected");
  if (name == "koord_manager_settings_ignored" && count > 0)
    replica.problems.push_back(std::to_string(count) + " settings " +
                               (label_in(parser, "reason") == "unknown" ? "unknown" : "not supported"));
  const std::string freshness = name == "koord_manager_nodes" ? label_in(parser, "freshness") : "";
  const auto known = std::find(std::begin(kFreshness), std::end(kFreshness), freshness);
  if (count > 0 && known != std::end(kFreshness)) replica.nodes[freshness] = count;
}

// Adds the lines of /readyz about settings, which all replicas have. They name what the metrics only count.
void name_settings(std::string_view page, ManagerReplica& replica) {
  constexpr std::string_view kAboutSettings = "ConfigMap ";
  std::size_t named = 0;
  while (const auto line = next_field(page, '\n'))
    if (line->starts_with(kAboutSettings) && named++ < kMaxSettings) replica.problems.push_back(first_line_of(*line));
}

void ask_replica(const kube::LeasePlace& place, std::uint16_t port, const ClusterGet& get, ManagerReplica& replica) {
  const std::string proxy =
      "/api/v1/namespaces/" + place.name_space + "/pods/" + replica.pod + ":" + std::to_string(port) + "/proxy";
  const Result<std::string> page = body_of(get, proxy + "/metrics");
  if (!page) {
    replica.problems.push_back("no metrics: " + first_line_of(page.error().text));
    return;
  }
  if (const Result<void> read = read_manager_metrics(*page, replica); !read)
    replica.problems.push_back("no metrics: " + first_line_of(read.error().message()));
  const Result<kube::Reply> ready = get(proxy + "/readyz");
  if (ready && !ready->ok()) replica.problems.push_back(first_line_of(ready->body));
  if (ready && ready->ok() && replica.leads.value_or(false)) name_settings(ready->body, replica);
}

// Returns why no replica leads by this Lease; empty: a replica leads, or the Lease does not show it.
std::string reason_without_leader(const kube::LeaseState& lease, std::int64_t now_ns) {
  if (lease.holder.empty()) return "the Lease has no holder";
  const Result<std::int64_t> renewed = parse_timestamp(lease.renewed);
  if (!renewed || lease.duration <= Duration::zero()) return {};
  const auto over = Duration(now_ns - *renewed) - lease.duration;
  if (over < std::chrono::seconds(1)) return {};
  return "the Lease expired " + std::to_string(over / std::chrono::seconds(1)) + " s ago, by the clock of this machine";
}

// "-" if the replica's metrics are unknown.
std::string count_cell(const ManagerReplica& replica, std::uint64_t count) {
  return replica.leads ? std::to_string(count) : "-";
}

std::string nodes_cell(const ManagerReplica& replica, const char* freshness) {
  if (!replica.leads.value_or(false)) return "-";
  const auto found = replica.nodes.find(freshness);
  return std::to_string(found == replica.nodes.end() ? 0 : found->second);
}

}  // namespace

Result<void> read_manager_metrics(std::string_view page, ManagerReplica& replica) {
  exposition::Parser parser(page, exposition::Syntax::text);
  while (true) {
    const exposition::Entry entry = TRY(parser.next());
    if (entry == exposition::Entry::end) break;
    if (entry == exposition::Entry::sample) take_sample(parser, replica);
  }
  return replica.leads ? Result<void>() : not_found("the page has no koord_manager_leader");
}

Result<ManagerStatus> read_manager_status(const kube::LeasePlace& place, std::uint16_t metrics_port,
                                          std::int64_t now_ns, const ClusterGet& get) {
  const std::string named = "the Lease '" + place.name_space + "/" + place.name + "'";
  const Result<std::string> lease = body_of(get, place.collection() + "/" + place.name);
  if (!lease) return Error(lease.error()).context(named);
  Result<kube::LeaseState> state = kube::parse_lease_state(*lease);
  if (!state) return std::move(state).error().context(named);
  ManagerStatus status{.place = place, .lease = *std::move(state), .replicas = {}, .problem = {}, .no_leader = {}};
  status.no_leader = reason_without_leader(status.lease, now_ns);
  Result<std::vector<ManagerReplica>> replicas = read_pods(place, get);
  if (!replicas) {
    status.problem = "the replicas are unknown: " + first_line_of(replicas.error().text);
    return status;
  }
  status.replicas = *std::move(replicas);
  if (status.replicas.empty())
    status.problem =
        "the replicas are unknown: namespace '" + place.name_space + "' has no pods with the label " + kPodLabel;
  for (ManagerReplica& replica : status.replicas) ask_replica(place, metrics_port, get, replica);
  return status;
}

std::string render_manager_status(const ManagerStatus& status) {
  const kube::LeaseState& lease = status.lease;
  Table leader({{"LEADER"}, {"ADDRESS"}, {"SINCE"}, {"RENEWED"}, {"CHANGES", true}});
  leader.add({lease.holder.empty() ? "none" : text_or_dash(kube::pod_of_identity(lease.holder)),
              text_or_dash(kube::address_of_identity(lease.holder)), text_or_dash(lease.acquired),
              text_or_dash(lease.renewed), std::to_string(lease.transitions)});
  Table replicas({{"REPLICA"},
                  {"NODE"},
                  {"READY"},
                  {"LEADS"},
                  {"FRESH", true},
                  {"STALE", true},
                  {"FADING", true},
                  {"GONE", true},
                  {"UNKNOWN", true},
                  {"FAILED", true},
                  {"CONTESTED", true},
                  {"PROBLEM"}});
  for (const ManagerReplica& replica : status.replicas) {
    std::vector<std::string> row = {replica.pod, text_or_dash(replica.node), replica.is_ready ? "yes" : "no",
                                    !replica.leads   ? "?"
                                    : *replica.leads ? "yes"
                                                     : "no"};
    for (const char* freshness : kFreshness) row.push_back(nodes_cell(replica, freshness));
    row.push_back(count_cell(replica, replica.failed));
    row.push_back(count_cell(replica, replica.contested));
    row.push_back(join(replica.problems, "; "));
    replicas.add(std::move(row));
  }
  return leader.render() + "\n" + (status.problem.empty() ? replicas.render() : status.problem + "\n");
}

std::string manager_status_json(const ManagerStatus& status) {
  json::array replicas;
  for (const ManagerReplica& replica : status.replicas) {
    json::object nodes;
    for (const auto& [freshness, count] : replica.nodes) nodes[freshness] = count;
    json::object object{{"pod", replica.pod},
                        {"node", replica.node},
                        {"address", replica.address},
                        {"ready", replica.is_ready},
                        {"nodes", std::move(nodes)},
                        {"failedWrites", replica.failed},
                        {"contested", replica.contested},
                        {"problems", json::value_from(replica.problems)}};
    if (replica.leads) object["leads"] = *replica.leads;
    replicas.push_back(std::move(object));
  }
  const kube::LeaseState& lease = status.lease;
  return json::serialize(json::object{{"lease", status.place.name_space + "/" + status.place.name},
                                      {"leader", kube::pod_of_identity(lease.holder)},
                                      {"address", kube::address_of_identity(lease.holder)},
                                      {"acquired", lease.acquired},
                                      {"renewed", lease.renewed},
                                      {"transitions", lease.transitions},
                                      {"noLeader", status.no_leader},
                                      {"problem", status.problem},
                                      {"replicas", std::move(replicas)}}) +
         "\n";
}

}  // namespace koord::ctl
