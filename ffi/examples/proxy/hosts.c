/* The addresses of the cluster's hosts; see hosts.h. */
#include "hosts.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(struct host_list *list)
{
    if (list->count < list->capacity) {
        return true;
    }
    size_t capacity = list->capacity * 2 + 16;
    char(*addresses)[ADDRESS_LIMIT] = realloc(list->addresses, capacity * sizeof *addresses);
    if (addresses == NULL) {
        return false;
    }
    list->addresses = addresses;
    list->capacity = capacity;
    return true;
}

/* Called by the library for each host. Not 0: no more of them. */
static int add(void *userdata, const plimsoll_host *host)
{
    struct host_list *list = userdata;
    plimsoll_str from = host->address;
    if (from.len >= ADDRESS_LIMIT || memchr(from.data, '\0', from.len) != NULL) {
        return 0;
    }
    if (!make_room(list)) {
        host_list_free(list);
        return 1;
    }
    char *address = list->addresses[list->count++];
    memcpy(address, from.data, from.len);
    address[from.len] = '\0';
    return 0;
}

bool host_list_read(const plimsoll_cluster *cluster, struct host_list *out)
{
    *out = (struct host_list){0, 0, NULL};
    /* So that a list without hosts can be told from no list. */
    return make_room(out) &&
           plimsoll_cluster_for_each_host(cluster, out, add, NULL) == PLIMSOLL_STATUS_OK &&
           out->addresses != NULL;
}

void host_list_free(struct host_list *list)
{
    free(list->addresses);
    *list = (struct host_list){0, 0, NULL};
}
