/* SPDX-License-Identifier: Apache-2.0 */
/* koord.verdict/1: claims that must be refused, and endless work for the agent. */
#include <math.h>
#include <stdio.h>

#include "hostile.h"

#define SUSPECTS 5000u

/* Returns a container outside of pods, which the harness creates; KOORD_NO_SUBJECT while it is unknown. */
static uint64_t some_victim(raid *r) {
  const koord_snapshot *snapshot;
  uint64_t victim = KOORD_NO_SUBJECT;
  uint32_t n = 0, stride = 0;
  if (r->state->acquire(r->host, &snapshot) != KOORD_OK) return victim;
  const koord_container *first = r->state->containers(snapshot, &n, &stride);
  if (n > 0) victim = first->handle;
  r->state->release(r->host, snapshot);
  return victim;
}

/* Returns a valid verdict. */
static koord_verdict good(raid *r, uint64_t victim) {
  koord_verdict verdict = {.struct_size = sizeof verdict,
                           .kind = KOORD_VERDICT_INTERFERED,
                           .resource = KOORD_RESOURCE_CPU,
                           .method = KOORD_METHOD_EXACT,
                           .victim = victim,
                           .from_ns = r->now_ns,
                           .to_ns = r->now_ns,
                           .value = 0.5,
                           .baseline = NAN,
                           .threshold = NAN,
                           .own = NAN,
                           .throttled = NAN,
                           .unexplained = NAN,
                           .suspect_stride = sizeof(koord_suspect),
                           .other_stride = sizeof(koord_label)};
  verdict.statistic = STR("held_up");
  verdict.statistic_unit = STR("ratio");
  verdict.amount_unit = STR("seconds/second");
  return verdict;
}

static koord_suspect accused(uint32_t kind, uint64_t subject, double share) {
  koord_suspect suspect = {.struct_size = sizeof suspect,
                           .kind = kind,
                           .subject = subject,
                           .value = 1,
                           .share = share,
                           .excess = NAN,
                           .usage = NAN,
                           .request = NAN};
  if (kind == KOORD_SUSPECT_OTHER) suspect.name = STR("a neighbour");
  return suspect;
}

static koord_suspect *many(uint32_t n, koord_str name) {
  static koord_suspect suspects[SUSPECTS];
  for (uint32_t i = 0; i < n; ++i) {
    suspects[i] = accused(KOORD_SUSPECT_OTHER, KOORD_NO_SUBJECT, 0.01);
    suspects[i].name = name;
  }
  return suspects;
}

static void claim(raid *r, const char *step, const koord_verdict *verdict) {
  const koord_status status = r->verdict->post(r->host, verdict, 1, sizeof *verdict);
  if (status == KOORD_OK)
    say(r, step, 0);
  else
    say_status(r, step, status);
}

static koord_str long_text(size_t size) {
  static char text[2 << 20];
  memset(text, 'x', sizeof text);
  return (koord_str){text, size};
}

/* Posts a copy of a valid verdict with one member changed. */
#define CLAIM(step, change)                \
  do {                                     \
    koord_verdict wrong = good(r, victim); \
    change;                                \
    claim(r, step, &wrong);                \
  } while (0)

static void claim_about_others(raid *r, uint64_t victim) {
  CLAIM("no-such-pod", wrong.victim = UINT64_MAX / 2);
  CLAIM("nobody", wrong.victim = KOORD_NO_SUBJECT);
  CLAIM("plugin", wrong.plugin = STR("advisor-interference"));
  CLAIM("victim-name", wrong.victim_name = STR("shop/cart/app"));
  CLAIM("origin", wrong.origin = KOORD_ORIGIN_OWN);
  CLAIM("id", wrong.id = 1);
  CLAIM("since", wrong.since_ns = 1);
  say_status(r, "end-of-others",
             r->verdict->end(r->host, victim, KOORD_RESOURCE_CPU, KOORD_VERDICT_SELF_QUOTA, STR("because")));
}

static void claim_figures(raid *r, uint64_t victim) {
  CLAIM("nan", wrong.value = NAN);
  CLAIM("infinite", wrong.threshold = INFINITY);
  CLAIM("negative", wrong.own = -1);
  CLAIM("kind", wrong.kind = 99);
  CLAIM("resource", wrong.resource = 0);
  CLAIM("method", wrong.method = UINT32_MAX);
  CLAIM("backwards", wrong.to_ns = wrong.from_ns - 1);
  CLAIM("windows", wrong.windows_over = 1);
  CLAIM("forever", wrong.ttl_ns = UINT64_MAX);
}

