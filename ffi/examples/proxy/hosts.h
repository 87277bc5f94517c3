/*
 * What the library says in text: its tables, and the addresses in them.
 */
#ifndef PROXY_HOSTS_H
#define PROXY_HOSTS_H

#include <plimsoll/plimsoll.h>
#include <stddef.h>

#include "net.h"

/* plimsoll_cluster_hosts or plimsoll_cluster_stats. */
typedef plimsoll_status cluster_text_function(const plimsoll_cluster *cluster, char *buffer,
                                              size_t capacity, size_t *needed);

/* The whole text, NUL-terminated, to be freed; NULL if the library or the memory fails. */
char *cluster_text(const plimsoll_cluster *cluster, cluster_text_function *function);

struct host_list {
    size_t count;
    char (*addresses)[ADDRESS_LIMIT];
};

/* The addresses of all hosts, healthy or not. An address that is too long to be numeric is left
 * out. Free with host_list_free(). */
struct host_list host_list_read(const plimsoll_cluster *cluster);
void host_list_free(struct host_list *list);

#endif
