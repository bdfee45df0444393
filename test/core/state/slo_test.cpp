// SPDX-License-Identifier: Apache-2.0
#include "core/state/slo.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>

using namespace koord;
using namespace koord::state;

namespace {
namespace json = boost::json;

json::value effective(std::string_view spec) {
  EffectiveSlo slo = *effective_slo(spec);
  for (const SloProblem& problem : slo.problems) MESSAGE(text_of(problem));
  CHECK(slo.problems.empty());
  return json::parse(slo.spec);
}

// Returns the value at a JSON pointer; null if it is missing.
json::value at(const json::value& spec, std::string_view pointer) {
  boost::system::error_code error;
  const json::value* found = spec.find_pointer(pointer, error);
  return found ? *found : json::value();
}

struct Reported {
  std::vector<std::string> problems;
  json::value spec;
};

Reported report(std::string_view spec) {
  EffectiveSlo slo = *effective_slo(spec);
  Reported result{{}, json::parse(slo.spec)};
  for (const SloProblem& problem : slo.problems) result.problems.push_back(text_of(problem));
  return result;
}

}  // namespace

TEST_CASE("without a NodeSLO the defaults hold") {
  for (const char* none : {"", "{}", R"({"resourceUsedThresholdWithBE": null})"}) {
    json::value spec = effective(none);
    CHECK(at(spec, "/resourceUsedThresholdWithBE/enable") == false);
    CHECK(at(spec, "/resourceUsedThresholdWithBE/cpuSuppressThresholdPercent") == 65);
    CHECK(at(spec, "/resourceUsedThresholdWithBE/cpuSuppressPolicy") == "cpuset");
    CHECK(at(spec, "/resourceUsedThresholdWithBE/memoryEvictThresholdPercent") == 70);
    CHECK(at(spec, "/resourceUsedThresholdWithBE/cpuEvictPolicy") == "evictByRealLimit");
    CHECK(at(spec, "/cpuBurstStrategy/policy") == "none");
    CHECK(at(spec, "/cpuBurstStrategy/cpuBurstPercent") == 1000);
    CHECK(at(spec, "/cpuBurstStrategy/cfsQuotaBurstPercent") == 300);
    CHECK(at(spec, "/cpuBurstStrategy/cfsQuotaBurstPeriodSeconds") == -1);
    CHECK(at(spec, "/cpuBurstStrategy/sharePoolThresholdPercent") == 50);
    CHECK(at(spec, "/systemStrategy/totalNetworkBandwidth") == "0");
    CHECK(at(spec, "/resourceQOSStrategy/policies/cpuPolicy") == "groupIdentity");
    CHECK(at(spec, "/resourceQOSStrategy/policies/netQOSPolicy") == "tc");
    CHECK(at(spec, "/resourceQOSStrategy/cgroupRoot") == json::parse(R"({"blkioQOS": {"enable": false}})"));
    CHECK(at(spec, "/hostApplications").is_null());
  }
}

TEST_CASE("a field without a default has no value") {
  json::value spec = effective("{}");
  for (const char* unset :
       {"/resourceUsedThresholdWithBE/memoryEvictLowerPercent", "/systemStrategy/minFreeKbytesFactor",
        "/resourceQOSStrategy/beClass/memoryQOS/pageCacheLimitPercent", "/resourceQOSStrategy/beClass/blkioQOS/blocks"})
    CHECK(at(spec, unset).is_null());
}

TEST_CASE("each class has its own defaults once it is on") {
  json::value spec = effective(R"({"resourceQOSStrategy": {
    "lsrClass": {"cpuQOS": {"enable": true}, "memoryQOS": {"enable": true}},
    "beClass": {"cpuQOS": {"enable": true}, "memoryQOS": {"enable": true}, "resctrlQOS": {"enable": true}}}})");
  const json::value& lsr = at(spec, "/resourceQOSStrategy/lsrClass");
  const json::value& be = at(spec, "/resourceQOSStrategy/beClass");
  CHECK(at(lsr, "/cpuQOS/groupIdentity") == 2);
  CHECK(at(lsr, "/cpuQOS/coreExpeller") == true);
  CHECK(at(lsr, "/memoryQOS/wmarkRatio") == 95);
  CHECK(at(lsr, "/memoryQOS/wmarkMinAdj") == -25);
  CHECK(at(be, "/cpuQOS/groupIdentity") == -1);
  CHECK(at(be, "/cpuQOS/coreExpeller") == false);
  CHECK(at(be, "/memoryQOS/wmarkMinAdj") == 50);
  CHECK(at(be, "/resctrlQOS/catRangeEndPercent") == 30);
}

