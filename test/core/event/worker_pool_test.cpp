// SPDX-License-Identifier: Apache-2.0
#include "core/event/worker_pool.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <latch>
#include <thread>

using koord::event::WorkerPool;

TEST_CASE("a pool runs what is posted on threads of its own") {
  std::latch done(1);
  std::thread::id worker;
  WorkerPool pool(2);
  pool.post([&] {
    worker = std::this_thread::get_id();
    done.count_down();
  });
  done.wait();
  CHECK(worker != std::this_thread::get_id());
}

TEST_CASE("a pool runs as many tasks at once as it has threads") {
  std::latch all_there(3);
  WorkerPool pool(3);
  for (int i = 0; i < 3; ++i) pool.post([&] { all_there.arrive_and_wait(); });
  all_there.wait();
  CHECK(pool.size() == 3);
}

TEST_CASE("a pool asked for no threads has one") {
  WorkerPool pool(0);
  CHECK(pool.size() == 1);
}

TEST_CASE("a pool that ends runs what is queued first") {
  std::atomic<int> ran = 0;
  {
    WorkerPool pool(1);
    for (int i = 0; i < 100; ++i) pool.post([&] { ++ran; });
  }
  CHECK(ran == 100);
}

TEST_CASE("a task may post another while the pool ends") {
  std::atomic<bool> ran = false;
  {
    WorkerPool pool(1);
    pool.post([&] { pool.post([&] { ran = true; }); });
  }
  CHECK(ran);
}
