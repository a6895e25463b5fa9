// A receiver of Millrace's webhooks: `SECRET=… go run ./receive`.
package main

import (
	"io"
	"log"
	"net/http"
	"os"

	millrace "github.com/millrace/millrace/clients/go"
)

func main() {
	log.Fatal(http.ListenAndServe("127.0.0.1:4000", receive(os.Getenv("SECRET"))))
}

func receive(secret string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
			return
		}
		event, err := millrace.VerifyWebhook(body, r.Header, secret)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		// event.Id is the same when the webhook is delivered again: skip those you have seen.
		log.Print(event.Id, " ", event.Type, " ", event.UserId)
	}
}