TEST_CASE("a section of a class that is off has the values that undo it, whatever else came") {
  json::value spec = effective(R"({"resourceQOSStrategy": {
    "lsClass": {"cpuQOS": {"enable": false, "groupIdentity": 1}, "memoryQOS": {"wmarkRatio": 80, "pageCacheLimitPercent": 10}},
    "beClass": {"resctrlQOS": {"catRangeEndPercent": 20}, "networkQOS": {"ingressLimit": 50}}}})");
  const json::value& ls = at(spec, "/resourceQOSStrategy/lsClass");
  CHECK(at(ls, "/cpuQOS") ==
        json::parse(R"({"enable": false, "groupIdentity": 0, "schedIdle": 0, "coreExpeller": false})"));
  CHECK(at(ls, "/memoryQOS/wmarkRatio") == 0);
  CHECK(at(ls, "/memoryQOS/wmarkScalePermill") == 50);
  CHECK(at(ls, "/memoryQOS/wmarkMinAdj") == 0);
  CHECK(at(ls, "/memoryQOS/pageCacheLimitPercent").is_null());
  CHECK(at(spec, "/resourceQOSStrategy/beClass/resctrlQOS/catRangeEndPercent") == 100);
  CHECK(at(spec, "/resourceQOSStrategy/beClass/networkQOS/ingressLimit") == 50);  // this limit is not reverted
}

TEST_CASE("the system's class and the root keep their values when they are off") {
  json::value spec = effective(
      R"({"resourceQOSStrategy": {"systemClass": {"cpuQOS": {"groupIdentity": 1}, "memoryQOS": {"wmarkRatio": 80}},
    "cgroupRoot": {"memoryQOS": {"wmarkRatio": 70}}}})");
  CHECK(at(spec, "/resourceQOSStrategy/systemClass/cpuQOS/groupIdentity") == 1);
  CHECK(at(spec, "/resourceQOSStrategy/systemClass/memoryQOS/wmarkRatio") == 80);
  CHECK(at(spec, "/resourceQOSStrategy/systemClass/memoryQOS/wmarkScalePermill") == 50);
  CHECK(at(spec, "/resourceQOSStrategy/cgroupRoot/memoryQOS") == json::parse(R"({"wmarkRatio": 70})"));
}

TEST_CASE("names are matched whatever their case and written in their canonical form; the last counts") {
  json::value spec = effective(
      R"({"RESOURCEUSEDTHRESHOLDWITHBE": {"CPUSuppressThresholdPercent": 50, "cpuSuppressThresholdPercent": 55,
    "cpusuppressthresholdpercent": null}})");
  CHECK(at(spec, "/resourceUsedThresholdWithBE/cpuSuppressThresholdPercent") == 55);
  CHECK(at(spec, "/resourceUsedThresholdWithBE").as_object().size() == 5);
  CHECK(spec.as_object().size() == 4);
}

TEST_CASE("null keeps the default") {
  CHECK(at(effective(R"({"cpuBurstStrategy": {"policy": null, "cpuBurstPercent": null}})"),
           "/cpuBurstStrategy/cpuBurstPercent") == 1000);
}

TEST_CASE("unknown fields stay as they came, behind the known ones") {
  json::value spec = effective(
      R"({"newStrategy": {"a": [1]}, "cpuBurstStrategy": {"newField": "x"}, "extensions": {"acme": {"b": null}}})");
  CHECK(at(spec, "/newStrategy/a/0") == 1);
  CHECK(at(spec, "/cpuBurstStrategy/newField") == "x");
  CHECK(at(spec, "/extensions") == json::parse(R"({"acme": {"b": null}})"));
}

