/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One plugin with all attacks. Its manifest names the attack: "id=com.hostile.<name>", with hyphens for underscores.
 * The harness writes one file for each attack, with a different manifest and the same code.
 */
#define _GNU_SOURCE
#include "hostile.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lies.h"

typedef void attack_function(raid *r);

/* Some attacks have no function, because the module, its file or its constructor is the attack. */
#define ATTACK(name, ...) extern __typeof__(attack_##name) attack_##name __attribute__((weak));
#define OPEN ATTACK
#include "../attacks.inc"
#undef ATTACK
#undef OPEN

static const struct {
  const char *name;
  attack_function *run;
} attacks[] = {
#define ATTACK(name, ...) {#name, attack_##name},
#define OPEN ATTACK
#include "../attacks.inc"
#undef ATTACK
#undef OPEN
};

/* The harness replaces this text. */
__attribute__((section(KOORD_MANIFEST_SECTION), used)) static const char manifest[1024] =
    "koord-manifest/1\nid=com.hostile.template\nversion=1.0.0\nabi=1.0\nkinds=koord.advisor/1\ngate=HostileTemplate\n";

/* Prevents the compiler from assuming the manifest's original text, which the harness changes. */
static const char *manifest_text(void) {
  const char *text = manifest;
  __asm__("" : "+r"(text));
  return text;
}

const char *attack_name(void) {
  static char name[64];
  const char *at = strstr(manifest_text(), "\nlicense=");
  size_t length = 0;
  if (at == NULL) return "";
  for (at += strlen("\nlicense="); *at != '\n' && *at != '\0' && length + 1 < sizeof name; ++at) name[length++] = *at;
  name[length] = '\0';
  return name;
}

static attack_function *find_attack(const char *name) {
  if (strcmp(name, "crowd") == 0) return leave_crowd;
  for (size_t i = 0; i < sizeof attacks / sizeof attacks[0]; ++i)
    if (strcmp(attacks[i].name, name) == 0) return attacks[i].run;
  return NULL;
}

/* ---- functions that attacks share ---- */

koord_str text_of(const char *text) { return (koord_str){text, strlen(text)}; }

static void add(raid *r, const char *step, const char *result) {
  const int n = snprintf(r->line + r->length, sizeof r->line - r->length, " %s=%s", step, result);
  if (n > 0 && r->length + (size_t)n < sizeof r->line) r->length += (size_t)n;
}

void say(raid *r, const char *step, int error) {
  const char *name = error == 0 ? "DONE" : strerrorname_np(error);
  add(r, step, name ? name : "?");
}

void say_status(raid *r, const char *step, koord_status status) {
  static const char *const names[] = {"OK",    "INVALID", "UNSUPPORTED", "AGAIN",     "DEADLINE",  "TOO_NEW", "DENIED",
                                      "NOMEM", "PANIC",   "GONE",        "NOT_FOUND", "TOO_SMALL", "IO"};
  add(r, step, status <= 0 && status > -13 ? names[-status] : "?");
}

void say_count(raid *r, const char *step, long count) {
  char text[24];
  snprintf(text, sizeof text, "%ld", count);
  add(r, step, text);
}

const char *setting(const raid *r, const char *pointer) {
  static char value[512];
  const koord_svc_config *config = r->host->get_service(r->host, "koord.config/1");
  uint64_t need = 0;
  value[0] = '\0';
  if (!KOORD_HAS(config, string)) return value;
  if (config->string(r->host, text_of(pointer), value, sizeof value - 1, &need) != KOORD_OK) need = 0;
  value[need < sizeof value ? need : 0] = '\0';
  return value;
}

const char *proc(pid_t pid, const char *name) {
  static char path[128];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
  return path;
}

int in_child(int (*step)(void *), void *argument) {
  int status = 0;
  const pid_t pid = fork();
  if (pid == 0) _exit(step(argument));
  if (pid < 0) return errno;
  if (waitpid(pid, &status, 0) != pid) return errno;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM; /* the kernel ended it */
}

void write_same(raid *r, const char *step, const char *path) {
  char content[4096];
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    say(r, step, errno);
    return;
  }
  const ssize_t n = read(fd, content, sizeof content);
  const ssize_t written = n > 0 ? pwrite(fd, content, (size_t)n, 0) : 0;
  say(r, step, n < 0 || written < 0 ? errno : 0);
  close(fd);
}

void open_only(raid *r, const char *step, const char *path, int flags) {
  const int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  say(r, step, fd < 0 ? errno : 0);
  if (fd >= 0) close(fd);
}

