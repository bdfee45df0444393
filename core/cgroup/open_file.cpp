// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/open_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::cgroup {
namespace {

// More than any of these files has on all but the largest NUMA machines.
constexpr std::size_t kUsualBytes = 16384;
constexpr std::size_t kMostBytes = 1u << 20;

Error gone(const std::string& path) {
  return {std::make_error_code(std::errc::no_such_device), "the cgroup of '" + path + "' is gone"};
}

Error not_offered(const std::string& path) {
  return {std::make_error_code(std::errc::not_supported), "this kernel does not offer '" + path + "'"};
}

bool is_directory(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// With v1 a cgroup may live in some trees only.
bool exists_in_any_tree(const Layout& layout, std::string_view cgroup) {
  const std::vector<std::string>& trees = layout.workload_trees();
  return std::any_of(trees.begin(), trees.end(), [cgroup](const std::string& tree) {
    return is_directory(tree + '/' + std::string(cgroup));
  });
}

// A missing file in a directory that is there is one the kernel does not have.
Error open_error(int error, const std::string& path) {
  if (error == ENODEV) return gone(path);
  if (error == ENOENT || error == ENOTDIR)
    return is_directory(path.substr(0, path.rfind('/'))) ? not_offered(path) : gone(path);
  if (error == EOPNOTSUPP) return not_offered(path);
  return system_error(error, "cannot open '" + path + "'");
}

Error read_error(const Error& error, const std::string& path) {
  if (error.is(std::errc::no_such_device)) return gone(path);
  return system_error(error.code.value(), "cannot read '" + path + "'");
}

bool is_out_of_descriptors(int error) {
  return error == EMFILE || error == ENFILE;
}

Error unknown_key(const LogicalFile& file, std::string_view key) {
  std::vector<std::string> known;
  for (const KeySpec& candidate : file.v2.keys) known.emplace_back(candidate.key);
  std::string near = nearest(key, known);
  return invalid("'" + std::string(file.name) + "' has no key '" + std::string(key.substr(0, 64)) + "', " +
                 (near.empty() ? "expected one of: " + join(known, " ") : "did you mean '" + near + "'?"));
}

Result<void> check_keys(const LogicalFile& file, std::span<const std::string_view> keys) {
  if (keys.empty()) return invalid("no key of '" + std::string(file.name) + "' asked for");
  for (std::string_view key : keys) {
    if (!file.v1.find(key) && !file.v2.find(key)) return unknown_key(file, key);
  }
  return {};
}

struct Opened {
  UniqueFd fd;
  ino_t inode;
};

// On failure errno tells why.
std::optional<Opened> open_kernel_file(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (!fd || ::fstat(fd.get(), &info) != 0) return std::nullopt;
  return Opened{std::move(fd), info.st_ino};
}

// The rare text beyond kUsualBytes.
Result<void> extract_large(int fd, const std::string& path, Extraction& extraction,
                           std::span<std::int64_t> values) {
  std::vector<char> buffer(kMostBytes);
  Result<std::string_view> text = pread_all(fd, buffer);
  if (!text) return read_error(text.error(), path);
  extraction.apply(*text, values);
  return {};
}

}  // namespace

Result<OpenFile> OpenFile::open(const Layout& layout, std::string_view cgroup, const LogicalFile& file,
                                std::span<const std::string_view> keys, bool keep) {
  TRY(check_keys(file, keys));
  std::optional<Error> why;
  // Only pressure can be in both: in cpuacct with a vendor's kernel, and there runtimes put every container.
  for (Version version : {Version::v1, Version::v2}) {
    if (layout.version(file.spec(version).files.front().controller) != version) continue;
    Result<OpenFile> opened = open_version(layout, cgroup, file, version, keys, keep);
    if (opened) return opened;
    // That one tree lacks the cgroup says less than that the other has it without the file.
    if (!why || why->is(std::errc::no_such_device)) why = std::move(opened).error();
  }
  if (why && why->is(std::errc::no_such_device) && exists_in_any_tree(layout, cgroup))
    return Error{std::make_error_code(std::errc::not_supported),
                 "'" + std::string(cgroup) + "' is not in the tree of the controller of '" +
                     std::string(file.name) + "'"};
  if (why) return *std::move(why);
  return Error{std::make_error_code(std::errc::not_supported),
               "this node has no cgroup controller for '" + std::string(file.name) + "'"};
}

Result<OpenFile> OpenFile::open_version(const Layout& layout, std::string_view cgroup,
                                        const LogicalFile& file, Version version,
                                        std::span<const std::string_view> keys, bool keep) {
  const FileSpec& spec = file.spec(version);
  OpenFile opened;
  opened.values_ = keys.size();
  for (const KernelFile& kernel : spec.files) {
    std::string path = layout.directory(kernel.controller, cgroup) + '/' + std::string(kernel.name);
    opened.sources_.push_back({std::move(path), UniqueFd(), 0, Extraction(kernel.format)});
  }
  for (std::size_t slot = 0; slot < keys.size(); ++slot) {
    if (std::optional<KeySpec> key = spec.find(keys[slot]))
      opened.sources_[key->file].extraction.add(*key, slot);
    else
      opened.absent_slots_.push_back(slot);
  }
  // A file without a wanted key need not be read, unless only reading it tells that the cgroup is gone.
  if (opened.absent_slots_.size() < keys.size())
    std::erase_if(opened.sources_, [](const Source& source) { return source.extraction.empty(); });
  for (Source& source : opened.sources_) TRY(open_source(source, keep));
  return opened;
}

Result<void> OpenFile::open_source(Source& source, bool keep) {
  if (std::optional<Opened> opened = open_kernel_file(source.path)) {
    source.inode = opened->inode;
    if (keep) source.fd = std::move(opened->fd);
    return {};
  }
  if (int error = errno; !is_out_of_descriptors(error)) return open_error(error, source.path);
  struct stat info;
  if (::stat(source.path.c_str(), &info) != 0) return open_error(errno, source.path);
  source.inode = info.st_ino;
  return {};
}

Result<void> OpenFile::read_source(Source& source, std::span<std::int64_t> values) {
  UniqueFd fresh;
  int fd = source.fd.get();
  if (fd < 0) {
    std::optional<Opened> opened = open_kernel_file(source.path);
    if (!opened) return open_error(errno, source.path);
    if (opened->inode != source.inode) return gone(source.path);
    fresh = std::move(opened->fd);
    fd = fresh.get();
  }
  char buffer[kUsualBytes];
  Result<std::string_view> text = pread_all(fd, buffer);
  if (!text && text.error().is(std::errc::message_size))
    return extract_large(fd, source.path, source.extraction, values);
  if (!text) return read_error(text.error(), source.path);
  source.extraction.apply(*text, values);
  return {};
}

Result<void> OpenFile::read(std::span<std::int64_t> values) {
  if (values.size() != values_)
    return invalid("room for " + std::to_string(values.size()) + " values, expected " +
                   std::to_string(values_));
  for (std::size_t slot : absent_slots_) values[slot] = kAbsent;
  for (Source& source : sources_) TRY(read_source(source, values));
  return {};
}

std::size_t OpenFile::kept_descriptors() const {
  return static_cast<std::size_t>(
      std::count_if(sources_.begin(), sources_.end(), [](const Source& source) { return bool(source.fd); }));
}

}  // namespace koord::cgroup
