package millrace

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

func encoded(value interface{}) (string, *RefusedError) {
	e := encoder{}
	e.value(value, 3)
	return string(e.buf), e.problem
}

type named struct {
	Name  string  `json:"name"`
	Empty *string `json:"empty,omitempty"`
	Float float64
	HTML  string `json:"<html>"`
}

type level int

func (l level) MarshalText() ([]byte, error) { return []byte(fmt.Sprintf("level %d", int(l))), nil }

func TestValuesAreWrittenAsJavaScriptWritesThem(t *testing.T) {
	text, at := "t", time.Date(2026, 11, 15, 2, 8, 46, 123_999_999, time.FixedZone("EET", 7200))
	type properties map[string]interface{}
	for want, value := range map[string]interface{}{
		`null`:                               nil,
		`"a<>&'\"\\/"`:                       `a<>&'"\/`,
		`"\b\f\n\r\t\u0000\u001f` + "\x7f\"": "\b\f\n\r\t\x00\x1f\x7f",
		"\"\u2028\u2029😀é\"":                 "\u2028\u2029😀é",
		"\"a\ufffdb\ufffd\ufffd\"":           "a\xffb\xc3\x28"[:3] + "b\xed\xa0"[1:],
		`true`:                               true,
		`9223372036854775807`:                int64(math.MaxInt64),
		`18446744073709551615`:               uint64(math.MaxUint64),
		`-8`:                                 int8(-8),
		`0.1`:                                0.1,
		`0.2`:                                float32(0.2),
		`0`:                                  math.Copysign(0, -1),
		`1e+21`:                              1e21,
		`100000000000000000000`:              1e20,
		`0.000001`:                           1e-6,
		`1e-7`:                               1e-7,
		`5e-324`:                             5e-324,
		`1.7976931348623157e+308`:            math.MaxFloat64,
		`-1.5e-9`:                            -1.5e-9,
		`"2026-11-15T00:08:46.123Z"`:         at,
		`["2026-11-15T00:08:46.123Z"]`:       []*time.Time{&at},
		`"t"`:                                &text,
		`{"2":1,"10":2,"01":3,"a":4,"é":5}`:  map[string]interface{}{"é": 5, "a": 4, "01": 3, "10": 2, "2": 1},
		`{"a":[1,2],"b":{}}`:                 properties{"b": map[string]int{}, "a": [2]int{1, 2}},
		`["x","y"]`:                          []string{"x", "y"},
		`[]`:                                 []int{},
		`"AQI="`:                             []byte{1, 2},
		`{"name":"é <b>","Float":1e+21,"<html>":"&"}`: named{Name: "é <b>", Float: 1e21, HTML: "&"},
		`{"name":"p","Float":0,"<html>":""}`:          &named{Name: "p", Float: math.Copysign(0, -1)},
		`"level 3"`:                                   level(3),
		`{"level 1":true}`:                            map[level]bool{1: true},
		`123456789012345678901234567890`:              new(big.Int).SetBytes([]byte{1, 0x8e, 0xe9, 0x0f, 0xf6, 0xc3, 0x73, 0xe0, 0xee, 0x4e, 0x3f, 0x0a, 0xd2}),
		`12345678901234567890`:                        json.Number("12345678901234567890"),
		`1000`:                                        json.Number("1e3"),
		`{"b":[1,"/é"],"a":"\ud800😀"}`:                json.RawMessage(` {"b" : [1.0, "\/\u00e9"], "a":"\ud800\ud83d\ude00"} `),
		`"https://a.example/?a=1&b=2"`:                urlText{"https://a.example/?a=1&b=2"},
	} {
		if got, problem := encoded(value); got != want || problem != nil {
			t.Errorf("%#v is written %s (%v), expected %s", value, got, problem, want)
		}
	}
	for _, value := range []interface{}{math.NaN(), math.Inf(1), math.Inf(-1), []int(nil), map[string]int(nil), (*string)(nil), (*time.Time)(nil), json.RawMessage(nil)} {
		if got, problem := encoded(value); got != "null" || problem != nil {
			t.Errorf("%#v is written %s (%v)", value, got, problem)
		}
	}
}

type urlText struct{ text string }

func (u urlText) MarshalJSON() ([]byte, error) {
	parsed, err := url.Parse(u.text)
	if err != nil {
		return nil, err
	}
	return json.Marshal(parsed.String())
}

