// Package capi is the C interface of Plimsoll as Go can call it, and the only package with cgo.
//
// It knows no policy and keeps no state but the functions that are to be called back: a function
// here checks nothing, converts its arguments, crosses once, and converts the answer. Who may call
// what, and for how long a handle lives, is up to the package above.
//
// # Pointers
//
// C keeps no Go pointer. A text goes over as its pointer and its length, and is read during the
// call. Where C wants an array of structs with texts in them, Go hands over the texts as one block
// and the rest as numbers, and shim.c puts the array together in memory of C: an array of Go's with
// pointers in it would have to be pinned, text by text. What C calls back is found by a number.
//
// # Crossings
//
// The calls of a request never call back and keep nothing, so cgo may leave their arguments on the
// stack (noescape) and need not prepare for a callback (nocallback). A control call may release the
// data of hosts and so call back; none of them has either directive.
//
// # Linking
//
//	(no tag)          pkg-config plimsoll, the shared library
//	plimsoll_static   pkg-config plimsoll-static, the library as a part of the program
//	plimsoll_tree     the archive that `make lib` leaves in build/lib of this source tree
package capi
