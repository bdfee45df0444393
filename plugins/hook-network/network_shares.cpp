// SPDX-License-Identifier: Apache-2.0
#include "plugins/hook-network/network_shares.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "core/base/quantity.hpp"
#include "core/json/members.hpp"
#include "core/json/reader.hpp"

namespace koord::hook_network {
namespace {

constexpr std::int64_t kLeastRate = 1000, kMostRate = 1'000'000'000'000;  // bytes per second, limits of tc.classes
constexpr std::string_view kPolicy = "tc";
constexpr std::size_t kMostAnnotation = 256u << 10;

// Converts a quantity in bits per second to bytes per second.
std::optional<std::int64_t> bytes_of(const boost::json::value& value) {
  const auto* text = value.if_string();
  if (text == nullptr && !value.is_number()) return std::nullopt;
  const Result<Quantity> quantity =
      Quantity::parse(text != nullptr ? std::string(*text) : boost::json::serialize(value));
  if (!quantity || quantity->value() < 0 || quantity->value() / 8 > kMostRate) return std::nullopt;
  return quantity->value() / 8;
}

// Returns a share: a number is a percentage of the total, a text is a quantity.
std::optional<std::int64_t> share_of(const boost::json::value& value, std::int64_t total) {
  if (value.is_string()) return bytes_of(value);
  const std::optional<std::int64_t> percent = integer_of(value);
  if (!percent || *percent < 0 || *percent > 100) return std::nullopt;
  return static_cast<std::int64_t>(static_cast<double>(total) * static_cast<double>(*percent) / 100);
}

Share share_in(const boost::json::value& strategy, std::string_view class_name, Network& network) {
  const boost::json::value& section = json_mapping(json_mapping(strategy, class_name), "networkQOS");
  Share share;
  if (!json_flag(section, "enable")) return share;
  const auto field = [&](std::string_view key) -> std::optional<std::int64_t> {
    const boost::json::value* value = json_member(section, key);
    if (value == nullptr || value->is_null()) return 0;
    const auto bytes = share_of(*value, network.total);
    if (!bytes)
      network.problems.push_back("resourceQOSStrategy." + std::string(class_name) + ".networkQOS." + std::string(key) +
                                 ": found " + boost::json::serialize(*value).substr(0, 100) +
                                 ", expected percent from 0 to 100 or a quantity of bits a second");
    return bytes;
  };
  const auto request = field("egressRequest"), limit = field("egressLimit");
  if (!request || !limit) return share;
  const std::int64_t most = *limit == 0 ? network.total : *limit;
  if (*request > most) {
    network.problems.push_back("resourceQOSStrategy." + std::string(class_name) +
                               ".networkQOS: egressRequest is larger than egressLimit or the node's network");
    return share;
  }
  return {true, *request, *limit};
}

// Returns a number that stays the same for a pod at each start of the agent. Two pods may have the same number. In that
// case they share the sum of their limits.
std::uint32_t minor_of(std::string_view uid) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const unsigned char c : uid) hash = (hash ^ c) * 16777619u;
  return kFirstPod + hash % (0xffff - kFirstPod);
}

Result<std::int64_t> egress_limit_in(std::string_view annotation) {
  const boost::json::object object = TRY(read_json_object(annotation, kMostAnnotation));
  const boost::json::value* limit = object.if_contains("egressLimit");
  if (limit == nullptr || limit->is_null()) return 0;
  const auto bytes = bytes_of(*limit);
  if (bytes && (*bytes == 0 || *bytes >= kLeastRate)) return *bytes;
  return invalid("egressLimit is " + boost::json::serialize(*limit).substr(0, 100) +
                 ", expected a quantity of at least 8k bits a second, or 0 for no limit");
}

std::string text_of(std::int64_t rate, std::int64_t ceil, std::uint32_t priority) {
  const std::int64_t most = std::clamp(ceil, kLeastRate, kMostRate);
  return std::to_string(std::clamp(rate, kLeastRate, most)) + ":" + std::to_string(most) + ":" +
         std::to_string(priority);
}

}  // namespace

