package millrace_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	millrace "github.com/millrace/millrace/clients/go"
)

// collector stands in for a Millrace server, so that the examples run anywhere.
func collector() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"success":true}`)
	}))
}

func Example() {
	server := collector()
	defer server.Close()

	client := millrace.New("demo-write-key")
	client.Endpoint = server.URL
	err := client.Track(&millrace.Track{
		UserId:     "user-1",
		Event:      "Order Completed",
		Properties: map[string]interface{}{"revenue": 12.5, "currency": "EUR"},
	})
	if err != nil {
		fmt.Println(err)
	}
	if err := client.Close(); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%+v\n", client.Counts())
	// Output: {Sent:1 Failed:0 Dropped:0}
}

func ExampleClient_Track_refused() {
	client := millrace.New("demo-write-key")
	err := client.Track(&millrace.Track{UserId: "user-1"})
	var refused *millrace.RefusedError
	if errors.As(err, &refused) {
		fmt.Println(refused.Code)
	}
	// Output: event_not_defined
}

func ExampleClient_Flush() {
	server := collector()
	defer server.Close()
	client := millrace.New("demo-write-key")
	client.Endpoint = server.URL
	defer client.Close()

	for range 3 {
		_ = client.Identify(&millrace.Identify{UserId: "user-1"})
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	counts, err := client.Flush(ctx)
	fmt.Printf("%+v %v\n", counts, err)
	// Output: {Sent:3 Failed:0 Dropped:0} <nil>
}

// Calls that could not be sent are kept elsewhere.
func ExampleClient_callbacks() {
	client := millrace.New("demo-write-key")
	client.Endpoint = "http://127.0.0.1:1"
	client.MaxTries = 1
	client.OnFailed = func(report millrace.Report) {
		fmt.Println("kept for another day:", report.Type, report.MessageId)
	}
	_ = client.Page(&millrace.Page{AnonymousId: "a1", Name: "Home", MessageId: "page-1"})
	fmt.Println(client.Close())
	// Output:
	// kept for another day: page page-1
	// millrace: 1 of the last 1 calls were not sent
}

// A handler that receives webhooks.
func ExampleVerifyWebhook() {
	const secret = "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ="
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
			return
		}
		event, err := millrace.VerifyWebhook(body, r.Header, secret)
		if err != nil {
			http.Error(w, "not from Millrace", http.StatusUnauthorized)
			return
		}
		fmt.Println("take", event.Type, "of", event.UserId)
	})
	request := httptest.NewRequest(http.MethodPost, "/", nil)
	request.Header.Set("X-Signature", "0000")
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	fmt.Println(answer.Code)
	// Output: 401
}

// A server that sends its last calls before it ends.
func ExampleClient_CloseContext() {
	server := collector()
	defer server.Close()
	client := millrace.New("demo-write-key")
	client.Endpoint = server.URL

	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Queued, not sent: the visitor does not wait for it.
		_ = client.Page(&millrace.Page{AnonymousId: "a1", Name: r.URL.Path})
	}))
	if answer, err := http.Get(shop.URL + "/orders"); err == nil {
		_ = answer.Body.Close()
	}
	shop.Close() // In a program: when signal.NotifyContext says that SIGTERM came.

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	fmt.Println(client.CloseContext(ctx), client.Counts().Sent)
	// Output: <nil> 1
}
