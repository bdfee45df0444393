// SPDX-License-Identifier: Apache-2.0
#include "core/manager/controllers.hpp"

#include <map>
#include <set>
#include <utility>

#include "core/base/parse.hpp"
#include "core/base/printable.hpp"
#include "core/json/scanner.hpp"
#include "core/kube/list_watch.hpp"
#include "core/manager/batch_writer.hpp"
#include "core/manager/cluster_settings.hpp"
#include "core/manager/manager_log.hpp"
#include "core/manager/object_writer.hpp"
#include "core/state/objects.hpp"

namespace koord::manager {
namespace {

constexpr Duration kTick = std::chrono::seconds(1);
// The window of a report that came directly. Its values are means over the agent's report.direct.window, which the
// report does not state. This is the default of that option. If the agent uses a longer window, more reports are
// averaged than necessary.
constexpr Duration kDirectWindow = std::chrono::seconds(10);
constexpr std::string_view kSloApi = "/apis/slo.koordinator.sh/v1alpha1/";

// Enough for a cluster of 5,000 nodes with 250 pods each. About 150 bytes are kept of a pod, and the whole object of a
// NodeMetric.
constexpr kube::ObjectSet::Limits kManyObjects{.objects = 2'000'000, .bytes = std::size_t{2} << 30};

std::string slo_collection(std::string_view plural) { return std::string(kSloApi) + std::string(plural); }

PerNodeObjects::Options objects_of(std::string kind, const WriteBounds::Limits& bounds) {
  PerNodeObjects::Options options;
  options.api_version = "slo.koordinator.sh/v1alpha1";
  options.kind = std::move(kind);
  options.bounds = bounds;
  return options;
}

std::string pod_line(const kube::ObjectView& object) {
  const Result<PodFacts> pod = parse_pod_facts(object.json);
  return pod ? to_line(*pod) : std::string("?");
}

}  // namespace

struct Controllers::State {
  State(Parts parts, Options options)
      : parts_(std::move(parts)), options_(std::move(options)), settings_(options_.config_map) {
    watch_config_map();
    watch(
        "Node", {.path = "/api/v1/nodes"},
        [this](const kube::Objects& all, const kube::Difference& what) { take_nodes(all, what); },
        [](const kube::ObjectView& object) { return trim_node(object.json); });
    if (options_.node_slo) begin_objects("NodeSLO", "nodeslos", slos_, slo_writer_);
    if (options_.node_metric) begin_objects("NodeMetric", "nodemetrics", metrics_, metric_writer_);
    if (options_.batch) begin_batch();
    tick_ = parts_.loop.every(kTick, [this] {
      forget_unknown();
      run();
    });
  }

  void lead(bool leads) {
    leads_ = leads;
    if (leads) {
      if (batch_) batch_->restart(now(), parts_.clock.wall_ns());
      record_settings();
      return run();
    }
    for (auto* writer : {slo_writer_.get(), metric_writer_.get()})
      if (writer) writer->cancel();
    if (batch_writer_) batch_writer_->cancel();
    for (PerNodeObjects* objects : {slos_.get(), metrics_.get()})
      if (objects) objects->forget_writes();
    if (batch_) batch_->forget_writes();
  }

  // Takes a report. A report from the watch is ignored if it is not newer than the last direct report of the node.
  void take_report(const std::string& node, std::string_view text, bool is_direct) {
    if (!batch_) return;
    Result<NodeUsage> usage = parse_node_usage(text);
    // A node that does not exist is reported as a problem only while it has a NodeMetric.
    if (usage || !is_direct || nodes_.contains(node)) note("NodeMetric " + node, error_of(usage));
    if (!usage) return;
    const std::int64_t wall_ns = parts_.clock.wall_ns();
    if (is_direct) usage->window = std::min(usage->window, kDirectWindow);
    if (is_direct && usage->update_ns) direct_reports_[node] = std::min(*usage->update_ns, wall_ns);
    const auto direct = direct_reports_.find(node);
    if (!is_direct && direct != direct_reports_.end() && usage->update_ns.value_or(0) <= direct->second) return;
    batch_->take_metric(now(), wall_ns, node, *std::move(usage));
  }