static void claim_texts(raid *r, uint64_t victim) {
  CLAIM("escape", wrong.statistic = STR("\x1b[2J\x1b[31mheld_up"));
  CLAIM("forged-line", wrong.note = STR("x\n2026 ERROR agent: forged"));
  CLAIM("no-text", wrong.statistic = STR(""));
  CLAIM("no-utf8", wrong.amount_unit = STR("\xff\xfe"));
  CLAIM("long-statistic", wrong.statistic = long_text(65));
  CLAIM("long-note", wrong.note = long_text(1 << 20));
  CLAIM("huge-note", wrong.note = long_text(2 << 20));
}

static void claim_suspects(raid *r, uint64_t victim) {
  const koord_suspect himself = accused(KOORD_SUSPECT_SUBJECT, victim, 1);
  const koord_suspect twice[] = {accused(KOORD_SUSPECT_KERNEL, KOORD_NO_SUBJECT, 0.9),
                                 accused(KOORD_SUSPECT_OUTSIDE, KOORD_NO_SUBJECT, 0.9)};
  koord_suspect unlimited = accused(KOORD_SUSPECT_KERNEL, KOORD_NO_SUBJECT, 0.1);
  koord_label others[17];
  unlimited.usage = INFINITY;
  for (int i = 0; i < 17; ++i) others[i] = (koord_label){STR("memory"), STR("nothing")};
  CLAIM("himself", (wrong.suspects = &himself, wrong.n_suspects = 1));
  CLAIM("shares", (wrong.suspects = twice, wrong.n_suspects = 2));
  CLAIM("usage", (wrong.suspects = &unlimited, wrong.n_suspects = 1));
  CLAIM("thousands", (wrong.suspects = many(SUSPECTS, STR("n")), wrong.n_suspects = SUSPECTS));
  CLAIM("escaping-suspect", (wrong.suspects = many(1, STR("\x1b]0;owned\x07")), wrong.n_suspects = 1));
  CLAIM("long-suspect", (wrong.suspects = many(1, long_text(257)), wrong.n_suspects = 1));
  CLAIM("others", (wrong.others = others, wrong.n_others = 17));
}

void attack_verdict_claims(raid *r) {
  const uint64_t victim = some_victim(r);
  if (r->length > 0 || !r->verdict || (victim == KOORD_NO_SUBJECT && r->tick < 100)) return;
  const koord_verdict taken = good(r, victim);
  say_count(r, "good", r->verdict->post(r->host, &taken, 1, sizeof taken));
  claim_about_others(r, victim);
  claim_figures(r, victim);
  claim_texts(r, victim);
  claim_suspects(r, victim);
}

/* ---- floods ---- */

/* Posts up to 24 verdicts with as much text as allowed, different ones each time. */
void flood_of_verdicts(raid *r, uint64_t count) {
  static koord_verdict verdicts[24];
  static koord_label others[16];
  const uint64_t victim = some_victim(r);
  const uint32_t n = 1 + (uint32_t)(count % 24);
  for (int i = 0; i < 16; ++i) others[i] = (koord_label){long_text(256), long_text(256)};
  for (uint32_t i = 0; i < n; ++i) {
    verdicts[i] = good(r, victim);
    verdicts[i].kind = 1 + i % 6;
    verdicts[i].resource = 1 + i / 6;
    verdicts[i].value = (double)count;
    verdicts[i].suspects = many(32, long_text(256));
    verdicts[i].n_suspects = 32;
    verdicts[i].others = others;
    verdicts[i].n_others = 16;
    verdicts[i].note = long_text(1024);
  }
  r->verdict->post(r->host, verdicts, n, sizeof verdicts[0]);
}

/* Each verdict ends immediately after it begins, and all readers are notified. */
void flood_of_changes(raid *r, uint64_t count) {
  static uint64_t victim;
  if (victim == KOORD_NO_SUBJECT) victim = some_victim(r);
  koord_verdict verdict = good(r, victim);
  verdict.value = (double)count;
  r->verdict->post(r->host, &verdict, 1, sizeof verdict);
  r->verdict->end(r->host, victim, KOORD_RESOURCE_CPU, KOORD_VERDICT_INTERFERED, STR("because"));
  r->verdict->subscribe(r->host, (int32_t)(count & 1));
}

void flood_of_lists(raid *r, uint64_t count) {
  const koord_verdict_list *kept;
  (void)count;
  r->verdict->acquire(r->host, &kept);
}

void flood_of_reads(raid *r, uint64_t count) {
  const koord_verdict_list *list;
  uint32_t n = 0, stride = 0;
  const koord_verdict verdict = good(r, some_victim(r));
  if (count % 100 == 0) r->verdict->post(r->host, &verdict, 1, sizeof verdict);
  if (r->verdict->acquire(r->host, &list) != KOORD_OK) return;
  r->verdict->verdicts(list, &n, &stride);
  r->verdict->release(r->host, list);
}
