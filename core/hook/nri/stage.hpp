// SPDX-License-Identifier: Apache-2.0
// The events of NRI. The numbers are those of the protocol, except that of synchronize.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/hook/nri/types.hpp"

namespace koord::nri {

enum class Stage : std::uint8_t {
  synchronize = 0,
  run_pod_sandbox = 1,
  stop_pod_sandbox = 2,
  remove_pod_sandbox = 3,
  create_container = 4,
  post_create_container = 5,
  start_container = 6,
  post_start_container = 7,
  update_container = 8,
  post_update_container = 9,
  stop_container = 10,
  remove_container = 11,
  update_pod_sandbox = 12,
  post_update_pod_sandbox = 13,
};
inline constexpr std::size_t kStages = 14;

// The name as the protocol writes it, such as "CreateContainer".
std::string_view to_string(Stage stage);
std::optional<Stage> stage_of_method(std::string_view name);
// Takes the number of an event of StateChange.
std::optional<Stage> stage_of_event(std::int32_t number);

// A set of events, as Configure answers it.
using EventMask = std::uint32_t;
inline constexpr EventMask mask_of(Stage stage) {
  return stage == Stage::synchronize ? 0 : EventMask{1} << (static_cast<unsigned>(stage) - 1);
}
inline constexpr EventMask kAllEvents = (EventMask{1} << (kStages - 1)) - 1;

// The events that this runtime certainly has. It drops a plugin that subscribes to an unknown one.
EventMask events_of(const Runtime& runtime);

}  // namespace koord::nri
