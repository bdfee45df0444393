// SPDX-License-Identifier: Apache-2.0
#include "core/host/in_process_runner.hpp"

#include <mutex>
#include <shared_mutex>
#include <utility>

#include "core/host/call_guard.hpp"
#include "core/host/stop_signal.hpp"
#include "core/load/kind_table.hpp"
#include "core/load/module.hpp"
#include "core/service/arguments.hpp"
#include "core/service/plugin_context.hpp"

namespace koord::host {
namespace {

constexpr std::size_t kMaxUrl = 4096;
constexpr std::size_t kMaxName = 1024;  // limit of a metric's name

service::CallResult too_long(const char* call, std::uint64_t bytes, std::size_t most) {
  return {.status = KOORD_E_INVALID,
          .text = std::string(call) + "() of " + std::to_string(bytes) + " bytes, expected at most " +
                  std::to_string(most)};
}

// Returns whether the status ends the scrape. With any other status than KOORD_OK, the plugin leaves out only this
// item.
bool ends_the_scrape(koord_status status) {
  return status == KOORD_E_PANIC || status == KOORD_E_NOMEM || status == KOORD_E_TOO_SMALL;
}

service::CallResult not_of_this_kind(const char* call) {
  return {.status = KOORD_E_UNSUPPORTED, .text = std::string(call) + "() is not of this kind of plugin"};
}

class InProcessRunner final : public Runner {
 public:
  InProcessRunner(const koord_class& cls, const load::ClassInfo& info, service::PluginSide& context)
      : class_(cls), info_(info), context_(context) {}

  service::CallResult create() override {
    return call("create", [&] { return life().create(context_.host(), &class_, &self_); });
  }

  service::CallResult init() override {
    service::CallResult result = call("init", [&] { return life().init(self_); });
    std::lock_guard lock(hooks_);
    takes_hooks_ = result.ok();
    return result;
  }

  service::CallResult stop() override {
    if (life().stop == nullptr) return {};
    return call("stop", [&] { return life().stop(self_); });
  }

  service::CallResult destroy() override {
    std::lock_guard lock(hooks_);
    takes_hooks_ = false;
    return call("destroy", [&] { return life().destroy(self_), KOORD_OK; });
  }

  service::CallResult run(const StopSignal& stop) override {
    if (life().run == nullptr) return {};
    return call("run", [&] { return life().run(self_, stop.table()); });
  }

  service::CallResult on_event(std::uint32_t what, std::uint64_t version) override {
    if (life().on_event == nullptr) return {};
    return call("on_event", [&] { return life().on_event(self_, what, version); });
  }

  service::CallResult collect(Time now, Time deadline) override {
    const auto* table = as<koord_advisor>("koord.advisor/1");
    if (!load::has(table, &koord_advisor::collect)) return not_of_this_kind("collect");
    return call("collect", [&] { return table->collect(self_, to_ns(now), to_ns(deadline)); });
  }

  service::CallResult evaluate(Time now, Time deadline) override {
    const auto* table = as<koord_qos_strategy>("koord.qos-strategy/1");
    if (!load::has(table, &koord_qos_strategy::evaluate)) return not_of_this_kind("evaluate");
    return call("evaluate", [&] { return table->evaluate(self_, to_ns(now), to_ns(deadline)); });
  }

  service::CallResult on_applied(std::span<const koord_intent_result> results) override {
    const auto* table = as<koord_qos_strategy>("koord.qos-strategy/1");
    if (!load::has(table, &koord_qos_strategy::on_applied)) return {};
    return call("on_applied", [&] {
      return table->on_applied(self_, results.data(), static_cast<std::uint32_t>(results.size()),
                               sizeof(koord_intent_result));
    });
  }

  service::CallResult url(std::string& url) override {
    const auto* table = as<koord_external_advisor>("koord.external-advisor/1");
    if (!load::has(table, &koord_external_advisor::url)) return not_of_this_kind("url");
    std::string text(kMaxUrl, '\0');
    std::uint64_t need = 0;
    service::CallResult result = call("url", [&] { return table->url(self_, text.data(), text.size(), &need); });
    if (result.ok() && need <= text.size()) url = text.substr(0, need);
    return result.ok() && need > text.size() ? too_long("url", need, kMaxUrl) : result;
  }

  service::CallResult targets(std::vector<scrape::ScrapeTarget>& targets) override {
    const auto* table = as<koord_external_advisor>("koord.external-advisor/1");
    if (!load::has(table, &koord_external_advisor::targets)) return not_of_this_kind("targets");
    scrape::TargetList list(context_.host());
    service::CallResult result = call("targets", [&] { return table->targets(self_, list.table()); });
    if (result.ok()) targets = list.take();
    return result;
  }

