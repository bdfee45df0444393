// SPDX-License-Identifier: Apache-2.0
#include "core/event/strand.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <latch>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "test/support/eventually.hpp"

using namespace koord;
using namespace std::chrono_literals;
using event::Limits;
using event::Overrun;
using event::Strand;
using event::WorkerPool;

namespace {

constexpr Limits kWedgesSoon{.deadline = 1ms, .wedged_after = 2ms};

// A task that hangs until it is released, and the reports about it. A stuck task's objects must outlive the strand, so
// they are shared.
class Hang {
 public:
  void post_to(Strand& strand, Limits limits) {
    strand.post([s = state_] { s->begun.count_down(), s->released.wait(); }, limits,
                [s = state_](Overrun overrun) {
                  if (overrun == Overrun::late) s->late.count_down();
                  if (overrun == Overrun::wedged) s->wedged.count_down();
                });
  }
  void wedge(Strand& strand) {
    post_to(strand, kWedgesSoon);
    wait_wedged();
  }
  ~Hang() { release(); }

  void wait_begun() { state_->begun.wait(); }
  void wait_late() { state_->late.wait(); }
  void wait_wedged() { state_->wedged.wait(); }
  bool was_late() const { return state_->late.try_wait(); }
  void release() {
    if (!std::exchange(released_, true)) state_->released.count_down();
  }

