// SPDX-License-Identifier: Apache-2.0
// The name that `top -H` and a core file show for a thread; the kernel keeps 15 characters.
#pragma once

#include <pthread.h>

namespace koord::event {

inline void name_this_thread(const char* name) { ::pthread_setname_np(::pthread_self(), name); }

}  // namespace koord::event
