// SPDX-License-Identifier: Apache-2.0
// The C++ face of the plugin ABI: header-only, C++17, nothing to link. An author derives from Advisor,
// ExternalAdvisor, QosStrategy or RuntimeHook, overrides what is needed, and names the class in KOORD_PLUGIN. Every call
// from the host goes through a thunk that catches whatever is thrown and turns it into a status and a text.
// The contract (threads, lifetimes, units) is that of plugin.h; what is said there is not repeated here.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "koordetector/plugin.h"

namespace koord::plugin {

inline koord_str str(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view view(koord_str text) { return {text.p, static_cast<std::size_t>(text.n)}; }

// Throw it to make the current call return this status with this text.
class Failure : public std::exception {
 public:
  Failure(koord_status status, std::string text) : status_(status), text_(std::move(text)) {}
  koord_status status() const { return status_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  koord_status status_;
  std::string text_;
};

// Turns a status of the host into a Failure; `what` says what was tried.
// A failure of which the host has said why already.
class Refused : public Failure {
 public:
  using Failure::Failure;
};

inline void check(koord_status status, std::string_view what) {
  if (status != KOORD_OK) throw Refused(status, std::string(what) + " failed with status " + std::to_string(status));
}

// Runs `call` and lets nothing out: the innermost of the three nets around a plugin.
template <class Call>
koord_status guard(const koord_host* host, Call&& call) noexcept {
  try {
    call();
    return KOORD_OK;
  } catch (const Refused& refused) {
    return refused.status();
  } catch (const Failure& failure) {
    host->set_error(host, failure.status(), str(failure.what()));
    return failure.status();
  } catch (const std::bad_alloc&) {
    return KOORD_E_NOMEM;
  } catch (const std::exception& exception) {
    host->set_error(host, KOORD_E_PANIC, str(exception.what()));
    return KOORD_E_PANIC;
  } catch (...) {
    host->set_error(host, KOORD_E_PANIC, str("an exception of unknown type"));
    return KOORD_E_PANIC;
  }
}

// An array of the ABI, stepped by its stride, as a range for a for loop.
template <class T>
class Strided {
 public:
  class Iterator {
   public:
    Iterator(const char* at, std::uint32_t stride) : at_(at), stride_(stride) {}
    const T& operator*() const { return *reinterpret_cast<const T*>(at_); }
    Iterator& operator++() {
      at_ += stride_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    const char* at_;
    std::uint32_t stride_;
  };

  Strided(const T* first, std::uint32_t n, std::uint32_t stride)
      : first_(reinterpret_cast<const char*>(first)), n_(first ? n : 0), stride_(stride) {}
  Iterator begin() const { return {first_, stride_}; }
  Iterator end() const { return {first_ + std::size_t{n_} * stride_, stride_}; }
  std::uint32_t size() const { return n_; }

 private:
  const char* first_;
  std::uint32_t n_, stride_;
};

// How large revision /1 of a service was when it was published. What came later is asked for with KOORD_HAS().
template <class Table>
constexpr std::size_t published_size = sizeof(std::uint32_t);
template <>
inline constexpr std::size_t published_size<koord_svc_metrics> = 72;
template <>
inline constexpr std::size_t published_size<koord_svc_state> = 80;
template <>
inline constexpr std::size_t published_size<koord_svc_kv> = 24;
template <>
inline constexpr std::size_t published_size<koord_svc_config> = 48;
template <>
inline constexpr std::size_t published_size<koord_svc_clock> = 24;
template <>
inline constexpr std::size_t published_size<koord_svc_fs> = 24;
template <>
inline constexpr std::size_t published_size<koord_svc_cgroup> = 32;
template <>
inline constexpr std::size_t published_size<koord_svc_capabilities> = 24;
template <>
inline constexpr std::size_t published_size<koord_svc_knobs> = 24;
template <>
inline constexpr std::size_t published_size<koord_svc_evict> = 16;
template <>
inline constexpr std::size_t published_size<koord_svc_audit> = 16;

// A service that the plugin cannot do without; name it in the manifest's `requires` as well.
template <class Table>
const Table* require(const koord_host* host, const char* id) {
  const auto* table = static_cast<const Table*>(host->get_service(host, id));
  if (!table) throw Failure(KOORD_E_UNSUPPORTED, std::string("the host does not offer ") + id);
  if (table->struct_size < published_size<Table>)
    throw Failure(KOORD_E_UNSUPPORTED, std::string("the host offers less of ") + id + " than was published");
  return table;
}

struct Label {
  std::string_view key, value;
};

struct MetricSpec {
  std::string_view name, unit, help;
  double resolution = 1;
  std::uint32_t type = KOORD_GAUGE;
  std::uint32_t flags = KOORD_METRIC_EXPORT;
  std::vector<double> bounds = {};
};

// A metric that was defined; makes its series.
class Metric {
 public:
  Metric() = default;
  Metric(const koord_host* host, const MetricSpec& spec)
      : host_(host), metrics_(require<koord_svc_metrics>(host, "koord.metrics/1")) {
    const koord_metric_desc desc = {sizeof desc,     spec.type,      spec.flags,
                                    static_cast<std::uint32_t>(spec.bounds.size()),
                                    str(spec.name),  str(spec.unit), str(spec.help),
                                    spec.resolution, spec.bounds.data()};
    koord_status status = metrics_->define(host_, &desc, &id_);
    check(status, "defining metric '" + std::string(spec.name) + "'");
  }

  std::uint64_t series(std::uint64_t subject = KOORD_NO_SUBJECT, std::initializer_list<Label> labels = {}) const {
    std::vector<koord_label> list;
    for (const Label& label : labels) list.push_back({str(label.key), str(label.value)});
    std::uint64_t series = 0;
    check(metrics_->series(host_, id_, subject, list.data(), static_cast<std::uint32_t>(list.size()),
                           sizeof(koord_label), &series),
          "making a series");
    return series;
  }

 private:
  const koord_host* host_ = nullptr;
  const koord_svc_metrics* metrics_ = nullptr;
  std::uint32_t id_ = 0;
};

// The points of one tick: add() them all, then send() once. Reuses its memory.
class Batch {
 public:
  Batch() = default;
  explicit Batch(const koord_host* host)
      : host_(host), metrics_(require<koord_svc_metrics>(host, "koord.metrics/1")) {}

  void add(std::uint64_t series, double value) { points_.push_back({series, value}); }
  void add_histogram(std::uint64_t series, const std::vector<std::uint64_t>& cumulative, double sum) {
    histograms_.push_back({series, cumulative.data(), static_cast<std::uint32_t>(cumulative.size()), 0, sum});
  }

  // The `cumulative` vectors of the histograms must still be alive.
  void send(std::uint64_t t_ns) {
    koord_status points = metrics_->append(host_, t_ns, points_.data(), static_cast<std::uint32_t>(points_.size()),
                                           sizeof(koord_point));
    koord_status histograms = KOORD_OK;
    if (!histograms_.empty())
      histograms = metrics_->append_histograms(host_, t_ns, histograms_.data(),
                                               static_cast<std::uint32_t>(histograms_.size()), sizeof(koord_histogram));
    points_.clear();
    histograms_.clear();
    check(points != KOORD_OK ? points : histograms, "appending samples");
  }

 private:
  const koord_host* host_ = nullptr;
  const koord_svc_metrics* metrics_ = nullptr;
  std::vector<koord_point> points_;
  std::vector<koord_histogram> histograms_;
};

// An acquired snapshot of the state; released at the end of its life.
class Snapshot {
 public:
  Snapshot(const koord_host* host, const koord_svc_state* state) : host_(host), state_(state) {
    if (koord_status status = state->acquire(host, &snapshot_); status != KOORD_OK)
      throw Failure(status, "the state of the node is not known yet");
  }
  // Nothing while the state is not known yet.
  static std::optional<Snapshot> if_known(const koord_host* host, const koord_svc_state* state) {
    const koord_snapshot* snapshot = nullptr;
    if (state->acquire(host, &snapshot) != KOORD_OK) return std::nullopt;
    return Snapshot(host, state, snapshot);
  }
  Snapshot(Snapshot&& other) noexcept
      : host_(other.host_), state_(other.state_), snapshot_(std::exchange(other.snapshot_, nullptr)) {}
  Snapshot& operator=(Snapshot&&) = delete;
  ~Snapshot() {
    if (snapshot_) state_->release(host_, snapshot_);
  }

  std::uint64_t version(std::uint32_t part) const { return state_->version(snapshot_, part); }
  const koord_node* node() const { return state_->node(snapshot_); }
  const koord_topology* topology() const { return state_->topology(snapshot_); }
  std::string_view node_slo() const { return view(state_->node_slo(snapshot_)); }
  Strided<koord_pod> pods() const { return list<koord_pod>(state_->pods); }
  Strided<koord_container> containers() const { return list<koord_container>(state_->containers); }

 private:
  Snapshot(const koord_host* host, const koord_svc_state* state, const koord_snapshot* snapshot)
      : host_(host), state_(state), snapshot_(snapshot) {}

  template <class T>
  Strided<T> list(const T* (*get)(const koord_snapshot*, std::uint32_t*, std::uint32_t*)) const {
    std::uint32_t n = 0;
    std::uint32_t stride = sizeof(T);
    const T* first = get(snapshot_, &n, &stride);
    return {first, n, stride};
  }

  const koord_host* host_;
  const koord_svc_state* state_;
  const koord_snapshot* snapshot_ = nullptr;
};

inline Strided<koord_container> containers_of(const koord_pod& pod) {
  return {pod.containers, pod.n_containers, pod.container_stride};
}

// An open cgroup file of koord.cgroup/1; closed at the end of its life.
class CgroupFile {
 public:
  CgroupFile() = default;
  CgroupFile(CgroupFile&& other) noexcept
      : host_(other.host_), cgroup_(std::exchange(other.cgroup_, nullptr)), handle_(other.handle_) {}
  CgroupFile& operator=(CgroupFile&& other) noexcept {
    std::swap(host_, other.host_);
    std::swap(cgroup_, other.cgroup_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~CgroupFile() {
    if (cgroup_) cgroup_->close(host_, handle_);
  }

  // KOORD_OK, or why not; KOORD_E_GONE when there is no such cgroup.
  koord_status open(const koord_host* host, const koord_svc_cgroup* cgroup, std::string_view dir,
                    std::string_view file, std::initializer_list<std::string_view> keys) {
    return open(host, cgroup, dir, file, keys.begin(), keys.size());
  }
  koord_status open(const koord_host* host, const koord_svc_cgroup* cgroup, std::string_view dir,
                    std::string_view file, const std::string_view* keys, std::size_t n) {
    *this = CgroupFile();
    std::vector<koord_str> list;
    for (std::size_t i = 0; i < n; ++i) list.push_back(str(keys[i]));
    koord_status status =
        cgroup->open(host, str(dir), str(file), list.data(), static_cast<std::uint32_t>(list.size()), &handle_);
    if (status != KOORD_OK) return status;
    host_ = host;
    cgroup_ = cgroup;
    return KOORD_OK;
  }

  explicit operator bool() const { return cgroup_ != nullptr; }

  template <std::size_t N>
  koord_status read(std::int64_t (&values)[N], std::uint64_t* read_ns = nullptr) const {
    return cgroup_->read(host_, handle_, values, N, read_ns);
  }

 private:
  const koord_host* host_ = nullptr;
  const koord_svc_cgroup* cgroup_ = nullptr;
  std::uint64_t handle_ = 0;
};

// The text that a service writes to the caller's buffer, whatever its length.
template <class Ask>
std::string text_of(Ask&& ask) {
  std::string text(256, '\0');
  for (;;) {
    std::uint64_t need = 0;
    koord_status status = ask(text.data(), text.size(), &need);
    if (status != KOORD_E_TOO_SMALL) check(status, "reading a text from the host");
    text.resize(static_cast<std::size_t>(need));
    if (status == KOORD_OK) return text;
  }
}

// The other way round: an answer to the host's buffer, by the rule of the ABI.
inline void answer(std::string_view text, char* buf, std::uint64_t cap, std::uint64_t* need) {
  *need = text.size();
  if (text.size() > cap) throw Refused(KOORD_E_TOO_SMALL, "the buffer is too small");
  text.copy(buf, text.size());
}

// The instance's own part of the configuration, koord.config/1. A setting that is not there is nothing; one of another type
// is a Failure, and a schema refuses it before.
class Config {
 public:
  explicit Config(const koord_host* host) : host_(host), config_(require<koord_svc_config>(host, "koord.config/1")) {}

  // The pointers are those of RFC 6901: "/limits/cpu".
  std::optional<std::int64_t> i64(std::string_view pointer) const { return value<std::int64_t>(config_->i64, pointer); }
  std::optional<double> f64(std::string_view pointer) const { return value<double>(config_->f64, pointer); }
  std::optional<bool> boolean(std::string_view pointer) const {
    const std::optional<std::int32_t> set = value<std::int32_t>(config_->boolean, pointer);
    return set ? std::optional<bool>(*set != 0) : std::nullopt;
  }
  std::optional<std::string> string(std::string_view pointer) const {
    bool found = true;
    std::string text = text_of([&](char* buf, std::uint64_t cap, std::uint64_t* need) {
      const koord_status status = config_->string(host_, str(pointer), buf, cap, need);
      found = status != KOORD_E_NOT_FOUND;
      return found ? status : KOORD_OK;
    });
    return found ? std::optional(std::move(text)) : std::nullopt;
  }
  // All of it.
  std::string json() const {
    return text_of([&](char* buf, std::uint64_t cap, std::uint64_t* need) { return config_->json(host_, buf, cap, need); });
  }

 private:
  template <class T>
  std::optional<T> value(koord_status (*get)(const koord_host*, koord_str, T*), std::string_view pointer) const {
    T value{};
    const koord_status status = get(host_, str(pointer), &value);
    if (status == KOORD_E_NOT_FOUND) return std::nullopt;
    check(status, "reading the setting " + std::string(pointer));
    return value;
  }

  const koord_host* host_;
  const koord_svc_config* config_;
};

// Small files of the node, koord.fs/1.
class Files {
 public:
  Files() = default;
  explicit Files(const koord_host* host) : host_(host), fs_(require<koord_svc_fs>(host, "koord.fs/1")) {}

  // `root`: KOORD_ROOT_PROC, …; `relative` may not leave it.
  std::string read(std::uint32_t root, std::string_view relative) const {
    return text_of([&](char* buf, std::uint64_t cap, std::uint64_t* need) {
      return fs_->read(host_, root, str(relative), buf, cap, need);
    });
  }

 private:
  const koord_host* host_ = nullptr;
  const koord_svc_fs* fs_ = nullptr;
};

// Told to an instance's own thread.
class Stop {
 public:
  explicit Stop(const koord_stop* stop) : stop_(stop) {}
  int fd() const { return stop_->fd; }
  bool wait(std::chrono::nanoseconds timeout) const {
    return stop_->wait(stop_, static_cast<std::uint64_t>(timeout.count())) != 0;
  }

 private:
  const koord_stop* stop_;
};

// What all four kinds share. Constructors must not use the host; init() may.
class Plugin {
 public:
  Plugin() = default;
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;
  virtual ~Plugin() = default;

  virtual void init() {}
  virtual void run(const Stop&) {}
  virtual void on_event(std::uint32_t /*what*/, std::uint64_t /*version*/) {}
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

// One endpoint of several; what is empty or zero is the host's choice.
struct ScrapeTarget {
  std::string name, url;
  std::string ca_file = {}, certificate_file = {}, key_file = {}, server_name = {}, token_file = {};
  std::chrono::nanoseconds period{}, timeout{};
  std::uint64_t max_body_bytes = 0, max_samples = 0, max_series = 0;
};

// Adds endpoints; valid in the call.
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
                                        static_cast<std::uint64_t>(t.period.count()),
                                        static_cast<std::uint64_t>(t.timeout.count()),
                                        t.max_body_bytes,
                                        t.max_samples,
                                        t.max_series};
    check(targets_->add(targets_, &target), "adding the target '" + t.name + "'");
  }

 private:
  const koord_scrape_targets* targets_;
};

// What becomes of a series; valid in the call.
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

// Overrides url() or targets().
class ExternalAdvisor : public Plugin {
 public:
  virtual std::string url() { throw Failure(KOORD_E_UNSUPPORTED, "there is no url()"); }
  virtual void targets(const ScrapeTargets& /*targets*/) {}
  virtual void on_target(std::string_view /*name*/) {}
  // What the metric is called here; nothing leaves it out.
  virtual std::optional<std::string> map_metric(std::string_view name) { return std::string(name); }
  // False drops the sample.
  virtual bool map_sample(std::string_view /*name*/, Strided<koord_label> /*labels*/, double& /*value*/) { return true; }
  virtual SeriesFate map_series(std::string_view /*metric*/, Strided<koord_label> /*labels*/, const SeriesMap& /*map*/) {
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

// ---- thunks: plain functions for the host's table, each a guard around one member function ----

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

  // Only a run() that T overrides gets a thread.
  static constexpr bool kRuns = !std::is_same_v<decltype(&T::run), void (Plugin::*)(const Stop&)>;

  static constexpr koord_lifecycle lifecycle(std::uint32_t table_size) {
    return {table_size, 0, create, init, kRuns ? run : nullptr, on_event, stop, destroy};
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
    koord_status guarded = Thunks<T>::call(self, [&](T& p) { kept = p.map_sample(view(name), {labels, n, stride}, *value); });
    return kept ? guarded : KOORD_E_GONE;
  }
  static koord_status map_metric(void* self, koord_str name, char* buf, std::uint64_t cap, std::uint64_t* need) noexcept {
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
  static koord_status map_series(void* self, koord_str metric, const koord_label* labels, std::uint32_t n, std::uint32_t stride,
                                 const koord_series_map* map) noexcept {
    SeriesFate fate = SeriesFate::kept;
    koord_status guarded = Thunks<T>::call(self, [&](T& p) { fate = p.map_series(view(metric), {labels, n, stride}, SeriesMap(map)); });
    if (guarded != KOORD_OK || fate == SeriesFate::kept) return guarded;
    return fate == SeriesFate::not_now ? KOORD_E_AGAIN : KOORD_E_GONE;
  }

  // Only what T overrides is called.
  static constexpr bool kHasTargets = !std::is_same_v<decltype(&T::targets), decltype(&ExternalAdvisor::targets)>;
  static constexpr bool kTakesTargets = !std::is_same_v<decltype(&T::on_target), decltype(&ExternalAdvisor::on_target)>;
  static constexpr bool kMapsSeries = !std::is_same_v<decltype(&T::map_series), decltype(&ExternalAdvisor::map_series)>;
  static constexpr bool kMapsSamples =
      !std::is_same_v<decltype(&T::map_sample), decltype(&ExternalAdvisor::map_sample)>;
  static constexpr bool kMapsMetrics =
      !std::is_same_v<decltype(&T::map_metric), decltype(&ExternalAdvisor::map_metric)>;
  static constexpr koord_external_advisor table = {Thunks<T>::lifecycle(sizeof(koord_external_advisor)), url,
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

// ---- what goes into KOORD_PLUGIN ----

template <class T>
constexpr koord_class advisor(const char* name, std::chrono::nanoseconds period, const char* config_schema = nullptr) {
  return {sizeof(koord_class),           0, "koord.advisor/1", name, config_schema, &AdvisorTable<T>::table.life,
          static_cast<std::uint64_t>(period.count())};
}

template <class T>
constexpr koord_class external_advisor(const char* name, std::chrono::nanoseconds period,
                                       const char* config_schema = nullptr) {
  return {sizeof(koord_class), 0,    "koord.external-advisor/1",
          name,                config_schema, &ExternalAdvisorTable<T>::table.life,
          static_cast<std::uint64_t>(period.count())};
}

template <class T>
constexpr koord_class qos_strategy(const char* name, std::chrono::nanoseconds period,
                                   const char* config_schema = nullptr) {
  return {sizeof(koord_class), 0,    "koord.qos-strategy/1",
          name,                config_schema, &QosStrategyTable<T>::table.life,
          static_cast<std::uint64_t>(period.count())};
}

template <class T, std::uint32_t stages>
constexpr koord_class runtime_hook(const char* name, std::uint32_t flags = 0, const char* config_schema = nullptr) {
  return {sizeof(koord_class), flags, "koord.runtime-hook/1", name, config_schema,
          &RuntimeHookTable<T, stages>::table.life, 0};
}

}  // namespace koord::plugin

// The module: the manifest's lines (after its first, which is added), then its classes. Once in a .so.
#define KOORD_PLUGIN(manifest_lines, ...)                                                                   \
  namespace {                                                                                               \
  __attribute__((section(KOORD_MANIFEST_SECTION), used)) constexpr char koord_manifest_text[] =             \
      "koord-manifest/1\nabi=1.0\n" manifest_lines;                                                         \
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