TEST_CASE("a value out of its range or of a wrong type is reported, and the default holds") {
  Reported result = report(
      R"({"resourceUsedThresholdWithBE": {"enable": "yes", "cpuSuppressThresholdPercent": 130, "cpuSuppressPolicy": "quota",
    "memoryEvictThresholdPercent": 65.5, "cpuEvictTimeWindowSeconds": 0}, "cpuBurstStrategy": [],
    "systemStrategy": {"totalNetworkBandwidth": "10 Gi", "schedFeatures": {"A": 1}}})");
  CHECK(result.problems ==
        std::vector<std::string>{
            "resourceUsedThresholdWithBE.enable: found \"yes\", expected true or false",
            "resourceUsedThresholdWithBE.cpuSuppressThresholdPercent: found 130, expected an integer from 0 to 100",
            "resourceUsedThresholdWithBE.cpuSuppressPolicy: found \"quota\", expected one of cpuset, cfsQuota",
            "resourceUsedThresholdWithBE.memoryEvictThresholdPercent: found 6.55E1, expected an integer from 0 to 100",
            "resourceUsedThresholdWithBE.cpuEvictTimeWindowSeconds: found 0, expected an integer of at least 1",
            "cpuBurstStrategy: found [], expected a mapping",
            "systemStrategy.schedFeatures: found {\"A\":1}, expected a mapping with true or false for each name",
            "systemStrategy.totalNetworkBandwidth: found \"10 Gi\", expected a quantity such as \"10Gi\""});
  CHECK(at(result.spec, "/resourceUsedThresholdWithBE/enable") == false);
  CHECK(at(result.spec, "/resourceUsedThresholdWithBE/cpuSuppressThresholdPercent") == 65);
  CHECK(at(result.spec, "/resourceUsedThresholdWithBE/cpuEvictTimeWindowSeconds").is_null());
  CHECK(at(result.spec, "/cpuBurstStrategy/policy") == "none");
  CHECK(at(result.spec, "/cpuBurstStrategy/cpuBurstPercent").is_null());
}

TEST_CASE("a setting of the node's kernel out of its range is reported with the range, and is not set") {
  Reported result =
      report(R"({"systemStrategy": {"minFreeKbytesFactor": 501, "watermarkScaleFactor": 0, "memcgReapBackGround": 2,
    "schedGroupIdentityEnabled": 2, "schedIdleSaverWmark": -1, "pageCacheLimitEnabled": -1}})");
  CHECK(result.problems ==
        std::vector<std::string>{"systemStrategy.minFreeKbytesFactor: found 501, expected an integer from 1 to 500",
                                 "systemStrategy.watermarkScaleFactor: found 0, expected an integer from 1 to 400",
                                 "systemStrategy.memcgReapBackGround: found 2, expected an integer from 0 to 1",
                                 "systemStrategy.schedGroupIdentityEnabled: found 2, expected an integer from 0 to 1",
                                 "systemStrategy.schedIdleSaverWmark: found -1, expected an integer of at least 0",
                                 "systemStrategy.pageCacheLimitEnabled: found -1, expected an integer from 0 to 1"});
  CHECK(at(result.spec, "/systemStrategy/minFreeKbytesFactor").is_null());
  CHECK(at(effective(R"({"systemStrategy": {"minFreeKbytesFactor": 500}})"), "/systemStrategy/minFreeKbytesFactor") ==
        500);
}

TEST_CASE("a number written with a point is an integer when it is one") {
  CHECK(at(effective(R"({"cpuBurstStrategy": {"sharePoolThresholdPercent": 40.0}})"),
           "/cpuBurstStrategy/sharePoolThresholdPercent") == 40);
}

