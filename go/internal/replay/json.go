package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A value of JSON is nil, a bool, a string, a number, a list ([]any), an *object, or raw text that is
// JSON already. encoding/json's own types forget the order of keys and what is a whole number.

// object has keys in the order in which they were written.
type object struct {
	keys   []string
	values map[string]any
}

func (o *object) add(key string, value any) {
	if o.values == nil {
		o.values = make(map[string]any)
	}
	o.keys = append(o.keys, key)
	o.values[key] = value
}

// take removes a key and gives its value.
func (o *object) take(key string) (any, bool) {
	value, ok := o.values[key]
	if ok {
		delete(o.values, key)
		for i, own := range o.keys {
			if own == key {
				o.keys = append(o.keys[:i:i], o.keys[i+1:]...)
				break
			}
		}
	}
	return value, ok
}

// number is whole, if 64 bits hold it with or without a sign, or a float.
type number struct {
	whole    bool
	negative bool
	// The magnitude of a whole number.
	integer uint64
	float   float64
}

func unsigned(integer uint64) number {
	return number{whole: true, integer: integer, float: float64(integer)}
}

// raw is a text that the library has written as JSON.
type raw string

// parse reads one value.
func parse(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("not UTF-8")
	}
	if hasLoneSurrogate(text) {
		return nil, errors.New("half of a character in a hex escape")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	value, err := next(decoder, maxDepth)
	if err != nil {
		return nil, fmt.Errorf("%w at column %d", err, decoder.InputOffset()+1)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("trailing characters at column %d", decoder.InputOffset()+1)
	}
	return value, nil
}

// Values that are nested more deeply are refused, so that none fills the stack.
const maxDepth = 128

// hasLoneSurrogate is whether an escape stands for half of a character, which encoding/json replaces
// in silence.
func hasLoneSurrogate(text []byte) bool {
	escape := func(at int) (rune, bool) {
		if at+6 > len(text) || text[at] != '\\' || text[at+1] != 'u' {
			return 0, false
		}
		code, err := strconv.ParseUint(string(text[at+2:at+6]), 16, 16)
		return rune(code), err == nil
	}
	for at := 0; at < len(text); at++ {
		if text[at] != '\\' {
			continue
		}
		code, ok := escape(at)
		if !ok || !utf16.IsSurrogate(code) {
			at++ // what is escaped
			continue
		}
		low, ok := escape(at + 6)
		if !ok || utf16.DecodeRune(code, low) == utf8.RuneError {
			return true
		}
		at += 11
	}
	return false
}

func next(decoder *json.Decoder, depth int) (any, error) {
	if depth == 0 {
		return nil, errors.New("recursion limit exceeded")
	}
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '[' {
			return list(decoder, depth-1)
		}
		return keys(decoder, depth-1)
	case json.Number:
		return parseNumber(token.String())
	default:
		return token, nil
	}
}

func list(decoder *json.Decoder, depth int) (any, error) {
	values := []any{}
	for decoder.More() {
		value, err := next(decoder, depth)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	_, err := decoder.Token()
	return values, err
}

func keys(decoder *json.Decoder, depth int) (any, error) {
	keys := &object{}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		name := key.(string)
		if _, twice := keys.values[name]; twice {
			return nil, fmt.Errorf("the key %q appears twice", name)
		}
		value, err := next(decoder, depth)
		if err != nil {
			return nil, err
		}
		keys.add(name, value)
	}
	_, err := decoder.Token()
	return keys, err
}

func parseNumber(text string) (number, error) {
	digits, negative := strings.CutPrefix(text, "-")
	if !strings.ContainsAny(text, ".eE") && text != "-0" {
		integer, err := strconv.ParseUint(digits, 10, 64)
		if err == nil && (!negative || integer <= 1<<63) {
			float, _ := strconv.ParseFloat(text, 64)
			return number{true, negative, integer, float}, nil
		}
	}
	float, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return number{}, errors.New("number out of range")
	}
	return number{float: float}, nil
}

// text is a value as results have it: no spaces, floats as formatFloat says.
func text(value any) string { return string(appendValue(nil, value)) }

func appendValue(to []byte, value any) []byte {
	switch value := value.(type) {
	case nil:
		return append(to, "null"...)
	case bool:
		return strconv.AppendBool(to, value)
	case string:
		return appendString(to, value)
	case number:
		return append(to, value.String()...)
	case raw:
		return append(to, value...)
	case []any:
		to = append(to, '[')
		for i, item := range value {
			if i > 0 {
				to = append(to, ',')
			}
			to = appendValue(to, item)
		}
		return append(to, ']')
	case *object:
		to = append(to, '{')
		for i, key := range value.keys {
			if i > 0 {
				to = append(to, ',')
			}
			to = append(appendString(to, key), ':')
			to = appendValue(to, value.values[key])
		}
		return append(to, '}')
	default:
		panic(fmt.Sprintf("%T is no value of JSON", value))
	}
}

// appendString escapes what has to be escaped and nothing else, which encoding/json does not.
func appendString(to []byte, text string) []byte {
	short := map[byte]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}
	to = append(to, '"')
	for i := range len(text) {
		char := text[i]
		if letter, ok := short[char]; ok {
			to = append(to, '\\', letter)
		} else if char < ' ' {
			to = fmt.Appendf(to, `\u%04x`, char)
		} else {
			to = append(to, char)
		}
	}
	return append(to, '"')
}

func (n number) String() string {
	switch {
	case n.whole && n.negative:
		return "-" + strconv.FormatUint(n.integer, 10)
	case n.whole:
		return strconv.FormatUint(n.integer, 10)
	default:
		return formatFloat(n.float)
	}
}

// formatFloat is the shortest form that reads back equal, always with a point or an exponent: an
// exponent below 1e-5 and from 1e16 on.
func formatFloat(float float64) string {
	size := math.Abs(float)
	if size != 0 && (size < 1e-5 || size >= 1e16) {
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(float, 'e', -1, 64), "e")
		power, _ := strconv.Atoi(exponent)
		return mantissa + "e" + strconv.Itoa(power)
	}
	text := strconv.FormatFloat(float, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
