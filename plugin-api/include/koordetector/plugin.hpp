// SPDX-License-Identifier: Apache-2.0
// The C++ binding of the plugin ABI: header-only, C++17, nothing to link. An author derives from Advisor,
// ExternalAdvisor, QosStrategy or RuntimeHook, overrides functions as needed, and names the class in KOORD_PLUGIN.
// Every call from the host goes through a thunk that turns an exception into a status and a text. Functions that the
// plugin calls are in services.hpp. The contract (threads, lifetimes, units) is in plugin.h and is not repeated here.
#pragma once

#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "koordetector/cache.hpp"
#include "koordetector/services.hpp"
#include "koordetector/strategies.hpp"

namespace koord::plugin {

// The stop signal of an instance's own thread. [own thread]
class Stop {
 public:
  explicit Stop(const koord_stop* stop) : stop_(stop) {}
  int fd() const { return stop_->fd; }
  bool wait(std::chrono::nanoseconds timeout) const {
    return stop_->wait(stop_, static_cast<std::uint64_t>(std::max<std::int64_t>(timeout.count(), 0))) != 0;
  }

 private:
  const koord_stop* stop_;
};

// Functions of all four kinds. Constructors must not use the host; init() may.
class Plugin {
 public:
  Plugin() = default;
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;
  virtual ~Plugin() = default;

  virtual void init() {}
  virtual void run(const Stop&) {}
  virtual void on_event(std::uint32_t /*changed*/, std::uint64_t /*version*/) {}
  virtual void stop() {}

  void attach(const koord_host* host) { host_ = host; }
  const koord_host* host() const { return host_; }

 protected:
  Metric define(const MetricSpec& spec) const { return Metric(host_, spec); }
  void log(std::int32_t level, std::string_view message) const { host_->log(host_, level, str(message)); }

 private:
  const koord_host* host_ = nullptr;
};

class Advisor : public Plugin {
 public:
  virtual void collect(std::uint64_t /*now_ns*/, std::uint64_t /*deadline_ns*/) {}
};

// One of several endpoints. For an empty or zero member, the host's default applies.
struct ScrapeTarget {
  std::string name, url;
  std::string ca_file = {}, certificate_file = {}, key_file = {}, server_name = {}, token_file = {};
  std::chrono::nanoseconds period{}, timeout{};
  std::uint64_t max_body_bytes = 0, max_samples = 0, max_series = 0;
};

// Adds endpoints; valid during the call.
class ScrapeTargets {
 public:
  explicit ScrapeTargets(const koord_scrape_targets* targets) : targets_(targets) {}
  void add(const ScrapeTarget& t) const {
    const koord_scrape_target target = {sizeof target,
                                        0,
                                        str(t.name),
                                        str(t.url),
                                        str(t.ca_file),
                                        str(t.certificate_file),
                                        str(t.key_file),
                                        str(t.server_name),
                                        str(t.token_file),
                                        detail::nanoseconds(t.period, "a target's period"),
                                        detail::nanoseconds(t.timeout, "a target's timeout"),
                                        t.max_body_bytes,
                                        t.max_samples,
                                        t.max_series};
    check(targets_->add(targets_, &target), "adding the target '" + t.name + "'");
  }

 private:
  const koord_scrape_targets* targets_;
};

// The destination of a scraped series; valid during the call.
class SeriesMap {
 public:
  explicit SeriesMap(const koord_series_map* map) : map_(map) {}
  void subject(std::uint64_t handle) const { check(map_->subject(map_, handle), "setting the subject of a series"); }
  void label(std::string_view name, std::string_view value) const {
    check(map_->label(map_, str(name), str(value)), "setting a label of a series");
  }

