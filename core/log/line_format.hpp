// SPDX-License-Identifier: Apache-2.0
// One entry as one line, in either format, for spdlog's sinks. Inside core/log only: it includes spdlog.
#pragma once

#include <spdlog/formatter.h>

#include <memory>

#include "core/log/log.hpp"

namespace koord::log {

std::unique_ptr<spdlog::formatter> make_line_format(Format format);

spdlog::level::level_enum to_spdlog(Level level);

}  // namespace koord::log
