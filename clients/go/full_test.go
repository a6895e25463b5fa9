package millrace

import "os"

// full chooses the size of a test: small on every change, whole when the environment variable MILLRACE_FULL is set.
func full(small, whole int) int {
	if os.Getenv("MILLRACE_FULL") != "" {
		return whole
	}
	return small
}
