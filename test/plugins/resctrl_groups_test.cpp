// SPDX-License-Identifier: Apache-2.0
// qos-resctrl with its intents enforced on a plain tree that behaves like the kernel's resctrl: a group is made and
// removed together with its files, writing a line replaces only that line, and a thread that is moved to a group leaves
// its old group.
#include <doctest/doctest.h>

#include <filesystem>
#include <list>
#include <map>
#include <set>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/knob/governor.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/node_slo.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

constexpr const char* kBestEffortPart =
    R"({"resourceQOSStrategy": {"beClass": {"resctrlQOS": )"
    R"({"enable": true, "catRangeStartPercent": 0, "catRangeEndPercent": 30, "mbaPercent": 50}}}})";
constexpr const char* kNothing = R"({"resourceQOSStrategy": {}})";
constexpr const char* kPod = "kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podu1.slice";

// Called before and after each write. Applies the immediate effects that a kernel would have to the files.
class ResctrlKernel final : public MemoryOriginals {
 public:
  explicit ResctrlKernel(FakeNode& node) : node_(node) {
    lines_[""] = {{"MB", "0=100;1=100"}, {"L3", "0=7ff;1=7ff"}};
    show();
  }

  Result<void> keep(std::span<const Original> originals) override {
    for (const Original& one : originals)
      if (one.key.resource == "resctrl.made" && one.asked.back() == Texts{"0"}) end_group(one.key.cgroup_dir);
    return MemoryOriginals::keep(originals);
  }
  void wrote(const KnobKey& key, const Texts& written) override {
    MemoryOriginals::wrote(key, written);
    learn();
    if (key.resource == "resctrl.made" && fs::exists(node_.path("resctrl/" + key.cgroup_dir)))
      lines_.try_emplace(key.cgroup_dir, lines_[""]);
    show();
  }

  // Return parts of a group's files: a line such as "L3:0=f;1=f", and the threads in the group.
  std::string line(const std::string& group, const std::string& resource) { return lines_.at(group).at(resource); }
  std::set<std::string> threads(const std::string& group) const {
    std::set<std::string> threads;
    for (const auto& [id, in] : group_of_)
      if (in == group) threads.insert(id);
    return threads;
  }
  bool has(const std::string& group) const { return lines_.contains(group); }
  void begin_thread(const std::string& id) {
    group_of_[id] = "";
    show();
  }

 private:
  static std::string folder(const std::string& group) { return "resctrl/" + (group.empty() ? "" : group + "/"); }
  // Reads the written text, which has replaced the earlier text, into the model.
  void learn() {
    for (auto& [group, lines] : lines_) {
      const std::string schemata = *read_file(node_.path(folder(group) + "schemata"));
      for (const std::string& line : split(schemata, '\n'))
        if (const std::size_t colon = line.find(':'); colon != std::string::npos)
          lines[std::string(trim(line.substr(0, colon)))] = line.substr(colon + 1);
      for (const std::string& id : split(*read_file(node_.path(folder(group) + "tasks")), '\n'))
        if (!id.empty() && shown_[group].find(id) == std::string::npos) group_of_[id] = group;
    }
  }
  void show() {
    for (const auto& [group, lines] : lines_) {
      std::string schemata, tasks;
      for (const auto& [resource, values] : lines) schemata += "    " + resource + ":" + values + "\n";
      for (const std::string& id : threads(group)) tasks += id + "\n";
      node_.write(folder(group) + "schemata", schemata);
      node_.write(folder(group) + "tasks", tasks);
      shown_[group] = tasks;
    }
  }
  void end_group(const std::string& group) {
    for (const std::string& id : threads(group)) group_of_[id] = "";
    lines_.erase(group);
    for (const char* file : {"schemata", "tasks"}) node_.remove(folder(group) + file);
    show();
  }

  FakeNode& node_;
  std::map<std::string, std::map<std::string, std::string>> lines_;  // keys: group, resource
  std::map<std::string, std::string> group_of_, shown_;
};

