/* Runs replays on the C interface of Plimsoll: JSON lines in, one operation a line; JSON lines out, one
 * result an operation. The same bytes as `plimsoll replay`, see docs/replay.md. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "session.h"

static const char USAGE[] =
    "usage: replay [--check [-q | --quiet]] FILE...\n"
    "Runs the operations in FILE and prints the result of each; - is standard input.\n"
    "  --check      also compare results with what operations expect; takes several files\n"
    "  -q, --quiet  print only what is not as expected\n";

/* How a program ends. */
enum { ALL_WELL = 0, NOT_AS_EXPECTED = 1, CANNOT_RUN = 2 };

typedef struct {
    bool check;
    bool quiet;
} options;

/* What is kept from line to line. */
typedef struct {
    const char *name;
    const options *options;
    bool flushes; /* after each line, for a program that waits */
    session session;
    buffer payload;
    buffer output;
    bool has_mismatch;
} replay;

static void write_result(replay *replay, const line_result *line) {
    buffer *out = &replay->output;
    buffer_text(out, "{");
    if (line->id != NULL) {
        buffer_text(out, "\"id\":");
        json_write(out, line->id);
        buffer_text(out, ",");
    }
    buffer_format(out, "\"%s\":", line->answer);
    buffer_add(out, replay->payload.data, replay->payload.length);
    buffer_text(out, "}\n");
}

static void write_mismatch(replay *replay, arena *memory, const line_result *line,
                           unsigned long number) {
    plimsoll_str text = {replay->payload.data, replay->payload.length}, problem = {NULL, 0};
    const json *got = json_parse(memory, text, &problem);
    if (got != NULL && is_expected(line->expect, got)) {
        return;
    }
    replay->has_mismatch = true;
    buffer_format(&replay->output, "%s:%lu: expected ", replay->name, number);
    json_write(&replay->output, line->expect);
    buffer_text(&replay->output, " got ");
    buffer_add(&replay->output, text.data, text.len);
    buffer_text(&replay->output, "\n");
}

/* Hands on what was written. */
static bool flush(replay *replay) {
    size_t length = replay->output.length;
    bool is_written = length == 0 || fwrite(replay->output.data, 1, length, stdout) == length;
    buffer_clear(&replay->output);
    return is_written && (!replay->flushes || fflush(stdout) == 0);
}

/* Runs one line; false if the run ends here. */
static bool run_line(replay *replay, plimsoll_str text, unsigned long number) {
    arena memory = {NULL};
    buffer_clear(&replay->payload);
    line_result line = session_run(&replay->session, &memory, text, &replay->payload);
    bool goes_on = line.problem.data == NULL;
    if (!goes_on) {
        fflush(stdout);
        fprintf(stderr, "%s:%lu: %.*s\n", replay->name, number, SHOWN(line.problem));
    } else if (line.is_operation) {
        if (!replay->options->quiet) {
            write_result(replay, &line);
        }
        if (replay->options->check && line.expect != NULL) {
            write_mismatch(replay, &memory, &line, number);
        }
        goes_on = flush(replay);
    }
    arena_clear(&memory);
    return goes_on;
}

static int run_stream(replay *replay, FILE *stream) {
    char *text = NULL;
    size_t capacity = 0;
    ssize_t length = 0;
    bool goes_on = true;
    for (unsigned long number = 1; goes_on; number++) {
        length = getline(&text, &capacity, stream);
        if (length < 0) {
            break;
        }
        goes_on = run_line(replay, (plimsoll_str){text, (size_t)length}, number);
    }
    free(text);
    if (goes_on && ferror(stream)) {
        fprintf(stderr, "%s: %s\n", replay->name, strerror(errno));
        goes_on = false;
    }
    if (!goes_on) {
        return CANNOT_RUN;
    }
    return replay->has_mismatch ? NOT_AS_EXPECTED : ALL_WELL;
}

static int run_file(const char *name, const options *options) {
    bool is_stdin = strcmp(name, "-") == 0;
    FILE *stream = is_stdin ? stdin : fopen(name, "r");
    if (stream == NULL) {
        fprintf(stderr, "%s: %s\n", name, strerror(errno));
        return CANNOT_RUN;
    }
    replay replay = {.name = name, .options = options, .flushes = is_stdin};
    int end = run_stream(&replay, stream);
    session_free(&replay.session);
    buffer_free(&replay.payload);
    buffer_free(&replay.output);
    if (!is_stdin) {
        fclose(stream);
    }
    return end;
}

/* Reads the options; the first file is at the index that comes back, 0 for a mistake. */
static int read_options(int count, char **arguments, options *options) {
    int index = 1;
    for (; index < count && arguments[index][0] == '-' && arguments[index][1] != '\0'; index++) {
        if (strcmp(arguments[index], "--check") == 0) {
            options->check = true;
        } else if (strcmp(arguments[index], "--quiet") == 0 || strcmp(arguments[index], "-q") == 0) {
            options->quiet = true;
        } else {
            return 0;
        }
    }
    bool makes_sense = (options->check || !options->quiet) && (options->check || count - index == 1);
    return makes_sense && index < count ? index : 0;
}

int main(int count, char **arguments) {
    options options = {false, false};
    int first = read_options(count, arguments, &options);
    if (first == 0) {
        fputs(USAGE, stderr);
        return CANNOT_RUN;
    }
    int end = ALL_WELL;
    for (int index = first; index < count && end != CANNOT_RUN; index++) {
        int own = run_file(arguments[index], &options);
        end = own > end ? own : end;
    }
    return fflush(stdout) == 0 ? end : CANNOT_RUN;
}