TEST_CASE(
    "an invalid value of a strategy that suppresses, evicts, bursts or splits caches makes that strategy inactive") {
  struct Row {
    const char* spec;
    std::vector<std::string> inactive;
    const char* pointer;  // the resulting spec has `value` here
    const char* value;    // JSON; null: nothing
  };
  for (
      const Row& row : std::initializer_list<Row>{
          {R"({"resourceUsedThresholdWithBE": {"enable": true, "memoryEvictThresholdPercent": 60, "memoryEvictLowerPercent": 65}})",
           {"BEMemoryEvict", "MemoryEvict"},
           "/resourceUsedThresholdWithBE/memoryEvictThresholdPercent",
           "null"},
          {R"({"resourceUsedThresholdWithBE": {"enable": true, "memoryEvictThresholdPercent": -1}})",
           {"BEMemoryEvict", "MemoryEvict"},
           "/resourceUsedThresholdWithBE/memoryEvictThresholdPercent",
           "null"},
          {R"({"resourceUsedThresholdWithBE": {"enable": true, "memoryEvictLowerPercent": 75}})",
           {"BEMemoryEvict", "MemoryEvict"},
           "/resourceUsedThresholdWithBE/memoryEvictThresholdPercent",
           "null"},
          {R"({"resourceUsedThresholdWithBE": {"cpuEvictBESatisfactionLowerPercent": 60, "cpuEvictBESatisfactionUpperPercent": 50}})",
           {"BECPUEvict"},
           "/resourceUsedThresholdWithBE/cpuEvictBESatisfactionLowerPercent",
           "null"},
          {R"({"resourceUsedThresholdWithBE": {"cpuEvictThresholdPercent": 101, "evictEnabledPriorityThreshold": 5999}})",
           {"CPUEvict"},
           "/resourceUsedThresholdWithBE/evictEnabledPriorityThreshold",
           "5999"},
          {R"({"resourceUsedThresholdWithBE": {"evictEnabledPriorityThreshold": "high"}})",
           {"CPUEvict", "MemoryEvict"},
           "/resourceUsedThresholdWithBE/memoryEvictThresholdPercent",
           "70"},
          {R"({"resourceUsedThresholdWithBE": {"enable": true, "cpuSuppressPolicy": "Bogus"}})",
           {"BECPUSuppress"},
           "/resourceUsedThresholdWithBE/cpuSuppressPolicy",
           "null"},
          {R"({"resourceUsedThresholdWithBE": {"cpuEvictPolicy": "byLuck"}})",
           {"BECPUEvict"},
           "/resourceUsedThresholdWithBE/cpuEvictPolicy",
           "null"},
          {R"({"cpuBurstStrategy": {"policy": "auto", "cfsQuotaBurstPercent": 90}})",
           {"CPUBurst"},
           "/cpuBurstStrategy/policy",
           "\"none\""},
          {R"({"cpuBurstStrategy": {"policy": "nonsense"}})", {"CPUBurst"}, "/cpuBurstStrategy/policy", "\"none\""},
          {R"({"resourceQOSStrategy": {"beClass": {"resctrlQOS": {"enable": true, "catRangeStartPercent": 30, "catRangeEndPercent": 30}}}})",
           {"RdtResctrl/beClass"},
           "/resourceQOSStrategy/beClass/resctrlQOS/enable",
           "false"},
          {R"({"resourceQOSStrategy": {"lsClass": {"resctrlQOS": {"enable": true, "mbaPercent": 101}}}})",
           {"RdtResctrl/lsClass"},
           "/resourceQOSStrategy/lsClass/resctrlQOS/mbaPercent",
           "100"},
          {R"({"resourceUsedThresholdWithBE": {"cpuSuppressThresholdPercent": 130}})",
           {},
           "/resourceUsedThresholdWithBE/cpuSuppressThresholdPercent",
           "65"},
      }) {
    CAPTURE(row.spec);
    const EffectiveSlo once = *effective_slo(row.spec);
    REQUIRE(once.problems.size() == 1);
    const json::value spec = json::parse(once.spec);
    std::vector<std::string> inactive;
    std::string by_problem;
    if (const json::value* named = spec.as_object().if_contains("koordetector.sh/inactiveStrategies"))
      for (const auto& [name, reason] : named->get_object()) {
        inactive.emplace_back(name);
        by_problem += (by_problem.empty() ? "" : ", ") + std::string(name);
        CHECK(reason == json::value(text_of(once.problems[0])));
      }
    CHECK(inactive == row.inactive);
    CHECK(once.problems[0].inactive == by_problem);
    CHECK(at(spec, row.pointer) == json::parse(row.value));
    const EffectiveSlo twice = *effective_slo(once.spec);
    CHECK(twice.problems.empty());
    CHECK(twice.spec == once.spec);
  }
}

