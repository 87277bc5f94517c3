/*
 * The addresses of the cluster's hosts, copied out of the library.
 */
#ifndef PROXY_HOSTS_H
#define PROXY_HOSTS_H

#include <plimsoll/plimsoll.h>
#include <stdbool.h>
#include <stddef.h>

#include "net.h"

struct host_list {
    size_t count;
    size_t capacity;
    char (*addresses)[ADDRESS_LIMIT];
};

/* The addresses of all hosts, healthy or not. An address that cannot be numeric, because of its
 * length or of a NUL, is left out. False, and an empty list, without memory. Free with
 * host_list_free() either way. */
bool host_list_read(const plimsoll_cluster *cluster, struct host_list *out);
void host_list_free(struct host_list *list);

#endif
