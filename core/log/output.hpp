// SPDX-License-Identifier: Apache-2.0
// Where the lines go: the one piece of state of the log. Inside core/log only: it includes spdlog.
#pragma once

#include <spdlog/sinks/sink.h>

#include <memory>
#include <mutex>

#include "core/log/log.hpp"

namespace koord::log {

// Settings that a Capture saves and restores.
struct OutputSettings {
  Level level = Level::info;
  Format format = Format::text;
  std::shared_ptr<spdlog::sinks::sink> sink;
};

// [any thread] The settings in force from now on; returns those before. The sink needs no lock of its own.
OutputSettings exchange_output(OutputSettings settings);

}  // namespace koord::log
