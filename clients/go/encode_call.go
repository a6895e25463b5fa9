package millrace

import (
	"bytes"
	"time"
)

// additions is what the library puts into a call that does not bring it; its zero value adds nothing.
type additions struct {
	id      func(buf []byte) []byte
	now     time.Time
	library string
}

const libraryJSON = `{"name":"` + libraryName + `","version":"` + Version + `"}`

// encodeCall appends the call to the encoder's buffer in the one order of fields that all of Millrace's libraries keep.
// The order of its checks is part of the contract too: depth before size, size before the fields.
func (e *encoder) encodeCall(f *fields, add *additions) *RefusedError {
	e.buf = append(e.buf, `{"type":"`...)
	e.buf = append(e.buf, f.kind...)
	e.buf = append(e.buf, '"')
	e.messageId(f.messageId, add.id)
	isTimeRead := e.timestamp(f.timestamp, add.now)
	e.text(`,"userId":`, f.userId)
	e.text(`,"anonymousId":`, f.anonymousId)
	e.text(`,"groupId":`, f.groupId)
	e.text(`,"previousId":`, f.previousId)
	e.text(`,"event":`, f.event)
	e.text(`,"name":`, f.name)
	e.text(`,"category":`, f.category)
	e.fieldMap(`,"properties":`, f.properties)
	e.fieldMap(`,"traits":`, f.traits)
	isSelectionFine := e.context(f.context, add.library)
	e.fieldMap(`,"integrations":`, f.integrations)
	e.buf = append(e.buf, '}')
	return e.judge(f, isSelectionFine, isTimeRead)
}

func (e *encoder) judge(f *fields, isSelectionFine, isTimeRead bool) *RefusedError {
	switch {
	case e.isTooDeep:
		return errTooDeep
	case e.isTooLarge || len(e.buf) > MaxCallBytes:
		return errCallTooLarge
	case e.problem != nil:
		return e.problem
	}
	if err := f.check(); err != nil {
		return err
	}
	if !isSelectionFine {
		return errContextSelection
	}
	if !isTimeRead {
		return errTimestampInvalid
	}
	return nil
}

func (e *encoder) messageId(given string, make func(buf []byte) []byte) {
	if given != "" || make == nil {
		e.text(`,"messageId":`, given)
		return
	}
	e.buf = append(e.buf, `,"messageId":"`...)
	e.buf = append(make(e.buf), '"')
}

// timestamp writes the time in the one form that is delivered, whatever form it was given in, and says whether that
// could be read.
func (e *encoder) timestamp(given string, now time.Time) bool {
	at, isRead := now, true
	if given != "" {
		at, isRead = parseTimestamp(given)
	}
	if !isRead || (given == "" && now.IsZero()) {
		e.text(`,"timestamp":`, given)
		return isRead
	}
	e.buf = append(e.buf, `,"timestamp":"`...)
	e.buf = append(appendTime(e.buf, at), '"')
	return true
}

// madeMessageId reads the id back from where encodeCall wrote it.
func madeMessageId(kind string, body []byte) string {
	start := len(`{"type":"","messageId":"`) + len(kind)
	end := start + bytes.IndexByte(body[start:], '"')
	return string(body[start:end])
}

// text leaves an empty field out.
func (e *encoder) text(name, value string) {
	if value == "" {
		return
	}
	e.buf = append(e.buf, name...)
	e.string(value)
}

// fieldMap leaves a nil map out; an empty one is data.
func (e *encoder) fieldMap(name string, value map[string]interface{}) {
	if value == nil {
		return
	}
	e.buf = append(e.buf, name...)
	e.object(value, 2)
}

// context writes the caller's context with the library as its last key, and says whether the integrations inside it,
// which the server reads too, can be read.
func (e *encoder) context(context map[string]interface{}, library string) bool {
	if _, isGiven := context["library"]; isGiven {
		library = ""
	}
	if context == nil && library == "" {
		return true
	}
	e.buf = append(e.buf, `,"context":`...)
	e.object(context, 2)
	if library == "" {
		return e.isObjectOrNull(context)
	}
	if len(e.buf) > 0 && e.buf[len(e.buf)-1] == '}' {
		e.buf = e.buf[:len(e.buf)-1]
		if len(context) > 0 {
			e.buf = append(e.buf, ',')
		}
		e.buf = append(e.buf, `"library":`...)
		e.buf = append(e.buf, library...)
		e.buf = append(e.buf, '}')
	}
	return e.isObjectOrNull(context)
}

// isObjectOrNull encodes the rare integrations of a context once more, by themselves: only the JSON tells what a value
// of a type we do not know becomes.
func (e *encoder) isObjectOrNull(context map[string]interface{}) bool {
	value, isGiven := context["integrations"]
	if !isGiven {
		return true
	}
	apart := encoder{}
	apart.value(value, 3)
	return len(apart.buf) == 0 || apart.buf[0] == '{' || apart.buf[0] == 'n'
}
