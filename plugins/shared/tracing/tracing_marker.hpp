// SPDX-License-Identifier: Apache-2.0
// TracingMarker is a small file that is on the disk as long as a plugin has programs or counters in the kernel. Found at
// a later start and written in an earlier life of the machine, it says that the machine went down while they were
// active: then they stay out until an operator says otherwise, so that what hung a machine once does not hang it at every
// start. One that a killed process left is of this life and means nothing. Used by one thread at a time.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::tracing {

struct MarkerOptions {
  std::string directory;  // survives a reboot; made if it is not there
  std::string owner;      // whose marker: a plugin's id
  std::string boot_id;    // of this life of the machine, as /proc/sys/kernel/random/boot_id has it
  bool rearm = false;     // forgets markers of earlier lives
};

class TracingMarker {
 public:
  // On the disk when it returns. std::errc::operation_not_permitted: there is a marker of an earlier life; the text names
  // the file and how to go on.
  static Result<TracingMarker> set(const MarkerOptions& options);

  TracingMarker(TracingMarker&& other) noexcept : path_(std::exchange(other.path_, {})), file_(std::move(other.file_)) {}
  TracingMarker& operator=(TracingMarker&& other) noexcept;
  // Takes it away: what it stands for must have left the kernel.
  ~TracingMarker();

 private:
  TracingMarker(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  UniqueFd file_;  // locked, as long as its process lives
};

}  // namespace koord::tracing
