// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-memory-events/oom_log.hpp"

#include <charconv>

#include "core/base/parse.hpp"

namespace koord::memory_events {
namespace {

constexpr std::size_t npos = std::string_view::npos;

// Returns the text of a record written by the kernel itself: syslog facility 0.
std::optional<std::string_view> text_of_kernel(std::string_view line) {
  if (line.starts_with(' ')) return std::nullopt;  // continuation line about the device of the previous record
  const std::size_t end = line.find(';');
  const std::size_t comma = line.find(',');
  if (end == npos || comma > end) return std::nullopt;
  const Result<std::uint64_t> priority = parse_uint(line.substr(0, comma));
  if (!priority || *priority >> 3 != 0) return std::nullopt;
  return line.substr(end + 1);
}

// Returns the text between the first `before` and the next `after`; if `after` is empty, all text after `before`.
std::optional<std::string_view> between(std::string_view text, std::string_view before, std::string_view after) {
  std::size_t at = text.find(before);
  if (at == npos) return std::nullopt;
  text.remove_prefix(at + before.size());
  at = after.empty() ? text.size() : text.find(after);
  return at == npos ? std::nullopt : std::optional(text.substr(0, at));
}

std::int64_t number_at(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && value >= 0 ? value : 0;
}

std::optional<std::uint64_t> kilobytes(std::string_view text, std::string_view name) {
  const std::optional<std::string_view> found = between(text, name, "kB");
  if (!found) return std::nullopt;
  const Result<std::uint64_t> value = parse_uint(*found);
  if (!value || *value > UINT64_MAX / 1024) return std::nullopt;
  return *value * 1024;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\\' && i + 3 < text.size() && text[i + 1] == 'x' && hex_digit(text[i + 2]) >= 0 &&
                         hex_digit(text[i + 3]) >= 0;
    plain += escaped ? static_cast<char>(hex_digit(text[i + 2]) * 16 + hex_digit(text[i + 3])) : text[i];
    if (escaped) i += 3;
  }
  return plain;
}

std::optional<OomKill> OomLog::feed(std::string_view line) {
  const std::optional<std::string_view> text = text_of_kernel(line);
  if (!text) return std::nullopt;
  if (text->find(" invoked oom-killer: ") != npos)
    begin();
  else if (text->starts_with("memory: usage "))
    read_usage(*text);
  else if (text->starts_with("Tasks in "))
    read_group(*text);
  else if (text->starts_with("oom-kill:constraint=") || text->starts_with("Task in "))
    return read_kill(*text);
  else if (!group_.empty())
    return one_of_the_group(*text);
  return std::nullopt;
}

void OomLog::begin() { *this = OomLog(); }

void OomLog::read_usage(std::string_view text) {
  usage_bytes_ = kilobytes(text, "usage ");
  limit_bytes_ = kilobytes(text, "limit ");
}

void OomLog::read_group(std::string_view text) {
  group_ = unescape(between(text, "Tasks in ", " are going to be killed due to memory.oom.group set").value_or(""));
}

OomKill OomLog::kill(std::string cgroup, std::string limit_cgroup) const {
  OomKill kill;
  kill.cgroup = std::move(cgroup);
  kill.limit_cgroup = std::move(limit_cgroup);
  if (!kill.limit_cgroup.empty()) {
    kill.usage_bytes = usage_bytes_;
    kill.limit_bytes = limit_bytes_;
  }
  return kill;
}

// A cgroup path may contain any characters between its slashes, and a process name has up to 15 arbitrary characters.
// So the path ends at the first ",task=", and the numbers are searched from the end.
std::optional<OomKill> OomLog::read_kill(std::string_view text) {
  if (text.starts_with("Task in ")) {
    const auto cgroup = between(text, "Task in ", " killed as a result of limit of ");
    if (!cgroup) return std::nullopt;
    return kill(unescape(*cgroup), unescape(between(text, " killed as a result of limit of ", "").value_or("")));
  }
  const auto cgroup = between(text, ",task_memcg=", ",task=");
  if (!cgroup) return std::nullopt;
  limit_cgroup_ = unescape(between(text, ",oom_memcg=", ",task_memcg=").value_or(""));
  OomKill found = kill(unescape(*cgroup), limit_cgroup_);
  std::string_view rest = text.substr(static_cast<std::size_t>(cgroup->data() + cgroup->size() - text.data()) + 6);
  const std::size_t pid = rest.rfind(",pid=");
  found.process = rest.substr(0, pid);
  if (pid != npos) found.pid = first_pid_ = number_at(rest.substr(pid + 5));
  return found;
}

// Parses "Memory cgroup out of memory: Killed process 12 (name) total-vm:…".
std::optional<OomKill> OomLog::one_of_the_group(std::string_view text) {
  constexpr std::string_view kKilled = ": Killed process ";
  const std::size_t at = text.find(kKilled);
  if (at == npos) return std::nullopt;
  const std::string_view rest = text.substr(at + kKilled.size());
  const std::int64_t pid = number_at(rest);
  if (pid == first_pid_) return std::nullopt;
  OomKill found = kill(group_, limit_cgroup_);
  found.pid = pid;
  const std::size_t name = rest.find('('), end = rest.rfind(") total-vm:");
  if (name != npos && end != npos && name < end) found.process = rest.substr(name + 1, end - name - 1);
  return found;
}

}  // namespace koord::memory_events
