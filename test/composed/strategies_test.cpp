// SPDX-License-Identifier: Apache-2.0
// Each strategy that writes knobs, through the whole agent, which is interrupted in every way. With constant inputs,
// each later session converges to the values of an undisturbed session, and each intermediate value is between the
// value before the agent and that final value. After the strategy is off, the files have their original values. The
// inputs are objects, the results are this kernel's files.
#include <doctest/doctest.h>

#include <sys/sysmacros.h>

#include <filesystem>

#include "test/composed/strategy_rows.hpp"
#include "test/support/loop_disk.hpp"

using namespace koord::test;
using koord::cgroup::Controller;

TEST_CASE("CPU suppression by cfsQuota: interrupted in any way, the class comes to its least quota again") {
  check_property(quota());
}

TEST_CASE("CPU suppression by cpuset: interrupted in any way, a container comes to its least set again") {
  check_property(set());
}

TEST_CASE("memory QoS: interrupted in any way, protection and throttling come to what the class says") {
  check_property(memory());
}

TEST_CASE("knobs of the node: interrupted in any way, they come to what the NodeSLO says") {
  check_property(system_knobs());
}

// It only writes memory.reclaim, which keeps no value. Only cgroup v2 has this file.
TEST_CASE("memory reclaim: interrupted in any way, it leaves what limits and protects a pod as it is") {
  check_property({"qos-memory-reclaim",
                  given("qos-memory-reclaim", "", "pressurePercent: 5", "pressurePercent: 6", "MemoryReclaim=true"),
                  [](Sessions& node) {
                    if (!std::filesystem::exists(node.file(node.pods.batch, Controller::memory, "memory.reclaim")))
                      return;
                    for (const char* file : {"memory.max", "memory.high"})
                      node.expect(node.file(node.pods.batch, Controller::memory, file), {"max"});
                    for (const char* file : {"memory.min", "memory.low"})
                      node.expect(node.file(node.pods.batch, Controller::memory, file), {"0"});
                  }});
}

TEST_CASE("block I/O: interrupted in any way, the class comes to its limit") {
  const auto disk = LoopDisk::attach(1 << 20);
  if (!disk) {
    MESSAGE("left out here: there are no loop devices");
    return;
  }
  static std::string number;
  number = std::to_string(::major(disk->number())) + ":" + std::to_string(::minor(disk->number()));
  const std::string slo = "resourceQOSStrategy: {beClass: {blkioQOS: {enable: true, blocks: [{name: " + disk->path() +
                          ", type: device, ioCfg: {readBPS: 1048576}}]}}}";
  check_property(
      {"qos-blkio", given("qos-blkio", slo, "", "", "BlkIOReconcile=true"), [](Sessions& node) {
         const bool v2 = node.pods.is_v2();
         const auto file =
             node.file(node.pods.besteffort, Controller::blkio, v2 ? "io.max" : "blkio.throttle.read_bps_device");
         node.expect(file, {v2 ? number + " rbps=1048576 wbps=max riops=max wiops=max" : number + " 1048576"});
       }});
}
