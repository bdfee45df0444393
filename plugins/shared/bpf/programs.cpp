// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/bpf/programs.hpp"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <optional>

#include "core/base/parse.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::bpf {
namespace {

thread_local std::string* first_warning = nullptr;

[[gnu::format(printf, 2, 0)]] int keep_first_warning(libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN || !first_warning || !first_warning->empty()) return 0;
  std::array<char, 512> line{};
  std::vsnprintf(line.data(), line.size(), format, arguments);
  *first_warning = trim(line.data());
  return 0;
}

// libbpf prints to stderr why it refuses an object. While an object of this class exists, it keeps the first line
// instead.
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
    const bool is_wanted = std::find(wanted.begin(), wanted.end(), bpf_program__name(program)) != wanted.end();
    bpf_program__set_autoload(program, is_wanted);
  }
}

Result<bpf_map*> find_map(bpf_object* object, const char* name) {
  bpf_map* map = bpf_object__find_map_by_name(object, name);
  if (!map) return not_found(std::string("the programs have no map '") + name + "'");
  return map;
}

// Returns the offset of the constant in the section .rodata.
std::optional<std::uint32_t> offset_of(const btf* types, std::string_view constant) {
  const int section = btf__find_by_name_kind(types, ".rodata", BTF_KIND_DATASEC);
  if (section < 0) return std::nullopt;
  const btf_type* type = btf__type_by_id(types, static_cast<std::uint32_t>(section));
  const btf_var_secinfo* variables = btf_var_secinfos(type);
  for (std::uint32_t i = 0; i < btf_vlen(type); ++i) {
    const btf_type* variable = btf__type_by_id(types, variables[i].type);
    if (constant == btf__name_by_offset(types, variable->name_off)) return variables[i].offset;
  }
  return std::nullopt;
}

Result<void> set_constant(bpf_object* object, const char* name, std::int32_t value) {
  bpf_map* map = TRY(find_map(object, ".rodata"));
  std::size_t size = 0;
  const auto* bytes = static_cast<const char*>(bpf_map__initial_value(map, &size));
  const auto offset = offset_of(bpf_object__btf(object), name);
  if (!bytes || !offset || *offset + sizeof value > size)
    return not_found(std::string("the programs have no constant '") + name + "'");
  std::vector<char> changed(bytes, bytes + size);
  std::memcpy(changed.data() + *offset, &value, sizeof value);
  const int status = bpf_map__set_initial_value(map, changed.data(), size);
  return status == 0 ? Result<void>() : system_error(-status, std::string("cannot set the constant ") + name);
}

Result<void> apply(bpf_object* object, const LoadOptions& options) {
  keep_only(object, options.programs);
  for (const auto& [name, entries] : options.map_entries)
    bpf_map__set_max_entries(TRY(find_map(object, name)), entries);
  for (const char* name : options.unused_maps) bpf_map__set_autocreate(TRY(find_map(object, name)), false);
  for (const auto& [name, value] : options.constants) TRY(set_constant(object, name, value));
  return {};
}

// Runs an iterator once. The iterator runs while its file is read. It prints nothing.
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

// Returns the file with the kernel's types, or null if it does not exist. With a path, libbpf searches only this file.
// Without a path, it also searches the types of modules for names that the kernel lacks. This needs CAP_SYS_ADMIN. If
// the process lacks it, the libbpf of Debian 12 refuses the programs.
const char* types_of_kernel() {
  constexpr const char* kFile = "/sys/kernel/btf/vmlinux";
  return ::access(kFile, R_OK) == 0 ? kFile : nullptr;
}

}  // namespace

void Programs::Close::operator()(bpf_object* object) const { bpf_object__close(object); }
void Programs::Close::operator()(bpf_link* link) const { bpf_link__destroy(link); }

