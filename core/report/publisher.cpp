// SPDX-License-Identifier: Apache-2.0
#include "core/report/publisher.hpp"

#include <utility>

#include "core/base/parse.hpp"
#include "core/kube/refusal.hpp"
#include "core/report/report_log.hpp"

namespace koord::report {
namespace {

Outcome outcome_of(kube::Written::Outcome outcome) {
  switch (outcome) {
    case kube::Written::Outcome::unchanged:
      return Outcome::unchanged;
    case kube::Written::Outcome::updated:
    case kube::Written::Outcome::created:
      return Outcome::written;
    case kube::Written::Outcome::absent:
      return Outcome::absent;
    case kube::Written::Outcome::refused:
      break;
  }
  return Outcome::refused;
}

bool is_accepted(Outcome outcome) {
  return outcome == Outcome::written || outcome == Outcome::reduced || outcome == Outcome::unchanged;
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::written:
      return "written";
    case Outcome::reduced:
      return "reduced";
    case Outcome::unchanged:
      return "unchanged";
    case Outcome::absent:
      return "absent";
    case Outcome::refused:
      return "refused";
    case Outcome::failed:
      break;
  }
  return "failed";
}

struct Publisher::Attempt {
  kube::Update what;
  OnAccepted on_accepted;
  std::string sent;  // the newest text
  Reductions reductions;
  std::string why;  // reason of the last refusal
};

Result<std::string> without(std::string_view object, const Reductions& reductions) {
  std::string text(object);
  for (const std::vector<std::string>& fields : reductions) text = TRY(without(text, fields));
  return text;
}

Publisher::Publisher(std::string kind, event::Loop& loop, kube::Client& client, const Clock& clock, Delivery delivery,
                     std::optional<ReductionRules> rules)
    : kind_(std::move(kind)),
      loop_(loop),
      client_(client),
      clock_(clock),
      delivery_(delivery),
      rules_(std::move(rules)) {}

void Publisher::stop() {
  again_.reset();
  writing_.reset();
}

void Publisher::update(kube::Update what, OnAccepted on_accepted) {
  auto attempt = std::make_shared<Attempt>();
  attempt->what = std::move(what);
  attempt->on_accepted = std::move(on_accepted);
  send(std::move(attempt));
}

void Publisher::send(std::shared_ptr<Attempt> attempt) {
  kube::Update what = attempt->what;
  if (!what.missing.empty()) {
    if (Result<std::string> missing = without(what.missing, attempt->reductions)) what.missing = *std::move(missing);
  }
  attempt->sent = what.missing;
  what.change = [attempt](std::string_view newest) -> Result<std::optional<std::string>> {
    std::optional<std::string> wanted = TRY(attempt->what.change(newest));
    if (!wanted) return wanted;
    attempt->sent = TRY(without(*wanted, attempt->reductions));
    return std::optional(attempt->sent);
  };
  writing_ = kube::update(loop_, client_, std::move(what), [this, attempt](Result<kube::Written> written) {
    const auto request = std::move(writing_);
    if (!written) return end(Outcome::failed, written.error().message(), std::nullopt);
    take(attempt, *written);
  });
}

void Publisher::take(const std::shared_ptr<Attempt>& attempt, const kube::Written& written) {
  Outcome outcome = outcome_of(written.outcome);
  if (outcome == Outcome::refused && reduce(attempt, written.refusal)) return;
  if (outcome == Outcome::written && !attempt->reductions.empty()) outcome = Outcome::reduced;
  const std::string problem = outcome == Outcome::refused  ? kube::describe(written.refusal)
                              : outcome == Outcome::absent ? "the object does not exist"
                                                           : "";
  end(outcome, problem, written.refusal.retry_after);
  if (!is_accepted(outcome)) return;
  accept(*attempt);
  attempt->on_accepted(written.object);
}

// Tries to leave out the refused parts. Returns whether the object is sent again.
bool Publisher::reduce(const std::shared_ptr<Attempt>& attempt, const kube::Status& refusal) {
  constexpr std::int64_t kUnprocessable = 422;
  if (!rules_ || refusal.code != kUnprocessable || attempt->reductions.size() >= kMostReductions) return false;
  Result<std::vector<std::string>> parts = parts_to_leave_out(attempt->sent, refusal.causes, *rules_);
  if (!parts) {
    log::debug(report_log, "the refused {} cannot be sent again with fewer parts: {}", kind_, parts.error().message());
    return false;
  }
  attempt->reductions.push_back(*std::move(parts));
  attempt->why = kube::describe(refusal);
  // Sends from the loop, not within the callback of the refused request.
  again_ = loop_.after(Duration::zero(), [this, attempt] {
    const auto timer = std::move(again_);
    send(attempt);
  });
  return true;
}

void Publisher::accept(const Attempt& attempt) {
  std::vector<std::string> left_out;
  for (const std::vector<std::string>& fields : attempt.reductions)
    left_out.insert(left_out.end(), fields.begin(), fields.end());
  std::lock_guard lock(mutex_);
  if (left_out != account_.left_out && !left_out.empty())
    log::warn(report_log, "the {} is written without {}: the API server refused {}", kind_, join(left_out, ", "),
              attempt.why);
  if (left_out.empty() && !account_.left_out.empty()) log::info(report_log, "the {} is written whole again", kind_);
  account_.left_out = std::move(left_out);
  account_.left_out_why = attempt.why;
  reductions_ = attempt.reductions;
}

void Publisher::patch(const std::string& collection, const std::string& name, const std::string& patch,
                      OnAccepted on_accepted) {
  writing_ = client_.send(kube::merge_patch_call(collection, name, patch),
                          [this, on_accepted = std::move(on_accepted)](Result<kube::Reply> reply) {
                            const auto request = std::move(writing_);
                            if (!reply) return end(Outcome::failed, reply.error().message(), std::nullopt);
                            if (!reply->ok())
                              return end(reply->status == 404 ? Outcome::absent : Outcome::refused,
                                         kube::describe(kube::status_of(*reply)), reply->retry_after);
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
  // Logs only when a problem begins or ends, because its text may differ each time.
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

Reductions Publisher::reductions() const {
  std::lock_guard lock(mutex_);
  return reductions_;
}

}  // namespace koord::report
