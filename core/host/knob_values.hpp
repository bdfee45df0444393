// SPDX-License-Identifier: Apache-2.0
// The present value of a knob, by its logical name (that of cgroup v2), as text in the form in which it would
// be proposed. On v1 the values that have another file or form there are converted. [any thread]
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/cgroup/reader.hpp"

namespace koord::host {

// An error that names the nearest known knob.
Result<void> check_knob(std::string_view knob);

// A cgroup that is gone: std::errc::no_such_device. A knob that this kernel lacks: std::errc::not_supported.
Result<std::string> read_knob(cgroup::Reader& reader, std::string_view knob, std::string_view cgroup_dir);

}  // namespace koord::host
