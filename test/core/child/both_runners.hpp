// SPDX-License-Identifier: Apache-2.0
// Makes the same service calls as a plugin inside the agent and as a plugin in a child. Two hosts run on one node, and
// the calls to one of them pass through a channel, like the calls of a child. A test is a table of rows with one call
// each. Both runners must return the same status, the same text and the same answer. Each function of the services'
// tables must have a valid and an invalid row.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/child/channel.hpp"
#include "core/child/host_proxy.hpp"
#include "core/child/service_dispatcher.hpp"
#include "core/load/grants.hpp"
#include "core/service/services.hpp"
#include "koordetector/plugin.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/fake_node.hpp"

namespace koord::test {

using koord::plugin::str;

inline constexpr const char* kPod = "kubepods.slice/kubepods-pod1.slice";
inline const std::string kLong(5000, 'x'), kHuge((1 << 20) + 1, 'x');

struct Trees {
  FakeNode node{
      {{"proc/stat", "cpu 1 2\n"},
       {"proc/1/io", "rchar: 1\n"},
       {"cgroup/cgroup.controllers", "cpu memory cpuset\n"},
       {"cgroup/kubepods.slice/kubepods-pod1.slice/cgroup.procs", "11\n12\n"},
       {"cgroup/kubepods.slice/kubepods-pod1.slice/cpu.max", "20000 100000\n"},
       {"cgroup/kubepods.slice/kubepods-pod1.slice/cpu.stat", "usage_usec 1\nnr_periods 2\nnr_throttled 3\n"}}};
};

// A host that knows one pod, and a third-party plugin on it.
struct OneHost {
  FakeHost host;
  service::PluginContext context{host.services(), "com.acme.x", workshop::all_services(),
                                 R"({"a": {"b": 7}, "text": "hello", "on": true, "f": 1.5})",
                                 service::Rights{.host_plugin = false, .files = {}, .cgroups = {}}};
  std::uint64_t series_of_another = 0;  // a series of the plugin "test"

  explicit OneHost(const FakeNode& node) : host(node) {
    state::Pod pod;
    pod.uid = "1";
    pod.name = "web";
    pod.cgroup_dir = kPod;
    host.hub().publish({.pods = std::vector{pod}});
    const koord_svc_metrics& metrics = service::metrics_service;
    const koord_metric_desc desc{sizeof desc,  KOORD_GAUGE,  0,    0,      str("test_a"),
                                 str("cores"), str("Help."), 1e-4, nullptr};
    std::uint32_t metric = 0;
    REQUIRE(metrics.define(host.abi(), &desc, &metric) == KOORD_OK);
    REQUIRE(metrics.series(host.abi(), metric, KOORD_NO_SUBJECT, nullptr, 0, 0, &series_of_another) == KOORD_OK);
  }

  // Publishes the other parts of the state: the node, its topology, its NodeSLO, and a container outside of pods.
  void publish_node() {
    state::Container container;
    container.id = "docker://1";
    container.name = "db";
    state::Node node;
    node.name = "node-1";
    node.labels = {{"zone", "a"}};
    host.hub().publish({.node = node,
                        .standalone = std::vector{container},
                        .node_slo = R"({"x": 1})",
                        .topology = state::Topology{.cpus = {{.cpu = 0, .core = 0, .online = true}},
                                                    .numa_nodes = {{.id = 0, .memory_bytes = 1024}}}});
  }
};

// The other end of a channel, served as a child monitor does.
class Far {
 public:
  explicit Far(OneHost& one) : one_(one), dispatcher_(one.context, images_) {}

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
      if (service == child::Service::samples_waiting) continue;
      if (service == child::Service::log) {
        const auto level = request.number<std::int32_t>();
        one_.context.log(level, request.text());
        continue;
      }
      auto answer = dispatcher_.serve(service, request);
      if (answer && !answer->bytes.empty())
        REQUIRE(here_.send(answer->bytes, answer->image ? answer->image->fd.get() : -1));
    }
  }

  OneHost& one_;
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

