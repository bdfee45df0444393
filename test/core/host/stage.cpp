// SPDX-License-Identifier: Apache-2.0
#include "stage.hpp"

#include <algorithm>
#include <future>
#include <set>
#include <stdexcept>

#include "core/host/in_process_runner.hpp"
#include "core/load/grants.hpp"
#include "core/load/manifest.hpp"
#include "test/support/eventually.hpp"

namespace koord::test {
namespace {

std::shared_ptr<const host::LoadedPlugin> load(const std::string& path) {
  load::Manifest manifest = *load::read_manifest(path);
  auto plugin = host::load_in_process(path, manifest, *load::stamp_of(path));
  if (!plugin) throw std::runtime_error(plugin.error().message());
  return *plugin;
}

cgroup::Layout layout_of(const FakeNode& node) { return *cgroup::Layout::detect(node.roots()); }

}  // namespace

Stage::Stage(const std::string& plugin, host::InstanceSettings settings)
    : shelf_{plugin},
      host_(std::make_unique<FakeHost>(node_)),
      puppet_(shelf_.file(plugin)),
      governor_(std::make_unique<knob::Governor>(host_->clock(), host_->services().cgroups.layout(),
                                                 host_->services().roots, originals_)) {
  std::shared_ptr<const host::LoadedPlugin> loaded = load(shelf_.file(plugin));
  std::vector<std::string> granted = load::granted_services(loaded->classes()[0].kind);
  auto make_context = [this, granted, plugin](const std::string& config_json) {
    return std::make_unique<service::PluginContext>(host_->services(), plugin,
                                                    std::set<std::string>(granted.begin(), granted.end()), config_json);
  };
  host::Instance::Parts parts{.plugin_id = plugin,
                              .plugin = loaded,
                              .class_index = 0,
                              .make_context = make_context,
                              .pool = pool_,
                              .clock = host_->clock(),
                              .plans = *governor_,
                              .on_change = [signal = signal_, next = on_change_](host::PluginState state) {
                                (*next)(state);
                                signal->notify();
                              }};
  instance_ = host::Instance::make(std::move(parts), std::move(settings));
}

Stage::~Stage() { stop(); }

bool Stage::await(const std::function<bool(const host::InstanceStatus&)>& condition) {
  return signal_->await([&] { return condition(instance_->status()); });
}

bool Stage::await(host::PluginState state) {
  return await([state](const host::InstanceStatus& status) { return status.state == state; });
}

bool Stage::run() {
  instance_->start();
  return await(host::PluginState::running);
}

bool Stage::stop() {
  instance_->stop();
  return signal_->await([&] { return instance_->ended(); });
}

bool Stage::tick() {
  std::uint64_t before = instance_->status().counts.calls;
  instance_->tick();
  // A tick does not notify.
  return eventually([&] { return !instance_->status().ticking; }) && instance_->status().counts.calls > before;
}

HostStage::HostStage(std::initializer_list<std::string_view> plugins, std::size_t workers, host::Loader load_in_child)
    : shelf_(plugins),
      host_(node_),
      governor_(host_.clock(), layout_of(knobs_), knobs_.roots(), originals_),
      pool_(workers) {
  (load_in_child ? settings_.directories : settings_.own_directories).assign(1, shelf_.path());
  settings_.defaults.config_json = "{}";
  settings_.defaults.max_series = 1000;
  manager_ = std::make_unique<host::PluginManager>(
      host::PluginManager::Parts{.loop = loop_,
                                 .pool = pool_,
                                 .services = host_.services(),
                                 .metrics = metrics_,
                                 .plans = governor_,
                                 .evictions = &evictions_,
                                 .load_in_child = std::move(load_in_child),
                                 .restart_delay = std::chrono::milliseconds(1),
                                 .budget_period = std::chrono::milliseconds(20),
                                 .on_change = [this](const host::PluginStatus&) { signal_.notify(); }});
  host_.services().knob_base = [this](std::string_view knob, std::string_view cgroup_dir) {
    return governor_.base(knob, cgroup_dir);
  };
  thread_ = std::thread([this] { loop_.run(); });
}

HostStage::~HostStage() {
  in_loop([this] { manager_.reset(); });
  loop_.stop();
  thread_.join();
}

void HostStage::in_loop(const std::function<void()>& task) {
  std::promise<void> done;
  loop_.post([&] {
    task();
    done.set_value();
  });
  done.get_future().wait();
}

void HostStage::apply(std::string_view gates) {
  in_loop([&] {
    config::FeatureGates all;
    manager_->discover(settings_, all);
    if (auto applied = all.apply(gates, "the test"); !applied) throw std::runtime_error(applied.error().message());
    manager_->apply(settings_, all, *load::read_trusted_keys(settings_.trusted_keys));
  });
}

Result<void> HostStage::replace(const std::string& id, std::string_view gates) {
  auto done = std::make_shared<std::promise<Result<void>>>();
  in_loop([&] {
    config::FeatureGates all;
    manager_->rediscover(settings_, all);
    if (auto applied = all.apply(gates, "the test"); !applied) throw std::runtime_error(applied.error().message());
    manager_->replace(id, settings_, all, *load::read_trusted_keys(settings_.trusted_keys),
                      [done](const Result<void>& replaced) { done->set_value(replaced); });
  });
  return done->get_future().get();
}

host::PluginStatus HostStage::status(std::string_view id) {
  std::vector<host::PluginStatus> all = manager_->status();
  auto found = std::find_if(all.begin(), all.end(), [&](const host::PluginStatus& p) { return p.id == id; });
  return found == all.end() ? host::PluginStatus{} : *found;
}

bool HostStage::await(std::string_view id, host::PluginState state) {
  return signal_.await([&] { return status(id).state == state; });
}

bool HostStage::stop(Duration grace) {
  bool clean = false;
  in_loop([&] { clean = manager_->stop(grace); });
  return clean;
}

}  // namespace koord::test
