package cli_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/ui/cli"
	"coffer/ui/cli/act"
	"coffer/ui/cli/check"
	"coffer/ui/cli/keys"
	"coffer/ui/cli/roles"
	"coffer/ui/doctor"
)

// whole is the program with every command that main gives it; none of them can reach anything.
func whole(out io.Writer, env ...string) cli.Program {
	actions, profiles := act.Commands{Out: out, Err: out}, keys.Profiles{Out: out}
	return cli.Program{
		Out: out, Err: out, Env: append([]string{"HOME=/nowhere"}, env...),
		Build: cli.Build{Version: "v1.2.3", Revision: strings.Repeat("ab", 20), Time: "2026-11-21T18:00:00Z",
			Go: "go1.26.8", Target: "linux/amd64 v1"},
		Catalog: func(string) (*catalog.Catalog, error) { return catalog.Load() },
		SetUp:   func(context.Context, cli.Global, bool) error { return nil },
		Doctor: func(context.Context, cli.Global) ([]doctor.Finding, doctor.Deps, error) {
			return nil, doctor.Deps{}, nil
		},
		Balances: func(context.Context, cli.Global) (*api.Document, error) { return nil, nil },
		Serve:    func(context.Context, cli.ServeOptions) error { return nil },
		Accounts: roles.Commands{},
		FaultHelp: []string{"no-route                     quotes find no route",
			"slow-fill=<duration>         the solver waits before the target block"},
		AccountsExtra: func(g *cli.Global) []*cobra.Command {
			return append(profiles.Accounts(g), actions.Allowances(g))
		},
		Extra: []func(*cli.Global) *cobra.Command{
			keys.Commands{Out: out}.Command, profiles.Command, check.Commands{Out: out}.Verify,
			check.Commands{Out: out}.Intent,
			actions.Assets, actions.Chains, actions.History, actions.Status, actions.Activity, actions.Refund,
			actions.Call, actions.Pay,
			actions.Transfer, actions.Swap, actions.Plan, actions.Apply, actions.Export,
		},
	}
}

// says runs a command line and returns its output.
func says(t *testing.T, env []string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := whole(&out, env...).Run(t.Context(), args); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, &out)
	}
	return out.String()
}
