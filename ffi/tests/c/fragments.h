/* What the fragments of docs/c-api.md leave out: names of earlier ones, and what is the reader's. */

#ifndef FRAGMENTS_H
#define FRAGMENTS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "plimsoll/plimsoll.h"

int failed(plimsoll_error *error);

extern plimsoll_cluster *cluster, *before, *after, *proxies;
extern const plimsoll_cluster *api, *auth;
extern plimsoll_cluster_options options;
extern plimsoll_worker *worker;
extern plimsoll_hash_policies *route;
extern plimsoll_pick_context context;
extern plimsoll_pick pick;
extern plimsoll_error *error;
extern plimsoll_response_load load;
extern plimsoll_str text;
extern const void *message;
extern const char *session, *cookies;
extern size_t session_length, cookies_length, length, needed, capacity;
extern uint64_t hash, now_ns, next_ns;
extern void *response, *places, *streams, *file;
extern char json[1024], *buffer;

void add_header(void *userdata, const char *name, const char *value, size_t length);
void remember(void *userdata, const plimsoll_override_source *source);
void open_stream(void *userdata, const plimsoll_stream_action *action);
void close_stream(void *userdata, uint32_t slot, uint32_t generation);
void log_line(void *userdata, bool is_urgent, const char *text, size_t length);

#endif
