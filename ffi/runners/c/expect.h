/* Whether a result is as expected. */

#ifndef REPLAY_EXPECT_H
#define REPLAY_EXPECT_H

#include "json.h"

/* An object says something about the keys that it has, numbers are compared by value, and three forms
 * stand for more than one value: `"*"`, `{"approx":X,"within":D}` and `{"one_of":[…]}`. */
bool is_expected(const json *expected, const json *got);

#endif
