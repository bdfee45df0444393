// SPDX-License-Identifier: Apache-2.0
// The tables of WatchedHost: each function calls the real host's function of the same name.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/base/page_size.hpp"
#include "core/service/services.hpp"
#include "core/workshop/check/lent_snapshot.hpp"
#include "core/workshop/check/watched_host.hpp"

namespace koord::check {
namespace {

template <std::size_t N>
struct Name {
  char text[N];
  constexpr Name(const char (&literal)[N]) { std::copy_n(literal, N, text); }  // NOLINT: to be written as a literal
};

// Whether the last arguments are a caller's buffer, of bytes or of rows, by the rule of plugin.h.
template <class... Args>
struct EndsInBuffer {
  static constexpr bool ends_in(auto... wanted) {
    using All = std::tuple<Args...>;
    constexpr std::size_t n = sizeof...(Args), m = sizeof...(wanted);
    if constexpr (n < m)
      return false;
    else
      return []<std::size_t... i>(std::index_sequence<i...>, auto... each) {
        return (std::is_same_v<std::tuple_element_t<n - m + i, All>, typename decltype(each)::type> && ...);
      }
    (std::make_index_sequence<m>(), wanted...);
  }
  template <class T>
  using Is = std::type_identity<T>;
  static constexpr bool bytes = ends_in(Is<char*>(), Is<std::uint64_t>(), Is<std::uint64_t*>()) ||
                                ends_in(Is<void*>(), Is<std::uint64_t>(), Is<std::uint64_t*>());
  static constexpr bool rows = ends_in(Is<std::uint32_t>(), Is<std::uint32_t>(), Is<std::uint32_t*>());
  static constexpr bool ids = ends_in(Is<std::int32_t*>(), Is<std::uint32_t>(), Is<std::uint32_t*>());
};

// Reports that the answer is longer than the buffer. Returns whether it did.
template <class... Args>
bool say_too_small(WatchedHost& watched, Args... args) {
  constexpr std::size_t n = sizeof...(Args);
  if constexpr (EndsInBuffer<Args...>::bytes || EndsInBuffer<Args...>::rows || EndsInBuffer<Args...>::ids) {
    const auto all = std::tie(args...);
    const auto cap = std::get < EndsInBuffer<Args...>::rows ? n - 3 : n - 2 > (all);
    auto* need = std::get<n - 1>(all);
    constexpr std::uint64_t kLargest = 4u << 20;  // limits the growth of a buffer that the plugin keeps
    const std::uint64_t longer = need && cap < kLargest ? watched.lengthen() : 0;
    if (longer == 0) return false;
    *need = static_cast<std::remove_pointer_t<decltype(need)>>(cap + (EndsInBuffer<Args...>::bytes ? longer : 16));
    return true;
  }
  return false;
}

template <Name name, const auto& real_table, auto member, class Function>
struct Watched;

template <Name name, const auto& real_table, auto member, class R, class... Args>
struct Watched<name, real_table, member, R (*)(const koord_host*, Args...)> {
  static R call(const koord_host* host, Args... args) {
    WatchedHost& watched = WatchedHost::of(host);
    const koord_host* real = watched.admit(name.text);
    if constexpr (std::is_same_v<R, koord_status>) {
      if (!real) return KOORD_E_GONE;
      if (auto answer = watched.answer()) return *answer;
      if (say_too_small(watched, args...)) return KOORD_E_TOO_SMALL;
      if (std::string_view(name.text).starts_with("koord.metrics/1 append") && watched.faults().keeps_nothing)
        return KOORD_OK;
    } else if (!real) {
      return R();
    }
    return (real_table.*member)(real, args...);
  }
};

template <class Table, class Function>
Function function_of(Function Table::*);

template <Name name, const auto& real_table, auto member>
constexpr auto watched = &Watched<name, real_table, member, decltype(function_of(member))>::call;

const koord_svc_metrics metrics = {
    sizeof metrics,
    0,
    watched<"koord.metrics/1 define", service::metrics_service, &koord_svc_metrics::define>,
    watched<"koord.metrics/1 series", service::metrics_service, &koord_svc_metrics::series>,
    watched<"koord.metrics/1 end_series", service::metrics_service, &koord_svc_metrics::end_series>,
    watched<"koord.metrics/1 append", service::metrics_service, &koord_svc_metrics::append>,
    watched<"koord.metrics/1 append_columns", service::metrics_service, &koord_svc_metrics::append_columns>,
    watched<"koord.metrics/1 append_histograms", service::metrics_service, &koord_svc_metrics::append_histograms>,
    watched<"koord.metrics/1 aggregate", service::metrics_service, &koord_svc_metrics::aggregate>,
    watched<"koord.metrics/1 samples", service::metrics_service, &koord_svc_metrics::samples>,
};

koord_status acquire(const koord_host* host, const koord_snapshot** snapshot) {
  WatchedHost& watched = WatchedHost::of(host);
  const koord_host* real = watched.admit("koord.state/1 acquire");
  if (!real) return KOORD_E_GONE;
  if (auto answer = watched.answer()) return *answer;
  const koord_status status = service::state_service.acquire(real, snapshot);
  if (status != KOORD_OK) return status;
  watched.hold_snapshot(+1);
  if (watched.faults().lending != Lending::plainly) *snapshot = LentSnapshot::lend(*snapshot, watched.faults().lending);
  return status;
}

void release(const koord_host* host, const koord_snapshot* snapshot) {
  WatchedHost& watched = WatchedHost::of(host);
  const koord_host* real = watched.admit("koord.state/1 release");
  if (!real || !snapshot) return;
  watched.hold_snapshot(-1);
  if (watched.faults().lending != Lending::plainly) snapshot = LentSnapshot::take_back(snapshot);
  service::state_service.release(real, snapshot);
}

koord_svc_state make_state_table(const koord_svc_state& reading) {
  koord_svc_state table = reading;
  table.acquire = acquire;
  table.release = release;
  table.subscribe = watched<"koord.state/1 subscribe", service::state_service, &koord_svc_state::subscribe>;
  table.processes = watched<"koord.state/1 processes", service::state_service, &koord_svc_state::processes>;
  return table;
}

const koord_svc_kv kv = {
    sizeof kv,
    0,
    watched<"koord.kv/1 get", service::kv_service, &koord_svc_kv::get>,
    watched<"koord.kv/1 set", service::kv_service, &koord_svc_kv::set>,
    watched<"koord.kv/1 remove", service::kv_service, &koord_svc_kv::remove>,
};

const koord_svc_config config = {
    sizeof config,
    0,
    watched<"koord.config/1 json", service::config_service, &koord_svc_config::json>,
    watched<"koord.config/1 i64", service::config_service, &koord_svc_config::i64>,
    watched<"koord.config/1 f64", service::config_service, &koord_svc_config::f64>,
    watched<"koord.config/1 boolean", service::config_service, &koord_svc_config::boolean>,
    watched<"koord.config/1 string", service::config_service, &koord_svc_config::string>,
};

const koord_svc_clock clock_table = {
    sizeof clock_table,
    0,
    watched<"koord.clock/1 now_ns", service::clock_service, &koord_svc_clock::now_ns>,
    watched<"koord.clock/1 wall_ns", service::clock_service, &koord_svc_clock::wall_ns>,
};

const koord_svc_fs fs = {
    sizeof fs,
    0,
    watched<"koord.fs/1 path", service::fs_service, &koord_svc_fs::path>,
    watched<"koord.fs/1 read", service::fs_service, &koord_svc_fs::read>,
};

const koord_svc_cgroup cgroup = {
    sizeof cgroup,
    0,
    watched<"koord.cgroup/1 open", service::cgroup_service, &koord_svc_cgroup::open>,
    watched<"koord.cgroup/1 read", service::cgroup_service, &koord_svc_cgroup::read>,
    watched<"koord.cgroup/1 close", service::cgroup_service, &koord_svc_cgroup::close>,
};

const koord_svc_capabilities capabilities = {
    sizeof capabilities,
    0,
    watched<"koord.capabilities/1 get", service::capabilities_service, &koord_svc_capabilities::get>,
    watched<"koord.capabilities/1 report", service::capabilities_service, &koord_svc_capabilities::report>,
};

const koord_svc_knobs knobs = {
    sizeof knobs,
    0,
    watched<"koord.knobs/1 propose", service::knobs_service, &koord_svc_knobs::propose>,
    watched<"koord.knobs/1 current", service::knobs_service, &koord_svc_knobs::current>,
    watched<"koord.knobs/1 base", service::knobs_service, &koord_svc_knobs::base>,
};

const koord_svc_evict evict_table = {
    sizeof evict_table,
    0,
    watched<"koord.evict/1 request", service::evict_service, &koord_svc_evict::request>,
};

const koord_svc_audit audit = {
    sizeof audit,
    0,
    watched<"koord.audit/1 record", service::audit_service, &koord_svc_audit::record>,
};

const koord_svc_verdict verdict_table = {
    sizeof verdict_table,
    0,
    watched<"koord.verdict/1 post", service::verdict_service, &koord_svc_verdict::post>,
    watched<"koord.verdict/1 end", service::verdict_service, &koord_svc_verdict::end>,
    watched<"koord.verdict/1 acquire", service::verdict_service, &koord_svc_verdict::acquire>,
    watched<"koord.verdict/1 release", service::verdict_service, &koord_svc_verdict::release>,
    service::verdict_service.verdicts,
    service::verdict_service.generation,
    watched<"koord.verdict/1 subscribe", service::verdict_service, &koord_svc_verdict::subscribe>,
};

struct Bytes {
  const void* table;
  std::size_t size;
};

Bytes whole_table(std::string_view id, Lending lending) {
  static const koord_svc_state real_state = make_state_table(service::state_service),
                               lent_state = make_state_table(lent_state_service);
  const koord_svc_state& state = lending == Lending::plainly ? real_state : lent_state;
  if (id == "koord.state/1") return {&state, sizeof state};
  static const std::map<std::string_view, Bytes> all = {
      {"koord.audit/1", {&audit, sizeof audit}},
      {"koord.capabilities/1", {&capabilities, sizeof capabilities}},
      {"koord.cgroup/1", {&cgroup, sizeof cgroup}},
      {"koord.clock/1", {&clock_table, sizeof clock_table}},
      {"koord.config/1", {&config, sizeof config}},
      {"koord.evict/1", {&evict_table, sizeof evict_table}},
      {"koord.fs/1", {&fs, sizeof fs}},
      {"koord.knobs/1", {&knobs, sizeof knobs}},
      {"koord.kv/1", {&kv, sizeof kv}},
      {"koord.metrics/1", {&metrics, sizeof metrics}},
      {"koord.verdict/1", {&verdict_table, sizeof verdict_table}},
  };
  auto found = all.find(id);
  return found == all.end() ? Bytes{nullptr, 0} : found->second;
}

constexpr std::uint32_t kHeader = 2 * sizeof(std::uint32_t);
constexpr std::uint32_t kNewer = 64;  // size of members of a future version

// Returns a copy of a table. The memory after its struct_size bytes cannot be read.
const void* copy_of(Bytes whole, std::uint32_t size) {
  const auto page = static_cast<std::size_t>(page_size());
  void* memory = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no memory for a table");
  std::byte* copy = static_cast<std::byte*>(memory) + page - size;
  std::memset(copy, 0xa5, size);
  std::memcpy(copy, whole.table, std::min<std::size_t>(size, whole.size));
  std::memcpy(copy, &size, sizeof size);
  ::mprotect(memory, page, PROT_READ);
  ::mprotect(static_cast<std::byte*>(memory) + page, page, PROT_NONE);
  return copy;
}

}  // namespace

const void* watched_table(std::string_view id, const FaultInjection& faults) {
  static std::mutex mutex;
  static std::map<std::string, const void*, std::less<>> copies;  // a trial has only one kind of tables
  const Bytes whole = whole_table(id, faults.lending);
  if (!whole.table || faults.tables == Tables::whole) return whole.table;
  std::lock_guard lock(mutex);
  const void*& copy = copies[std::string(id)];
  if (!copy)
    copy = copy_of(whole, faults.tables == Tables::cut ? kHeader : static_cast<std::uint32_t>(whole.size) + kNewer);
  return copy;
}

}  // namespace koord::check
