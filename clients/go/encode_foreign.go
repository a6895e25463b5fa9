package millrace

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// foreign takes JSON that others wrote and writes it in our form: no spaces, no escapes but the needed ones, numbers as
// ECMAScript prints them. Its keys keep their order.
func (e *encoder) foreign(text []byte, depth int) {
	if text == nil {
		e.buf = append(e.buf, "null"...)
		return
	}
	if !json.Valid(text) {
		e.fail("it is not JSON: " + quoteStart(text))
		return
	}
	level := depth - 1
	for i := 0; i < len(text) && e.hasRoom(); {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case c == '"':
			i = e.foreignString(text, i)
		case c == '-' || (c >= '0' && c <= '9'):
			end := numberEnd(text, i)
			e.numberText(string(text[i:end]))
			i = end
		default:
			if c == '{' || c == '[' {
				level++
				if e.isNestedTooDeep(level) {
					return
				}
			} else if c == '}' || c == ']' {
				level--
			}
			e.buf = append(e.buf, c)
			i++
		}
	}
}

func quoteStart(text []byte) string {
	return strconv.Quote(string(text[:min(len(text), 40)]))
}

func numberEnd(text []byte, i int) int {
	for i < len(text) && strings.IndexByte("+-.0123456789eE", text[i]) >= 0 {
		i++
	}
	return i
}

// foreignString writes the string that starts at text[i] and returns where it ends.
func (e *encoder) foreignString(text []byte, i int) int {
	e.buf = append(e.buf, '"')
	for i++; text[i] != '"'; {
		c := text[i]
		switch {
		case c == '\\' && text[i+1] == 'u':
			i = e.unicodeEscape(text, i)
		case c == '\\':
			e.buf = appendShortEscape(e.buf, text[i+1])
			i += 2
		case c < utf8.RuneSelf:
			e.buf = append(e.buf, c)
			i++
		default:
			r, size := utf8.DecodeRune(text[i:])
			e.buf = utf8.AppendRune(e.buf, r)
			i += size
		}
	}
	e.buf = append(e.buf, '"')
	return i + 1
}

func appendShortEscape(buf []byte, c byte) []byte {
	if c == '/' {
		return append(buf, c)
	}
	return append(buf, '\\', c)
}

// unicodeEscape writes the character plainly, except half of a surrogate pair, which UTF-8 cannot hold.
func (e *encoder) unicodeEscape(text []byte, i int) int {
	r := hexRune(text[i+2 : i+6])
	i += 6
	if !utf16.IsSurrogate(r) {
		if r < utf8.RuneSelf && !isPlain[byte(r)] {
			e.buf = appendEscape(e.buf, byte(r))
		} else {
			e.buf = utf8.AppendRune(e.buf, r)
		}
		return i
	}
	if text[i] == '\\' && text[i+1] == 'u' {
		if pair := utf16.DecodeRune(r, hexRune(text[i+2:i+6])); pair != utf8.RuneError {
			e.buf = utf8.AppendRune(e.buf, pair)
			return i + 6
		}
	}
	e.buf = append(e.buf, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
	return i
}

func hexRune(digits []byte) rune {
	value, _ := strconv.ParseUint(string(digits), 16, 32)
	return rune(value)
}

// numberText keeps every digit of a whole number, as for Go's own integers.
func (e *encoder) numberText(text string) {
	digits := strings.TrimPrefix(text, "-")
	if !json.Valid([]byte(text)) || digits == "" || digits[0] < '0' || digits[0] > '9' {
		e.fail("it is not a number: " + strconv.Quote(text))
		return
	}
	if !strings.ContainsAny(digits, ".eE") && digits != "0" {
		e.buf = append(e.buf, text...)
		return
	}
	value, _ := strconv.ParseFloat(text, 64)
	e.buf = appendNumber(e.buf, value, 64)
}
