/* SPDX-License-Identifier: Apache-2.0 */
/* The module that the host sees. Go adds its classes; C has the functions of their tables. */
#ifndef KOORDETECTOR_GO_MODULE_H
#define KOORDETECTOR_GO_MODULE_H

#include "koordetector/plugin.h"

#define KOORD_GO_MAX_CLASSES 64

/* The kinds of plugins. */
#define KOORD_GO_ADVISOR 0u
#define KOORD_GO_EXTERNAL_ADVISOR 1u
#define KOORD_GO_QOS_STRATEGY 2u
#define KOORD_GO_RUNTIME_HOOK 3u

/* The optional functions of a class, as bits. */
#define KOORD_GO_RUN 1u
#define KOORD_GO_ON_EVENT 2u
#define KOORD_GO_STOP 4u
#define KOORD_GO_MAP_SAMPLE 8u
#define KOORD_GO_ON_APPLIED 16u
#define KOORD_GO_MAP_METRIC 32u

/* Adds a class and sets its kind and vtable. Returns 0 if there are too many classes. */
int koord_go_add(uint32_t kind, koord_class cls, uint32_t functions, uint32_t stages);

#endif
