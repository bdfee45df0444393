// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/shared_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <tuple>
#include <utility>

#include "core/base/append_tight.hpp"
#include "core/base/file.hpp"
#include "core/cgroup/file_errors.hpp"

namespace koord::cgroup {
namespace {

// More bytes than any of these files has, except on the largest NUMA machines.
constexpr std::size_t kUsualBytes = 16384;
constexpr std::size_t kMostBytes = 1u << 20;

ReadTerms::Lock& lock_of(const KeptDirectory& directory, const KernelFile& kernel, ReadTerms& terms) {
  const std::hash<std::string_view> hash;
  // Files of the same name use few locks, because files with the same lock share their key sets.
  constexpr std::size_t kLocksOfName = 16, kNames = std::tuple_size_v<decltype(terms.locks)> / kLocksOfName;
  return terms.locks[hash(directory.path()) % kLocksOfName * kNames + hash(kernel.name) % kNames];
}

// Returns the number of the period that contains the time. The periods of each directory start at a different moment,
// so the cgroups of a node are not all read in one tick.
Duration::rep period_of(Time time, Duration::rep period, const KeptDirectory& directory) {
  const auto phase =
      static_cast<Duration::rep>(std::hash<std::string_view>()(directory.path()) % static_cast<std::size_t>(period));
  return (time.time_since_epoch().count() + phase) / period;
}

std::string_view last_word(std::string_view key) { return key.substr(key.rfind(' ') + 1); }

}  // namespace

// One caller's read of the file. Constructed and destroyed with the lock held; the lock is released in between.
class SharedFile::Turn {
 public:
  Turn(SharedFile& file, Guard& guard) : file_(file), guard_(guard) {
    file_.busy_ = true;
    guard_.unlock();
  }
  ~Turn() {
    guard_.lock();
    file_.busy_ = file_.stuck_ = false;
    if (file_.waiting_ > 0) file_.lock_.changed.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  SharedFile& file_;
  Guard& guard_;
};

SharedFile::SharedFile(std::shared_ptr<KeptDirectory> directory, const KernelFile& kernel, ReadTerms& terms)
    : directory_(std::move(directory)), kernel_(kernel), terms_(terms), lock_(lock_of(*directory_, kernel, terms)) {
  Guard guard(lock_.mutex);
  keys_ = &lock_.key_sets.take({kernel.format, {}});
}

SharedFile::~SharedFile() {
  if (fd_) terms_.files.release();
  Guard guard(lock_.mutex);
  lock_.key_sets.release(*keys_);
}

std::string SharedFile::path() const { return directory_->path() + '/' + std::string(kernel_.name); }

std::uint32_t SharedFile::want(const KeySpec& key) {
  WantedKey wanted{key.kernel_key, {}, key.conversion};
  // For other formats the key is only the agent's name for the kernel's key.
  if (kernel_.format == Format::numa) wanted.word = last_word(key.key);
  Guard guard(lock_.mutex);
  std::vector<WantedKey> keys = keys_->keys->second;
  auto place = std::find_if(keys.begin(), keys.end(),
                            [&](const WantedKey& known) { return known.users > 0 && known.is(wanted); });
  if (place == keys.end()) {
    place = std::find_if(keys.begin(), keys.end(), [](const WantedKey& unused) { return unused.users == 0; });
    if (place == keys.end()) {
      append_tight(values_, kAbsent);
      place = keys.emplace(keys.end());
    }
    *place = std::move(wanted);
    valid_ = false;
  }
  ++place->users;
  const auto slot = static_cast<std::uint32_t>(place - keys.begin());
  set_keys(std::move(keys));
  return slot;
}

void SharedFile::unwant(std::uint32_t slot) {
  Guard guard(lock_.mutex);
  std::vector<WantedKey> keys = keys_->keys->second;
  if (--keys[slot].users == 0) keys[slot] = {};
  set_keys(std::move(keys));
}

void SharedFile::set_keys(std::vector<WantedKey> keys) {
  KeySets::Set& set = lock_.key_sets.take({kernel_.format, std::move(keys)});
  lock_.key_sets.release(*std::exchange(keys_, &set));
}

Result<bool> SharedFile::confirm() {
  Guard guard(lock_.mutex);
  TRY(wait_for_turn(guard));
  if (ended_) return false;
  Turn turn(*this, guard);
  if (inode_ == 0) return open_first();
  struct stat info;
  return ::stat(path().c_str(), &info) == 0 && info.st_ino == inode_;
}

Result<Time> SharedFile::read(std::uint64_t& seen, std::span<const Pick> picks, std::span<std::int64_t> values) {
  Guard guard(lock_.mutex);
  if (is_fresh(seen)) {
    terms_.shared.fetch_add(1, std::memory_order_relaxed);
  } else if (busy_) {
    TRY(wait_for_turn(guard));
    // The read of a different caller is used here, too, if it was made and has not failed.
    if (!is_fresh(seen)) TRY(refresh(guard));
  } else {
    TRY(refresh(guard));
  }
  for (const Pick& pick : picks) values[pick.place] = values_[pick.slot];
  seen = serial_;
  return read_at_;
}

// Returns whether the last read may be used. Reads the clock only if the result depends on it, which is never the case
// for a file with one reader.
bool SharedFile::is_fresh(std::uint64_t seen) const {
  if (!valid_ || ended_) return false;
  const Duration::rep period = costly_period();
  if (period > 0) return period_of(terms_.clock.now(), period, *directory_) == period_of(read_at_, period, *directory_);
  return serial_ != seen && terms_.clock.now() - read_at_ <= terms_.share_window;
}

// Returns the period of a costly file; 0: the file is not costly.
Duration::rep SharedFile::costly_period() const {
  return kernel_.costly ? terms_.costly_period.load(std::memory_order_relaxed) : 0;
}

Result<void> SharedFile::wait_for_turn(Guard& guard) {
  if (!busy_) return {};
  if (!stuck_) {
    ++waiting_;
    const bool free = lock_.changed.wait_for(guard, terms_.longest_wait, [this] { return !busy_; });
    --waiting_;
    if (free) return {};
    stuck_ = true;
  }
  return Error{std::make_error_code(std::errc::resource_unavailable_try_again),
               "a read of '" + path() + "' does not return"};
}

Result<void> SharedFile::refresh(Guard& guard) {
  if (ended_) return gone(path());
  char usual[kUsualBytes];
  std::vector<char> large;
  Result<std::string_view> text = [&] {
    Turn turn(*this, guard);
    return fetch(usual, large);
  }();
  terms_.reads.fetch_add(1, std::memory_order_relaxed);
  valid_ = text.has_value();
  if (!text) {
    if (text.error().is(std::errc::no_such_device)) {
      ended_ = true;
      directory_->end();
    }
    return std::move(text).error();
  }
  keys_->extraction.apply(*text, values_);
  read_at_ = terms_.clock.now();
  ++serial_;
  return {};
}

Result<bool> SharedFile::open_first() {
  UniqueFd fresh(::open(path().c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (fresh && ::fstat(fresh.get(), &info) == 0) {
    inode_ = info.st_ino;
    keep_or_close(std::move(fresh));
    return true;
  }
  if (!is_out_of_descriptors(errno)) return open_error(errno, path());
  terms_.files.on_shortage(terms_.clock.now());
  if (::stat(path().c_str(), &info) != 0) return open_error(errno, path());
  inode_ = info.st_ino;
  return true;
}

Result<UniqueFd> SharedFile::open_again() {
  UniqueFd fresh = directory_->open(kernel_.name.data());
  struct stat info;
  if (fresh && ::fstat(fresh.get(), &info) == 0) {
    if (info.st_ino != inode_) return gone(path());
    return fresh;
  }
  const int error = errno;
  if (is_out_of_descriptors(error)) terms_.files.on_shortage(terms_.clock.now());
  // The file existed at the first open, so its cgroup was removed.
  if (error == ENOENT || error == ENOTDIR || error == ENODEV) return gone(path());
  return open_error(error, path());
}

Result<std::string_view> SharedFile::fetch(std::span<char> usual, std::vector<char>& large) {
  UniqueFd fresh;
  if (!fd_) fresh = TRY(open_again());
  const int fd = fd_ ? fd_.get() : fresh.get();
  Result<std::string_view> text = pread_all(fd, usual);
  if (!text && text.error().is(std::errc::message_size)) {
    large.resize(kMostBytes);
    text = pread_all(fd, large);
  }
  keep_or_close(std::move(fresh));
  if (!text) return read_error(text.error(), path());
  return text;
}

void SharedFile::keep_or_close(UniqueFd fresh) {
  if (fd_) {
    if (!terms_.files.must_return()) return;
    fd_.reset();
    terms_.files.release();
  } else if (fresh) {
    const bool rarely_read = costly_period() > 0;
    if (terms_.files.take(terms_.clock.now(), rarely_read ? 2 : 4)) fd_ = std::move(fresh);
  }
}

}  // namespace koord::cgroup
