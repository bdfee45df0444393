// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-memory-events/oom_log.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "plugins/advisor-memory-events/cgroup_index.hpp"
#include "plugins/advisor-memory-events/memory_events.hpp"

using namespace koord::memory_events;

namespace {

// Lines of Linux 6.18, some in the middle left out.
const std::vector<std::string_view> kMemcgKill = {
    "4,3580,16861673000,-;python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
    "6,3581,16861673001,-;memory: usage 32768kB, limit 32768kB, failcnt 36",
    "6,3582,16861673002,-;Memory cgroup stats for /koord-test:",
    "6,3583,16861673003,-;[  22699]     0 22699    55346    11552     9888     1664         0   143360        0   0 python3",
    "6,3584,16861673004,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=c,mems_allowed=0,oom_memcg=/kubepods/pod1,"
    "task_memcg=/kubepods/pod1/c1,task=python3,pid=22699,uid=0",
    "3,3585,16861673005,-;Memory cgroup out of memory: Killed process 22699 (python3) total-vm:221384kB, anon-rss:39552kB, "
    "file-rss:6656kB, shmem-rss:0kB, UID:0 pgtables:140kB oom_score_adj:0",
};

std::vector<OomKill> all(const std::vector<std::string_view>& lines) {
  OomLog log;
  std::vector<OomKill> kills;
  for (std::string_view line : lines)
    if (auto kill = log.feed(line)) kills.push_back(*kill);
  return kills;
}

OomKill only(std::string_view line) {
  const std::vector<OomKill> kills = all({line});
  REQUIRE(kills.size() == 1);
  return kills[0];
}

}  // namespace

TEST_CASE("a kill in a cgroup is reported once, with victim, cgroup, limit and usage") {
  const std::vector<OomKill> kills = all(kMemcgKill);
  REQUIRE(kills.size() == 1);
  CHECK(kills[0].cgroup == "/kubepods/pod1/c1");
  CHECK(kills[0].limit_cgroup == "/kubepods/pod1");
  CHECK(kills[0].process == "python3");
  CHECK(kills[0].pid == 22699);
  CHECK(kills[0].limit_bytes == 32u << 20);
  CHECK(kills[0].usage_bytes == 32u << 20);
}

TEST_CASE("a kill because the node was out of memory names no limit") {
  const OomKill kill = only(
      "6,1,1,-;oom-kill:constraint=CONSTRAINT_NONE,nodemask=0,2-3,cpuset=/,mems_allowed=0,global_oom,task_memcg=/a,task=x,"
      "pid=7,uid=0");
  CHECK(kill.cgroup == "/a");
  CHECK(kill.limit_cgroup.empty());
  CHECK(kill.pid == 7);
}

TEST_CASE("a process cannot pretend another cgroup or pid by its name") {
  const OomKill kill = only(
      "6,1,1,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/a,task_memcg=/a,"
      "task=a,task_memcg=/b,pid=1,pid=77,uid=1000");
  CHECK(kill.cgroup == "/a");
  CHECK(kill.process == "a,task_memcg=/b,pid=1");
  CHECK(kill.pid == 77);
}

TEST_CASE("lines that a process writes to the kernel's log are not trusted") {
  std::vector<std::string_view> lines = {
      "12,1,1,-;oom-kill:constraint=CONSTRAINT_NONE,task_memcg=/a,task=x,pid=7,uid=0"};
  CHECK(all(lines).empty());
}

TEST_CASE("the other members of a group that is killed as one are reported, too") {
  std::vector<std::string_view> lines = kMemcgKill;
  lines.push_back("6,1,1,-;Tasks in /kubepods/pod1/c1 are going to be killed due to memory.oom.group set");
  lines.push_back("3,1,1,-;Memory cgroup out of memory: Killed process 22699 (python3) total-vm:1kB, anon-rss:1kB");
  lines.push_back(
      "3,1,1,-;Memory cgroup out of memory: Killed process 22701 (a (b) total-vm:) total-vm:1kB, anon-rss:1kB");
  const std::vector<OomKill> kills = all(lines);
  REQUIRE(kills.size() == 2);
  CHECK(kills[1].cgroup == "/kubepods/pod1/c1");
  CHECK(kills[1].pid == 22701);
  CHECK(kills[1].process == "a (b) total-vm:");
}

