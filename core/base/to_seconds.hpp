// SPDX-License-Identifier: Apache-2.0
// A duration in seconds, as metrics and JSON have it.
#pragma once

#include <chrono>

#include "core/base/clock.hpp"

namespace koord {

inline double to_seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace koord
