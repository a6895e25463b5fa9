package millrace

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"time"
)

// encoder writes values the way JavaScript's JSON.stringify does, so that the same call has the same bytes from every
// library and the server finds nothing to rewrite: no escapes that are not needed, numbers as ECMAScript prints them.
type encoder struct {
	buf []byte
	// call is the one being written, kept here so that it needs no memory of its own.
	call fields
	// keys is a stack: the sorted keys of the objects being written, the innermost last.
	keys []string

	isTooDeep  bool
	isTooLarge bool
	problem    *RefusedError
	// looks is how many values may still be looked at once the call is too large.
	looks int
}

// A call that is too large may still turn out to be too deep, which is the code it then gets. Shared maps can unfold
// into more values than a lifetime is long, so the search ends.
const looksWhenTooLarge = 100_000

func (e *encoder) reset() {
	*e = encoder{buf: e.buf[:0], keys: e.keys[:0]}
}

// value writes v, which if it is an object or an array is one at the given depth; the call itself is at 1.
func (e *encoder) value(v interface{}, depth int) {
	if e.isTooDeep || !e.hasRoom() {
		return
	}
	switch v := v.(type) {
	case nil:
		e.buf = append(e.buf, "null"...)
	case string:
		e.string(v)
	case bool:
		e.buf = strconv.AppendBool(e.buf, v)
	case int:
		e.buf = strconv.AppendInt(e.buf, int64(v), 10)
	case int64:
		e.buf = strconv.AppendInt(e.buf, v, 10)
	case float64:
		e.buf = appendNumber(e.buf, v, 64)
	case map[string]interface{}:
		e.object(v, depth)
	case []interface{}:
		e.array(v, depth)
	case time.Time:
		e.time(v)
	case *time.Time:
		if v == nil {
			e.buf = append(e.buf, "null"...)
		} else {
			e.time(*v)
		}
	case json.Number:
		e.numberText(string(v))
	case json.RawMessage:
		e.foreign(v, depth)
	case json.Marshaler, encoding.TextMarshaler:
		e.marshal(v, depth)
	default:
		e.reflected(reflect.ValueOf(v), depth)
	}
}

// hasRoom keeps the buffer small when a call has long been too large to be sent.
func (e *encoder) hasRoom() bool {
	if !e.isTooLarge && len(e.buf) > MaxCallBytes {
		e.isTooLarge = true
		e.looks = looksWhenTooLarge
	}
	if e.isTooLarge {
		e.buf = e.buf[:0]
		e.looks--
		return e.looks > 0
	}
	return true
}

func (e *encoder) isNestedTooDeep(depth int) bool {
	if depth > maxDepth {
		e.isTooDeep = true
	}
	return e.isTooDeep
}

func (e *encoder) object(m map[string]interface{}, depth int) {
	if e.isNestedTooDeep(depth) {
		return
	}
	if m == nil && depth > 2 {
		e.buf = append(e.buf, "null"...)
		return
	}
	first := len(e.keys)
	hasDigits := false
	for key := range m {
		hasDigits = hasDigits || (key != "" && key[0] >= '0' && key[0] <= '9')
		e.keys = append(e.keys, key)
	}
	sortKeys(e.keys[first:], hasDigits)
	last := len(e.keys)
	e.buf = append(e.buf, '{')
	for i := first; i < last; i++ {
		if i > first {
			e.buf = append(e.buf, ',')
		}
		key := e.keys[i]
		e.string(key)
		e.buf = append(e.buf, ':')
		e.value(m[key], depth+1)
	}
	e.buf = append(e.buf, '}')
	e.keys = e.keys[:first]
}

// sortKeys gives a Go map, which has no order, one that JavaScript keeps: whole numbers first, by value.
func sortKeys(keys []string, hasDigits bool) {
	slices.Sort(keys)
	if !hasDigits {
		return
	}
	slices.SortStableFunc(keys, func(a, b string) int {
		x, isIndexA := arrayIndex(a)
		y, isIndexB := arrayIndex(b)
		switch {
		case isIndexA && isIndexB:
			return int(x - y)
		case isIndexA:
			return -1
		case isIndexB:
			return 1
		}
		return 0
	})
}

func arrayIndex(key string) (int64, bool) {
	if key == "" || len(key) > 10 || key[0] < '0' || key[0] > '9' || (key[0] == '0' && len(key) > 1) {
		return 0, false
	}
	value, err := strconv.ParseInt(key, 10, 64)
	return value, err == nil && value < 1<<32-1
}

func (e *encoder) array(items []interface{}, depth int) {
	if e.isNestedTooDeep(depth) {
		return
	}
	if items == nil {
		e.buf = append(e.buf, "null"...)
		return
	}
	e.buf = append(e.buf, '[')
	for i, item := range items {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		e.value(item, depth+1)
	}
	e.buf = append(e.buf, ']')
}

// time writes what JavaScript writes for a Date, not the nanoseconds and the zone of Go.
func (e *encoder) time(t time.Time) {
	if year := t.UTC().Year(); year < 0 || year > 9999 {
		e.fail("the year of a time is outside 0000 to 9999")
		return
	}
	e.buf = append(e.buf, '"')
	e.buf = appendTime(e.buf, t)
	e.buf = append(e.buf, '"')
}
