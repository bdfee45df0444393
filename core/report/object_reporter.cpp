// SPDX-License-Identifier: Apache-2.0
#include "core/report/object_reporter.hpp"

#include <limits>
#include <utility>

#include "core/report/json_text.hpp"
#include "core/report/report_log.hpp"
#include "core/report/reported.hpp"

namespace koord::report {
namespace {

// An object without differences is never written.
constexpr DeliveryOptions kDelivery{
    .heartbeat = std::chrono::hours(24 * 365), .interval = Delivery::kLeastGap, .change_percent = 0};

}  // namespace

ObjectReporter::ObjectReporter(Parts parts, Object object, const std::string& node_name, Duration period)
    : parts_(parts),
      object_(std::move(object)),
      node_name_(node_name),
      periodic_task_(parts_.loop, parts_.workers, "report-" + object_.kind, period,
                     [this] { return [this, poll = std::make_shared<PollResult>(make_result())] { decide(*poll); }; }) {
  if (parts_.client == nullptr) return;
  const std::uint64_t seed =
      std::hash<std::string>()(node_name + object_.kind) ^ static_cast<std::uint64_t>(parts_.clock.wall_ns());
  publisher_ = std::make_unique<Publisher>(object_.kind, parts_.loop, *parts_.client, parts_.clock,
                                           Delivery(kDelivery, seed), object_.rules);
}

ObjectReporter::~ObjectReporter() { stop(); }

void ObjectReporter::stop() {
  periodic_task_.stop();
  if (publisher_) publisher_->stop();
}

ObjectReporter::PollResult ObjectReporter::make_result() {
  const state::SnapshotPtr state = parts_.hub.current();
  PollResult poll;
  auto found = state->objects.find(object_.kind);
  poll.is_known = found != state->objects.end();
  if (poll.is_known && found->second != from_state_) newest_ = from_state_ = found->second;
  if (auto written = written_.take()) newest_ = std::move(written);
  poll.there = newest_;
  std::optional<std::string> wanted;
  const Result<void> compared = compare(*state, poll, wanted);
  // Omits the error code, because an unknown input is not a missing file.
  std::string problem = compared                                                    ? ""
                        : compared.error().is(std::errc::no_such_file_or_directory) ? compared.error().text
                                                                                    : compared.error().message();
  std::lock_guard lock(mutex_);
  if (problem != view_.problem && !problem.empty())
    log::debug(report_log, "the {} is left as it is: {}", object_.kind, problem);
  view_.problem = std::move(problem);
  view_.wanted = std::move(wanted);
  view_.differs = poll.differs;
  return poll;
}

Result<void> ObjectReporter::compare(const state::Snapshot& state, PollResult& poll,
                                     std::optional<std::string>& wanted) const {
  poll.merge = TRY(object_.compute(state));
  const std::string bare = object_.create(state.node);
  const std::optional<std::string> merged = TRY(poll.merge(bare));
  poll.fresh = merged.value_or(bare);
  std::optional<std::string> changed = poll.fresh;
  if (poll.exists()) changed = TRY(poll.merge(*poll.there));
  poll.differs = changed && !(poll.exists() && is_reduction(*changed, *poll.there));
  wanted = changed ? *changed : *poll.there;
  return {};
}

// Returns whether the API server's object is the intended object without the parts that the server refused.
bool ObjectReporter::is_reduction(const std::string& wanted, const std::string& there) const {
  const Reductions reductions = publisher_ ? publisher_->reductions() : Reductions();
  if (reductions.empty()) return false;
  const Result<std::string> reduced = without(wanted, reductions);
  return reduced && same_json(*reduced, there);
}

void ObjectReporter::decide(const PollResult& poll) {
  if (!publisher_ || !poll.is_known || publisher_->is_writing()) return;
  Delivery& delivery = publisher_->delivery();
  const Time now = parts_.clock.now();
  if (!delivery.begun()) delivery.begin(now, poll.exists() ? std::optional(Duration::zero()) : std::nullopt);
  if (poll.exists() && !poll.differs) publisher_->found(now);
  if (!poll.differs || !delivery.due(now, kBeyondMeasure)) return;
  kube::Update update{.collection = object_.collection, .name = node_name_, .status = false, .change = poll.merge};
  if (poll.exists()) update.known = *poll.there;
  update.missing = poll.fresh;
  publisher_->update(std::move(update), [this](std::string object) { written_.set(std::move(object)); });
}

ObjectReporter::View ObjectReporter::view() const {
  std::lock_guard lock(mutex_);
  View view = view_;
  if (publisher_) view.account = publisher_->account();
  return view;
}

}  // namespace koord::report
