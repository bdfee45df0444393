// SPDX-License-Identifier: Apache-2.0
// The schema of koord-manager's configuration. Inside core/config only.
#pragma once

#include "core/config/manager_config.hpp"
#include "core/config/schema.hpp"

namespace koord::config {

const Schema<ManagerConfig>& manager_schema();

extern template void apply_defaults(const Schema<ManagerConfig>&, ManagerConfig&, Report&);
extern template void apply_document(const Schema<ManagerConfig>&, const Node&, const std::string&, ManagerConfig&,
                                    Report&);

}  // namespace koord::config