Result<Network> parse_network(std::string_view node_slo) {
  Network network;
  if (node_slo.empty()) return network;
  const boost::json::value document = TRY(read_json(node_slo));
  const boost::json::value& strategy = json_mapping(document, "resourceQOSStrategy");
  const std::string policy = json_text(json_mapping(strategy, "policies"), "netQOSPolicy");
  if (!policy.empty() && policy != kPolicy) return network;
  const boost::json::value* total = json_member(json_mapping(document, "systemStrategy"), "totalNetworkBandwidth");
  if (total == nullptr || total->is_null()) return network;
  const auto bytes = bytes_of(*total);
  if (!bytes)
    network.problems.push_back("systemStrategy.totalNetworkBandwidth: found " +
                               boost::json::serialize(*total).substr(0, 100) +
                               ", expected a quantity of bits a second, at most 8T");
  network.total = bytes.value_or(0);
  if (network.total < kLeastRate) network.total = 0;
  if (network.total == 0) return network;
  network.ls = share_in(strategy, "lsClass", network);
  network.be = share_in(strategy, "beClass", network);
  if (network.ls.request + network.be.request <= network.total) return network;
  network.problems.emplace_back(
      "the egressRequest of lsClass and beClass are together more than totalNetworkBandwidth; no class is granted any");
  network.ls.request = network.be.request = 0;
  return network;
}

Adjustment adjust(const PodFacts& pod, const Network& network) {
  const bool is_be = pod.label == "BE";
  const bool is_ls = pod.label == "LS" || pod.label == "LSR" || pod.label == "LSE";
  const bool is_system = pod.label == "SYSTEM";
  if (network.total == 0 || (!is_be && !is_ls && !is_system)) return {};
  Adjustment adjustment;
  if (network.shares() && !is_system) adjustment.classid = kMajor << 16 | (is_be ? kBe : kLs);
  if (!pod.annotation) return adjustment;
  const Result<std::int64_t> limit = egress_limit_in(*pod.annotation);
  if (!limit) {
    adjustment.problem = std::string(kAnnotation) + ": " + limit.error().message() + ", ignoring it";
    return adjustment;
  }
  if (*limit == 0) return adjustment;
  adjustment.classid = kMajor << 16 | minor_of(pod.uid);
  adjustment.egress_limit = *limit;
  adjustment.priority = is_be ? 3 : is_ls ? 2 : 1;
  return adjustment;
}

Plan plan(const Network& network, const std::vector<PodFacts>& pods) {
  Plan plan;
  if (network.total == 0) return plan;
  struct Own {
    std::int64_t limit = 0;
    std::uint32_t priority = 0;
    std::string pods;
  };
  std::map<std::uint32_t, Own> own;  // key: minor number
  for (const PodFacts& pod : pods) {
    const Adjustment adjustment = adjust(pod, network);
    if (adjustment.egress_limit == 0) continue;
    Own& one = own[*adjustment.classid & 0xffff];
    if (one.limit > 0)
      plan.problems.push_back("the pods " + one.pods + " and " + std::string(pod.name) +
                              " have the same class of traffic: together they have the sum of their limits");
    one.limit = std::min(one.limit + adjustment.egress_limit, network.total);
    one.priority = std::max(one.priority, adjustment.priority);
    one.pods += (one.pods.empty() ? "" : ", ") + std::string(pod.name);
  }
  if (own.empty() && !network.shares()) return plan;
  if (own.size() > kMostPods) {
    plan.problems.push_back(std::to_string(own.size()) + " pods have limits of their own, only " +
                            std::to_string(kMostPods) + " have one that holds");
    own.erase(std::next(own.begin(), static_cast<std::ptrdiff_t>(kMostPods)), own.end());
  }
  const auto limit_of = [&](const Share& share) {
    return share.limit == 0 ? network.total : std::min(share.limit, network.total);
  };
  const std::int64_t granted = network.ls.request + network.be.request;
  plan.classes = "1=" + text_of(network.total, network.total, 0);
  plan.classes += ";2=" + text_of(network.total - granted, network.total, 1);
  plan.classes += ";3=" + text_of(network.ls.request, limit_of(network.ls), 2);
  plan.classes += ";4=" + text_of(network.be.request, limit_of(network.be), 3);
  for (const auto& [minor, one] : own)
    plan.classes += ";" + std::to_string(minor) + "=" + text_of(0, one.limit, one.priority);
  return plan;
}

}  // namespace koord::hook_network