void make_file(raid *r, const char *step, const char *folder) {
  char path[600];
  snprintf(path, sizeof path, "%s/koord-test-hostile.so", folder);
  const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  say(r, step, fd < 0 ? errno : 0);
  if (fd < 0) return;
  close(fd);
  unlink(path);
}

pid_t leave_daemon(void) {
  int report[2];
  pid_t pid = -1;
  if (pipe(report) != 0) return -1;
  const pid_t first = fork();
  if (first == 0) {
    const pid_t second = fork();
    if (second != 0) {
      (void)!write(report[1], &second, sizeof second);
      _exit(0);
    }
    setsid();
    setpgid(0, 0);
    prctl(PR_SET_NAME, "koord-hostile");
    for (int fd = 0; fd < 256; ++fd) close(fd);
    for (;;) pause();
  }
  if (first > 0) {
    waitpid(first, NULL, 0);
    if (read(report[0], &pid, sizeof pid) != sizeof pid) pid = -1;
  }
  close(report[0]);
  close(report[1]);
  return pid;
}

/* ---- the plugin ---- */

static koord_status create(const koord_host *host, const koord_class *cls, void **self) {
  raid *r = calloc(1, sizeof *r);
  (void)cls;
  if (!r) return KOORD_E_NOMEM;
  r->host = host;
  r->name = attack_name();
  *self = r;
  return KOORD_OK;
}

static koord_status init(void *self) {
  raid *r = self;
  const koord_host *host = r->host;
  r->agent = getppid();
  r->metrics = host->get_service(host, "koord.metrics/1");
  r->fs = host->get_service(host, "koord.fs/1");
  r->state = host->get_service(host, "koord.state/1");
  r->kv = host->get_service(host, "koord.kv/1");
  r->cgroup = host->get_service(host, "koord.cgroup/1");
  r->audit = host->get_service(host, "koord.audit/1");
  r->capabilities = host->get_service(host, "koord.capabilities/1");
  r->knobs = host->get_service(host, "koord.knobs/1");
  r->evict = host->get_service(host, "koord.evict/1");
  r->verdict = host->get_service(host, "koord.verdict/1");
  return KOORD_OK;
}

/* Reads the process number that the bystander stores (bystander.c). */
static void find_sibling(raid *r) {
  uint64_t need = 0;
  int64_t pid = 0;
  if (r->sibling == 0 && r->kv->get(r->host, STR("com.bystander/pid"), &pid, sizeof pid, &need) == KOORD_OK)
    r->sibling = (pid_t)pid;
}

static void attack_once(raid *r, attack_function *run) {
  r->length = 0;
  r->line[0] = '\0';
  ++r->tick;
  if (run) run(r);
  if (r->length > 0) {
    char line[sizeof r->line + 100];
    const int n = snprintf(line, sizeof line, "attack %s:%s", r->name, r->line);
    r->host->log(r->host, KOORD_LOG_WARN, (koord_str){line, (uint64_t)n});
  }
}

static koord_status collect(void *self, uint64_t now_ns, uint64_t deadline_ns) {
  raid *r = self;
  attack_function *run = find_attack(r->name);
  (void)deadline_ns;
  find_sibling(r);
  if (r->sibling == 0) return KOORD_OK; /* not yet */
  if (run == NULL && strncmp(r->name, "constructor", 11) != 0) return KOORD_E_UNSUPPORTED;
  r->now_ns = now_ns;
  attack_once(r, run);
  return KOORD_OK;
}

static koord_status handle(void *self, const koord_hook_request *request, const koord_hook_response *response) {
  raid *r = self;
  r->request = request;
  r->response = response;
  attack_once(r, find_attack(r->name));
  return KOORD_OK;
}

static koord_status stop(void *self) {
  const raid *r = self;
  if (strcmp(r->name, "ignore_stop") == 0)
    for (;;) pause();
  return KOORD_OK;
}

static void destroy(void *self) { free(self); }

static koord_advisor advisor = {
    .life = {.struct_size = sizeof advisor, .create = create, .init = init, .stop = stop, .destroy = destroy},
    .collect = collect,
};

static koord_qos_strategy strategy = {
    .life = {.struct_size = sizeof strategy, .create = create, .init = init, .stop = stop, .destroy = destroy},
    .evaluate = collect,
};

/* The attack "foreign_endpoint" names the agent's socket, which root serves, and reports after two seconds whether it
 * got a sample. "scrapes" names an endpoint with large answers, for which it has a grant. "stalled_scrapes" and
 * "dense_scrapes" name it eight times. */
static _Atomic int was_given;

