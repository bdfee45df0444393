// SPDX-License-Identifier: Apache-2.0
// Headers that most commands include, compiled once; see core/pch/standard.hpp.

#include <boost/json.hpp>
#include <boost/program_options.hpp>

#include "core/pch/standard.hpp"
