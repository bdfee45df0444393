// SPDX-License-Identifier: Apache-2.0
// koord.fs/1: files below the node's roots (proc, sys, …), independent of their mount points.
#include <sys/stat.h>

#include <cerrno>

#include "core/base/file.hpp"
#include "core/service/arguments.hpp"
#include "core/service/rights.hpp"
#include "core/service/root_file.hpp"
#include "core/service/serve.hpp"
#include "core/service/services.hpp"

namespace koord::service {
namespace {

constexpr std::size_t kMaxReadBytes = 4u << 20;  // the same limit as for a plugin in its own process

Result<const std::string*> root_directory(const NodeRoots& roots, std::uint32_t root) {
  switch (root) {
    case KOORD_ROOT_PROC:
      return &roots.proc;
    case KOORD_ROOT_SYS:
      return &roots.sys;
    case KOORD_ROOT_CGROUP:
      return &roots.cgroup;
    case KOORD_ROOT_RESCTRL:
      return &roots.resctrl;
    case KOORD_ROOT_RUN:
      return &roots.run;
    default:
      return invalid("root is " + std::to_string(root) + ", expected a KOORD_ROOT_*");
  }
}

// Accepts only regular files. A FIFO or a device may have no end, and opening a device may have side effects.
Result<void> check_kind(int fd, PluginContext& context, std::uint32_t root, const std::string& relative,
                        const FileAccess& access) {
  struct stat about;
  if (::fstat(fd, &about) != 0) return system_error(errno, "cannot look at '" + relative + "'");
  if (!S_ISREG(about.st_mode)) return invalid("relative is '" + relative + "', expected a regular file");
  if (access.only_world_readable && (about.st_mode & S_IROTH) == 0)
    return context.refused(file_needs_grant(context.id(), root, relative));
  return {};
}

koord_status path(const koord_host* host, std::uint32_t root, char* buf, std::uint64_t cap, std::uint64_t* need) {
  return serve(host, [&](PluginContext& context) -> Result<koord_status> {
    TRY(buffer_argument(buf, cap, need));
    const std::string* directory = TRY(root_directory(context.shared().roots, root));
    return answer(*directory, buf, cap, need);
  });
}

koord_status read(const koord_host* host, std::uint32_t root, koord_str relative, char* buf, std::uint64_t cap,
                  std::uint64_t* need) {
  return serve(host, [&](PluginContext& context) -> Result<koord_status> {
    TRY(buffer_argument(buf, cap, need));
    const std::string* directory = TRY(root_directory(context.shared().roots, root));
    const std::string name(TRY(name_argument(relative, "relative")));
    const Result<FileAccess> access = check_file(context.rights(), context.id(), root, name);
    if (!access) return context.refused(access.error());
    const UniqueFd fd = TRY(open_below(*directory, name, access->follow_links ? Links::followed : Links::refused));
    TRY(check_kind(fd.get(), context, root, name, *access));
    const std::string content = TRY(read_all(fd.get(), *directory + "/" + name, kMaxReadBytes));
    return answer(content, buf, cap, need);
  });
}

}  // namespace

const koord_svc_fs fs_service = {sizeof fs_service, 0, path, read};

}  // namespace koord::service
