package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/ui/cli"
	"coffer/ui/cli/act"
	"coffer/ui/cli/act/plan"
	"coffer/ui/compose"
	"coffer/ui/linear"
	"coffer/ui/tui/builder"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"
)

const (
	typedAccount = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	typedPayee   = "0x00C071dB63c5c4bD094C6cc715fd1D622D6Fd5a6"
	typedSolana  = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
)

// faces are the three front ends of one profile that holds 25 USDC on Base, 1500 on Optimism and 1 ETH on Base.
type faces struct {
	*testing.T
	world compose.World
	net   network.Descriptor
}

func newFaces(t *testing.T) faces {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	net := network.Descriptor{ID: "0x" + strings.Repeat("ab", 32), Kind: network.Lab}
	return faces{t, compose.World{Catalog: c, Network: net.ID,
		Clock: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
		Accounts: []api.Account{{Type: api.AccountKernelV31, SignerAddress: strings.ToLower(typedPayee),
			AccountAddress: typedAccount, DeploymentType: api.DeploymentERC4337}},
		Book: []compose.Contact{{Name: "Demo payee", Address: typedPayee}}}, net}
}

func (f faces) balances(context.Context) (api.AggregatedBalance, error) {
	var out api.AggregatedBalance
	for id, held := range map[string]map[string]string{"ob:usdc": {"base": "25000000", "optimism": "1500000000"},
		"ob:eth": {"base": "1000000000000000000"}} {
		one := api.AggregateBalance{AggregatedAssetID: id, Balance: "0"}
		for name, v := range held {
			chain, _ := f.world.Chain(name)
			e, _ := f.world.AssetOn(chain, id)
			one.IndividualAssetBalances = append(one.IndividualAssetBalances,
				api.AssetBalance{AssetType: e.Asset.String(), Balance: v})
		}
		out.BalanceByAggregatedAsset = append(out.BalanceByAggregatedAsset, one)
	}
	return out, nil
}

// document is the intent of a draft, as JSON.
func (f faces) document(d intent.Draft) string {
	f.Helper()
	in, err := f.world.Freeze(d)
	if err != nil {
		f.Fatal(err)
	}
	b, err := in.MarshalJSON()
	if err != nil {
		f.Fatal(err)
	}
	return string(b)
}

// built types into the builder, one key at a time; "<…>" is the name of a key. It returns the intent and the screen.
func (f faces) built(keys ...string) (document, text string) {
	f.Helper()
	s := builder.New(screen.Context{Catalog: f.world.Catalog, Network: f.net, Accounts: f.world.Accounts,
		Clock: f.world.Clock}, builder.Deps{Balances: f.balances, Book: f.world.Book})
	var do func(cmd tea.Cmd)
	do = func(cmd tea.Cmd) {
		if cmd == nil {
			return
		}
		if msg, ok := cmd().(tea.BatchMsg); ok {
			for _, c := range msg {
				do(c)
			}
		} else if m := cmd(); m != nil {
			do(s.Update(m))
		}
	}
	do(s.Init())
	named := map[string]rune{"<enter>": tea.KeyEnter, "<tab>": tea.KeyTab, "<esc>": tea.KeyEscape,
		"<down>": tea.KeyDown}
	for _, k := range keys {
		if code, ok := named[k]; ok {
			do(s.Update(tea.KeyPressMsg{Code: code}))
			continue
		}
		for _, r := range k {
			do(s.Update(tea.KeyPressMsg{Code: r, Text: string(r)}))
		}
	}
	if d, ok := s.Draft(); ok {
		return f.document(d), ""
	}
	do(s.Update(tea.KeyPressMsg{Code: 'r', Mod: tea.ModCtrl}))
	look := theme.New(true, colorprofile.NoTTY, false)
	return "", ansi.Strip(s.View(screen.Frame{W: 160, H: 60, Theme: look, Now: f.world.Clock()}))
}

var errKept = errors.New("the request is kept")

// told answers the questions of the line mode, and asks for the review when nothing is left to answer.
func (f faces) told(lines ...string) (document, text string) {
	f.Helper()
	var out bytes.Buffer
	err := linear.Run(f.Context(), linear.Options{
		Context: linear.Context{Profile: "demo", Network: f.net, Catalog: f.world.Catalog, Accounts: f.world.Accounts,
			Clock: f.world.Clock},
		In: strings.NewReader(strings.Join(lines, "\n") + "\n"), Out: &out, Width: 1000,
		Deps: linear.Deps{Balances: f.balances, Book: f.world.Book,
			Start: func(_ context.Context, in intent.Intent) (linear.Operation, error) {
				document = f.document(in.Draft())
				return nil, errKept
			}},
	})
	if err != nil && !errors.Is(err, errKept) {
		f.Fatal(err)
	}
	return document, out.String()
}

