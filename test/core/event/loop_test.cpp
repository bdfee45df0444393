// SPDX-License-Identifier: Apache-2.0
#include "core/event/loop.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "core/base/unique_fd.hpp"

using namespace koord;
using namespace std::chrono_literals;
using event::Loop;

namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    in.reset(ends[0]);
    out.reset(ends[1]);
  }
  void put() { REQUIRE(::write(out.get(), "x", 1) == 1); }
  void take() {
    char c;
    REQUIRE(::read(in.get(), &c, 1) == 1);
  }
  UniqueFd in, out;
};

}  // namespace

TEST_CASE("a task that the loop thread posts runs before one that another thread posts after it") {
  Loop loop;
  std::vector<std::string> ran;
  loop.post([&] {
    loop.post([&] { ran.push_back("by the loop"); });
    std::thread([&] { loop.post([&] { ran.push_back("by a thread"); }); }).join();
    loop.post([&] { loop.stop(); });
  });
  loop.run();
  CHECK(ran == std::vector<std::string>{"by the loop", "by a thread"});
}

TEST_CASE("posted tasks run on the loop thread in the order posted") {
  Loop loop;
  std::vector<int> order;
  for (int i = 0; i < 3; ++i)
    loop.post([&, i] {
      CHECK(loop.in_loop_thread());
      order.push_back(i);
    });
  loop.post([&] { loop.stop(); });
  loop.run();
  CHECK(order == std::vector{0, 1, 2});
}

TEST_CASE("a task may be posted from another thread") {
  Loop loop;
  bool is_on_loop = false;
  std::jthread other([&] {
    CHECK_FALSE(loop.in_loop_thread());
    loop.post([&] {
      is_on_loop = loop.in_loop_thread();
      loop.stop();
    });
  });
  auto late = loop.after(20s, [&] { loop.stop(); });
  loop.run();
  CHECK(is_on_loop);
}

TEST_CASE("a loop without work goes on until it is stopped") {
  Loop loop;
  std::promise<void> idle;
  bool stopped = false;
  loop.post([&] { idle.set_value(); });
  std::jthread other([&] {
    idle.get_future().wait();
    loop.post([&] {
      stopped = true;
      loop.stop();
    });
  });
  loop.run();
  CHECK(stopped);
}

TEST_CASE("a stopped loop keeps what was posted for its next run") {
  Loop loop;
  bool ran = false;
  loop.post([&] { loop.stop(); });
  loop.post([&] {
    ran = true;
    loop.stop();
  });
  loop.run();
  CHECK_FALSE(ran);
  loop.run();
  CHECK(ran);
}

TEST_CASE("a timer that runs once does so") {
  Loop loop;
  int fired = 0;
  auto once = loop.after(0ms, [&] { ++fired; });
  auto end = loop.after(10ms, [&] { loop.stop(); });
  loop.run();
  CHECK(fired == 1);
}

TEST_CASE("a periodic timer runs again and again") {
  Loop loop;
  int fired = 0;
  auto timer = loop.every(1ms, [&] {
    if (++fired == 3) loop.stop();
  });
  loop.run();
  CHECK(fired == 3);
}

TEST_CASE("a periodic timer skips the ticks that a busy loop missed") {
  Loop loop;
  std::vector<std::chrono::steady_clock::time_point> ticks;
  auto timer = loop.every(10ms, [&] {
    ticks.push_back(std::chrono::steady_clock::now());
    if (ticks.size() == 2) loop.stop();
    const auto busy_until = ticks.front() + 35ms;
    while (std::chrono::steady_clock::now() < busy_until) {
    }
  });
  loop.run();
  // a repeated missed tick would come immediately, at 35 ms minus the scheduler's delay
  CHECK(ticks[1] - ticks[0] >= 35ms);
}

TEST_CASE("a destroyed timer does not run, even if it was already due") {
  Loop loop;
  bool fired = false;
  auto victim = loop.after(2ms, [&] { fired = true; });
  auto killer = loop.after(1ms, [&] {
    const auto due = std::chrono::steady_clock::now() + 5ms;
    while (std::chrono::steady_clock::now() < due) {
    }
    victim.reset();
  });
  auto end = loop.after(20ms, [&] { loop.stop(); });
  loop.run();
  CHECK_FALSE(fired);
}

