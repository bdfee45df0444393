// SPDX-License-Identifier: Apache-2.0
// Originals: the values of knobs before our first write, kept until they are reverted. The executor announces each
// before it writes; an implementation that stores them on disk makes them survive the process. [one thread at a time:
// that of the executor]
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/knob/knob.hpp"

namespace koord::knob {

// A knob of a cgroup or resctrl group; in a file with items one item of it.
struct KnobKey {
  std::string cgroup_dir;
  std::string resource;
  std::string item;

  auto operator<=>(const KnobKey&) const = default;
};

struct KnobKeyHash {
  std::size_t operator()(const KnobKey& key) const {
    const std::hash<std::string> hash;
    return (hash(key.cgroup_dir) * 31 + hash(key.resource)) * 31 + hash(key.item);
  }
};

struct Original {
  KnobKey key;
  decision::Level level = decision::Level::qos;
  std::string knob;               // the name by which it was read; one of the resource
  std::uint64_t cgroup = 0;       // inode: another one is another cgroup of the same name
  Texts texts;                    // as the kernel showed it before the first write
  Texts written;                  // as it was found after the last write; before the first as `texts`
  std::vector<Texts> asked = {};  // values being written: if the process ends meanwhile, the knob may have any of them
  std::string plugin = {};        // the owner of the intent
  Duration ttl{0};                // of that intent

  bool operator==(const Original&) const = default;
};

// A knob of a new cgroup that a container runtime has set for a hook, and the value that it would have had else.
struct Adjusted {
  decision::Level level = decision::Level::container;
  std::string knob, cgroup_dir, before;  // `before` as in an intent; of cpu.idle with the shares: "0 512"
  std::string plugin;                    // of the hook
};

class Originals {
 public:
  virtual ~Originals() = default;
  // Before they are written, all of a plan at once: `asked` survives the process, and what is new here the machine's
  // power; after an error nothing of them may be written.
  virtual Result<void> keep(std::span<const Original> originals) = 0;
  // The value of a kept knob; no write is pending any more. Called after the write.
  virtual void wrote(const KnobKey& key, const Texts& written) = 0;
  // The knob was reverted, or has another writer, or has ended.
  virtual void forgotten(const KnobKey& key) = 0;
  // Stores the changes by wrote() and forgotten(), too; at the end of a round of writes.
  virtual void flush() {}
  // The kept originals; at the start those of an earlier session.
  virtual std::vector<Original> all() const = 0;
};

// In memory: they end with the process.
class MemoryOriginals : public Originals {
 public:
  Result<void> keep(std::span<const Original> originals) override {
    for (const Original& original : originals) kept_.insert_or_assign(original.key, original);
    return {};
  }
  void wrote(const KnobKey& key, const Texts& written) override {
    if (auto found = kept_.find(key); found != kept_.end()) found->second.written = written;
  }
  void forgotten(const KnobKey& key) override { kept_.erase(key); }
  std::vector<Original> all() const override {
    std::vector<Original> all;
    for (const auto& [key, original] : kept_) all.push_back(original);
    return all;
  }

 private:
  std::map<KnobKey, Original> kept_;
};

}  // namespace koord::knob
