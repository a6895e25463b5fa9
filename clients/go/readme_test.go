package millrace

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheReadmeNamesEverySetting(t *testing.T) {
	text, kind := readme(t), reflect.TypeFor[Client]()
	for i := range kind.NumField() {
		if field := kind.Field(i); field.IsExported() && !strings.Contains(text, "| `"+field.Name+"` |") {
			t.Errorf("%s has no row", field.Name)
		}
	}
}

func TestTheReadmeNamesEveryCode(t *testing.T) {
	text := readme(t)
	for _, refused := range []*RefusedError{
		errTypeUnknown, errTooDeep, errCallTooLarge, errMessageIdTooLong, errIdRequired, errUserIdRequired, errPreviousIdRequired,
		errGroupIdRequired, errEventNotDefined, errContextSelection, errTimestampInvalid, notJSON(""),
	} {
		if !strings.Contains(text, "`"+refused.Code+"`") {
			t.Errorf("%s is missing", refused.Code)
		}
	}
}

// The README's programs are read from the examples, which are compiled and run.
func TestTheReadmesCodeIsTheExamples(t *testing.T) {
	var code string
	for _, program := range []string{"main.go", "receive/main.go", "import/main.go"} {
		text, err := os.ReadFile("../../examples/go-client/" + program)
		if err != nil {
			t.Fatal(err)
		}
		code += squeezed(string(text))
	}
	for i, block := range strings.Split(readme(t), "```go\n")[1:] {
		block = squeezed(block[:strings.Index(block, "```")])
		if !strings.Contains(code, block) && !strings.HasPrefix(block, "import analytics") {
			t.Errorf("code block %d is in no example", i+1)
		}
	}
}

func squeezed(text string) string {
	return strings.Join(strings.Fields(text), " ")
}
