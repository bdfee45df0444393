// SPDX-License-Identifier: Apache-2.0
// TracingMarker is a small file that exists on disk while a plugin has programs or counters in the kernel. If a later
// start finds a marker of an earlier boot, the machine went down while they were active. In that case they stay off
// until an operator permits them, because a program that hung the machine once must not hang it at each start. A marker
// that a killed process left in this boot is ignored. Used by one thread at a time.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::tracing {

struct MarkerOptions {
  std::string directory;  // survives a reboot; created if missing
  std::string owner;      // the owner of the marker: a plugin's id
  std::string boot_id;    // id of this boot of the machine, read from /proc/sys/kernel/random/boot_id
  bool rearm = false;     // removes markers of earlier boots
};

class TracingMarker {
 public:
  // Writes the marker to disk. Fails with std::errc::operation_not_permitted if a marker of an earlier boot exists; the
  // message names the file and how to continue.
  static Result<TracingMarker> set(const MarkerOptions& options);

  TracingMarker(TracingMarker&& other) noexcept
      : path_(std::exchange(other.path_, {})), file_(std::move(other.file_)) {}
  TracingMarker& operator=(TracingMarker&& other) noexcept;
  // Removes the file. Unload the programs first.
  ~TracingMarker();

 private:
  TracingMarker(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  UniqueFd file_;  // locked while its process runs
};

}  // namespace koord::tracing
