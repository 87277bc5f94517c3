#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
    struct arena_block *older;
    max_align_t room[];
};

void *must_allocate(size_t size) {
    return must_grow(NULL, size);
}

void *must_grow(void *old, size_t size) {
    void *memory = realloc(old, size > 0 ? size : 1);
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return memory;
}

void *arena_new(arena *memory, size_t count, size_t size) {
    if (size > 0 && count > (SIZE_MAX / 2 - sizeof(struct arena_block)) / size) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    struct arena_block *block = must_allocate(sizeof *block + count * size);
    block->older = memory->newest;
    memory->newest = block;
    memset(block->room, 0, count * size);
    return block->room;
}

void *arena_grow(arena *memory, void *items, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity) {
        return items;
    }
    *capacity = count == 0 ? 8 : 2 * count;
    void *grown = arena_new(memory, *capacity, size);
    if (count > 0) {
        memcpy(grown, items, count * size);
    }
    return grown;
}

plimsoll_str arena_copy(arena *memory, const char *data, size_t length) {
    char *copy = arena_new(memory, length + 1, 1);
    if (length > 0) {
        memcpy(copy, data, length);
    }
    return (plimsoll_str){copy, length};
}

plimsoll_str arena_text_of(arena *memory, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = arena_new(memory, (size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    return (plimsoll_str){text, (size_t)length};
}

plimsoll_str arena_text(arena *memory, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    plimsoll_str text = arena_text_of(memory, format, arguments);
    va_end(arguments);
    return text;
}

void arena_clear(arena *memory) {
    while (memory->newest != NULL) {
        struct arena_block *block = memory->newest;
        memory->newest = block->older;
        free(block);
    }
}

void buffer_reserve(buffer *text, size_t length) {
    size_t needed = text->length + length + 1;
    if (needed > text->capacity) {
        text->capacity = needed < 256 ? 256 : needed + needed / 2;
        text->data = must_grow(text->data, text->capacity);
    }
    text->data[text->length] = '\0';
}

void buffer_add(buffer *text, const char *data, size_t length) {
    buffer_reserve(text, length);
    if (length > 0) {
        memcpy(text->data + text->length, data, length);
    }
    text->length += length;
    text->data[text->length] = '\0';
}

void buffer_text(buffer *text, const char *literal) {
    buffer_add(text, literal, strlen(literal));
}

void buffer_format(buffer *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    buffer_reserve(text, (size_t)length);
    va_start(arguments, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

void buffer_clear(buffer *text) {
    text->length = 0;
    buffer_reserve(text, 0);
}

void buffer_free(buffer *text) {
    free(text->data);
    *text = (buffer){NULL, 0, 0};
}

bool same_text(plimsoll_str left, plimsoll_str right) {
    return left.len == right.len && compare_text(left, right) == 0;
}

int compare_text(plimsoll_str left, plimsoll_str right) {
    size_t common = left.len < right.len ? left.len : right.len;
    int order = common > 0 ? memcmp(left.data, right.data, common) : 0;
    return order != 0 ? order : (left.len > right.len) - (left.len < right.len);
}

plimsoll_str text_of(const char *text) {
    return (plimsoll_str){text, strlen(text)};
}
