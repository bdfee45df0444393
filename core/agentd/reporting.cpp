// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/reporting.hpp"

#include <algorithm>
#include <cctype>

#include "core/agentd/options.hpp"
#include "core/base/parse.hpp"
#include "core/base/to_seconds.hpp"
#include "core/kube/reflector.hpp"
#include "core/state/node_metric_spec.hpp"

namespace koord::agentd {
namespace {

using namespace std::chrono_literals;

constexpr Duration kClientPoll = 1s;
constexpr Duration kPressureWindow = 30s;  // window for the pressure of pods; some sources have a period of 10 s

// If lists of pods come less often than by default, a list may reach a greater age before it counts as old.
report::PodTolerance tolerance_of(const config::Config& config) {
  const Duration period = config.state.kubelet.sync_period;
  return {pods_are_old_after(config), std::max<Duration>(10min, 6 * period)};
}

report::NodeMetricOptions report_options_of(const config::Config& config) {
  return {.node_name = config.node_name,
          .create = config.report.create_node_metric,
          .heartbeat = config.report.heartbeat,
          .change_percent = static_cast<double>(config.report.change_threshold_percent),
          .tolerance = tolerance_of(config)};
}

// Returns whether the API server does not know this kind, because its definition is not installed.
bool is_kind_absent(const service::CapabilityBoard& capabilities, std::string kind) {
  // Cluster uses the name in lower case.
  for (char& c : kind) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto found = capabilities.find(kind);
  return found && found->state == service::CapabilityState::absent &&
         found->detail.starts_with(name_of(kube::Health::State::absent));
}

// Metrics of one reported object.
struct ObjectMetrics {
  std::map<report::Outcome, metric::HostCounter> writes;
  metric::HostGauge age, idle, left_out;

  ObjectMetrics(metric::HostMetrics& metrics, const std::string& object) {
    for (report::Outcome outcome : report::kOutcomes)
      writes[outcome] = metrics.counter("report_writes_total", "Writes of an object to the API server, by result.",
                                        {{"object", object}, {"result", std::string(name_of(outcome))}});
    age = metrics.gauge("report_age_seconds",
                        "Seconds since the API server accepted an object or had it up to date; -1: never.",
                        {{"object", object}});
    idle = metrics.gauge("report_idle",
                         "1 while the agent does not write an object: koord-manager writes it, the object or its kind "
                         "does not exist, or its content is unknown and was never written.",
                         {{"object", object}});
    left_out = metrics.gauge("report_left_out_parts",
                             "Parts that an object lacks because the API server refused them as invalid.",
                             {{"object", object}});
  }
  void follow(const report::Account& account, bool is_idle, Time now) {
    for (const auto& [outcome, count] : account.outcomes)
      writes[outcome].add(static_cast<double>(count) - writes[outcome].value());
    age.set(account.accepted ? to_seconds(now - *account.accepted) : -1);
    idle.set(is_idle);
    left_out.set(static_cast<double>(account.left_out.size()));
  }
};

// The metric of the age at which an unchanged NodeMetric is written again. The spec of the NodeMetric may ask for a
// longer period than the configuration.
class HeartbeatMetric {
 public:
  HeartbeatMetric(metric::HostMetrics& metrics, Duration heartbeat)
      : heartbeat_(heartbeat),
        gauge_(metrics.gauge("report_heartbeat_seconds", "Seconds after which an unchanged object is written again.",
                             {{"object", "NodeMetric"}})) {
    gauge_.set(to_seconds(heartbeat));
  }
  void follow(const state::Snapshot& state) {
    const auto found = state.objects.find("NodeMetric");
    if (found == state.objects.end() || found->second == read_) return;
    read_ = found->second;
    if (const auto read = state::parse_node_metric_spec(*read_))
      gauge_.set(to_seconds(std::max(heartbeat_, read->spec.report)));
  }

 private:
  Duration heartbeat_;
  metric::HostGauge gauge_;
  std::shared_ptr<const std::string> read_;
};

// Metrics of direct reports.
class DirectMetrics {
 public:
  explicit DirectMetrics(metric::HostMetrics& metrics) {
    const auto results = [&metrics](const char* result) {
      return metrics.counter("report_direct_total", "Direct reports to koord-manager, by result.",
                             {{"result", result}});
    };
    whole_ = results("accepted");
    unchanged_ = results("unchanged");
    refused_ = results("refused");
    failed_ = results("failed");
    unfit_ = results("unknown");
    bytes_ = metrics.counter("report_direct_bytes_total", "Bytes of the bodies of direct reports.");
    lookups_ = metrics.counter("report_direct_lookups_total", "Reads of the Lease of koord-manager.");
    age_ =
        metrics.gauge("report_direct_age_seconds", "Seconds since koord-manager accepted a direct report; -1: never.");
  }
  void follow(const report::DirectReporter::View& view, Time now) {
    const auto count = [](metric::HostCounter& counter, std::uint64_t total) {
      counter.add(static_cast<double>(total) - counter.value());
    };
    count(whole_, view.whole);
    count(unchanged_, view.unchanged);
    count(refused_, view.refused);
    count(failed_, view.failed);
    count(unfit_, view.unfit);
    count(bytes_, view.bytes);
    count(lookups_, view.lookups);
    age_.set(view.accepted ? to_seconds(now - *view.accepted) : -1);
  }

