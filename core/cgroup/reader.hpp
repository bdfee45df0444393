// SPDX-License-Identifier: Apache-2.0
// Reader: the values of logical cgroup files (files.hpp), from descriptors that stay open. A caller opens a
// file with the keys it wants once and reads every tick; a read is one pread and one pass over the text, and
// allocates nothing.
//
// A cgroup that is gone answers std::errc::no_such_device, at open as well as at read: close the handle, that
// is all. A new cgroup of the same name is another subject and is never read through an old handle. A file
// that this kernel or this cgroup does not have answers std::errc::not_supported at open. A key that the
// kernel's file does not have reads as kAbsent.
//
// [any thread]; a handle is used by one thread at a time.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/cgroup/files.hpp"
#include "core/cgroup/layout.hpp"

namespace koord::cgroup {

enum class Handle : std::uint64_t {};

inline bool is_gone(const Error& error) {
  return error.is(std::errc::no_such_device);
}

class Reader {
 public:
  struct Options {
    // Descriptors to keep at most. Beyond them, and when the process runs out, files are opened for each
    // read.
    std::size_t kept_descriptors = std::numeric_limits<std::size_t>::max();
  };

  explicit Reader(Layout layout) : Reader(std::move(layout), Options()) {}
  Reader(Layout layout, Options options);
  ~Reader();

  const Layout& layout() const { return layout_; }

  // An unknown file or key is an error that names the nearest known one.
  Result<Handle> open(std::string_view cgroup, std::string_view file, std::span<const std::string_view> keys);

  // Fills `values` in the order of the keys; the sizes must agree.
  Result<void> read(Handle handle, std::span<std::int64_t> values);

  void close(Handle handle);

  std::size_t open_files() const;
  std::size_t kept_descriptors() const;

 private:
  struct Table;

  Layout layout_;
  Options options_;
  std::unique_ptr<Table> table_;
};

}  // namespace koord::cgroup
