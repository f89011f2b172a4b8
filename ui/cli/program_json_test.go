package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api"
	"coffer/ui/doctor"
)

// someAdmin is the result of an admin command: relayed, printed, and nothing to do.
func someAdmin(name string) []AdminResult {
	action := map[string]string{
		"accounts_exit_announce": api.AdminAnnounceExit, "accounts_exit_cancel": api.AdminCancelExit,
		"accounts_exit_sweep": api.AdminOperate, "accounts_undelegate": "undelegate",
	}[name]
	if action == "" {
		action = api.AdminRotateSession
	}
	const account = "0xAcc0000000000000000000000000000000000001"
	return []AdminResult{
		{Account: account, Chain: "eip155:8453", Action: action, Hash: "0x" + strings.Repeat("0a", 32),
			ExplorerURL: "https://explorer.invalid/tx/0x0a"},
		{Account: account, Chain: "eip155:10", Action: action,
			Calls: []AdminCall{{To: newSession, Data: "0x01"}, {To: account, Data: "0x02"}}},
		{Account: account, Chain: "eip155:1", Action: action, Skipped: "this is the session key already"},
	}
}

func someFindings() []doctor.Finding {
	return []doctor.Finding{
		{Area: doctor.AreaService, Name: "reached", Text: "in 12 ms"},
		{Area: doctor.AreaKeys, Name: "vault", Level: doctor.Unknown, Text: "locked"},
		{Area: doctor.AreaTerminal, Name: "size", Level: doctor.Warn, Text: "40 by 10", Todo: "make it larger"},
		{Area: doctor.AreaFiles, Name: "mode", Level: doctor.Bad, Text: "/x may be written by others",
			Todo: "chmod go-w /x"},
	}
}

// TestJSON pins every --json output of this package. Every one is one JSON document on standard output, whole also
// when the command fails.
func TestJSON(t *testing.T) {
	failed := errors.New("the relay is down")
	for name, c := range map[string]struct {
		args string
		code int
		err  error // of `accounts` after these results
	}{
		"balances":        {args: "balances --json"},
		"accounts_show":   {args: "accounts show --json"},
		"accounts_rotate": {args: "accounts rotate --new-session " + newSession + " --json"},
		"accounts_rotate_half": {args: "accounts rotate --new-session " + newSession + " --json", err: failed,
			code: ExitFailed},
		"accounts_exit_announce": {args: "accounts exit announce --json"},
		"accounts_exit_cancel":   {args: "accounts exit cancel --json"},
		"accounts_exit_sweep":    {args: "accounts exit sweep --to " + newSession + " --json"},
		"accounts_undelegate":    {args: "accounts undelegate daily --json"},
		"doctor":                 {args: "doctor --json", code: ExitFailed},
		"serve_keys_add":         {args: "serve keys add --public-test --json"},
		"serve_keys_list":        {args: "serve keys list --json"},
		"serve_keys_rotate":      {args: "serve keys rotate k7q2m9xw --json"},
		"serve_keys_revoke":      {args: "serve keys revoke k7q2m9xw --json"},
	} {
		t.Run(name, func(t *testing.T) {
			p, out := program(t)
			p.Err = new(strings.Builder)
			p.Accounts = &asked{done: someAdmin(name), err: c.err}
			p.Keys = &keyring{aged: true}
			p.Doctor = func(context.Context, Global) ([]doctor.Finding, doctor.Deps, error) {
				return someFindings(), doctor.Deps{Clock: func() time.Time { return time.Unix(0, 0) }}, nil
			}
			if err := p.Run(t.Context(), strings.Fields(c.args)); Code(err) != c.code {
				t.Fatalf("%v", err)
			}
			if !jsontext.Value(out.Bytes()).IsValid() || !strings.HasSuffix(out.String(), "\n") {
				t.Errorf("no JSON: %s", out)
			}
			golden.RequireEqual(t, out.Bytes())
		})
	}
}

// TestJSONIsWholeOrNothing: a command that fails before it has data prints none.
func TestJSONIsWholeOrNothing(t *testing.T) {
	failed := errors.New("down")
	for args, code := range map[string]int{
		"accounts show --json": ExitFailed, "accounts exit announce --json": ExitFailed,
		"balances --json --profile nobody": ExitUsage, "doctor --json": ExitFailed,
		"serve keys list --json": ExitFailed, "serve keys revoke x --json": ExitFailed,
		"balances --json --passphrase-fd 99": ExitUsage,
	} {
		p, out := program(t)
		p.Err = new(strings.Builder)
		p.Accounts, p.Keys = &asked{err: failed}, &keyring{err: failed}
		p.Doctor = func(context.Context, Global) ([]doctor.Finding, doctor.Deps, error) {
			return nil, doctor.Deps{}, failed
		}
		if err := p.Run(t.Context(), strings.Fields(args)); Code(err) != code || out.Len() > 0 {
			t.Errorf("%s: %v, printed %s", args, err, out)
		}
	}
}
