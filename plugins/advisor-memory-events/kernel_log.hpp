// SPDX-License-Identifier: Apache-2.0
// KernelLog: new lines of the kernel's log, from /dev/kmsg. Reading does not remove lines for other readers. One thread
// at a time.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::memory_events {

class KernelLog {
 public:
  // Opens the log at its end, so only new records are read. Needs CAP_SYSLOG if kernel.dmesg_restrict is on.
  static Result<KernelLog> open(const std::string& path);

  // Calls `on_line` for each complete line, up to kMaxBytes; the next call reads the rest. Lines that the kernel
  // overwrote before they were read are left out.
  Result<void> read(const std::function<void(std::string_view line)>& on_line);

 private:
  static constexpr std::size_t kMaxBytes = 4u << 20;
  static constexpr std::size_t kMaxRecordBytes = 16384;  // records of the kernel have at most 8 KiB

  explicit KernelLog(UniqueFd fd, std::string path);
  void pass_lines(const std::function<void(std::string_view line)>& on_line);

  UniqueFd fd_;
  std::string path_;
  std::vector<char> buffer_;
  std::string pending_;  // an incomplete line
};

}  // namespace koord::memory_events