TEST_CASE("strategies that a NodeSLO names as inactive are so, and anything else in that place counts for nothing") {
  const json::value spec = effective(R"({"koordetector.sh/inactiveStrategies": {"CPUBurst": "by hand", "BECPUEvict": 7},
    "cpuBurstStrategy": {"policy": "auto"}, "resourceUsedThresholdWithBE": {"cpuEvictBEUsageThresholdPercent": 80}})");
  CHECK(at(spec, "/cpuBurstStrategy/policy") == "none");
  CHECK(at(spec, "/resourceUsedThresholdWithBE/cpuEvictBEUsageThresholdPercent") == 80);
  CHECK(at(effective(R"({"koordetector.sh/inactiveStrategies": 7})"), "/cpuBurstStrategy/cpuBurstPercent") == 1000);
}

TEST_CASE("two thresholds in the wrong order do not hold") {
  Reported both =
      report(R"({"resourceUsedThresholdWithBE": {"memoryEvictThresholdPercent": 60, "memoryEvictLowerPercent": 65}})");
  CHECK(
      both.problems ==
      std::vector<std::string>{
          "resourceUsedThresholdWithBE.memoryEvictLowerPercent: found 65, expected less than memoryEvictThresholdPercent, which is 60"});
  CHECK(at(both.spec, "/resourceUsedThresholdWithBE/memoryEvictThresholdPercent").is_null());
  CHECK(at(both.spec, "/resourceUsedThresholdWithBE/memoryEvictLowerPercent").is_null());

  Reported one = report(R"({"resourceUsedThresholdWithBE": {"memoryEvictLowerPercent": 70}})");
  CHECK(one.problems.size() == 1);
  CHECK(at(one.spec, "/resourceUsedThresholdWithBE/memoryEvictLowerPercent").is_null());

  Reported cache =
      report(R"({"resourceQOSStrategy": {"beClass": {"resctrlQOS": {"enable": true, "catRangeStartPercent": 40}}}})");
  CHECK(cache.problems.size() == 1);
  CHECK(at(cache.spec, "/resourceQOSStrategy/beClass/resctrlQOS/catRangeStartPercent") == 0);
  CHECK(effective(R"({"resourceUsedThresholdWithBE": {"memoryEvictThresholdPercent": 60}})").is_object());
}

TEST_CASE("the effective NodeSLO is the same text when it is read again, also if a value was left out") {
  for (
      const char* spec :
      {R"({"resourceUsedThresholdWithBE": {"memoryEvictLowerPercent": 72, "evictEnabledPriorityThreshold": 5999, "later": 1}})",
       R"({"resourceQOSStrategy": {"lsClass": {"memoryQOS": {"enable": false, "later": 1}}}})"}) {
    const std::string once = effective_slo(spec)->spec;
    CHECK(effective_slo(once)->spec == once);
  }
}

TEST_CASE("a share of the network is percent or a quantity") {
  json::value spec = effective(
      R"({"resourceQOSStrategy": {"lsClass": {"networkQOS": {"enable": true, "ingressRequest": 10, "egressLimit": "50M"}}}})");
  CHECK(at(spec, "/resourceQOSStrategy/lsClass/networkQOS/ingressRequest") == 10);
  CHECK(at(spec, "/resourceQOSStrategy/lsClass/networkQOS/egressLimit") == "50M");
  CHECK(report(R"({"resourceQOSStrategy": {"lsClass": {"networkQOS": {"ingressRequest": 101, "egressLimit": "-1"}}}})")
            .problems.size() == 2);
}

TEST_CASE("a block device keeps what is right of it, and needs a name and a type") {
  Reported result = report(R"({"resourceQOSStrategy": {"beClass": {"blkioQOS": {"enable": true, "blocks": [
    {"name": "sda", "type": "device", "iocfg": {"readiops": 100, "writeIOPS": -1, "ioWeightPercent": 101}},
    {"name": "vg0", "type": "disk"}, {"type": "device"}, {"name": "", "type": "device"}, 7]}}}})");
  CHECK(at(result.spec, "/resourceQOSStrategy/beClass/blkioQOS/blocks") ==
        json::parse(R"([{"name": "sda", "type": "device", "ioCfg": {"readIOPS": 100}}])"));
  CHECK(
      result.problems ==
      std::vector<std::string>{
          "resourceQOSStrategy.beClass.blkioQOS.blocks[0].ioCfg.writeIOPS: found -1, expected an integer of at least 0",
          "resourceQOSStrategy.beClass.blkioQOS.blocks[0].ioCfg.ioWeightPercent: found 101, expected an integer from 1 to 100",
          "resourceQOSStrategy.beClass.blkioQOS.blocks[1].type: found \"disk\", expected one of device, volumegroup, podvolume",
          "resourceQOSStrategy.beClass.blkioQOS.blocks[2].name: found null, expected text",
          "resourceQOSStrategy.beClass.blkioQOS.blocks[3].name: found \"\", expected text",
          "resourceQOSStrategy.beClass.blkioQOS.blocks[4]: found 7, expected a mapping"});
}