// The name of a service's table for get_service().
template <class Table>
inline constexpr const char* kServiceId = nullptr;
template <>
inline constexpr const char* kServiceId<koord_svc_audit> = "koord.audit/1";
template <>
inline constexpr const char* kServiceId<koord_svc_capabilities> = "koord.capabilities/1";
template <>
inline constexpr const char* kServiceId<koord_svc_cgroup> = "koord.cgroup/1";
template <>
inline constexpr const char* kServiceId<koord_svc_clock> = "koord.clock/1";
template <>
inline constexpr const char* kServiceId<koord_svc_config> = "koord.config/1";
template <>
inline constexpr const char* kServiceId<koord_svc_evict> = "koord.evict/1";
template <>
inline constexpr const char* kServiceId<koord_svc_fs> = "koord.fs/1";
template <>
inline constexpr const char* kServiceId<koord_svc_knobs> = "koord.knobs/1";
template <>
inline constexpr const char* kServiceId<koord_svc_kv> = "koord.kv/1";
template <>
inline constexpr const char* kServiceId<koord_svc_metrics> = "koord.metrics/1";
template <>
inline constexpr const char* kServiceId<koord_svc_state> = "koord.state/1";
template <>
inline constexpr const char* kServiceId<koord_svc_verdict> = "koord.verdict/1";

// The called functions of services, each with its service and its offset in the table.
class CalledFunctions {
 public:
  using Function = std::pair<std::string, std::size_t>;

  void add(const Function& function, bool succeeded) { (succeeded ? good_ : bad_).insert(function); }
  // Adds a function without a result. Only the row knows whether its arguments were valid.
  void add(const Function& function) { unknown_.insert(function); }
  void end_row(bool good) { (good ? good_ : bad_).merge(std::exchange(unknown_, {})); }

  // Checks that each function of the table succeeded in one row and failed in a different row.
  template <class Table>
  void check_all_of() const {
    constexpr std::size_t kFirst = 2 * sizeof(std::uint32_t);  // after struct_size and rsv
    for (std::size_t at = kFirst; at < sizeof(Table); at += sizeof(void (*)())) {
      const Function function(kServiceId<Table>, at);
      const std::size_t number = (at - kFirst) / sizeof(void (*)()) + 1;
      CHECK_MESSAGE(good_.contains(function), "no row with good arguments calls function ", number, " of ",
                    function.first);
      CHECK_MESSAGE(bad_.contains(function), "no row with bad arguments calls function ", number, " of ",
                    function.first);
    }
  }

 private:
  std::set<Function> good_, bad_, unknown_;
};

// The services of one runner, called in the way in which a plugin calls them.
class Side {
 public:
  Side(OneHost& one, service::PluginSide& plugin, CalledFunctions& called)
      : Side(one, plugin.host(), plugin.host(), called) {}

  // Returns the same tables with a different host pointer for the calls.
  Side with_host(const koord_host* host) const { return Side(one_, tables_, host, called_); }
  const koord_host* host() const { return host_; }
  std::uint64_t series_of_another() const { return one_.series_of_another; }

  template <class Table>
  const Table& table() const {
    const void* found = tables_->get_service(tables_, kServiceId<Table>);
    REQUIRE(found);
    return *static_cast<const Table*>(found);
  }

  template <class Table, class Result, class... Parameters>
  Result call(Result (*Table::*function)(const koord_host*, Parameters...),
              std::type_identity_t<Parameters>... arguments) const {
    return invoke(function, host_, arguments...);
  }
  // A function of an acquired snapshot or list.
  template <class Table, class Acquired, class Result, class... Parameters>
  Result get(Result (*Table::*function)(const Acquired*, Parameters...), std::type_identity_t<const Acquired*> acquired,
             std::type_identity_t<Parameters>... arguments) const {
    return invoke(function, acquired, arguments...);
  }

 private:
  Side(OneHost& one, const koord_host* tables, const koord_host* host, CalledFunctions& called)
      : one_(one), tables_(tables), host_(host), called_(called) {}

