// SPDX-License-Identifier: Apache-2.0
// Headers that a unity build compiles once for all libraries (core/pch/meson.build). They only save time: every file
// includes everything that it uses.

#include <boost/json.hpp>

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include "core/pch/standard.hpp"
