// SPDX-License-Identifier: Apache-2.0
// A plugin with one flaw, which a macro FLAW_* selects.
#include <cstdlib>
#include <stdexcept>

#include "koordetector/plugin.h"

#ifndef ABI
#define ABI "1.0"
#endif
#ifndef REQUIRES
#define REQUIRES ""
#endif
#ifndef RUNTIME
#define RUNTIME "native"
#endif

#define MANIFEST                                                                                                       \
  "koord-manifest/1\nid=" FLAWED_ID "\nversion=1\nabi=" ABI "\nkinds=koord.advisor/1\ngate=Flawed\nrequires=" REQUIRES \
  "\nruntime=" RUNTIME "\n"

namespace {

koord_status create(const koord_host*, const koord_class*, void**) { return KOORD_OK; }
koord_status init(void*) { return KOORD_OK; }
void destroy(void*) {}

#ifdef FLAW_UNDEFINED
extern "C" koord_status koord_no_such_function(void);
koord_status collect(void*, uint64_t, uint64_t) { return koord_no_such_function(); }
#else
koord_status collect(void*, uint64_t, uint64_t) { return KOORD_OK; }
#endif

#ifdef FLAW_THROWS
const int thrown = [] {
  throw std::runtime_error("the constructor's text");
  return 0;
}();
#endif

#ifdef FLAW_ABORTS
const int aborted = [] { return std::abort(), 0; }();
#endif

#ifdef FLAW_SHORT_TABLE
constexpr uint32_t kTableSize = sizeof(koord_lifecycle);  // the size of a table in which collect() does not exist yet
#else
constexpr uint32_t kTableSize = sizeof(koord_advisor);
#endif

struct Grown {
  koord_advisor advisor;
  void (*of_a_later_minor)();
};
#ifdef FLAW_GROWN
const Grown table{{{sizeof(Grown), 0, create, init, nullptr, nullptr, nullptr, destroy}, collect}, nullptr};
const koord_lifecycle& life = table.advisor.life;
#elif defined(FLAW_NO_INIT)
const koord_advisor table{{kTableSize, 0, create, nullptr, nullptr, nullptr, nullptr, destroy}, collect};
const koord_lifecycle& life = table.life;
#else
const koord_advisor table{{kTableSize, 0, create, init, nullptr, nullptr, nullptr, destroy}, collect};
const koord_lifecycle& life = table.life;
#endif

#ifndef FLAW_NO_MANIFEST
__attribute__((section(KOORD_MANIFEST_SECTION), used))
#endif
const char manifest[] = MANIFEST;

#ifdef FLAW_OTHER_MANIFEST
const char reported[] = MANIFEST "license=another\n";
#else
const char* const reported = manifest;
#endif
#ifdef FLAW_OTHER_MAJOR
constexpr uint16_t kMajor = 7;
#else
constexpr uint16_t kMajor = KOORD_ABI_MAJOR;
#endif

}  // namespace

#ifndef FLAW_NO_ENTRY
extern "C" const koord_module* koord_entry_v1() {
  static const koord_class classes[] = {
      {sizeof(koord_class), 0, "koord.advisor/1", "flawed", nullptr, &life, 1'000'000'000}};
  static const koord_module module{KOORD_MAGIC, sizeof(koord_module), kMajor, 0, 1, sizeof(koord_class), 0, reported,
                                   classes};
  return &module;
}
#endif