Result<Programs> Programs::load(const ObjectFile& file, LoadOptions options) {
  Warnings warnings;
  bpf_object_open_opts open_options{};
  open_options.sz = sizeof open_options;
  open_options.object_name = file.name;
  open_options.btf_custom_path = options.btf.empty() ? types_of_kernel() : options.btf.c_str();
  bpf_object* object = bpf_object__open_mem(file.bytes, file.size, &open_options);
  if (!object) return warnings.error(-errno, "cannot open the programs");
  Programs programs(object, options.programs);
  TRY(apply(object, options));
  if (int status = bpf_object__load(object); status != 0)
    return warnings.error(status, "the kernel does not accept the programs");
  return programs;
}

Result<void> Programs::start() {
  for (std::string_view name : names_) TRY(start(name.data()));
  return {};
}

Result<void> Programs::start(const char* name) {
  Warnings warnings;
  bpf_program* program = bpf_object__find_program_by_name(object_.get(), name);
  bpf_link* link = bpf_program__attach(program);
  if (!link) return warnings.error(-errno, std::string("cannot attach the program ") + name);
  links_.emplace_back(link);
  if (std::string_view(bpf_program__section_name(program)).starts_with("iter/")) {
    TRY(run_iterator(link));
    links_.pop_back();
  }
  return {};
}

std::uint64_t Programs::missed() const {
  std::uint64_t missed = 0;
  for (std::string_view name : names_) {
    bpf_prog_info info{};
    __u32 size = sizeof info;
    const bpf_program* program = bpf_object__find_program_by_name(object_.get(), name.data());
    if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0) missed += info.recursion_misses;
  }
  return missed;
}

int Programs::map(const char* name) const { return bpf_map__fd(bpf_object__find_map_by_name(object_.get(), name)); }

bool Programs::is_per_cpu(const char* map) const {
  const bpf_map_type type = bpf_map__type(bpf_object__find_map_by_name(object_.get(), map));
  return type == BPF_MAP_TYPE_PERCPU_ARRAY || type == BPF_MAP_TYPE_PERCPU_HASH;
}

Result<std::uint32_t> possible_cpus() {
  const int cpus = libbpf_num_possible_cpus();
  if (cpus <= 0) return system_error(-cpus, "cannot count the CPUs");
  return static_cast<std::uint32_t>(cpus);
}

// Linux before 5.13 has no batch operations for per-CPU arrays, so entries may have to be read one by one.
Result<void> read_array(int map, std::uint32_t n, void* values, std::size_t entry_bytes) {
  std::vector<std::uint32_t> keys(n);
  std::uint32_t next = 0, count = n;
  bpf_map_batch_opts options{};
  options.sz = sizeof options;
  if (n == 0) return {};
  const int status = bpf_map_lookup_batch(map, nullptr, &next, keys.data(), values, &count, &options);
  if ((status == 0 || errno == ENOENT) && count == n) return {};
  for (std::uint32_t index = 0; index < n; ++index)
    if (bpf_map_lookup_elem(map, &index, static_cast<char*>(values) + index * entry_bytes) != 0)
      return system_error(errno, "cannot read an array of the programs");
  return {};
}

Result<std::uint32_t> take_all(int map, std::span<std::uint32_t> keys, std::span<std::uint64_t> values) {
  return TRY(take_some(map, static_cast<std::uint32_t>(keys.size()), keys.data(), values.data())).count;
}

Result<Taken> take_some(int map, std::uint32_t places, void* keys, void* values) {
  std::uint32_t next = 0, count = places;
  bpf_map_batch_opts options{};
  options.sz = sizeof options;
  const int status = bpf_map_lookup_and_delete_batch(map, nullptr, &next, keys, values, &count, &options);
  if (status == 0 || errno == ENOENT) return Taken{count, status != 0};
  return system_error(errno, "cannot take the entries of a hash of the programs");
}

Result<std::uint32_t> read_hash(int map, std::uint32_t places, void* keys, void* values) {
  std::uint32_t next = 0, count = places;
  bpf_map_batch_opts options{};
  options.sz = sizeof options;
  const int status = bpf_map_lookup_batch(map, nullptr, &next, keys, values, &count, &options);
  if (status == 0 || errno == ENOENT) return count;
  return system_error(errno, "cannot read the entries of a hash of the programs");
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

}  // namespace koord::bpf
