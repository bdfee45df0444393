// SPDX-License-Identifier: Apache-2.0
// HookQuestions with more questions than its hooks can answer, and at its end.
#include "core/agentd/hook_questions.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <optional>
#include <thread>

#include "koordetector/plugin.h"
#include "test/core/agentd/node_services.hpp"
#include "test/support/eventually.hpp"

using namespace koord;
using namespace koord::agentd;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t kCreation = KOORD_STAGE_PRE_CREATE_CONTAINER;

// The search for hooks, which runs on the thread of the question. It waits until the test opens it, and finds no hook.
struct SlowHook {
  std::vector<host::HookTarget> find() {
    if (std::this_thread::get_id() == asker) return std::vector<host::HookTarget>(1);
    std::unique_lock lock(mutex);
    ++entered;
    opened.wait(lock, [this] { return is_open; });
    return {};
  }
  void open() {
    const std::lock_guard lock(mutex);
    is_open = true;
    opened.notify_all();
  }

  const std::thread::id asker = std::this_thread::get_id();
  std::atomic<int> entered = 0;
  std::mutex mutex;
  std::condition_variable opened;
  bool is_open = false;
};

struct Asking : NodeServices {
  explicit Asking(Duration deadline) { config.deadline = deadline; }
  ~Asking() { hook.open(); }

  bool ask() {
    return questions().ask({.stage = kCreation, .asked_by = "test", .pod = pod, .container = &container},
                           [this](const host::HookVerdict&) { ++answered; });
  }
  HookQuestions& questions() {
    if (!questions_) questions_.emplace(services, config, creations, [this](std::uint32_t) { return hook.find(); });
    return *questions_;
  }
  double busy() { return metrics.counter("host_hooks_bypassed_total", "", {{"reason", "busy"}}).value(); }

  hook::Creations creations{"", clock, [](std::span<const knob::Adjusted>) { return Result<void>(); }};
  config::HookConfig config;
  SlowHook hook;
  std::atomic<std::size_t> answered = 0;
  const nri::Pod pod{.name = "web", .uid = "u1", .namespace_name = "shop"};
  const nri::Container container{.name = "main"};

 private:
  std::optional<HookQuestions> questions_;  // the last member, because its threads use the other members
};

}  // namespace

TEST_CASE("questions beyond the limit are not asked, and counted; the others get their answer once") {
  Asking asking(1h);
  for (std::size_t i = 0; i < HookQuestions::kMostQuestions; ++i) REQUIRE(asking.ask());
  CHECK_FALSE(asking.ask());
  CHECK(asking.busy() == 1);
  CHECK(asking.answered == 0);
  asking.hook.open();
  CHECK(test::eventually([&] { return asking.answered == HookQuestions::kMostQuestions; }));
  CHECK(asking.ask());
}

TEST_CASE("a slow hook leaves threads to other questions") {
  Asking asking(1h);
  for (int i = 0; i < 10; ++i) REQUIRE(asking.ask());
  CHECK(test::eventually([&] { return asking.hook.entered > 1; }));
}

TEST_CASE("a question that has waited beyond the deadline is answered without its hooks") {
  Asking asking(0s);
  REQUIRE(asking.ask());
  CHECK(test::eventually([&] { return asking.answered == 1; }));
  CHECK(asking.hook.entered == 0);
  CHECK(asking.busy() == 1);
}

TEST_CASE("at its end waiting questions are answered without their hooks, and no further one is asked") {
  Asking asking(1h);
  for (int i = 0; i < 100; ++i) REQUIRE(asking.ask());
  REQUIRE(test::eventually([&] { return asking.hook.entered > 0; }));
  const int entered = asking.hook.entered;
  std::thread end([&] { asking.questions().stop(); });
  asking.hook.open();
  end.join();
  CHECK(asking.answered == 100);
  CHECK(asking.hook.entered >= entered);
  CHECK_FALSE(asking.ask());
}
