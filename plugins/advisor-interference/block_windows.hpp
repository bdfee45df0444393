// SPDX-License-Identifier: Apache-2.0
// Windows of containers for the analysis of block I/O, from the values of their cgroups. Pure. [any thread]
#pragma once

#include <functional>
#include <vector>

#include "core/analysis/io_analysis.hpp"
#include "plugins/advisor-interference/block_blame.hpp"
#include "plugins/advisor-interference/container_cgroups.hpp"
#include "plugins/advisor-interference/io_limits.hpp"

namespace koord::interference {

// Returns the limits of a container. Called only for containers with requests in the window.
using LimitsOf = std::function<const IoLimits&(const KnownContainer&)>;

// Returns the subjects in the order of `containers`. `seconds`: length of the window, > 0.
std::vector<analysis::IoSubject> io_subjects(const std::vector<KnownContainer>& containers, const BlockReading& reading,
                                             const ContainerOfCgroup& container_of, double seconds,
                                             const LimitsOf& limits_of);

}  // namespace koord::interference
