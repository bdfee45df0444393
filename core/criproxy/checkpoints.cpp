// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/checkpoints.hpp"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>

#include "core/base/file.hpp"
#include "core/criproxy/cri.pb.h"

namespace koord::criproxy {
namespace {

constexpr std::string_view kMark = "koord-cri-proxy 1 ";
constexpr std::string_view kDamaged = ".damaged";

std::string checksum(std::string_view bytes) {
  const uLong sum = ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
  char text[9];
  std::snprintf(text, sizeof text, "%08lx", sum);
  return text;
}

std::size_t slot(Checkpoints::Kind kind) { return kind == Checkpoints::Kind::pod ? 0 : 1; }

}  // namespace

std::string checkpoint_text(const wire::Checkpoint& checkpoint) {
  const std::string body = checkpoint.SerializeAsString();
  return std::string(kMark) + checksum(body) + "\n" + body;
}

Result<wire::Checkpoint> read_checkpoint(std::string_view text) {
  const std::size_t line = text.find('\n');
  if (!text.starts_with(kMark) || line == std::string_view::npos)
    return invalid("does not begin with '" + std::string(kMark) + "CHECKSUM'");
  const std::string_view body = text.substr(line + 1);
  if (text.substr(kMark.size(), line - kMark.size()) != checksum(body)) return invalid("the checksum is wrong");
  wire::Checkpoint checkpoint;
  if (body.size() > kMaxCheckpointBytes || !checkpoint.ParseFromArray(body.data(), static_cast<int>(body.size())))
    return invalid("the content is not a checkpoint");
  return checkpoint;
}

bool is_file_name(std::string_view id) {
  return !id.empty() && id.size() <= 200 && id.front() != '.' && !id.ends_with(kDamaged) &&
         std::all_of(id.begin(), id.end(), [](unsigned char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
                  c == '.';
         });
}

struct Checkpoints::State {
  std::string folders[2];
  mutable std::mutex mutex;
  std::map<std::string, wire::Checkpoint, std::less<>> entries[2];

  std::string path(std::size_t of, const std::string& id) const { return folders[of] + "/" + id; }

  void load(std::size_t of, const std::string& name, std::vector<std::string>& problems) {
    const std::string file = path(of, name);
    auto checkpoint = [&]() -> Result<wire::Checkpoint> {
      const std::string text = TRY(read_file(file, kMaxCheckpointBytes + 64));
      return read_checkpoint(text);
    }();
    if (checkpoint) {
      entries[of].emplace(name, *std::move(checkpoint));
      return;
    }
    const std::string aside = file + std::string(kDamaged);
    std::rename(file.c_str(), aside.c_str());
    problems.push_back("checkpoint '" + file + "' is damaged: " + checkpoint.error().message() + "; moved to '" +
                       aside + "'");
  }
};

Checkpoints::Checkpoints(std::string folder) : state_(std::make_unique<State>()) {
  state_->folders[0] = folder + "/pods";
  state_->folders[1] = folder + "/containers";
}

Checkpoints::~Checkpoints() = default;

Result<std::unique_ptr<Checkpoints>> Checkpoints::open(const std::string& folder, std::vector<std::string>& problems) {
  std::unique_ptr<Checkpoints> checkpoints(new Checkpoints(folder));
  for (std::size_t of : {0u, 1u}) {
    std::error_code failed;
    std::filesystem::create_directories(checkpoints->state_->folders[of], failed);
    if (failed)
      return system_error(failed.value(), "cannot make the folder '" + checkpoints->state_->folders[of] + "'");
    const std::vector<std::string> names = TRY(list_directory(checkpoints->state_->folders[of]));
    for (const std::string& name : names)
      if (name.find(".new.") != std::string::npos)
        ::unlink(checkpoints->state_->path(of, name).c_str());  // left by a proxy that was killed during the write
      else if (is_file_name(name))
        checkpoints->state_->load(of, name, problems);
  }
  return checkpoints;
}

std::optional<wire::Checkpoint> Checkpoints::find(Kind kind, const std::string& id) const {
  const std::lock_guard lock(state_->mutex);
  const auto& entries = state_->entries[slot(kind)];
  const auto entry = entries.find(id);
  return entry == entries.end() ? std::nullopt : std::optional(entry->second);
}

Result<void> Checkpoints::keep(Kind kind, const std::string& id, const wire::Checkpoint& checkpoint) {
  if (!is_file_name(id)) return invalid("'" + id.substr(0, 64) + "' cannot be a file's name");
  const std::lock_guard lock(state_->mutex);
  state_->entries[slot(kind)][id] = checkpoint;
  return write_file_atomically(state_->path(slot(kind), id), checkpoint_text(checkpoint), 0600);
}

void Checkpoints::remove(Kind kind, const std::string& id) {
  const std::lock_guard lock(state_->mutex);
  state_->entries[slot(kind)].erase(id);
  if (is_file_name(id)) ::unlink(state_->path(slot(kind), id).c_str());
}

std::vector<std::string> Checkpoints::ids(Kind kind) const {
  const std::lock_guard lock(state_->mutex);
  std::vector<std::string> ids;
  for (const auto& entry : state_->entries[slot(kind)]) ids.push_back(entry.first);
  return ids;
}

}  // namespace koord::criproxy
