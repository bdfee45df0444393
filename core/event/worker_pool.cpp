// SPDX-License-Identifier: Apache-2.0
#include "core/event/worker_pool.hpp"

#include <algorithm>
#include <utility>

#include "core/event/workers.hpp"

namespace koord::event {

WorkerPool::WorkerPool(std::size_t threads, std::size_t max_written_off)
    : workers_(std::make_shared<Workers>(max_written_off)) {
  workers_->start(std::max<std::size_t>(threads, 1));
}

WorkerPool::~WorkerPool() { workers_->end(); }

void WorkerPool::post(Task task) { workers_->post(std::move(task)); }

std::size_t WorkerPool::size() const { return workers_->serving(); }

std::size_t WorkerPool::written_off() const { return workers_->written_off(); }

}  // namespace koord::event
