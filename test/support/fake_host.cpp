// SPDX-License-Identifier: Apache-2.0
#include "test/support/fake_host.hpp"

#include <dlfcn.h>

#include <stdexcept>

#include "core/host/hook_call.hpp"
#include "core/load/kind_table.hpp"
#include "core/service/event_log.hpp"
#include "core/service/intent_results.hpp"

namespace koord::test {
namespace {

constexpr Duration kDeadline = std::chrono::seconds(1);

const koord_module* load(const std::string& shared_object) {
  void* library = ::dlopen(shared_object.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) throw std::runtime_error(::dlerror());
  void* entry = ::dlsym(library, "koord_entry_v1");
  if (!entry) throw std::runtime_error(shared_object + " has no koord_entry_v1");
  return reinterpret_cast<const koord_module* (*)()>(entry)();
}

const koord_class* class_of(const koord_module* module, std::uint32_t index) {
  if (module->magic != KOORD_MAGIC || index >= module->n_classes) throw std::out_of_range("no such class of a plugin");
  const auto* first = reinterpret_cast<const char*>(module->classes);
  return reinterpret_cast<const koord_class*>(first + std::size_t{index} * module->class_stride);
}

}  // namespace

FakeHost::FakeHost(const NodeRoots& roots, std::string config_json)
    : MemoryHost(roots, clock_, "fake-node"),
      context_(make_context("test", workshop::all_services(), std::move(config_json))) {}

FakeHost::~FakeHost() = default;

std::string FakeHost::last_error() {
  std::optional<service::ReportedError> error = context_->take_error();
  return error ? error->text : "";
}

std::vector<FakeHost::Report> FakeHost::events() const {
  std::vector<Report> reports;
  for (const service::Event& event : context_->shared().events.events())
    reports.push_back({event.subject, event.what, event.why});
  return reports;
}

FakeInstance::FakeInstance(FakeHost& host, service::PluginContext& context, const koord_module* module,
                           std::uint32_t class_index)
    : host_(host), context_(context), class_(class_of(module, class_index)) {
  koord_status created = class_->vtable->create(context.host(), class_, &self_);
  if (created != KOORD_OK) throw std::runtime_error("create() failed: " + last_error());
}

FakeInstance::FakeInstance(FakeHost& host, const koord_module* module, std::uint32_t class_index)
    : FakeInstance(host, host.context(), module, class_index) {}

FakeInstance::FakeInstance(FakeHost& host, service::PluginContext& context, const std::string& shared_object)
    : FakeInstance(host, context, load(shared_object), 0) {}

FakeInstance::FakeInstance(FakeHost& host, const std::string& shared_object, std::uint32_t class_index)
    : FakeInstance(host, load(shared_object), class_index) {}

FakeInstance::~FakeInstance() { class_->vtable->destroy(self_); }

std::string FakeInstance::last_error() {
  std::optional<service::ReportedError> error = context_.take_error();
  return error ? error->text : "";
}

template <class Call>
koord_status FakeInstance::call(Call&& call) {
  last_error();
  koord_status status = call();
  why_ = last_error();
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
  context_.drop_plan();
  return call([&] { return strategy->evaluate(self_, to_ns(now), to_ns(now + kDeadline)); });
}

koord_status FakeInstance::on_applied(const std::vector<knob::IntentResult>& results) {
  const auto* strategy = reinterpret_cast<const koord_qos_strategy*>(class_->vtable);
  if (!load::has(strategy, &koord_qos_strategy::on_applied)) return KOORD_OK;
  const std::vector<koord_intent_result> records = service::records_of(results);
  return call([&] {
    return strategy->on_applied(self_, records.data(), static_cast<std::uint32_t>(records.size()),
                                sizeof(koord_intent_result));
  });
}

host::HookSettings FakeInstance::handle(const state::Pod& pod, const state::Container* container,
                                        const std::string& node_slo, const std::string& cri_json) {
  const auto* hook = reinterpret_cast<const koord_runtime_hook*>(class_->vtable);
  host::HookRequest request{
      .stage = container == nullptr ? KOORD_STAGE_PRE_RUN_POD_SANDBOX : KOORD_STAGE_PRE_CREATE_CONTAINER,
      .pod = pod,
      .node_slo = node_slo};
  if (container != nullptr) request.container = *container;
  if (node_slo.empty()) request.node_slo = host_.hub().current()->node_slo;
  request.cri_json = cri_json;
  const host::HookSubject subject(std::move(request));
  host::HookResponse response(context_.host());
  const koord_hook_request record = subject.record(host_.clock().now() + kDeadline);
  const koord_status status = call([&] { return hook->handle(self_, &record, &response.table()); });
  if (status != KOORD_OK) throw std::runtime_error("handle() failed: " + why_);
  return response.close();
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
