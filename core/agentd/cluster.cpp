// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/cluster.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>
#include "core/agentd/state_log.hpp"
#include "core/kube/client_options.hpp"

namespace koord::agentd {
namespace {

// If pods come from the API server, the kubelet is asked only for its configuration, with this period, until it is
// known.
constexpr Duration kConfigAlone = std::chrono::minutes(1);

using service::Capability;
using service::CapabilityState;
using CollectionState = kube::Health::State;

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string place_of(const kube::ConnectionConfig& config) { return config.host + ":" + std::to_string(config.port); }

// Returns the capability state of one kind of object.
CapabilityState state_of(const state::ApiSource::Status& status) {
  switch (status.health.state) {
    case CollectionState::current:
      return status.problem.empty() && status.health.left_out.empty() ? CapabilityState::supported
                                                                      : CapabilityState::broken;
    case CollectionState::starting:
    case CollectionState::absent:
      return CapabilityState::absent;
    case CollectionState::failing:
    case CollectionState::forbidden:
      break;
  }
  return CapabilityState::broken;
}

std::string detail_of(const state::ApiSource::Status& status) {
  std::string text(name_of(status.health.state));
  const std::string& own = status.problem.empty() ? status.health.left_out : status.problem;
  const std::string& problem = status.health.problem.empty() ? own : status.health.problem;
  return problem.empty() ? text : text + ": " + problem;
}

// Returns the log line about one kind; an unavailable server is logged once for all kinds.
std::string log_text(const state::ApiSource::Status& status) {
  const bool away = status.health.state == CollectionState::failing;
  return state_of(status) == CapabilityState::broken && !away ? detail_of(status) : "";
}

// Returns whether the watch has failed and not recovered, or has never started because of a problem.
bool is_behind(const state::ApiSource::Status& status) {
  const bool starts_with_trouble = status.health.state == CollectionState::starting && !status.health.problem.empty();
  return status.health.state == CollectionState::failing || starts_with_trouble;
}

// Returns whether a kind has a problem that affects the state. A kind that is not installed, or that the agent may not
// read, has no such problem.
bool is_trouble(const state::ApiSource::Status& status) {
  if (status.health.state == CollectionState::failing) return true;
  const bool vital = status.kind == "Node" || status.kind == "Pod";
  return state_of(status) == CapabilityState::broken && (vital || status.health.state == CollectionState::current);
}

}  // namespace

Cluster::Cluster(Parts parts, const kube::ConnectionConfig& api_server, PodSource pods, const config::Config& config)
    : parts_(std::move(parts)),
      api_server_(api_server),
      pods_(pods),
      settings_(config.state),
      api_(parts_.loop, parts_.workers, parts_.clock, api_server, kube::client_options(config.cluster)) {}

Cluster::~Cluster() { stop(); }

void Cluster::start() {
  watch_ = std::make_unique<state::PodWatch>(parts_.loop, parts_.layout, [this] { request(); });
  watch_pods({state::find_kube_root(parts_.layout, {}), {}});
  start_kubelet();
  start_api_source();
  report_status();
}

void Cluster::stop() {
  if (const std::uint64_t subscription = std::exchange(subscription_, 0); subscription != 0)
    parts_.hub.remove(subscription);
  watch_.reset();
  if (source_) source_->end();
  if (kubelet_) kubelet_->end();
}

void Cluster::start_api_source() {
  state::ApiSource::Options options;
  options.node = parts_.node_name;
  options.pods = pods_ == PodSource::apiserver;
  options.node_object = settings_.file.node.empty();
  options.node_slo = settings_.file.node_slo.empty();
  options.volumes = settings_.api_server.volumes;
  options.slo_config_map = settings_.api_server.slo_config_map;
  state::ApiSource::Handlers handlers;
  handlers.on_status = [this] { later(&Cluster::report_status); };
  handlers.on_places = [this](const state::PodPlaces& places) {
    parts_.loop.post([this, places, alive = std::weak_ptr<Alive>(alive_)] {
      if (alive.lock()) watch_pods(places);
    });
  };
  source_ =
      std::make_unique<state::ApiSource>(state::ApiSource::Parts{parts_.loop, parts_.workers, parts_.clock, parts_.hub,
                                                                 api_, parts_.layout, &parts_.annotations},
                                         options, std::move(handlers));
}

void Cluster::start_kubelet() {
  state::KubeletSource::Options options;
  options.node = parts_.node_name;
  options.sync_period = settings_.kubelet.sync_period;
  options.timeout = settings_.kubelet.timeout;
  options.pods = pods_ == PodSource::kubelet;
  if (!options.pods) options.sync_period = std::max<Duration>(options.sync_period, kConfigAlone);
  state::KubeletSource::Handlers handlers;
  handlers.on_answer = [this](const state::KubeletSource::Answer& answer) {
    parts_.durations.observe(answer.path, answer.status, answer.took);
  };
  handlers.on_places = [this](const state::PodPlaces& places) { watch_pods(places); };
  handlers.on_status = [this](const state::KubeletSource::Status&) { later(&Cluster::report_status); };
  handlers.on_moved = [this] {
    if (source_) source_->find_sandboxes_soon();
  };
  kubelet_ = std::make_unique<state::KubeletSource>(
      state::KubeletSource::Parts{parts_.loop, parts_.workers, parts_.clock, parts_.hub, parts_.layout,
                                  &parts_.annotations},
      options, std::move(handlers));
  subscription_ = parts_.hub.subscribe([this](std::uint32_t changed, const state::SnapshotPtr&) {
    if (changed & state::kNode) later(&Cluster::connect_kubelet);
  });
  connect_kubelet();
}

// The kubelet's address in the Node object may have changed since the last connection.
void Cluster::connect_kubelet() {
  if (!kubelet_) return;
  const auto place = kubelet_place(settings_.kubelet, parts_.hub.current()->node, std::getenv("HOST_IP"));
  if (!place || place == place_) return;
  place_ = place;
  kubelet_->end();
  kubelet_client_ =
      std::make_unique<kube::Client>(parts_.loop, parts_.workers, parts_.clock,
                                     kube::kubelet_config(api_server_, place->host, place->port,
                                                          settings_.kubelet.ca_file, settings_.kubelet.server_name),
                                     kube::ClientOptions());
  kubelet_->begin([this](kube::Call call, kube::Client::OnPiece on_piece, kube::Client::OnReply on_reply) {
    return on_piece ? kubelet_client_->download(std::move(call), std::move(on_piece), std::move(on_reply))
                    : kubelet_client_->send(std::move(call), std::move(on_reply));
  });
  report_status();
}

void Cluster::watch_pods(const state::PodPlaces& places) {
  if (watch_) watch_->watch(places.root);
  if (places == places_) return;
  if (places.others != places_.others && !places.others.empty())
    log::warn(state_log, "{}", state::describe_others(places));
  places_ = places;
  later(&Cluster::report_status);
}

void Cluster::request() {
  if (pods_ == PodSource::kubelet && kubelet_) return kubelet_->request();
  if (source_) source_->find_sandboxes_soon();
}

std::string Cluster::problem() const {
  std::lock_guard lock(mutex_);
  return problem_;
}

std::vector<state::ApiSource::Status> Cluster::collections() const {
  return source_ ? source_->status() : std::vector<state::ApiSource::Status>();
}

void Cluster::later(void (Cluster::*what)()) {
  parts_.loop.post([this, what, alive = std::weak_ptr<Alive>(alive_)] {
    if (alive.lock()) (this->*what)();
  });
}

void Cluster::report_status() {
  std::vector<Capability> capabilities;
  std::string problem;
  if (kubelet_) report_kubelet(capabilities, problem);
  if (source_) report_api_server(capabilities, problem);
  if (watch_)
    capabilities.push_back(
        {"pod_watch", watch_->degraded() ? CapabilityState::broken : CapabilityState::supported, watch_->detail(), ""});
  if (!places_.root.dir.empty()) {
    const std::string others = state::describe_others(places_);
    capabilities.push_back({"pod_cgroups", CapabilityState::supported, others.empty() ? places_.root.dir : others, ""});
  }
  log_change("pod_watch", watch_ && watch_->degraded() ? watch_->detail() : "");
  parts_.capabilities.set(std::move(capabilities));
  std::lock_guard lock(mutex_);
  problem_ = std::move(problem);
}

void Cluster::report_kubelet(std::vector<Capability>& capabilities, std::string& problem) {
  if (!place_) {
    const std::string trouble =
        "the address of the kubelet is not known yet: neither state.kubelet.address nor $HOST_IP is set, and the Node is not known";
    if (pods_ == PodSource::kubelet) problem = trouble;
    capabilities.push_back({"kubelet", CapabilityState::absent, trouble, ""});
    return;
  }
  const state::KubeletSource::Status status = kubelet_->status();
  std::string trouble = status.pods_problem.empty() ? status.config_problem : status.pods_problem;
  // With pods from the API server, the kubelet is only needed for the place of their cgroups. Without access to the
  // kubelet the agent guesses that place.
  if (pods_ == PodSource::apiserver && !trouble.empty())
    trouble +=
        "; its cgroupRoot, CPU manager and reserved CPUs are unknown, cgroups are found by their names, and no NodeResourceTopology is written";
  log_change("kubelet", trouble);
  if (!trouble.empty() && pods_ == PodSource::kubelet) problem = "kubelet " + trouble;
  capabilities.push_back({"kubelet", trouble.empty() ? CapabilityState::supported : CapabilityState::broken,
                          trouble.empty() ? place_->host + ":" + std::to_string(place_->port) : trouble, ""});
}

void Cluster::report_api_server(std::vector<Capability>& capabilities, std::string& problem) {
  bool any_current = false, any_behind = false;
  std::string first_trouble;
  for (const state::ApiSource::Status& status : source_->status()) {
    any_current |= status.health.state == CollectionState::current;
    any_behind |= is_behind(status);
    if (is_trouble(status) && first_trouble.empty()) first_trouble = status.kind + " " + detail_of(status);
    const std::string name = lower_case(status.kind);
    log_change(name, log_text(status));
    capabilities.push_back({name, state_of(status), detail_of(status), ""});
  }
  if (!first_trouble.empty()) problem += (problem.empty() ? "" : "; ") + ("API server: " + first_trouble);
  Capability server{"apiserver", any_behind ? CapabilityState::broken : CapabilityState::absent, first_trouble, ""};
  if (any_current && !any_behind) server = {"apiserver", CapabilityState::supported, place_of(api_server_), ""};
  if (server.detail.empty()) server.detail = "no answer yet";
  log_server(any_behind ? server.detail : "");
  capabilities.push_back(std::move(server));
}

// Logs one line when the first kind fails, and one line when all kinds work again. Between these lines, the failing
// kind may change often.
void Cluster::log_server(const std::string& problem) {
  if (problem.empty() || !logged_.has("apiserver")) log_change("apiserver", problem);
}

void Cluster::log_change(const std::string& name, const std::string& problem) {
  const auto change = logged_.update(name, problem);
  if (change == ProblemTracker::Change::over) log::info(state_log, "{} is well again", name);
  if (change == ProblemTracker::Change::begun) log::warn(state_log, "{}: {}, keeping what is known", name, problem);
}

void export_cluster(metric::HostMetrics& metrics, const Cluster& cluster) {
  metrics.on_collect([&metrics, &cluster] {
    for (const state::ApiSource::Status& status : cluster.collections()) {
      const auto count = [&](const char* name, const char* help, std::uint64_t total) {
        metric::HostCounter counter = metrics.counter(name, help, {{"kind", status.kind}});
        counter.add(static_cast<double>(total) - counter.value());
      };
      count("host_watch_failures_total", "Failed lists and watches of objects of the API server.",
            status.health.failures);
      count("host_lists_total", "Lists of objects requested from the API server.", status.health.lists);
      count("host_watches_total", "Watches of objects started at the API server.", status.health.watches);
    }
  });
}

}  // namespace koord::agentd
