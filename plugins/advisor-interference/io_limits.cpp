// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/io_limits.hpp"

#include <array>
#include <optional>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::interference {
namespace {

using cgroup::Controller;
using Field = double IoLimit::*;

constexpr std::array<std::pair<std::string_view, Field>, 4> kMaxFields = {{{"rbps", &IoLimit::read_bytes},
                                                                           {"wbps", &IoLimit::write_bytes},
                                                                           {"riops", &IoLimit::reads},
                                                                           {"wiops", &IoLimit::writes}}};
constexpr std::array<std::pair<const char*, Field>, 4> kThrottleFiles = {
    {{"/blkio.throttle.read_bps_device", &IoLimit::read_bytes},
     {"/blkio.throttle.write_bps_device", &IoLimit::write_bytes},
     {"/blkio.throttle.read_iops_device", &IoLimit::reads},
     {"/blkio.throttle.write_iops_device", &IoLimit::writes}}};

// Parses "254:0".
std::optional<std::uint32_t> device_number(std::string_view word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto major = parse_uint(word.substr(0, colon)), minor = parse_uint(word.substr(colon + 1));
  if (!major || !minor || *major >= 1u << 12 || *minor >= 1u << 20) return std::nullopt;
  return static_cast<std::uint32_t>(*major << 20 | *minor);
}

template <class Visit>
void for_each_device(std::string_view text, Visit&& visit) {
  for (const std::string& line : split(text, '\n')) {
    std::string_view rest = line;
    const auto word = next_word(rest);
    const auto device = word ? device_number(*word) : std::nullopt;
    if (device) visit(*device, rest);
  }
}

}  // namespace

IoLimits parse_io_max(std::string_view text) {
  IoLimits limits;
  for_each_device(text, [&](std::uint32_t device, std::string_view rest) {
    while (const auto word = next_word(rest))
      for (const auto& [name, field] : kMaxFields) {
        if (!word->starts_with(name) || word->substr(name.size(), 1) != "=") continue;
        if (const auto number = parse_uint(word->substr(name.size() + 1)))
          limits[device].*field = static_cast<double>(*number);
      }
  });
  return limits;
}

void parse_throttle_file(std::string_view text, double IoLimit::*field, IoLimits& limits) {
  for_each_device(text, [&](std::uint32_t device, std::string_view rest) {
    const auto word = next_word(rest);
    const auto number = word ? parse_uint(*word) : Result<std::uint64_t>(invalid("no number"));
    if (number) limits[device].*field = static_cast<double>(*number);
  });
}

IoLimits read_io_limits(const cgroup::Layout& layout, const std::string& cgroup) {
  const std::string directory = layout.directory(Controller::blkio, cgroup);
  if (layout.version(Controller::blkio) == cgroup::Version::v2)
    return parse_io_max(read_file(directory + "/io.max").value_or(""));
  IoLimits limits;
  for (const auto& [name, field] : kThrottleFiles)
    parse_throttle_file(read_file(directory + name).value_or(""), field, limits);
  return limits;
}

}  // namespace koord::interference
