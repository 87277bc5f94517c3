/* What the C tests share: checks that say what failed, and clusters to try things on. */

#ifndef PLIMSOLL_TESTS_CHECK_H
#define PLIMSOLL_TESTS_CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plimsoll/plimsoll.h"

/* Ends the program with a message unless the condition holds. */
#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)

/* Ends the program with a message unless a call answers as expected. */
#define EXPECT(expected, call) expect((expected), (call), #call, __FILE__, __LINE__)

/* The same for a call that ought to work. */
#define OK(call) EXPECT(PLIMSOLL_STATUS_OK, call)

void check(bool holds, const char *condition, const char *file, int line);
void expect(plimsoll_status expected, plimsoll_status got, const char *call, const char *file,
            int line);

/* Checks that an error object says this, and frees it. A `message` of NULL may be anything. */
void expect_error(plimsoll_error *error, plimsoll_status status, const char *code,
                  const char *field, const char *message);

/* Whether a text is this. */
bool is(plimsoll_str text, const char *expected);

/* A text that C made. */
plimsoll_str str(const char *text);

/* Whether two numbers are the same but for rounding. */
bool near(double number, double expected);

/* A cluster of two hosts, 10.0.0.1:80 and 10.0.0.2:80, in YAML. */
extern const char TWO_HOSTS[];

/* The assignment of that cluster with one host, 10.0.0.3:80, instead. */
extern const char THIRD_HOST[];

/* Opens the cluster of two hosts with seed 1. */
plimsoll_cluster *open_two(void);

/* The same, with weights by reports: no blackout, and an update every second. */
plimsoll_cluster *open_by_reports(uint32_t behavior);

/* A worker of the cluster. */
plimsoll_worker *worker_of(const plimsoll_cluster *cluster);

/* A change of this kind to this host. */
plimsoll_host_change change_of(uint32_t kind, const char *address);

/* A load of so many active requests on this host. */
plimsoll_host_load load_of(const char *address, uint32_t active);

/* The host of this address as the cluster shows it, but for its texts: those are gone. */
plimsoll_host host_of(const plimsoll_cluster *cluster, const char *address);

/* Whether two clusters show the same hosts, at least one of them. */
bool has_the_hosts_of(const plimsoll_cluster *cluster, const plimsoll_cluster *other);

/* What a response says in the header endpoint-load-metrics. */
plimsoll_response_load response_load_of(const char *text);

/* Applies one change. */
void apply(const plimsoll_cluster *cluster, plimsoll_host_change change);

/* Picks a host, which must work. */
plimsoll_pick pick_one(plimsoll_worker *worker);

/* How many of `count` picks that do not count go to this host. */
int uncounted_share_of(plimsoll_worker *worker, plimsoll_pick_context context, int count,
                       const char *address);

/* Picks a host, is done with it, and says whether it was this one. */
bool next_is(plimsoll_worker *worker, const char *address);

/* How many of `count` requests, each done at once, go to this host. */
int share_of(plimsoll_worker *worker, int count, const char *address);

/* Whether half of the next requests go to this host. Native schedules are even to a few picks. */
bool gets_about_half(plimsoll_worker *worker, const char *address);

/* Whether the host of the pick has this address. */
bool pick_is(const plimsoll_worker *worker, const plimsoll_pick *pick, const char *address);

/* The tests, in the order in which they run. */
void test_open(void);
void test_picks(void);
void test_control(void);
void test_runtime(void);
void test_loads(void);
void test_slow_start(void);
void test_reports(void);
void test_hosts(void);
void test_localities(void);
void test_buffers(void);
void test_arguments(void);
void test_growable(void);
void test_growable_settings(void);
void test_settings(void);
void test_host_data(void);
void test_threads(void);
void test_hashes(void);
void test_overrides(void);
void test_logs(void);
void test_scrapes(void);
void test_streams(void);
void test_json(void);
void test_repeat(void);

#endif
