// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/file_table.hpp"

#include "core/cgroup/file_errors.hpp"

namespace koord::cgroup {

Result<std::shared_ptr<SharedFile>> FileTable::open(const std::string& directory, const KernelFile& kernel) {
  // Tries twice, because the known file may belong to a cgroup that no longer exists.
  for (int attempt = 0; attempt < 2; ++attempt) {
    std::shared_ptr<SharedFile> file = find_or_make(directory, kernel);
    Result<bool> same = file->confirm();
    if (same && *same) return file;
    if (same) forget(*file);
    release(std::move(file));
    if (!same) return std::move(same).error();
  }
  return gone(directory + '/' + std::string(kernel.name));
}

std::shared_ptr<SharedFile> FileTable::find_or_make(const std::string& directory, const KernelFile& kernel) {
  std::lock_guard lock(mutex_);
  auto entry = entries_.find(directory);
  if (entry != entries_.end() && entry->second.directory->ended()) {
    entries_.erase(entry);
    entry = entries_.end();
  }
  if (entry == entries_.end()) {
    auto made = std::make_shared<KeptDirectory>(directory, terms_);
    entry = entries_.emplace(made->path(), Entry{made, {}}).first;
  }
  for (const std::weak_ptr<SharedFile>& known : entry->second.files) {
    if (auto file = known.lock(); file && file->kernel().name == kernel.name) return file;
  }
  auto file = std::make_shared<SharedFile>(entry->second.directory, kernel, terms_);
  entry->second.files.push_back(file);
  return file;
}

// Removes the file's directory from the table. Callers that hold the file may still read it; the next request opens a
// new file.
void FileTable::forget(const SharedFile& file) {
  std::lock_guard lock(mutex_);
  auto entry = entries_.find(file.directory()->path());
  if (entry != entries_.end() && entry->second.directory == file.directory()) entries_.erase(entry);
}

void FileTable::release(std::shared_ptr<SharedFile> file) {
  const std::shared_ptr<KeptDirectory> directory = file->directory();
  file.reset();
  std::lock_guard lock(mutex_);
  auto entry = entries_.find(directory->path());
  if (entry == entries_.end() || entry->second.directory != directory) return;
  std::erase_if(entry->second.files, [](const std::weak_ptr<SharedFile>& known) { return known.expired(); });
  if (entry->second.files.empty()) entries_.erase(entry);
}

std::size_t FileTable::size() const {
  std::lock_guard lock(mutex_);
  std::size_t files = 0;
  for (const auto& [path, entry] : entries_) files += entry.files.size();
  return files;
}

}  // namespace koord::cgroup
