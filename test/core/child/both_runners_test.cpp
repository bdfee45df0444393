// SPDX-License-Identifier: Apache-2.0
// One table of every service call, with good and bad arguments: a plugin in the agent and one in a child get the same
// status and the same text. Two hosts on one node; the calls to one go through a channel, as a child's do.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "core/child/channel.hpp"
#include "core/child/host_proxy.hpp"
#include "core/child/service_dispatcher.hpp"
#include "core/load/grants.hpp"
#include "core/service/services.hpp"
#include "koordetector/plugin.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using koord::plugin::str;

namespace {

constexpr const char* kPod = "kubepods.slice/kubepods-pod1.slice";

struct Trees {
  test::FakeNode node{{{"proc/stat", "cpu 1 2\n"},
                       {"proc/1/io", "rchar: 1\n"},
                       {"cgroup/cgroup.controllers", "cpu memory cpuset\n"},
                       {"cgroup/kubepods.slice/kubepods-pod1.slice/cpu.max", "20000 100000\n"},
                       {"cgroup/kubepods.slice/kubepods-pod1.slice/cpu.stat", "usage_usec 1\nnr_periods 2\nnr_throttled 3\n"}}};
};

// A host and a third party's plugin of it.
struct OneHost {
  test::FakeHost host;
  host::PluginContext context{host.services(), "com.acme.x", workshop::all_services(), R"({"a": {"b": 7}, "text": "hello", "on": true, "f": 1.5})",
                              host::Rights{.host_plugin = false, .files = {}, .cgroups = {}}};

  explicit OneHost(const test::FakeNode& node) : host(node) {
    state::Pod pod;
    pod.uid = "1";
    pod.cgroup_dir = kPod;
    host.hub().publish({.pods = std::vector{pod}});
  }
};

// The far end of a channel, as a child monitor serves it.
class Far {
 public:
  explicit Far(OneHost& one) : dispatcher_(one.context, images_) {}

  child::HostProxy& remote() { return *remote_; }

  ~Far() {
    stop_ = true;
    thread_.join();
  }

 private:
  void serve() {
    while (!stop_) {
      auto message = here_.receive(std::chrono::milliseconds(20));
      if (!message || !*message) continue;
      while (auto batch = *ring_.pop()) dispatcher_.append(batch->t_ns, batch->points);
      child::Unpacker request((*message)->bytes);
      const auto service = static_cast<child::Service>(request.number<std::uint32_t>());
      if (service == child::Service::log || service == child::Service::samples_waiting) continue;
      auto answer = dispatcher_.serve(service, request);
      if (answer && !answer->bytes.empty()) REQUIRE(here_.send(answer->bytes, answer->image ? answer->image->fd.get() : -1));
    }
  }

  child::SnapshotImages images_;
  child::ServiceDispatcher dispatcher_;
  std::pair<child::Channel, child::Channel> ends_ = *child::Channel::pair();
  child::Channel& here_ = ends_.first;
  child::SampleRing ring_ = *child::SampleRing::make();
  std::unique_ptr<child::HostProxy> remote_ = std::make_unique<child::HostProxy>(
      "com.acme.x", std::move(ends_.second), *child::SampleRing::attach(UniqueFd(::dup(ring_.fd()))));
  std::atomic<bool> stop_ = false;
  std::thread thread_{[this] {
    here_.guard();
    serve();
  }};
};

// The tables of one side.
struct Side {
  const koord_host* host;
  host::PluginSide& plugin;

