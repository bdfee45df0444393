// SPDX-License-Identifier: Apache-2.0
#include "core/knob/decision_log.hpp"

#include <algorithm>
#include <utility>

#include "core/base/parse.hpp"
#include "core/base/utf8.hpp"

namespace koord::knob {
namespace {

void cut(Decision& decision) {
  cut_utf8(decision.reason, DecisionLog::kMostText);
  cut_utf8(decision.composition, DecisionLog::kMostText);
  std::size_t bytes = 0;
  auto last = decision.inputs.begin();
  for (; last != decision.inputs.end(); ++last) {
    bytes += last->first.size() + last->second.size();
    if (bytes > DecisionLog::kMostText) break;
  }
  decision.inputs.erase(last, decision.inputs.end());
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::applied:
      return "applied";
    case Outcome::shadow:
      return "shadow";
    case Outcome::off:
      return "off";
    case Outcome::hands_off:
      return "hands_off";
    case Outcome::lost:
      return "lost";
    case Outcome::unsupported:
      return "unsupported";
    case Outcome::gone:
      return "gone";
    case Outcome::failed:
      return "failed";
    case Outcome::contested:
      return "contested";
    case Outcome::expired:
      return "expired";
    case Outcome::reverted:
      return "reverted";
    case Outcome::left:
      return "left";
    case Outcome::switched:
      return "switched";
    case Outcome::evicted:
      return "evicted";
    case Outcome::killed:
      return "killed";
    case Outcome::pending:
      return "pending";
    case Outcome::refused:
      return "refused";
    case Outcome::budget:
      return "budget";
    case Outcome::brake:
      return "brake";
    case Outcome::opted_out:
      return "opted_out";
    case Outcome::unknown:
      return "unknown";
    case Outcome::asked:
      return "asked";
    case Outcome::unanswered:
      return "unanswered";
  }
  return "";
}

Result<Outcome> parse_outcome(std::string_view text) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(Outcome::unanswered); ++i) {
    const auto outcome = static_cast<Outcome>(i);
    if (name_of(outcome) == text) return outcome;
    names.emplace_back(name_of(outcome));
  }
  return invalid("'" + std::string(text) + "' is no result of a decision, expected one of " + join(names, ", "));
}

void DecisionLog::add(Decision decision) {
  cut(decision);
  std::lock_guard lock(mutex_);
  ++counts_[decision.outcome];
  decision.number = ++last_number_;
  if (archive_) archive_->add(decision);
  decisions_.push_back(std::move(decision));
  if (decisions_.size() > kMostRecords) decisions_.pop_front();
}

void DecisionLog::keep_in(DecisionArchive::Options options, const Clock& clock) {
  auto archive = std::make_unique<DecisionArchive>(std::move(options), clock);
  std::lock_guard lock(mutex_);
  last_number_ = std::max(last_number_, archive->last_number());
  archive_ = std::move(archive);
}

void DecisionLog::flush() {
  if (archive_) archive_->flush();
}

DecisionPage DecisionLog::find(const DecisionQuery& query) const {
  if (archive_)
    if (Result<DecisionPage> page = archive_->find(query)) return *std::move(page);
  DecisionPage page;
  std::lock_guard lock(mutex_);
  for (auto one = decisions_.rbegin(); one != decisions_.rend() && !page.has_older; ++one) {
    if (!matches(query, *one)) continue;
    page.has_older = page.decisions.size() == query.limit;
    if (!page.has_older) page.decisions.push_back(*one);
  }
  std::reverse(page.decisions.begin(), page.decisions.end());
  return page;
}

std::optional<DecisionArchive::Status> DecisionLog::archive() const {
  return archive_ ? std::optional(archive_->status()) : std::nullopt;
}

std::vector<Decision> DecisionLog::decisions() const {
  std::lock_guard lock(mutex_);
  return {decisions_.begin(), decisions_.end()};
}

std::map<Outcome, std::uint64_t> DecisionLog::counts() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace koord::knob
