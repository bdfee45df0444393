// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/check/called_instance.hpp"

#include <exception>
#include <vector>

#include "core/load/kind_table.hpp"
#include "core/service/services.hpp"
#include "core/service/status.hpp"
#include "core/workshop/check/trial.hpp"

namespace koord::check {
namespace {

constexpr Duration kDeadline = std::chrono::seconds(1);
constexpr Duration kRunEndsWithin = std::chrono::seconds(5);

template <class Table>
const Table& table_of(const koord_class& cls) {
  return reinterpret_cast<const Table&>(*cls.vtable);
}

Duration period_of(const load::ClassInfo& info) {
  return info.period > Duration::zero() ? info.period : std::chrono::seconds(1);
}

// Accept the fields of a hook's response and ignore them.
koord_status take_field(const koord_hook_response*, koord_str, koord_str) { return KOORD_OK; }
koord_status take_factor(const koord_hook_response*, koord_str, double) { return KOORD_OK; }
koord_status take_rejection(const koord_hook_response*, koord_str) { return KOORD_OK; }

}  // namespace

CalledInstance::CalledInstance(PluginTrial& trial, const load::Module& module, std::size_t class_index,
                               WatchedHost& host)
    : trial_(trial), class_(*module.class_at(class_index)), info_(module.classes()[class_index]), host_(host) {}

CalledInstance::~CalledInstance() {
  if (run_thread_.joinable()) stop();
  if (self_) destroy();
}

template <class F>
koord_status CalledInstance::call(std::string_view name, F&& function) {
  const std::string label(name);
  koord_status status = KOORD_E_PANIC;
  host_.real().take_error();
  note_call(label + " of class '" + info_.name + "'");
  try {
    const WatchedHost::Call here(host_, name);
    status = function();
  } catch (const std::exception& thrown) {
    trial_.seen().thrown.add(label + " threw: " + thrown.what());
  } catch (...) {
    trial_.seen().thrown.add(label + " threw something that is not a std::exception");
  }
  note_call("");
  if (status > 0 || status < KOORD_E_IO)
    trial_.seen().not_a_status.add(label + " returned " + std::to_string(status) + ", which is no status");
  if (status != KOORD_OK) {
    const auto error = host_.real().take_error();
    last_failure_ =
        label + ": " + service::name_of_status(status) + (error && !error->text.empty() ? ": " + error->text : "");
  }
  return status;
}

koord_status CalledInstance::create() {
  return call("create()", [&] { return class_.vtable->create(host_.abi(), &class_, &self_); });
}

koord_status CalledInstance::init() {
  return call("init()", [&] { return class_.vtable->init(self_); });
}

koord_status CalledInstance::tick() {
  trial_.clock().advance(period_of(info_));
  return tick_at(to_ns(trial_.clock().now()));
}

koord_status CalledInstance::tick_at(std::uint64_t now_ns) {
  if (info_.kind == "koord.qos-strategy/1") return evaluate(now_ns);
  if (info_.kind == "koord.external-advisor/1") return scrape();
  if (info_.kind == "koord.runtime-hook/1") return handle_all();
  if (!info_.ticks) return KOORD_OK;
  const auto& advisor = table_of<koord_advisor>(class_);
  return call("collect()",
              [&] { return advisor.collect(self_, now_ns, now_ns + static_cast<std::uint64_t>(kDeadline.count())); });
}

koord_status CalledInstance::evaluate(std::uint64_t now_ns) {
  const auto& strategy = table_of<koord_qos_strategy>(class_);
  host_.real().take_plan();
  const koord_status status = call("evaluate()", [&] {
    return strategy.evaluate(self_, now_ns, now_ns + static_cast<std::uint64_t>(kDeadline.count()));
  });
  if (!load::has(&strategy, &koord_qos_strategy::on_applied)) return status;
  std::vector<koord_intent_result> results;
  const auto plan = host_.real().take_plan();
  for (const auto& intent : plan)
    results.push_back({sizeof(koord_intent_result),
                       KOORD_OK,
                       {intent.knob->name.data(), intent.knob->name.size()},
                       {intent.cgroup_dir.data(), intent.cgroup_dir.size()},
                       {intent.value.data(), intent.value.size()},
                       {"test", 4}});
  LentMemory& memory = renew_lent_memory();
  const auto n = static_cast<std::uint32_t>(results.size());
  const koord_intent_result* lent = memory.lend(results.data(), n);
  memory.seal();
  const koord_status applied =
      call("on_applied()", [&] { return strategy.on_applied(self_, lent, n, memory.stride<koord_intent_result>()); });
  memory.take_back();
  return status != KOORD_OK ? status : applied;
}

koord_status CalledInstance::ask_targets() {
  const auto& advisor = table_of<koord_external_advisor>(class_);
  if (load::has(&advisor, &koord_external_advisor::targets)) {
    scrape::TargetList list(host_.abi());
    return call("targets()", [&] { return advisor.targets(self_, list.table()); });
  }
  char url[4096];
  std::uint64_t need = 0;
  return call("url()", [&] { return advisor.url(self_, url, sizeof url, &need); });
}

koord_status CalledInstance::scrape() {
  const auto& advisor = table_of<koord_external_advisor>(class_);
  if (const koord_status status = ask_targets(); status != KOORD_OK) return status;
  LentMemory& memory = renew_lent_memory();
  const koord_label label = {{"cpu", 3}, {"0", 1}};
  const koord_label* labels = memory.lend(&label, 1);
  const koord_str name = memory.lend("node_cpu_seconds_total");
  memory.seal();
  double value = 1;
  // The plugin may drop a series or a sample with any status.
  if (load::has(&advisor, &koord_external_advisor::map_series)) {
    scrape::SeriesMap map(host_.abi());
    call("map_series()",
         [&] { return advisor.map_series(self_, name, labels, 1, sizeof label, map.table()), KOORD_OK; });
  }
  if (load::has(&advisor, &koord_external_advisor::map_sample))
    call("map_sample()", [&] { return advisor.map_sample(self_, name, labels, 1, sizeof label, &value), KOORD_OK; });
  memory.take_back();
  return KOORD_OK;
}

koord_status CalledInstance::handle_all() {
  const auto& hook = table_of<koord_runtime_hook>(class_);
  const koord_host* host = host_.real().host();
  const koord_snapshot* snapshot = nullptr;
  if (service::state_service.acquire(host, &snapshot) != KOORD_OK) return KOORD_E_AGAIN;
  std::uint32_t n = 0, stride = 0;
  const koord_pod* pods = service::state_service.pods(snapshot, &n, &stride);
  koord_status worst = KOORD_OK;
  for (std::uint32_t stage = 1; stage <= KOORD_STAGE_POST_STOP_CONTAINER; stage <<= 1) {
    if (!(hook.stages & stage) || n == 0) continue;
    LentMemory& memory = renew_lent_memory();
    const koord_pod* pod = memory.lend(pods, 1, stride);
    const bool of_pod = stage <= KOORD_STAGE_PRE_REMOVE_RUN_POD_SANDBOX;
    const koord_hook_request request = {sizeof request,
                                        stage,
                                        to_ns(trial_.clock().now() + kDeadline),
                                        pod,
                                        of_pod ? nullptr : pod->containers,
                                        memory.lend("{}"),
                                        memory.lend("{}")};
    const koord_hook_response response = {sizeof response, 0, nullptr, take_field, take_rejection, take_factor};
    memory.seal();
    const koord_status status = call("handle()", [&] { return hook.handle(self_, &request, &response); });
    memory.take_back();
    if (status != KOORD_OK) worst = status;
  }
  service::state_service.release(host, snapshot);
  return worst;
}

LentMemory& CalledInstance::renew_lent_memory() {
  lent_ = std::make_unique<LentMemory>(trial_.faults().lending);
  return *lent_;
}

koord_status CalledInstance::on_event(std::uint32_t what) {
  if (!info_.takes_events) return KOORD_OK;
  return call("on_event()", [&] { return class_.vtable->on_event(self_, what, 1); });
}

void CalledInstance::start_run() {
  if (!info_.runs || run_thread_.joinable()) return;
  running_ = true;
  run_thread_ = std::thread([this] {
    const WatchedHost::Call here(host_, "run()");
    try {
      class_.vtable->run(self_, signal_.table());
    } catch (...) {
      trial_.seen().thrown.add("run() threw");
    }
    std::lock_guard lock(mutex_);
    running_ = false;
    changed_.notify_all();
  });
}

bool CalledInstance::stop() {
  if (class_.vtable->stop) call("stop()", [&] { return class_.vtable->stop(self_); });
  if (!run_thread_.joinable()) return true;
  signal_.fire();
  note_call("run() of class '" + info_.name + "' after the stop signal");
  std::unique_lock lock(mutex_);
  const bool ended = changed_.wait_for(lock, kRunEndsWithin, [this] { return !running_; });
  lock.unlock();
  ended ? run_thread_.join() : run_thread_.detach();
  note_call("");
  return ended;
}

void CalledInstance::destroy(bool end_host) {
  call("destroy()", [&] { return class_.vtable->destroy(self_), KOORD_OK; });
  self_ = nullptr;
  if (end_host) host_.end();
}

}  // namespace koord::check
