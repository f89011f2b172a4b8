package act

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"coffer/api/caip"
	"coffer/ui/past"
	"coffer/wallet/chainview"
)

// someNodes see three transactions, of which the first is an operation of the service's.
type someNodes struct {
	err error
}

var errApart = errors.New("your nodes do not agree")

func (n *someNodes) Listed(_ context.Context, _ chainview.Whose, from chainview.Place, _ int) ([]chainview.Moment, bool,
	error) {
	var list []chainview.Moment
	for slot := uint64(30); slot > 0; slot -= 10 {
		if len(from.Before) == 0 || slot < from.Slot {
			s := strings.Repeat(string(rune('0'+slot/10)), 88)
			list = append(list, chainview.Moment{Slot: slot, Signatures: []string{s},
				At:    start().Add(-time.Duration(100-slot) * time.Minute),
				After: chainview.Place{Slot: slot, Before: []string{s}}})
		}
	}
	if len(list) > 1 {
		return list[:1], false, n.err
	}
	return list, true, n.err
}

func (n *someNodes) Seen(_ context.Context, _ chainview.Whose, list []chainview.Moment) (out []chainview.Transaction,
	err error) {
	for _, m := range list {
		t := chainview.Transaction{Signature: m.Signatures[0], Slot: m.Slot, At: m.At, Fee: new(big.Int),
			Moves: []chainview.Move{{Asset: caip.SOL(), Amount: big.NewInt(1_500_000_000)}}}
		switch m.Slot {
		case 30:
			t.Quote = quoteID(5)
		case 20:
			t.Moves, t.Fee = []chainview.Move{{Asset: caip.SPL([32]byte{5}), Amount: big.NewInt(-7)}}, big.NewInt(5000)
		}
		out = append(out, t)
	}
	return out, n.err
}

// someSeen gives the profile nodes that look at a Solana account.
func someSeen(r *rig) {
	someHistory(r)
	r.nodes = &someNodes{}
	own := func(_ context.Context, id, _ string) (bool, error) { return id == quoteID(5), nil }
	r.s.Seen = &past.Chain{Nodes: r.nodes, Whose: chainview.Whose{Account: [32]byte{1}}, Catalog: r.s.Catalog,
		Kind: r.s.Network.Kind, Own: own}
}

// Filters hold for what own nodes saw as well, and reading stops behind --since.
func TestHistoryFiltersWhatNodesSaw(t *testing.T) {
	for args, want := range map[string]int{
		"":                                2,
		"--type RECEIVED":                 1,
		"--type SENT,RECEIVED":            2,
		"--type CALL":                     0,
		"--status COMPLETED":              0,
		"--chain solana":                  2,
		"--chain base":                    0,
		"--asset sol":                     1,
		"--since 2026-01-31T10:31:00Z":    1,
		"--until 2026-01-31T10:31:00Z":    1,
		"--type RECEIVED --limit 1":       1,
		"--asset usdc --since 2020-01-01": 0,
	} {
		r := newRig(t)
		someSeen(r)
		r.done(0, append([]string{"history", "--json"}, strings.Fields(args)...)...)
		if n := strings.Count(r.out.String(), `"seen":{`); n != want {
			t.Errorf("%q: %d, want %d: %s", args, n, want, r.out.String())
		}
	}
}

// Whatever is filtered, nodes that tell nothing are said: an empty list would say that nothing was there.
func TestHistorySaysWhatNodesDidNotTell(t *testing.T) {
	for _, args := range []string{"", "--type RECEIVED", "--since 2026-01-31", "--csv"} {
		r := newRig(t)
		someSeen(r)
		r.nodes.err = errApart
		r.done(0, append([]string{"history"}, strings.Fields(args)...)...)
		if strings.Count(r.out.String(), "What others did on Solana is not known: your nodes do not agree.") != 1 {
			t.Errorf("%q: %s", args, r.out.String())
		}
	}
}
