package millrace

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strconv"
)

// reflected writes the values whose types value does not know by name.
func (e *encoder) reflected(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Bool:
		e.buf = strconv.AppendBool(e.buf, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.buf = strconv.AppendInt(e.buf, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		e.buf = strconv.AppendUint(e.buf, v.Uint(), 10)
	case reflect.Float32:
		e.buf = appendNumber(e.buf, v.Float(), 32)
	case reflect.Float64:
		e.buf = appendNumber(e.buf, v.Float(), 64)
	case reflect.String:
		e.string(v.String())
	case reflect.Pointer:
		if v.IsNil() {
			e.buf = append(e.buf, "null"...)
		} else if !e.isNestedTooDeep(depth) {
			// A pointer is no level of the JSON, but one that points to itself must not go on for ever.
			e.pointer(v, depth)
		}
	case reflect.Map:
		e.anyMap(v, depth)
	case reflect.Slice, reflect.Array:
		e.anyArray(v, depth)
	default:
		e.marshal(v.Interface(), depth)
	}
}

func (e *encoder) pointer(v reflect.Value, depth int) {
	if v.Elem().Kind() == reflect.Pointer || v.Elem().Kind() == reflect.Interface {
		e.marshal(v.Interface(), depth)
		return
	}
	e.value(v.Elem().Interface(), depth)
}

func (e *encoder) anyMap(v reflect.Value, depth int) {
	if v.IsNil() {
		e.buf = append(e.buf, "null"...)
		return
	}
	if v.Type().Key().Kind() != reflect.String || v.Type().Key().Implements(textMarshaler) {
		e.marshal(v.Interface(), depth)
		return
	}
	plain := make(map[string]interface{}, v.Len())
	for entries := v.MapRange(); entries.Next(); {
		plain[entries.Key().String()] = entries.Value().Interface()
	}
	e.object(plain, depth)
}

var textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()

func (e *encoder) anyArray(v reflect.Value, depth int) {
	if v.Kind() == reflect.Slice && v.IsNil() {
		e.buf = append(e.buf, "null"...)
		return
	}
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		e.string(base64.StdEncoding.EncodeToString(v.Bytes()))
		return
	}
	if e.isNestedTooDeep(depth) {
		return
	}
	e.buf = append(e.buf, '[')
	for i := range v.Len() {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		e.value(v.Index(i).Interface(), depth+1)
	}
	e.buf = append(e.buf, ']')
}

// marshal lets encoding/json write what only it knows to write (structs with tags, types that marshal themselves) and
// puts the result into our form.
func (e *encoder) marshal(v interface{}, depth int) {
	written, err := json.Marshal(v)
	if err != nil {
		e.fail(err.Error())
		return
	}
	e.foreign(written, depth)
}

func (e *encoder) fail(reason string) {
	if e.problem == nil {
		e.problem = notJSON(reason)
	}
}