// flagged plans what flags describe.
func (f faces) flagged(flags ...string) (document, text string) {
	f.Helper()
	var out bytes.Buffer
	c := act.Commands{
		Open: func(context.Context, cli.Global) (*act.Session, error) {
			return &act.Session{Profile: "demo", Network: f.net, Catalog: f.world.Catalog, Accounts: f.world.Accounts,
				Book: f.world.Book, Close: func() error { return nil }}, nil
		},
		In: strings.NewReader(""), Out: &out, Err: io.Discard, Clock: f.world.Clock,
		Random: bytes.NewReader(bytes.Repeat([]byte{7}, 64)),
	}
	cmd := c.Plan(&cli.Global{})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(append(flags, "--json"))
	if err := cmd.ExecuteContext(f.Context()); err != nil {
		return "", err.Error()
	}
	p, err := plan.Parse(out.Bytes())
	if err != nil {
		f.Fatal(err)
	}
	return f.document(p.Intent), ""
}

// TestTheSameTextIsTheSameIntentInAllFrontEnds drives the screen, the lines and the commands with the same values, one
// request of every kind: the intents are equal, byte for byte.
func TestTheSameTextIsTheSameIntentInAllFrontEnds(t *testing.T) {
	t.Parallel()
	f := newFaces(t)
	const send = "transfer(address to, uint256 amount)"
	for name, c := range map[string]struct{ keys, lines, flags []string }{
		"call of a token": {
			[]string{"<tab>", "usdc", "<tab>", send, "<tab>", "Demo payee", "<tab>", "25 usdc", "<tab>"},
			[]string{"3", "5", "usdc", send, "Demo payee", "25 usdc", "1"},
			[]string{"--chain", "base", "--to", "usdc", "--function", send, "--arg", "Demo payee", "--arg", "25 usdc"},
		},
		"call with a value and values of every shape": {
			[]string{"<tab>", typedPayee, "<tab>", "f((uint256 a, bool yes) b, string note)", "<tab>", "20 gwei",
				"<tab>",
				"true", "<tab>", "hello", "<tab>", "0.5 eth", "<tab>"},
			[]string{"3", "5", typedPayee, "f((uint256 a, bool yes) b, string note)", "20 gwei", "true", "hello",
				"0.5 eth",
				"1"},
			[]string{"--chain", "8453", "--to", typedPayee, "--function", "f((uint256 a, bool yes) b, string note)",
				"--arg", `["20 gwei", true]`, "--arg", "hello", "--value", "0.5 eth"},
		},
		"payment of the coin": {
			[]string{"<tab>", "demo payee", "<tab>", "<tab>", "0.25", "<tab>"},
			[]string{"3", "5", "demo payee", "none", "0.25", "1"},
			[]string{"--chain", "base", "--to", "demo payee", "--value", "0.25 ETH"},
		},
		"transfer": {
			[]string{"t", "<enter>", "USDC on any chain", "<enter>", "90.5 usdc", "<tab>", "demo payee", "<tab>",
				"<enter>",
				"Base", "<enter>"},
			[]string{"4", "2", "1", "90.5 usdc", "5", "demo payee", "1"},
			[]string{"--asset", "usdc", "--amount", "90.5 usdc", "--to", "demo payee", "--chain", "base"},
		},
		"transfer of an exact amount": {
			[]string{"t", "<enter>", "USDC on any chain", "<enter>", "90.5 usdc", "<tab>", "demo payee", "<tab>",
				"<enter>",
				"Base", "<enter>", "<enter>", "on top", "<enter>"},
			[]string{"4", "2", "1", "90.5 usdc", "5", "demo payee", "Let", "1"},
			[]string{"--asset", "usdc", "--amount", "90.5 usdc", "--to", "demo payee", "--chain", "base", "--exactly"},
		},
		"swap": {
			[]string{"w", "<enter>", "USDC on any chain", "<enter>", "100", "<tab>", "<enter>", "ETH on Base",
				"<enter>",
				strings.ToLower(typedPayee), "<tab>", "0.02 eth", "<tab>"},
			nil,
			[]string{"--asset", "ob:usdc", "--amount", "100", "--for", "eth@base", "--to", strings.ToLower(typedPayee),
				"--min", "0.02 eth"},
		},
		"swap for the own account": {
			[]string{"w", "<enter>", "USDC on any chain", "<enter>", "100", "<tab>", "<enter>", "ETH on Base",
				"<enter>",
				"<tab>", "0.02", "<tab>"},
			[]string{"5", "2", "1", "100", "1", "3", "4", "0.02", "1"},
			[]string{"--asset", "usdc", "--amount", "100", "--for", "eth@8453", "--min", "0.02"},
		},
		"swap to Solana": {
			[]string{"w", "<enter>", "USDC on any chain", "<enter>", "100", "<tab>", "<enter>", "SOL on Solana",
				"<enter>", typedSolana, "<tab>"},
			[]string{"5", "2", "1", "100", "SOL", typedSolana, "1"},
			[]string{"--asset", "usdc", "--amount", "100", "--for", "sol@solana", "--to", typedSolana},
		},
		"swap for USDC, to a Solana address": {
			[]string{"w", "<enter>", "ETH on any chain", "<enter>", "0.5", "<tab>", "<enter>", "USDC on any chain",
				"<enter>", typedSolana, "<tab>"},
			nil,
			[]string{"--asset", "eth", "--amount", "0.5", "--for", "usdc", "--to", typedSolana},
		},
	} {
		want, why := f.flagged(c.flags...)
		if want == "" {
			t.Errorf("%s: the command says %s", name, why)
			continue
		}
		if got, view := f.built(c.keys...); got != want {
			t.Errorf("%s: the builder makes\n%s\nthe command\n%s\n%s", name, got, want, view)
		}
		if c.lines == nil {
			continue // the lines ask for no other recipient of a swap
		}
		if got, said := f.told(c.lines...); got != want {
			t.Errorf("%s: the lines make\n%s\nthe command\n%s\n%s", name, got, want, said)
		}
	}
}

