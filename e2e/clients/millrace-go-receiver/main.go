// A receiver written with the helper of Millrace's own Go library, with WEBHOOK_SECRET and PORT.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	millrace "github.com/millrace/millrace/clients/go"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on %d\n", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, http.HandlerFunc(receive)))
}

func receive(response http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 512_000))
	if err != nil {
		response.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	event, err := millrace.VerifyWebhook(body, request.Header, os.Getenv("WEBHOOK_SECRET"))
	if err != nil {
		http.Error(response, err.Error(), http.StatusUnauthorized)
		return
	}
	response.WriteHeader(http.StatusOK)
	fmt.Println(event.Id, event.Type)
}
