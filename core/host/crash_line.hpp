// SPDX-License-Identifier: Apache-2.0
// crash_line: when a fatal signal ends the process, one line on stderr names the plugin whose call this thread was in. The
// signal then does what it does without a handler: the process ends by it, with a core dump where those are on.
#pragma once

namespace koord::host {

// For SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT, where nobody else (a sanitizer, a test runner) handles them.
void install_crash_line();

}  // namespace koord::host