 private:
  struct State {
    std::latch begun{1}, released{1}, late{1}, wedged{1};
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
  bool released_ = false;
};

// Waits with a time limit, because without it the test would hang if the task does not run.
bool is_ready(std::promise<void>& promise) { return promise.get_future().wait_for(20s) == std::future_status::ready; }

void run_through(Strand& strand) {
  const auto done = std::make_shared<std::promise<void>>();
  REQUIRE(strand.post([done] { done->set_value(); }));
  REQUIRE(is_ready(*done));
}

void run_through(WorkerPool& pool) {
  const auto done = std::make_shared<std::promise<void>>();
  pool.post([done] { done->set_value(); });
  REQUIRE(is_ready(*done));
}

}  // namespace

TEST_CASE("a strand runs its tasks in order, one at a time, on whatever worker") {
  WorkerPool pool(3);
  Strand strand(pool, "test");
  std::vector<int> order;  // needs no lock: the strand runs one task at a time
  for (int i = 0; i < 1000; ++i) strand.post([&, i] { order.push_back(i); });
  run_through(strand);
  REQUIRE(order.size() == 1000);
  for (int i = 0; i < 1000; ++i) REQUIRE(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("strands run beside each other") {
  std::promise<void> begun[2];
  std::promise<bool> met[2];  // both outlive the tasks for which the strands wait
  WorkerPool pool(2);
  Strand a(pool, "a"), b(pool, "b");
  const auto meet = [&](int self) {
    begun[self].set_value();
    met[self].set_value(is_ready(begun[1 - self]));
  };
  a.post([meet] { meet(0); });
  b.post([meet] { meet(1); });
  CHECK(met[0].get_future().get());
  CHECK(met[1].get_future().get());
}

TEST_CASE("a busy strand gives the worker to another after each task") {
  WorkerPool pool(1);
  Strand a(pool, "a"), b(pool, "b");
  Hang gate;
  std::vector<char> order;
  gate.post_to(a, {});
  for (int i = 0; i < 2; ++i) a.post([&] { order.push_back('a'); });
  b.post([&] { order.push_back('b'); });
  gate.release();
  run_through(a);
  CHECK(order == std::vector{'b', 'a', 'a'});
}

TEST_CASE("a strand reports whether it is busy and how many tasks wait") {
  WorkerPool pool(1);
  Strand strand(pool, "test");
  Hang hang;
  hang.post_to(strand, {});
  hang.wait_begun();
  strand.post([] {});
  CHECK(strand.busy());
  CHECK(strand.pending() == 1);
}

TEST_CASE("a strand knows its own tasks from other callers") {
  WorkerPool pool(1);
  Strand strand(pool, "test");
  std::promise<bool> inside;
  strand.post([&] { inside.set_value(strand.in_strand()); });
  CHECK(inside.get_future().get());
  CHECK_FALSE(strand.in_strand());
}

TEST_CASE("a task past its deadline is reported as late and goes on") {
  WorkerPool pool(1);
  Strand strand(pool, "test");
  Hang hang;
  hang.post_to(strand, {.deadline = 1ms, .wedged_after = 1h});
  hang.wait_late();
  CHECK_FALSE(strand.wedged());
  hang.release();
  run_through(strand);
}

TEST_CASE("a task within its deadline is not reported") {
  WorkerPool pool(1);
  Strand strand(pool, "test");
  std::atomic<int> reports = 0;
  for (int i = 0; i < 100; ++i) strand.post([] {}, {1h, 2h}, [&](Overrun) { ++reports; });
  run_through(strand);
  CHECK(reports == 0);
}

TEST_CASE("the deadline counts from the start of the task, not from its post") {
  WorkerPool pool(1);
  Strand strand(pool, "test");
  Hang hang;
  std::atomic<int> reports = 0;
  hang.post_to(strand, {.deadline = 30ms, .wedged_after = 1h});
  strand.post([] {}, {.deadline = 10s}, [&](Overrun) { ++reports; });
  hang.wait_late();
  hang.release();
  run_through(strand);
  CHECK(reports == 0);
}

TEST_CASE("a task past the second limit is reported as late, then as wedged") {
  WorkerPool pool(1);
  Strand strand(pool, "test");
  Hang hang;
  hang.wedge(strand);
  CHECK(hang.was_late());
  CHECK(strand.wedged());
  CHECK(strand.busy());
}

TEST_CASE("a strand without its own deadline still wedges") {
  WorkerPool pool(1);
  Strand strand(pool, "test");
  Hang hang;
  hang.post_to(strand, {.wedged_after = 1ms});
  hang.wait_wedged();
  CHECK_FALSE(hang.was_late());
}

TEST_CASE("a wedged strand drops its queue and accepts no tasks") {
  WorkerPool pool(1);
  Strand strand(pool, "test");
  Hang hang;
  std::latch dropped(1);
  std::shared_ptr<void> end_notice(nullptr, [&](void*) { dropped.count_down(); });
  hang.post_to(strand, {.deadline = 20ms, .wedged_after = 30ms});
  strand.post([held = std::move(end_notice)] { FAIL("it was dropped"); });
  dropped.wait();
  CHECK(strand.pending() == 0);
  CHECK_FALSE(strand.post([] {}));
}

TEST_CASE("the pool replaces the thread of a wedged task") {
  WorkerPool pool(1);
  Strand strand(pool, "test");
  Hang hang;
  hang.wedge(strand);
  run_through(pool);
  CHECK(pool.written_off() == 1);
  CHECK(pool.size() == 1);
}

TEST_CASE("a wedged strand stays wedged after its task returned, and its thread ends") {
  WorkerPool pool(1);
  Strand strand(pool, "test");
  Hang hang;
  hang.wedge(strand);
  hang.release();
  CHECK(test::eventually([&] { return pool.written_off() == 0; }));
  CHECK(strand.wedged());
  CHECK_FALSE(strand.busy());
  CHECK_FALSE(strand.post([] {}));
  CHECK(pool.size() == 1);
}

TEST_CASE("threads are replaced only up to the bound") {
  WorkerPool pool(2, 1);
  Strand a(pool, "a"), b(pool, "b");
  Hang first, second;
  first.wedge(a);
  second.wedge(b);
  CHECK(pool.written_off() == 1);
  CHECK(pool.size() == 1);
  run_through(pool);
}

TEST_CASE("a thread that was not replaced serves again when its task returns") {
  WorkerPool pool(1, 0);
  Strand strand(pool, "test");
  Hang hang;
  hang.wedge(strand);
  CHECK(pool.size() == 0);
  hang.release();
  run_through(pool);
  CHECK(pool.size() == 1);
}

TEST_CASE("a wedged strand does not hold up another") {
  WorkerPool pool(1);
  Strand stuck(pool, "stuck"), healthy(pool, "healthy");
  Hang hang;
  hang.wedge(stuck);
  run_through(healthy);
  CHECK(stuck.wedged());
  CHECK_FALSE(healthy.wedged());
}

TEST_CASE("a pool ends without waiting for a wedged task") {
  Hang hang;
  auto pool = std::make_unique<WorkerPool>(1);
  Strand strand(*pool, "test");
  hang.wedge(strand);
  pool.reset();
  CHECK_FALSE(strand.post([] {}));
}

TEST_CASE("a task that wedges while the pool ends does not keep it") {
  Hang hang;
  auto pool = std::make_unique<WorkerPool>(1);
  Strand strand(*pool, "test");
  hang.post_to(strand, {.deadline = 20ms, .wedged_after = 30ms});
  pool.reset();
  CHECK(strand.wedged());
}

TEST_CASE("a strand refuses tasks after its pool ended") {
  auto pool = std::make_unique<WorkerPool>(1);
  Strand strand(*pool, "test");
  pool.reset();
  CHECK_FALSE(strand.post([] { FAIL("no thread is available to run it"); }));
}

TEST_CASE("a destroyed strand drops its queue and waits for the task that runs") {
  WorkerPool pool(1);
  std::latch begun(1), dropped(1);
  bool ended = false;
  {
    Strand strand(pool, "test");
    strand.post([&] {
      begun.count_down();
      dropped.wait();  // the queue is destroyed while this task runs
      ended = true;
    });
    std::shared_ptr<void> end_notice(nullptr, [&](void*) { dropped.count_down(); });
    strand.post([held = std::move(end_notice)] { FAIL("it was dropped"); });
    begun.wait();
  }
  CHECK(ended);
}

TEST_CASE("a strand may be destroyed by its own task") {
  WorkerPool pool(1);
  auto strand = std::make_unique<Strand>(pool, "test");
  Strand* borrowed = strand.get();
  std::latch done(1);
  borrowed->post([&] {
    strand.reset();
    done.count_down();
  });
  done.wait();
  CHECK_FALSE(strand);
}

TEST_CASE("posting from many threads loses no task") {
  WorkerPool pool(2);
  Strand strand(pool, "test");
  int ran = 0;  // needs no lock: the strand runs one task at a time
  {
    std::vector<std::jthread> posters;
    for (int t = 0; t < 4; ++t)
      posters.emplace_back([&] {
        for (int i = 0; i < 250; ++i) strand.post([&] { ++ran; }, {1h, 2h});
      });
  }
  run_through(strand);
  CHECK(ran == 1000);
}
