// SPDX-License-Identifier: Apache-2.0
#include "core/host/process_use.hpp"

#include <unistd.h>

#include <string>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::host {
namespace {

constexpr int kUserTime = 14, kSystemTime = 15;  // fields of /proc/PID/stat, proc(5)

// Returns the number in a line such as "RssAnon:      1234 kB".
std::uint64_t kibibytes_of(std::string_view status, std::string_view key) {
  while (auto line = next_field(status, '\n')) {
    if (!line->starts_with(key)) continue;
    std::string_view rest = line->substr(key.size());
    if (auto number = next_word(rest)) return parse_uint(*number).value_or(0);
  }
  return 0;
}

}  // namespace

Result<ProcessUse> use_of_process(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  const std::string stat = TRY(read_file(folder + "/stat"));
  const std::string status = TRY(read_file(folder + "/status"));
  // The second field, the name, may contain any characters, even closing parentheses.
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos)
    return invalid("'" + folder + "/stat': expected a name in parentheses, found none");
  std::string_view rest = std::string_view(stat).substr(name_end + 1);
  std::uint64_t ticks = 0;
  for (int field = 3; field <= kSystemTime; ++field) {
    auto word = next_word(rest);
    if (!word)
      return invalid("'" + folder + "/stat': expected " + std::to_string(kSystemTime) + " fields, found fewer");
    if (field >= kUserTime) ticks += TRY(parse_uint(*word));
  }
  const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return ProcessUse{.cpu = Duration(static_cast<std::int64_t>(ticks * (1'000'000'000 / per_second))),
                    .memory_bytes = (kibibytes_of(status, "RssAnon:") + kibibytes_of(status, "RssShmem:")) << 10};
}

}  // namespace koord::host
