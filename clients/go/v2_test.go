package millrace_test

import (
	"io"
	"log"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	// A program that used version 2 of Segment's library changes only this line.
	analytics "github.com/millrace/millrace/clients/go"
)

// These are the calls that version 2 documented, as its users wrote them.
func TestCodeWrittenForVersion2OfSegmentsLibraryWorks(t *testing.T) {
	server := &bodies{}
	client := analytics.New("h97jamjwbh")
	client.Endpoint = "https://collect.example"
	client.Interval = 30 * time.Second
	client.Size = 100
	client.Verbose = true
	client.Logger = log.New(io.Discard, "analytics ", log.LstdFlags)
	client.Client = http.Client{Transport: server, Timeout: time.Minute}

	client.Identify(&analytics.Identify{
		UserId: "019mr8mf4r",
		Traits: map[string]interface{}{
			"name":    "Michael Bolton",
			"email":   "mbolton@example.com",
			"plan":    "Enterprise",
			"friends": 42,
		},
	})
	client.Track(&analytics.Track{
		Event:  "Signed Up",
		UserId: "f4ca124298",
		Properties: map[string]interface{}{
			"plan": "Enterprise",
		},
		Integrations: map[string]interface{}{
			"All":      false,
			"Webhooks": true,
		},
	})
	client.Page(&analytics.Page{
		UserId:   "f4ca124298",
		Category: "Docs",
		Name:     "Go library",
		Traits: map[string]interface{}{
			"url": "https://shop.example/libraries/go",
		},
	})
	client.Group(&analytics.Group{
		UserId:  "019mr8mf4r",
		GroupId: "56",
		Traits: map[string]interface{}{
			"name": "Initech",
		},
	})
	client.Alias(&analytics.Alias{
		UserId:     "identified@example.com",
		PreviousId: "anonymous_id",
	})
	err := client.Track(&analytics.Track{
		Event:       "Downloaded",
		AnonymousId: "anon",
		Context:     map[string]interface{}{"ip": "203.0.113.9"},
		Message:     analytics.Message{MessageId: "own-id", Timestamp: "2012-12-02T00:30:08+0000"},
	})
	if err != nil {
		t.Fatal(err)
	}
	page := analytics.Page{UserId: "u"}
	page.Timestamp = "2012-12-02T00:30:08Z"
	if err := client.Page(&page); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}

	sent := server.all()
	for _, part := range []string{
		`"userId":"019mr8mf4r","traits":{"email":"mbolton@example.com","friends":42,"name":"Michael Bolton","plan":"Enterprise"}`,
		`"userId":"f4ca124298","event":"Signed Up","properties":{"plan":"Enterprise"}`,
		`"integrations":{"All":false,"Webhooks":true}`,
		`"name":"Go library","category":"Docs","properties":{"url":"https://shop.example/libraries/go"}`,
		`"userId":"019mr8mf4r","groupId":"56","traits":{"name":"Initech"}`,
		`"userId":"identified@example.com","previousId":"anonymous_id"`,
		`"messageId":"own-id","timestamp":"2012-12-02T00:30:08.000Z","anonymousId":"anon","event":"Downloaded","context":{"ip":"203.0.113.9","library"`,
		`"timestamp":"2012-12-02T00:30:08.000Z","userId":"u"`,
	} {
		if !strings.Contains(sent, part) {
			t.Errorf("%s is not in %s", part, sent)
		}
	}
}

func TestWhatAPageHasInBothNamesIsSentOnce(t *testing.T) {
	server := &bodies{}
	client := analytics.New("k")
	client.Client.Transport = server
	err := client.Page(&analytics.Page{
		UserId:     "u",
		Traits:     map[string]interface{}{"a": "old", "b": "old"},
		Properties: map[string]interface{}{"b": "new", "c": "new"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if sent := server.all(); !strings.Contains(sent, `"properties":{"a":"old","b":"new","c":"new"},"context"`) {
		t.Error(sent)
	}
}

// bodies is a network that takes everything and keeps what it was sent.
type bodies struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *bodies) RoundTrip(request *http.Request) (*http.Response, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	reader, err := plainBody(request)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(&b.text, reader)
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody}, err
}

func (b *bodies) all() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
