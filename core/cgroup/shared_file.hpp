// SPDX-License-Identifier: Apache-2.0
// SharedFile: one kernel file of one cgroup, for all that want something out of it. It is read by one of them at a
// time, with no lock held, and each read answers all of their keys.
//
// A caller gets the newest read if that is at most share_window old and the caller has not had it yet; else the file is
// read again. So callers that tick together share one read, and one that ticks more often
// than others gets a new value each time. A costly file is read once in each costly_period, each cgroup's at another
// moment of it, and in between it answers with its last value.
//
// A read that does not return delays the caller that began it. Others that need the same file wait longest_wait, and
// from then on get "try again" at once. [any thread]
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"
#include "core/cgroup/files.hpp"
#include "core/cgroup/kept_directory.hpp"
#include "core/cgroup/key_sets.hpp"
#include "core/cgroup/read_terms.hpp"

namespace koord::cgroup {

class SharedFile {
 public:
  // `kernel` is a row of the table of logical files.
  SharedFile(std::shared_ptr<KeptDirectory> directory, const KernelFile& kernel, ReadTerms& terms);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  const KernelFile& kernel() const { return kernel_; }
  const std::shared_ptr<KeptDirectory>& directory() const { return directory_; }

  // The first time it opens the file, with Reader::open's errors. Later: whether its path still leads to it; false when
  // it is gone or another has taken its place.
  Result<bool> confirm();

  // A key's place in the file's values, as long as it is wanted. The key's kernel_key must outlive the file.
  std::uint32_t want(const KeySpec& key);
  void unwant(std::uint32_t slot);

  struct Pick {
    std::uint32_t slot;   // in the file's values
    std::uint32_t place;  // in the caller's
  };
  // Fills in the picked values and says when they were read. `seen` is the caller's, 0 at first: which read it had
  // last.
  Result<Time> read(std::uint64_t& seen, std::span<const Pick> picks, std::span<std::int64_t> values);

 private:
  using Guard = std::unique_lock<std::mutex>;
  class Turn;

  std::string path() const;
  void set_keys(std::vector<WantedKey> keys);
  bool is_fresh(std::uint64_t seen) const;
  Duration::rep costly_period() const;
  Result<void> wait_for_turn(Guard& guard);
  Result<void> refresh(Guard& guard);

  // In one's turn, without the lock.
  Result<bool> open_first();
  Result<std::string_view> fetch(std::span<char> usual, std::vector<char>& large);
  Result<UniqueFd> open_again();
  void keep_or_close(UniqueFd fresh);

  const std::shared_ptr<KeptDirectory> directory_;
  const KernelFile& kernel_;
  ReadTerms& terms_;
  ReadTerms::Lock& lock_;

  // Used only by the caller that is reading.
  UniqueFd fd_;      // empty when not kept
  ino_t inode_ = 0;  // 0: not opened yet

  // Under the lock.
  KeySets::Set* keys_;
  std::vector<std::int64_t> values_;
  Time read_at_{};
  std::uint64_t serial_ = 0;  // of the last read
  bool valid_ = false;        // values_ hold the last read, for every key
  bool ended_ = false;        // gone
  bool busy_ = false;         // a caller is reading
  bool stuck_ = false;        // and has been for longer than others wait
  std::uint32_t waiting_ = 0;
};

}  // namespace koord::cgroup