// TestTheSameTextIsTheSameMistakeInAllFrontEnds: what is wrong with a text is said in the same words.
func TestTheSameTextIsTheSameMistakeInAllFrontEnds(t *testing.T) {
	t.Parallel()
	f := newFaces(t)
	type typed struct{ keys, lines, flags []string }
	target := func(text string) typed {
		return typed{[]string{"<tab>", text, "<tab>"}, []string{"3", "5", text},
			[]string{"--chain", "base", "--to", text}}
	}
	arg := func(signature, text string) typed {
		return typed{[]string{"<tab>", typedPayee, "<tab>", signature, "<tab>", text, "<tab>"},
			[]string{"3", "5", typedPayee, signature, text},
			[]string{"--chain", "base", "--to", typedPayee, "--function", signature, "--arg", text}}
	}
	amount := func(text string) typed {
		return typed{[]string{"t", "<enter>", "USDC on any chain", "<enter>", text, "<tab>"},
			[]string{"4", "2", "1", text},
			[]string{"--asset", "usdc", "--amount", text, "--to", typedPayee, "--chain", "base"}}
	}
	recipient := func(text string) typed {
		return typed{[]string{"t", "<enter>", "USDC on any chain", "<enter>", "5", "<tab>", text, "<tab>", "<enter>",
			"Base", "<enter>"}, []string{"4", "2", "1", "5", "5", text},
			[]string{"--asset", "usdc", "--amount", "5", "--to", text, "--chain", "base"}}
	}
	toSolana := func(to string) typed {
		return typed{[]string{"w", "<enter>", "USDC on any chain", "<enter>", "5", "<tab>", "<enter>", "SOL on Solana",
			"<enter>", to, "<tab>"}, []string{"5", "2", "1", "5", "SOL", to},
			[]string{"--asset", "usdc", "--amount", "5", "--for", "sol", "--to", to}}
	}
	grant := func(signature string) typed {
		last := map[bool]string{true: "true", false: "1"}[strings.Contains(signature, "bool")]
		return typed{[]string{"<tab>", typedPayee, "<tab>", signature, "<tab>", typedPayee, "<tab>", last, "<tab>"},
			[]string{"3", "5", typedPayee, signature, typedPayee, last, "0"},
			[]string{"--chain", "base", "--to", typedPayee, "--function", signature, "--arg", typedPayee, "--arg",
				last}}
	}
	for want, c := range map[string]typed{
		"4 of 40 hexadecimal digits":                   target("0x12ab"),
		"an address is 0x and 40 hexadecimal digits":   target("nobody"),
		"the checksum is wrong: a letter or digit has": target("0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7Bc0"),
		"needs true or false":                          arg("f(bool a)", "maybe"),
		"needs a whole number, decimal or 0x":          arg("f(uint256 a)", "1.5"),
		"5 parsecs\" is not an amount such as 250.5":   arg("f(uint256 a)", "5 parsecs"),
		"more than 0": amount("0"),
		"is not an amount with at most 6 decimals":     amount("1.1234567"),
		"\"usd\" is no unit of it":                     amount("5 usd"),
		"that is a token: name who gets it":            recipient("usdc"),
		"this is an EVM address: a Solana address is":  toSolana(typedPayee),
		"this is a Solana address: here an address is": recipient(typedSolana),
		"this is the zero address: what goes there is": recipient("0x" + strings.Repeat("0", 40)),
		"an approve() belongs under allow":             grant("approve(address a, uint256 b)"),
		"setApprovalForAll cannot be a call: declare what it may take under allow": grant(
			"setApprovalForAll(address a, bool b)"),
	} {
		for face, drive := range map[string]func() (string, string){
			"builder": func() (string, string) { return f.built(c.keys...) },
			"lines":   func() (string, string) { return f.told(c.lines...) },
			"command": func() (string, string) { return f.flagged(c.flags...) },
		} {
			got, text := drive()
			text = strings.ToLower(strings.Join(strings.Fields(text), " "))
			if got != "" || !strings.Contains(text, strings.ToLower(want)) {
				t.Errorf("%s of the %s: intent %q, text %s", want, face, got, text)
			}
		}
	}
}