TEST_CASE("kernels before 4.20 log the cgroup on a separate line") {
  const OomKill kill = only("6,1,1,-;Task in /kubepods/pod1/c1 killed as a result of limit of /kubepods/pod1");
  CHECK(kill.cgroup == "/kubepods/pod1/c1");
  CHECK(kill.limit_cgroup == "/kubepods/pod1");
  CHECK(kill.pid == 0);
}

TEST_CASE("escapes in a cgroup's name are decoded") {
  CHECK(unescape("/a\\x5cx2db") == "/a\\x2db");
  CHECK(unescape("\\x4") == "\\x4");
  CHECK(unescape("\\xzz\\") == "\\xzz\\");
}

TEST_CASE("lines that are no records, truncated or unrelated give nothing") {
  for (std::string_view line :
       {"", ";", ",;", "6,1,1,-", " SUBSYSTEM=memory", "x,1,1,-;oom-kill:constraint=A,task_memcg=/a,task=x",
        "6,1,1,-;oom-kill:constraint=CONSTRAINT_MEMCG", "6,1,1,-;oom-kill:constraint=A,task_memcg=/a",
        "6,1,1,-;Task in /a", "6,1,1,-;Killed process 5 (x) total-vm:1kB"})
    CHECK(all({line}).empty());
}

TEST_CASE("a path belongs to the deepest known pod or container in it") {
  CgroupIndex index;
  index.add_pod("kubepods/pod1", 10);
  index.add_container("kubepods/pod1/c1", 11, 10);
  index.add_container("system.slice/x.service", 20, 0);
  CHECK(index.find("/kubepods/pod1/c1").container == 11);
  CHECK(index.find("/kubepods/pod1/c1").pod == 10);
  CHECK_FALSE(index.find("/kubepods/pod1/c1").below);
  CHECK(index.find("/kubepods/pod1/c1/init.scope").container == 11);
  CHECK(index.find("/kubepods/pod1/c1/init.scope").below);
  CHECK(index.find("/kubepods/pod1/gone").container == 0);
  CHECK(index.find("/kubepods/pod1/gone").pod == 10);
  CHECK(index.find("/system.slice/x.service").container == 20);
  CHECK(index.find("/kubepods/pod11").pod == 0);
  CHECK(index.find("").pod == 0);
}

TEST_CASE("on a node that is a container, its pods are found, but not services of its neighbours") {
  CgroupIndex index;
  index.add_pod("kubelet/kubepods/pod1", 10);
  index.add_container("kubelet/kubepods/pod1/c1", 11, 10);
  index.add_container("system.slice/x.service", 20, 0);
  CHECK(index.find("/docker/abc/kubelet/kubepods/pod1/c1").container == 11);
  CHECK(index.find("/docker/other/system.slice/x.service").container == 0);
}

TEST_CASE("an event names the victim, its cgroup, and the limit that was hit") {
  CHECK(
      describe(all(kMemcgKill)[0]) ==
      "killed 'python3', pid 22699 in '/kubepods/pod1/c1'; the limit of '/kubepods/pod1' was hit: 32.0 MiB of 32.0 MiB in use");
  CHECK(describe({"/a", "/a", "x", 0, {}, {}}) == "killed 'x' in '/a'; its limit was hit");
  CHECK(describe({"/a", "", "x", 0, {}, {}}) == "killed 'x' in '/a'; the node had no memory left");
  CHECK(describe({"/\xff", "/b", "", 0, {}, {}}) ==
        "killed a process in (a name that is not text); the limit of '/b' was hit");
}

TEST_CASE("an event about kills without a log line states that") {
  CHECK(describe_unexplained(2, 1 << 20, 32 << 20) ==
        "2 processes killed, which ones is not known; 1.0 MiB of 32.0 MiB in use now");
  CHECK(describe_unexplained(1, 1 << 20, -1) == "a process killed, which one is not known; 1.0 MiB in use now");
  CHECK(describe_unexplained(1, {}, {}) == "a process killed, which one is not known");
}