struct Node {
  FakeNode node{{"proc/filesystems", "nodev\tresctrl\n"},
                {"proc/cpuinfo", "vendor_id\t: GenuineIntel\nflags\t\t: fpu cat_l3 mba\n"},
                {"proc/1/mounts", "resctrl /sys/fs/resctrl resctrl rw,relatime 0 0\n"},
                {"resctrl/info/L3/cbm_mask", "7ff\n"},
                {"resctrl/info/L3/min_cbm_bits", "1\n"},
                {"resctrl/info/L3/num_closids", "16\n"},
                {"resctrl/info/MB/bandwidth_gran", "10\n"},
                {"resctrl/info/MB/min_bandwidth", "10\n"},
                {"resctrl/info/MB/num_closids", "8\n"},
                {"cgroup/cgroup.controllers", "cpu cpuset memory\n"},
                {std::string("cgroup/") + kPod + "/cgroup.threads", "101\n"},
                {std::string("cgroup/") + kPod + "/c1/cgroup.threads", ""}};
  ResctrlKernel kernel{node};
  FakeHost host{node};
  Governor governor{host.clock(), *cgroup::Layout::detect(node.roots()), node.roots(), kernel};
  FakeInstance strategy{host, koord_entry_v1()};
  std::vector<IntentResult> reported;

  Node() {
    kernel.begin_thread("1");
    kernel.begin_thread("101");
    governor.set_node_mode(Mode::enforce);
    REQUIRE(strategy.init() == KOORD_OK);
    publish(kBestEffortPart);
  }
  void publish(const std::string& slo, const std::string& own = "", const std::string& uid = "u1") {
    state::Pod pod;
    pod.uid = uid, pod.namespace_ = "shop", pod.name = "nightly";
    pod.phase = state::Phase::running;
    pod.koord_qos = state::KoordQos::be;
    pod.cgroup_dir = kPod;
    if (!own.empty()) pod.annotations["node.koordinator.sh/resctrl"] = own;
    host.hub().publish({.pods = std::vector{pod}, .node_slo = slo});
  }
  void round(std::chrono::nanoseconds after = 5s) { round(governor, after); }
  void round(Governor& by, std::chrono::nanoseconds after = 5s) {
    host.clock().advance(after);
    REQUIRE(strategy.evaluate() == KOORD_OK);
    by.take({"qos-resctrl", "resctrl"}, host.context().take_plan(),
            [this](std::vector<IntentResult> results) { reported = std::move(results); });
    REQUIRE(strategy.on_applied(reported) == KOORD_OK);
  }
  bool is_there(const std::string& group) const { return fs::exists(node.path("resctrl/" + group)); }
};

}  // namespace

TEST_CASE_FIXTURE(Node,
                  "a class gets its group with its part of caches and bandwidth, and its pods' threads are in it") {
  round();
  REQUIRE(kernel.has("koord-BE"));
  CHECK(kernel.line("koord-BE", "L3") == "0=f;1=f");
  CHECK(kernel.line("koord-BE", "MB") == "0=50;1=50");
  CHECK(kernel.line("", "L3") == "0=7ff;1=7ff");
  CHECK(kernel.threads("koord-BE") == std::set<std::string>{"101"});
  CHECK(kernel.threads("") == std::set<std::string>{"1"});
  REQUIRE(reported.size() == 3);
  for (const IntentResult& one : reported) {
    CAPTURE(one.knob);
    CHECK(one.outcome == Outcome::applied);
  }
  CHECK(reported[0].final_value == "0=f;1=f");  // the value that was read back
  CHECK(governor.held() == 4);                  // including the making of the group
}

TEST_CASE_FIXTURE(
    Node, "a class that is switched off: threads are in their earlier groups, and the class's group is removed") {
  round();
  REQUIRE(is_there("koord-BE"));
  publish(kNothing);
  round();
  CHECK_FALSE(is_there("koord-BE"));
  CHECK(kernel.threads("") == std::set<std::string>{"1", "101"});
  CHECK(governor.held() == 0);
  CHECK(kernel.all().empty());
}

