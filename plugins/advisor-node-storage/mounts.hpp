// SPDX-License-Identifier: Apache-2.0
// Parses the mount table, the text of mountinfo. Pure: values in, values out. Format:
// Documentation/filesystems/proc.rst of the kernel, 3.5.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace koord::node_storage {

struct Mount {
  std::string number;  // number of the file system's device: "254:0"; without a device "0:35"
  std::string point;   // the mount point in the view of PID 1
  std::string source;  // the source passed to mount(2): "/dev/vda", "tmpfs", …

  bool operator==(const Mount&) const = default;
};

// Lines in a different format are left out.
std::vector<Mount> parse_mountinfo(std::string_view text);

// Decodes octal escapes. The kernel writes a space in a path as "\040", and likewise tab, newline and backslash. Other
// backslashes are kept.
std::string unescape_octal(std::string_view text);

}  // namespace koord::node_storage
