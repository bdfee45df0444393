// SPDX-License-Identifier: Apache-2.0
// Objects about the node itself: a Node, the kubelet's configuration, a claim.
#include <boost/json.hpp>

#include "core/base/parse.hpp"
#include "core/state/document.hpp"
#include "core/state/objects.hpp"

namespace koord::state {
namespace {

constexpr std::int64_t kMostPort = 65535;

Result<std::vector<NodeAddress>> read_addresses(const Field& field) {
  std::vector<NodeAddress> addresses;
  std::vector<Field> items = TRY(field.list());
  for (const Field& item : items) {
    NodeAddress address;
    address.type = TRY(item["type"].required_text());
    address.address = TRY(item["address"].required_text());
    addresses.push_back(std::move(address));
  }
  return addresses;
}

Result<std::int32_t> read_port(const Field& field) {
  std::int64_t port = TRY(field.integer(0));
  if (port < 0 || port > kMostPort) return field.wrong("'" + std::to_string(port) + "' is not a port");
  return static_cast<std::int32_t>(port);
}

}  // namespace

Result<Node> parse_node(std::string_view text) {
  boost::json::value document = TRY(parse_document(text));
  Field object(document);
  TRY(check_kind(object, {"Node"}));
  const Field metadata = object["metadata"], status = object["status"];
  Node node;
  node.name = TRY(metadata["name"].required_text());
  node.uid = TRY(metadata["uid"].text());
  node.labels = TRY(metadata["labels"].text_map());
  node.annotations = TRY(metadata["annotations"].text_map());
  node.capacity = TRY(status["capacity"].resources());
  node.allocatable = TRY(status["allocatable"].resources());
  node.addresses = TRY(read_addresses(status["addresses"]));
  node.kubelet_port = TRY(read_port(status["daemonEndpoints"]["kubeletEndpoint"]["Port"]));
  return node;
}

Result<KubeletConfig> parse_kubelet_config(std::string_view text) {
  boost::json::value document = TRY(parse_document(text));
  const Field config = Field(document)["kubeletconfig"];
  if (config.empty()) return config.wrong("expected a mapping, found nothing");
  TRY(config.members());
  KubeletConfig result;
  result.cgroup_driver = TRY(config["cgroupDriver"].text());
  result.cgroup_root = TRY(config["cgroupRoot"].text());
  result.cpu_manager_policy = TRY(config["cpuManagerPolicy"].text());
  if (const Field quota = config["cpuCFSQuota"]; !quota.empty()) result.cpu_cfs_quota = TRY(quota.boolean());
  const std::string quota_period = TRY(config["cpuCFSQuotaPeriod"].text());
  result.cpu_cfs_quota_period_us = parse_duration(quota_period).value_or(Duration(0)).count() / 1000;
  result.cpu_manager_options = TRY(config["cpuManagerPolicyOptions"].text_map());
  result.topology_manager_policy = TRY(config["topologyManagerPolicy"].text());
  result.topology_manager_scope = TRY(config["topologyManagerScope"].text());
  result.reserved_cpus = TRY(config["reservedSystemCPUs"].text());
  result.system_reserved = TRY(config["systemReserved"].resources());
  result.kube_reserved = TRY(config["kubeReserved"].resources());
  return result;
}

Result<Claim> parse_claim(std::string_view text) {
  boost::json::value document = TRY(parse_document(text));
  Field object(document);
  TRY(check_kind(object, {"PersistentVolumeClaim"}));
  std::string name_space = TRY(object["metadata"]["namespace"].required_text());
  std::string name = TRY(object["metadata"]["name"].required_text());
  std::string volume = TRY(object["spec"]["volumeName"].text());
  return Claim{name_space + '/' + name, std::move(volume)};
}

Result<std::map<std::string, std::int64_t, std::less<>>> parse_resources(std::string_view text) {
  boost::json::value document = TRY(parse_document(text));
  return Field(document).resources();
}

}  // namespace koord::state
