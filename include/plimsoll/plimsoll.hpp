/// @file
/// Plimsoll for C++17 and later: the C interface with owners instead of `_free`, results instead of
/// out-parameters, and lambdas instead of callbacks with a `void *`.
///
/// SPDX-License-Identifier: Apache-2.0
///
/// Everything is in this header and the folder `cpp` beside it; there is nothing to link but what
/// the C interface takes, and nothing of it crosses a boundary between libraries: what is exported
/// is C. It throws nothing itself, takes no RTTI, and can be compiled without either.
///
/// | class | what it is | thread |
/// |---|---|---|
/// | `Cluster` | settings, hosts and a snapshot of them | any, several at once |
/// | `Worker` | picks hosts of a cluster | one at a time |
/// | `ActivePick` | a request under way, done when it leaves its scope | its worker's |
/// | `HashPolicies` | what a route's requests are hashed by | any, several at once |
/// | `ClusterSettings`, `Assignment`, `HashPolicy` … | a cluster as values, without a text | any |
/// | `Update` | a batch of changes to hosts | one at a time |
/// | `Log` | where a cluster's messages go | that of each control call |
/// | `Result`, `Error`, `Status` | a value, or why there is none | any |
/// | `Pick`, `PickContext`, `Request`, `ResponseLoad`, `HostLoad` … | values | any |
/// | `Host`, `Locality`, `OverrideSource` | shown to a visitor, and gone after | the visit's |
///
/// Each call has a line `Thread: … Allocates: … Blocks: …`, as those of the C header do.

#ifndef PLIMSOLL_HPP
#define PLIMSOLL_HPP

// Visual C++ says the standard in a macro of its own.
#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "plimsoll.hpp needs C++17"
#endif

#include "cpp/assignment.hpp"
#include "cpp/cluster.hpp"
#include "cpp/error.hpp"
#include "cpp/function_ref.hpp"
#include "cpp/hash.hpp"
#include "cpp/health.hpp"
#include "cpp/json.hpp"
#include "cpp/log.hpp"
#include "cpp/pick.hpp"
#include "cpp/policy.hpp"
#include "cpp/prometheus.hpp"
#include "cpp/result.hpp"
#include "cpp/runtime.hpp"
#include "cpp/settings.hpp"
#include "cpp/span.hpp"
#include "cpp/status.hpp"
#include "cpp/text.hpp"
#include "cpp/update.hpp"
#include "cpp/view.hpp"
#include "cpp/worker.hpp"

#endif
