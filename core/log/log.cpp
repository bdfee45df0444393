// SPDX-License-Identifier: Apache-2.0
#include "core/log/log.hpp"

#include <fmt/format.h>
#include <spdlog/details/log_msg.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <atomic>
#include <mutex>

#include "core/log/line_format.hpp"
#include "core/log/output.hpp"

namespace koord::log {
namespace {

// Not a member of Output, so a line below the level costs only one load.
constinit std::atomic<Level> threshold{Level::info};

class Output {
 public:
  OutputSettings exchange(OutputSettings fresh) {
    std::lock_guard lock(mutex_);
    threshold = fresh.level;
    fresh.sink->set_formatter(make_line_format(fresh.format));
    return std::exchange(settings_, std::move(fresh));
  }

  void set_up(Level level, Format format) {
    std::lock_guard lock(mutex_);
    threshold = level;
    settings_.level = level;
    settings_.format = format;
    settings_.sink->set_formatter(make_line_format(format));
  }

  void write(Category category, Level level, std::string_view text) {
    const spdlog::details::log_msg entry({category.name.data(), category.name.size()}, to_spdlog(level),
                                         {text.data(), text.size()});
    std::lock_guard lock(mutex_);
    settings_.sink->log(entry);
  }

 private:
  static OutputSettings to_stderr() {
    OutputSettings settings{Level::info, Format::text, std::make_shared<spdlog::sinks::stderr_sink_st>()};
    settings.sink->set_formatter(make_line_format(settings.format));
    return settings;
  }

  std::mutex mutex_;
  OutputSettings settings_ = to_stderr();
};

// Returns the output. It is made with the first line and never destroyed, because abandoned threads may log while the
// process exits.
Output& output() {
  static Output& instance = *new Output;
  return instance;
}

}  // namespace

void set_up(Level level, Format format) { output().set_up(level, format); }

bool enabled(Level level) { return level >= threshold.load(std::memory_order_relaxed); }

void write(Category category, Level level, std::string_view text) {
  if (enabled(level)) output().write(category, level, text);
}

OutputSettings exchange_output(OutputSettings settings) { return output().exchange(std::move(settings)); }

void detail::write_formatted(Category category, Level level, fmt::string_view format, fmt::format_args arguments) {
  fmt::memory_buffer text;
  fmt::vformat_to(std::back_inserter(text), format, arguments);
  output().write(category, level, {text.data(), text.size()});
}

}  // namespace koord::log
