// SPDX-License-Identifier: Apache-2.0
// The host's services in C++, one class for each. History, Kv, Knobs and Evict are in cache.hpp and strategies.hpp. A
// status of the host other than KOORD_OK is thrown as a Failure with that status. If a Failure leaves a plugin's
// function, the function returns its status and text to the host. Header-only, C++17, nothing to link; plugin.hpp
// includes it. Threads, lifetimes, units and statuses are the same as in plugin.h.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "koordetector/plugin.h"

namespace koord::plugin {

inline koord_str str(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view view(koord_str text) { return {text.p, static_cast<std::size_t>(text.n)}; }

// An exception with a status and a text. If a plugin throws it, the current call returns this status with this text.
class Failure : public std::exception {
 public:
  Failure(koord_status status, std::string text) : status_(status), text_(std::move(text)) {}
  koord_status status() const { return status_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  koord_status status_;
  std::string text_;
};

namespace detail {

// Throws a Failure that names a negative duration, for example a deadline that has passed: unsigned it would be
// centuries.
inline std::uint64_t nanoseconds(std::chrono::nanoseconds duration, const char* what) {
  if (duration.count() < 0)
    throw Failure(KOORD_E_INVALID,
                  std::string(what) + " is " + std::to_string(duration.count()) + " ns, expected at least 0");
  return static_cast<std::uint64_t>(duration.count());
}

}  // namespace detail

// A Failure with a reason that the host has already reported.
class Refused : public Failure {
 public:
  using Failure::Failure;
};

// Throws if the status is not KOORD_OK; `what` names the attempted operation.
inline void check(koord_status status, std::string_view what) {
  if (status != KOORD_OK) throw Refused(status, std::string(what) + " failed with status " + std::to_string(status));
}

// Runs `call` and lets no exception out. This is the innermost of the three guards that protect the host from a plugin.
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

// An array of the ABI, stepped by its stride, as a range for range-based for loops.
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

// The size of a service's revision /1 when it was published. Each host has at least this size; check later members with
// KOORD_HAS().
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
template <>
inline constexpr std::size_t published_size<koord_svc_verdict> = 64;

// Returns a service that the plugin requires. Also name it in the manifest's `requires`.
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

// A defined metric. It creates series.
class Metric {
 public:
  Metric() = default;
  Metric(const koord_host* host, const MetricSpec& spec)
      : host_(host), metrics_(require<koord_svc_metrics>(host, "koord.metrics/1")) {
    const koord_metric_desc desc = {
        sizeof desc,       spec.type,      spec.flags,     static_cast<std::uint32_t>(spec.bounds.size()),
        str(spec.name),    str(spec.unit), str(spec.help), spec.resolution,
        spec.bounds.data()};
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

// The points of one tick: add() all, then send() once. Reuses its memory.
class Batch {
 public:
  Batch() = default;
  explicit Batch(const koord_host* host) : host_(host), metrics_(require<koord_svc_metrics>(host, "koord.metrics/1")) {}

  void add(std::uint64_t series, double value) { points_.push_back({series, value}); }
  void add_histogram(std::uint64_t series, const std::vector<std::uint64_t>& cumulative, double sum) {
    histograms_.push_back({series, cumulative.data(), static_cast<std::uint32_t>(cumulative.size()), 0, sum});
  }

  // Sends all points. The `cumulative` vectors of the histograms must still exist.
  void send(std::uint64_t t_ns) {
    koord_status points =
        metrics_->append(host_, t_ns, points_.data(), static_cast<std::uint32_t>(points_.size()), sizeof(koord_point));
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

// An acquired snapshot of the state; the destructor releases it.
class Snapshot {
 public:
  Snapshot(const koord_host* host, const koord_svc_state* state) : host_(host), state_(state) {
    if (koord_status status = state->acquire(host, &snapshot_); status != KOORD_OK)
      throw Failure(status, "the state of the node is not known yet");
  }
  // Returns nullopt while the state is unknown.
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

// An open cgroup file of koord.cgroup/1; the destructor closes it.
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

  // Opens the file. Returns KOORD_OK or an error; KOORD_E_GONE if the cgroup does not exist.
  koord_status open(const koord_host* host, const koord_svc_cgroup* cgroup, std::string_view dir, std::string_view file,
                    std::initializer_list<std::string_view> keys) {
    return open(host, cgroup, dir, file, keys.begin(), keys.size());
  }
  koord_status open(const koord_host* host, const koord_svc_cgroup* cgroup, std::string_view dir, std::string_view file,
                    const std::string_view* keys, std::size_t n) {
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

// Returns a text of any length that a service writes to a buffer of the caller.
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

// The instance's own part of the configuration, koord.config/1. A missing setting is nullopt. A setting of a different
// type is a Failure, unless a schema has already refused it.
class Config {
 public:
  explicit Config(const koord_host* host) : host_(host), config_(require<koord_svc_config>(host, "koord.config/1")) {}

  // Pointers are JSON pointers (RFC 6901): "/limits/cpu".
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
  // Returns the whole configuration as JSON; "{}" if nothing is configured.
  std::string json() const {
    return text_of(
        [&](char* buf, std::uint64_t cap, std::uint64_t* need) { return config_->json(host_, buf, cap, need); });
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

// Reads small files of the node through koord.fs/1.
class Files {
 public:
  Files() = default;
  explicit Files(const koord_host* host) : host_(host), fs_(require<koord_svc_fs>(host, "koord.fs/1")) {}

  // `root`: KOORD_ROOT_PROC, …; `relative` must not leave it.
  std::string read(std::uint32_t root, std::string_view relative) const {
    return text_of([&](char* buf, std::uint64_t cap, std::uint64_t* need) {
      return fs_->read(host_, root, str(relative), buf, cap, need);
    });
  }

 private:
  const koord_host* host_ = nullptr;
  const koord_svc_fs* fs_ = nullptr;
};

}  // namespace koord::plugin