 private:
  const koord_series_map* map_;
};

enum class SeriesFate { kept, not_now, dropped };

// Override either url() or targets().
class ExternalAdvisor : public Plugin {
 public:
  virtual std::string url() { throw Failure(KOORD_E_UNSUPPORTED, "there is no url()"); }
  virtual void targets(const ScrapeTargets& /*targets*/) {}
  virtual void on_target(std::string_view /*name*/) {}
  // Returns the name of the metric on this node; nullopt leaves the metric out.
  virtual std::optional<std::string> map_metric(std::string_view name) { return std::string(name); }
  // Maps a sample; false drops it.
  virtual bool map_sample(std::string_view /*name*/, Strided<koord_label> /*labels*/, double& /*value*/) {
    return true;
  }
  virtual SeriesFate map_series(std::string_view /*metric*/, Strided<koord_label> /*labels*/,
                                const SeriesMap& /*map*/) {
    return SeriesFate::kept;
  }
};

class QosStrategy : public Plugin {
 public:
  virtual void evaluate(std::uint64_t now_ns, std::uint64_t deadline_ns) = 0;
  virtual void on_applied(Strided<koord_intent_result> /*results*/) {}
};

class RuntimeHook : public Plugin {
 public:
  virtual void handle(const koord_hook_request& request, const koord_hook_response& response) = 0;
};

// Writes an answer to the host's buffer, by the rule of the ABI.
inline void answer(std::string_view text, char* buf, std::uint64_t cap, std::uint64_t* need) {
  *need = text.size();
  if (text.size() > cap) throw Refused(KOORD_E_TOO_SMALL, "the buffer is too small");
  text.copy(buf, text.size());
}

// ---- thunks: plain functions for the host's table; each calls one member function inside a guard ----

template <class T>
struct Thunks {
  static koord_status create(const koord_host* host, const koord_class*, void** self) noexcept {
    return guard(host, [&] {
      T* plugin = new T();
      plugin->attach(host);
      *self = plugin;
    });
  }
  static void destroy(void* self) noexcept {
    guard(static_cast<T*>(self)->host(), [self] { delete static_cast<T*>(self); });
  }
  template <class Call>
  static koord_status call(void* self, Call&& body) noexcept {
    T* plugin = static_cast<T*>(self);
    return guard(plugin->host(), [&] { body(*plugin); });
  }
  static koord_status init(void* self) noexcept {
    return call(self, [](T& p) { p.init(); });
  }
  static koord_status run(void* self, const koord_stop* stop) noexcept {
    return call(self, [stop](T& p) { p.run(Stop(stop)); });
  }
  static koord_status on_event(void* self, std::uint32_t what, std::uint64_t version) noexcept {
    return call(self, [=](T& p) { p.on_event(what, version); });
  }
  static koord_status stop(void* self) noexcept {
    return call(self, [](T& p) { p.stop(); });
  }

  // A thread is created only if T overrides run(). If T does not override on_event(), the host restarts it when its
  // configuration changes.
  static constexpr bool kRuns = !std::is_same_v<decltype(&T::run), void (Plugin::*)(const Stop&)>;
  static constexpr bool kTakesEvents =
      !std::is_same_v<decltype(&T::on_event), void (Plugin::*)(std::uint32_t, std::uint64_t)>;

  static constexpr koord_lifecycle lifecycle(std::uint32_t table_size) {
    return {table_size, 0, create, init, kRuns ? run : nullptr, kTakesEvents ? on_event : nullptr, stop, destroy};
  }
};

template <class T>
struct AdvisorTable {
  static koord_status collect(void* self, std::uint64_t now, std::uint64_t deadline) noexcept {
    return Thunks<T>::call(self, [=](T& p) { p.collect(now, deadline); });
  }
  static constexpr koord_advisor table = {Thunks<T>::lifecycle(sizeof(koord_advisor)), collect};
};

template <class T>
struct ExternalAdvisorTable {
  static koord_status url(void* self, char* buf, std::uint64_t cap, std::uint64_t* need) noexcept {
    return Thunks<T>::call(self, [&](T& p) { answer(p.url(), buf, cap, need); });
  }
  static koord_status map_sample(void* self, koord_str name, const koord_label* labels, std::uint32_t n,
                                 std::uint32_t stride, double* value) noexcept {
    bool kept = true;
    koord_status guarded = Thunks<T>::call(self, [&](T& p) {
      kept = p.map_sample(view(name), {labels, n, stride}, *value);
    });
    return kept ? guarded : KOORD_E_GONE;
  }
  static koord_status map_metric(void* self, koord_str name, char* buf, std::uint64_t cap,
                                 std::uint64_t* need) noexcept {
    bool kept = true;
    koord_status guarded = Thunks<T>::call(self, [&](T& p) {
      std::optional<std::string> mapped = p.map_metric(view(name));
      kept = mapped.has_value();
      if (kept) answer(*mapped, buf, cap, need);
    });
    return kept ? guarded : KOORD_E_GONE;
  }

  static koord_status targets(void* self, const koord_scrape_targets* list) noexcept {
    return Thunks<T>::call(self, [=](T& p) { p.targets(ScrapeTargets(list)); });
  }
  static koord_status on_target(void* self, koord_str name) noexcept {
    return Thunks<T>::call(self, [=](T& p) { p.on_target(view(name)); });
  }
  static koord_status map_series(void* self, koord_str metric, const koord_label* labels, std::uint32_t n,
                                 std::uint32_t stride, const koord_series_map* map) noexcept {
    SeriesFate fate = SeriesFate::kept;
    koord_status guarded = Thunks<T>::call(self, [&](T& p) {
      fate = p.map_series(view(metric), {labels, n, stride}, SeriesMap(map));
    });
    if (guarded != KOORD_OK || fate == SeriesFate::kept) return guarded;
    return fate == SeriesFate::not_now ? KOORD_E_AGAIN : KOORD_E_GONE;
  }

