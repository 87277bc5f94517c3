//go:build plimsoll_tree

package capi

// #cgo CFLAGS: -I${SRCDIR}/../../../include
// #cgo LDFLAGS: ${SRCDIR}/../../../build/lib/libplimsoll.a -lpthread -ldl -lm
import "C"
