// SPDX-License-Identifier: Apache-2.0
#include "core/hook/creations.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/base/file.hpp"
#include "core/log/log.hpp"

namespace koord::hook {
namespace {

constexpr log::Category creation_log{"hooks"};

std::vector<knob::Adjusted> adjusted_of(const CreationRecord& record) {
  std::vector<knob::Adjusted> values;
  for (const Unadjusted& one : record.unadjusted)
    values.push_back({.level = decision::Level::container,
                      .knob = one.knob,
                      .cgroup_dir = record.cgroup_dir,
                      .before = one.value,
                      .plugin = one.plugin});
  return values;
}

// Returns whether the record belongs to the container with this id. The state may still show the previous container of
// the same name.
bool is_of(const CreationRecord& record, std::string_view id) {
  if (id.empty()) return false;
  return record.id.empty() ? record.before_id != id : record.id == id;
}

}  // namespace

std::string_view bare_id(std::string_view id) {
  const std::size_t scheme = id.find("://");
  return scheme == std::string_view::npos ? id : id.substr(scheme + 3);
}

Creations::Creations(std::string folder, const Clock& clock, Hold hold)
    : folder_(std::move(folder)), clock_(clock), hold_(std::move(hold)) {
  if (!folder_.empty()) load();
}

void Creations::load() {
  const Result<std::vector<std::string>> names = list_directory(folder_);
  if (!names) return;  // the folder is made with the first record
  for (const std::string& name : *names) {
    const std::string path = folder_ + "/" + name;
    const Result<std::string> text = read_file(path, kMostRecordBytes);
    Result<CreationRecord> record = text ? read_creation_record(*text) : text.error();
    if (record && file_name_of(*record) == name && entries_.size() < kMost) {
      entries_.insert_or_assign(Key{record->pod_uid, record->container}, Entry{*record, clock_.now(), true, {}});
      continue;
    }
    if (!record && name.find(".new.") == std::string::npos)
      log::warn(creation_log, "'{}' is damaged: {}; removing it", path, record.error().message());
    ::unlink(path.c_str());
  }
}

Result<void> Creations::remember(CreationRecord record) {
  std::lock_guard lock(mutex_);
  const Key key{record.pod_uid, record.container};
  if (record.unadjusted.empty() && record.fields.empty()) {
    if (const auto old = entries_.find(key); old != entries_.end()) remove(old);
    return {};
  }
  Result<void> written = write(record);
  entries_.insert_or_assign(key, Entry{std::move(record), clock_.now(), false, {}});
  make_room();
  return written;
}

void Creations::forget(std::string_view container_id) {
  std::lock_guard lock(mutex_);
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const auto& entry) { return entry.second.record.id == container_id; });
  if (found != entries_.end() && !container_id.empty()) remove(found);
}

// Only marks the container. update() writes the values to the journal, for all containers together, because the journal
// is synced to the disk under the governor's lock, for which the next creation may wait.
void Creations::begin(std::string_view container_id) {
  std::lock_guard lock(mutex_);
  for (auto& [key, entry] : entries_)
    if (entry.record.id == container_id) entry.is_shown = true;
}

void Creations::update(const state::Snapshot& snapshot) {
  std::vector<Key> to_hold;
  {
    std::lock_guard lock(mutex_);
    refresh_entries(snapshot);
    for (const auto& [key, entry] : entries_)
      if (entry.is_shown && !entry.record.unadjusted.empty() && !entry.record.cgroup_dir.empty())
        to_hold.push_back(key);
  }
  hold(to_hold);
}

