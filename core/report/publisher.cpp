// SPDX-License-Identifier: Apache-2.0
#include "core/report/publisher.hpp"

#include <utility>

#include "core/kube/refusal.hpp"
#include "core/report/report_log.hpp"

namespace koord::report {
namespace {

Outcome outcome_of(kube::Written::Outcome outcome) {
  switch (outcome) {
    case kube::Written::Outcome::unchanged: return Outcome::unchanged;
    case kube::Written::Outcome::updated:
    case kube::Written::Outcome::created: return Outcome::written;
    case kube::Written::Outcome::absent: return Outcome::absent;
    case kube::Written::Outcome::refused: break;
  }
  return Outcome::refused;
}

bool is_accepted(Outcome outcome) { return outcome == Outcome::written || outcome == Outcome::unchanged; }

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::written: return "written";
    case Outcome::unchanged: return "unchanged";
    case Outcome::absent: return "absent";
    case Outcome::refused: return "refused";
    case Outcome::failed: break;
  }
  return "failed";
}

Publisher::Publisher(std::string kind, event::Loop& loop, kube::Client& client, const Clock& clock, Delivery delivery)
    : kind_(std::move(kind)), loop_(loop), client_(client), clock_(clock), delivery_(delivery) {}

void Publisher::update(kube::Update what, OnAccepted on_accepted) {
  writing_ = kube::update(loop_, client_, std::move(what), [this, on_accepted = std::move(on_accepted)](Result<kube::Written> written) {
    const auto request = std::move(writing_);
    if (!written) return end(Outcome::failed, written.error().message(), std::nullopt);
    const Outcome outcome = outcome_of(written->outcome);
    const std::string problem = outcome == Outcome::refused  ? kube::describe(written->refusal)
                                : outcome == Outcome::absent ? "there is none, and nobody has created it"
                                                             : "";
    end(outcome, problem, written->refusal.retry_after);
    if (is_accepted(outcome)) on_accepted(std::move(written->object));
  });
}

void Publisher::patch(const std::string& collection, const std::string& name, const std::string& patch, OnAccepted on_accepted) {
  writing_ = client_.send(kube::merge_patch_call(collection, name, patch), [this, on_accepted = std::move(on_accepted)](Result<kube::Reply> reply) {
    const auto request = std::move(writing_);
    if (!reply) return end(Outcome::failed, reply.error().message(), std::nullopt);
    if (!reply->ok()) return end(reply->status == 404 ? Outcome::absent : Outcome::refused, kube::describe(kube::status_of(*reply)), reply->retry_after);
    end(Outcome::written, "", std::nullopt);
    on_accepted(std::move(reply->body));
  });
}

void Publisher::end(Outcome outcome, std::string problem, std::optional<Duration> retry_after) {
  const Time now = clock_.now();
  is_accepted(outcome) ? delivery_.accepted(now) : delivery_.refused(now, retry_after);
  std::lock_guard lock(mutex_);
  ++account_.outcomes[outcome];
  if (is_accepted(outcome)) account_.accepted = now;
  // The text may differ each time; that it does not work is told once.
  if (account_.problem.empty() != problem.empty()) {
    if (problem.empty())
      log::info(report_log, "the {} can be written again", kind_);
    else
      log::warn(report_log, "the {} cannot be written: {}; trying again", kind_, problem);
  }
  account_.problem = std::move(problem);
}

void Publisher::found(Time when) {
  std::lock_guard lock(mutex_);
  if (!account_.accepted || *account_.accepted < when) account_.accepted = when;
}

Account Publisher::account() const {
  std::lock_guard lock(mutex_);
  return account_;
}

}  // namespace koord::report
