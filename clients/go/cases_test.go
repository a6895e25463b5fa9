package millrace

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The contract's cases, which the server and the Node library run too.
const casesDir = "../../contract/cases"

type caseFile struct {
	Kind  string
	Cases []contractCase
}

type contractCase struct {
	Name   string
	Shape  string
	Scheme string
	Input  string
	Expect string
	Fills  []fill
}

type fill struct {
	Mark, Text string
	Times      int
}

func filled(text string, fills []fill) string {
	for _, each := range fills {
		text = strings.ReplaceAll(text, each.Mark, strings.Repeat(each.Text, each.Times))
	}
	return text
}

func readCases(t *testing.T, name string, into interface{}) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(casesDir, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// Files that say nothing of a client, and why.
var notForClients = map[string]string{
	"batches.json":     "what the server makes of whole requests; the library sends {batch} alone, and only whole calls",
	"libraries.json":   "requests of other libraries, as the server reads them",
	"merging.json":     "what the server merges of fields beside batch, of which the library sends none",
	"bodies.json":      "webhook bodies, which the server writes",
	"selection.json":   "which destinations a call reaches, which the server decides",
	"filters.json":     "which destinations a call reaches, which the server decides",
	"http.json":        "the server's answers to raw requests; e2e runs the library against the real server",
	"client-wire.json": "run by TestWire",
}

func TestEveryCaseFileIsRunOrHasAReasonNotToBe(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(casesDir, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	for _, path := range paths {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			var file caseFile
			if notForClients[name] != "" {
				return
			}
			readCases(t, name, &file)
			run, isKnown := map[string]func(*testing.T, contractCase){
				"call": runCallCase, "timestamp": runTimestampCase, "signature": runSignatureCase,
			}[file.Kind]
			if !isKnown {
				t.Fatalf("nothing runs the kind %s, and nothing says why", file.Kind)
			}
			for _, each := range file.Cases {
				t.Run(each.Name, func(t *testing.T) { run(t, each) })
			}
		})
	}
}

// runCallCase makes the call with the library's own types, adding nothing to it, and holds the verdict against the
// server's. The compiler refuses a call that the types cannot hold; for those the test checks that the server has
// the code that we expect.
func runCallCase(t *testing.T, each contractCase) {
	var expected map[string]interface{}
	if err := json.Unmarshal([]byte(filled(each.Expect, each.Fills)), &expected); err != nil {
		t.Fatal(err)
	}
	code, _ := expected["code"].(string)
	call, why := callOf(filled(each.Input, each.Fills), each.Shape)
	if why != "" {
		if want, isRefusal := compilerCodes[why]; code != "" && (!isRefusal || !strings.Contains(want, code)) {
			t.Fatalf("cannot be written in Go (%s), but the server refuses it with %s", why, code)
		}
		t.Skipf("cannot be written in Go: %s", why)
	}
	e := encoder{}
	call.fields(&e.call)
	refused := e.encodeCall(&e.call, &additions{})
	switch {
	case code == "" && refused != nil:
		t.Fatalf("refused with %s, but the server accepts it", refused.Code)
	case code != "" && refused == nil:
		t.Fatalf("accepted as %s, but the server refuses it with %s", e.buf, code)
	case code != "" && refused.Code != code:
		t.Fatalf("refused with %s, the server with %s", refused.Code, code)
	case code == "":
		assertSameData(t, e.buf, expected)
	}
}

// assertSameData: the server's event has all data of the call.
func assertSameData(t *testing.T, body []byte, event map[string]interface{}) {
	t.Helper()
	var sent map[string]interface{}
	if err := json.Unmarshal(body, &sent); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	for key, value := range sent {
		if key == "context" || key == "integrations" {
			continue // The server merges what is in both into one.
		}
		if got, want := fmt.Sprint(value), fmt.Sprint(event[key]); got != want {
			t.Errorf("%s: sent %s, the server's event has %s", key, got, want)
		}
	}
}

// Which codes the server has for what Go's compiler refuses.
var compilerCodes = map[string]string{
	"the call is no object":            "type_unknown",
	"the type has no method":           "type_unknown too_deep call_too_large",
	"an id is not text":                "id_not_string message_id_too_long",
	"the event is not text":            "event_not_string",
	"the name is not text":             "name_not_string",
	"the category is not text":         "category_not_string",
	"the timestamp is not text":        "timestamp_invalid",
	"the timestamp is empty":           "timestamp_invalid",
	"properties is no map":             "properties_not_object event_not_defined",
	"traits is no map":                 "traits_not_object properties_not_object",
	"context is no map":                "context_not_object properties_not_object traits_not_object",
	"integrations is no map":           "integrations_not_object properties_not_object traits_not_object context_not_object",
	"no such field: originalTimestamp": "timestamp_invalid",
	"no such field: sentAt":            "timestamp_invalid",
	"no such field: traits":            "traits_not_object",
	"no such field: properties":        "properties_not_object",
	"no such field: groupId":           "id_not_string",
	"no such field: previousId":        "id_not_string",
	"no such field: unknown":           "too_deep",
	"no such field: __proto__":         "id_required",
}

func runTimestampCase(t *testing.T, each contractCase) {
	var given, expected interface{}
	if err := json.Unmarshal([]byte(filled(each.Input, each.Fills)), &given); err != nil {
		t.Skip("cannot be written in Go: ", err)
	}
	if err := json.Unmarshal([]byte(each.Expect), &expected); err != nil {
		t.Fatal(err)
	}
	text, isText := given.(string)
	if !isText {
		t.Skip("cannot be written in Go: Timestamp is text")
	}
	at, isRead := parseTimestamp(text)
	if want, isReadable := expected.(string); isRead != isReadable || (isRead && FormatTime(at) != want) {
		t.Fatalf("%q is read as %s (%v), the server reads %v", text, FormatTime(at), isRead, expected)
	}
}