  // Forgets what was reported by nodes that do not exist.
  void forget_unknown() {
    if (!batch_ || !is_current("Node")) return;
    for (const std::string& name : batch_->remove_unknown(now())) direct_reports_.erase(name);
  }

  Status status() const {
    Status status;
    for (const auto& [kind, watch] : watches_) status.watches.push_back({kind, watch->health()});
    status.settings_problems = settings_.problems();
    status.rejected = settings_.rejected();
    status.ignored = settings_.ignored();
    for (const auto& [subject, problem] : problems_)
      if (status.problems.size() < kMostShown) status.problems.push_back(subject + ": " + problem);
    if (slo_writer_ && !slo_writer_->problem().empty()) status.problems.push_back("NodeSLO " + slo_writer_->problem());
    if (metric_writer_ && !metric_writer_->problem().empty())
      status.problems.push_back("NodeMetric " + metric_writer_->problem());
    if (batch_writer_ && !batch_writer_->problem().empty())
      status.problems.push_back("Node " + batch_writer_->problem());
    if (batch_)
      for (std::string& problem : batch_->problems()) status.problems.push_back(std::move(problem));
    status.slos = slos_.get();
    status.metrics = metrics_.get();
    status.batch = batch_.get();
    return status;
  }

  std::vector<std::string> nodes() const {
    std::vector<std::string> names;
    if (!is_current("Node")) return names;
    for (const auto& [name, node] : nodes_) names.push_back(name);
    return names;
  }

  bool is_synced() const {
    for (const auto& [kind, watch] : watches_)
      if (!watch->health().last_confirmed) return false;
    return true;
  }

 private:
  using OnObjects = std::function<void(const kube::Objects&, const kube::Difference&)>;

  static constexpr std::size_t kMostShown = 32;

  Time now() const { return parts_.clock.now(); }
  bool leads() const { return leads_ && parts_.leads(); }

  void watch(std::string kind, kube::Collection collection, OnObjects on_objects, kube::Keep keep = {}) {
    kube::ListWatchHandlers handlers;
    handlers.on_objects = [this, kind, take = std::move(on_objects)](const kube::Objects& all,
                                                                     const kube::Difference& what) {
      listed_.insert(kind);
      take(all, what);
    };
    kube::ListWatchOptions options;
    options.keep = std::move(keep);
    options.limits = kManyObjects;
    options.reflector = options_.reflector;
    watches_.emplace_back(std::move(kind), std::make_unique<kube::ListWatch>(parts_.loop, parts_.workers, parts_.clock,
                                                                             parts_.client, std::move(collection),
                                                                             std::move(options), std::move(handlers)));
  }

  bool is_current(std::string_view wanted) const {
    for (const auto& [kind, watch] : watches_)
      if (kind == wanted) return listed_.contains(kind) && watch->health().state == kube::Health::State::current;
    return false;
  }

  void watch_config_map() {
    const std::size_t slash = options_.config_map.find('/');
    watch("ConfigMap",
          {.path = "/api/v1/namespaces/" + options_.config_map.substr(0, slash) + "/configmaps",
           .field_selector = "metadata.name=" + options_.config_map.substr(slash + 1)},
          [this](const kube::Objects& objects, const kube::Difference&) { take_config_map(objects); });
  }

  void begin_objects(const std::string& kind, std::string_view plural, std::unique_ptr<PerNodeObjects>& objects,
                     std::unique_ptr<ObjectWriter>& writer) {
    objects = std::make_unique<PerNodeObjects>(objects_of(kind, options_.bounds), random_seed());
    writer = std::make_unique<ObjectWriter>(parts_.clock, parts_.client, slo_collection(plural), *objects,
                                            [this] { return leads(); });
    watch(kind, {.path = slo_collection(plural)},
          [this, kind, of = objects.get()](const kube::Objects& all, const kube::Difference& what) {
            take_objects(kind, *of, all, what);
          });
  }

