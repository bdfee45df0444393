// SPDX-License-Identifier: Apache-2.0
// LeaderSlice: publishes the leader as the only endpoint of a Service without a selector, as an EndpointSlice that this
// replica writes while it leads. So the aggregator and clients of the Service reach the leader only. The aggregator of
// Kubernetes up to 1.32 reads Endpoints instead, so these are written, too. Both stay after a leader that was cut off
// until the next one replaces them. [loop thread]
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

// The port's name in Service and EndpointSlice.
inline constexpr std::string_view kServicePort = "https";

struct LeaderEndpoint {
  std::string name_space, service;
  std::string address;  // IPv4 or IPv6, without brackets
  std::uint16_t port = 0;
  std::string pod;  // empty: unknown

  std::string slice_name() const { return service + "-leader"; }
};

// From an address as agents read it (kube::split_address). Fails if the host is a name.
Result<LeaderEndpoint> parse_endpoint(std::string_view address);
// The EndpointSlice, as a new object.
std::string slice_json(const LeaderEndpoint& leader);
// The slice cannot become this one: its kind of addresses never changes.
bool has_other_addresses(std::string_view slice, const LeaderEndpoint& leader);
// The object with this endpoint; nullopt: it is as it should be.
Result<std::optional<std::string>> slice_with(std::string_view newest, const LeaderEndpoint& leader);
// The same for the Endpoints of the Service. No slice is made from them.
std::string endpoints_json(const LeaderEndpoint& leader);
Result<std::optional<std::string>> endpoints_with(std::string_view newest, const LeaderEndpoint& leader);

class LeaderSlice {
 public:
  // `leads`: by the clock. The references must outlive it.
  LeaderSlice(event::Loop& loop, kube::Client& client, LeaderEndpoint leader, std::function<bool()> leads);
  ~LeaderSlice();
  LeaderSlice(const LeaderSlice&) = delete;
  LeaderSlice& operator=(const LeaderSlice&) = delete;

  void lead(bool leads);
  const std::string& problem() const { return problem_; }  // of the last write while it leads; empty: none

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
  Backoff held_{std::chrono::seconds(1), std::chrono::seconds(10), random_seed()};  // by finalizers, or made again
  bool has_replaced_ = false;  // since the last write that succeeded
  std::unique_ptr<event::Timer> timer_;
  kube::Client::PendingPtr pending_;
};

}  // namespace koord::manager
