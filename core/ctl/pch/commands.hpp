// SPDX-License-Identifier: Apache-2.0
// What most commands include, compiled once; see core/pch/standard.hpp.

#include <boost/json.hpp>
#include <boost/program_options.hpp>

#include "core/pch/standard.hpp"
