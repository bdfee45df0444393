// SPDX-License-Identifier: Apache-2.0
// Replaces event_names.cpp in builds without libpfm4-dev.
#include <utility>

#include "plugins/shared/counters/event_names.hpp"

namespace koord::performance {

struct EventNames::Library {};

Result<std::unique_ptr<EventNames>> EventNames::load() { return not_found("the build had no libpfm4-dev"); }

EventNames::EventNames(std::unique_ptr<Library> library) : library_(std::move(library)) {}

EventNames::~EventNames() = default;

Result<EventCode> EventNames::encode(const std::string& name) const { return not_found("no code of '" + name + "'"); }

}  // namespace koord::performance