  template <class Table>
  const Table& table(const char* id) const {
    const void* found = host->get_service(host, id);
    REQUIRE(found);
    return *static_cast<const Table*>(found);
  }
  const koord_svc_metrics& metrics() const { return table<koord_svc_metrics>("koord.metrics/1"); }
  const koord_svc_kv& kv() const { return table<koord_svc_kv>("koord.kv/1"); }
  const koord_svc_config& config() const { return table<koord_svc_config>("koord.config/1"); }
  const koord_svc_fs& fs() const { return table<koord_svc_fs>("koord.fs/1"); }
  const koord_svc_cgroup& cgroup() const { return table<koord_svc_cgroup>("koord.cgroup/1"); }
  const koord_svc_knobs& knobs() const { return table<koord_svc_knobs>("koord.knobs/1"); }
  const koord_svc_audit& audit() const { return table<koord_svc_audit>("koord.audit/1"); }
  const koord_svc_capabilities& capabilities() const { return table<koord_svc_capabilities>("koord.capabilities/1"); }
  const koord_svc_evict& evict() const { return table<koord_svc_evict>("koord.evict/1"); }
  const koord_svc_state& state() const { return table<koord_svc_state>("koord.state/1"); }
  const koord_svc_clock& clock() const { return table<koord_svc_clock>("koord.clock/1"); }
};

struct Row {
  const char* name;
  std::function<koord_status(const Side&)> call;
  koord_status expected;
};

const std::string kLong(5000, 'x'), kHuge((1 << 20) + 1, 'x');
constexpr double kInf = std::numeric_limits<double>::infinity();

koord_metric_desc desc(std::string_view name, std::uint32_t type = KOORD_GAUGE) {
  return {sizeof(koord_metric_desc), type, KOORD_METRIC_EXPORT, 0, str(name), str("cores"), str("Help."), 1e-4, nullptr};
}

koord_status define(const Side& side, const koord_metric_desc& desc) {
  std::uint32_t metric = 0;
  return side.metrics().define(side.host, &desc, &metric);
}

std::uint64_t series(const Side& side, std::string_view name, std::uint32_t type = KOORD_GAUGE) {
  const koord_metric_desc wanted = desc(name, type);
  std::uint32_t metric = 0;
  std::uint64_t series = 0;
  REQUIRE(side.metrics().define(side.host, &wanted, &metric) == KOORD_OK);
  REQUIRE(side.metrics().series(side.host, metric, KOORD_NO_SUBJECT, nullptr, 0, 0, &series) == KOORD_OK);
  return series;
}

koord_status append(const Side& side, double value, std::uint64_t series, std::int64_t ahead_ns = 0) {
  const koord_point point{series, value};
  const std::uint64_t now = side.clock().now_ns(side.host);
  return side.metrics().append(side.host, now + static_cast<std::uint64_t>(ahead_ns), &point, 1, sizeof point);
}

koord_status get(const Side& side, koord_str key) {
  char buf[16];
  std::uint64_t need = 0;
  return side.kv().get(side.host, key, buf, sizeof buf, &need);
}

koord_status read(const Side& side, std::uint32_t root, koord_str file) {
  char buf[64];
  std::uint64_t need = 0;
  return side.fs().read(side.host, root, file, buf, sizeof buf, &need);
}

koord_status open(const Side& side, std::string_view dir, std::string_view file, std::vector<koord_str> keys) {
  std::uint64_t handle = 0;
  return side.cgroup().open(side.host, str(dir), str(file), keys.data(), static_cast<std::uint32_t>(keys.size()), &handle);
}

koord_status propose(const Side& side, const std::function<void(koord_intent&)>& change = {}) {
  koord_intent intent = {};
  intent.struct_size = sizeof intent;
  intent.level = KOORD_LEVEL_POD;
  intent.knob = str("cpu.max");
  intent.cgroup_dir = str(kPod);
  intent.value = str("20000 100000");
  intent.reason = str("busy");
  intent.ttl_ns = 60'000'000'000;
  if (change) change(intent);
  return side.knobs().propose(side.host, &intent, 1, sizeof intent);
}

koord_status evict(const Side& side, const std::function<void(koord_eviction&)>& change = {}) {
  const std::uint64_t pod = 7;
  koord_eviction eviction = {};
  eviction.struct_size = sizeof eviction;
  eviction.pods = &pod;
  eviction.n_pods = 1;
  eviction.resource = str("memory");
  eviction.reason = str("busy");
  eviction.amount = 1;
  if (change) change(eviction);
  return side.evict().request(side.host, &eviction);
}

koord_status report(const Side& side, std::string_view name, std::uint32_t state = KOORD_CAPABILITY_ABSENT) {
  return side.capabilities().report(side.host, str(name), state, str("no"));
}

koord_status query(const Side& side, const std::function<void(koord_query&)>& change = {}, std::uint32_t cap = 4) {
  koord_query query = {};
  query.struct_size = sizeof query;
  query.aggregation = KOORD_AGG_LAST;
  query.metric = str("acme_a");
  if (change) change(query);
  koord_agg_row rows[4];
  std::uint32_t need = 0;
  return side.metrics().aggregate(side.host, &query, rows, cap, sizeof rows[0], &need);
}

const Row kRows[] = {
    {"define", [](const Side& s) { return define(s, desc("acme_a")); }, KOORD_OK},
    {"define again", [](const Side& s) { return define(s, desc("acme_a")); }, KOORD_OK},
    {"define otherwise", [](const Side& s) { return define(s, desc("acme_a", KOORD_COUNTER)); }, KOORD_E_INVALID},
    {"define without a name", [](const Side& s) { return define(s, desc("")); }, KOORD_E_INVALID},
    {"define with a bad name", [](const Side& s) { return define(s, desc("a b")); }, KOORD_E_INVALID},
    {"define with a long name", [](const Side& s) { return define(s, desc(kLong)); }, KOORD_E_INVALID},
    {"define with a huge name", [](const Side& s) { return define(s, desc(kHuge)); }, KOORD_E_INVALID},
    {"define with a NULL name", [](const Side& s) { auto d = desc("a"); d.name = {nullptr, 3}; return define(s, d); }, KOORD_E_INVALID},
    {"define with a long help", [](const Side& s) { auto d = desc("a"); d.help = str(kLong); return define(s, d); }, KOORD_E_INVALID},
    {"define with a huge help", [](const Side& s) { auto d = desc("a"); d.help = str(kHuge); return define(s, d); }, KOORD_E_INVALID},
    {"define with a wrong type", [](const Side& s) { return define(s, desc("acme_b", 99)); }, KOORD_E_INVALID},
    {"define a name of the agent's", [](const Side& s) { return define(s, desc("pod_cpu_usage")); }, KOORD_E_DENIED},
    {"define with unknown flags", [](const Side& s) { auto d = desc("a"); d.flags = 1u << 20; return define(s, d); }, KOORD_E_TOO_NEW},
    {"define with bounds NULL", [](const Side& s) { auto d = desc("a", KOORD_HISTOGRAM); d.n_bounds = 3; return define(s, d); }, KOORD_E_INVALID},
    {"define with NULL", [](const Side& s) { return s.metrics().define(s.host, nullptr, nullptr); }, KOORD_E_INVALID},

    {"series of an unknown metric",
     [](const Side& s) { std::uint64_t id; return s.metrics().series(s.host, 4711, 0, nullptr, 0, 0, &id); }, KOORD_E_INVALID},
    {"series of an unknown subject", [](const Side& s) { std::uint64_t id; return s.metrics().series(s.host, 1, 4711, nullptr, 0, 0, &id); }, KOORD_E_GONE},
    {"series with labels NULL", [](const Side& s) { std::uint64_t id; return s.metrics().series(s.host, 1, 0, nullptr, 2, sizeof(koord_label), &id); },
     KOORD_E_INVALID},
    {"series with a host's label",
     [](const Side& s) { std::uint64_t id; const koord_label l{str("node"), str("x")}; return s.metrics().series(s.host, 1, 0, &l, 1, sizeof l, &id); },
     KOORD_E_INVALID},
    {"series with a long label",
     [](const Side& s) { std::uint64_t id; const koord_label l{str("k"), str(kLong)}; return s.metrics().series(s.host, 1, 0, &l, 1, sizeof l, &id); },
     KOORD_E_INVALID},
    {"series with many labels",
     [](const Side& s) {
       std::uint64_t id;
       const std::vector<koord_label> l(100, {str("k"), str("v")});
       return s.metrics().series(s.host, 1, 0, l.data(), 100, sizeof(koord_label), &id);
     },
     KOORD_E_INVALID},
    {"end a series that is none", [](const Side& s) { return s.metrics().end_series(s.host, 4711); }, KOORD_OK},

    {"append", [](const Side& s) { return append(s, 1, series(s, "acme_a")); }, KOORD_OK},
    {"append NaN", [](const Side& s) { return append(s, std::nan(""), series(s, "acme_a")); }, KOORD_OK},
    {"append an infinite value", [](const Side& s) { return append(s, kInf, series(s, "acme_a")); }, KOORD_E_INVALID},
    {"append a negative infinite value", [](const Side& s) { return append(s, -kInf, series(s, "acme_a")); }, KOORD_E_INVALID},
    {"append a huge value", [](const Side& s) { return append(s, 1e300, series(s, "acme_a")); }, KOORD_E_INVALID},
    {"append a negative total", [](const Side& s) { return append(s, -1, series(s, "acme_total", KOORD_COUNTER)); }, KOORD_E_INVALID},
    {"append a total", [](const Side& s) { return append(s, 1, series(s, "acme_total", KOORD_COUNTER)); }, KOORD_OK},
    {"append to no series", [](const Side& s) { return append(s, 1, 0); }, KOORD_E_INVALID},
    {"append to an unknown series", [](const Side& s) { return append(s, 1, (1ull << 32) | 4711); }, KOORD_E_INVALID},
    {"append in the future", [](const Side& s) { return append(s, 1, series(s, "acme_a"), 3'600'000'000'000); }, KOORD_E_INVALID},
    {"append a minute ahead", [](const Side& s) { return append(s, 1, series(s, "acme_b"), 59'000'000'000); }, KOORD_OK},
    {"append an hour back", [](const Side& s) { return append(s, 1, series(s, "acme_c"), -3'600'000'000'000); }, KOORD_OK},
    {"append NULL", [](const Side& s) { return s.metrics().append(s.host, 1, nullptr, 2, sizeof(koord_point)); }, KOORD_E_INVALID},
    {"append nothing", [](const Side& s) { return s.metrics().append(s.host, s.clock().now_ns(s.host), nullptr, 0, 0); }, KOORD_OK},
    {"append with a short stride",
     [](const Side& s) { const koord_point p{1, 1}; return s.metrics().append(s.host, 1, &p, 1, 8); }, KOORD_E_INVALID},
    {"append too many", [](const Side& s) { const koord_point p{1, 1}; return s.metrics().append(s.host, 1, &p, 1u << 19, sizeof p); }, KOORD_E_INVALID},
    {"append columns NULL", [](const Side& s) { return s.metrics().append_columns(s.host, 1, nullptr, nullptr, 2); }, KOORD_E_INVALID},
    {"append a histogram without counts",
     [](const Side& s) { const koord_histogram h{1, nullptr, 3, 0, 1}; return s.metrics().append_histograms(s.host, 1, &h, 1, sizeof h); },
     KOORD_E_INVALID},
    {"append a histogram to an unknown series",
     [](const Side& s) { const std::uint64_t n[2] = {1, 2}; const koord_histogram h{4711, n, 2, 0, 1}; return s.metrics().append_histograms(s.host, 1, &h, 1, sizeof h); },
     KOORD_E_INVALID},
    {"append very many counts",
     [](const Side& s) {
       const std::vector<std::uint64_t> n(1000, 1);
       const std::vector<koord_histogram> h(1000, {1, n.data(), 1000, 0, 1});
       return s.metrics().append_histograms(s.host, 1, h.data(), 1000, sizeof h[0]);
     },
     KOORD_E_INVALID},

    {"aggregate", [](const Side& s) { return query(s); }, KOORD_OK},
    {"aggregate without a metric", [](const Side& s) { return query(s, [](auto& q) { q.metric = str(""); }); }, KOORD_E_INVALID},
    {"aggregate a metric that is NULL", [](const Side& s) { return query(s, [](auto& q) { q.metric = {nullptr, 4}; }); }, KOORD_E_INVALID},
    {"aggregate by an unknown rule", [](const Side& s) { return query(s, [](auto& q) { q.aggregation = 99; }); }, KOORD_E_INVALID},
    {"aggregate backwards", [](const Side& s) { return query(s, [](auto& q) { q.from_ns = 2; q.to_ns = 1; }); }, KOORD_E_INVALID},
    {"aggregate an unknown subject", [](const Side& s) { return query(s, [](auto& q) { q.subject = 4711; }); }, KOORD_E_GONE},
    {"aggregate without room", [](const Side& s) { return query(s, {}, 0); }, KOORD_E_TOO_SMALL},
    {"aggregate with NULL", [](const Side& s) { std::uint32_t need; return s.metrics().aggregate(s.host, nullptr, nullptr, 0, 0, &need); }, KOORD_E_INVALID},
    {"samples without need",
     [](const Side& s) { koord_query q = {}; q.struct_size = sizeof q; return s.metrics().samples(s.host, &q, nullptr, 0, 0, nullptr); }, KOORD_E_INVALID},

    {"acquire NULL", [](const Side& s) { return s.state().acquire(s.host, nullptr); }, KOORD_E_INVALID},
    {"subscribe to unknown parts", [](const Side& s) { return s.state().subscribe(s.host, 1u << 30); }, KOORD_E_UNSUPPORTED},
    {"subscribe", [](const Side& s) { return s.state().subscribe(s.host, KOORD_ON_PODS); }, KOORD_OK},

    {"processes of nothing", [](const Side& s) { std::uint32_t n; return s.state().processes(s.host, KOORD_NO_SUBJECT, nullptr, 0, &n); }, KOORD_E_INVALID},
    {"processes of an unknown subject", [](const Side& s) { std::uint32_t n; return s.state().processes(s.host, 4711, nullptr, 0, &n); }, KOORD_E_GONE},
    {"processes without need", [](const Side& s) { return s.state().processes(s.host, 4711, nullptr, 0, nullptr); }, KOORD_E_INVALID},

    {"kv set", [](const Side& s) { return s.kv().set(s.host, str("key"), "value", 5, 0); }, KOORD_OK},
    {"kv get", [](const Side& s) { return get(s, str("key")); }, KOORD_OK},
    {"kv get what is not there", [](const Side& s) { return get(s, str("none")); }, KOORD_E_NOT_FOUND},
    {"kv get without a key", [](const Side& s) { return get(s, str("")); }, KOORD_E_INVALID},
    {"kv get with a NULL key", [](const Side& s) { return get(s, {nullptr, 4}); }, KOORD_E_INVALID},
    {"kv get with a huge key", [](const Side& s) { return get(s, {"x", 1ull << 60}); }, KOORD_E_INVALID},
    {"kv get without need", [](const Side& s) { return s.kv().get(s.host, str("key"), nullptr, 0, nullptr); }, KOORD_E_INVALID},
    {"kv set NULL", [](const Side& s) { return s.kv().set(s.host, str("key"), nullptr, 5, 0); }, KOORD_E_INVALID},
    {"kv set a huge value", [](const Side& s) { return s.kv().set(s.host, str("key"), kHuge.data(), kHuge.size(), 0); }, KOORD_E_INVALID},
    {"kv set a value of a wrong size", [](const Side& s) { return s.kv().set(s.host, str("key"), "x", 1ull << 60, 0); }, KOORD_E_INVALID},
    {"kv set a long key", [](const Side& s) { return s.kv().set(s.host, str(std::string_view(kLong).substr(0, 300)), "x", 1, 0); }, KOORD_E_INVALID},
    {"kv set beyond the quota", [](const Side& s) { return s.kv().set(s.host, str("big"), kHuge.data(), 1 << 20, 0); }, KOORD_E_AGAIN},
    {"kv remove", [](const Side& s) { return s.kv().remove(s.host, str("key")); }, KOORD_OK},
    {"kv remove NULL", [](const Side& s) { return s.kv().remove(s.host, {nullptr, 1}); }, KOORD_E_INVALID},

    {"config i64", [](const Side& s) { std::int64_t v; return s.config().i64(s.host, str("/a/b"), &v); }, KOORD_OK},
    {"config i64 of a text", [](const Side& s) { std::int64_t v; return s.config().i64(s.host, str("/text"), &v); }, KOORD_E_INVALID},
    {"config i64 of nothing", [](const Side& s) { std::int64_t v; return s.config().i64(s.host, str("/none"), &v); }, KOORD_E_NOT_FOUND},
    {"config i64 NULL", [](const Side& s) { return s.config().i64(s.host, str("/a/b"), nullptr); }, KOORD_E_INVALID},
    {"config i64 with a NULL pointer", [](const Side& s) { std::int64_t v; return s.config().i64(s.host, {nullptr, 9}, &v); }, KOORD_E_INVALID},
    {"config f64", [](const Side& s) { double v; return s.config().f64(s.host, str("/f"), &v); }, KOORD_OK},
    {"config boolean of a number", [](const Side& s) { std::int32_t v; return s.config().boolean(s.host, str("/f"), &v); }, KOORD_E_INVALID},
    {"config string", [](const Side& s) { char b[9]; std::uint64_t n; return s.config().string(s.host, str("/text"), b, 9, &n); }, KOORD_OK},
    {"config string without room", [](const Side& s) { char b[2]; std::uint64_t n; return s.config().string(s.host, str("/text"), b, 2, &n); }, KOORD_E_TOO_SMALL},
    {"config json without need", [](const Side& s) { return s.config().json(s.host, nullptr, 0, nullptr); }, KOORD_E_INVALID},

    {"fs path", [](const Side& s) { char b[256]; std::uint64_t n; return s.fs().path(s.host, KOORD_ROOT_PROC, b, 256, &n); }, KOORD_OK},
    {"fs path of no root", [](const Side& s) { char b[256]; std::uint64_t n; return s.fs().path(s.host, 99, b, 256, &n); }, KOORD_E_INVALID},
    {"fs read", [](const Side& s) { return read(s, KOORD_ROOT_PROC, str("stat")); }, KOORD_OK},
    {"fs read what needs a grant", [](const Side& s) { return read(s, KOORD_ROOT_PROC, str("1/io")); }, KOORD_E_DENIED},
    {"fs read what is never read", [](const Side& s) { return read(s, KOORD_ROOT_PROC, str("1/environ")); }, KOORD_E_DENIED},
    {"fs read out of the root", [](const Side& s) { return read(s, KOORD_ROOT_PROC, str("../x")); }, KOORD_E_INVALID},
    {"fs read without a name", [](const Side& s) { return read(s, KOORD_ROOT_PROC, str("")); }, KOORD_E_INVALID},
    {"fs read NULL", [](const Side& s) { return read(s, KOORD_ROOT_PROC, {nullptr, 4}); }, KOORD_E_INVALID},
    {"fs read a long name", [](const Side& s) { return read(s, KOORD_ROOT_PROC, str(kLong)); }, KOORD_E_INVALID},

    {"cgroup open", [](const Side& s) { return open(s, kPod, "cpu.stat", {str("nr_periods")}); }, KOORD_OK},
    {"cgroup open what is gone", [](const Side& s) { return open(s, "gone.slice", "cpu.stat", {str("nr_periods")}); }, KOORD_E_GONE},
    {"cgroup open above", [](const Side& s) { return open(s, "../x", "cpu.stat", {str("nr_periods")}); }, KOORD_E_INVALID},
    {"cgroup open an unknown file", [](const Side& s) { return open(s, kPod, "cpu.statt", {str("nr_periods")}); }, KOORD_E_INVALID},
    {"cgroup open an unknown key", [](const Side& s) { return open(s, kPod, "cpu.stat", {str("nr_period")}); }, KOORD_E_INVALID},
    {"cgroup open without keys", [](const Side& s) { return open(s, kPod, "cpu.stat", {}); }, KOORD_E_INVALID},
    {"cgroup open with many keys", [](const Side& s) { return open(s, kPod, "cpu.stat", std::vector<koord_str>(300, str("k"))); }, KOORD_E_INVALID},
    {"cgroup open with a NULL key", [](const Side& s) { return open(s, kPod, "cpu.stat", {{nullptr, 2}}); }, KOORD_E_INVALID},
    {"cgroup read", [](const Side& s) { std::int64_t v; return s.cgroup().read(s.host, 1, &v, 1, nullptr); }, KOORD_OK},
    {"cgroup read too few", [](const Side& s) { std::int64_t v[9]; return s.cgroup().read(s.host, 1, v, 9, nullptr); }, KOORD_E_INVALID},
    {"cgroup read very many", [](const Side& s) { std::vector<std::int64_t> v(9000); return s.cgroup().read(s.host, 1, v.data(), 9000, nullptr); }, KOORD_E_INVALID},
    {"cgroup read no handle", [](const Side& s) { std::int64_t v; return s.cgroup().read(s.host, 4711, &v, 1, nullptr); }, KOORD_E_INVALID},
    {"cgroup read NULL", [](const Side& s) { return s.cgroup().read(s.host, 1, nullptr, 1, nullptr); }, KOORD_E_INVALID},

    {"audit", [](const Side& s) { return s.audit().record(s.host, KOORD_NO_SUBJECT, str("seen"), str("why")); }, KOORD_OK},
    {"audit nothing", [](const Side& s) { return s.audit().record(s.host, KOORD_NO_SUBJECT, str(""), str("why")); }, KOORD_E_INVALID},
    {"audit no subject", [](const Side& s) { return s.audit().record(s.host, 4711, str("seen"), str("why")); }, KOORD_E_GONE},
    {"audit what is not UTF-8", [](const Side& s) { return s.audit().record(s.host, KOORD_NO_SUBJECT, str("\xff"), str("why")); }, KOORD_E_INVALID},
    {"audit a huge text", [](const Side& s) { return s.audit().record(s.host, KOORD_NO_SUBJECT, str("seen"), str(kHuge)); }, KOORD_E_INVALID},

    {"capability report", [](const Side& s) { return report(s, "com.acme.x/nvml"); }, KOORD_OK},
    {"capability report by its id", [](const Side& s) { return report(s, "com.acme.x"); }, KOORD_OK},
    {"capability report of the agent", [](const Side& s) { return report(s, "bpf"); }, KOORD_E_DENIED},
    {"capability report of a plugin of the agent", [](const Side& s) { return report(s, "advisor-node-resource"); }, KOORD_E_DENIED},
    {"capability report of another plugin", [](const Side& s) { return report(s, "com.acme.y/nvml"); }, KOORD_E_DENIED},
    {"capability report that begins like its id", [](const Side& s) { return report(s, "com.acme.xy"); }, KOORD_E_DENIED},
    {"capability report with an empty part", [](const Side& s) { return report(s, "com.acme.x/"); }, KOORD_E_DENIED},
    {"capability get", [](const Side& s) { std::uint32_t v; return s.capabilities().get(s.host, str("com.acme.x/nvml"), &v); }, KOORD_OK},
    {"capability get an unknown one", [](const Side& s) { std::uint32_t v; return s.capabilities().get(s.host, str("y"), &v); }, KOORD_E_NOT_FOUND},
    {"capability get NULL", [](const Side& s) { return s.capabilities().get(s.host, str("com.acme.x"), nullptr); }, KOORD_E_INVALID},
    {"capability report no state", [](const Side& s) { return report(s, "com.acme.x", 99); }, KOORD_E_INVALID},

    {"propose", [](const Side& s) { return propose(s); }, KOORD_OK},
    {"propose no knob", [](const Side& s) { return propose(s, [](auto& i) { i.knob = str("cpu.mox"); }); }, KOORD_E_INVALID},
    {"propose a NULL knob", [](const Side& s) { return propose(s, [](auto& i) { i.knob = {nullptr, 4}; }); }, KOORD_E_INVALID},
    {"propose no value", [](const Side& s) { return propose(s, [](auto& i) { i.value = str(""); }); }, KOORD_E_INVALID},
    {"propose a bad value", [](const Side& s) { return propose(s, [](auto& i) { i.value = str("much"); }); }, KOORD_E_INVALID},
    {"propose without a reason", [](const Side& s) { return propose(s, [](auto& i) { i.reason = str(""); }); }, KOORD_E_INVALID},
    {"propose for another cgroup", [](const Side& s) { return propose(s, [](auto& i) { i.cgroup_dir = str("system.slice"); }); }, KOORD_E_DENIED},
    {"propose above", [](const Side& s) { return propose(s, [](auto& i) { i.cgroup_dir = str("../x"); }); }, KOORD_E_INVALID},
    {"propose for no time", [](const Side& s) { return propose(s, [](auto& i) { i.ttl_ns = 0; }); }, KOORD_E_INVALID},
    {"propose no level", [](const Side& s) { return propose(s, [](auto& i) { i.level = 99; }); }, KOORD_E_INVALID},
    {"propose no role", [](const Side& s) { return propose(s, [](auto& i) { i.role = 99; }); }, KOORD_E_INVALID},
    {"propose with unknown flags", [](const Side& s) { return propose(s, [](auto& i) { i.flags = 1; }); }, KOORD_E_TOO_NEW},
    {"propose a short record", [](const Side& s) { return propose(s, [](auto& i) { i.struct_size = 1; }); }, KOORD_E_INVALID},
    {"propose NULL", [](const Side& s) { return s.knobs().propose(s.host, nullptr, 1, sizeof(koord_intent)); }, KOORD_E_INVALID},
    {"propose too many",
     [](const Side& s) { const std::vector<koord_intent> many(10'001, koord_intent{.struct_size = sizeof(koord_intent)}); return s.knobs().propose(s.host, many.data(), 10'001, sizeof many[0]); },
     KOORD_E_AGAIN},
    {"knob current", [](const Side& s) { char b[64]; std::uint64_t n; return s.knobs().current(s.host, str("cpu.max"), str(kPod), b, 64, &n); }, KOORD_OK},
    {"knob current of nothing", [](const Side& s) { char b[64]; std::uint64_t n; return s.knobs().current(s.host, str("cpu.max"), str("gone"), b, 64, &n); },
     KOORD_E_GONE},
    {"knob base NULL", [](const Side& s) { char b[64]; std::uint64_t n; return s.knobs().base(s.host, {nullptr, 1}, str(kPod), b, 64, &n); }, KOORD_E_INVALID},

    {"evict", [](const Side& s) { return evict(s); }, KOORD_OK},
    {"evict no pod", [](const Side& s) { return evict(s, [](auto& e) { e.n_pods = 0; }); }, KOORD_E_INVALID},
    {"evict for nothing", [](const Side& s) { return evict(s, [](auto& e) { e.amount = 0; }); }, KOORD_E_INVALID},
    {"evict for no resource", [](const Side& s) { return evict(s, [](auto& e) { e.resource = str("luck"); }); }, KOORD_E_INVALID},
    {"evict without a reason", [](const Side& s) { return evict(s, [](auto& e) { e.reason = {nullptr, 3}; }); }, KOORD_E_INVALID},
    {"evict pods NULL", [](const Side& s) { return evict(s, [](auto& e) { e.pods = nullptr; }); }, KOORD_E_INVALID},
};

std::string told(host::PluginSide& plugin) {
  const auto error = plugin.take_error();
  return error ? error->text : "";
}

}  // namespace

TEST_CASE("a service answers a plugin in the agent and one in a child with the same status and text") {
  const Trees trees;
  OneHost near_host(trees.node), far_host(trees.node);
  Far far(far_host);
  const std::set<std::string> all = workshop::all_services();
  far.remote().grant({all.begin(), all.end()});
  const Side near_side{near_host.context.host(), near_host.context}, far_side{far.remote().host(), far.remote()};
  for (const Row& row : kRows) {
    CAPTURE(row.name);
    told(near_host.context), told(far.remote());
    const koord_status near_status = row.call(near_side);
    const std::string near_text = told(near_host.context);
    const koord_status far_status = row.call(far_side);
    const std::string far_text = told(far.remote());
    CHECK(near_status == row.expected);
    CHECK(far_status == near_status);
    CHECK(far_text == near_text);
  }
}

TEST_CASE("a child's query sees what the child appended before, as a plugin's in the agent does") {
  const Trees trees;
  OneHost one(trees.node);
  Far far(one);
  const std::set<std::string> all = workshop::all_services();
  far.remote().grant({all.begin(), all.end()});
  const Side side{far.remote().host(), far.remote()};
  far.remote().set_in_call(true);  // the batch is not reported
  REQUIRE(append(side, 42, series(side, "acme_a")) == KOORD_OK);
  koord_query query = {};
  query.struct_size = sizeof query;
  query.aggregation = KOORD_AGG_LAST;
  query.metric = str("acme_a");
  koord_agg_row row;
  std::uint32_t need = 0;
  REQUIRE(side.metrics().aggregate(side.host, &query, &row, 1, sizeof row, &need) == KOORD_OK);
  REQUIRE(need == 1);
  CHECK(row.value == 42);
}
