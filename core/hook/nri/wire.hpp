// SPDX-License-Identifier: Apache-2.0
// The messages of NRI v1alpha1 in protobuf: those of the runtime are read, those of a plugin are written. The numbers
// of the fields are in wire_read.cpp and wire_write.cpp only. Pure. [one thread]
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/hook/nri/stage.hpp"
#include "core/hook/nri/types.hpp"

namespace koord::nri {

// Returns true for the keys of annotations that hooks use. All others are dropped while a message is read. Empty: all
// are kept.
using KeepAnnotation = std::function<bool(std::string_view key)>;

struct ConfigureRequest {
  Runtime runtime;
  Duration registration_timeout = Duration::zero();  // both zero before NRI 0.7
  Duration request_timeout = Duration::zero();
};

// A node has some hundred pods. These limits, for all parts of a Synchronize together, bound the memory.
inline constexpr std::size_t kMostPods = 4096;
inline constexpr std::size_t kMostContainers = 16384;

struct SynchronizeRequest {
  std::vector<Pod> pods;
  std::vector<Container> containers;
  bool more = false;  // a further part follows
};

// Any event of one pod and perhaps one container.
struct EventRequest {
  Stage stage = Stage::run_pod_sandbox;
  Pod pod;
  Container container;
  Resources resources;  // the new values; only for update_container and update_pod_sandbox
};

Result<ConfigureRequest> read_configure(std::string_view bytes);
Result<SynchronizeRequest> read_synchronize(std::string_view bytes, const KeepAnnotation& keep);
Result<EventRequest> read_event(Stage stage, std::string_view bytes, const KeepAnnotation& keep);
// The stage is that of the message. Fails for an event that is unknown.
Result<EventRequest> read_state_change(std::string_view bytes, const KeepAnnotation& keep);
// Returns the ids of the containers with a failed update.
Result<std::vector<std::string>> read_failed_updates(std::string_view bytes);

std::string encode_register_plugin(std::string_view name, std::string_view index);
std::string encode_configure_answer(EventMask events);
std::string encode_more();  // the answer to a part of Synchronize

// These fail if a text is not UTF-8. Updates without a container id are left out: the runtime ignores them.
Result<std::string> encode_adjustment(const Adjustment& adjustment, const std::vector<Update>& updates);
Result<std::string> encode_updates(const std::vector<Update>& updates);

}  // namespace koord::nri