TEST_CASE_FIXTURE(Node,
                  "hostile parts of a NodeSLO end the class's part, and those of a pod give it no group of its own") {
  const std::set<std::string> all = {"1", "101"};
  const auto part = [](const std::string& fields) {
    return koord::test::node_slo_of(R"({"resourceQOSStrategy": {"beClass": {"resctrlQOS": {"enable": true, )" + fields +
                                    "}}}}");
  };
  for (const char* fields : {R"("catRangeStartPercent": -1)", R"("catRangeEndPercent": 101)",
                             R"("catRangeEndPercent": 0)", R"("catRangeStartPercent": 30, "catRangeEndPercent": 30)",
                             R"("catRangeStartPercent": 80, "catRangeEndPercent": 20)", R"("catRangeEndPercent": "30")",
                             R"("catRangeEndPercent": 30.5)", R"("mbaPercent": -1)", R"("mbaPercent": 101)",
                             R"("mbaPercent": 9223372036854775808)", R"("mbaPercent": 1e300)"}) {
    CAPTURE(fields);
    publish(kBestEffortPart);
    round();
    REQUIRE(kernel.has("koord-BE"));
    publish(part(fields));
    round();
    CHECK_FALSE(is_there("koord-BE"));
    CHECK(kernel.threads("") == all);
    CHECK(kernel.line("", "L3") == "0=7ff;1=7ff");
    CHECK(kernel.all().empty());
  }
  publish(part(R"("catRangeEndPercent": 1, "mbaPercent": 1)"));  // the minimum that the CPU accepts
  round();
  CHECK(kernel.line("koord-BE", "L3") == "0=1;1=1");
  CHECK(kernel.line("koord-BE", "MB") == "0=10;1=10");
  for (const char* own :
       {R"({"llc": {"schemata": {"range": [0, 101]}}})", R"({"llc": {"schemata": {"range": [50, 20]}}})",
        R"({"llc": {"schemata": {"range": [-1, 5]}}})", R"({"mb": {"schemata": {"percent": 1000}}})",
        R"({"llc": {"schemataPerCache": [{"cacheID": -1, "range": [0, 50]}]}})", "[]", "{"}) {
    CAPTURE(own);
    publish(kBestEffortPart, own);
    round();
    CHECK(kernel.threads("koord-BE") == std::set<std::string>{"101"});
    CHECK_FALSE(is_there("koord-pod-u1"));
  }
  publish(kNothing);
  round();
  round(61s);
  round();
  CHECK(kernel.threads("") == all);
  CHECK(kernel.all().empty());
}

TEST_CASE_FIXTURE(Node, "later threads are moved at the next poll, and do not count as another writer") {
  round();
  kernel.begin_thread("202");
  node.write(std::string("cgroup/") + kPod + "/c1/cgroup.threads", "202\n");
  for (int i = 0; i < 12; ++i) round();
  CHECK(kernel.threads("koord-BE") == std::set<std::string>{"101", "202"});
  for (const IntentResult& one : reported) CHECK(one.outcome == Outcome::applied);
}

TEST_CASE_FIXTURE(Node, "after an agent was killed the next one takes over its group, or removes it") {
  round();
  Governor next{host.clock(), *cgroup::Layout::detect(node.roots()), node.roots(), kernel};
  next.set_node_mode(Mode::enforce);
  REQUIRE(next.adopt(kernel.all(), 30s, false).empty());
  SUBCASE("it is proposed again") {
    round(next);
    CHECK(next.adopted() == 0);
    CHECK(kernel.threads("koord-BE") == std::set<std::string>{"101"});
  }
  SUBCASE("it is not") {
    publish(kNothing);
    round(next, 31s);
    CHECK_FALSE(is_there("koord-BE"));
    CHECK(kernel.threads("koord-BE").empty());
    CHECK(kernel.all().empty());
  }
}

