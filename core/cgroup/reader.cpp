// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/reader.hpp"

#include <atomic>
#include <mutex>

#include "core/base/parse.hpp"
#include "core/cgroup/names.hpp"
#include "core/cgroup/open_file.hpp"

namespace koord::cgroup {
namespace {

Error unknown_file(std::string_view name) {
  std::vector<std::string> known;
  for (const LogicalFile& file : logical_files()) known.emplace_back(file.name);
  std::string near = nearest(name, known);
  return invalid("no cgroup file '" + std::string(name.substr(0, 64)) + "', " +
                 (near.empty() ? "expected one of: " + join(known, " ") : "did you mean '" + near + "'?"));
}

Error closed_handle() {
  return system_error(EBADF, "cgroup file handle");
}

}  // namespace

// A handle is a place in the table and how often the place was used before: generation << 32 | index. The
// lock covers the table only; files stay where they are while it grows.
struct Reader::Table {
  struct Slot {
    std::uint32_t generation = 1;
    std::unique_ptr<OpenFile> file;
  };

  Handle insert(std::unique_ptr<OpenFile> file) {
    std::lock_guard lock(mutex);
    if (free.empty()) {
      free.push_back(static_cast<std::uint32_t>(slots.size()));
      slots.emplace_back();
    }
    std::uint32_t index = free.back();
    free.pop_back();
    slots[index].file = std::move(file);
    return Handle{std::uint64_t{slots[index].generation} << 32 | index};
  }

  Slot* find(Handle handle) {
    auto bits = static_cast<std::uint64_t>(handle);
    std::size_t index = bits & 0xffffffff;
    return index < slots.size() && slots[index].generation == bits >> 32 ? &slots[index] : nullptr;
  }

  OpenFile* file(Handle handle) {
    std::lock_guard lock(mutex);
    Slot* slot = find(handle);
    return slot ? slot->file.get() : nullptr;
  }

  std::unique_ptr<OpenFile> take(Handle handle) {
    std::lock_guard lock(mutex);
    Slot* slot = find(handle);
    if (!slot || !slot->file) return nullptr;
    ++slot->generation;
    free.push_back(static_cast<std::uint32_t>(slot - slots.data()));
    return std::move(slot->file);
  }

  mutable std::mutex mutex;
  std::vector<Slot> slots;
  std::vector<std::uint32_t> free;
  std::atomic<std::size_t> kept = 0;
};

Reader::Reader(Layout layout, Options options)
    : layout_(std::move(layout)), options_(options), table_(std::make_unique<Table>()) {}

Reader::~Reader() = default;

Result<Handle> Reader::open(std::string_view cgroup, std::string_view file,
                            std::span<const std::string_view> keys) {
  if (!is_cgroup(cgroup))
    return invalid("'" + std::string(cgroup.substr(0, 256)) + "' is not a cgroup's directory");
  const LogicalFile* logical = find_logical_file(file);
  if (!logical) return unknown_file(file);
  bool keep = table_->kept < options_.kept_descriptors;
  OpenFile opened = TRY(OpenFile::open(layout_, cgroup, *logical, keys, keep));
  table_->kept += opened.kept_descriptors();
  return table_->insert(std::make_unique<OpenFile>(std::move(opened)));
}

Result<void> Reader::read(Handle handle, std::span<std::int64_t> values) {
  OpenFile* file = table_->file(handle);
  return file ? file->read(values) : closed_handle();
}

void Reader::close(Handle handle) {
  if (std::unique_ptr<OpenFile> file = table_->take(handle)) table_->kept -= file->kept_descriptors();
}

std::size_t Reader::open_files() const {
  std::lock_guard lock(table_->mutex);
  return table_->slots.size() - table_->free.size();
}

std::size_t Reader::kept_descriptors() const {
  return table_->kept;
}

}  // namespace koord::cgroup
