/* What Rust's thread sanitizer calls and the runtime library of gcc 12 lacks. The plain functions are
 * intercepted, so that they check as well. */

#include <string.h>

void *__tsan_memcpy(void *to, const void *from, size_t count) {
    return memcpy(to, from, count);
}

void *__tsan_memmove(void *to, const void *from, size_t count) {
    return memmove(to, from, count);
}

void *__tsan_memset(void *to, int byte, size_t count) {
    return memset(to, byte, count);
}
