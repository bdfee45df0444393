// SPDX-License-Identifier: Apache-2.0
// TracingMarker is a small file that is on the disk as long as a plugin has programs or counters in the kernel. If it
// is found at a later start and was written in an earlier boot of the machine, the machine went down while they were
// active. Then they stay out until an operator allows them, so that a program that hung a machine once does not hang it
// at every start. A marker that a killed process left in this boot is ignored. Used by one thread at a time.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::tracing {

struct MarkerOptions {
  std::string directory;  // survives a reboot; made if it is not there
  std::string owner;      // the owner of the marker: a plugin's id
  std::string boot_id;    // of this boot of the machine, from /proc/sys/kernel/random/boot_id
  bool rearm = false;     // forgets markers of earlier boots
};

class TracingMarker {
 public:
  // On the disk when it returns. std::errc::operation_not_permitted: a marker of an earlier boot exists; the text names
  // the file and how to go on.
  static Result<TracingMarker> set(const MarkerOptions& options);

  TracingMarker(TracingMarker&& other) noexcept
      : path_(std::exchange(other.path_, {})), file_(std::move(other.file_)) {}
  TracingMarker& operator=(TracingMarker&& other) noexcept;
  // Removes the file: the programs must have left the kernel.
  ~TracingMarker();

 private:
  TracingMarker(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  UniqueFd file_;  // locked, as long as its process runs
};

}  // namespace koord::tracing
