// A script that imports history: `go run ./import [endpoint] < orders.txt`, one order and its day a line.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"

	millrace "github.com/millrace/millrace/clients/go"
)

func main() {
	client := millrace.New("demo-write-key")
	if len(os.Args) > 1 {
		client.Endpoint = os.Args[1]
	}
	// A script has time: it waits for room instead of dropping.
	client.WhenFull = millrace.Block
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var order, day string
		if _, err := fmt.Sscan(lines.Text(), &order, &day); err != nil {
			log.Fatal(err)
		}
		err := client.Track(&millrace.Track{
			UserId:    "import",
			Event:     "Order Completed",
			Timestamp: day,
			// The same on every run, so that whoever receives the events can recognise a repeated one.
			MessageId:  "order-" + order,
			Properties: map[string]interface{}{"orderId": order},
		})
		if err != nil {
			log.Fatalf("%s: %v", lines.Text(), err)
		}
	}
	if err := client.Close(); err != nil {
		log.Fatal(err)
	}
	log.Printf("%d calls sent", client.Counts().Sent)
}