  template <class Table, class Result, class... Parameters>
  Result invoke(Result (*Table::*function)(Parameters...), Parameters... arguments) const {
    const Table& table = this->table<Table>();
    const auto at = reinterpret_cast<const char*>(&(table.*function)) - reinterpret_cast<const char*>(&table);
    const CalledFunctions::Function called(kServiceId<Table>, at);
    if constexpr (std::is_void_v<Result>) {
      called_.add(called);
      (table.*function)(arguments...);
    } else {
      const Result result = (table.*function)(arguments...);
      called_.add(called, is_success(result));
      return result;
    }
  }

  static bool is_success(koord_status status) { return status == KOORD_OK; }
  static bool is_success(std::uint64_t number) { return number != 0; }
  static bool is_success(koord_str text) { return text.n > 0; }
  static bool is_success(const void* record) { return record; }

  OneHost& one_;
  const koord_host *tables_, *host_;
  CalledFunctions& called_;
};

// The expected status of a row with invalid arguments for a function that returns no status: 0, NULL or void.
inline constexpr koord_status kNothing = 1;

// The result of a row's call: the status, and the written values as text.
struct Reply {
  koord_status status;
  std::string answer = {};

  Reply(koord_status s) : status(s) {}
  Reply(koord_status s, const std::string& text) : status(s), answer(text) {}
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  Reply(koord_status s, const Number& number) : status(s), answer(std::to_string(number)) {}
};

struct Row {
  const char* name;
  std::function<Reply(const Side&)> call;
  koord_status expected;
  std::optional<std::string> answer = {};  // nullopt: any answer, if it is the same in both runners
};

// Returns the answer of a function that stores one value. The value is 77 before the call.
template <class Value, class Call>
Reply value_of(Call call) {
  Value value = 77;
  const koord_status status = call(&value);
  return {status, value};
}

// Returns the answer of a function that fills a buffer: the needed size, which is 77 before the call, and the text. A
// failed call must leave the buffer unchanged.
template <class Call>
Reply bytes_of(Call call, std::uint64_t cap = 256) {
  std::string buffer(256, '#');
  std::uint64_t need = 77;
  const koord_status status = call(buffer.data(), cap, &need);
  const bool filled = status == KOORD_OK && need <= cap;
  CHECK(std::string(filled ? need : 0, '#') + buffer.substr(filled ? need : 0) == std::string(256, '#'));
  return {status, std::to_string(need) + " " + (filled ? buffer.substr(0, need) : "")};
}

inline std::string error_text(service::PluginSide& plugin) {
  const auto error = plugin.take_error();
  return error ? error->text : "";
}

// Calls host functions in both runners, and checks that the status, the answer and the error text are the same.
struct BothRunners {
  Trees trees;
  OneHost near_host{trees.node}, far_host{trees.node};
  Far far{far_host};
  CalledFunctions called;
  Side near_side{near_host, near_host.context, called}, far_side{far_host, far.remote(), called};

  BothRunners() {
    const std::set<std::string> all = workshop::all_services();
    far.remote().grant({all.begin(), all.end()});
  }

  void check(const Row& row) {
    const std::string name = row.name;
    CAPTURE(name);
    error_text(near_host.context), error_text(far.remote());
    const Reply near_reply = row.call(near_side);
    const std::string near_text = error_text(near_host.context);
    const Reply far_reply = row.call(far_side);
    const std::string far_text = error_text(far.remote());
    called.end_row(row.expected == KOORD_OK);
    CHECK(near_reply.status == row.expected);
    CHECK(far_reply.status == near_reply.status);
    CHECK(far_text == near_text);
    CHECK(far_reply.answer == near_reply.answer);
    if (row.answer) CHECK(near_reply.answer == *row.answer);
  }
};

// The services with a table of rows in any of the tests.
inline std::set<std::string>& services_with_rows() {
  static std::set<std::string> services;
  return services;
}

// Rows for the functions of these services.
template <class... Tables>
class RowsOf {
 public:
  RowsOf(std::initializer_list<Row> rows) : rows_(rows) { (services_with_rows().insert(kServiceId<Tables>), ...); }

  void check() const {
    BothRunners both;
    both.near_host.publish_node();
    both.far_host.publish_node();
    for (const Row& row : rows_) both.check(row);
    (both.called.template check_all_of<Tables>(), ...);
  }

 private:
  std::vector<Row> rows_;
};

}  // namespace koord::test
