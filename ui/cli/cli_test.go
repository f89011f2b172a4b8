package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/config"
	"coffer/wallet/vault"
)

func program(t *testing.T) (Program, *bytes.Buffer) {
	t.Helper()
	out := new(bytes.Buffer)
	return Program{
		Out: out, Err: out, Terminal: true, Env: []string{"HOME=/nowhere"},
		Build:   Build{Version: "v0.0.0", Revision: "abc", Time: "2026-01-01", Go: "go1", Modified: true},
		Catalog: func(string) (*catalog.Catalog, error) { return catalog.Load() },
		Balances: func(_ context.Context, g Global) (*api.Document, error) {
			if g.Profile == "nobody" {
				return nil, &config.Error{Problem: "there is no such profile"}
			}
			return api.ParseDocument([]byte(balancesDoc), api.DefaultLimits())
		},
		Dashboard: func(context.Context, Global) error { out.WriteString("dashboard"); return nil },
		Serve: func(_ context.Context, o ServeOptions) error {
			fmt.Fprintf(out, "%+v", o)
			return nil
		},
	}, out
}

func TestWithoutTerminalTheDashboardSaysWhatToRun(t *testing.T) {
	p, out := program(t)
	p.Terminal = false
	err := p.Run(t.Context(), nil)
	if Code(err) != ExitUsage {
		t.Fatalf("code %d: %v", Code(err), err)
	}
	Report(out, err)
	if !strings.Contains(out.String(), "coffer balances --json") {
		t.Fatalf("got %s", out)
	}
	p.Terminal = true
	out.Reset()
	if err := p.Run(t.Context(), nil); err != nil || out.String() != "dashboard" {
		t.Fatalf("%v, %s", err, out)
	}
}

func TestExitCodes(t *testing.T) {
	p, _ := program(t)
	for name, c := range map[string]struct {
		args []string
		want int
	}{
		"done":            {[]string{"version"}, ExitDone},
		"unknown command": {[]string{"fly"}, ExitUsage},
		"unknown flag":    {[]string{"balances", "--fast"}, ExitUsage},
		"extra word":      {[]string{"balances", "now"}, ExitUsage},
		"bad fund":        {[]string{"serve", "--fund", "maybe"}, ExitUsage},
		"bad profile":     {[]string{"--profile", "nobody", "balances"}, ExitUsage},
	} {
		if got := Code(p.Run(t.Context(), c.args)); got != c.want {
			t.Errorf("%s: %d, expected %d", name, got, c.want)
		}
	}
	for err, want := range map[error]int{
		errors.New("x"):                                        ExitFailed,
		api.NewError(api.ErrUnauthorized, "x"):                 ExitAccess,
		api.NewError(api.ErrForbidden, "x"):                    ExitAccess,
		fmt.Errorf("unlock: %w", vault.ErrPassphrase):          ExitAccess,
		api.NewError(api.ErrQuoteExpired, "x"):                 ExitExpired,
		fmt.Errorf("w: %w", api.NewError(api.ErrNoRoute, "x")): ExitFailed,
	} {
		if got := Code(err); got != want {
			t.Errorf("%v: %d, expected %d", err, got, want)
		}
	}
}

func TestVersionNamesTheBuild(t *testing.T) {
	p, out := program(t)
	if err := p.Run(t.Context(), []string{"version"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "v0.0.0") || !strings.Contains(out.String(),
		"abc of 2026-01-01, with local changes") {
		t.Fatalf("got %s", out)
	}
}

// TH-R1: an error may repeat the name of a file; none of its characters reach the terminal as a command.
func TestReportCleansForeignText(t *testing.T) {
	var out strings.Builder
	Report(&out, fmt.Errorf("open: %w", &UsageError{Problem: "a\x1b]0;x\x07\nb\u202e", Hint: "run \x9b31m\x1b[2J"}))
	if got := out.String(); !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\x07\u202e") ||
		!strings.HasPrefix(got, "coffer: open: a") || strings.Count(got, "\n") != 3 {
		t.Errorf("%q", got)
	}
}

// TH-K1: errors do not repeat what may be a key; they repeat a mistyped command.
func TestArgumentsThatMayBeSecretAreNotRepeated(t *testing.T) {
	const word = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"
	for _, args := range [][]string{
		{word}, {"0x" + word}, {"4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T"}, {"legal winner thank"},
		strings.Fields("legal winner thank year wave sausage worth useful legal winner thank yellow"), {`[1,2]`},
	} {
		err := noArgs((Program{}).root(), args)
		if Code(err) != ExitUsage || strings.Contains(fmt.Sprint(err), args[0]) {
			t.Errorf("%q: %v", args, err)
		}
	}
	var usage *UsageError
	if err := noArgs((Program{}).root(), []string{"balnces"}); !errors.As(err, &usage) ||
		!strings.Contains(usage.Problem, "balnces") || !strings.Contains(usage.Hint, "`coffer balances`?") {
		t.Errorf("%+v", usage)
	}
}
