/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KOORD_TEST_HOSTILE_LIES_H
#define KOORD_TEST_HOSTILE_LIES_H

#include <koordetector/plugin.h>

const char *attack_name(void);
/* Returns the module with the changes of this attack. */
const koord_module *lie(const char *attack, koord_module *module, koord_class *cls);

#endif
