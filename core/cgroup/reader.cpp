// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/reader.hpp"

#include <mutex>
#include <shared_mutex>

#include "core/base/parse.hpp"
#include "core/cgroup/file_table.hpp"
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

Error closed_handle() { return system_error(EBADF, "cgroup file handle"); }

}  // namespace

// The table of handles. A handle is an index into the table and the number of earlier uses of this index: generation <<
// 32 | index. The lock protects only the table; a reader holds the file by a shared pointer.
struct Reader::Handles {
  struct Slot {
    std::uint32_t generation = 1;
    std::shared_ptr<OpenFile> file;
  };

  Handle insert(std::shared_ptr<OpenFile> file) {
    std::unique_lock lock(mutex);
    if (free.empty()) {
      free.push_back(static_cast<std::uint32_t>(slots.size()));
      slots.emplace_back();
    }
    std::uint32_t index = free.back();
    free.pop_back();
    slots[index].file = std::move(file);
    return Handle{std::uint64_t{slots[index].generation} << 32 | index};
  }

  const Slot* find(Handle handle) const {
    auto bits = static_cast<std::uint64_t>(handle);
    std::size_t index = bits & 0xffffffff;
    return index < slots.size() && slots[index].generation == bits >> 32 ? &slots[index] : nullptr;
  }

  std::shared_ptr<OpenFile> file(Handle handle) const {
    std::shared_lock lock(mutex);
    const Slot* slot = find(handle);
    return slot ? slot->file : nullptr;
  }

  std::shared_ptr<OpenFile> take(Handle handle) {
    std::unique_lock lock(mutex);
    const Slot* found = find(handle);
    if (!found || !found->file) return nullptr;
    Slot& slot = slots[static_cast<std::size_t>(found - slots.data())];
    ++slot.generation;
    free.push_back(static_cast<std::uint32_t>(found - slots.data()));
    return std::move(slot.file);
  }

  std::size_t size() const {
    std::shared_lock lock(mutex);
    return slots.size() - free.size();
  }

  mutable std::shared_mutex mutex;
  std::vector<Slot> slots;
  std::vector<std::uint32_t> free;
};

// Members are destroyed in reverse order, so each one only uses members above it.
struct Reader::State {
  State(const Clock& clock, const Options& options) : terms(clock, options.kept_files, options.kept_directories) {
    terms.share_window = options.share_window;
    terms.longest_wait = options.longest_wait;
    terms.costly_period = options.costly_period.count();
  }

  ReadTerms terms;
  FileTable files{terms};
  Handles handles;
};

Reader::Reader(Layout layout, const Clock& clock, const Options& options)
    : layout_(std::move(layout)), state_(std::make_unique<State>(clock, options)) {}

Reader::~Reader() = default;

Result<Handle> Reader::open(std::string_view cgroup, std::string_view file, std::span<const std::string_view> keys) {
  if (!is_cgroup(cgroup)) return invalid("'" + std::string(cgroup.substr(0, 256)) + "' is not a cgroup's directory");
  const LogicalFile* logical = find_logical_file(file);
  if (!logical) return unknown_file(file);
  return state_->handles.insert(TRY(OpenFile::open(state_->files, layout_, cgroup, *logical, keys)));
}

Result<Time> Reader::read(Handle handle, std::span<std::int64_t> values) {
  const std::shared_ptr<OpenFile> file = state_->handles.file(handle);
  return file ? file->read(values) : closed_handle();
}

void Reader::close(Handle handle) { state_->handles.take(handle); }

void Reader::set_costly_period(Duration period) { state_->terms.costly_period = period.count(); }

std::size_t Reader::open_files() const { return state_->handles.size(); }

Reader::Use Reader::use() const {
  const ReadTerms& terms = state_->terms;
  return {.handles = state_->handles.size(),
          .kernel_files = state_->files.size(),
          .kept_files = terms.files.kept(),
          .kept_directories = terms.directories.kept(),
          .reads = terms.reads,
          .shared = terms.shared};
}

}  // namespace koord::cgroup
