// A web server that records its visits, and ends without losing any: `go run . [endpoint]`.
package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	millrace "github.com/millrace/millrace/clients/go"
)

func main() {
	client := millrace.New("demo-write-key")
	if len(os.Args) > 1 {
		client.Endpoint = os.Args[1]
	}
	client.OnFailed = func(r millrace.Report) { log.Printf("not sent: %s %s: %v", r.Type, r.MessageId, r.Err) }
	client.OnDropped = func(r millrace.Report) { log.Printf("dropped: %s %s", r.Type, r.MessageId) }
	if err := serve(client); err != nil {
		log.Fatal(err)
	}
	log.Printf("%+v", client.Counts())
}

func serve(client *millrace.Client) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	server := &http.Server{Addr: "127.0.0.1:3000", Handler: visits(client), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Shutdown(context.Background())
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}

	// No more visits: now the calls that are still queued.
	last, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return client.CloseContext(last)
}

func visits(client *millrace.Client) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := client.Page(&millrace.Page{
			AnonymousId: r.RemoteAddr,
			Name:        r.URL.Path,
			Properties:  map[string]interface{}{"url": r.URL.String(), "referrer": r.Referer()},
			Context:     map[string]interface{}{"userAgent": r.UserAgent()},
		})
		if err != nil {
			log.Print(err)
		}
		_, _ = w.Write([]byte("hello\n"))
	})
}