  // Only functions that T overrides are called.
  static constexpr bool kHasTargets = !std::is_same_v<decltype(&T::targets), decltype(&ExternalAdvisor::targets)>;
  static constexpr bool kTakesTargets = !std::is_same_v<decltype(&T::on_target), decltype(&ExternalAdvisor::on_target)>;
  static constexpr bool kMapsSeries = !std::is_same_v<decltype(&T::map_series), decltype(&ExternalAdvisor::map_series)>;
  static constexpr bool kMapsSamples =
      !std::is_same_v<decltype(&T::map_sample), decltype(&ExternalAdvisor::map_sample)>;
  static constexpr bool kMapsMetrics =
      !std::is_same_v<decltype(&T::map_metric), decltype(&ExternalAdvisor::map_metric)>;
  static constexpr koord_external_advisor table = {Thunks<T>::lifecycle(sizeof(koord_external_advisor)),
                                                   url,
                                                   kMapsSamples ? map_sample : nullptr,
                                                   kMapsMetrics ? map_metric : nullptr,
                                                   kHasTargets ? targets : nullptr,
                                                   kTakesTargets ? on_target : nullptr,
                                                   kMapsSeries ? map_series : nullptr};
};

template <class T>
struct QosStrategyTable {
  static koord_status evaluate(void* self, std::uint64_t now, std::uint64_t deadline) noexcept {
    return Thunks<T>::call(self, [=](T& p) { p.evaluate(now, deadline); });
  }
  static koord_status on_applied(void* self, const koord_intent_result* results, std::uint32_t n,
                                 std::uint32_t stride) noexcept {
    return Thunks<T>::call(self, [=](T& p) { p.on_applied({results, n, stride}); });
  }
  static constexpr koord_qos_strategy table = {Thunks<T>::lifecycle(sizeof(koord_qos_strategy)), evaluate, on_applied};
};

template <class T, std::uint32_t stages>
struct RuntimeHookTable {
  static koord_status handle(void* self, const koord_hook_request* request,
                             const koord_hook_response* response) noexcept {
    return Thunks<T>::call(self, [=](T& p) { p.handle(*request, *response); });
  }
  static constexpr koord_runtime_hook table = {Thunks<T>::lifecycle(sizeof(koord_runtime_hook)), stages, 0, handle};
};

// ---- parts of KOORD_PLUGIN ----

template <class T>
constexpr koord_class advisor(const char* name, std::chrono::nanoseconds period, const char* config_schema = nullptr) {
  return {sizeof(koord_class),
          0,
          "koord.advisor/1",
          name,
          config_schema,
          &AdvisorTable<T>::table.life,
          static_cast<std::uint64_t>(period.count())};
}

template <class T>
constexpr koord_class external_advisor(const char* name, std::chrono::nanoseconds period,
                                       const char* config_schema = nullptr) {
  return {sizeof(koord_class),
          0,
          "koord.external-advisor/1",
          name,
          config_schema,
          &ExternalAdvisorTable<T>::table.life,
          static_cast<std::uint64_t>(period.count())};
}

template <class T>
constexpr koord_class qos_strategy(const char* name, std::chrono::nanoseconds period,
                                   const char* config_schema = nullptr) {
  return {sizeof(koord_class),
          0,
          "koord.qos-strategy/1",
          name,
          config_schema,
          &QosStrategyTable<T>::table.life,
          static_cast<std::uint64_t>(period.count())};
}

template <class T, std::uint32_t stages>
constexpr koord_class runtime_hook(const char* name, std::uint32_t flags = 0, const char* config_schema = nullptr) {
  return {sizeof(koord_class),
          flags,
          "koord.runtime-hook/1",
          name,
          config_schema,
          &RuntimeHookTable<T, stages>::table.life,
          0};
}

}  // namespace koord::plugin

// Defines the module: the manifest's lines (the first line is added), then its classes. Use it once in a .so.
#define KOORD_PLUGIN(manifest_lines, ...)                                                                   \
  namespace {                                                                                               \
  __attribute__((section(KOORD_MANIFEST_SECTION), used)) constexpr char koord_manifest_text[] =             \
      "koord-manifest/1\nabi=" KOORD_ABI_TEXT "\n" manifest_lines;                                          \
  constexpr koord_class koord_module_classes[] = {__VA_ARGS__};                                             \
  constexpr koord_module koord_module_table = {KOORD_MAGIC,                                                 \
                                               sizeof(koord_module),                                        \
                                               KOORD_ABI_MAJOR,                                             \
                                               KOORD_ABI_MINOR,                                             \
                                               static_cast<std::uint32_t>(std::size(koord_module_classes)), \
                                               sizeof(koord_class),                                         \
                                               0,                                                           \
                                               koord_manifest_text,                                         \
                                               koord_module_classes};                                       \
  }                                                                                                         \
  extern "C" const koord_module* koord_entry_v1(void) { return &koord_module_table; }
