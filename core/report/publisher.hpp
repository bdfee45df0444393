// SPDX-License-Identifier: Apache-2.0
// Publisher: writes one object of the API server, at most one request at a time, and counts the results. Its Delivery
// decides when to write, the caller what to write. Logs once when writes begin to fail, and once when they work again.
// An object that the API server refuses as invalid (422) is written again without the parts that the refusal names, as
// far as its ReductionRules allow, at most kMostReductions times in a row. [loop thread] except for what is marked.
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
  unchanged,  // found to be as it should be
  absent,     // there is no such object, and we do not create it
  refused,    // by the API server
  failed,     // no answer
};
inline constexpr Outcome kOutcomes[] = {Outcome::written, Outcome::reduced, Outcome::unchanged,
                                        Outcome::absent,  Outcome::refused, Outcome::failed};
std::string_view name_of(Outcome outcome);

struct Account {
  std::map<Outcome, std::uint64_t> outcomes;
  std::optional<Time> accepted;       // the last time that the API server took it, or had it as it should be
  std::string problem;                // of the last try; empty: it worked
  std::vector<std::string> left_out;  // fields that the object as accepted lacks: the API server refused them
  std::string left_out_why;           // as the API server says
};

// Fields to leave out, one list for each refusal: the indexes of a list of fields are those of the object without the
// lists before it.
using Reductions = std::vector<std::vector<std::string>>;
Result<std::string> without(std::string_view object, const Reductions& reductions);

class Publisher {
 public:
  // With the object as the API server has it now; only when it was written or found unchanged.
  using OnAccepted = std::function<void(std::string object)>;

  static constexpr std::size_t kMostReductions = 5;

  // `kind`: for humans. `rules`: of what may be left out; without rules an object is written whole or not at all.
  // References outlive this.
  Publisher(std::string kind, event::Loop& loop, kube::Client& client, const Clock& clock, Delivery delivery,
            std::optional<ReductionRules> rules = {});

  Delivery& delivery() { return delivery_; }
  bool is_writing() const { return writing_ != nullptr || again_ != nullptr; }

  void update(kube::Update what, OnAccepted on_accepted);
  // A merge patch of the parts outside the status.
  void patch(const std::string& collection, const std::string& name, const std::string& patch, OnAccepted on_accepted);
  // The API server has had it as it should be at this time, without our writing it.
  void found(Time when);
  // Forgets the request that is on its way.
  void stop();

  Account account() const;        // [any]
  Reductions reductions() const;  // [any] of the object as accepted

 private:
  struct Attempt;  // one update() until it ends

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
  std::unique_ptr<event::Timer> again_;  // sends what was reduced

  mutable std::mutex mutex_;  // guards the rest
  Account account_;
  Reductions reductions_;
};

}  // namespace koord::report
