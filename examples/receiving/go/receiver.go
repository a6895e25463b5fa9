// Run it: WEBHOOK_SECRET='…' PORT=8000 go run receiver.go
package main

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	maxBodyBytes = 512_000
	tolerance    = 5 * time.Minute
)

var secret = os.Getenv("WEBHOOK_SECRET")

// HMAC-SHA256 over id, time and body. There are two signatures while a secret is being replaced.
func hasWebhookSignature(header http.Header, body []byte) bool {
	id, sentAt := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(sentAt, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	key := []byte(secret)
	if encoded, ok := strings.CutPrefix(secret, "whsec_"); ok {
		if key, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return false
		}
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, sentAt, body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, signature := range strings.Fields(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(signature), []byte(expected)) {
			return true
		}
	}
	return false
}

// HMAC-SHA1 over the body alone.
func hasXSignature(header http.Header, body []byte) bool {
	mac := hmac.New(sha1.New, []byte(secret))
	mac.Write(body)
	expected := hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(header.Get("X-Signature")), []byte(expected))
}

type received struct {
	id   string
	body []byte
}

// In a real receiver: a table or a queue on disk. What waits here is lost when the program ends.
var inbox = make(chan received, 10_000)

func receive(isGenuine func(http.Header, []byte) bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
		if err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		if !isGenuine(r.Header, body) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		select {
		case inbox <- received{r.Header.Get("webhook-id"), body}:
			w.WriteHeader(http.StatusOK)
		default: // Full: Millrace comes back later.
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
}

// Runs beside the answers: it may take its time.
func work() {
	seen := map[string]bool{}
	for delivery := range inbox {
		if seen[delivery.id] {
			continue
		}
		seen[delivery.id] = true
		var event struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(delivery.body, &event); err != nil {
			log.Printf("%s cannot be read: %v", delivery.id, err)
			continue
		}
		fmt.Println(delivery.id, event.Type)
	}
}

func main() {
	if secret == "" {
		log.Fatal("WEBHOOK_SECRET is not set")
	}
	// Keep the check that you use and take out the other one.
	http.HandleFunc("POST /webhooks", receive(hasWebhookSignature))
	http.HandleFunc("POST /webhooks-sha1", receive(hasXSignature))
	go work()
	listener, err := net.Listen("tcp", "127.0.0.1:"+cmp.Or(os.Getenv("PORT"), "8000"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", listener.Addr().(*net.TCPAddr).Port)
	server := http.Server{ReadTimeout: 10 * time.Second}
	log.Fatal(server.Serve(listener))
}
