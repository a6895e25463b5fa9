package millrace

import (
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// isPlain marks the bytes that stand for themselves in a JSON string; the rest is looked at more closely.
var isPlain = func() (plain [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

func (e *encoder) string(s string) {
	if len(s) > MaxCallBytes {
		// Not even copied: it may be as large as the caller's memory.
		if !e.isTooLarge {
			e.isTooLarge, e.looks = true, looksWhenTooLarge
		}
		return
	}
	e.buf = appendString(e.buf, s)
}

// appendString escapes only what JSON must have escaped; what is not UTF-8 becomes U+FFFD.
func appendString(buf []byte, s string) []byte {
	buf = append(buf, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if isPlain[c] {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			buf = append(buf, s[start:i]...)
			buf = appendEscape(buf, c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			buf = append(buf, s[start:i]...)
			buf = append(buf, "\ufffd"...)
			start = i + size
		}
		i += size
	}
	buf = append(buf, s[start:]...)
	return append(buf, '"')
}

func appendEscape(buf []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(buf, '\\', c)
	case '\b':
		return append(buf, `\b`...)
	case '\f':
		return append(buf, `\f`...)
	case '\n':
		return append(buf, `\n`...)
	case '\r':
		return append(buf, `\r`...)
	case '\t':
		return append(buf, `\t`...)
	}
	return append(buf, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// appendNumber prints as ECMAScript does: what is no number is null, minus zero is zero.
func appendNumber(buf []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(buf, "null"...)
	}
	if f == 0 {
		return append(buf, '0')
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(buf, f, 'f', -1, bits)
	}
	start := len(buf)
	buf = strconv.AppendFloat(buf, f, 'e', -1, bits)
	// Go writes at least two digits of an exponent, ECMAScript only those it needs.
	if n := len(buf); n-start >= 4 && buf[n-2] == '0' && (buf[n-3] == '-' || buf[n-3] == '+') {
		buf[n-2] = buf[n-1]
		buf = buf[:n-1]
	}
	return buf
}

// FormatTime writes a time in the form of Timestamp: ISO 8601, UTC, with milliseconds.
func FormatTime(t time.Time) string {
	return string(appendTime(make([]byte, 0, 24), t))
}

// appendTime does by hand what time.AppendFormat does at three times the cost; every call carries a time.
func appendTime(buf []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	buf = appendTwo(buf, year/100)
	buf = appendTwo(buf, year%100)
	buf = appendTwo(append(buf, '-'), int(month))
	buf = appendTwo(append(buf, '-'), day)
	buf = appendTwo(append(buf, 'T'), hour)
	buf = appendTwo(append(buf, ':'), minute)
	buf = appendTwo(append(buf, ':'), second)
	ms := t.Nanosecond() / 1e6
	buf = append(buf, '.', byte('0'+ms/100))
	return append(appendTwo(buf, ms%100), 'Z')
}

func appendTwo(buf []byte, n int) []byte {
	return append(buf, byte('0'+n/10%10), byte('0'+n%10))
}
