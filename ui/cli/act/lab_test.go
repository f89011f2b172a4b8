package act

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/client"
	"coffer/ui/cli"
	"coffer/ui/quotelab"
	"coffer/wallet/verify"
)

// refusing is a service whose every answer is a refusal.
type refusing struct{ name string }

func (r refusing) no() (client.Answer, error) {
	return client.Answer{}, api.NewError(r.name, "needed 5, available 1")
}
func (r refusing) PrepareCallQuote(context.Context, []byte) (client.Answer, error)   { return r.no() }
func (r refusing) PrepareCallQuoteV1(context.Context, []byte) (client.Answer, error) { return r.no() }
func (r refusing) Quote(context.Context, []byte) (client.Answer, error)              { return r.no() }
func (r refusing) QuoteV1(context.Context, []byte) (client.Answer, error)            { return r.no() }
func (r refusing) Window() client.Window                                             { return client.Window{} }

func labRig(t *testing.T, name string) *rig {
	r := newRig(t)
	r.s.Lab = func() (quotelab.Asker, func() error, error) {
		return quotelab.Asker{Client: refusing{name}, Policy: verify.Policy{Catalog: r.s.Catalog}, Clock: r.clock,
			Sleep:  func(context.Context, time.Duration) error { return nil },
			Budget: &quotelab.Budget{}}, func() error { return nil }, nil
	}
	return r
}

// TestD6_TheLabPrintsWhatTheServiceRefusedFor, in every form, and signs nothing.
func TestD6_TheLabPrintsWhatTheServiceRefusedFor(t *testing.T) {
	const question = "swap 5 USDC@optimism for ETH@base, slippage 0.5 %"
	for _, form := range []string{"", "--json", "--csv"} {
		r := labRig(t, api.ErrInsufficientBalance)
		args := append([]string{"lab"}, strings.Fields(question)...)
		if form != "" {
			args = append(args, form)
		}
		if code := r.run(args...); code != 0 {
			t.Fatal(form, code, r.err.String())
		}
		out := r.out.String()
		if !strings.Contains(out, "Insufficient balance") || len(r.started) > 0 {
			t.Errorf("%s:\n%s", form, out)
		}
		var doc struct{ Question string }
		if form == "--json" && (json.Unmarshal(r.out.Bytes(), &doc) != nil || doc.Question != question) {
			t.Errorf("%s", out)
		}
	}
	r := labRig(t, api.ErrInsufficientBalance)
	if code := r.run("lab", question, "--svg"); code != 0 || !strings.HasPrefix(r.out.String(), "<svg ") {
		t.Errorf("%v\n%s", code, r.out.String())
	}
}

func TestTheLabRefusesWhatItDoesNotUnderstand(t *testing.T) {
	for _, args := range [][]string{{"lab"}, {"lab", "buy 5 USDC"},
		{"lab", "swap 5 USDC for ETH@base", "--vary", "luck"},
		{"lab", "swap 5 USDC for ETH@base", "--best", "luck"}, {"lab", "swap 5 USDC for ETH@base", "--json", "--csv"}} {
		r := labRig(t, api.ErrNoRoute)
		if code := r.run(args...); code != cli.ExitUsage || r.out.Len() > 0 {
			t.Errorf("%v: %v, printed %q", args, code, r.out.String())
		}
	}
	r := labRig(t, api.ErrTooManyRequests)
	if code := r.run("lab", "swap 5 USDC for ETH@base", "--json"); code != cli.ExitFailed || r.out.Len() > 0 {
		t.Errorf("a service that asks for fewer requests is asked on: %v, %q", code, r.out.String())
	}
}

// TestOnATerminalTheLabIsAScreen, unless a form to print is asked for.
func TestOnATerminalTheLabIsAScreen(t *testing.T) {
	r := labRig(t, api.ErrNoRoute)
	var opened []cli.Global
	r.c.Dashboard = func(_ context.Context, g cli.Global) error { opened = append(opened, g); return nil }
	for _, args := range [][]string{{"lab"}, {"lab", "swap", "5 USDC for ETH@base"}, {"lab", "swap 5 USDC for ETH@base",
		"--csv"}} {
		if code := r.run(args...); code != 0 {
			t.Fatal(code, r.err.String())
		}
	}
	if len(opened) != 2 || !opened[0].Lab || opened[1].Question != "swap 5 USDC for ETH@base" {
		t.Errorf("%+v", opened)
	}
}
