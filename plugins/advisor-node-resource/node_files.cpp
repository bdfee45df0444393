// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-node-resource/node_files.hpp"

#include <fcntl.h>

#include "core/base/cpu_set.hpp"
#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "plugins/shared/memory/meminfo.hpp"

namespace koord::node_resource {

Result<KeptFile> KeptFile::open(const std::string& path) {
  KeptFile file;
  file.path_ = path;
  file.fd_ = TRY(open_at(AT_FDCWD, path, O_RDONLY));
  file.buffer_.resize(4096);
  return file;
}

Result<std::string_view> KeptFile::read() {
  for (;;) {
    Result<std::string_view> text = pread_all(fd_.get(), buffer_);
    if (text) return text;
    if (!text.error().is(std::errc::message_size) || buffer_.size() >= kMaxFileBytes)
      return std::move(text).error().context("cannot read '" + path_ + "'");
    buffer_.resize(buffer_.size() * 2);  // the size of /proc/stat depends on the number of CPUs
  }
}

namespace {

bool has_memory(KeptFile& meminfo) {
  Result<std::string_view> text = meminfo.read();
  return text && memory::meminfo_bytes(*text, "MemTotal").value_or(0) > 0;
}

}  // namespace

Result<std::map<std::uint32_t, KeptFile>> open_numa_meminfo(const std::string& sys_root) {
  CpuSet initiators;
  if (Result<std::string> list = read_file(sys_root + "/devices/system/node/has_generic_initiator"))
    initiators = TRY(CpuSet::parse(trim(*list)));

  const std::string nodes = sys_root + "/bus/node/devices";
  std::map<std::uint32_t, KeptFile> files;
  for (const std::string& name : TRY(list_directory(nodes))) {
    if (!name.starts_with("node")) continue;
    Result<std::uint64_t> id = parse_uint(std::string_view(name).substr(4));
    if (!id) continue;
    const auto node = static_cast<std::uint32_t>(*id);
    KeptFile file = TRY(KeptFile::open(nodes + "/" + name + "/meminfo"));
    if (initiators.contains(node) && !has_memory(file)) continue;
    files.emplace(node, std::move(file));
  }
  return files;
}

}  // namespace koord::node_resource
