// SPDX-License-Identifier: Apache-2.0
#include "core/report/object_reporter.hpp"

#include <limits>
#include <utility>

#include "core/report/json_text.hpp"
#include "core/report/report_log.hpp"
#include "core/report/reported.hpp"

namespace koord::report {
namespace {

// An object that is as it should be is never written.
constexpr DeliveryOptions kDelivery{.heartbeat = std::chrono::hours(24 * 365), .interval = Delivery::kLeastGap, .change_percent = 0};

}  // namespace

ObjectReporter::ObjectReporter(Parts parts, Object object, const std::string& node_name, Duration period)
    : parts_(parts),
      object_(std::move(object)),
      node_name_(node_name),
      lookout_(parts_.loop, parts_.workers, "report-" + object_.kind, period, [this] {
        return [this, look = std::make_shared<Look>(take_look())] { decide(*look); };
      }) {
  if (parts_.client == nullptr) return;
  const std::uint64_t seed = std::hash<std::string>()(node_name + object_.kind) ^ static_cast<std::uint64_t>(parts_.clock.wall_ns());
  publisher_ = std::make_unique<Publisher>(object_.kind, parts_.loop, *parts_.client, parts_.clock, Delivery(kDelivery, seed), object_.rules);
}

ObjectReporter::~ObjectReporter() { stop(); }

void ObjectReporter::stop() {
  lookout_.stop();
  if (publisher_) publisher_->stop();
}

ObjectReporter::Look ObjectReporter::take_look() {
  const state::SnapshotPtr state = parts_.hub.current();
  Look look;
  auto found = state->objects.find(object_.kind);
  look.is_known = found != state->objects.end();
  if (look.is_known && found->second != told_) newest_ = told_ = found->second;
  if (auto written = written_.take()) newest_ = std::move(written);
  look.there = newest_;
  std::optional<std::string> wanted;
  const Result<void> compared = compare(*state, look, wanted);
  // The text alone: an unknown input is no missing file.
  std::string problem = compared ? "" : compared.error().is(std::errc::no_such_file_or_directory) ? compared.error().text : compared.error().message();
  std::lock_guard lock(mutex_);
  if (problem != view_.problem && !problem.empty()) log::debug(report_log, "the {} is left as it is: {}", object_.kind, problem);
  view_.problem = std::move(problem);
  view_.wanted = std::move(wanted);
  view_.differs = look.differs;
  return look;
}

Result<void> ObjectReporter::compare(const state::Snapshot& state, Look& look, std::optional<std::string>& wanted) const {
  look.merge = TRY(object_.compute(state));
  const std::string bare = object_.create(state.node);
  const std::optional<std::string> merged = TRY(look.merge(bare));
  look.fresh = merged.value_or(bare);
  std::optional<std::string> changed = look.fresh;
  if (look.exists()) changed = TRY(look.merge(*look.there));
  look.differs = changed && !(look.exists() && is_reduction(*changed, *look.there));
  wanted = changed ? *changed : *look.there;
  return {};
}

// Returns whether the API server's object is the intended one without the parts that it refused.
bool ObjectReporter::is_reduction(const std::string& wanted, const std::string& there) const {
  const Reductions reductions = publisher_ ? publisher_->reductions() : Reductions();
  if (reductions.empty()) return false;
  const Result<std::string> reduced = without(wanted, reductions);
  return reduced && same_json(*reduced, there);
}

void ObjectReporter::decide(const Look& look) {
  if (!publisher_ || !look.is_known || publisher_->is_writing()) return;
  Delivery& delivery = publisher_->delivery();
  const Time now = parts_.clock.now();
  if (!delivery.begun()) delivery.begin(now, look.exists() ? std::optional(Duration::zero()) : std::nullopt);
  if (look.exists() && !look.differs) publisher_->found(now);
  if (!look.differs || !delivery.due(now, kBeyondMeasure)) return;
  kube::Update update{.collection = object_.collection, .name = node_name_, .status = false, .change = look.merge};
  if (look.exists()) update.known = *look.there;
  update.missing = look.fresh;
  publisher_->update(std::move(update), [this](std::string object) { written_.set(std::move(object)); });
}

ObjectReporter::View ObjectReporter::view() const {
  std::lock_guard lock(mutex_);
  View view = view_;
  if (publisher_) view.account = publisher_->account();
  return view;
}

}  // namespace koord::report
