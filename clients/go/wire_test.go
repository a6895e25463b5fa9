package millrace

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"strconv"
	"testing"
	"time"
)

type wireCase struct {
	Name  string
	Calls json.RawMessage
	Fills []fill
	Times int
	// Options are named as in the Node library.
	Options struct{ FlushAt, Size int }
	Fixed   struct {
		Now     string
		Library json.RawMessage
	}
	Body     string
	Refused  string
	Requests []struct{ Calls, Bytes int }
}

// The Node library runs the same file: both send the same bytes for the same calls.
func TestWire(t *testing.T) {
	var file struct{ Cases []wireCase }
	readCases(t, "client-wire.json", &file)
	if len(file.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, each := range file.Cases {
		t.Run(each.Name, func(t *testing.T) { runWireCase(t, each) })
	}
}

func runWireCase(t *testing.T, each wireCase) {
	server := newRecorder()
	client := New("k")
	client.Client.Transport = server
	client.Logger = log.New(io.Discard, "", 0)
	client.FlushAt, client.Size = each.Options.FlushAt, each.Options.Size
	now, err := time.Parse(time.RFC3339, each.Fixed.Now)
	if err != nil {
		t.Fatal(err)
	}
	client.now = func() time.Time { return now }
	ids := 0
	client.newId = func(buf []byte) []byte {
		ids++
		return strconv.AppendInt(append(buf, 'm'), int64(ids), 10)
	}
	client.library = string(each.Fixed.Library)
	err = makeCalls(t, client, each)
	var refused *RefusedError
	if errors.As(err, &refused) != (each.Refused != "") || (refused != nil && refused.Code != each.Refused) {
		t.Fatalf("refused with %v, expected %q", err, each.Refused)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	assertWire(t, each, server.requests())
}

func makeCalls(t *testing.T, client *Client, each wireCase) error {
	t.Helper()
	var calls []json.RawMessage
	if err := json.Unmarshal([]byte(filled(string(each.Calls), each.Fills)), &calls); err != nil {
		t.Fatal(err)
	}
	for range max(1, each.Times) {
		for _, text := range calls {
			call, why := callOf(string(text), "")
			if why != "" {
				t.Fatal("cannot be written in Go: ", why)
			}
			if err := client.Enqueue(context.Background(), call); err != nil {
				return err
			}
		}
	}
	return nil
}

func assertWire(t *testing.T, each wireCase, requests []recorded) {
	t.Helper()
	if each.Body != "" {
		if len(requests) != 1 || string(requests[0].body) != filled(each.Body, each.Fills) {
			t.Fatalf("sent %d requests, the first\n%s\nexpected\n%s", len(requests), requests[0].body, each.Body)
		}
	}
	if each.Refused != "" && len(requests) != 0 {
		t.Fatalf("a refused call was sent: %s", requests[0].body)
	}
	if len(each.Requests) == 0 {
		return
	}
	if len(requests) != len(each.Requests) {
		t.Fatalf("%d requests, expected %d", len(requests), len(each.Requests))
	}
	for i, want := range each.Requests {
		if got := requests[i]; len(got.calls) != want.Calls || len(got.body) != want.Bytes {
			t.Errorf("request %d has %d calls, %d bytes; expected %d, %d", i, len(got.calls), len(got.body), want.Calls, want.Bytes)
		}
	}
}
