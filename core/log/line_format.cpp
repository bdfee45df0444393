// SPDX-License-Identifier: Apache-2.0
#include "core/log/line_format.hpp"

#include <spdlog/details/log_msg.h>

#include <array>
#include <chrono>
#include <iterator>
#include <string>

#include "core/base/timestamp.hpp"
#include "core/log/escape.hpp"

namespace koord::log {
namespace {

std::string_view view(spdlog::string_view_t text) { return {text.data(), text.size()}; }

void append_time(Buffer& out, spdlog::log_clock::time_point time) {
  const auto since_epoch = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch());
  const std::string text = format_timestamp_ms(since_epoch.count());
  out.append(text.data(), text.data() + text.size());
}

// In the order of the enumerators.
constexpr std::array<std::string_view, 5> kPaddedNames{"TRACE", "DEBUG", "INFO ", "WARN ", "ERROR"};

class TextLine final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& entry, Buffer& out) override {
    append_time(out, entry.time);
    fmt::format_to(std::back_inserter(out), " {} {}: ", kPaddedNames[entry.level], view(entry.logger_name));
    append_printable(out, view(entry.payload));
    out.push_back('\n');
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<TextLine>(); }
};

class JsonLine final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& entry, Buffer& out) override {
    constexpr std::string_view kOpening = R"({"time":")";
    out.append(kOpening.data(), kOpening.data() + kOpening.size());
    append_time(out, entry.time);
    fmt::format_to(std::back_inserter(out), R"(","level":"{}","category":)",
                   to_string(static_cast<Level>(entry.level)));
    append_json_string(out, view(entry.logger_name));
    fmt::format_to(std::back_inserter(out), R"(,"message":)");
    append_json_string(out, view(entry.payload));
    fmt::format_to(std::back_inserter(out), "}}\n");
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<JsonLine>(); }
};

}  // namespace

std::unique_ptr<spdlog::formatter> make_line_format(Format format) {
  if (format == Format::json) return std::make_unique<JsonLine>();
  return std::make_unique<TextLine>();
}

spdlog::level::level_enum to_spdlog(Level level) {
  return static_cast<spdlog::level::level_enum>(level);  // the levels are spdlog's first five, in its order
}

static_assert(static_cast<int>(Level::trace) == spdlog::level::trace);
static_assert(static_cast<int>(Level::error) == spdlog::level::err);

}  // namespace koord::log
