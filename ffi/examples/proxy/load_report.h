/*
 * What a host says of its own load in a response, for a policy that weighs hosts by it.
 *
 * A body may take long, and a report is best when it is new: what stands in the head is handed over
 * at once, and what stands in the trailers when they come.
 */
#ifndef PROXY_LOAD_REPORT_H
#define PROXY_LOAD_REPORT_H

struct client;
struct http_head;

/* Hands over what the head of the response says, if anything. */
void load_report_head(struct client *client, const char *data, const struct http_head *head);

/* The same for the trailers, once the whole body was read. */
void load_report_trailers(struct client *client);

/* Keeps what a head says from the client: it is for this proxy only. */
void load_report_strip(struct http_head *head);

#endif
