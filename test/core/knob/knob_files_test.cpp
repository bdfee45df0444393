// SPDX-License-Identifier: Apache-2.0
#include "core/knob/knob_files.hpp"

#include <doctest/doctest.h>

#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "core/base/parse.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;

namespace {

struct Files {
  explicit Files(std::initializer_list<std::pair<std::string_view, std::string_view>> tree) : node(tree) {}

  test::FakeNode node;
  KnobFiles files{*cgroup::Layout::detect(node.roots()), node.roots()};

  std::string content(const std::string& path) const { return std::string(trim(*read_file(node.path(path)))); }
  std::string current(std::string_view knob, std::string_view dir = "") const {
    Result<std::string> value = read_knob(files, knob, dir);
    return value ? *value : value.error().message();
  }
  // Sets a knob as the executor does.
  void set(std::string_view name, std::string_view dir, std::string_view text) const {
    const Knob& knob = *find_knob(name);
    const Value value = *parse_value(knob, text);
    const KnobTarget target{knob, dir, value.item};
    const Texts now = files.read(target)->texts;
    Result<void> written = files.write(target, *files.texts_of(knob, value), now);
    const std::string problem = written ? "" : written.error().message();
    INFO(problem);
    CHECK(written.has_value());
  }
};

}  // namespace

TEST_CASE("a device's limits on v2 are one line among those of other devices") {
  Files on(
      {{"cgroup/cgroup.controllers", "io\n"}, {"cgroup/pod/io.max", "8:0 rbps=1000 wbps=max riops=max wiops=max\n"}});
  CHECK(on.current("io.max 8:0", "pod") == "8:0 rbps=1000 wbps=max riops=max wiops=max");
  CHECK(on.current("io.max 8:16", "pod") == "8:16 rbps=max wbps=max riops=max wiops=max");
  CHECK(on.current("io.max", "pod") == "8:0 rbps=1000 wbps=max riops=max wiops=max");
  on.set("io.max", "pod", "8:16 wiops=120");
  CHECK(on.content("cgroup/pod/io.max") == "8:16 rbps=max wbps=max riops=max wiops=120");
}

TEST_CASE("on v1 only the throttle files that change are written, and no limit is 0") {
  Files on({{"cgroup/blkio/pod/blkio.throttle.read_bps_device", "8:16 1000\n"},
            {"cgroup/blkio/pod/blkio.throttle.write_bps_device", "8:0 7\n"},
            {"cgroup/blkio/pod/blkio.throttle.read_iops_device", "\n"},
            {"cgroup/blkio/pod/blkio.throttle.write_iops_device", "\n"}});
  CHECK(on.current("io.max 8:16", "pod") == "8:16 rbps=1000 wbps=max riops=max wiops=max");
  on.set("io.max", "pod", "8:16 riops=50");
  CHECK(on.content("cgroup/blkio/pod/blkio.throttle.read_bps_device") == "8:16 0");
  CHECK(on.content("cgroup/blkio/pod/blkio.throttle.write_bps_device") == "8:0 7");
  CHECK(on.content("cgroup/blkio/pod/blkio.throttle.read_iops_device") == "8:16 50");
}

TEST_CASE("the class of packets is a file of v1, and a node without the controller lacks the knob") {
  Files on({{"cgroup/net_cls/pod/net_cls.classid", "0\n"}, {"cgroup/cpu/tasks", ""}});
  CHECK(on.current("net_cls.classid", "pod") == "0");
  on.set("net_cls.classid", "pod", "4294967295");
  CHECK(on.content("cgroup/net_cls/pod/net_cls.classid") == "4294967295");
  Files without({{"cgroup/cgroup.controllers", "cpu\n"}});
  CHECK(without.current("net_cls.classid", "pod").find("this node has no net_cls controller") != std::string::npos);
}

TEST_CASE("knobs of the node are below proc and sys") {
  Files on({{"cgroup/cgroup.controllers", "io\n"},
            {"proc/sys/vm/min_free_kbytes", "67584\n"},
            {"sys/kernel/mm/memcg_reaper/reap_background", "0\n"},
            {"sys/kernel/debug/sched_features", "GENTLE_FAIR_SLEEPERS NO_HRTICK\n"}});
  CHECK(on.current("vm.min_free_kbytes") == "67584");
  on.set("vm.min_free_kbytes", "", "90000");
  CHECK(on.content("proc/sys/vm/min_free_kbytes") == "90000");
  on.set("memcg_reaper.reap_background", "", "1");
  CHECK(on.content("sys/kernel/mm/memcg_reaper/reap_background") == "1");
  CHECK(on.current("sched_features HRTICK") == "NO_HRTICK");
  on.set("sched_features", "", "HRTICK");
  CHECK(on.content("sys/kernel/debug/sched_features") == "HRTICK");
  CHECK(read_knob(on.files, "vm.watermark_scale_factor", "").error().is(std::errc::not_supported));
  CHECK(read_knob(on.files, "sched_features NONSUCH", "").error().is(std::errc::not_supported));
}

TEST_CASE("from Linux 5.13 on the scheduler's features are in a directory of it") {
  Files on({{"cgroup/cgroup.controllers", "io\n"}, {"sys/kernel/debug/sched/features", "HRTICK\n"}});
  on.set("sched_features", "", "NO_HRTICK");
  CHECK(on.content("sys/kernel/debug/sched/features") == "NO_HRTICK");
}

