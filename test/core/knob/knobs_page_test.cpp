// SPDX-License-Identifier: Apache-2.0
// Compares plugin-api/KNOBS.md, the page of all knobs for plugin authors, with the table of knobs.
// KOORD_ACCEPT_GOLDEN=1 rewrites the page.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/knob/knob.hpp"
#include "core/knob/role.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;

namespace {

constexpr const char* kHead = R"(# Knobs

Every knob that an intent of `koord.knobs/1` may name. A test compares this page with the table of the host. A strategy names a knob and gives a value as cgroup v2 spells it; the
host converts on cgroup v1, both ways. A knob without its kernel file answers `KOORD_E_UNSUPPORTED`: `-` below is a version that has none, and some files need a vendor's kernel.

- **level, `cgroup_dir`**: *cgroup*: `KOORD_LEVEL_QOS`, `_POD` or `_CONTAINER` with the cgroup of a class, pod or container. *node*: `KOORD_LEVEL_NODE`, empty. *root*: any level,
  empty. *group*: `KOORD_LEVEL_NODE`, the name of a resctrl group. *interface*: `KOORD_LEVEL_NODE`, the name of a network interface.
- **roles**: the [roles](../core/knob/README.md#how-a-value-is-composed) that an intent may have; a host of 1.0 takes `set` alone.
- **stricter**: of two values of equal priority the smaller one wins, or the larger one where the column says so.
- **line per item**: the file has a line for each block device, or a word for each feature. The value begins with the item, and each item is a knob of its own.

| knob | purpose | value | range | level | v2 file | v1 files | roles | stricter |
|---|---|---|---|---|---|---|---|---|
)";

// The purpose and unit of each knob.
struct Meaning {
  const char *purpose, *value;
};

const std::map<std::string_view, Meaning> kMeanings = {
    {"cpu.max", {"CPU time per period", "`QUOTA PERIOD` in µs, `max`, `max PERIOD`"}},
    {"cpu.max.burst", {"unused quota that may be used later", "µs"}},
    {"cpu.shares", {"share of CPU time under contention", "v1 shares; 1024 is usual"}},
    {"cpu.weight", {"share of CPU time under contention", "v2 weight; 100 is usual"}},
    {"cpu.idle", {"runs only when nothing else wants the CPU", "0, 1"}},
    {"cpu.bvt_warp_ns", {"group identity of a vendor's scheduler", "a class"}},
    {"cpuset.cpus", {"CPUs that may be used", "a list, `0-3,8`"}},
    {"cpuset.mems", {"NUMA nodes that may be used", "a list, `0-1`"}},
    {"memory.min", {"memory that is never reclaimed", "bytes, `max`"}},
    {"memory.low", {"memory that is reclaimed last", "bytes, `max`"}},
    {"memory.high", {"memory above which the cgroup is slowed and reclaimed", "bytes, `max`"}},
    {"memory.max", {"memory limit, OOM kill above it", "bytes, `max`"}},
    {"memory.swap.max", {"swap limit", "bytes, `max`"}},
    {"memory.oom.group", {"an OOM kill ends all processes of the cgroup", "0, 1"}},
    {"memory.reclaim", {"one-shot: reclaims so much now", "bytes"}},
    {"memory.priority", {"order of a vendor's OOM killer", "0 goes first"}},
    {"memory.use_priority_oom", {"switches memory.priority on", "0, 1"}},
    {"memory.wmark_ratio", {"asynchronous reclaim from this part of the limit on", "percent"}},
    {"memory.wmark_scale_factor", {"how far asynchronous reclaim goes", "1/10000 of the limit"}},
    {"memory.wmark_min_adj", {"moves the node's low watermark for this cgroup", "percent"}},
    {"memory.pagecache_limit.enable", {"switches the limit of page cache on", "0, 1"}},
    {"memory.pagecache_limit.size", {"limit of page cache", "bytes"}},
    {"memory.pagecache_limit.sync", {"reclaims page cache in the allocating task", "0, 1"}},
    {"pids.max", {"limit of tasks", "a count, `max`"}},
    {"net_cls.classid", {"class of the packets that the cgroup sends", "a class of tc: major × 65536 + minor"}},
    {"io.max", {"limits of one block device", "`8:16 rbps=B/s wbps=B/s riops=N/s wiops=N/s`"}},
    {"io.weight", {"share of a block device", "`default N`, `8:16 N`, `8:16 default`"}},
    {"io.latency", {"latency target of one block device", "`8:16 target=µs`"}},
    {"io.cost.qos",
     {"quality targets of one block device", "`8:16 enable=1 ctrl=user rpct=% rlat=µs wpct=% wlat=µs min=% max=%`"}},
    {"io.cost.model",
     {"cost model of one block device",
      "`8:16 ctrl=user model=linear rbps= rseqiops= rrandiops= wbps= wseqiops= wrandiops=`"}},
    {"vm.min_free_kbytes", {"memory that the kernel keeps free", "KiB"}},
    {"vm.watermark_scale_factor", {"distance of the node's watermarks", "1/10000 of memory"}},
    {"kernel.sched_group_identity_enabled", {"switches cpu.bvt_warp_ns on", "0, 1"}},
    {"kernel.sched_idle_saver_wmark", {"a vendor's scheduler: keeps idle CPUs for latency-sensitive tasks", "ns"}},
    {"memcg_reaper.reap_background", {"a vendor's kernel frees dead memory cgroups", "0, 1"}},
    {"pagecache_limit.enabled", {"switches limits of page cache on, for all cgroups", "0, 1"}},
    {"sched_features", {"features of the scheduler", "`NAME`, `NO_NAME`"}},
    {"resctrl.l3", {"ways of the L3 cache", "`0=ff;1=f0`: a mask in hexadecimal for each cache"}},
    {"resctrl.mb", {"memory bandwidth", "`0=50;1=100`: percent, or MB/s, for each cache"}},
    {"resctrl.group", {"the resctrl group of a pod's threads", "a name; `/` or empty: the group of all others"}},
    {"oom_score_adj", {"which processes the kernel kills first when memory is short", "score; 1000 goes first"}},
    {"core_sched.group",
     {"processes of different groups never share a core at the same time", "a name; empty: with all without a group"}},
    {"tc.classes",
     {"classes of an interface's outgoing traffic",
      "`MINOR=RATE:CEIL:PRIORITY;…`, rates in bytes/s; class 1 is the parent, 2 the default"}},
    {"resctrl.remove", {"one-shot: removes an empty group that begins with `koord-`", "1"}},
};

std::string files_text(const Knob& knob, cgroup::Version version) {
  if (knob.place == Place::schemata) return "resctrl: schemata, " + std::string(knob.v2_file);
  if (knob.place == Place::resctrl_tasks) return "resctrl: tasks";
  if (knob.place == Place::resctrl_group) return "resctrl: the folder";
  if (knob.place == Place::interface) return "rtnetlink: HTB of the interface";
  if (knob.form == Form::score) return "`/proc/PID/oom_score_adj` of each process";
  if (knob.form == Form::core_group) return "`prctl(PR_SCHED_CORE)` of each process";
  const std::string prefix = knob.place == Place::proc ? "/proc/" : knob.place == Place::sys ? "/sys/" : "";
  std::string text;
  for (std::string_view file : files_of(knob, version))
    text += (text.empty() ? "`" : ", `") + prefix + std::string(file) + "`";
  return text.empty() ? "-" : text;
}

std::string range_text(const Knob& knob) {
  if (knob.form == Form::bandwidth)
    return "quota " + std::to_string(kLeastQuotaUs) + "–" + std::to_string(kMostQuotaUs) + ", period 1000–1000000";
  const bool is_number = knob.form == Form::number || knob.form == Form::amount || knob.form == Form::shares ||
                         knob.form == Form::cpu_weight || knob.form == Form::idle || knob.form == Form::weight ||
                         knob.form == Form::amounts || knob.form == Form::score;
  if (!is_number) return "";
  return std::to_string(knob.least) + "–" + (knob.most == kUnlimited ? "" : std::to_string(knob.most));
}

std::string place_text(const Knob& knob) {
  switch (knob.place) {
    case Place::cgroup:
      return "cgroup";
    case Place::root_cgroup:
      return "root";
    case Place::proc:
    case Place::sys:
      return "node";
    case Place::resctrl_tasks:
      return "cgroup of a pod or container";
    case Place::processes:
      return "cgroup of a container";
    case Place::interface:
      return "interface";
    default:
      return "group";
  }
}

std::string roles_text(const Knob& knob) {
  std::string text;
  for (Role role : {Role::set, Role::base, Role::scale, Role::cap, Role::floor})
    if (takes_role(knob, role)) text += (text.empty() ? "" : ", ") + std::string(name_of(role));
  return text;
}

std::string row_of(const Knob& knob, const Meaning& meaning) {
  std::string row = "| `" + std::string(knob.name) + "` | " + meaning.purpose + " | " + meaning.value +
                    (has_items(knob) ? "; line per item" : "");
  for (const std::string& cell :
       {range_text(knob), place_text(knob), files_text(knob, cgroup::Version::v2),
        files_text(knob, cgroup::Version::v1), roles_text(knob), std::string(knob.large_is_strict ? "larger" : "")})
    row += " | " + cell;
  return row + " |\n";
}

std::string page() {
  std::string text = kHead;
  for (const Knob& knob : all_knobs()) {
    const auto meaning = kMeanings.find(knob.name);
    if (meaning != kMeanings.end()) text += row_of(knob, meaning->second);
  }
  return text;
}

}  // namespace

TEST_CASE("each knob that may be proposed has a purpose and a unit on the authors' page") {
  for (const Knob& knob : all_knobs()) {
    CAPTURE(knob.name);
    CHECK(kMeanings.contains(knob.name) == (knob.name != "resctrl.made"));
  }
  CHECK(kMeanings.size() + 1 == all_knobs().size());
}

TEST_CASE("the authors' page of knobs is the table of knobs") {
  const char* source = std::getenv("KOORD_SOURCE");
  REQUIRE(source);
  const std::string path = std::string(source) + "/plugin-api/KNOBS.md";
  if (std::getenv("KOORD_ACCEPT_GOLDEN")) REQUIRE(write_file_atomically(path, page()));
  CHECK_MESSAGE(read_file(path).value_or("") == page(),
                "'" << path << "' differs from the table: KOORD_ACCEPT_GOLDEN=1 rewrites it");
}