TEST_CASE("a timer may be destroyed by its own task") {
  Loop loop;
  int fired = 0;
  std::unique_ptr<event::Timer> timer;
  timer = loop.every(1ms, [&] {
    ++fired;
    timer.reset();
  });
  auto end = loop.after(10ms, [&] { loop.stop(); });
  loop.run();
  CHECK(fired == 1);
}

TEST_CASE("a signal runs its task each time, in place of the default action") {
  Loop loop;
  int seen = 0;
  REQUIRE(loop.on_signal(SIGUSR1, [&] {
    if (++seen == 2) return loop.stop();
    ::raise(SIGUSR1);
  }));
  loop.post([] { ::raise(SIGUSR1); });
  loop.run();
  CHECK(seen == 2);
}

TEST_CASE("a signal that cannot be handled is an error that names it") {
  Loop loop;
  CHECK(loop.on_signal(9999, [] {}).error().message() == "cannot handle signal 9999: Invalid argument");
}

TEST_CASE("a watch runs its task as long as the descriptor is readable") {
  Loop loop;
  Pipe pipe;
  int taken = 0;
  auto watch = loop.on_readable(pipe.in.get(), [&] {
    pipe.take();  // reads one of two bytes; the watch must report the other byte, too
    if (++taken == 2) loop.stop();
  });
  REQUIRE(watch);
  pipe.put();
  pipe.put();
  loop.run();
  CHECK(taken == 2);
}

TEST_CASE("a watch may be destroyed by its own task and leaves the descriptor open") {
  Loop loop;
  Pipe pipe;
  std::unique_ptr<event::FdWatch> watch;
  std::unique_ptr<event::Timer> end;
  int seen = 0;
  watch = *loop.on_readable(pipe.in.get(), [&] {
    ++seen;
    end = loop.after(5ms, [&] { loop.stop(); });
    watch.reset();
  });
  pipe.put();
  loop.run();
  CHECK(seen == 1);
  CHECK(::fcntl(pipe.in.get(), F_GETFD) >= 0);
}

TEST_CASE("a descriptor can be watched again after its watch ended") {
  Loop loop;
  Pipe pipe;
  {
    auto first = loop.on_readable(pipe.in.get(), [] { FAIL("the watch has ended"); });
  }
  bool ran = false;
  auto second = loop.on_readable(pipe.in.get(), [&] {
    ran = true;
    loop.stop();
  });
  REQUIRE(second);
  auto late = loop.after(20s, [&] { loop.stop(); });
  pipe.put();
  loop.run();
  CHECK(ran);
}

TEST_CASE("a watch for writing runs its task once there is room") {
  Loop loop;
  Pipe pipe;
  const std::string block(64 << 10, 'x');
  while (::write(pipe.out.get(), block.data(), block.size()) > 0) {
  }
  bool emptied = false, ran = false;
  auto watch = loop.on_writable(pipe.out.get(), [&] {
    CHECK(emptied);
    ran = true;
    loop.stop();
  });
  REQUIRE(watch);
  auto late = loop.after(20s, [&] { loop.stop(); });
  auto reader = loop.after(2ms, [&] {
    emptied = true;
    std::string taken = block;
    CHECK(::read(pipe.in.get(), taken.data(), taken.size()) > 0);
  });
  loop.run();
  CHECK(ran);
}

TEST_CASE("a watch for writing runs its task when the reader has gone") {
  Loop loop;
  Pipe pipe;
  pipe.in.reset();
  bool ran = false;
  auto watch = loop.on_writable(pipe.out.get(), [&] {
    ran = true;
    loop.stop();
  });
  REQUIRE(watch);
  auto late = loop.after(20s, [&] { loop.stop(); });
  loop.run();
  CHECK(ran);
}

TEST_CASE("a regular file cannot be watched") {
  Loop loop;
  UniqueFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  CHECK(loop.on_readable(file.get(), [] {}).error().message() ==
        "cannot watch descriptor " + std::to_string(file.get()) + ": Operation not permitted");
}
