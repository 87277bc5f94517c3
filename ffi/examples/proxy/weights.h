/*
 * What the weight of each host comes to now: a page for a human who watches a slow start, or what
 * hosts say of their load.
 */
#ifndef PROXY_WEIGHTS_H
#define PROXY_WEIGHTS_H

#include <plimsoll/plimsoll.h>

/* A line for each host, after one of titles: its address, its weight, the weight in use, its slow
 * start, and its last load report; "-" where there is none. To be freed; NULL without memory. */
char *weights_text(const plimsoll_cluster *cluster);

#endif
