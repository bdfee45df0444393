// SPDX-License-Identifier: Apache-2.0
// A runtime hook that follows the pod's annotation koordetector.sh/test-hook: "sleep", "crash", "garbage", "rival",
// "late", "reject", or "noise" (a rejection with control characters and a text of 1 MiB). Without the annotation it
// sets one environment variable, and a second one with the received annotations of example.org.
#include <atomic>
#include <csignal>
#include <cstring>
#include <koordetector/plugin.hpp>
#include <string>
#include <thread>

using namespace koord::plugin;

struct CarelessHook : RuntimeHook {
  void handle(const koord_hook_request& request, const koord_hook_response& response) override {
    if (request.container == nullptr) return;
    const std::string_view order = order_of(*request.pod);
    if (order == "sleep") std::this_thread::sleep_for(std::chrono::seconds(5));
    if (order == "crash") std::raise(SIGSEGV);
    if (order == "late") {  // only the first answer of a process comes after the deadline
      if (!was_late_.exchange(true)) std::this_thread::sleep_for(std::chrono::seconds(1));
      check(response.set(&response, str("linux.memory.limit"), str("33554432")), "setting");
    }
    if (order == "reject") check(response.reject(&response, str("no device is free")), "rejecting");
    if (order == "rival") {  // one value is stricter than hook-batch-resource's value, the other is less strict
      check(response.set(&response, str("linux.memory.limit"), str("33554432")), "setting");
      check(response.set(&response, str("linux.cpu.shares"), str("1024")), "setting");
    }
    if (order == "noise") {
      response.reject(&response, str("\x1b[2J\r\n" + std::string(1 << 20, 'x')));
      check(response.reject(&response, str("\x1b[2J\r\nno device")), "rejecting");
    }
    if (order == "garbage") {
      for (const char* field : {"", "linux.cpu.quota", "no.such.field", "env:", "device:/dev/../sda", "mount:relative"})
        response.set(&response, str(field), str(std::string(100'000, '\xff')));
    }
    check(response.set(&response, str("env:FROM_CARELESS"), str("1")), "setting");
    check(response.set(&response, str("env:ANNOTATIONS"), str(foreign_annotations_of(*request.pod))), "setting");
  }

 private:
  static std::string foreign_annotations_of(const koord_pod& pod) {
    std::string all;
    for (const koord_label& one : Strided(pod.annotations, pod.n_annotations, sizeof(koord_label)))
      if (view(one.key).starts_with("example.org/"))
        all += std::string(view(one.key)) + "=" + std::string(view(one.value)) + ";";
    return all;
  }

  static std::string_view order_of(const koord_pod& pod) {
    for (const koord_label& one : Strided(pod.annotations, pod.n_annotations, sizeof(koord_label)))
      if (view(one.key) == "koordetector.sh/test-hook") return view(one.value);
    return {};
  }

  std::atomic<bool> was_late_ = false;
};

KOORD_PLUGIN(
    "id=careless-hook\nversion=1.0.0\nkinds=koord.runtime-hook/1\ngate=Careless\nannotations=example.org/declared\n",
    runtime_hook<CarelessHook, KOORD_STAGE_PRE_CREATE_CONTAINER>("careless"))
