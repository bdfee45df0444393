// SPDX-License-Identifier: Apache-2.0
#include "core/decision/decision_log.hpp"

#include <algorithm>
#include <utility>

#include "core/base/utf8.hpp"

namespace koord::decision {
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

}  // namespace koord::decision
