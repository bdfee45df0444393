// SPDX-License-Identifier: Apache-2.0
// LeaderSlice: publishes the leader as the only endpoint of a Service without a selector, in an EndpointSlice that this
// replica writes while it leads. So the aggregator and clients of the Service reach only the leader. The aggregator of
// Kubernetes up to 1.32 reads Endpoints instead, so they are written, too. If a leader loses its connection, both
// objects remain until the next leader replaces them. [loop thread]
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/backoff.hpp"
#include "core/base/result.hpp"
#include "core/event/loop.hpp"
#include "core/kube/client.hpp"

namespace koord::manager {

// The name of the port in Service and EndpointSlice.
inline constexpr std::string_view kServicePort = "https";

struct LeaderEndpoint {
  std::string name_space, service;
  std::string address;  // IPv4 or IPv6, without brackets
  std::uint16_t port = 0;
  std::string pod;  // empty: unknown

  std::string slice_name() const { return service + "-leader"; }
};

// Parses an address in the form that agents use (kube::split_address). Fails if the host is a name.
Result<LeaderEndpoint> parse_endpoint(std::string_view address);
// Returns the EndpointSlice as a new object.
std::string slice_json(const LeaderEndpoint& leader);
// Returns whether the slice has the other IP family. In that case it must be replaced, because the address type of a
// slice cannot change.
bool has_other_addresses(std::string_view slice, const LeaderEndpoint& leader);
// Returns the slice with this endpoint; nullopt if it needs no change.
Result<std::optional<std::string>> slice_with(std::string_view newest, const LeaderEndpoint& leader);
// The same for the Endpoints of the Service. Kubernetes does not mirror them into a slice.
std::string endpoints_json(const LeaderEndpoint& leader);
Result<std::optional<std::string>> endpoints_with(std::string_view newest, const LeaderEndpoint& leader);

class LeaderSlice {
 public:
  // `leads`: whether this replica leads, by the clock. The references must outlive this object.
  LeaderSlice(event::Loop& loop, kube::Client& client, LeaderEndpoint leader, std::function<bool()> leads);
  ~LeaderSlice();
  LeaderSlice(const LeaderSlice&) = delete;
  LeaderSlice& operator=(const LeaderSlice&) = delete;

  void lead(bool leads);
  const std::string& problem() const { return problem_; }  // of the last write while leading; empty: none

 private:
  struct Object;

  void write();
  void write(const Object& object);
  void replace(const Object& object, std::string_view outdated);
  void written(const Object& object, std::string problem);
  void write_in(Duration delay);

  event::Loop& loop_;
  kube::Client& client_;
  const LeaderEndpoint leader_;
  const std::function<bool()> leads_;
  std::string problem_;
  Backoff held_{std::chrono::seconds(1), std::chrono::seconds(10), random_seed()};  // used while finalizers block
  bool has_replaced_ = false;  // an object was replaced since the last write that succeeded
  std::unique_ptr<event::Timer> timer_;
  kube::Client::PendingPtr pending_;
};

}  // namespace koord::manager
