// SPDX-License-Identifier: Apache-2.0
#include "test/support/fake_host.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/host/services.hpp"

namespace koord::test {
namespace {

constexpr Duration kDeadline = std::chrono::seconds(1);

std::unique_ptr<store::Store> open_in_memory(const Clock& clock) {
  Result<std::unique_ptr<store::Store>> opened = store::Store::open({}, clock);
  if (!opened) throw std::runtime_error(opened.error().message());
  return *std::move(opened);
}

cgroup::Layout layout_of(const NodeRoots& roots) {
  return cgroup::Layout::detect(roots).value_or(cgroup::Layout());
}

std::set<std::string> everything() {
  std::set<std::string> ids;
  for (const host::OfferedService& service : host::offered_services()) ids.emplace(service.id);
  return ids;
}

bool has_all(const metric::Labels& labels, const metric::Labels& wanted) {
  for (const auto& label : wanted) {
    if (std::find(labels.begin(), labels.end(), label) == labels.end()) return false;
  }
  return true;
}

const koord_module* load(const std::string& shared_object) {
  void* library = ::dlopen(shared_object.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) throw std::runtime_error(::dlerror());
  void* entry = ::dlsym(library, "koord_entry_v1");
  if (!entry) throw std::runtime_error(shared_object + " has no koord_entry_v1");
  return reinterpret_cast<const koord_module* (*)()>(entry)();
}

const koord_class* class_of(const koord_module* module, std::uint32_t index) {
  if (module->magic != KOORD_MAGIC || index >= module->n_classes)
    throw std::out_of_range("no such class of a plugin");
  const auto* first = reinterpret_cast<const char*>(module->classes);
  return reinterpret_cast<const koord_class*>(first + std::size_t{index} * module->class_stride);
}

}  // namespace

FakeHost::FakeHost(const FakeNode& node, std::string config_json)
    : store_(open_in_memory(clock_)),
      feed_(*store_),
      metrics_("fake-node", &feed_),
      cgroups_(layout_of(node.roots())),
      services_{clock_, node.roots(), metrics_, feed_, hub_, cgroups_, capabilities_, {}, {}},
      context_(make_context("test", everything(), std::move(config_json))) {
  hub_.on_subject_end([this](std::uint64_t handle) { metrics_.end_subject(handle); });
}

FakeHost::~FakeHost() = default;

std::unique_ptr<host::PluginContext> FakeHost::make_context(std::string plugin_id,
                                                            std::set<std::string> granted,
                                                            std::string config_json) {
  return std::make_unique<host::PluginContext>(services_, std::move(plugin_id), std::move(granted),
                                               std::move(config_json));
}

std::string FakeHost::last_error() {
  std::optional<host::ReportedError> error = context_->take_error();
  return error ? error->text : "";
}

std::vector<FakeHost::Series> FakeHost::series(std::string_view metric) const {
  std::vector<Series> found;
  metrics_.for_each_series([&](const metric::SeriesView& view) {
    if (view.desc.name != metric || std::isnan(view.value)) return;
    metric::Labels labels = view.subject_labels;
    labels.insert(labels.end(), view.own_labels.begin(), view.own_labels.end());
    found.push_back({std::move(labels), view.value});
  });
  return found;
}

std::optional<double> FakeHost::value(std::string_view metric, const metric::Labels& labels) const {
  std::optional<double> value;
  for (const Series& one : series(metric)) {
    if (!has_all(one.labels, labels)) continue;
    if (value) return std::nullopt;
    value = one.value;
  }
  return value;
}

FakeInstance::FakeInstance(FakeHost& host, const koord_module* module, std::uint32_t class_index)
    : host_(host), class_(class_of(module, class_index)) {
  koord_status created = class_->vtable->create(host.abi(), class_, &self_);
  if (created != KOORD_OK) throw std::runtime_error("create() failed: " + host.last_error());
}

FakeInstance::FakeInstance(FakeHost& host, const std::string& shared_object, std::uint32_t class_index)
    : FakeInstance(host, load(shared_object), class_index) {}

FakeInstance::~FakeInstance() {
  class_->vtable->destroy(self_);
}

template <class Call>
koord_status FakeInstance::call(Call&& call) {
  host_.last_error();
  koord_status status = call();
  why_ = host_.last_error();
  return status;
}

koord_status FakeInstance::init() {
  return call([&] { return class_->vtable->init(self_); });
}

koord_status FakeInstance::collect() {
  const auto* advisor = reinterpret_cast<const koord_advisor*>(class_->vtable);
  const Time now = host_.clock().now();
  return call([&] { return advisor->collect(self_, to_ns(now), to_ns(now + kDeadline)); });
}

koord_status FakeInstance::evaluate() {
  const auto* strategy = reinterpret_cast<const koord_qos_strategy*>(class_->vtable);
  const Time now = host_.clock().now();
  host_.context().take_plan();
  return call([&] { return strategy->evaluate(self_, to_ns(now), to_ns(now + kDeadline)); });
}

koord_status FakeInstance::on_event(std::uint32_t what, std::uint64_t version) {
  const koord_lifecycle* life = class_->vtable;
  return life->on_event ? call([&] { return life->on_event(self_, what, version); }) : KOORD_OK;
}

koord_status FakeInstance::stop() {
  const koord_lifecycle* life = class_->vtable;
  return life->stop ? call([&] { return life->stop(self_); }) : KOORD_OK;
}

}  // namespace koord::test
