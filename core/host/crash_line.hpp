// SPDX-License-Identifier: Apache-2.0
// crash_line: when a fatal signal ends the process, one line on stderr names the plugin called on this thread. The
// signal then has its default effect: the process ends by it, with a core dump if enabled.
#pragma once

namespace koord::host {

// For SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT, unless other handlers exist (a sanitizer's, a test runner's).
void install_crash_line();

}  // namespace koord::host
