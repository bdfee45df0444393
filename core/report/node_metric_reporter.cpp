// SPDX-License-Identifier: Apache-2.0
#include "core/report/node_metric_reporter.hpp"

#include <limits>
#include <utility>

#include "core/base/parse.hpp"
#include "core/json/scanner.hpp"
#include "core/json/writer.hpp"
#include "core/report/annotations.hpp"
#include "core/report/report_log.hpp"

namespace koord::report {
namespace {

constexpr const char* kKind = "NodeMetric";
constexpr const char* kCollection = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics";
constexpr std::int64_t kReportedSecond = 1'000'000'000;

// Readers take a missing resource of a usage for 0. So an entry is left out as a whole, and node usage is never left
// out.
ReductionRules reduction_rules() {
  return {.whole = {"status.podsMetric[]", "status.hostApplicationMetric[]", "status.prodReclaimableMetric",
                    "status.prodPeakMetric", "status.nodeMetric.systemUsage", "status.nodeMetric.numaUsages[]",
                    "status.nodeMetric.aggregatedNodeUsages[]", "status.nodeMetric.aggregatedSystemUsages[]",
                    "status.nodeMetric.nodeUsage.devices[]"},
          .needed = {"metadata.name", "metadata.resourceVersion", "status.updateTime",
                     "status.nodeMetric.nodeUsage.resources"}};
}

std::string empty_object(const std::string& name) {
  return R"({"apiVersion":"slo.koordinator.sh/v1alpha1","kind":"NodeMetric","metadata":{"name":)" + json_quote(name) +
         R"(},"spec":{}})";
}

std::string degraded_patch(const std::string& text) {
  return R"({"metadata":{"annotations":{)" + json_quote(kDegradedAnnotation) + ":" +
         (text.empty() ? "null" : json_quote(text)) + "}}}";
}

std::string degraded_text(const NodeMetricReport& report) {
  std::vector<std::string> sentences = report.problems;
  if (!report.refusal.empty()) sentences.insert(sentences.begin(), "not updated: " + report.refusal);
  return join(sentences, "; ");
}

std::uint64_t seed_of(const std::string& node, const Clock& clock) {
  return std::hash<std::string>()(node) ^ static_cast<std::uint64_t>(clock.wall_ns());
}

Amounts capacity_of(const state::Node& node) {
  const auto amount = [&node](const char* resource) {
    auto found = node.allocatable.find(resource);
    return found == node.allocatable.end() ? 0 : found->second;
  };
  return {amount("cpu"), amount("memory")};
}

}  // namespace

struct NodeMetricReporter::PollResult {
  NodeMetricReport report;
  std::string status;    // JSON
  std::string degraded;  // the intended content of the annotation
  state::NodeMetricSpec spec;
  bool is_known = false;                      // the API server's object is known; otherwise nothing may be written
  std::shared_ptr<const std::string> object;  // the object in the API server; empty or null: missing
  std::optional<std::int64_t> reported_seconds;
  bool degraded_differs = false;
  double change = 0;

  bool exists() const { return object && !object->empty(); }
};

struct NodeMetricReporter::Known {
  bool is_known = false;
  std::shared_ptr<const std::string> from_state;  // the object in the state
  std::shared_ptr<const std::string> newest;      // received, or the result of our last write
  Reported reported;

