// SPDX-License-Identifier: Apache-2.0
// Windows of containers for the analysis of block I/O, from the figures of their cgroups. Pure. [any thread]
#pragma once

#include <functional>
#include <vector>

#include "core/analysis/io_analysis.hpp"
#include "plugins/advisor-interference/block_blame.hpp"
#include "plugins/advisor-interference/container_cgroups.hpp"
#include "plugins/advisor-interference/io_limits.hpp"

namespace koord::interference {

// The limits of a container; called for those with requests in the window only.
using LimitsOf = std::function<const IoLimits&(const KnownContainer&)>;

// `seconds`: the length of the window, > 0. In the order of `containers`.
std::vector<analysis::IoSubject> io_subjects(const std::vector<KnownContainer>& containers, const BlockReading& reading,
                                             const ContainerOfCgroup& container_of, double seconds,
                                             const LimitsOf& limits_of);

}  // namespace koord::interference
