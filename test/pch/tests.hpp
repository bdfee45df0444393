// SPDX-License-Identifier: Apache-2.0
// Headers that most tests include, compiled once for each test executable; see core/pch/standard.hpp.

#include <doctest/doctest.h>

#include "core/pch/standard.hpp"
