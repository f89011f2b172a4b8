package act

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/wallet/intent"
)

// bodyOf is the request to the service for an intent.
func bodyOf(i intent.Intent) string { return string(i.PrepareBody()) + string(i.QuoteBody()) }

// TestL1_AFileWithoutSlippageIsOneRequest gives one file to `call` and to `plan` and `apply`: both request what
// package intent makes of the file.
func TestL1_AFileWithoutSlippageIsOneRequest(t *testing.T) {
	for _, name := range []string{"call", "transfer", "swap"} {
		path := filepath.Join("../../../wallet/intent/testdata/no-slippage", name+".json")
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t)
		d, err := intent.ParseDraft(raw)
		if err != nil {
			t.Fatal(err)
		}
		want, err := intent.Freeze(d.Fill(netID, r.s.Accounts), api.Rules{Catalog: r.s.Catalog, Now: r.now})
		if err != nil {
			t.Fatal(err)
		}
		planned := filepath.Join(t.TempDir(), "p.toml")
		r.run("call", path, "--dry-run")
		r.done(0, "plan", path, "--out", planned)
		r.run("apply", planned, "--dry-run")
		if len(r.started) != 2 {
			t.Fatalf("%s: %d requests\n%s", name, len(r.started), r.err.String())
		}
		for i, face := range []string{"call", "plan and apply"} {
			if got := bodyOf(r.started[i]); got != bodyOf(want) || !strings.Contains(got, `"slippageTolerance":50`) {
				t.Errorf("%s by %s:\n%s\n%s", name, face, got, bodyOf(want))
			}
		}
	}
}

// TestL1_FlagsAndHelpNameTheSameSlippage compares the request of the flags, and the text of the help, with the
// default.
func TestL1_FlagsAndHelpNameTheSameSlippage(t *testing.T) {
	r := newRig(t)
	r.run(callFlags("--dry-run")...)
	r.run("transfer", "--asset", "usdc", "--amount", "25", "--to", payee, "--chain", "base", "--dry-run")
	r.run("swap", "--asset", "usdc", "--amount", "25", "--for", "eth@base", "--dry-run")
	if len(r.started) != 3 {
		t.Fatalf("%d requests\n%s", len(r.started), r.err.String())
	}
	for _, in := range r.started {
		if in.Draft().SlippageBps != intent.DefaultSlippageBps {
			t.Errorf("%s asks for %d", in.Kind(), in.Draft().SlippageBps)
		}
	}
	if says := present.Percent(intent.DefaultSlippageBps); says != "0.50 %" {
		t.Errorf("help says 0.5, the default is %s", says)
	}
	var g cli.Global
	for _, make := range []func(*cli.Global) *cobra.Command{r.c.Call, r.c.Plan, r.c.Transfer, r.c.Swap} {
		if c := make(&g); !strings.Contains(c.Flag("slippage").Usage, "0.5)") {
			t.Errorf("%s: %s", c.Name(), c.Flag("slippage").Usage)
		}
	}
}

// TestL1_Review1NamesTheSlippage expects it where payments follow, and not where one signature is all.
func TestL1_Review1NamesTheSlippage(t *testing.T) {
	r := newRig(t)
	r.run(callFlags("--slippage", "0.7", "--dry-run")...)
	text, _ := r.s.reviewText(r.op.snap, false, 0)
	if !strings.Contains(text, "the price may move by at most 0.70 %") {
		t.Errorf("%s", text)
	}
	if got := r.s.reviewOf(r.op.snap, false); got.Call.Slippage != 70 {
		t.Errorf("%+v", got.Call)
	}
	r.op.snap.Review1.WholeConsent = true
	if text, _ := r.s.reviewText(r.op.snap, false, 0); strings.Contains(text, "the price may move") {
		t.Errorf("%s", text)
	}
}
