package millrace_test

import (
	"compress/gzip"
	"io"
	"net/http"
)

func plainBody(request *http.Request) (io.Reader, error) {
	if request.Header.Get("Content-Encoding") == "gzip" {
		return gzip.NewReader(request.Body)
	}
	return request.Body, nil
}
