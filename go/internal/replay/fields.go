package replay

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// fields reads the keys of an operation, or of an object in one. The first that is not as it should
// be is what is wrong with the line.
type fields struct {
	path string
	keys *object
	err  *error
}

func (f *fields) fail(key, message string, arguments ...any) {
	if *f.err == nil {
		path := f.path
		if key != "" {
			path += "." + key
		}
		*f.err = fmt.Errorf("%s: %s", path, fmt.Sprintf(message, arguments...))
	}
}

// finish refuses the keys that were not read.
func (f *fields) finish() {
	for _, key := range f.keys.keys {
		f.fail(key, "unknown field")
	}
}

// read is the value of a key as T; nothing if there is none.
func read[T any](f *fields, key, expected string, as func(any) (T, bool)) (T, bool) {
	var none T
	value, ok := f.keys.take(key)
	if !ok {
		return none, false
	}
	read, ok := as(value)
	if !ok {
		f.fail(key, "expected %s, got %.100s", expected, text(value))
	}
	return read, ok
}

// need is read for a key that must be there.
func need[T any](f *fields, key, expected string, as func(any) (T, bool)) T {
	if _, ok := f.keys.values[key]; !ok {
		f.fail(key, "it is missing")
	}
	value, _ := read(f, key, expected, as)
	return value
}

// is is a value of the type T.
func is[T any](value any) (T, bool) {
	own, ok := value.(T)
	return own, ok
}

// listOf is a list of what as makes of its items.
func listOf[T any](as func(any) (T, bool)) func(any) ([]T, bool) {
	return func(value any) ([]T, bool) {
		items, ok := value.([]any)
		list := make([]T, 0, len(items))
		for _, item := range items {
			own, fits := as(item)
			ok = ok && fits
			list = append(list, own)
		}
		return list, ok
	}
}

// entry is a key of a map, and its value.
type entry[T any] struct {
	key   string
	value T
}

// mapOf is a map to what as makes of its values, sorted by key.
func mapOf[T any](as func(any) (T, bool)) func(any) ([]entry[T], bool) {
	return func(value any) ([]entry[T], bool) {
		keys, ok := value.(*object)
		if !ok {
			return nil, false
		}
		entries := make([]entry[T], 0, len(keys.keys))
		for _, key := range keys.keys {
			own, fits := as(keys.values[key])
			ok = ok && fits
			entries = append(entries, entry[T]{key, own})
		}
		slices.SortFunc(entries, func(a, b entry[T]) int { return strings.Compare(a.key, b.key) })
		return entries, ok
	}
}

// wordOf is one of these words.
func wordOf[T any](words map[string]T) func(any) (T, bool) {
	return func(value any) (T, bool) {
		word, _ := value.(string)
		own, ok := words[word]
		return own, ok
	}
}

// words are what wordOf knows, in words.
func words[T any](of map[string]T) string {
	var known []string
	for word := range of {
		known = append(known, strconv.Quote(word))
	}
	slices.Sort(known)
	return "one of " + strings.Join(known, ", ")
}

var anInteger = "an integer from 0 to " + strconv.FormatUint(math.MaxUint64, 10)

// integer is a number of 64 bits, also as a decimal string, for languages whose numbers are floats:
// digits only, without leading zeros.
func integer(value any) (uint64, bool) {
	switch value := value.(type) {
	case number:
		return value.integer, value.whole && !value.negative
	case string:
		own, err := strconv.ParseUint(value, 10, 64)
		return own, err == nil && strconv.FormatUint(own, 10) == value
	default:
		return 0, false
	}
}

// integer is a number with a default.
func (f *fields) integer(key string, otherwise uint64) uint64 {
	if value, ok := read(f, key, anInteger, integer); ok {
		return value
	}
	return otherwise
}

// optional is a number that may not be there.
func (f *fields) optional(key string) *uint64 {
	if value, ok := read(f, key, anInteger, integer); ok {
		return &value
	}
	return nil
}

func (f *fields) flag(key string) bool {
	value, _ := read(f, key, "true or false", is[bool])
	return value
}

func (f *fields) text(key string) string {
	value, _ := read(f, key, "a string", is[string])
	return value
}

func (f *fields) texts(key string) []string {
	value, _ := read(f, key, "a list of strings", listOf(is[string]))
	return value
}

// forget takes a key for one that is not there if its value is null, which a key of an operation itself
// may not be.
func (f *fields) forget(key string) {
	if value, ok := f.keys.values[key]; ok && value == nil {
		f.keys.take(key)
	}
}

// inside are the fields of an object; of an empty one if it is not there.
func (f *fields) inside(key string) *fields {
	value, _ := read(f, key, "an object", is[*object])
	if value == nil {
		value = &object{}
	}
	return &fields{path: f.path + "." + key, keys: value, err: f.err}
}

// headerValues are one value of a header or several, as text or as {"base64":S}.
func headerValues(value any) ([]headerValue, bool) {
	if one, ok := oneHeaderValue(value); ok {
		return []headerValue{one}, true
	}
	return listOf(oneHeaderValue)(value)
}

// headerValue is a value of a header, or bytes that are still to be decoded.
type headerValue struct {
	text    string
	encoded bool
}

func oneHeaderValue(value any) (headerValue, bool) {
	switch value := value.(type) {
	case string:
		return headerValue{text: value}, true
	case *object:
		encoded, ok := value.values["base64"].(string)
		return headerValue{encoded, true}, ok && len(value.keys) == 1
	default:
		return headerValue{}, false
	}
}

// header is a name with one of its values, as bytes.
type header struct{ name, value string }

// decoded are all values with their names, in order; field is what they stand in.
func decoded(field string, entries []entry[[]headerValue]) ([]header, error) {
	var headers []header
	for _, entry := range entries {
		for _, value := range entry.value {
			if !value.encoded {
				headers = append(headers, header{entry.key, value.text})
				continue
			}
			bytes, err := base64.StdEncoding.Strict().DecodeString(value.text)
			if err != nil {
				return nil, invalid(field+"."+entry.key, "this is not base64")
			}
			headers = append(headers, header{entry.key, string(bytes)})
		}
	}
	return headers, nil
}
