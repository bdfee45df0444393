// SPDX-License-Identifier: Apache-2.0
#include "core/manager/leader_slice.hpp"

#include <boost/json.hpp>
#include <cstddef>
#include <utility>

#include "core/base/ip_address.hpp"
#include "core/base/utf8.hpp"
#include "core/json/members.hpp"
#include "core/json/reader.hpp"
#include "core/kube/leader.hpp"
#include "core/kube/refusal.hpp"
#include "core/kube/update.hpp"

namespace koord::manager {
namespace {

namespace json = boost::json;

// Interval between checks of the slice, and the delay before a retry after a failure.
constexpr Duration kSlicePeriod = std::chrono::seconds(10);
constexpr Duration kSliceRetry = std::chrono::seconds(1);
constexpr std::size_t kMaxFinalizers = 200;  // limit in bytes for their names in a message

bool is_ipv6(const std::string& address) { return address.find(':') != std::string::npos; }

void add_pod(json::object& endpoint, const LeaderEndpoint& leader) {
  if (!leader.pod.empty())
    endpoint["targetRef"] = json::object{{"kind", "Pod"}, {"name", leader.pod}, {"namespace", leader.name_space}};
}

json::array endpoints_of(const LeaderEndpoint& leader) {
  json::object endpoint;
  endpoint["addresses"] = json::array{leader.address};
  endpoint["conditions"] = json::object{{"ready", true}, {"serving", true}, {"terminating", false}};
  add_pod(endpoint, leader);
  return json::array{std::move(endpoint)};
}

json::array ports_of(const LeaderEndpoint& leader) {
  return json::array{json::object{{"name", kServicePort}, {"port", leader.port}, {"protocol", "TCP"}}};
}

const char* address_type(const LeaderEndpoint& leader) { return is_ipv6(leader.address) ? "IPv6" : "IPv4"; }

json::array subsets_of(const LeaderEndpoint& leader) {
  json::object address{{"ip", leader.address}};
  add_pod(address, leader);
  return json::array{json::object{{"addresses", json::array{std::move(address)}}, {"ports", ports_of(leader)}}};
}

// The parts of an object that the leader writes: labels, and members other than the metadata.
struct OwnParts {
  json::object labels, members;
};

OwnParts slice_parts(const LeaderEndpoint& leader) {
  return {{{"kubernetes.io/service-name", leader.service}, {"endpointslice.kubernetes.io/managed-by", "koord-manager"}},
          {{"endpoints", endpoints_of(leader)}, {"ports", ports_of(leader)}}};
}

// Without this label Kubernetes would mirror the Endpoints into a second slice of the Service.
OwnParts endpoints_parts(const LeaderEndpoint& leader) {
  return {{{"endpointslice.kubernetes.io/skip-mirror", "true"}}, {{"subsets", subsets_of(leader)}}};
}

std::string new_object(json::object object, const std::string& name, const LeaderEndpoint& leader, OwnParts parts) {
  object["metadata"] =
      json::object{{"name", name}, {"namespace", leader.name_space}, {"labels", std::move(parts.labels)}};
  for (auto& [key, value] : parts.members) object[key] = std::move(value);
  return json::serialize(object);
}

// Returns the object with these parts, or nullopt if it already has them.
Result<std::optional<std::string>> object_with(std::string_view newest, OwnParts parts) {
  const json::object before = TRY(read_json_object(newest));
  json::object object = before;
  json::object& labels = mapping_to_fill(mapping_to_fill(object, "metadata"), "labels");
  for (auto& [key, value] : parts.labels) labels[key] = std::move(value);
  for (auto& [key, value] : parts.members) object[key] = std::move(value);
  if (object == before) return std::optional<std::string>();
  return std::optional(json::serialize(object));
}

// Returns a call that deletes only this version of the object. Fails if the object has no name.
Result<kube::Call> delete_call(const std::string& target, std::string_view object) {
  const kube::ObjectView seen = TRY(kube::parse_object(object));
  kube::Call call{.verb = kube::Verb::remove, .target = target};
  call.body =
      json::serialize(json::object{{"kind", "DeleteOptions"},
                                   {"apiVersion", "v1"},
                                   {"preconditions", {{"uid", seen.uid}, {"resourceVersion", seen.resource_version}}}});
  return call;
}

// Returns why an object of the other IP family still exists; "" if its deletion has not begun.
std::string held_because(std::string_view text) {
  const Result<json::object> object = read_json_object(text);
  if (!object) return {};
  const json::value& metadata = json_mapping(*object, "metadata");
  if (json_member(metadata, "deletionTimestamp") == nullptr) return {};
  std::string names;
  for (const json::value& name : json_list(metadata, "finalizers"))
    if (name.is_string()) names += (names.empty() ? "" : ", ") + std::string(text_view(name.get_string()));
  cut_utf8(names, kMaxFinalizers);
  replace_control_characters(names);
  return "'" + json_text(metadata, "name") + "' has addresses of the other IP family and is being deleted; " +
         (names.empty() ? "waiting until it is gone" : "waiting for its finalizers: " + names);
}

}  // namespace

Result<LeaderEndpoint> parse_endpoint(std::string_view address) {
  kube::HostAndPort place = TRY(kube::split_address(address));
  if (!is_ip_address(place.host))
    return invalid("expected an IP address and a port, found '" + std::string(address) + "'");
  LeaderEndpoint leader;
  leader.address = std::move(place.host);
  leader.port = place.port;
  return leader;
}

std::string slice_json(const LeaderEndpoint& leader) {
  return new_object(
      {{"apiVersion", "discovery.k8s.io/v1"}, {"kind", "EndpointSlice"}, {"addressType", address_type(leader)}},
      leader.slice_name(), leader, slice_parts(leader));
}

bool has_other_addresses(std::string_view slice, const LeaderEndpoint& leader) {
  const Result<json::object> object = read_json_object(slice);
  if (!object) return false;
  const std::string type = json_text(*object, "addressType");
  return !type.empty() && type != address_type(leader);
}

Result<std::optional<std::string>> slice_with(std::string_view newest, const LeaderEndpoint& leader) {
  return object_with(newest, slice_parts(leader));
}

std::string endpoints_json(const LeaderEndpoint& leader) {
  return new_object({{"apiVersion", "v1"}, {"kind", "Endpoints"}}, leader.service, leader, endpoints_parts(leader));
}

Result<std::optional<std::string>> endpoints_with(std::string_view newest, const LeaderEndpoint& leader) {
  return object_with(newest, endpoints_parts(leader));
}

LeaderSlice::LeaderSlice(event::Loop& loop, kube::Client& client, LeaderEndpoint leader, std::function<bool()> leads)
    : loop_(loop), client_(client), leader_(std::move(leader)), leads_(std::move(leads)) {}

LeaderSlice::~LeaderSlice() = default;

void LeaderSlice::lead(bool leads) {
  timer_.reset();
  pending_.reset();
  problem_.clear();
  has_replaced_ = false;
  held_.succeeded();
  if (leads) write();
}

void LeaderSlice::write_in(Duration delay) {
  timer_ = loop_.after(delay, [this] { write(); });
}

struct LeaderSlice::Object {
  std::string_view kind;
  std::string collection, name;
  std::string (*make)(const LeaderEndpoint&);
  Result<std::optional<std::string>> (*change)(std::string_view newest, const LeaderEndpoint&);
  bool is_last;
};

void LeaderSlice::write() {
  if (!leads_()) return write_in(kSliceRetry);
  write({"EndpointSlice", "/apis/discovery.k8s.io/v1/namespaces/" + leader_.name_space + "/endpointslices",
         leader_.slice_name(), slice_json, slice_with, false});
}

// A write states the version that it is based on. So the API server refuses a late write of a former leader.
void LeaderSlice::write(const Object& object) {
  kube::Update update;
  update.collection = object.collection;
  update.name = object.name;
  update.status = false;
  update.missing = object.make(leader_);
  const auto outdated = std::make_shared<std::string>();
  update.change = [this, object, outdated](std::string_view newest) -> Result<std::optional<std::string>> {
    outdated->clear();
    if (!leads_()) return std::optional<std::string>();
    if (object.is_last || !has_other_addresses(newest, leader_)) return object.change(newest, leader_);
    *outdated = newest;
    return std::optional<std::string>();
  };
  pending_ =
      kube::update(loop_, client_, std::move(update), [this, object, outdated](const Result<kube::Written>& result) {
        if (result && !outdated->empty()) return replace(object, *outdated);
        const bool is_refused = result && result->outcome == kube::Written::Outcome::refused;
        written(object, !result ? result.error().message() : is_refused ? kube::describe(result->refusal) : "");
      });
}

// Deletes the object and writes a new object. In between, the Service has no endpoint.
void LeaderSlice::replace(const Object& object, std::string_view outdated) {
  if (std::string why = held_because(outdated); !why.empty()) {
    problem_ = std::string(object.kind) + ": " + why;
    return write_in(held_.failed());
  }
  Result<kube::Call> call = delete_call(object.collection + '/' + object.name, outdated);
  if (!call) return written(object, call.error().message());
  pending_ = client_.send(std::move(*call), [this, object](const Result<kube::Reply>& reply) {
    const bool is_gone = reply && (reply->ok() || reply->status == 404);
    if (!is_gone) return written(object, kube::describe(reply));
    if (!std::exchange(has_replaced_, true)) return write();
    write_in(held_.failed());
  });
}

void LeaderSlice::written(const Object& object, std::string problem) {
  problem_ = problem.empty() ? "" : std::string(object.kind) + ": " + problem;
  if (!problem_.empty()) return write_in(kSliceRetry);
  has_replaced_ = false;
  held_.succeeded();
  if (object.is_last || !leads_()) return write_in(kSlicePeriod);
  write({"Endpoints", "/api/v1/namespaces/" + leader_.name_space + "/endpoints", leader_.service, endpoints_json,
         endpoints_with, true});
}

}  // namespace koord::manager
