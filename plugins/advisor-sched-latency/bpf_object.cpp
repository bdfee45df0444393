// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-sched-latency/bpf_object.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/parse.hpp"
#include "core/base/unique_fd.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"  // what bpftool generates is not ours to mend
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "bpf/sched_latency/sched_latency.skel.h"
#pragma GCC diagnostic pop

namespace koord::sched_latency {
namespace {

// In the order in which they are started: no thread may be missed between those that list threads and those
// that need what the first made.
std::vector<std::string_view> programs_of(Source source) {
  switch (source) {
    case Source::sched_info:
      return {"on_cgroup_rmdir", "for_each_new_thread", "for_each_existing_thread", "sched_info_on_switch"};
    case Source::task_storage:
      return {"on_cgroup_rmdir",        "for_each_new_thread",        "for_each_existing_thread",
              "task_storage_on_wakeup", "task_storage_on_wakeup_new", "task_storage_on_switch"};
    case Source::raw_tracepoint:
      return {"raw_on_cgroup_rmdir", "raw_on_wakeup", "raw_on_wakeup_new", "raw_on_switch"};
    case Source::schedstat:
      return {};
  }
  return {};
}

thread_local std::string* first_warning = nullptr;

[[gnu::format(printf, 2, 0)]] int keep_first_warning(libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN || !first_warning || !first_warning->empty()) return 0;
  std::array<char, 512> line{};
  std::vsnprintf(line.data(), line.size(), format, arguments);
  *first_warning = trim(line.data());
  return 0;
}

// libbpf says on stderr why it refuses; in its lifetime the first such line is kept here instead.
class Warnings {
 public:
  Warnings() : before_(libbpf_set_print(keep_first_warning)) { first_warning = &text_; }
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;
  ~Warnings() {
    first_warning = nullptr;
    libbpf_set_print(before_);
  }

  Error error(int negative_errno, const std::string& what) const {
    return system_error(-negative_errno, text_.empty() ? what : what + " (" + text_ + ")");
  }

 private:
  std::string text_;
  libbpf_print_fn_t before_;
};

void keep_only(bpf_object* object, const std::vector<std::string_view>& wanted) {
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object) {
    const bool is_wanted =
        std::find(wanted.begin(), wanted.end(), bpf_program__name(program)) != wanted.end();
    bpf_program__set_autoload(program, is_wanted);
  }
}

void set_sizes(::sched_latency& skeleton, Source source, std::uint32_t slots, std::uint32_t threads) {
  for (bpf_map* map : {skeleton.maps.histograms, skeleton.maps.slot_owners, skeleton.maps.cgroup_slots,
                       skeleton.maps.free_slots, skeleton.maps.ended_slots})
    bpf_map__set_max_entries(map, slots);
  bpf_map__set_max_entries(skeleton.maps.runnable_threads, threads);
  bpf_map__set_autocreate(skeleton.maps.runnable_threads, source == Source::raw_tracepoint);
  bpf_map__set_autocreate(skeleton.maps.threads, source != Source::raw_tracepoint);
}

// An iterator runs while its file is read; it prints nothing.
Result<void> run_iterator(const bpf_link* link) {
  UniqueFd iterator(bpf_iter_create(bpf_link__fd(link)));
  if (!iterator) return system_error(errno, "cannot list the threads in the kernel");
  std::array<char, 64> nothing{};
  ssize_t n = 0;
  do n = ::read(iterator.get(), nothing.data(), nothing.size());
  while (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)));
  if (n < 0) return system_error(errno, "cannot list the threads in the kernel");
  return {};
}

}  // namespace

void BpfObject::Close::operator()(::sched_latency* skeleton) const {
  sched_latency__destroy(skeleton);
}
void BpfObject::Close::operator()(bpf_link* link) const {
  bpf_link__destroy(link);
}

Result<BpfObject> BpfObject::load(Source source, int hierarchy_id, std::uint32_t slots,
                                  const ProbeOptions& options) {
  Warnings warnings;
  bpf_object_open_opts open_options{};
  open_options.sz = sizeof open_options;
  open_options.btf_custom_path = options.btf.empty() ? nullptr : options.btf.c_str();
  ::sched_latency* skeleton = sched_latency__open_opts(&open_options);
  if (!skeleton) return warnings.error(-errno, "cannot open the programs");
  BpfObject object(source, skeleton);
  keep_only(skeleton->obj, programs_of(source));
  set_sizes(*skeleton, source, slots, options.threads);
  skeleton->rodata->hierarchy_id = hierarchy_id;
  if (int status = sched_latency__load(skeleton); status != 0)
    return warnings.error(status, "the kernel does not accept the programs");
  return object;
}

Result<void> BpfObject::start() {
  for (std::string_view name : programs_of(source_)) TRY(start_program(name.data()));
  return {};
}

Result<void> BpfObject::start_program(const char* name) {
  Warnings warnings;
  bpf_program* program = bpf_object__find_program_by_name(skeleton_->obj, name);
  bpf_link* link = bpf_program__attach(program);
  if (!link) return warnings.error(-errno, std::string("cannot attach the program ") + name);
  links_.emplace_back(link);
  if (std::string_view(bpf_program__section_name(program)).starts_with("iter/")) {
    TRY(run_iterator(link));
    links_.pop_back();
  }
  return {};
}

int BpfObject::histograms() const {
  return bpf_map__fd(skeleton_->maps.histograms);
}
int BpfObject::slot_owners() const {
  return bpf_map__fd(skeleton_->maps.slot_owners);
}
int BpfObject::free_slots() const {
  return bpf_map__fd(skeleton_->maps.free_slots);
}
int BpfObject::ended_slots() const {
  return bpf_map__fd(skeleton_->maps.ended_slots);
}
int BpfObject::slot_cache() const {
  return bpf_map__fd(skeleton_->maps.slot_cache);
}
int BpfObject::lost_waits() const {
  return bpf_map__fd(skeleton_->maps.lost_waits);
}

Result<MappedArray> MappedArray::open(int map, std::size_t entries) {
  void* memory = ::mmap(nullptr, entries * sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
  if (memory == MAP_FAILED) return system_error(errno, "cannot map an array of the programs");
  MappedArray array;
  array.entries_ = {static_cast<std::uint64_t*>(memory), entries};
  return array;
}

MappedArray::MappedArray(MappedArray&& other) noexcept : entries_(std::exchange(other.entries_, {})) {}

MappedArray& MappedArray::operator=(MappedArray&& other) noexcept {
  std::swap(entries_, other.entries_);
  return *this;
}

MappedArray::~MappedArray() {
  if (!entries_.empty()) ::munmap(entries_.data(), entries_.size_bytes());
}

}  // namespace koord::sched_latency
