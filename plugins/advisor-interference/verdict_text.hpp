// SPDX-License-Identifier: Apache-2.0
// Texts of verdicts, for events. Pure. [any thread]
#pragma once

#include <functional>
#include <string>

#include "core/analysis/verdict.hpp"

namespace koord::interference {

// Returns a name like "shop/cart-7d9/app"; empty if unknown by now.
using NameOf = std::function<std::string(analysis::Subject)>;

// Returns a text like "a request finds it held up for more than 1 ms during 4.2 % of the time (quiet 0.3 %, limit 1 %);
// waited for batch/etl-5/main 38.1 ms/s (62 %), outside pods 12.2 ms/s (20 %), …; 28 of 30 windows; exact".
std::string describe(const analysis::Verdict& verdict, const NameOf& name_of);

}  // namespace koord::interference
