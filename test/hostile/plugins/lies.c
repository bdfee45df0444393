/* SPDX-License-Identifier: Apache-2.0 */
/* Lies of the module and its schemas, and constructors, which run before any function of the plugin is called. */
#define _GNU_SOURCE
#include "lies.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hostile.h"

static int is(const char *attack, const char *name) { return strcmp(attack, name) == 0; }

/* ---- schemas ---- */

static char *repeated(const char *head, const char *part, size_t count, const char *tail) {
  const size_t size = strlen(head) + strlen(part) * count + strlen(tail) + 1;
  char *text = malloc(size), *at = text;
  if (!text) return NULL;
  at = stpcpy(at, head);
  for (size_t i = 0; i < count; ++i) at = stpcpy(at, part);
  stpcpy(at, tail);
  return text;
}

static const char *schema_of(const char *attack) {
  if (is(attack, "schema_self")) return "{\"$ref\":\"#\"}";
  if (is(attack, "schema_cycle"))
    return "{\"definitions\":{\"a\":{\"$ref\":\"#/definitions/b\"},\"b\":{\"allOf\":[{\"$ref\":\"#/definitions/a\"}]}},"
           "\"properties\":{\"x\":{\"$ref\":\"#/definitions/a\"}}}";
  if (is(attack, "schema_deep")) return repeated("", "{\"not\":", 100000, "{");
  if (is(attack, "schema_pattern"))
    return "{\"properties\":{\"text\":{\"type\":\"string\",\"pattern\":\"^(a|a)*(a|a)*(a+)+$\"}}}";
  if (is(attack, "schema_remote"))
    return "{\"properties\":{\"x\":{\"$ref\":\"file:///etc/shadow\"},\"y\":{\"$ref\":\"http://127.0.0.1:9/\"}}}";
  if (is(attack, "schema_huge")) return repeated("{\"enum\":[0", ",12345678", 1 << 20, "]}");
  if (is(attack, "schema_garbage")) return "{\"type\":";
  return NULL;
}

/* ---- modules ---- */

const koord_module *lie(const char *attack, koord_module *module, koord_class *cls) {
  static koord_lifecycle empty = {.struct_size = sizeof(koord_advisor)};
  cls->config_schema = schema_of(attack);
  if (is(attack, "module_null")) return NULL;
  if (is(attack, "module_magic")) module->magic = 0;
  if (is(attack, "module_classes")) module->n_classes = 1000000000u;
  if (is(attack, "module_stride")) module->class_stride = 1;
  if (is(attack, "module_text")) module->manifest = "koord-manifest/1\nid=advisor-node-resource\n";
  if (is(attack, "module_kind")) cls->kind = "koord.qos-strategy/1";
  if (is(attack, "module_vtable")) cls->vtable = &empty;
  if (is(attack, "module_wild")) module->classes = (const koord_class *)(uintptr_t)4096;
  return module;
}

/* ---- constructors ---- */

static int kill_result; /* 0: nothing to say; -1: the signal was sent; else the error */

__attribute__((constructor)) static void constructed(void) {
  const char *attack = attack_name();
  if (strncmp(attack, "constructor", 11) != 0) return;
  if (is(attack, "constructor_daemon")) leave_daemon();
  if (is(attack, "constructor_exit")) _exit(7);
  if (is(attack, "constructor_hang"))
    for (;;) pause();
  if (is(attack, "constructor_kill")) kill_result = kill(getppid(), SIGURG) == 0 ? -1 : errno;
}

void attack_constructor_kill(raid *r) {
  if (r->tick == 1 && kill_result != 0) say(r, "constructor", kill_result == -1 ? 0 : kill_result);
}
