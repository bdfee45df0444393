// SPDX-License-Identifier: Apache-2.0
// Reader: the values of logical cgroup files (files.hpp) for the whole process. A caller opens a file with the keys it
// needs once and reads every tick. Behind the handles each kernel file is open once, and is read at most once per tick
// for all callers (shared_file.hpp defines which caller gets which read). Descriptors stay open as long as enough are
// available; a read is then one pread and one pass over the text, and allocates nothing.
//
// A cgroup that is gone answers std::errc::no_such_device, at open as well as at read: close the handle. A new cgroup
// of the same name is another subject and is never read through an old handle. A file that this kernel or this cgroup
// does not have answers std::errc::not_supported at open. A key that the kernel's file does not have reads as kAbsent.
// If another thread has been reading the file for too long, the answer is std::errc::resource_unavailable_try_again.
//
// [any thread], also two with one handle. No lock is held during a system call on a cgroup's file.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/cgroup/files.hpp"
#include "core/cgroup/layout.hpp"

namespace koord::cgroup {

enum class Handle : std::uint64_t {};

inline bool is_gone(const Error& error) { return error.is(std::errc::no_such_device); }

class Reader {
 public:
  struct Options {
    // Descriptors to keep at most, of files, and of directories where files are not kept. Beyond them, and when the
    // process runs out, files are opened for each read: through their directory, or by their path.
    std::size_t kept_files = std::numeric_limits<std::size_t>::max();
    std::size_t kept_directories = std::numeric_limits<std::size_t>::max();
    // Half of the usual period of a tick.
    Duration share_window = std::chrono::milliseconds(500);
    Duration longest_wait = std::chrono::milliseconds(100);
    // for memory.stat and memory.numa_stat; 0: as any other
    Duration costly_period{};
  };

  // The clock outlives it.
  Reader(Layout layout, const Clock& clock) : Reader(std::move(layout), clock, Options()) {}
  Reader(Layout layout, const Clock& clock, const Options& options);
  ~Reader();

  const Layout& layout() const { return layout_; }

  // An unknown file or key is an error that names the nearest known one.
  Result<Handle> open(std::string_view cgroup, std::string_view file, std::span<const std::string_view> keys);

  // Fills `values` in the order of the keys; the sizes must agree. When they were read; of several kernel files, the
  // first of them.
  Result<Time> read(Handle handle, std::span<std::int64_t> values);

  void close(Handle handle);

  void set_costly_period(Duration period);

  std::size_t open_files() const;  // handles

  struct Use {
    std::size_t handles;
    std::size_t kernel_files;  // behind them
    std::size_t kept_files;    // descriptors
    std::size_t kept_directories;
    std::uint64_t reads;   // of kernel files, since the start
    std::uint64_t shared;  // answers that took none
  };
  Use use() const;

 private:
  struct Handles;
  struct State;

  Layout layout_;
  std::unique_ptr<State> state_;
};

}  // namespace koord::cgroup