static koord_status url(void *self, char *buf, uint64_t cap, uint64_t *need) {
  const raid *r = self;
  char text[600];
  if (strcmp(r->name, "scrapes") == 0)
    *need = (uint64_t)snprintf(text, sizeof text, "%s/big", setting(r, "/endpoint"));
  else
    *need = (uint64_t)snprintf(text, sizeof text, "unix:%s:/metrics", setting(r, "/socket"));
  if (*need > cap) return KOORD_E_TOO_SMALL;
  memcpy(buf, text, *need);
  return KOORD_OK;
}

static koord_str str_of(const char *text) { return (koord_str){text, strlen(text)}; }

static koord_status targets(void *self, const koord_scrape_targets *all) {
  const raid *r = self;
  char address[600];
  snprintf(address, sizeof address, "%s/%s", setting(r, "/endpoint"),
           strcmp(r->name, "dense_scrapes") == 0 ? "dense" : "stalled");
  for (int i = 0; i < 8; ++i) {
    char name[20];
    snprintf(name, sizeof name, "target-%d", i);
    const koord_scrape_target target = {.struct_size = sizeof target,
                                        .name = str_of(name),
                                        .url = str_of(address),
                                        .timeout_ns = 60000000000u,
                                        .max_body_bytes = 64u << 20,
                                        .max_samples = 1000000};
    all->add(all, &target);
  }
  return KOORD_OK;
}

static koord_status map_sample(void *self, koord_str name, const koord_label *labels, uint32_t n, uint32_t stride,
                               double *value) {
  (void)self, (void)name, (void)labels, (void)n, (void)stride, (void)value;
  was_given = 1;
  return KOORD_OK;
}

void attack_foreign_endpoint(raid *r) { say(r, "scrape", was_given ? 0 : EACCES); }

static koord_status run_for_two_seconds(void *self, const koord_stop *stop) {
  raid *r = self;
  if (strcmp(r->name, "foreign_endpoint") != 0) stop->wait(stop, UINT64_MAX);
  if (stop->wait(stop, 2000000000u)) return KOORD_OK;
  r->length = 0;
  attack_foreign_endpoint(r);
  char line[200];
  const int n = snprintf(line, sizeof line, "attack %s:%s", r->name, r->line);
  r->host->log(r->host, KOORD_LOG_WARN, (koord_str){line, (uint64_t)n});
  stop->wait(stop, UINT64_MAX);
  return KOORD_OK;
}

static koord_external_advisor external = {
    .life = {.struct_size = sizeof external,
             .create = create,
             .init = init,
             .run = run_for_two_seconds,
             .stop = stop,
             .destroy = destroy},
    .url = url,
    .map_sample = map_sample,
};

static koord_external_advisor external_of_many = {
    .life = {.struct_size = sizeof external_of_many,
             .create = create,
             .init = init,
             .run = run_for_two_seconds,
             .stop = stop,
             .destroy = destroy},
    .url = url,
    .map_sample = map_sample,
    .targets = targets,
};

static koord_runtime_hook hook = {
    .life = {.struct_size = sizeof hook, .create = create, .init = init, .stop = stop, .destroy = destroy},
    .stages = KOORD_STAGE_PRE_RUN_POD_SANDBOX | KOORD_STAGE_PRE_CREATE_CONTAINER,
    .handle = handle,
};

static koord_class class = {.struct_size = sizeof class, .name = "hostile", .period_ns = 100000000u};

static koord_module module = {
    .magic = KOORD_MAGIC,
    .struct_size = sizeof module,
    .abi_major = KOORD_ABI_MAJOR,
    .abi_minor = KOORD_ABI_MINOR,
    .n_classes = 1,
    .class_stride = sizeof class,
    .classes = &class,
};

const koord_module *koord_entry_v1(void) {
  const int is_strategy = strstr(manifest_text(), "kinds=koord.qos-strategy/1") != NULL;
  const int is_external = strstr(manifest_text(), "kinds=koord.external-advisor/1") != NULL;
  const int is_hook = strstr(manifest_text(), "kinds=koord.runtime-hook/1") != NULL;
  class.kind = is_strategy   ? "koord.qos-strategy/1"
               : is_external ? "koord.external-advisor/1"
               : is_hook     ? "koord.runtime-hook/1"
                             : "koord.advisor/1";
  const int has_targets = is_external && strstr(attack_name(), "_scrapes") != NULL;
  class.vtable = is_strategy   ? &strategy.life
                 : has_targets ? &external_of_many.life
                 : is_external ? &external.life
                 : is_hook     ? &hook.life
                               : &advisor.life;
  module.manifest = manifest_text();
  return lie(attack_name(), &module, &class);
}
