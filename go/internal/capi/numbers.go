package capi

// #include "shim.h"
import "C"

// The events that are learnt of a host's health.
const (
	HealthPass             = C.PLIMSOLL_HEALTH_PASS
	HealthFail             = C.PLIMSOLL_HEALTH_FAIL
	HealthDegraded         = C.PLIMSOLL_HEALTH_DEGRADED
	HealthTimedOut         = C.PLIMSOLL_HEALTH_TIMED_OUT
	HealthFailNow          = C.PLIMSOLL_HEALTH_FAIL_NOW
	HealthEject            = C.PLIMSOLL_HEALTH_EJECT
	HealthUneject          = C.PLIMSOLL_HEALTH_UNEJECT
	HealthOutlierDegraded  = C.PLIMSOLL_HEALTH_OUTLIER_DEGRADED
	HealthOutlierRecovered = C.PLIMSOLL_HEALTH_OUTLIER_RECOVERED
)

// What the control plane says of a host.
const (
	EDSUnknown   = C.PLIMSOLL_EDS_UNKNOWN
	EDSHealthy   = C.PLIMSOLL_EDS_HEALTHY
	EDSUnhealthy = C.PLIMSOLL_EDS_UNHEALTHY
	EDSDraining  = C.PLIMSOLL_EDS_DRAINING
	EDSTimeout   = C.PLIMSOLL_EDS_TIMEOUT
	EDSDegraded  = C.PLIMSOLL_EDS_DEGRADED
)

// What balancing makes of a host's health.
const (
	CoarseHealthy   = C.PLIMSOLL_COARSE_HEALTHY
	CoarseDegraded  = C.PLIMSOLL_COARSE_DEGRADED
	CoarseUnhealthy = C.PLIMSOLL_COARSE_UNHEALTHY
)

// Single things that are known of a host's health.
const (
	FlagFailedActiveHC             = C.PLIMSOLL_FLAG_FAILED_ACTIVE_HC
	FlagFailedOutlierCheck         = C.PLIMSOLL_FLAG_FAILED_OUTLIER_CHECK
	FlagFailedEDSHealth            = C.PLIMSOLL_FLAG_FAILED_EDS_HEALTH
	FlagDegradedActiveHC           = C.PLIMSOLL_FLAG_DEGRADED_ACTIVE_HC
	FlagDegradedEDSHealth          = C.PLIMSOLL_FLAG_DEGRADED_EDS_HEALTH
	FlagPendingDynamicRemoval      = C.PLIMSOLL_FLAG_PENDING_DYNAMIC_REMOVAL
	FlagPendingActiveHC            = C.PLIMSOLL_FLAG_PENDING_ACTIVE_HC
	FlagExcludedViaImmediateHCFail = C.PLIMSOLL_FLAG_EXCLUDED_VIA_IMMEDIATE_HC_FAIL
	FlagActiveHCTimeout            = C.PLIMSOLL_FLAG_ACTIVE_HC_TIMEOUT
	FlagEDSStatusDraining          = C.PLIMSOLL_FLAG_EDS_STATUS_DRAINING
	FlagDegradedOutlierDetection   = C.PLIMSOLL_FLAG_DEGRADED_OUTLIER_DETECTION
)

// MaxLoad is the largest number of requests that SetLoads takes.
const MaxLoad = C.PLIMSOLL_MAX_LOAD
