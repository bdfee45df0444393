// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/log/log.hpp"

namespace koord::criproxy {

inline constexpr log::Category proxy_log{"criproxy"};

}  // namespace koord::criproxy
