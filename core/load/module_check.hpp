// SPDX-License-Identifier: Apache-2.0
// Checks the tables that a mapped plugin returns, before any of their functions is called: magic, sizes, strides,
// kinds, and required functions. Members of a newer plugin are ignored, those missing in an older one count as absent.
// [any thread]
#pragma once

#include <vector>

#include "core/base/result.hpp"
#include "core/load/class_info.hpp"
#include "core/load/manifest.hpp"
#include "koordetector/plugin.h"

namespace koord::load {

// The classes as plain values. `manifest` is the one read from the file; the module's must be the same text.
Result<std::vector<ClassInfo>> check_module(const koord_module* module, const Manifest& manifest);

// The class at an index of a module that was checked.
const koord_class* class_of(const koord_module* module, std::size_t index);

}  // namespace koord::load
