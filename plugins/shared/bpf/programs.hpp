// SPDX-License-Identifier: Apache-2.0
// Programs owns an object of programs that were loaded into the kernel: it starts them and gives the descriptors of
// their maps; with it they leave the kernel. MappedArray is a map of integers that the kernel shares with us. Used by
// one thread at a time.
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

// An object file in the header that bpftool generated.
struct ObjectFile {
  const char* name = nullptr;
  const void* bytes = nullptr;
  std::size_t size = 0;
};

struct LoadOptions {
  std::string btf;  // file with the kernel's types; empty: the kernel's own
  // In the order in which they are started; no others are loaded.
  std::vector<std::string_view> programs;
  std::vector<std::pair<const char*, std::uint32_t>> map_entries;
  std::vector<const char*> unused_maps;                         // by those programs
  std::vector<std::pair<const char*, std::int32_t>> constants;  // `const volatile int`s of the programs
};

class Programs {
 public:
  // An error says in the kernel's or libbpf's words what was refused.
  static Result<Programs> load(const ObjectFile& file, LoadOptions options);

  // Until this object ends. A program that iterates is run once, to its end.
  Result<void> start();

  // Runs a program that iterates once more, to its end.
  Result<void> run(const char* iterator) { return start(iterator); }

  // How often the kernel left a program out because it had interrupted itself on a CPU; 0 before Linux 5.12, which does
  // not count it.
  std::uint64_t missed() const;

  // The descriptor of a map that is in the object.
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

// How many copies of its values a per-CPU map has.
Result<std::uint32_t> possible_cpus();

// Reads the first n entries of an array into `values`. `entry_bytes`: of one, with all CPUs' copies if it is per CPU.
Result<void> read_array(int map, std::uint32_t n, void* values, std::size_t entry_bytes);

// Takes all entries out of a hash that has at most as many as `keys` and `values` have places. Returns their number.
Result<std::uint32_t> take_all(int map, std::span<std::uint32_t> keys, std::span<std::uint64_t> values);

// Takes entries out of a hash, at most as many as `keys` and `values` have places.
struct Taken {
  std::uint32_t count = 0;
  bool is_empty = false;  // the hash, afterwards
};
Result<Taken> take_some(int map, std::uint32_t places, void* keys, void* values);

// Reads the entries of a hash that has at most as many as `keys` and `values` have places. Returns their number.
Result<std::uint32_t> read_hash(int map, std::uint32_t places, void* keys, void* values);

class MappedArray {
 public:
  MappedArray() = default;
  MappedArray(MappedArray&& other) noexcept;
  MappedArray& operator=(MappedArray&& other) noexcept;
  ~MappedArray();
  static Result<MappedArray> open(int map, std::size_t entries);

  // The kernel changes them at any time: load and store whole entries.
  std::uint64_t load(std::size_t i) const { return __atomic_load_n(&entries_[i], __ATOMIC_RELAXED); }
  void store(std::size_t i, std::uint64_t value) { __atomic_store_n(&entries_[i], value, __ATOMIC_RELAXED); }
  std::size_t size() const { return entries_.size(); }

 private:
  std::span<std::uint64_t> entries_;
};

}  // namespace koord::bpf
