// SPDX-License-Identifier: Apache-2.0
// Checkpoints: the known fields of each sandbox and container, one file each. So a restarted proxy can pass the cgroup
// parent and the resources of older containers to hooks.
//
//   FOLDER/pods/SANDBOX, FOLDER/containers/CONTAINER    "koord-cri-proxy 1 CRC32\n" and a wire::Checkpoint
//
// A damaged file is renamed to NAME.damaged and reported. After that the entry is unknown, and requests for it pass
// without hooks. Files are not synced to the disk, because they are not needed after a reboot, which ends all pods.
// [any thread]
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace koord::criproxy {

namespace wire {
class Checkpoint;
}

// A larger file is damaged, because the annotations of a pod have at most 256 KiB.
inline constexpr std::size_t kMaxCheckpointBytes = 4u << 20;

std::string checkpoint_text(const wire::Checkpoint& checkpoint);
// Fails with a description of the damage.
Result<wire::Checkpoint> read_checkpoint(std::string_view text);

// Returns whether an id can be a file's name. Runtimes use 64 hexadecimal digits.
bool is_file_name(std::string_view id);

class Checkpoints {
 public:
  enum class Kind { pod, container };

  // Reads all files. Adds a line to `problems` for each damaged file.
  static Result<std::unique_ptr<Checkpoints>> open(const std::string& folder, std::vector<std::string>& problems);
  ~Checkpoints();

  std::optional<wire::Checkpoint> find(Kind kind, const std::string& id) const;
  // Stores the entry. Fails if the file cannot be written; in that case the entry is only kept in memory.
  Result<void> keep(Kind kind, const std::string& id, const wire::Checkpoint& checkpoint);
  void remove(Kind kind, const std::string& id);
  std::vector<std::string> ids(Kind kind) const;

 private:
  explicit Checkpoints(std::string folder);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace koord::criproxy
