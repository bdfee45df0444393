// SPDX-License-Identifier: Apache-2.0
#include "core/child/sample_ring.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "core/child/memory_file.hpp"

namespace koord::child {
namespace {

// The header of a batch; its points follow. A batch may wrap around from the end of the ring to its beginning.
struct Header {
  std::uint64_t t_ns;
  std::uint64_t n;
};

std::size_t size_of(std::size_t points) { return sizeof(Header) + points * sizeof(koord_point); }

}  // namespace

struct SampleRing::Shared {
  // Bytes written and read so far. The bytes between the two counts are still to be read.
  alignas(64) std::atomic<std::uint64_t> written;
  alignas(64) std::atomic<std::uint64_t> read;
  alignas(64) std::atomic<std::uint64_t> dropped;
  alignas(64) unsigned char ring[kBytes];

  // `data` may be null if `size` is 0, but memcpy() accepts no null pointer.
  void put(std::uint64_t at, const void* data, std::size_t size) {
    if (size == 0) return;
    std::size_t begin = at % kBytes, first = std::min(size, kBytes - begin);
    std::memcpy(ring + begin, data, first);
    std::memcpy(ring, static_cast<const unsigned char*>(data) + first, size - first);
  }
  void get(std::uint64_t at, void* data, std::size_t size) const {
    if (size == 0) return;
    std::size_t begin = at % kBytes, first = std::min(size, kBytes - begin);
    std::memcpy(data, ring + begin, first);
    std::memcpy(static_cast<unsigned char*>(data) + first, ring, size - first);
  }
};

void SampleRing::Unmap::operator()(Shared* shared) const { ::munmap(shared, sizeof *shared); }

SampleRing::SampleRing(UniqueFd fd, Shared* shared) : fd_(std::move(fd)), shared_(shared) {}

Result<SampleRing> SampleRing::map(UniqueFd fd) {
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return system_error(errno, "ring of samples");
  return SampleRing(std::move(fd), static_cast<Shared*>(memory));
}

Result<SampleRing> SampleRing::make() { return map(TRY(memory_of(sizeof(Shared)))); }

Result<SampleRing> SampleRing::attach(UniqueFd fd) {
  struct stat about;
  if (::fstat(fd.get(), &about) != 0 || about.st_size != sizeof(Shared)) return invalid("no ring of samples");
  return map(std::move(fd));
}

bool SampleRing::push(std::uint64_t t_ns, std::span<const koord_point> points) {
  std::lock_guard lock(*pushing_);
  std::uint64_t written = shared_->written.load(std::memory_order_relaxed);
  std::uint64_t waiting = written - shared_->read.load(std::memory_order_acquire);
  if (points.size() > kMaxPoints || size_of(points.size()) > kBytes - waiting) {
    shared_->dropped.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  Header header{t_ns, points.size()};
  shared_->put(written, &header, sizeof header);
  shared_->put(written + sizeof header, points.data(), points.size_bytes());
  shared_->written.store(written + size_of(points.size()), std::memory_order_release);
  return true;
}

Result<std::optional<SampleRing::Batch>> SampleRing::pop() {
  std::uint64_t waiting = shared_->written.load(std::memory_order_acquire) - read_;
  if (waiting == 0) return std::optional<Batch>();
  Header header;
  if (waiting > kBytes || waiting < sizeof header) return invalid("the ring of samples holds garbage");
  shared_->get(read_, &header, sizeof header);
  if (header.n > kMaxPoints || size_of(header.n) > waiting) return invalid("the ring of samples holds garbage");
  Batch batch{header.t_ns, std::vector<koord_point>(header.n)};
  shared_->get(read_ + sizeof header, batch.points.data(), header.n * sizeof(koord_point));
  read_ += size_of(header.n);
  shared_->read.store(read_, std::memory_order_release);
  return std::optional<Batch>(std::move(batch));
}

std::uint64_t SampleRing::take_dropped() {
  std::uint64_t all = shared_->dropped.load(std::memory_order_relaxed);
  return all - std::exchange(dropped_, all);
}

}  // namespace koord::child
