#include "operation.h"

void answer_text(operation *op, const char *key, plimsoll_str json) {
    op->answer = key;
    buffer_clear(op->payload);
    buffer_add(op->payload, json.data, json.len);
}

void answer_ok(operation *op) {
    answer_text(op, "ok", text_of("true"));
}

void answer_failure(operation *op, const char *code, plimsoll_str field, plimsoll_str message) {
    answer_text(op, "error", text_of("{\"code\":"));
    json_write_string(op->payload, text_of(code));
    buffer_text(op->payload, ",\"field\":");
    json_write_string(op->payload, field);
    buffer_text(op->payload, ",\"message\":");
    json_write_string(op->payload, message);
    buffer_text(op->payload, "}");
}

void refuse(operation *op, const char *field, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    plimsoll_str message = arena_text_of(op->memory, format, arguments);
    va_end(arguments);
    answer_failure(op, "invalid_argument", text_of(field), message);
}

void answer_error(operation *op, plimsoll_error *error) {
    answer_failure(op, plimsoll_error_code(error).data, plimsoll_error_field(error),
                   plimsoll_error_message(error));
    plimsoll_error_free(error);
}

void answer_status(operation *op, plimsoll_status status, plimsoll_error *error) {
    if (status == PLIMSOLL_STATUS_OK) {
        answer_ok(op);
    } else {
        answer_error(op, error);
    }
}

plimsoll_status text_from(buffer *text, write_text *write, void *call) {
    size_t needed = 1024;
    for (;;) {
        buffer_clear(text);
        buffer_reserve(text, needed);
        plimsoll_status status = write(call, text->data, text->capacity, &needed);
        if (status == PLIMSOLL_STATUS_OK) {
            text->length = needed - 1;
        }
        if (status != PLIMSOLL_STATUS_BUFFER_TOO_SMALL) {
            return status;
        }
    }
}