  service::CallResult map_metrics(std::string_view target, std::span<scrape::ScrapedMetric> metrics) override {
    const auto* table = as<koord_external_advisor>("koord.external-advisor/1");
    if (!load::has(table, &koord_external_advisor::map_metric)) return {};
    if (service::CallResult named = set_target(*table, target); !named.ok()) return named;
    std::string text(kMaxName, '\0');
    std::uint64_t need = 0;
    service::CallResult result = call("map_metric", [&]() -> koord_status {
      for (scrape::ScrapedMetric& metric : metrics) {
        koord_status status = table->map_metric(self_, service::to_abi(metric.name), text.data(), text.size(), &need);
        if (ends_the_scrape(status) || (status == KOORD_OK && need > text.size())) return status;
        metric.status = status;
        if (!metric.dropped()) metric.mapped = text.substr(0, need);
      }
      return KOORD_OK;
    });
    if (result.status == KOORD_E_TOO_SMALL || (result.ok() && need > text.size()))
      return too_long("map_metric", need, kMaxName);
    return result;
  }

  service::CallResult map_series(std::string_view target, std::span<scrape::ScrapedSeries> series) override {
    const auto* table = as<koord_external_advisor>("koord.external-advisor/1");
    if (!load::has(table, &koord_external_advisor::map_series)) return {};
    if (service::CallResult named = set_target(*table, target); !named.ok()) return named;
    scrape::SeriesMap map(context_.host());
    return call("map_series", [&]() -> koord_status {
      for (scrape::ScrapedSeries& one : series) {
        koord_status status =
            table->map_series(self_, service::to_abi(one.metric), one.labels.data(),
                              static_cast<std::uint32_t>(one.labels.size()), sizeof(koord_label), map.table());
        if (ends_the_scrape(status)) return status;
        one.status = status;
        one.change = map.take();
      }
      return KOORD_OK;
    });
  }

  service::CallResult map_samples(std::string_view target, std::span<scrape::ScrapedSample> samples) override {
    const auto* table = as<koord_external_advisor>("koord.external-advisor/1");
    if (!load::has(table, &koord_external_advisor::map_sample)) return {};
    if (service::CallResult named = set_target(*table, target); !named.ok()) return named;
    return call("map_sample", [&]() -> koord_status {
      for (scrape::ScrapedSample& sample : samples) {
        koord_status status =
            table->map_sample(self_, service::to_abi(sample.name), sample.labels.data(),
                              static_cast<std::uint32_t>(sample.labels.size()), sizeof(koord_label), &sample.value);
        if (ends_the_scrape(status)) return status;
        sample.status = status;
      }
      return KOORD_OK;
    });
  }

  service::CallResult handle(const koord_hook_request& request, const koord_hook_response& response) override {
    const auto* table = as<koord_runtime_hook>("koord.runtime-hook/1");
    if (!load::has(table, &koord_runtime_hook::handle)) return not_of_this_kind("handle");
    std::shared_lock lock(hooks_);
    if (!takes_hooks_) return {.status = KOORD_E_AGAIN, .text = "the instance does not run"};
    std::unique_lock<std::mutex> serial(serial_, std::defer_lock);
    if ((class_.flags & KOORD_SERIAL) != 0) serial.lock();
    return call("handle", [&] { return table->handle(self_, &request, &response); });
  }

 private:
  const koord_lifecycle& life() const { return *class_.vtable; }

  template <class Table>
  const Table* as(std::string_view kind) const {
    return info_.kind == kind ? reinterpret_cast<const Table*>(class_.vtable) : nullptr;
  }

  service::CallResult set_target(const koord_external_advisor& table, std::string_view target) {
    if (target.empty() || !load::has(&table, &koord_external_advisor::on_target)) return {};
    return call("on_target", [&] { return table.on_target(self_, service::to_abi(target)); });
  }

  template <class F>
  service::CallResult call(const char* name, F&& f) {
    return guarded(context_, name, std::forward<F>(f));
  }

  const koord_class& class_;
  const load::ClassInfo& info_;
  service::PluginSide& context_;
  void* self_ = nullptr;

  // Shared by handle() calls in flight, so that destroy() waits for them.
  std::shared_mutex hooks_;
  bool takes_hooks_ = false;
  std::mutex serial_;
};

class InProcessPlugin final : public LoadedPlugin {
 public:
  explicit InProcessPlugin(std::shared_ptr<const load::Module> module) : module_(std::move(module)) {}

  const std::vector<load::ClassInfo>& classes() const override { return module_->classes(); }
  std::unique_ptr<Runner> make_runner(std::size_t class_index, service::PluginContext& context,
                                      const RunnerLimits& /*limits*/) const override {
    return make_in_process_runner(*module_->class_at(class_index), classes()[class_index], context);
  }

 private:
  const std::shared_ptr<const load::Module> module_;
};

}  // namespace

std::unique_ptr<Runner> make_in_process_runner(const koord_class& cls, const load::ClassInfo& info,
                                               service::PluginSide& context) {
  return std::make_unique<InProcessRunner>(cls, info, context);
}

Result<std::shared_ptr<const LoadedPlugin>> load_in_process(const std::string& path, const load::Manifest& manifest,
                                                            const FileVersion& checked,
                                                            const RunnerLimits& /*limits*/) {
  return std::shared_ptr<const LoadedPlugin>(
      std::make_shared<InProcessPlugin>(TRY(load::Module::load(path, manifest, checked))));
}

}  // namespace koord::host