// Updates and removes entries. A snapshot without pods means that the state is unknown, not that there are no pods.
void Creations::refresh_entries(const state::Snapshot& snapshot) {
  if (entries_.empty() || snapshot.pods.empty()) return;
  const Time now = clock_.now();
  std::map<std::string_view, const state::Pod*> pods;
  for (const state::Pod& pod : snapshot.pods) pods.emplace(pod.uid, &pod);
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    CreationRecord& record = entry->second.record;
    const auto pod = pods.find(record.pod_uid);
    if (pod != pods.end())
      for (const state::Container& container : pod->second->containers) {
        if (container.name != record.container || !is_of(record, bare_id(container.id))) continue;
        entry->second.seen = now;
        entry->second.is_shown = true;
        if (!record.id.empty() && !record.cgroup_dir.empty()) continue;
        record.id = std::string(bare_id(container.id));
        if (record.cgroup_dir.empty()) record.cgroup_dir = container.cgroup_dir;
        (void)write(record);
      }
    if (now - entry->second.seen > kPatience) remove(entry);
    entry = next;
  }
}

// Holds the values of these containers. Releases the lock while the governor writes. If the write for several
// containers fails, tries each container separately.
void Creations::hold(const std::vector<Key>& keys) {
  std::vector<std::pair<Key, std::vector<knob::Adjusted>>> values;
  std::vector<knob::Adjusted> all;
  {
    std::lock_guard lock(mutex_);
    for (const Key& key : keys)
      if (const auto entry = entries_.find(key); entry != entries_.end())
        values.emplace_back(key, adjusted_of(entry->second.record));
  }
  for (const auto& [key, of_one] : values) all.insert(all.end(), of_one.begin(), of_one.end());
  if (all.empty()) return;
  const Result<void> held = hold_(all);
  for (const auto& [key, of_one] : values)
    if (!of_one.empty()) end_hold(key, of_one.front().cgroup_dir, held || values.size() == 1 ? held : hold_(of_one));
}

void Creations::end_hold(const Key& key, const std::string& cgroup_dir, const Result<void>& held) {
  std::lock_guard lock(mutex_);
  const auto entry = entries_.find(key);
  if (entry == entries_.end() || entry->second.record.cgroup_dir != cgroup_dir) return;
  if (!held) {
    if (!entry->second.failed) entry->second.failed = clock_.now();
    if (clock_.now() - *entry->second.failed < kMostHoldTime) return;
    log::warn(creation_log, "the original values of '{}' are not kept: {}", cgroup_dir, held.error().message());
  } else {
    log::debug(creation_log, "the original values of '{}' are kept", cgroup_dir);
  }
  entry->second.record.unadjusted.clear();
  if (entry->second.record.fields.empty())
    remove(entry);
  else
    (void)write(entry->second.record);
}

bool Creations::has_field(const state::Pod& pod, const state::Container& container, std::string_view field) const {
  std::lock_guard lock(mutex_);
  const auto entry = entries_.find(Key{pod.uid, container.name});
  if (entry == entries_.end() || !is_of(entry->second.record, bare_id(container.id))) return false;
  const std::vector<std::string>& fields = entry->second.record.fields;
  return std::find(fields.begin(), fields.end(), field) != fields.end();
}

bool Creations::has_pending() const {
  std::lock_guard lock(mutex_);
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const auto& entry) { return !entry.second.record.unadjusted.empty(); });
}

std::size_t Creations::size() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

Result<void> Creations::write(const CreationRecord& record) const {
  const std::string name = file_name_of(record);
  if (folder_.empty() || name.empty()) return {};
  std::error_code failed;
  std::filesystem::create_directories(folder_, failed);
  if (failed) return system_error(failed.value(), "cannot make the folder '" + folder_ + "'");
  return write_file_atomically(folder_ + "/" + name, text_of(record), 0600);
}

void Creations::remove(std::map<Key, Entry>::iterator entry) {
  if (const std::string name = file_name_of(entry->second.record); !folder_.empty() && !name.empty())
    ::unlink((folder_ + "/" + name).c_str());
  entries_.erase(entry);
}

void Creations::make_room() {
  while (entries_.size() > kMost)
    remove(std::min_element(entries_.begin(), entries_.end(),
                            [](const auto& a, const auto& b) { return a.second.seen < b.second.seen; }));
}

}  // namespace koord::hook
