/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A complete third-party plugin in C: an advisor that counts the open files of the node, from /proc/sys/fs/file-nr
 * through the host's koord.fs/1, and the processes of each pod, from koord.state/1. Copy it, change `id`, `gate` and
 * what collect() reads.
 */
#include <koordetector/plugin.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) ((koord_str){(literal), sizeof(literal) - 1})

typedef struct {
  const koord_host *host;
  const koord_svc_metrics *metrics;
  const koord_svc_fs *fs;
  const koord_svc_state *state;
  uint64_t open_files;    /* id of the series */
  uint32_t pod_processes; /* id of the metric, which has a series for each pod */
} open_files_advisor;

static koord_status fail(const open_files_advisor *self, koord_status status, koord_str why) {
  self->host->set_error(self->host, status, why);
  return status;
}

static koord_status create(const koord_host *host, const koord_class *cls, void **out) {
  open_files_advisor *self = calloc(1, sizeof *self);
  (void)cls;
  if (!self) return KOORD_E_NOMEM;
  self->host = host;
  *out = self;
  return KOORD_OK;
}

/* Called once: gets the services, defines the metrics and creates the series. */
static koord_status init(void *instance) {
  open_files_advisor *self = instance;
  const koord_host *host = self->host;
  const koord_metric_desc desc = {
      .struct_size = sizeof desc,
      .type = KOORD_GAUGE,
      .flags = KOORD_METRIC_EXPORT,
      .name = TEXT("example_open_files"),
      .unit = TEXT("files"),
      .help = TEXT("Open file descriptions on the node."),
      .resolution = 1,
  };
  const koord_metric_desc pod_desc = {
      .struct_size = sizeof pod_desc,
      .type = KOORD_GAUGE,
      .flags = KOORD_METRIC_EXPORT,
      .name = TEXT("example_pod_processes"),
      .unit = TEXT("processes"),
      .help = TEXT("Processes of the pod."),
      .resolution = 1,
  };
  uint32_t metric;
  koord_status status;

  self->metrics = host->get_service(host, "koord.metrics/1");
  self->fs = host->get_service(host, "koord.fs/1");
  self->state = host->get_service(host, "koord.state/1");
  if (!KOORD_HAS(self->metrics, append) || !KOORD_HAS(self->fs, read) || !KOORD_HAS(self->state, pods))
    return fail(self, KOORD_E_UNSUPPORTED, TEXT("this host offers no metrics, no files or no state"));

  status = self->metrics->define(host, &desc, &metric);
  if (status != KOORD_OK) return status; /* the host has reported the reason */
  status = self->metrics->define(host, &pod_desc, &self->pod_processes);
  if (status != KOORD_OK) return status;
  return self->metrics->series(host, metric, KOORD_NO_SUBJECT, NULL, 0, 0, &self->open_files);
}

/* Appends the value of one pod. The host adds the pod's labels to a series with its handle, and ends the series with
 * the pod. */
static koord_status append_pod(open_files_advisor *self, uint64_t now_ns, const koord_pod *pod) {
  koord_point point = {0, 0};
  uint32_t count = 0;
  koord_status status = self->state->processes(self->host, pod->handle, NULL, 0, &count);
  if (status == KOORD_E_GONE || status == KOORD_E_AGAIN) return KOORD_OK; /* it has ended, or has no cgroup yet */
  if (status != KOORD_OK && status != KOORD_E_TOO_SMALL) return status;
  status = self->metrics->series(self->host, self->pod_processes, pod->handle, NULL, 0, 0, &point.series);
  if (status == KOORD_E_GONE) return KOORD_OK;
  if (status != KOORD_OK) return status;
  point.value = count;
  return self->metrics->append(self->host, now_ns, &point, 1, sizeof point);
}

static koord_status append_pods(open_files_advisor *self, uint64_t now_ns) {
  const koord_snapshot *snapshot;
  const char *at;
  uint32_t n = 0, stride = 0, i;
  koord_status status;
  if (!KOORD_HAS(self->state, processes)) return KOORD_OK; /* the host has version 1.0 */
  status = self->state->acquire(self->host, &snapshot);
  if (status == KOORD_E_AGAIN) return KOORD_OK; /* no pods are known yet */
  if (status != KOORD_OK) return status;
  at = (const char *)self->state->pods(snapshot, &n, &stride);
  for (i = 0; i < n && status == KOORD_OK; ++i) /* uses the stride, because records of a newer host are longer */
    status = append_pod(self, now_ns, (const koord_pod *)(const void *)(at + (size_t)i * stride));
  self->state->release(self->host, snapshot);
  return status;
}

/* Called every period. Reads "allocated unused maximum" and appends the first number, then appends the pods. */
static koord_status collect(void *instance, uint64_t now_ns, uint64_t deadline_ns) {
  open_files_advisor *self = instance;
  koord_point point = {self->open_files, 0};
  char text[64], *end;
  uint64_t length;
  koord_status status;
  (void)deadline_ns;

  status = self->fs->read(self->host, KOORD_ROOT_PROC, TEXT("sys/fs/file-nr"), text, sizeof text - 1, &length);
  if (status != KOORD_OK) return status;
  text[length] = '\0';
  point.value = (double)strtoull(text, &end, 10);
  if (end == text) return fail(self, KOORD_E_IO, TEXT("/proc/sys/fs/file-nr does not begin with a number"));
  status = self->metrics->append(self->host, now_ns, &point, 1, sizeof point);
  return status == KOORD_OK ? append_pods(self, now_ns) : status;
}

static void destroy(void *instance) { free(instance); }

static const koord_advisor advisor = {
    .life = {.struct_size = sizeof advisor, .create = create, .init = init, .destroy = destroy},
    .collect = collect,
};

static const koord_class classes[] = {{
    .struct_size = sizeof classes[0],
    .kind = "koord.advisor/1",
    .name = "open-files",
    .vtable = &advisor.life,
    .period_ns = 1000000000u,
}};

__attribute__((section(KOORD_MANIFEST_SECTION), used)) static const char manifest[] =
    "koord-manifest/1\n"
    "id=com.example.open-files\n"
    "version=1.0.0\n"
    "abi=" KOORD_ABI_TEXT "\n"
    "kinds=koord.advisor/1\n"
    "gate=OpenFilesExample\n"
    "requires=koord.metrics/1,koord.fs/1,koord.state/1\n"
    "license=Apache-2.0\n"
    "description=counts the open files of the node and the processes of its pods\n";

static const koord_module module = {
    .magic = KOORD_MAGIC,
    .struct_size = sizeof module,
    .abi_major = KOORD_ABI_MAJOR,
    .abi_minor = KOORD_ABI_MINOR,
    .n_classes = 1,
    .class_stride = sizeof classes[0],
    .manifest = manifest,
    .classes = classes,
};

const koord_module *koord_entry_v1(void) { return &module; }
