package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"time"

	millrace "github.com/millrace/millrace/clients/go"
	"gopkg.in/segmentio/analytics-go.v3"
)

// gate is the transport of a contender; it lets the caller on when a request has its answer.
type gate struct {
	transport http.Transport
	answered  chan struct{}
}

func newGate() *gate {
	return &gate{answered: make(chan struct{}, 100)}
}

func (g *gate) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := g.transport.RoundTrip(request)
	if err != nil || response.StatusCode != http.StatusOK {
		log.Fatal("the receiver did not take it: ", response, err)
	}
	g.answered <- struct{}{}
	return response, err
}

func (g *gate) pass() {
	select {
	case <-g.answered:
	case <-time.After(10 * time.Second):
		log.Fatal("no request after 20 calls")
	}
}

// properties are the same for all, and made anew for each call as an application would.
func properties() map[string]interface{} {
	return map[string]interface{}{
		"orderId":  "50314b8e9bcf000000000000",
		"revenue":  25.5,
		"currency": "EUR",
		"isGift":   false,
		"url":      "https://shop.example/checkout?step=3&plan=pro",
		"products": []interface{}{
			map[string]interface{}{"sku": "G-32", "name": "Größe ✓", "price": 18.99, "quantity": 1},
		},
	}
}

func newMillrace(url string) *contender {
	g := newGate()
	client := millrace.New("write-key")
	client.Endpoint = url
	client.FlushAfter = time.Hour
	client.Client.Transport = g
	client.OnFailed = func(report millrace.Report) { log.Fatal(report.Err) }
	return &contender{name: "millrace", gate: g, close: func() { _ = client.Close() }, track: func() {
		err := client.Track(&millrace.Track{UserId: "019mr8mf4r", Event: "Order Completed", Properties: properties()})
		if err != nil {
			log.Fatal(err)
		}
	}}
}

func newSegment(url string) *contender {
	g := newGate()
	client, err := analytics.NewWithConfig("write-key", analytics.Config{
		Endpoint: url, BatchSize: batch, Interval: time.Hour, Transport: g, Logger: analytics.StdLogger(log.New(io.Discard, "", 0)),
	})
	if err != nil {
		log.Fatal(err)
	}
	return &contender{name: "analytics-go v3", gate: g, close: func() { _ = client.Close() }, track: func() {
		err := client.Enqueue(analytics.Track{UserId: "019mr8mf4r", Event: "Order Completed", Properties: properties()})
		if err != nil {
			log.Fatal(err)
		}
	}}
}

type twinCall struct {
	Type       string                 `json:"type"`
	MessageId  string                 `json:"messageId"`
	Timestamp  time.Time              `json:"timestamp"`
	UserId     string                 `json:"userId"`
	Event      string                 `json:"event"`
	Properties map[string]interface{} `json:"properties"`
}

// newTwin does what every such library must, and nothing else: append, and for 20 calls one json.Marshal and one request.
func newTwin(url string) *contender {
	g := newGate()
	client := http.Client{Transport: g}
	var queue []twinCall
	return &contender{name: "twin", gate: g, close: func() {}, track: func() {
		queue = append(queue, twinCall{Type: "track", MessageId: "50314b8e-9bcf-4000-8000-000000000000", Timestamp: time.Now(),
			UserId: "019mr8mf4r", Event: "Order Completed", Properties: properties()})
		if len(queue) == batch {
			go post(&client, url, queue)
			queue = nil
		}
	}}
}

func post(client *http.Client, url string, calls []twinCall) {
	body, err := json.Marshal(map[string]interface{}{"batch": calls})
	if err != nil {
		log.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodPost, url+"/v1/batch", bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.SetBasicAuth("write-key", "")
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
}
