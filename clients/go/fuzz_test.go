package millrace

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

type fuzzInput struct {
	key, text string
	number    float64
	whole     int64
	raw       []byte
	depth     uint8
}

var fuzzSeeds = []fuzzInput{
	{"key", "text", 0.5, 1, []byte(`{"a":[1,"\u00e9"]}`), 3},
	{"10", "\xff\u2028<", 1e-7, math.MaxInt64, []byte(`"\ud800"`), 61},
	{"", "i", math.MaxFloat64, -1, []byte(`[1e400,-0]`), 62},
	{"\u00e9", "2026-11-18T01:02:03.004Z", math.Copysign(0, -1), math.MinInt64, []byte(`{"a":{"a":null},"":true}`), 0},
}

func FuzzEncode(f *testing.F) {
	for _, seed := range fuzzSeeds {
		f.Add(seed.key, seed.text, seed.number, seed.whole, seed.raw, seed.depth)
	}
	f.Fuzz(func(t *testing.T, key, text string, number float64, whole int64, raw []byte, depth uint8) {
		checkEncode(t, fuzzInput{key, text, number, whole, raw, depth})
	})
}

// TestTheEncoderKeepsItsPromisesForRandomInputs needs no library compiled for the fuzzer, which takes longer than 100 times its
// inputs: FuzzEncode is for those who change the encoder.
func TestTheEncoderKeepsItsPromisesForRandomInputs(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		seed := fuzzSeeds[dice.IntN(len(fuzzSeeds))]
		other := fuzzSeeds[dice.IntN(len(fuzzSeeds))]
		checkEncode(t, fuzzInput{
			key:    string(mutated(dice, []byte(seed.key))),
			text:   string(mutated(dice, []byte(other.text))),
			number: math.Float64frombits(dice.Uint64() >> dice.IntN(64)),
			whole:  int64(dice.Uint64() >> dice.IntN(64)),
			raw:    mutated(dice, seed.raw),
			depth:  uint8(dice.IntN(70)),
		})
		if t.Failed() {
			t.FailNow()
		}
	}
}

// Each is treated in a way of its own by JSON, by JavaScript or by the encoder.
var fuzzPieces = []string{
	"\"", "\\", "\\u", "\\ud83d\\ude00", "\xff", "\xed\xa0\x80", "\u2028", "\U0001F600", "<", "&", "\x00", "\x7f", "\n", "{", "}", "[", "]", ",", ":",
	"-", "e", "1e999", "0.1", "true", "null", "Z", " ",
}

func mutated(dice *rand.Rand, from []byte) []byte {
	to := append([]byte{}, from...)
	for range dice.IntN(5) {
		at := dice.IntN(len(to) + 1)
		rest := append([]byte{}, to[at:]...)
		switch dice.IntN(4) {
		case 0:
			to = append(append(to[:at], fuzzPieces[dice.IntN(len(fuzzPieces))]...), rest...)
		case 1:
			to = append(append(to[:at], byte(dice.IntN(256))), rest...)
		case 2:
			to = to[:at]
		case 3:
			if len(rest) > 0 {
				to = append(to[:at], rest[1:]...)
			}
		}
	}
	return to
}

func checkEncode(t *testing.T, in fuzzInput) {
	t.Helper()
	var nested interface{} = in.text
	for range in.depth {
		nested = []interface{}{nested}
	}
	properties := map[string]interface{}{in.key: in.text, in.key + "n": in.number, in.key + "w": in.whole, in.key + "d": nested}
	isRaw := json.Valid(in.raw)
	if isRaw {
		properties[in.key+"r"] = json.RawMessage(in.raw)
	}
	queued, err := New("k").encode(&Track{UserId: "u", Event: "E", Timestamp: in.text, Properties: properties}, time.Now())
	if err != nil {
		code := err.(*RefusedError).Code
		_, isTime := parseTimestamp(in.text)
		switch {
		case code == "timestamp_invalid" && (in.text == "" || isTime):
			t.Fatalf("%s: %+v", code, in)
		case code == "too_deep" && in.depth <= 62 && !isRaw:
			t.Fatalf("%s: %+v", code, in)
		case code != "timestamp_invalid" && code != "too_deep" && code != "call_too_large":
			t.Fatalf("%v: %+v", err, in)
		}
		queued.body = nil
	}
	assertEncodes(t, properties, queued.body)
}

// assertEncodes compares with encoding/json, also where the whole call was refused for another reason.
func assertEncodes(t *testing.T, properties map[string]interface{}, body []byte) {
	if len(body) > MaxCallBytes {
		t.Fatalf("%d bytes", len(body))
	}
	e := encoder{}
	e.object(properties, 2)
	if e.isTooDeep || e.isTooLarge || e.problem != nil {
		return
	}
	if !utf8.Valid(e.buf) || (body != nil && !strings.Contains(string(body), string(e.buf))) {
		t.Fatalf("%q in %q", e.buf, body)
	}
	theirs, err := json.Marshal(properties)
	if err != nil {
		return // NaN and infinities, which encoding/json refuses.
	}
	if !json.Valid(e.buf) {
		t.Fatalf("not JSON: %s", e.buf)
	}
	// A number with hundreds of digits is JSON, and too large to be read: then there is nothing to compare.
	var ours, expected interface{}
	if json.Unmarshal(theirs, &expected) != nil {
		return
	}
	if err := json.Unmarshal(e.buf, &ours); err != nil || !reflect.DeepEqual(ours, expected) {
		t.Fatalf("%s is not %s (%v)", e.buf, theirs, err)
	}
}
