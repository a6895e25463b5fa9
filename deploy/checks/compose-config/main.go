// Prints a compose file as `docker compose config` understands it, as JSON: variables of .env, `extends` and merges are resolved with
// the loader of Docker Compose itself, without a container engine. Used by deploy/compose/compose.test.ts.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	if err := printProject(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The profile `*` stands for all of them.
func printProject(files []string) error {
	options, err := cli.NewProjectOptions(files,
		cli.WithOsEnv, cli.WithEnvFiles(), cli.WithDotEnv, cli.WithProfiles([]string{"*"}), cli.WithResolvedPaths(true))
	if err != nil {
		return err
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(project)
}
