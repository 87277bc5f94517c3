//go:build plimsoll_static && !plimsoll_tree

package capi

// #cgo pkg-config: plimsoll-static
import "C"
