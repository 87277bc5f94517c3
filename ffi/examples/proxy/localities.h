/*
 * How traffic divides among the localities: a page for a human who asks why a zone is busy.
 */
#ifndef PROXY_LOCALITIES_H
#define PROXY_LOCALITIES_H

#include <plimsoll/plimsoll.h>

/* A line for each locality of each priority and kind of hosts, after one of titles: what part of
 * all requests goes to such hosts, where, how many there are, how busy ("-" if routing does not go
 * by it), what the locality gets in proportion to the others, and whether the proxy's own gets all.
 * To be freed; NULL without memory. */
char *localities_text(const plimsoll_cluster *cluster);

#endif
