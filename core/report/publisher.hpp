// SPDX-License-Identifier: Apache-2.0
// Publisher: writes one object of the API server, at most one request at a time, and keeps account of what became of it.
// When to write is its Delivery's to say, what to write the caller's. Tells once when writes begin to fail, and once when
// they work again. [loop thread] but for account().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/event/loop.hpp"
#include "core/kube/client.hpp"
#include "core/kube/update.hpp"
#include "core/report/delivery.hpp"

namespace koord::report {

// What became of what was to be written.
enum class Outcome : std::uint8_t {
  written,
  unchanged,  // found to be as it should be
  absent,     // there is no such object, and we do not create it
  refused,    // by the API server
  failed,     // no answer
};
inline constexpr Outcome kOutcomes[] = {Outcome::written, Outcome::unchanged, Outcome::absent, Outcome::refused, Outcome::failed};
std::string_view name_of(Outcome outcome);

struct Account {
  std::map<Outcome, std::uint64_t> outcomes;
  std::optional<Time> accepted;  // the last time that the API server took it, or had it as it should be
  std::string problem;           // of the last try; empty: it worked
};

class Publisher {
 public:
  // With the object as the API server has it now; only when it was written or found unchanged.
  using OnAccepted = std::function<void(std::string object)>;

  // `kind`: for humans. What is referred to outlives it.
  Publisher(std::string kind, event::Loop& loop, kube::Client& client, const Clock& clock, Delivery delivery);

  Delivery& delivery() { return delivery_; }
  bool is_writing() const { return writing_ != nullptr; }

  void update(kube::Update what, OnAccepted on_accepted);
  // A merge patch of what is no status.
  void patch(const std::string& collection, const std::string& name, const std::string& patch, OnAccepted on_accepted);
  // The API server has had it as it should be at this time, without our writing it.
  void found(Time when);
  // Forgets the request that is on its way.
  void stop() { writing_.reset(); }

  Account account() const;  // [any]

 private:
  void end(Outcome outcome, std::string problem, std::optional<Duration> retry_after);

  const std::string kind_;
  event::Loop& loop_;
  kube::Client& client_;
  const Clock& clock_;
  Delivery delivery_;
  kube::Client::PendingPtr writing_;

  mutable std::mutex mutex_;  // of what follows
  Account account_;
};

}  // namespace koord::report
