// SPDX-License-Identifier: Apache-2.0
// Standard headers that most sources use, compiled once for a library instead of once for each of its
// sources. They only save time: every file includes everything that it uses, and builds with -Db_pch=false.
// No #pragma once: a header that is compiled by itself may not have it.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
