// SPDX-License-Identifier: Apache-2.0
// Programs owns BPF programs that are loaded into the kernel. It starts them and returns the descriptors of their maps.
// Its destructor unloads them. MappedArray is a map of integers in memory shared with the kernel. Used by one thread at
// a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"

struct bpf_link;
struct bpf_object;

namespace koord::bpf {

// An object file, from the header that bpftool generated.
struct ObjectFile {
  const char* name = nullptr;
  const void* bytes = nullptr;
  std::size_t size = 0;
};

struct LoadOptions {
  std::string btf;  // file with the kernel's types; empty: the types of the running kernel
  // The programs to load, in the order in which they are started. Others are not loaded.
  std::vector<std::string_view> programs;
  std::vector<std::pair<const char*, std::uint32_t>> map_entries;
  std::vector<const char*> unused_maps;                         // maps that those programs do not use
  std::vector<std::pair<const char*, std::int32_t>> constants;  // values of the programs' `const volatile int`s
};

class Programs {
 public:
  // An error has the message of the kernel or of libbpf.
  static Result<Programs> load(const ObjectFile& file, LoadOptions options);

  // Attaches the programs; they stay attached until this object ends. Runs an iterator once, to its end.
  Result<void> start();

  // Runs an iterator again, to its end.
  Result<void> run(const char* iterator) { return start(iterator); }

  // Returns how often the kernel skipped a program because it had interrupted itself on a CPU. 0 before Linux 5.12,
  // which does not count this.
  std::uint64_t missed() const;

  // Returns the descriptor of a map of the object.
  int map(const char* name) const;
  bool is_per_cpu(const char* map) const;

 private:
  struct Close {
    void operator()(bpf_object* object) const;
    void operator()(bpf_link* link) const;
  };

  Programs(bpf_object* object, std::vector<std::string_view> names) : object_(object), names_(std::move(names)) {}

  Result<void> start(const char* name);

  std::unique_ptr<bpf_object, Close> object_;
  std::vector<std::string_view> names_;
  std::vector<std::unique_ptr<bpf_link, Close>> links_;
};

// Returns the number of copies of each value in a per-CPU map.
Result<std::uint32_t> possible_cpus();

// Reads the first n entries of an array into `values`. `entry_bytes`: size of an entry, with the copies of all CPUs if
// the map is per CPU.
Result<void> read_array(int map, std::uint32_t n, void* values, std::size_t entry_bytes);

// Removes all entries of a hash and returns their number. `keys` and `values` must have room for all entries.
Result<std::uint32_t> take_all(int map, std::span<std::uint32_t> keys, std::span<std::uint64_t> values);

// Result of removing entries from a hash. At most `places` entries are removed.
struct Taken {
  std::uint32_t count = 0;
  bool is_empty = false;  // whether the hash is empty after the call
};
Result<Taken> take_some(int map, std::uint32_t places, void* keys, void* values);

// Reads all entries of a hash and returns their number. `keys` and `values` must have room for `places` entries, at
// least as many as the hash has.
Result<std::uint32_t> read_hash(int map, std::uint32_t places, void* keys, void* values);

class MappedArray {
 public:
  MappedArray() = default;
  MappedArray(MappedArray&& other) noexcept;
  MappedArray& operator=(MappedArray&& other) noexcept;
  ~MappedArray();
  static Result<MappedArray> open(int map, std::size_t entries);

  // The kernel changes entries at any time, so load() and store() access whole entries atomically.
  std::uint64_t load(std::size_t i) const { return __atomic_load_n(&entries_[i], __ATOMIC_RELAXED); }
  void store(std::size_t i, std::uint64_t value) { __atomic_store_n(&entries_[i], value, __ATOMIC_RELAXED); }
  std::size_t size() const { return entries_.size(); }

 private:
  std::span<std::uint64_t> entries_;
};

}  // namespace koord::bpf
