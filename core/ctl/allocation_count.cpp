// SPDX-License-Identifier: Apache-2.0
// Shared objects resolve malloc to the program's function before the C library's, so their calls are counted, too.
#include "core/ctl/allocation_count.hpp"

#include <atomic>
#include <cstddef>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define KOORD_COUNTS_ALLOCATIONS 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#undef KOORD_COUNTS_ALLOCATIONS
#endif
#endif

#ifdef KOORD_COUNTS_ALLOCATIONS
namespace {

std::atomic<std::uint64_t> count{0};

void counted() { count.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

extern "C" {
// glibc's internal names of its allocator. free() is not counted, so it is not replaced.
void* __libc_malloc(std::size_t size) noexcept;
void* __libc_calloc(std::size_t n, std::size_t size) noexcept;
void* __libc_realloc(void* memory, std::size_t size) noexcept;

__attribute__((visibility("default"))) void* malloc(std::size_t size) noexcept {
  counted();
  return __libc_malloc(size);
}
__attribute__((visibility("default"))) void* calloc(std::size_t n, std::size_t size) noexcept {
  counted();
  return __libc_calloc(n, size);
}
__attribute__((visibility("default"))) void* realloc(void* memory, std::size_t size) noexcept {
  counted();
  return __libc_realloc(memory, size);
}
}

namespace koord::ctl {
const AllocationCount allocation_count = [] { return count.load(std::memory_order_relaxed); };
}
#else
namespace koord::ctl {
const AllocationCount allocation_count = nullptr;
}
#endif
