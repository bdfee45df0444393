// SPDX-License-Identifier: Apache-2.0
#include "core/manager/leader_slice.hpp"

#include <arpa/inet.h>

#include <array>
#include <boost/json.hpp>
#include <utility>

#include "core/base/parse.hpp"
#include "core/json/reader.hpp"
#include "core/kube/refusal.hpp"
#include "core/kube/update.hpp"

namespace koord::manager {
namespace {

namespace json = boost::json;

// The slice is looked at again so often, and after a failure.
constexpr Duration kSlicePeriod = std::chrono::seconds(10);
constexpr Duration kSliceRetry = std::chrono::seconds(1);

bool is_ipv6(const std::string& address) { return address.find(':') != std::string::npos; }

bool is_address(const std::string& text) {
  std::array<unsigned char, 16> bytes{};
  return ::inet_pton(is_ipv6(text) ? AF_INET6 : AF_INET, text.c_str(), bytes.data()) == 1;
}

json::array endpoints_of(const LeaderEndpoint& leader) {
  json::object endpoint;
  endpoint["addresses"] = json::array{leader.address};
  endpoint["conditions"] = json::object{{"ready", true}, {"serving", true}, {"terminating", false}};
  if (!leader.pod.empty())
    endpoint["targetRef"] = json::object{{"kind", "Pod"}, {"name", leader.pod}, {"namespace", leader.name_space}};
  return json::array{std::move(endpoint)};
}

json::array ports_of(const LeaderEndpoint& leader) {
  return json::array{json::object{{"name", kServicePort}, {"port", leader.port}, {"protocol", "TCP"}}};
}

json::object labels_of(const LeaderEndpoint& leader) {
  return json::object{{"kubernetes.io/service-name", leader.service},
                      {"endpointslice.kubernetes.io/managed-by", "koord-manager"}};
}

// Else Kubernetes would make a second slice of the Service from them.
json::object labels_of_endpoints() { return json::object{{"endpointslice.kubernetes.io/skip-mirror", "true"}}; }

json::array subsets_of(const LeaderEndpoint& leader) {
  json::object address{{"ip", leader.address}};
  if (!leader.pod.empty())
    address["targetRef"] = json::object{{"kind", "Pod"}, {"name", leader.pod}, {"namespace", leader.name_space}};
  return json::array{json::object{{"addresses", json::array{std::move(address)}}, {"ports", ports_of(leader)}}};
}

json::object& mapping_in(json::object& parent, std::string_view name) {
  json::value& member = parent[name];
  if (!member.is_object()) member.emplace_object();
  return member.get_object();
}

}  // namespace

Result<LeaderEndpoint> parse_endpoint(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  const auto wrong = [&] { return invalid("expected an IP address and a port, found '" + std::string(address) + "'"); };
  if (colon == address.npos) return wrong();
  const Result<std::uint64_t> port = parse_uint(address.substr(colon + 1));
  std::string_view host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  LeaderEndpoint leader;
  leader.address = host;
  if (!port || *port == 0 || *port > 65535 || !is_address(leader.address)) return wrong();
  leader.port = static_cast<std::uint16_t>(*port);
  return leader;
}

std::string slice_json(const LeaderEndpoint& leader) {
  json::object slice;
  slice["apiVersion"] = "discovery.k8s.io/v1";
  slice["kind"] = "EndpointSlice";
  slice["metadata"] =
      json::object{{"name", leader.slice_name()}, {"namespace", leader.name_space}, {"labels", labels_of(leader)}};
  slice["addressType"] = is_ipv6(leader.address) ? "IPv6" : "IPv4";
  slice["endpoints"] = endpoints_of(leader);
  slice["ports"] = ports_of(leader);
  return json::serialize(slice);
}

Result<std::optional<std::string>> slice_with(std::string_view newest, const LeaderEndpoint& leader) {
  const json::object before = TRY(read_json_object(newest));
  json::object slice = before;
  json::object& labels = mapping_in(mapping_in(slice, "metadata"), "labels");
  for (const auto& [key, value] : labels_of(leader)) labels[key] = value;
  slice["endpoints"] = endpoints_of(leader);
  slice["ports"] = ports_of(leader);
  if (slice == before) return std::optional<std::string>();
  return std::optional(json::serialize(slice));
}

std::string endpoints_json(const LeaderEndpoint& leader) {
  json::object endpoints;
  endpoints["apiVersion"] = "v1";
  endpoints["kind"] = "Endpoints";
  endpoints["metadata"] =
      json::object{{"name", leader.service}, {"namespace", leader.name_space}, {"labels", labels_of_endpoints()}};
  endpoints["subsets"] = subsets_of(leader);
  return json::serialize(endpoints);
}

Result<std::optional<std::string>> endpoints_with(std::string_view newest, const LeaderEndpoint& leader) {
  const json::object before = TRY(read_json_object(newest));
  json::object endpoints = before;
  json::object& labels = mapping_in(mapping_in(endpoints, "metadata"), "labels");
  for (const auto& [key, value] : labels_of_endpoints()) labels[key] = value;
  endpoints["subsets"] = subsets_of(leader);
  if (endpoints == before) return std::optional<std::string>();
  return std::optional(json::serialize(endpoints));
}

LeaderSlice::LeaderSlice(event::Loop& loop, kube::Client& client, LeaderEndpoint leader, std::function<bool()> leads)
    : loop_(loop), client_(client), leader_(std::move(leader)), leads_(std::move(leads)) {}

LeaderSlice::~LeaderSlice() = default;

void LeaderSlice::lead(bool leads) {
  timer_.reset();
  pending_.reset();
  if (leads) write();
}

void LeaderSlice::write_in(Duration delay) {
  timer_ = loop_.after(delay, [this] { write(); });
}

struct LeaderSlice::Object {
  std::string_view kind, api, plural;
  std::string name;
  std::string (*make)(const LeaderEndpoint&);
  Result<std::optional<std::string>> (*change)(std::string_view newest, const LeaderEndpoint&);
  bool is_last;
};

void LeaderSlice::write() {
  if (!leads_()) return write_in(kSliceRetry);
  write({"EndpointSlice", "/apis/discovery.k8s.io/v1", "endpointslices", leader_.slice_name(), slice_json, slice_with,
         false});
}

// A write names the version that it was made from, so one of a former leader that comes late is refused.
void LeaderSlice::write(const Object& object) {
  kube::Update update;
  update.collection = std::string(object.api) + "/namespaces/" + leader_.name_space + "/" + std::string(object.plural);
  update.name = object.name;
  update.status = false;
  update.missing = object.make(leader_);
  update.change = [this, change = object.change](std::string_view newest) -> Result<std::optional<std::string>> {
    if (!leads_()) return std::optional<std::string>();
    return change(newest, leader_);
  };
  pending_ = kube::update(loop_, client_, std::move(update), [this, object](const Result<kube::Written>& result) {
    const bool is_refused = result && result->outcome == kube::Written::Outcome::refused;
    written(object, !result ? result.error().message() : is_refused ? kube::describe(result->refusal) : "");
  });
}

void LeaderSlice::written(const Object& object, std::string problem) {
  problem_ = problem.empty() ? "" : std::string(object.kind) + ": " + problem;
  if (!problem_.empty()) return write_in(kSliceRetry);
  if (object.is_last || !leads_()) return write_in(kSlicePeriod);
  write({"Endpoints", "/api/v1", "endpoints", leader_.service, endpoints_json, endpoints_with, true});
}

}  // namespace koord::manager
