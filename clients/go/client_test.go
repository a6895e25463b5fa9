package millrace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// outcomes records the callbacks: how often each call ended, and how.
type outcomes struct {
	mu     sync.Mutex
	counts Counts
	ends   map[string]int
	errs   []error
}

func newTestClient(transport http.RoundTripper) (*Client, *outcomes) {
	told := &outcomes{ends: map[string]int{}}
	client := New("test-write-key")
	client.Client.Transport = transport
	client.Logger = log.New(io.Discard, "", 0)
	client.OnSent = told.tell(outcomeSent)
	client.OnFailed = told.tell(outcomeFailed)
	client.OnDropped = told.tell(outcomeDropped)
	return client, told
}

func (o *outcomes) tell(outcome outcome) func(Report) {
	return func(report Report) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.counts.add(outcome)
		o.ends[report.MessageId]++
		if (report.Err != nil) != (outcome != outcomeSent) || report.Type == "" || len(report.Call) == 0 {
			panic("a report without its facts")
		}
		if report.Err != nil {
			o.errs = append(o.errs, report.Err)
		}
	}
}

func (o *outcomes) read() Counts {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.counts
}

// assertAllEnded: nothing is silent, nothing is told twice.
func (o *outcomes) assertAllEnded(t *testing.T, client *Client, calls int) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if sum := o.counts.Sent + o.counts.Failed + o.counts.Dropped; sum != calls || client.Counts() != o.counts {
		t.Errorf("of %d calls the callbacks were told %+v, the client counts %+v", calls, o.counts, client.Counts())
	}
	for id, times := range o.ends {
		if times != 1 || id == "" {
			t.Errorf("the call %q ended %d times", id, times)
		}
	}
}

func track(t *testing.T, client *Client, times int) {
	t.Helper()
	for range times {
		if err := client.Track(&Track{UserId: "u1", Event: "E"}); err != nil {
			t.Fatal(err)
		}
	}
}

