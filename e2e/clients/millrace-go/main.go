// Tells the story with Millrace's own Go library: `millrace-go <endpoint> <write key>`. With a number as the third argument
// it makes that many track calls instead, over some seconds.
package main

import (
	"context"
	"log"
	"os"
	"strconv"
	"time"

	millrace "github.com/millrace/millrace/clients/go"
)

func main() {
	client := millrace.New(os.Args[2])
	client.Endpoint = os.Args[1]
	client.OnFailed = func(report millrace.Report) { log.Print(report.Type, " ", report.MessageId, ": ", report.Err) }
	calls := story()
	if len(os.Args) > 3 {
		calls = many(os.Args[3])
		client.MaxQueueCalls, client.WhenFull = 200, millrace.Block
	}
	for i, call := range calls {
		if err := client.Enqueue(context.Background(), call); err != nil {
			log.Fatal(err)
		}
		if i%100 == 99 {
			time.Sleep(50 * time.Millisecond)
		}
	}
	if err := client.Close(); err != nil {
		log.Fatal(err)
	}
	if counts := client.Counts(); counts.Sent != len(calls) {
		log.Fatalf("of %d calls: %+v", len(calls), counts)
	}
}

func many(number string) []millrace.Call {
	count, err := strconv.Atoi(number)
	if err != nil {
		log.Fatal(err)
	}
	calls := make([]millrace.Call, count)
	for i := range calls {
		calls[i] = &millrace.Track{UserId: "user-1", Event: "Counted", MessageId: "call-" + strconv.Itoa(i)}
	}
	return calls
}

func story() []millrace.Call {
	winter := time.FixedZone("CET", 60*60)
	return []millrace.Call{
		&millrace.Identify{UserId: "user-1", Traits: map[string]any{
			"email": "ada@example.com", "plan": "pro", "logins": 3, "address": map[string]string{"city": "Zürich"}}},
		&millrace.Track{UserId: "user-1", Event: "Order Completed",
			Timestamp: millrace.FormatTime(time.Date(2020, 1, 1, 1, 0, 0, 0, winter)),
			Properties: map[string]any{"revenue": 12.5, "currency": "EUR", "coupon": nil,
				"products": []any{map[string]any{"sku": "A-1", "quantity": 2}}},
			Context:      map[string]any{"ip": "203.0.113.9", "userAgent": "story/1.0"},
			Integrations: map[string]any{"All": false, "Webhooks": true}},
		&millrace.Page{AnonymousId: "anon-1", Category: "Docs", Name: "Home",
			Traits: map[string]any{"url": "https://shop.example/", "title": "Größe ✓"}},
		&millrace.Screen{UserId: "user-1", Name: "Main", Properties: map[string]any{"tab": "orders"}},
		&millrace.Group{UserId: "user-1", GroupId: "group-1", Traits: map[string]any{"name": "Acme", "employees": 42}},
		&millrace.Alias{UserId: "user-2", PreviousId: "user-1"},
	}
}
