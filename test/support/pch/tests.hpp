// SPDX-License-Identifier: Apache-2.0
// Headers that most tests include, compiled once for all tests; see meson.build. They only save time: every file
// includes everything that it uses, and builds with -Db_pch=false. A test may have sources in C.
#ifdef __cplusplus

#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

#include "core/pch/standard.hpp"

#endif
