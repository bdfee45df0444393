// SPDX-License-Identifier: Apache-2.0
// The mount table, from the text of mountinfo. Pure: values in, values out.
// Format: Documentation/filesystems/proc.rst of the kernel, 3.5.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace koord::node_storage {

struct Mount {
  std::string number;  // "254:0", of the file system's device; "0:35" for one without
  std::string point;   // where it is mounted, as PID 1 sees it
  std::string source;  // "/dev/vda", "tmpfs", …, as it was given to mount(2)

  bool operator==(const Mount&) const = default;
};

// A line that is not of the form is left out.
std::vector<Mount> parse_mountinfo(std::string_view text);

// "\040" is a space: the kernel writes space, tab, newline and backslash of paths so. Any other backslash stays.
std::string unescape_octal(std::string_view text);

}  // namespace koord::node_storage