TEST_CASE("host applications are as they came except for those without a name or with a place outside of the tree") {
  Reported result = report(R"({"hostApplications": [
    {"name": "nginx", "priority": "koord-prod", "qos": "LS", "cgroupPath": {"base": "CgroupRoot", "parentDir": "/system.slice/", "relativePath": "nginx.service"}, "strategy": {}, "other": 1},
    {"name": "job", "qos": "BEST"}, {"name": "a", "cgroupPath": {"relativePath": "../x"}}, {"name": "b", "cgroupPath": {"base": "Root"}}, {"qos": "LS"}]})");
  CHECK(at(result.spec, "/hostApplications") == json::parse(R"([
    {"name": "nginx", "priority": "koord-prod", "qos": "LS", "cgroupPath": {"base": "CgroupRoot", "parentDir": "/system.slice/", "relativePath": "nginx.service"}, "strategy": {}, "other": 1},
    {"name": "job"}])"));
  CHECK(
      result.problems ==
      std::vector<std::string>{
          "hostApplications[1].qos: found \"BEST\", expected one of LSE, LSR, LS, BE, SYSTEM",
          "hostApplications[2].cgroupPath.relativePath: found \"../x\", expected a directory below the root of the cgroup tree",
          "hostApplications[3].cgroupPath.base: found \"Root\", expected one of CgroupRoot, Kubepods, KubepodsBurstable, KubepodsBesteffort",
          "hostApplications[4].name: found null, expected text"});
}

TEST_CASE("the effective NodeSLO stays when it is read as a NodeSLO again") {
  EffectiveSlo once =
      *effective_slo(R"({"resourceQOSStrategy": {"beClass": {"memoryQOS": {"enable": true, "wmarkRatio": 90}}}, "x": 1,
    "resourceUsedThresholdWithBE": {"memoryEvictLowerPercent": 60}, "hostApplications": [{"name": "a"}]})");
  EffectiveSlo twice = *effective_slo(once.spec);
  CHECK(twice.spec == once.spec);
  CHECK(twice.problems.empty());
}

TEST_CASE("every default is a value that its field may have, in every class that is on") {
  std::string classes;
  for (const char* name : {"lsrClass", "lsClass", "beClass", "systemClass"})
    classes += std::string(classes.empty() ? "" : ",") + "\"" + name +
               R"(": {"cpuQOS": {"enable": true}, "memoryQOS": {"enable": true}, "resctrlQOS": {"enable": true}})";
  EffectiveSlo once = *effective_slo("{\"resourceQOSStrategy\": {" + classes + "}}");
  EffectiveSlo twice = *effective_slo(once.spec);
  CHECK(twice.problems.empty());
  CHECK(twice.spec == once.spec);
}

TEST_CASE("a source publishes what holds and what came") {
  Update update = *slo_update("kind: NodeSLO\nmetadata: {name: n}\nspec: {cpuBurstStrategy: {policy: auto}, a: 1}");
  CHECK(*update.received_slo == R"({"cpuBurstStrategy":{"policy":"auto"},"a":1})");
  CHECK(at(json::parse(*update.node_slo), "/cpuBurstStrategy/policy") == "auto");
  CHECK(at(json::parse(*update.node_slo), "/cpuBurstStrategy/cpuBurstPercent") == 1000);
  CHECK_FALSE(slo_update("kind: Node"));
  CHECK(effective_slo("[]").error().message() == "the NodeSLO's spec is not a mapping");
}
