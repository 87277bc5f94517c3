/* Texts of the library; see hosts.h. */
#include "hosts.h"

#include <stdlib.h>
#include <string.h>

/* How often a table may outgrow the buffer that was just made for it, before we give up. */
#define ATTEMPTS 8

char *cluster_text(const plimsoll_cluster *cluster, cluster_text_function *function)
{
    size_t capacity = 4096;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        size_t needed = 0;
        char *text = malloc(capacity);
        if (text == NULL) {
            return NULL;
        }
        plimsoll_status status = function(cluster, text, capacity, &needed);
        if (status == PLIMSOLL_STATUS_OK) {
            return text;
        }
        free(text);
        if (status != PLIMSOLL_STATUS_BUFFER_TOO_SMALL) {
            return NULL;
        }
        /* Hosts may be added between this call and the next. */
        capacity = needed + needed / 4;
    }
    return NULL;
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text != '\0'; text++) {
        lines += *text == '\n';
    }
    return lines;
}

/* The place `column` characters into the line, which is aligned in characters and not in bytes; the
 * line's end if it is shorter. */
static const char *at_column(const char *line, size_t column)
{
    while (*line != '\0' && *line != '\n' && column > 0) {
        line++;
        bool continues = (*line & 0xc0) == 0x80; /* inside of a UTF-8 character */
        column -= !continues;
    }
    return line;
}

/* Copies the word at the start of `text`; false if there is none or it is too long. */
static bool copy_word(const char *text, char *out)
{
    size_t length = strcspn(text, " \n");
    if (length == 0 || length >= ADDRESS_LIMIT) {
        return false;
    }
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

/* The library has no call that lists hosts. Its table is made for humans, but its first line names
 * the columns, and that is all that is relied on here. */
static void read_table(const char *text, struct host_list *list)
{
    const char *title = strstr(text, "address");
    const char *line = strchr(text, '\n');
    if (title == NULL || line == NULL || title > line) {
        return;
    }
    size_t column = (size_t)(title - text);
    for (; line != NULL && line[1] != '\0'; line = strchr(line + 1, '\n')) {
        const char *address = at_column(line + 1, column);
        list->count += copy_word(address, list->addresses[list->count]);
    }
}

struct host_list host_list_read(const plimsoll_cluster *cluster)
{
    struct host_list list = {0, NULL};
    char *text = cluster_text(cluster, plimsoll_cluster_hosts);
    if (text != NULL) {
        list.addresses = calloc(count_lines(text) + 1, sizeof *list.addresses);
    }
    if (list.addresses != NULL) {
        read_table(text, &list);
    }
    free(text);
    return list;
}

void host_list_free(struct host_list *list)
{
    free(list->addresses);
    *list = (struct host_list){0, NULL};
}
