// SPDX-License-Identifier: Apache-2.0
#include "core/event/strand.hpp"

#include <utility>

#include "core/event/strand_state.hpp"

namespace koord::event {

Strand::Strand(WorkerPool& pool, std::string name) : state_(std::make_shared<State>(pool.workers_, std::move(name))) {}

Strand::~Strand() { state_->close(); }

bool Strand::post(Task task, Limits limits, OnOverrun on_overrun) {
  return state_->post({std::move(task), limits, std::move(on_overrun)});
}

bool Strand::busy() const { return state_->busy(); }

std::size_t Strand::pending() const { return state_->pending(); }

bool Strand::wedged() const { return state_->wedged(); }

bool Strand::in_strand() const { return state_->in_strand(); }

const std::string& Strand::name() const { return state_->name(); }

}  // namespace koord::event
