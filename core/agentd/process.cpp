// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/process.hpp"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/page_size.hpp"
#include "core/base/parse.hpp"
#include "core/base/program.hpp"

namespace koord::agentd {
namespace {

double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; }

// Returns the number in a line "Key:  123 …" of /proc/self/status.
std::uint64_t status_number(std::string_view status, std::string_view key) {
  while (auto line = next_field(status, '\n')) {
    if (!line->starts_with(key)) continue;
    std::string_view rest = line->substr(key.size());
    while (!rest.empty() && (rest.front() == ':' || rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
    return parse_uint(rest.substr(0, rest.find(' '))).value_or(0);
  }
  return 0;
}

// Makes malloc return large freed blocks to the kernel, above all the text of scrapes. By default, glibc keeps such
// blocks after it has returned the first one. Only one heap is used, because a heap for each thread would only keep
// more free memory.
void give_memory_back() {
  constexpr int kLargeBlock = 128 << 10;
  ::mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  ::mallopt(M_TRIM_THRESHOLD, kLargeBlock);
  ::mallopt(M_ARENA_MAX, 1);
}

// Returns whether the dynamic linker writes to segments that are otherwise read-only.
bool has_text_relocations(const dl_phdr_info& object, std::span<const ElfW(Phdr)> segments) {
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + segment.p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      const bool in_flags = entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0;
      if (entry->d_tag == DT_TEXTREL || in_flags) return true;
    }
  }
  return false;
}

// Unmaps the read-only pages of an object. dl_iterate_phdr() holds the dynamic linker's lock, so no object is unloaded
// meanwhile. Breakpoints of a debugger in the code are lost.
int unmap_read_only_pages(dl_phdr_info* object, std::size_t, void*) {
  const auto page = static_cast<std::uintptr_t>(page_size());
  const std::span segments(object->dlpi_phdr, object->dlpi_phnum);
  if (has_text_relocations(*object, segments)) return 0;
  // The table of segments is in the first segment. It is read completely before the unmapping, because a later read
  // would map 64 KiB again.
  std::vector<std::span<char>> read_only;
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = (object->dlpi_addr + segment.p_vaddr) & ~(page - 1);
    const std::uintptr_t end = object->dlpi_addr + segment.p_vaddr + segment.p_memsz;
    read_only.emplace_back(reinterpret_cast<char*>(begin), end - begin);
  }
  for (std::span<char> pages : read_only) ::madvise(pages.data(), pages.size(), MADV_DONTNEED);
  return 0;
}

}  // namespace

void release_startup_memory() {
  ::malloc_trim(0);
  ::dl_iterate_phdr(unmap_read_only_pages, nullptr);
}

void prepare_process() {
  std::signal(SIGPIPE, SIG_IGN);
  raise_file_limit();
  give_memory_back();
}

ProcessUsage process_usage() {
  ProcessUsage usage;
  // Reads the agent's own /proc, not the /proc of the observed node.
  if (auto status = read_file("/proc/self/status")) {
    usage.resident_bytes = status_number(*status, "VmRSS") * 1024;
    usage.threads = status_number(*status, "Threads");
  }
  if (auto files = list_directory("/proc/self/fd")) usage.open_files = files->size();
  rusage used;
  if (::getrusage(RUSAGE_SELF, &used) == 0) usage.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  return usage;
}

std::size_t open_files_limit() {
  rlimit files;
  return ::getrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_cur : 1024;
}

}  // namespace koord::agentd