// Tests the property of test/composed on this tree, because the machine's kernel may lack resctrl.
TEST_CASE_FIXTURE(
    Node, "after any interruption a class gets its part again; when the agent or the class ends, all is as before") {
  std::list<Governor> agents;
  std::list<FakeInstance> plugins;
  Governor* agent = &governor;
  FakeInstance* plugin = &strategy;
  std::uint64_t session = 0;
  const auto rounds = [&] {
    for (int i = 0; i < 3; ++i) {
      host.clock().advance(5s);
      REQUIRE(plugin->evaluate() == KOORD_OK);
      agent->take({"qos-resctrl", "resctrl", session}, host.context().take_plan(),
                  [this](std::vector<IntentResult> results) { reported = std::move(results); });
      REQUIRE(plugin->on_applied(reported) == KOORD_OK);
    }
  };
  const auto begin_plugin = [&] {
    plugin = &plugins.emplace_back(host, koord_entry_v1());
    REQUIRE(plugin->init() == KOORD_OK);
    ++session;
  };
  const auto begin_agent = [&](bool is_kept) {
    agent = &agents.emplace_back(host.clock(), *cgroup::Layout::detect(node.roots()), node.roots(), kernel);
    agent->set_node_mode(Mode::enforce);
    CHECK(agent->adopt(kernel.all(), 30s, is_kept).empty());
    begin_plugin();
  };
  const auto has_its_part = [&] {
    return kernel.has("koord-BE") && kernel.line("koord-BE", "L3") == "0=f;1=f" &&
           kernel.line("koord-BE", "MB") == "0=50;1=50" && kernel.threads("koord-BE") == std::set<std::string>{"101"} &&
           kernel.line("", "L3") == "0=7ff;1=7ff";
  };
  const auto is_as_before = [&] {
    return !is_there("koord-BE") && kernel.threads("") == std::set<std::string>{"1", "101"} &&
           kernel.line("", "L3") == "0=7ff;1=7ff" && kernel.all().empty();
  };
  rounds();
  REQUIRE(has_its_part());
  begin_agent(false);  // the state is the same as after SIGKILL
  CHECK(has_its_part());
  rounds();
  CHECK(has_its_part());
  agent->leave();  // onExit: keep
  begin_agent(true);
  CHECK(has_its_part());
  rounds();
  CHECK(has_its_part());
  const std::uint64_t before = session;
  begin_plugin();  // a reload: the new instance proposes before the old one ends
  rounds();
  agent->withdraw({"qos-resctrl", "resctrl", before});
  CHECK(has_its_part());
  REQUIRE(plugin->on_event(KOORD_ON_CONFIG) == KOORD_OK);
  rounds();
  CHECK(has_its_part());
  agent->stop();
  CHECK(is_as_before());
  begin_agent(false);
  rounds();
  CHECK(has_its_part());
  publish(kNothing);
  rounds();
  CHECK(is_as_before());
}

TEST_CASE_FIXTURE(Node, "the agent's groups without a journal entry are removed after a minute, other groups never") {
  for (const char* group : {"koord-pod-gone", "runtime", "mon_groups/koord-x"})
    node.make_directory("resctrl/" + std::string(group));
  for (int i = 0; i < 14; ++i) round();
  CHECK_FALSE(is_there("koord-pod-gone"));
  CHECK(is_there("runtime"));
  CHECK(is_there("mon_groups/koord-x"));
  CHECK(is_there("koord-BE"));
}

TEST_CASE_FIXTURE(Node, "in shadow mode no group is made and no thread is moved") {
  governor.set_node_mode(Mode::shadow);
  round();
  CHECK_FALSE(is_there("koord-BE"));
  CHECK(kernel.threads("") == std::set<std::string>{"1", "101"});
  REQUIRE(governor.decisions().size() == 3);
  for (const Decision& one : governor.decisions()) {
    CAPTURE(one.problem);
    CHECK(one.outcome == Outcome::shadow);
  }
}
