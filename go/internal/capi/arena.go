package capi

// #include "shim.h"
// #include <stdlib.h>
import "C"

import "unsafe"

// arena is memory of C for structs that point to each other, which memory of Go must not be handed
// over for. It is zeros to begin with, and all of it is freed at once.
type arena struct {
	blocks []unsafe.Pointer
	rest   []byte
}

// A struct or a text that is larger gets a block of its own.
const arenaBlock = 16 << 10

// room is so much memory, aligned for anything.
func (a *arena) room(size int) unsafe.Pointer {
	const alignment = 8
	size = (size + alignment - 1) &^ (alignment - 1)
	if size > len(a.rest) {
		length := max(size, arenaBlock)
		block := C.calloc(1, C.size_t(length))
		a.blocks = append(a.blocks, block)
		a.rest = unsafe.Slice((*byte)(block), length)
	}
	room := unsafe.Pointer(unsafe.SliceData(a.rest))
	a.rest = a.rest[size:]
	return room
}

func (a *arena) free() {
	for _, block := range a.blocks {
		C.free(block)
	}
}

// str is a copy of a text.
func (a *arena) str(text string) C.plimsoll_str {
	if text == "" {
		return C.plimsoll_str{}
	}
	room := a.room(len(text))
	copy(unsafe.Slice((*byte)(room), len(text)), text)
	return C.plimsoll_str{data: (*C.char)(room), len: C.size_t(len(text))}
}

// texts are copies of several, and how many.
func (a *arena) texts(texts []string) (*C.plimsoll_str, C.size_t) {
	return putAll(a, texts, a.str), C.size_t(len(texts))
}

// put is a copy of a struct whose pointers are nil or of C.
func put[T any](a *arena, value T) *T {
	room := (*T)(a.room(int(unsafe.Sizeof(value))))
	*room = value
	return room
}

// putAll is an array of copies of what each item becomes; nil if there are none.
func putAll[T, From any](a *arena, from []From, become func(From) T) *T {
	if len(from) == 0 {
		return nil
	}
	var one T
	array := unsafe.Slice((*T)(a.room(len(from)*int(unsafe.Sizeof(one)))), len(from))
	for i, item := range from {
		array[i] = become(item)
	}
	return unsafe.SliceData(array)
}
