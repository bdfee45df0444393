// SPDX-License-Identifier: Apache-2.0
// KernelLog: the lines that the kernel logs from now on, out of /dev/kmsg. Reading takes nothing away from other
// readers. One thread at a time.
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
  // Begins behind the last record that is there. Needs CAP_SYSLOG where kernel.dmesg_restrict is on.
  static Result<KernelLog> open(const std::string& path);

  // Each complete line, at most kMaxBytes of them: the rest comes with the next call. Lines that the kernel has
  // overwritten before they were read are left out.
  Result<void> read(const std::function<void(std::string_view line)>& on_line);

 private:
  static constexpr std::size_t kMaxBytes = 4u << 20;
  static constexpr std::size_t kMaxRecordBytes = 16384;  // the kernel's are at most 8 KiB

  explicit KernelLog(UniqueFd fd, std::string path);
  void pass_lines(const std::function<void(std::string_view line)>& on_line);

  UniqueFd fd_;
  std::string path_;
  std::vector<char> buffer_;
  std::string pending_;  // a line without its end
};

}  // namespace koord::memory_events
