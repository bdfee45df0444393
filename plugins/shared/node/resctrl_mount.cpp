// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/node/resctrl_mount.hpp"

#include "plugins/shared/node/value_file.hpp"

namespace koord::node {

Error why_no_resctrl(const NodeRoots& roots) {
  if (read_text(roots.proc + "/filesystems").value_or("").find("resctrl") == std::string::npos)
    return not_found("no resource control: neither the CPU nor the kernel offers a file system 'resctrl'");
  return not_found("resctrl is not mounted at '" + roots.resctrl + "' (mount -t resctrl resctrl " + roots.resctrl +
                   ")");
}

}  // namespace koord::node
