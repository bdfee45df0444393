/* @NAME@: adds the metrics of an exporter on this node to the agent's metrics.
 * The agent scrapes the endpoint that url() returns; the contract is sdk/koordetector/plugin.h. */
#include <koordetector/plugin.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) ((koord_str){(literal), sizeof(literal) - 1})

typedef struct {
  const koord_host *host;
  const koord_svc_config *config;
} plugin;

static const char settings[] = "{\"type\": \"object\","
                               " \"properties\": {\"port\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 65535,"
                               " \"description\": \"where on 127.0.0.1 the exporter listens\"}},"
                               " \"additionalProperties\": false}";

static koord_status create(const koord_host *host, const koord_class *cls, void **out) {
  plugin *self = calloc(1, sizeof *self);
  (void)cls;
  if (!self) return KOORD_E_NOMEM;
  self->host = host;
  *out = self;
  return KOORD_OK;
}

static void destroy(void *instance) { free(instance); }

static koord_status init(void *instance) {
  plugin *self = instance;
  self->config = self->host->get_service(self->host, "koord.config/1");
  if (KOORD_HAS(self->config, i64)) return KOORD_OK;
  self->host->set_error(self->host, KOORD_E_UNSUPPORTED, TEXT("expected a host with koord.config/1"));
  return KOORD_E_UNSUPPORTED;
}

/* Called at start, and again when an operator has changed the settings. */
static koord_status url(void *instance, char *buf, uint64_t cap, uint64_t *need) {
  plugin *self = instance;
  int64_t port = 9100;
  char text[64];
  koord_status status = self->config->i64(self->host, TEXT("/port"), &port);
  if (status != KOORD_OK && status != KOORD_E_NOT_FOUND) return status; /* the host has reported the reason */

  *need = (uint64_t)snprintf(text, sizeof text, "http://127.0.0.1:%u/metrics", (unsigned)port);
  if (*need > cap) return KOORD_E_TOO_SMALL;
  memcpy(buf, text, *need);
  return KOORD_OK;
}

static const koord_external_advisor external_advisor = {
    .life = {.struct_size = sizeof external_advisor, .create = create, .init = init, .destroy = destroy},
    .url = url,
};

static const koord_class classes[] = {{
    .struct_size = sizeof classes[0],
    .kind = "koord.external-advisor/1",
    .name = "exporter",
    .config_schema = settings,
    .vtable = &external_advisor.life,
    .period_ns = 15000000000u,
}};

__attribute__((section(KOORD_MANIFEST_SECTION), used)) static const char manifest[] =
    "koord-manifest/1\n"
    "id=@ID@\n"
    "version=0.1.0\n"
    "abi=" KOORD_ABI_TEXT "\n"
    "kinds=koord.external-advisor/1\n"
    "gate=@GATE@\n"
    "requires=koord.config/1\n"
    "description=the metrics of an exporter on this node\n";

static const koord_module module = {
    .magic = KOORD_MAGIC,
    .struct_size = sizeof module,
    .abi_major = KOORD_ABI_MAJOR,
    .abi_minor = KOORD_ABI_MINOR,
    .n_classes = sizeof classes / sizeof classes[0],
    .class_stride = sizeof classes[0],
    .manifest = manifest,
    .classes = classes,
};

const koord_module *koord_entry_v1(void) { return &module; }