func mustFlush(t *testing.T, client *Client) Counts {
	t.Helper()
	counts, err := client.Flush(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

func TestARequestSaysWhoSendsAndWhere(t *testing.T) {
	server := newRecorder()
	client, _ := newTestClient(server)
	client.Endpoint = "https://collect.example/prefix/"
	track(t, client, 1)
	mustFlush(t, client)
	got := server.requests()[0]
	want := map[string]string{
		"Authorization":    "Basic dGVzdC13cml0ZS1rZXk6",
		"Content-Type":     "application/json",
		"User-Agent":       "millrace-go/" + Version,
		"Content-Encoding": "",
		"X-Retry-Count":    "",
	}
	for name, value := range want {
		if got.header.Get(name) != value {
			t.Errorf("%s is %q", name, got.header.Get(name))
		}
	}
	if got.url != "https://collect.example/prefix/v1/batch" {
		t.Error(got.url)
	}
	if !strings.Contains(string(got.body), `"context":{"library":{"name":"millrace-go","version":"`+Version+`"}}`) {
		t.Errorf("the library is not named: %s", got.body)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}

func TestTheDefaultEndpointIsTheDevelopersOwnMachine(t *testing.T) {
	server := newRecorder()
	client, _ := newTestClient(server)
	track(t, client, 1)
	mustFlush(t, client)
	if url := server.requests()[0].url; url != "http://localhost:8080/v1/batch" {
		t.Error(url)
	}
}

func TestOnlyWhatIsLargerThanOneKilobyteIsCompressed(t *testing.T) {
	for _, size := range []int{gzipAbove, gzipAbove + 1} {
		server := newRecorder()
		client, _ := newTestClient(server)
		empty := &Track{UserId: "u1", Event: "E", MessageId: "m", Properties: map[string]interface{}{"t": ""}}
		queued, _ := client.encode(empty, time.Now())
		overhead := len(queued.body) + len(batchStart) + len(batchEnd)
		empty.Properties["t"] = strings.Repeat("x", size-overhead)
		if err := client.Track(empty); err != nil {
			t.Fatal(err)
		}
		mustFlush(t, client)
		got := server.requests()[0]
		if isPacked := got.header.Get("Content-Encoding") == "gzip"; isPacked != (size > gzipAbove) || len(got.body) != size {
			t.Errorf("a body of %d bytes: gzip %v", len(got.body), isPacked)
		}
	}
}

func TestACallBelongsToTheClientOnceItIsQueued(t *testing.T) {
	server := newRecorder()
	client, _ := newTestClient(server)
	call := &Track{UserId: "u1", Event: "Before", Properties: map[string]interface{}{"a": 1}}
	if err := client.Track(call); err != nil {
		t.Fatal(err)
	}
	call.Event, call.Properties["a"] = "After", 2
	mustFlush(t, client)
	if body := string(server.requests()[0].body); !strings.Contains(body, `"event":"Before","properties":{"a":1}`) {
		t.Error(body)
	}
}

func TestARefusedCallIsNeitherSentNorCounted(t *testing.T) {
	server := newRecorder()
	client, told := newTestClient(server)
	var refused *RefusedError
	if err := client.Track(&Track{UserId: "u1"}); !errors.As(err, &refused) || refused.Code != "event_not_defined" {
		t.Error(err)
	}
	if err := client.Page(nil); !errors.As(err, &refused) || refused.Code != "type_unknown" {
		t.Error(err)
	}
	if err := client.Track(&Track{UserId: "u", Event: "E", Properties: map[string]interface{}{"a": make(chan int)}}); !errors.As(err, &refused) || refused.Code != "not_json" {
		t.Error(err)
	}
	if err := client.Close(); err != nil || len(server.requests()) != 0 {
		t.Error(err, server.requests())
	}
	told.assertAllEnded(t, client, 0)
}

func TestSettingsThatCannotWorkAreReportedByTheFirstCall(t *testing.T) {
	broken := map[string]func(*Client){
		"write key":     func(c *Client) { c.key = "" },
		"Endpoint":      func(c *Client) { c.Endpoint = "collect.example" },
		"FlushAt":       func(c *Client) { c.FlushAt = -1 },
		"Timeout":       func(c *Client) { c.Timeout = -1 },
		"WhenFull":      func(c *Client) { c.WhenFull = 7 },
		"MaxQueueCalls": func(c *Client) { c.MaxQueueCalls = -5 },
	}
	for name, breakIt := range broken {
		client, _ := newTestClient(newRecorder())
		breakIt(client)
		if err := client.Identify(&Identify{UserId: "u1"}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTheLogNeverShowsTheWriteKey(t *testing.T) {
	for _, debug := range []string{"", "analytics", "express,analytics"} {
		var written bytes.Buffer
		t.Setenv("DEBUG", debug)
		server := newRecorder()
		server.answer = func(n int, _ recorded) (*http.Response, error) {
			return status([]int{503, 401}[min(n-1, 1)], `{"code":"invalid_write_key"}`), nil
		}
		client, _ := newTestClient(server)
		client.Endpoint = "http://user:password@collect.example"
		client.Logger = log.New(&written, "", 0)
		client.Verbose = debug == ""
		client.backoff = time.Microsecond
		track(t, client, 1)
		if err := client.Close(); err == nil {
			t.Error("closed without an error though the call failed")
		}
		text := written.String()
		if strings.Contains(text, "test-write-key") || strings.Contains(text, "password") || strings.Contains(text, "dGVzd") {
			t.Errorf("shown in %s", text)
		}
		for _, part := range []string{"sending", "waiting", "key=test…", "1 of 1 calls failed", "invalid_write_key"} {
			if !strings.Contains(text, part) {
				t.Errorf("%q is not in %s", part, text)
			}
		}
	}
}

func TestARedirectIsAFailureAndNotARequestWithoutItsCalls(t *testing.T) {
	server := newRecorder()
	server.answer = func(int, recorded) (*http.Response, error) {
		return status(302, "", "Location", "https://elsewhere.example/"), nil
	}
	client, told := newTestClient(server)
	track(t, client, 1)
	if counts := mustFlush(t, client); counts.Failed != 1 || len(server.requests()) != 1 {
		t.Errorf("%+v after %d requests", counts, len(server.requests()))
	}
	told.assertAllEnded(t, client, 1)
}

func TestEveryMethodSendsItsType(t *testing.T) {
	server := newRecorder()
	client, _ := newTestClient(server)
	err := errors.Join(
		client.Identify(&Identify{UserId: "u"}), client.Track(&Track{UserId: "u", Event: "E"}), client.Page(&Page{UserId: "u"}),
		client.Screen(&Screen{UserId: "u"}), client.Group(&Group{UserId: "u", GroupId: "g"}), client.Alias(&Alias{UserId: "u", PreviousId: "p"}),
		client.Close(),
	)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"identify", "track", "page", "screen", "group", "alias"} {
		call := server.requests()[0].calls[i]
		if call.Type != want || len(call.MessageId) != 36 || call.Timestamp == "" {
			t.Errorf("%+v, expected %s", call, want)
		}
	}
	nothing := []error{
		client.Identify(nil), client.Track(nil), client.Page(nil), client.Screen(nil), client.Group(nil), client.Alias(nil),
		client.Enqueue(context.Background(), nil),
	}
	for i, err := range nothing {
		if err == nil || !strings.Contains(err.Error(), "type_unknown") {
			t.Errorf("method %d takes nil: %v", i, err)
		}
	}
}