func TestWhatIsNotJSONIsRefused(t *testing.T) {
	for _, value := range []interface{}{
		make(chan int), func() {}, complex(1, 2), json.RawMessage("{"), json.RawMessage(""), json.Number("1x"), json.Number(""),
		json.Number("true"), struct{ C chan int }{}, []interface{}{map[string]interface{}{"a": func() {}}}, time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		if got, problem := encoded(value); problem == nil || problem.Code != "not_json" {
			t.Errorf("%T is written %s", value, got)
		}
	}
}

func TestDataThatContainsItselfIsTooDeepAndEnds(t *testing.T) {
	object := map[string]interface{}{}
	object["self"] = object
	array := []interface{}{nil}
	array[0] = array
	type node struct{ Next interface{} }
	ring := &node{}
	ring.Next = ring
	var wide interface{} = "x"
	for range 60 {
		wide = map[string]interface{}{"a": wide, "b": wide}
	}
	for name, value := range map[string]interface{}{"too_deep object": object, "too_deep array": array, "not_json ring": ring, "call_too_large wide": wide} {
		_, err := New("k").encode(&Track{UserId: "u", Event: "E", Properties: map[string]interface{}{"p": value}}, time.Now())
		if refused, isRefused := err.(*RefusedError); !isRefused || !strings.HasPrefix(name, refused.Code) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// randomValue makes data of any shape that both languages have.
func randomValue(random *rand.Rand, depth int) interface{} {
	kinds := 8
	if depth == 0 {
		kinds = 6
	}
	switch random.IntN(kinds) {
	case 0:
		return nil
	case 1:
		return random.IntN(2) == 0
	case 2:
		return random.Int64N(1<<53) - 1<<52
	case 3:
		return math.Float64frombits(random.Uint64())
	case 4:
		return random.NormFloat64() * math.Pow(10, float64(random.IntN(50)-25))
	case 5:
		return randomText(random)
	case 6:
		items := make([]interface{}, random.IntN(5))
		for i := range items {
			items[i] = randomValue(random, depth-1)
		}
		return items
	}
	object := map[string]interface{}{}
	for range random.IntN(6) {
		key := randomText(random)
		if random.IntN(3) == 0 {
			key = fmt.Sprint(random.IntN(200) - 20)
		}
		object[key] = randomValue(random, depth-1)
	}
	return object
}

func randomText(random *rand.Rand) string {
	letters := make([]rune, random.IntN(8))
	for i := range letters {
		switch random.IntN(4) {
		case 0:
			letters[i] = rune(random.IntN(128))
		case 1:
			letters[i] = rune(0x2020 + random.IntN(16))
		case 2:
			letters[i] = rune(0x1f600 + random.IntN(64))
		default:
			letters[i] = rune(random.IntN(0xd800))
		}
	}
	return string(letters)
}

func TestWhatIsWrittenIsReadAsWhatWasGiven(t *testing.T) {
	random := rand.New(rand.NewPCG(rand.Uint64(), 1))
	var lines strings.Builder
	for range full(5_000, 200_000) {
		value := randomValue(random, 4)
		text, problem := encoded(value)
		if problem != nil {
			t.Fatal(problem)
		}
		var got interface{}
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err, text)
		}
		if want := asRead(value); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s is read as %#v, given %#v", text, got, want)
		}
		again, _ := encoded(json.RawMessage(text))
		if again != text {
			t.Fatalf("%s is rewritten as %s", text, again)
		}
		lines.WriteString(text + "\n")
	}
	// scripts/go-client.test.ts asks for them: JSON.stringify(JSON.parse(line)) must be the line.
	if file := os.Getenv("MILLRACE_WRITE_LINES"); file != "" {
		if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// asRead is the value as encoding/json gives it back.
func asRead(value interface{}) interface{} {
	switch value := value.(type) {
	case int64:
		return float64(value)
	case float64:
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return nil
		}
	case []interface{}:
		items := make([]interface{}, len(value))
		for i, item := range value {
			items[i] = asRead(item)
		}
		return items
	case map[string]interface{}:
		object := map[string]interface{}{}
		for key, item := range value {
			object[key] = asRead(item)
		}
		return object
	}
	return value
}
