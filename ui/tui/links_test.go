package tui

import (
	"strings"
	"testing"

	"coffer/api/network"
	"coffer/ui/tui/internal/term"
	"coffer/ui/tui/internal/tuitest"
)

// onRealChains gives the program a real network, whose records have pages on the pinned explorers but for one that
// leads elsewhere.
func onRealChains(t testing.TB, o *Options, s *service) {
	t.Helper()
	o.Context.Network.Kind = network.Real
	explorer := map[string]string{}
	for _, c := range o.Context.Catalog.Chains() {
		explorer[c.Chain.String()] = c.Explorer
	}
	for i := range s.page.Transactions {
		r := &s.page.Transactions[i]
		for j := range r.OriginChainOperations {
			op := &r.OriginChainOperations[j]
			op.ExplorerURL = explorer[op.Chain] + "/tx/" + op.Hash
		}
		for j := range r.DestinationChainOperations {
			r.DestinationChainOperations[j].ExplorerURL = "https://evil.example/tx/1"
		}
	}
}

// TestPagesOfPinnedExplorersAreLinks: in the history and beside the balances, whole on each of their lines; a page that
// the service made up is text.
func TestPagesOfPinnedExplorersAreLinks(t *testing.T) {
	src := sample(t)
	o := options(t, src)
	onRealChains(t, &o, src)
	s := tuitest.Start(t, New(o), 120, 70)
	s.WaitText("Contracts")
	s.WaitRaw(";https://basescan.org/token/0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913\a")
	s.Type("4")
	s.WaitText("Payment on ")
	s.WaitRaw(";" + src.page.Transactions[0].OriginChainOperations[0].ExplorerURL + "\a")
	s.WaitText("evil.example")
	s.Type("q")
	if err := s.End(); err != nil {
		t.Fatal(err)
	}
	if raw := s.Raw(); strings.Contains(raw, ";https://evil") {
		t.Error("a page that is not the explorer's is a link")
	}
}

// TestTransactionsAreLinksToThePinnedExplorer: the hash of a finished operation is one even where the service names no
// page; text that is no hash is none.
func TestTransactionsAreLinksToThePinnedExplorer(t *testing.T) {
	src := sample(t)
	o := options(t, src)
	onRealChains(t, &o, src)
	r := &src.page.Transactions[0]
	from, to := &r.OriginChainOperations[0], &r.DestinationChainOperations[0]
	page := from.ExplorerURL
	from.ExplorerURL, to.Hash, to.ExplorerURL = "", "../../login", ""
	s := tuitest.Start(t, New(o), 120, 70)
	s.WaitText("Contracts")
	s.Type("4")
	s.WaitText("Payment on ")
	s.WaitRaw(";" + page + "\a")
	s.WaitText("Transaction on ")
	s.Type("q")
	if err := s.End(); err != nil {
		t.Fatal(err)
	}
	if raw := s.Raw(); strings.Contains(raw, "/login\a") {
		t.Error("text that is no hash is a link")
	}
}

func TestLinksAreOffWhereTheyAreNotSafe(t *testing.T) {
	for env, want := range map[string]bool{
		"TERM=xterm-256color":                        true,
		"TERM=tmux-256color TMUX=/tmp/x":             true,
		"TERM=xterm-256color NO_COLOR=1":             false,
		"TERM=xterm-256color SSH_CONNECTION=1.2.3.4": false,
		"TERM=linux":                 false,
		"TERM=dumb":                  false,
		"TERM=screen-256color STY=1": false,
		"":                           false,
	} {
		m, _, _ := withPad(t, func(o *Options) { o.Env = term.Env(strings.Fields(env)) })
		if m.theme.Links != want {
			t.Errorf("%q: links are %v", env, m.theme.Links)
		}
	}
	m, _, _ := withPad(t, func(o *Options) { o.Env, o.Away = term.Env{"TERM=xterm-256color"}, &Away{} })
	if m.theme.Links {
		t.Error("a guest's terminal gets links")
	}
}