 private:
  metric::HostCounter whole_, unchanged_, refused_, failed_, unfit_, bytes_, lookups_;
  metric::HostGauge age_;
};

report::DirectOptions direct_options(const config::Config& config) {
  const config::DirectReportSettings& settings = config.report.direct;
  report::DirectOptions options{.node_name = config.node_name,
                                .period = settings.period,
                                .address = settings.address,
                                .server_name = settings.server_name,
                                .ca_file = settings.ca_file};
  if (auto lease = kube::parse_lease_place(settings.lease)) options.lease = *std::move(lease);
  return options;
}

std::string trouble(const std::string& object, const report::Account& account) {
  if (!account.problem.empty()) return object + " cannot be written: " + account.problem;
  if (account.left_out.empty()) return "";
  return object + " is written without " + join(account.left_out, ", ") + ": the API server refused " +
         account.left_out_why;
}

}  // namespace

struct ReportingModule::Running {
  std::optional<report::DirectReporter> direct;
  std::optional<report::NodeMetricReporter> node_metric;
  std::optional<report::TopologySource> topology_source;
  std::optional<report::ObjectReporter> topology, devices;
};

ReportingModule::ReportingModule(const Services& services, const predict::Prediction* prediction,
                                 const config::Config& config)
    : services_(services),
      prediction_(prediction),
      config_(config),
      options_(report_options_of(config)),
      node_metric_(node_metric_parts(nullptr), options_) {}

ReportingModule::~ReportingModule() = default;

report::NodeMetricReporter::Parts ReportingModule::node_metric_parts(kube::Client* client) const {
  return {services_.loop,
          services_.workers,
          services_.store,
          services_.hub,
          services_.clock,
          client,
          [this] { return predict(); },
          [this] { return report::gpu_health(facts()); },
          [this] { return is_replaced(); }};
}

void ReportingModule::start() {
  client_timer_ = services_.loop.every(kClientPoll, [this] { find_client(); });
  find_client();
}

bool ReportingModule::is_running(const std::string& plugin) const {
  const std::vector<host::PluginStatus> plugins = services_.plugins();
  return std::any_of(plugins.begin(), plugins.end(), [&plugin](const host::PluginStatus& status) {
    return status.id == plugin && status.state == host::PluginState::running;
  });
}

void ReportingModule::find_client() {
  kube::Client* client = services_.client();
  if (client == nullptr) return;
  client_timer_.reset();
  running_ = std::make_unique<Running>();
  const report::ObjectReporter::Parts parts{services_.loop, services_.workers, services_.hub, services_.clock, client};
  if (config_.report.direct.enabled) start_direct(*client);
  if (config_.report.node_metric) running_->node_metric.emplace(node_metric_parts(client), options_).start();
  if (config_.report.topology) {
    running_->topology_source.emplace(services_.hub, services_.clock, config_.roots, facts(), options_.tolerance);
    running_->topology.emplace(parts, running_->topology_source->object(), config_.node_name).start();
  }
  if (config_.report.devices)
    running_->devices.emplace(parts, report::device_object(services_.clock, facts()), config_.node_name).start();
  shown_ = running_.get();
  export_metrics();
}

void ReportingModule::start_direct(kube::Client& client) {
  running_->direct.emplace(report::DirectReporter::Parts{services_.loop, services_.workers, services_.clock, client,
                                                         [this] { return compute_direct(); }},
                           direct_options(config_));
  running_->direct->start();
}

// Computes a direct report with its own short window. The window of the spec is minutes long, but the manager must
// withdraw resources within seconds.
report::DirectReport ReportingModule::compute_direct() const {
  const Duration window = config_.report.direct.window;
  const state::SnapshotPtr state = services_.hub.current();
  const std::shared_ptr<const verdict::CurrentVerdicts> verdicts = services_.verdicts.standing();
  report::DirectReport direct;
  direct.report = node_metric_.compute(window);
  direct.details =
      report::make_pod_details({services_.store, *state, verdicts->records, std::max<Duration>(window, kPressureWindow),
                                services_.clock.now(), services_.clock.wall_ns()});
  return direct;
}

bool ReportingModule::is_replaced() const {
  return config_.report.direct.replace_node_metric && running_ && running_->direct && running_->direct->is_fresh();
}

void ReportingModule::stop() {
  client_timer_.reset();
  if (!running_) return;
  if (running_->direct) running_->direct->stop();
  if (running_->node_metric) running_->node_metric->stop();
  if (running_->topology) running_->topology->stop();
  if (running_->devices) running_->devices->stop();
}

report::Prediction ReportingModule::predict() const {
  if (prediction_ == nullptr) return {};
  const Result<predict::ProdPrediction> prod = prediction_->prod();
  if (!prod) return {};
  return {prod->reclaimable, prod->peak};
}

// Returns the facts that plugins have stored. The facts of a plugin that does not run are left out, because they may be
// outdated.
report::Facts ReportingModule::facts() const {
  return [this](const std::string& plugin, const std::string& name) -> std::optional<std::string> {
    if (!is_running(plugin)) return std::nullopt;
    const std::optional<std::vector<std::byte>> bytes = services_.store.get(plugin + "/" + name);
    if (!bytes) return std::nullopt;
    return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  };
}

std::optional<report::NodeMetricReporter::View> ReportingModule::node_metric() const {
  const Running* running = shown_;
  return running != nullptr && running->node_metric ? std::optional(running->node_metric->view()) : std::nullopt;
}

std::optional<report::DirectReporter::View> ReportingModule::direct() const {
  const Running* running = shown_;
  return running != nullptr && running->direct ? std::optional(running->direct->view()) : std::nullopt;
}

std::optional<report::ObjectReporter::View> ReportingModule::topology() const {
  const Running* running = shown_;
  return running != nullptr && running->topology ? std::optional(running->topology->view()) : std::nullopt;
}

std::optional<report::ObjectReporter::View> ReportingModule::devices() const {
  const Running* running = shown_;
  return running != nullptr && running->devices ? std::optional(running->devices->view()) : std::nullopt;
}

std::optional<report::CpuPools> ReportingModule::pools() const {
  const Running* running = shown_;
  return running != nullptr && running->topology_source ? running->topology_source->pools() : std::nullopt;
}

void ReportingModule::export_metrics() {
  if (running_->direct) {
    services_.metrics.on_collect([this, metrics = DirectMetrics(services_.metrics)]() mutable {
      if (const auto view = direct()) metrics.follow(*view, services_.clock.now());
    });
  }
  if (running_->node_metric) {
    auto missing = services_.metrics.gauge(
        "report_object_missing", "1 while an object does not exist and is not created: nothing is reported then.",
        {{"object", "NodeMetric"}});
    auto degraded = services_.metrics.gauge("report_degraded",
                                            "1 while parts of the NodeMetric are left out or differ from its spec.");
    services_.metrics.on_collect([this, degraded, missing,
                                  heartbeat = HeartbeatMetric(services_.metrics, options_.heartbeat),
                                  metrics = ObjectMetrics(services_.metrics, "NodeMetric")]() mutable {
      const auto view = node_metric();
      if (!view) return;
      heartbeat.follow(*services_.hub.current());
      const bool is_idle = view->replaced || view->missing || is_kind_absent(services_.capabilities, "NodeMetric");
      metrics.follow(view->account, is_idle, services_.clock.now());
      missing.set(view->missing);
      degraded.set(!view->report.refusal.empty() || !view->report.problems.empty());
    });
  }
  const auto export_object = [this](const char* kind,
                                    std::optional<report::ObjectReporter::View> (ReportingModule::*view_of)() const) {
    services_.metrics.on_collect([this, kind, view_of, metrics = ObjectMetrics(services_.metrics, kind)]() mutable {
      const auto view = (this->*view_of)();
      if (!view) return;
      const bool is_unknown = !view->account.accepted && !view->problem.empty();
      metrics.follow(view->account, is_unknown || is_kind_absent(services_.capabilities, kind), services_.clock.now());
    });
  };
  if (running_->topology) export_object("NodeResourceTopology", &ReportingModule::topology);
  if (running_->devices) export_object("Device", &ReportingModule::devices);
}

api::ModuleHealth ReportingModule::health() const {
  if (shown_ == nullptr) return {"report", true, "off: there is no cluster"};
  std::vector<std::string> troubles;
  if (const auto view = node_metric()) {
    if (!view->computed) return {"report", true, "nothing reported yet"};
    if (view->missing)
      troubles.push_back(
          "the NodeMetric is missing and not created (Koordinator's manager or koord-manager creates it, or the agent with "
          "report.createNodeMetric)");
    if (!view->report.refusal.empty()) troubles.push_back("no report of this node: " + view->report.refusal);
    for (const std::string& problem : view->report.problems) troubles.push_back(problem);
    for (const std::string& problem : view->spec_problems)
      troubles.push_back("invalid spec of the NodeMetric: " + problem);
    troubles.push_back(trouble("the NodeMetric", view->account));
  }
  if (const auto view = direct(); view && !view->problem.empty())
    troubles.push_back("no direct report to koord-manager: " + view->problem);
  if (const auto view = topology()) {
    if (!view->problem.empty()) troubles.push_back("the NodeResourceTopology is left as it is: " + view->problem);
    troubles.push_back(trouble("the NodeResourceTopology", view->account));
  }
  if (const auto view = devices()) troubles.push_back(trouble("the Device", view->account));
  std::erase(troubles, "");
  return {"report", true, troubles.empty() ? "ok" : "degraded: " + join(troubles, "; ")};
}

}  // namespace koord::agentd