  void begin_batch() {
    batch_ = std::make_unique<BatchNodes>(options_.batch_options);
    batch_writer_ = std::make_unique<BatchWriter>(parts_.clock, parts_.client, *batch_,
                                                  [this] { return leads() && has_reports_ && is_current("Pod"); });
    watch(
        "Pod", {.path = "/api/v1/pods", .newest = true},
        [this](const kube::Objects& all, const kube::Difference& what) { take_pods(all, what); }, pod_line);
    if (!options_.node_metric)
      watch("NodeMetric", {.path = slo_collection("nodemetrics")},
            [this](const kube::Objects& all, const kube::Difference& what) {
              take_metrics(all, what);
              run();
            });
  }

  void take_config_map(const kube::Objects& objects) {
    settings_.take(objects.empty() ? nullptr : objects.begin()->second.get());
    for (const ClusterSettings::Change& change : settings_.changes())
      log::write(manager_log, change.is_problem ? log::Level::warn : log::Level::info,
                 printable(change.text, Controllers::kMostLine));
    if (batch_) batch_->set_colocation(now(), settings_.colocation(), settings_.has_colocation());
    for (const auto& [name, node] : nodes_) want(node);
    record_settings();
    run();
  }

  void record_settings() {
    if (!leads_) return;
    for (kube::EventInput& event : settings_.events()) parts_.events.record(std::move(event));
  }

  void take_nodes(const kube::Objects& all, const kube::Difference& what) {
    for (const std::string& name : what.removed) {
      nodes_.erase(name);
      direct_reports_.erase(name);
      for (const char* subject :
           {"Node ", "NodeMetric ", "NodeSLO of node ", "spec of NodeSLO ", "spec of NodeMetric "})
        note(subject + name, "");
      if (batch_) batch_->remove_node(name);
      vanished_.insert(name);
    }
    for (const std::string& name : what.changed) take_node(name, *all.at(name));
    // An empty node list is more likely a server error than a cluster without nodes, so it removes nothing.
    if (!all.empty()) give_up_vanished(all);
    run();
  }

  void give_up_vanished(const kube::Objects& all) {
    for (const std::string& name : std::exchange(vanished_, {}))
      for (PerNodeObjects* objects : {slos_.get(), metrics_.get()})
        if (objects && !all.contains(name)) objects->unwant(name);
  }

  void take_node(const std::string& name, const kube::KeptObject& object) {
    Result<state::Node> node = state::parse_node(object.text);
    note("Node " + name, node ? "" : node.error().message());
    if (!node) return;
    if (batch_) batch_->take_node(now(), *node, parse_uint(object.resource_version).value_or(0));
    if (settings_.is_known()) want(*node);
    nodes_.insert_or_assign(name, *std::move(node));
  }

  void want(const state::Node& node) {
    if (slos_) {
      const state::SloSettings::NodeSpec spec = settings_.slo().spec_of(node.labels, node.annotations);
      note("NodeSLO of node " + node.name, spec.problem);
      note("spec of NodeSLO " + node.name, error_of(slos_->want(node.name, spec.spec)));
    }
    if (!metrics_) return;
    const NodeColocation own = settings_.colocation().of_node(node.labels, node.annotations);
    note("spec of NodeMetric " + node.name, error_of(metrics_->want(node.name, node_metric_spec(own.settings))));
  }

  template <class T>
  static std::string error_of(const Result<T>& result) {
    return result ? "" : result.error().message();
  }

  void take_objects(const std::string& kind, PerNodeObjects& objects, const kube::Objects& all,
                    const kube::Difference& what) {
    for (const std::string& name : what.removed) {
      objects.observe_removed(name);
      note(kind + ' ' + name, "");
    }
    for (const std::string& name : what.changed)
      note(kind + ' ' + name, error_of(objects.observe(now(), name, all.at(name)->text)));
    if (kind == "NodeMetric") take_metrics(all, what);
    run();
  }

  void take_metrics(const kube::Objects& all, const kube::Difference& what) {
    if (!batch_) return;
    for (const std::string& name : what.removed) {
      batch_->remove_metric(name);
      if (!nodes_.contains(name)) direct_reports_.erase(name);
      note("NodeMetric " + name, "");
    }
    for (const std::string& name : what.changed) take_report(name, all.at(name)->text, false);
  }