TEST_CASE("a group's share of the cache is a line of its schemata, and what it belongs to is gone with the group") {
  Files on({{"cgroup/cgroup.controllers", "io\n"},
            {"resctrl/schemata", "    MB:0=100;1=100\n    L3:0=fff;1=fff\n"},
            {"resctrl/info/MB/bandwidth_gran", "10\n"},
            {"resctrl/koord-be/schemata", "    MB:0=100;1=100\n    L3:0=0ff;1=fff\n"}});
  CHECK(on.current("resctrl.l3", "koord-be") == "0=0ff;1=fff");
  CHECK(on.current("resctrl.mb", "koord-be") == "0=100;1=100");
  on.set("resctrl.mb", "koord-be", "0=50;1=50");
  CHECK(on.content("resctrl/koord-be/schemata") == "MB:0=50;1=50");
  CHECK(read_knob(on.files, "resctrl.l3", "koord-ls").error().is(std::errc::no_such_device));
  const Knob& mb = *find_knob("resctrl.mb");
  CHECK(spell(mb, *on.files.settled(mb, *parse_value(mb, "0=85"))) == "0=90");  // the value that the kernel will return
}

TEST_CASE("a node without resctrl has none of its knobs") {
  Files on({{"cgroup/cgroup.controllers", "cpu\n"}, {"cgroup/pod/cgroup.threads", "7\n"}});
  CHECK(read_knob(on.files, "resctrl.l3", "koord-be").error().is(std::errc::not_supported));
  CHECK(read_knob(on.files, "resctrl.group", "pod").error().is(std::errc::not_supported));
}

TEST_CASE("the resctrl groups of a cgroup are those of its threads, and of the cgroups inside") {
  Files on({{"cgroup/cgroup.controllers", "cpu\n"},
            {"cgroup/pod/cgroup.threads", "\n"},
            {"cgroup/pod/app/cgroup.threads", "7\n8\n"},
            {"cgroup/empty/cgroup.threads", "\n"},
            {"resctrl/schemata", "L3:0=fff\n"},
            {"resctrl/tasks", "1\n7\n"},
            {"resctrl/koord-be/tasks", "8\n"},
            {"resctrl/koord-be/schemata", "L3:0=f\n"}});
  CHECK(on.current("resctrl.group", "pod") == "/ koord-be");
  CHECK(on.current("resctrl.group", "pod/app") == "/ koord-be");
  CHECK(on.current("resctrl.group", "empty") == "");
  on.set("resctrl.group", "pod", "koord-be");
  CHECK(on.content("resctrl/koord-be/tasks") == "7");  // 8 is already in it
  on.files.begin_round();
  on.set("resctrl.group", "pod", "/");
  CHECK(on.content("resctrl/tasks") == "7");
}

TEST_CASE("a one-shot removes a stale group, of our own only, and a missing one is no error") {
  Files on({{"cgroup/cgroup.controllers", "cpu\n"}, {"resctrl/schemata", "L3:0=fff\n"}});
  const Knob& made = *find_knob("resctrl.made");
  const Knob& remove = *find_knob("resctrl.remove");
  ManualClock clock;
  REQUIRE(on.files.write({made, "koord-old"}, {"1"}, {"0"}));
  CHECK(*on.files.run_one_shot({remove, "koord-old"}, 1, clock, Duration(0)) == 1);
  CHECK(on.files.read({made, "koord-old"})->value.amount == 0);
  CHECK(on.files.run_one_shot({remove, "koord-old"}, 1, clock, Duration(0)));
  CHECK(check_place(remove, Level::node, "koord-old"));
  CHECK(
      check_place(remove, Level::node, "BE").error().message() ==
      "'resctrl.remove' is a one-shot on a resctrl group: the level must be the node, and cgroup_dir a name that begins with 'koord-'");
}

TEST_CASE("only groups of our own are made, and removed") {
  Files on({{"cgroup/cgroup.controllers", "cpu\n"},
            {"resctrl/schemata", "L3:0=fff\n"},
            {"resctrl/BE/schemata", "L3:0=f\n"}});
  const Knob& made = *find_knob("resctrl.made");
  CHECK(on.files.read({made, "BE"})->value.amount == 1);
  CHECK(on.files.read({made, "koord-be"})->value.amount == 0);
  CHECK(on.files.write({made, "koord-be"}, {"1"}, {"0"}).has_value());
  CHECK(on.files.read({made, "koord-be"})->value.amount == 1);
  CHECK(on.files.write({made, "koord-be"}, {"0"}, {"1"}).has_value());
  CHECK(on.files.read({made, "koord-be"})->value.amount == 0);
  CHECK(on.files.write({made, "LSR"}, {"1"}, {"0"}).error().message() ==
        "the resctrl group 'LSR' is not there, and one that is made here begins with 'koord-'");
}

TEST_CASE("on a hybrid node each knob is where its controller is, spelled as that version does") {
  Files on({{"cgroup/cpu/pod/cpu.cfs_quota_us", "-1\n"},
            {"cgroup/cpu/pod/cpu.cfs_period_us", "100000\n"},
            {"cgroup/unified/cgroup.controllers", "memory\n"},
            {"cgroup/unified/pod/memory.max", "max\n"}});
  on.set("cpu.max", "pod", "50000 100000");
  on.set("memory.max", "pod", "4096");
  CHECK(on.content("cgroup/cpu/pod/cpu.cfs_quota_us") == "50000");
  CHECK(on.content("cgroup/unified/pod/memory.max") == "4096");
  CHECK(on.files.read({*find_knob("cpuset.cpus"), "pod"}).error().is(std::errc::not_supported));
}
