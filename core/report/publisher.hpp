// SPDX-License-Identifier: Apache-2.0
// Publisher: writes one object of the API server, at most one request at a time, and counts the results. Its Delivery
// decides when to write, the caller decides what to write. It logs once when writes begin to fail, and once when they
// succeed again. If the API server refuses an object as invalid (422), the Publisher sends it again without the parts
// that the refusal names, if its ReductionRules allow it, at most kMostReductions times in a row. [loop thread] unless
// marked.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/event/loop.hpp"
#include "core/kube/client.hpp"
#include "core/kube/update.hpp"
#include "core/report/delivery.hpp"
#include "core/report/reduction.hpp"

namespace koord::report {

// The result of a write.
enum class Outcome : std::uint8_t {
  written,
  reduced,    // written without the parts that the API server refused
  unchanged,  // needs no change
  absent,     // the object is missing, and we do not create it
  refused,    // the API server refused the object
  failed,     // no response
};
inline constexpr Outcome kOutcomes[] = {Outcome::written, Outcome::reduced, Outcome::unchanged,
                                        Outcome::absent,  Outcome::refused, Outcome::failed};
std::string_view name_of(Outcome outcome);

struct Account {
  std::map<Outcome, std::uint64_t> outcomes;
  std::optional<Time> accepted;       // last time when the API server accepted the object or already had it
  std::string problem;                // problem of the last attempt; empty: success
  std::vector<std::string> left_out;  // fields missing in the accepted object, because the API server refused them
  std::string left_out_why;           // the reason of the API server
};

// Fields to leave out, one list for each refusal. The indexes in a list refer to the object after the earlier lists
// were applied.
using Reductions = std::vector<std::vector<std::string>>;
Result<std::string> without(std::string_view object, const Reductions& reductions);

class Publisher {
 public:
  // Receives the API server's current object. Called only if it was written or needed no change.
  using OnAccepted = std::function<void(std::string object)>;

  static constexpr std::size_t kMostReductions = 5;

  // `kind`: for people. `rules`: the parts that may be left out; without rules an object is written whole or not at
  // all. References must outlive this object.
  Publisher(std::string kind, event::Loop& loop, kube::Client& client, const Clock& clock, Delivery delivery,
            std::optional<ReductionRules> rules = {});

  Delivery& delivery() { return delivery_; }
  bool is_writing() const { return writing_ != nullptr || again_ != nullptr; }

  void update(kube::Update what, OnAccepted on_accepted);
  // Sends a merge patch of the parts outside the status.
  void patch(const std::string& collection, const std::string& name, const std::string& patch, OnAccepted on_accepted);
  // Records that the API server had the intended object at this time, without a write by us.
  void found(Time when);
  // Cancels the request in flight.
  void stop();

  Account account() const;        // [any]
  Reductions reductions() const;  // [any] of the accepted object

 private:
  struct Attempt;  // one update(), until it ends

  void send(std::shared_ptr<Attempt> attempt);
  void take(const std::shared_ptr<Attempt>& attempt, const kube::Written& written);
  bool reduce(const std::shared_ptr<Attempt>& attempt, const kube::Status& refusal);
  void accept(const Attempt& attempt);
  void end(Outcome outcome, std::string problem, std::optional<Duration> retry_after);

  const std::string kind_;
  event::Loop& loop_;
  kube::Client& client_;
  const Clock& clock_;
  Delivery delivery_;
  const std::optional<ReductionRules> rules_;
  kube::Client::PendingPtr writing_;
  std::unique_ptr<event::Timer> again_;  // sends the reduced object

  mutable std::mutex mutex_;  // protects the following members
  Account account_;
  Reductions reductions_;
};

}  // namespace koord::report