  void take_pods(const kube::Objects& all, const kube::Difference& what) {
    for (const std::string& name : what.removed) {
      batch_->remove_pod(now(), name);
      note("Pod " + name, "");
    }
    for (const std::string& name : what.changed) {
      Result<PodFacts> pod = from_line(name, all.at(name)->text);
      note("Pod " + name, pod ? "" : "it cannot be read, and counts as missing");
      if (pod)
        batch_->take_pod(now(), *std::move(pod));
      else
        batch_->remove_pod(now(), name);
    }
    run();
  }

  // Records the problem with a subject. An empty `problem` clears it.
  void note(const std::string& subject, std::string problem) {
    if (problem.empty())
      problems_.erase(subject);
    else
      problems_[subject] = std::move(problem);
  }

  // Sends writes only after all inputs of the decisions have been read.
  void run() {
    follow_reports();
    if (!leads() || !settings_.is_known() || nodes_.empty() || !is_current("Node")) return;
    if (slo_writer_ && is_current("NodeSLO")) slo_writer_->run();
    if (metric_writer_ && is_current("NodeMetric")) metric_writer_->run();
    if (batch_writer_) batch_writer_->run();
    if (slos_) record_contested("NodeSLO", slos_->bounds());
    if (metrics_) record_contested("NodeMetric", metrics_->bounds());
    if (batch_) record_contested("Node", batch_->bounds());
  }

  // While NodeMetrics cannot be read, every node would seem silent. So the silence is measured from the time when they
  // can be read again.
  void follow_reports() {
    if (!batch_) return;
    const bool had_reports = std::exchange(has_reports_, is_current("NodeMetric"));
    if (has_reports_ && !had_reports) batch_->restart(now(), parts_.clock.wall_ns());
  }

  void record_contested(const std::string& kind, const WriteBounds& bounds) {
    if (bounds.contested(now()) == 0) return;
    std::uint64_t& reported = reported_overwrites_[kind];
    if (std::exchange(reported, bounds.overwrites()) == bounds.overwrites()) return;
    const std::string& by = bounds.last_writer();
    parts_.events.record(settings_.event("ContestedWrites", "another program" + (by.empty() ? "" : " (" + by + ")") +
                                                                " changes " + kind +
                                                                " objects that koord-manager writes; they are left "
                                                                "alone for 10 minutes. Switch one of the two off"));
  }

  Parts parts_;
  const Options options_;
  bool leads_ = false;
  bool has_reports_ = false;  // NodeMetrics are listed and up to date
  ClusterSettings settings_;
  std::map<std::string, state::Node> nodes_;
  std::map<std::string, std::int64_t> direct_reports_;        // key: node; time of its newest report, by its clock
  std::set<std::string> vanished_;                            // nodes with objects that are still wanted
  std::map<std::string, std::string> problems_;               // key: subject
  std::set<std::string, std::less<>> listed_;                 // kinds
  std::map<std::string, std::uint64_t> reported_overwrites_;  // key: kind
  std::unique_ptr<PerNodeObjects> slos_, metrics_;
  std::unique_ptr<BatchNodes> batch_;
  std::unique_ptr<ObjectWriter> slo_writer_, metric_writer_;
  std::unique_ptr<BatchWriter> batch_writer_;
  std::vector<std::pair<std::string, std::unique_ptr<kube::ListWatch>>> watches_;
  std::unique_ptr<event::Timer> tick_;
};

Controllers::Controllers(Parts parts, Options options)
    : state_(std::make_unique<State>(std::move(parts), std::move(options))) {}

Controllers::~Controllers() = default;

void Controllers::lead(bool leads) { state_->lead(leads); }
void Controllers::take_report(const std::string& node, std::string_view node_metric) {
  state_->take_report(node, node_metric, true);
}
Controllers::Status Controllers::status() const { return state_->status(); }
bool Controllers::is_synced() const { return state_->is_synced(); }
std::vector<std::string> Controllers::nodes() const { return state_->nodes(); }

}  // namespace koord::manager