  void hear(const state::Snapshot& state) {
    auto found = state.objects.find(kKind);
    if (found == state.objects.end()) return;
    is_known = true;
    if (found->second == from_state) return;
    from_state = found->second;
    Reported heard = read(*from_state);
    // The watch may still have an object that is older than our last write.
    const bool is_old =
        heard.update_seconds && reported.update_seconds && *heard.update_seconds < *reported.update_seconds;
    if (!is_old) take(from_state, std::move(heard));
  }
  void take(std::shared_ptr<const std::string> object, Reported read) {
    newest = std::move(object);
    reported = std::move(read);
  }
  static Reported read(const std::string& object) {
    if (object.empty()) return {};
    return parse_reported(object).value_or({});
  }
};

NodeMetricReporter::NodeMetricReporter(Parts parts, NodeMetricOptions options)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      known_(std::make_unique<Known>()),
      periodic_task_(parts_.loop, parts_.workers, "report", options_.period,
                     [this] { return [this, poll = std::make_shared<PollResult>(make_result())] { decide(*poll); }; }) {
  view_.writes = parts_.client != nullptr;
  if (parts_.client == nullptr) return;
  const DeliveryOptions delivery{options_.heartbeat, std::chrono::minutes(1), options_.change_percent};
  publisher_ =
      std::make_unique<Publisher>(kKind, parts_.loop, *parts_.client, parts_.clock,
                                  Delivery(delivery, seed_of(options_.node_name, parts_.clock)), reduction_rules());
}

NodeMetricReporter::~NodeMetricReporter() { stop(); }

void NodeMetricReporter::stop() {
  periodic_task_.stop();
  heartbeat_.reset();
  if (publisher_) publisher_->stop();
}

NodeMetricReport NodeMetricReporter::compute(std::optional<Duration> window) const {
  const state::SnapshotPtr state = parts_.hub.current();
  auto object = state->objects.find(kKind);
  state::NodeMetricSpec spec;
  if (object != state->objects.end()) {
    if (auto read = state::parse_node_metric_spec(*object->second)) spec = read->spec;
  }
  spec.aggregate = window.value_or(spec.aggregate);
  NodeMetricInputs inputs{parts_.cache, *state, spec};
  inputs.max_age = window;
  if (parts_.predict) inputs.prediction = parts_.predict();
  if (parts_.device_health) inputs.device_health = parts_.device_health();
  inputs.pods_confirmed = parts_.hub.confirmed(state::kPods);
  inputs.tolerance = options_.tolerance;
  inputs.now = parts_.clock.now();
  inputs.wall_ns = parts_.clock.wall_ns();
  return make_node_metric(inputs);
}

NodeMetricReporter::PollResult NodeMetricReporter::make_result() {
  const state::SnapshotPtr state = parts_.hub.current();
  if (const auto written = written_.take()) known_->take(written, Known::read(*written));
  known_->hear(*state);

  PollResult poll;
  poll.report = compute();
  poll.status = to_json(poll.report.status);
  poll.degraded = degraded_text(poll.report);
  poll.is_known = known_->is_known;
  poll.object = known_->newest;
  poll.reported_seconds = known_->reported.update_seconds;
  poll.degraded_differs = poll.degraded != known_->reported.degraded;
  poll.change = poll.degraded_differs
                    ? kBeyondMeasure
                    : change(known_->reported.usage, usage_of(poll.report.status), capacity_of(state->node));
  std::vector<std::string> problems;
  if (auto read = state::parse_node_metric_spec(known_->from_state ? *known_->from_state : "")) {
    poll.spec = read->spec;
    problems = std::move(read->problems);
  } else {
    problems = {read.error().message()};
  }
  std::lock_guard lock(mutex_);
  view_.report = poll.report;
  view_.computed = parts_.clock.now();
  view_.exists = poll.exists();
  view_.missing = poll.is_known && !poll.exists() && !options_.create;
  view_.spec_problems = std::move(problems);
  return poll;
}

void NodeMetricReporter::decide(const PollResult& poll) {
  report_absence(poll);
  if (!publisher_ || !poll.is_known || publisher_->is_writing()) return;
  Delivery& delivery = publisher_->delivery();
  const Time now = parts_.clock.now();
  delivery.set_options({options_.heartbeat, poll.spec.report, options_.change_percent});
  if (!delivery.begun()) begin_delivery(poll);
  if (leaves_to_manager(poll) || (!poll.exists() && !options_.create)) return;
  // A problem with the inputs is reported only if a heartbeat is due. So a short problem, such as after a start, is not
  // reported.
  const bool is_refused = !poll.report.refusal.empty();
  if (delivery.due(now, is_refused ? 0 : poll.change) && (!is_refused || poll.degraded_differs)) write(poll);
  schedule_heartbeat();
}

void NodeMetricReporter::begin_delivery(const PollResult& poll) {
  const Time now = parts_.clock.now();
  std::optional<Duration> age;
  if (poll.reported_seconds) age = Duration(parts_.clock.wall_ns() - *poll.reported_seconds * kReportedSecond);
  publisher_->delivery().begin(now, age);
  if (age) publisher_->found(now - *age);
}

// Returns whether koord-manager writes the object. All nodes lose their manager at the same time, so each restarts its
// delivery with a random delay.
bool NodeMetricReporter::leaves_to_manager(const PollResult& poll) {
  const bool is_replaced = parts_.is_replaced && parts_.is_replaced();
  if (is_replaced_ && !is_replaced) begin_delivery(poll);
  if (is_replaced != is_replaced_)
    log::info(report_log, "the NodeMetric is written by {}",
              is_replaced ? "koord-manager, which has this node's reports" : "this agent");
  is_replaced_ = is_replaced;
  std::lock_guard lock(mutex_);
  view_.replaced = is_replaced;
  return is_replaced;
}

// Schedules a poll for a heartbeat that is due between two periodic polls. It must not wait for the second poll,
// because readers rely on the report's age.
void NodeMetricReporter::schedule_heartbeat() {
  heartbeat_.reset();
  const Duration left = publisher_->delivery().next_heartbeat() - parts_.clock.now();
  if (left <= Duration::zero() || left >= options_.period) return;
  heartbeat_ = parts_.loop.after(left, [this] { periodic_task_.poll(); });
}

void NodeMetricReporter::report_absence(const PollResult& poll) {
  if (!publisher_ || !poll.is_known) return;
  const bool absent = !poll.exists() && !options_.create;
  const auto change = absence_.update("object", absent ? "missing" : "", parts_.clock.now());
  if (change == ProblemTracker::Change::begun)
    log::warn(
        report_log,
        "the NodeMetric '{}' is missing, and nothing is reported of this node: Koordinator's manager or koord-manager "
        "creates it, or the agent itself with report.createNodeMetric",
        options_.node_name);
  if (change == ProblemTracker::Change::over)
    log::info(report_log, "the NodeMetric '{}' exists now", options_.node_name);
}

void NodeMetricReporter::write(const PollResult& poll) {
  const auto change = degradation_.update("object", poll.degraded);
  if (change == ProblemTracker::Change::over) log::info(report_log, "the NodeMetric says all again");
  if (change == ProblemTracker::Change::begun) log::warn(report_log, "the NodeMetric is degraded: {}", poll.degraded);
  if (!poll.degraded_differs || !poll.exists()) return write_status(poll);
  publisher_->patch(kCollection, options_.node_name, degraded_patch(poll.degraded), [this, poll](std::string object) {
    PollResult patched = poll;
    patched.object = std::make_shared<const std::string>(std::move(object));
    written_.set(patched.object);
    if (patched.report.refusal.empty()) write_status(patched);
  });
}

void NodeMetricReporter::write_status(const PollResult& poll) {
  kube::Update update{.collection = kCollection, .name = options_.node_name};
  update.change = [status = poll.status](std::string_view newest) -> Result<std::optional<std::string>> {
    return std::optional(TRY(with_json_member(newest, "status", status)));
  };
  if (poll.exists()) update.known = *poll.object;
  if (options_.create) update.missing = empty_object(options_.node_name);
  publisher_->update(std::move(update), [this](std::string object) { written_.set(std::move(object)); });
}

NodeMetricReporter::View NodeMetricReporter::view() const {
  std::lock_guard lock(mutex_);
  View view = view_;
  if (publisher_) view.account = publisher_->account();
  return view;
}

}  // namespace koord::report
