// Tells the story with analytics-go v3: `segment-go <endpoint> <write key>`.
package main

import (
	"log"
	"os"
	"sync/atomic"
	"time"

	"gopkg.in/segmentio/analytics-go.v3"
)

type outcomes struct{ sent, failed atomic.Int32 }

func (o *outcomes) Success(analytics.Message) { o.sent.Add(1) }

func (o *outcomes) Failure(_ analytics.Message, err error) {
	o.failed.Add(1)
	log.Print(err)
}

func main() {
	seen := &outcomes{}
	config := analytics.Config{Endpoint: os.Args[1], Callback: seen}
	client, err := analytics.NewWithConfig(os.Args[2], config)
	if err != nil {
		log.Fatal(err)
	}
	calls := story()
	for _, call := range calls {
		if err := client.Enqueue(call); err != nil {
			log.Fatal(err)
		}
	}
	if err := client.Close(); err != nil {
		log.Fatal(err)
	}
	if seen.failed.Load() > 0 || int(seen.sent.Load()) != len(calls) {
		log.Fatalf("%d of %d calls sent, %d failed", seen.sent.Load(), len(calls), seen.failed.Load())
	}
}

func story() []analytics.Message {
	winter := time.FixedZone("CET", 60*60)
	return []analytics.Message{
		analytics.Identify{UserId: "user-1", Traits: analytics.NewTraits().
			SetEmail("ada@example.com").Set("plan", "pro").Set("logins", 3).
			Set("address", map[string]any{"city": "Zürich"})},
		analytics.Track{UserId: "user-1", Event: "Order Completed",
			Timestamp: time.Date(2020, 1, 1, 1, 0, 0, 0, winter),
			Properties: analytics.NewProperties().SetRevenue(12.5).SetCurrency("EUR").
				Set("products", []any{map[string]any{"sku": "A-1", "quantity": 2}}).Set("coupon", nil),
			Context:      &analytics.Context{IP: []byte{203, 0, 113, 9}, UserAgent: "story/1.0"},
			Integrations: analytics.NewIntegrations().DisableAll().Enable("Webhooks")},
		analytics.Page{AnonymousId: "anon-1", Name: "Home",
			Properties: analytics.NewProperties().SetURL("https://shop.example/").SetTitle("Größe ✓")},
		analytics.Screen{UserId: "user-1", Name: "Main",
			Properties: analytics.NewProperties().Set("tab", "orders")},
		analytics.Group{UserId: "user-1", GroupId: "group-1",
			Traits: analytics.NewTraits().SetName("Acme").Set("employees", 42)},
		analytics.Alias{UserId: "user-2", PreviousId: "user-1"},
	}
}
