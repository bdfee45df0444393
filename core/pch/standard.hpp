// SPDX-License-Identifier: Apache-2.0
// What most sources take from the standard library, compiled once for a library instead of once for each of its sources.
// It saves time and nothing else: every file includes what it uses, and builds with -Db_pch=false.
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
