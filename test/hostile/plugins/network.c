/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's sockets, sockets of other services, and the network. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "hostile.h"

static int connect_to(const char *path, int abstract) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const struct timeval patience = {2, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &(const struct timeval){0, 100000}, sizeof patience);
  strncpy(address.sun_path + abstract, path, sizeof address.sun_path - 2);
  const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)abstract + strlen(path));
  if (connect(fd, (struct sockaddr *)&address, size) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

/* Returns the status of the answer; 0 if the connection is closed without an answer; -1 if there is no connection. */
static int ask(const raid *r, const char *method, const char *target, const char *body) {
  char text[1024];
  const int fd = connect_to(setting(r, "/socket"), 0);
  if (fd < 0) return -1;
  const int n =
      snprintf(text, sizeof text,
               "%s %s HTTP/1.1\r\nHost: agent\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
               method, target, strlen(body), body);
  int status = 0;
  if (send(fd, text, (size_t)n, MSG_NOSIGNAL) == n) {
    const ssize_t got = recv(fd, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    if (sscanf(text, "HTTP/1.1 %d", &status) != 1) status = 0;
  }
  close(fd);
  return status;
}

/* 200 is a success of the attack. 401, 403 or no answer is a refusal. Any other status shows that the request was
 * processed. */
static void say_answer(raid *r, const char *step, int status) {
  if (status == -1)
    say(r, step, errno);
  else if (status == 0 || status == 401 || status == 403)
    say(r, step, EACCES);
  else if (status < 300)
    say(r, step, 0);
  else
    say(r, step, EINVAL);
}

void attack_api_mode(raid *r) {
  if (r->tick == 1)
    say_answer(r, "mode", ask(r, "POST", "/api/v1/modes", "{\"strategy\":\"node\",\"mode\":\"off\",\"seconds\":1}"));
}

void attack_api_reload(raid *r) {
  if (r->tick == 1) say_answer(r, "reload", ask(r, "POST", "/api/v1/plugins/com.bystander/reload", ""));
}

void attack_api_read(raid *r) {
  if (r->tick != 1) return;
  say_answer(r, "pods", ask(r, "GET", "/api/v1/pods", ""));
  say_answer(r, "plugins", ask(r, "GET", "/api/v1/plugins", ""));
  say_answer(r, "metrics", ask(r, "GET", "/metrics", ""));
}

static int ask_in_child(void *argument) {
  const int status = ask(argument, "GET", "/api/v1/plugins", "");
  return status == -1 ? errno : status == 200 ? 0 : EACCES;
}

/* Its parent is the plugin, and it has the plugin's cgroup and user. */
void attack_api_by_child(raid *r) {
  if (r->tick == 1) say(r, "child", in_child(ask_in_child, r));
}

/* Holds connections from the first tick to the eleventh without sending data. A connection that the agent closes
 * immediately is not held. */
void attack_api_flood(raid *r) {
  static int held[200];
  long count = 0;
  if (r->tick == 1)
    for (int i = 0; i < 200; ++i)
      if ((held[i] = connect_to(setting(r, "/socket"), 0)) < 0) break;
  if (r->tick != 11) return;
  for (int i = 0; i < 200; ++i) {
    char byte;
    if (held[i] > 0 && recv(held[i], &byte, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN) ++count;
    if (held[i] > 0) close(held[i]);
  }
  say(r, "hold", count == 0 ? EACCES : 0);
}

void attack_tcp(raid *r) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (r->tick != 1) return;
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (client < 0) {
    say(r, "socket", errno);
    return;
  }
  address.sin_port = htons((uint16_t)atoi(setting(r, "/port")));
  STEP(r, "connect", connect(client, (struct sockaddr *)&address, sizeof address));
  close(client);
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  address.sin_port = 0;
  STEP(r, "bind", bind(server, (struct sockaddr *)&address, sizeof address));
  STEP(r, "listen", listen(server, 1));
  close(server);
}

void attack_udp(raid *r) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (r->tick != 1) return;
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    say(r, "socket", errno);
    return;
  }
  STEP(r, "send", sendto(fd, "x", 1, 0, (struct sockaddr *)&address, sizeof address));
  close(fd);
}

void attack_odd_sockets(raid *r) {
  static const struct {
    const char *name;
    int family, type, protocol;
  } sockets[] = {{"raw", AF_INET, SOCK_RAW, 255},      {"packet", AF_PACKET, SOCK_RAW, 0},
                 {"route", AF_NETLINK, SOCK_RAW, 0},   {"audit", AF_NETLINK, SOCK_RAW, 9},
                 {"alg", AF_ALG, SOCK_SEQPACKET, 0},   {"vsock", AF_VSOCK, SOCK_STREAM, 0},
                 {"uevent", AF_NETLINK, SOCK_RAW, 15}, {"bluetooth", AF_BLUETOOTH, SOCK_RAW, 1}};
  if (r->tick != 1) return;
  for (size_t i = 0; i < sizeof sockets / sizeof sockets[0]; ++i) {
    const int fd = socket(sockets[i].family, sockets[i].type | SOCK_CLOEXEC, sockets[i].protocol);
    say(r, sockets[i].name, fd < 0 ? errno : 0);
    if (fd >= 0) close(fd);
  }
}

static void connect_step(raid *r, const char *step, const char *path, int abstract) {
  const int fd = connect_to(path, abstract);
  say(r, step, fd < 0 ? errno : 0);
  if (fd >= 0) close(fd);
}

void attack_unix_socket(raid *r) {
  if (r->tick == 1) connect_step(r, "service", setting(r, "/service"), 0);
}

void attack_abstract_socket(raid *r) {
  if (r->tick == 1) connect_step(r, "abstract", setting(r, "/abstract"), 1);
}

/* One end of a datagram socket pair may send to any address. Linux treats SOCK_RAW of AF_UNIX as SOCK_DGRAM. */
void attack_datagram_pair(raid *r) {
  static const struct {
    const char *name;
    int type;
  } pairs[] = {{"datagram", SOCK_DGRAM}, {"raw", SOCK_RAW}};
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (r->tick != 1) return;
  snprintf(address.sun_path, sizeof address.sun_path, "%s", setting(r, "/datagram"));
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; ++i) {
    int ends[2];
    if (socketpair(AF_UNIX, pairs[i].type | SOCK_CLOEXEC, 0, ends) != 0) {
      say(r, pairs[i].name, errno);
      continue;
    }
    STEP(r, pairs[i].name, sendto(ends[0], "x", 1, MSG_DONTWAIT, (struct sockaddr *)&address, sizeof address));
    close(ends[0]);
    close(ends[1]);
  }
}
