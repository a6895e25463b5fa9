package millrace

import (
	"bytes"
	"encoding/json"
	"unicode/utf16"
)

// callOf makes the call that JSON describes with the library's own types; why says what they cannot hold.
func callOf(text, shape string) (call Call, why string) {
	if hasHalfSurrogate(text) {
		return nil, "half a surrogate pair is not UTF-8"
	}
	decoder := json.NewDecoder(bytes.NewBufferString(text))
	decoder.UseNumber()
	var value interface{}
	if err := decoder.Decode(&value); err != nil {
		return nil, "encoding/json cannot read it: " + err.Error()
	}
	given, isObject := value.(map[string]interface{})
	if !isObject {
		return nil, "the call is no object"
	}
	given = numbersAsJavaScript(given).(map[string]interface{})
	kind, _ := given["type"].(string)
	if shape != "" && shape != "batch" {
		kind = shape
	}
	delete(given, "type")
	r := &fieldReader{given: given}
	switch kind {
	case "identify":
		call = &Identify{UserId: r.id("userId"), AnonymousId: r.id("anonymousId"), MessageId: r.id("messageId"),
			Traits: r.object("traits"), Context: r.object("context"), Integrations: r.object("integrations"), Timestamp: r.timestamp()}
	case "track":
		call = &Track{UserId: r.id("userId"), AnonymousId: r.id("anonymousId"), MessageId: r.id("messageId"),
			Event: r.text("event"), Properties: r.object("properties"),
			Context: r.object("context"), Integrations: r.object("integrations"), Timestamp: r.timestamp()}
	case "page":
		call = &Page{UserId: r.id("userId"), AnonymousId: r.id("anonymousId"), MessageId: r.id("messageId"),
			Properties: r.object("properties"), Context: r.object("context"), Integrations: r.object("integrations"),
			Name: r.text("name"), Category: r.text("category"), Timestamp: r.timestamp()}
	case "screen":
		call = &Screen{UserId: r.id("userId"), AnonymousId: r.id("anonymousId"), MessageId: r.id("messageId"),
			Properties: r.object("properties"), Context: r.object("context"), Integrations: r.object("integrations"),
			Name: r.text("name"), Category: r.text("category"), Timestamp: r.timestamp()}
	case "group":
		call = &Group{UserId: r.id("userId"), AnonymousId: r.id("anonymousId"), MessageId: r.id("messageId"), GroupId: r.id("groupId"),
			Traits: r.object("traits"), Context: r.object("context"), Integrations: r.object("integrations"), Timestamp: r.timestamp()}
	case "alias":
		call = &Alias{UserId: r.id("userId"), AnonymousId: r.id("anonymousId"), MessageId: r.id("messageId"), PreviousId: r.id("previousId"),
			Context: r.object("context"), Integrations: r.object("integrations"), Timestamp: r.timestamp()}
	default:
		return nil, "the type has no method"
	}
	if r.why == "" {
		for key, value := range given {
			if value != nil {
				return nil, "no such field: " + key
			}
		}
	}
	return call, r.why
}

// fieldReader takes fields out of an object; the first that does not fit a Go type is the reason.
type fieldReader struct {
	given map[string]interface{}
	why   string
}

func (r *fieldReader) take(name string) interface{} {
	value := r.given[name]
	delete(r.given, name)
	return value
}

func (r *fieldReader) fail(why string) {
	if r.why == "" {
		r.why = why
	}
}

func (r *fieldReader) id(name string) string {
	value := r.take(name)
	text, isText := value.(string)
	if !isText && value != nil {
		r.fail("an id is not text")
	}
	return text
}

func (r *fieldReader) text(name string) string {
	value := r.take(name)
	text, isText := value.(string)
	if !isText && value != nil {
		r.fail("the " + name + " is not text")
	}
	if name != "event" && isText && text == "" {
		r.fail("an empty " + name + " is an absent one")
	}
	return text
}

func (r *fieldReader) timestamp() string {
	value := r.take("timestamp")
	text, isText := value.(string)
	if !isText && value != nil {
		r.fail("the timestamp is not text")
	}
	if isText && text == "" {
		r.fail("the timestamp is empty")
	}
	return text
}

func (r *fieldReader) object(name string) map[string]interface{} {
	value := r.take(name)
	object, isObject := value.(map[string]interface{})
	if !isObject && value != nil {
		r.fail(name + " is no map")
	}
	return object
}

// numbersAsJavaScript rounds what JSON.parse would have rounded, so that both start from the same data.
func numbersAsJavaScript(value interface{}) interface{} {
	switch value := value.(type) {
	case json.Number:
		f, _ := value.Float64()
		return f
	case map[string]interface{}:
		for key, each := range value {
			value[key] = numbersAsJavaScript(each)
		}
	case []interface{}:
		for i, each := range value {
			value[i] = numbersAsJavaScript(each)
		}
	}
	return value
}

func hasHalfSurrogate(text string) bool {
	for i := 0; i+6 <= len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if text[i+1] != 'u' {
			i++
			continue
		}
		r := hexRune([]byte(text[i+2 : i+6]))
		if !utf16.IsSurrogate(r) {
			continue
		}
		if i+12 > len(text) || utf16.DecodeRune(r, hexRune([]byte(text[i+8:i+12]))) == 0xfffd {
			return true
		}
		i += 11
	}
	return false
}
